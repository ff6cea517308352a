"""What goes wrong in a run, and how it is done."""

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path

import redis.exceptions

from agents import StoreUnavailable
from bot.playground.people import GROUPS
from tests.faults import forger, past
from tests.faults.evidence import Forged
from tests.faults.plan import LEASE, Trouble
from tests.faults.stage import DUE, Stage

SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}
STORE = ("store", "cut", "delay", "hole", "drop", "flush", "hints", "full", "failover")


class Troubles:
    """Has a stage suffer; `left` is who was gone when (ms), `forged` how forgeries were taken."""

    def __init__(self, stage: Stage) -> None:
        self.left: dict[str, int] = {}
        self.forged: list[Forged] = []
        self._stage = stage
        self._at_server = asyncio.Lock()

    async def befall(self, trouble: Trouble) -> None:
        """Have something go wrong, for as long as it takes."""
        self._stage.note(f"fault {trouble.kind} {trouble.target} {trouble.seconds:.2f}")
        if trouble.kind in SIGNALS:
            with contextlib.suppress(redis.exceptions.ConnectionError):
                await self._signalled(trouble)
        elif trouble.kind in STORE:
            with contextlib.suppress(redis.exceptions.ConnectionError):  # it is down anyway
                await self._befall_store(trouble)
        else:
            await self._befall_outside(trouble)

    async def _befall_store(self, trouble: Trouble) -> None:
        stage = self._stage
        match trouble.kind:
            case "store" | "full" | "failover":
                async with self._at_server:
                    await self._befall_server(trouble)
            case "drop":
                stage.proxy.become("drop")
            case "flush":
                await stage.redis.script_flush()
            case "hints":
                await stage.redis.delete(f"{DUE}:ready", f"{DUE}:wake", f"{DUE}:appr")
            case way:
                stage.proxy.become(way)
                await asyncio.sleep(trouble.seconds)
                stage.proxy.become("")

    async def _befall_server(self, trouble: Trouble) -> None:
        """Killed and started again, without room for more, or followed by another one."""
        stage = self._stage
        match trouble.kind:
            case "full":
                await stage.redis.config_set("maxmemory", 1)
                await asyncio.sleep(trouble.seconds)
                await stage.redis.config_set("maxmemory", 0)
            case "failover":
                await stage.fail_over()
            case _:
                stage.store.kill()
                await stage.store.wait()
                await asyncio.sleep(trouble.seconds)
                await stage.start_store()

    async def _befall_outside(self, trouble: Trouble) -> None:
        stage = self._stage
        match trouble.kind:
            case "slack" | "token" | "archived":
                await self._refuse(trouble)
            case "ledger":
                await stage.feel(trouble.target, trouble.seconds)
            case "deaf":
                stage.slack.connect(None)
                await asyncio.sleep(trouble.seconds)
                stage.slack.connect(stage.listening)
            case "again" | "deleted":
                await self._said_otherwise(trouble)
            case "late":
                stage.late = trouble.seconds
            case "held":
                stage.held[trouble.target] = trouble.seconds
            case "leaves":
                left = [each for each in ("max", "mia") if each != trouble.target]
                noticed = await stage.slack.set_group(GROUPS[0].handle, left)
                if all(each.ok for each in noticed.deliveries):
                    self.left[trouble.target] = int(time.time() * 1000)
            case "forged":
                await stage.until(stage.people.waiting, 10.0)
                self.forged += await forger.press(stage.slack, stage.people.waiting())

    async def _refuse(self, trouble: Trouble) -> None:
        """Have Slack not take a call, not know the bot for a while, or no more in a channel."""
        slack = self._stage.slack
        match trouble.kind:
            case "token":
                tokens = slack.web_api._tokens
                tokens["bot"] = "xoxb-another"
                await asyncio.sleep(trouble.seconds)
                tokens["bot"] = slack.bot_token
            case "archived":
                slack.workspace.channel("approvals").is_archived = True
            case _:
                method, _, kind = trouble.target.partition(" ")
                slack.fail(method, kind, seconds=trouble.seconds)

    async def _signalled(self, trouble: Trouble) -> None:
        """SIGKILL, SIGTERM, or SIGSTOP for a while; `actor` is in the middle of an act."""
        named = trouble.target
        pid = await self._actor() if named == "actor" else self._stage.pids[named]
        if pid is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, SIGNALS[trouble.kind])
            if trouble.kind == "stop":
                await asyncio.sleep(trouble.seconds)
                os.kill(pid, signal.SIGCONT)

    async def _actor(self) -> int | None:
        """The process that is in the middle of an act that begins now; None when none does."""
        known, end = len(await self._stage.acts()), time.monotonic() + 10
        while time.monotonic() < end:
            acts = await self._stage.acts()
            if len(acts) > known:
                tag = acts[-1]["key"].rpartition(":")[0]
                owner = await self._stage.redis.hget(f"b:{{{tag}}}:m", "owner")
                return int(owner.split(":")[1]) if owner else None
            await asyncio.sleep(0.005)
        return None

    async def _said_otherwise(self, trouble: Trouble) -> None:
        """Have a message taken back, or all of them told again."""
        if trouble.kind == "deleted":
            await self._stage.people.delete(trouble.target)
        else:
            await self._again()

    async def _again(self) -> None:
        """Deliver everything so far once more, newest first, as if nobody had said 200."""
        slack = self._stage.slack
        for each in reversed(list(slack.delivery.records)):
            if each.body.startswith("{"):
                headers = {**slack.delivery.signed(each.body), "X-Slack-Retry-Num": "1"}
                headers["Content-Type"] = "application/json"
                await slack.deliver_raw(each.body, headers)

    async def thaw(self) -> None:
        """Let processes go on that stood still at a place for longer than their lease."""
        stage = self._stage
        for name in stage.plan.frozen:
            while not _stands(stage.pids[name]):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.02)
            stage.note(f"harness {name} stands still")
            await asyncio.sleep(LEASE * 1.8)
            stage.signal(name, signal.SIGCONT)

    async def pile_up(self) -> None:
        """Have a long conversation go on while its first question waits, before it is decided."""
        stage = self._stage
        if stage.long:
            await stage.until(self._asked, 10.0)
            await past.write(stage.slot, stage.long, events=past.WINDOW)
        stage.people.patient.set()

    async def _asked(self) -> bool:
        with contextlib.suppress(StoreUnavailable):
            assert self._stage.long
            view = await self._stage.slot.read(self._stage.long, parts=("approvals",))
            return bool(view and view.approvals)
        return False


def _stands(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False
