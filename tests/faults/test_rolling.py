"""Three workers that are replaced all the time: everything is done, once, and in order."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path

from bot.playground import BOT, LocalSlack
from bot.playground.run import free_port
from tests.faults.crew import AGENT
from tests.faults.nursery import Nursery

SESSIONS = 200
MESSAGES = 2
WORKERS = ("one", "two", "three")
EVERY = 2.0
"""Seconds between two restarts."""


async def test_two_hundred_conversations_survive_rolling_restarts(store_url: str, tmp_path: Path):
    """Every two seconds another worker gets SIGTERM or SIGKILL; each message has one answer."""
    async with AsyncExitStack() as stack:
        nursery = await stack.enter_async_context(Nursery())
        slack = await stack.enter_async_context(
            LocalSlack(retry_after=(0.2, 1.0, 3.0), patience=30.0)
        )
        port = free_port()
        crew = Crew(nursery, slack, store=store_url, port=port, log=tmp_path / "log")
        for name in ("web", *WORKERS):
            await crew.start(name)
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        rolling = asyncio.create_task(crew.roll())
        threads = await asyncio.gather(*(converse(slack, number) for number in range(SESSIONS)))
        await until(lambda: all(settled(heard(slack, ts)) for ts in threads))
        rolling.cancel()
        told = {ts: heard(slack, ts) for ts in threads}
    assert crew.restarts > 2
    assert set(map(len, told.values())) == {MESSAGES}
    assert all(order(slack, ts) for ts in threads)


class Crew:
    """The processes of a bot, one for the web and three that work."""

    def __init__(
        self, nursery: Nursery, slack: LocalSlack, *, store: str, port: int, log: Path
    ) -> None:
        self.restarts = 0
        self._nursery = nursery
        self._slack = slack
        self._store = store
        self._port = port
        self._log = log
        self._pids: dict[str, int] = {}

    async def start(self, name: str) -> None:
        """Start a process."""
        web = name == "web"
        settings = {
            "redis_url": self._store,
            "slack_api_url": self._slack.api_url,
            "slack_bot_token": self._slack.bot_token,
            "slack_signing_secret": self._slack.signing_secret,
            "model": "rehearsal",
            "roles": ["web"] if web else ["worker", "clock"],
            "port": self._port if web else 0,
            "routes": {"#expenses": AGENT},
            "lease": 1.0,
        }
        order = {"name": name, "settings": settings, "log": str(self._log), "ledger": ""}
        self._pids[name] = await self._nursery.fork(order)

    async def roll(self) -> None:
        """Replace one worker after the other, gently and not."""
        while True:
            for number, name in enumerate(WORKERS):
                await asyncio.sleep(EVERY)
                old = self._pids[name]
                await self.start(name)
                os.kill(old, signal.SIGKILL if number % 2 else signal.SIGTERM)
                await self._nursery.ended(old)
                self.restarts += 1


async def converse(slack: LocalSlack, number: int) -> str:
    """Write two messages into a thread of one's own, the second without waiting for an answer."""
    await asyncio.sleep(number * 0.05)
    first = await slack.mention("ana", "expenses", f"hello {number} first")
    while not all(each.ok for each in first.deliveries):
        first = await slack.mention("ana", "expenses", f"hello {number} first")
    await slack.say("ana", "expenses", f"hello {number} second", thread_ts=first.ts)
    return first.ts


def heard(slack: LocalSlack, ts: str) -> list[str]:
    """The ids of the bot's posts in a thread, in their order."""
    return [
        message["metadata"]["event_payload"]["id"].partition(" ")[0]
        for message in slack.workspace.channel("expenses").thread(ts)
        if message["user"] == BOT.id
    ]


def settled(posts: list[str]) -> bool:
    """Whether all is answered, and a copy of whoever stood still for too long is taken back."""
    return len(posts) >= MESSAGES and len(posts) == len(set(posts))


def order(slack: LocalSlack, ts: str) -> bool:
    """Whether the answers stand in the order of their events."""
    versions = [int(post.split(":")[1]) for post in heard(slack, ts)]
    return versions == sorted(set(versions))


async def until(holds) -> None:
    """Look now and then."""
    while not holds():  # noqa: ASYNC110 - a look at every change would be the work
        await asyncio.sleep(0.2)
