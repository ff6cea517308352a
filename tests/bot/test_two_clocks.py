"""Two clocks at work on one store: whatever is due happens once."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

import pytest
from aiohttp import ClientSession

from agents import Companions, SessionKey, Ticket
from agents.runtime.slot.port import Begun, Commit, OpenCall
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.board import listed
from bot.clock import Clock, Sweep, Walk, close_due
from bot.index import Index
from bot.playground import LocalSlack
from bot.slack.anchor import DailyAnchor
from bot.slack.replies import Replies, web_client
from bot.tickets.news import Waiting
from bot.tickets.poll import Poll
from tests.bot.approvals.conftest import put

TENANT = "T1"
MANY = 120
"""Sessions with a reminder that is due, and as many each that expire and that hear of a ticket."""
OFTEN = 0.02
TIME, DAYS = timedelta(seconds=5), timedelta(days=30)


class Resolved:
    """A ticket system in which every ticket is resolved, after a moment."""

    async def create(self, **_told: str) -> Ticket:
        """Nobody opens tickets here."""
        raise NotImplementedError

    async def get(self, ticket_id: str) -> Ticket:
        """It is resolved."""
        await asyncio.sleep(0.005)
        return Ticket(id=ticket_id, status="resolved")


def named(what: str) -> list[SessionKey]:
    """The sessions of a kind."""
    return [SessionKey("helper", "thread", f"{what}:{number}", TENANT) for number in range(MANY)]


async def waits(slot: RedisSlot, index: Index, key: SessionKey) -> None:
    """A session waits for a ticket, which is due."""
    await slot.apply(key, state={}, create=True)
    begun = await slot.begin(key, owner="test", lease=5_000)
    assert isinstance(begun, Begun)
    opened, end = Ticket(id=f"T-{key.id}"), begun.now + 86_400_000
    waiting = Waiting(
        ticket=opened.id, seen=opened.mark, news=0, since=begun.now, until=end, person="UANA"
    )
    call = OpenCall(name="open_ticket", kind="news", version=1, note=waiting.note())
    due = Companions(index=index.ticket_due(key, "2-0", 0))
    commit = Commit(id="c", fence=begun.fence, version=0, opened={"2-0": call}, companions=due)
    await slot.commit(key, commit)
    await slot.release(key, begun.fence)


async def asked(slot: RedisSlot, index: Index, key: SessionKey) -> None:
    """A session has an approval that is due: for its end, or for a reminder."""
    left = -1 if key.id.startswith("ends") else 60_000
    made = await put(slot, key=key, left=left, reminders=(1,) if left > 0 else ())
    await index.send([*listed(index.lists, made), *index.approval_due(key, made.id, 1)])


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """A Slack on this machine."""
    async with LocalSlack() as workspace:
        yield workspace


@pytest.fixture
async def clocks(store_url: str, slack: LocalSlack) -> AsyncIterator[list[Clock]]:
    """Two clocks that share nothing but the store and Slack, and tick all the time."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession())
        made: list[Clock] = []
        for _ in range(2):
            client = await stack.enter_async_context(connect(store_url, connections=2))
            slot, index = RedisSlot(client), Index(client, tenant=TENANT)
            replies = Replies(web_client(slack.bot_token, api_url=slack.api_url, session=http))
            channel = slack.workspace.channel("general").id
            anchor = DailyAnchor(slot, index.lists, replies=replies, channel=channel, ttl=DAYS)
            tickets = Poll(
                slot=slot,
                index=index,
                tickets=Resolved(),
                lease=TIME,
                pause=TIME,
                limit=TIME,
                reports=TIME,
            )
            sweeps = {
                "expiry": partial(close_due, slot, index),
                "tickets": tickets.look,
                "walk": Walk(slot, index, apps=["helper"], tenant=TENANT).step,
                "anchor": anchor.look,
            }
            made.append(Clock([Sweep(name, OFTEN, run) for name, run in sweeps.items()]))
        yield made


async def test_what_is_due_happens_once(
    store_url: str, slack: LocalSlack, clocks: list[Clock], caplog: pytest.LogCaptureFixture
):
    """Reminders, ends, news of tickets and the day's anchor: each once, whoever comes first."""
    async with connect(store_url, connections=20) as client:
        slot, index = RedisSlot(client), Index(client, tenant=TENANT)
        async with asyncio.TaskGroup() as group:
            for key in (*named("ends"), *named("reminds")):
                group.create_task(asked(slot, index, key))
            for key in named("waits"):
                group.create_task(waits(slot, index, key))
        stopping = asyncio.Event()
        with caplog.at_level(logging.INFO, logger="countersign"):
            running = [asyncio.create_task(clock.run(stopping)) for clock in clocks]
            while not await _all_done(slot, slack):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)
            await asyncio.sleep(10 * OFTEN)
            stopping.set()
            await asyncio.gather(*running)
        assert await _done(slot) == {"ended": MANY, "reminded": MANY, "heard": MANY}
    assert len(_anchors(slack)) == 1
    assert [record.msg for record in caplog.records if record.msg == "clock.failed"] == []


async def _all_done(slot: RedisSlot, slack: LocalSlack) -> bool:
    done = await _done(slot)
    return bool(_anchors(slack)) and min(done[n] for n in ("ended", "reminded", "heard")) >= MANY


def _anchors(slack: LocalSlack) -> list[str]:
    texts = [str(message["text"]) for message in slack.messages("general")]
    return [text for text in texts if "Audit anchor" in text]


async def _done(slot: RedisSlot) -> Counter[str]:
    """How often anything happened, as the sessions have it."""
    found: Counter[str] = Counter()
    for key in (*named("ends"), *named("reminds"), *named("waits")):
        view = await slot.read(key, parts=("posts", "approvals", "audit"))
        assert view
        found["heard" if key.id.startswith("waits") else "ended"] += view.inbox
        found["reminded"] += sum(post.body["kind"] == "reminder" for post in view.posts)
    return found
