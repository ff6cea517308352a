"""One run: a stage of its own, and what goes wrong on it."""

import asyncio
import json
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import redis.exceptions

from agents import SessionKey, StoreUnavailable
from agents.runtime.slot import keys
from agents.runtime.slot.port import Record, View
from bot.playground.people import TEAM_ID
from bot.playground.web_api import ApiCall
from bot.tickets.local import APP
from tests.faults.crew import AGENT
from tests.faults.evidence import Called, Evidence
from tests.faults.nursery import Nursery
from tests.faults.plan import PEOPLE, PROCESSES, Plan
from tests.faults.stage import DUE, Stage
from tests.faults.troubles import Troubles

PATIENCE = 8.0
"""Seconds without any progress after which nothing more is expected."""
LOOK = 0.1
LOOKS = int(PATIENCE / LOOK)
"""Seconds between two looks, which last longer where the machine is busy; so many are patience."""
LONGEST = 4 * PATIENCE
"""Seconds without any progress that are too many on any machine."""
PARTS = ("events", "state", "approvals", "posts", "audit")


class World:
    """Plays a plan: `evidence = await World(plan, …).play()`."""

    def __init__(self, plan: Plan, *, nursery: Nursery, ledger: str, folder: Path) -> None:
        self._stage = Stage(plan, nursery=nursery, ledger=ledger, folder=folder)
        self._troubles = Troubles(self._stage)
        self._restless = "nothing was looked at"

    @property
    def log(self) -> Path:
        """What everybody wrote."""
        return self._stage.log

    async def play(self) -> Evidence:
        """Start everything, let it happen, wait until it is quiet, and look."""
        stage, plan = self._stage, self._stage.plan
        async with AsyncExitStack() as stack:
            await stage.open(stack)
            began = time.monotonic()
            for work in (
                stage.people.click_all(),
                stage.clerks.work(),
                stage.keep_pace(),
                self._troubles.thaw(),
            ):
                stack.callback(asyncio.create_task(work).cancel)
            stage.spawn(self._troubles.pile_up())
            events = [(each.at, stage.people.say, each) for each in plan.said]
            events += [(each.at, self._troubles.befall, each) for each in plan.troubles]
            for at, act, what in sorted(events, key=lambda each: each[0]):
                await asyncio.sleep(max(0, at - (time.monotonic() - began)))
                stage.spawn(act(what))
            await self._rest()
            drained = await stage.drain()
            return await self._look(drained)

    async def _rest(self) -> None:
        """Wait until nobody has anything to do any more."""
        stage = self._stage
        await stage.until(lambda: not stage.busy(), 2 * PATIENCE)
        stage.proxy.become("")
        calm, looks, moved, before = 0, 0, time.monotonic(), ""
        for _ in range(8 * LOOKS):
            if calm == 2 or looks == LOOKS or time.monotonic() - moved > LONGEST:
                break
            await asyncio.sleep(LOOK)
            try:
                self._restless, progress = await self._unrest()
            except (StoreUnavailable, redis.exceptions.ConnectionError):
                self._restless, progress = "the store is down", ""
            calm = 0 if self._restless else calm + 1
            if stage.fell:
                raise stage.fell[0]
            looks += 1
            if progress != before:
                looks, moved, before = 0, time.monotonic(), progress
        if self._restless:
            for name in PROCESSES:
                stage.signal(name, signal.SIGUSR1)
            await asyncio.sleep(0.2)

    async def _unrest(self) -> tuple[str, str]:
        """What is still going on, empty when it is quiet; and how far everything is."""
        views, told = await self._views(), list(self._stage.busy())
        if ready := await self._stage.redis.zrange(f"{DUE}:ready", 0, -1):
            told.append(f"due: {ready}")
        told += [f"{tag}: {left}" for tag, view in views.items() if (left := _left(view))]
        told += [left] if (left := await self._stage.unanchored()) else []
        steps = [f"{v.version} {v.inbox} {len(v.posts)} {len(v.audit)}" for v in views.values()]
        done = len(self._stage.people.clicks) + sum(map(len, self._stage.clerks.moves.values()))
        done += len(self._stage.slack.delivery.records)
        return "; ".join(told), f"{steps} {done}"

    async def _views(self) -> dict[str, View]:
        names = [name async for name in self._stage.redis.scan_iter("b:{*}:m", count=1000)]
        keys = [key for key in (SessionKey.parse(name[3:-3]) for name in names) if key.app != APP]
        found = {str(key): await self._stage.slot.read(key, parts=PARTS) for key in keys}
        return {tag: view for tag, view in found.items() if view}

    async def _look(self, drained: list[float]) -> Evidence:
        stage, views = self._stage, await self._views()
        owners = {tag: view.owner if view.lease > view.now else "" for tag, view in views.items()}
        names = [name async for name in stage.redis.scan_iter("*")]
        lines = [line.split() for line in stage.log.read_text().splitlines()]
        told = {
            kind: [" ".join(line[2:]) for line in lines if line[1:2] == [kind]]
            for kind in ("place", "malformed", "stall")
        }
        return Evidence(
            sent=list(stage.people.sent()),
            clicks=stage.people.clicks,
            forged=self._troubles.forged,
            people={each.name: each.id for each in stage.slack.workspace.people.values()},
            left=self._troubles.left,
            deleted=frozenset(stage.people.deleted()),
            anchors=await stage.anchors(),
            sessions=views,
            owners=owners,
            due=await stage.redis.zrange(f"{DUE}:appr", 0, -1),
            acts=await stage.acts(),
            moves=stage.clerks.moves,
            shown=list(stage.people.shown()),
            immortal=[name for name in names if await stage.redis.ttl(name) < 0],
            restless=self._restless,
            drained=drained,
            places=frozenset(told["place"]),
            calls=list(_calls(stage.slack.calls())),
            malformed=told["malformed"],
            shared={person: await self._shared(person) for person in PEOPLE},
            died=stage.died,
            faults=frozenset((*stage.plan.faults, *("stall" for _ in told["stall"][:1]))),
            dead=await stage.redis.zrange(f"{DUE}:dead", 0, -1),
            audited=stage.audited,
            journals={tag: await stage.redis.hkeys(f"b:{{{tag}}}:j") for tag in views},
            runs={tag: await stage.redis.hkeys(f"b:{{{tag}}}:c") for tag in views},
        )

    async def _shared(self, name: str) -> dict[str, Any]:
        """The `app:` and `user:` state that sessions of a person have in common."""
        person = self._stage.slack.workspace.person(name).id
        nobodys = SessionKey(AGENT, "thread", "none", TEAM_ID)
        places = keys.app_state("b:", nobodys)[0], keys.user_state("b:", nobodys, person)[0]
        found = [await self._stage.redis.hgetall(place) for place in places]
        return {str(name): json.loads(value) for each in found for name, value in each.items()}


def _calls(made: Sequence[ApiCall]) -> Iterator[Called]:
    """The calls that people see something of, or would have."""
    for each in made:
        told, text = each.arguments, ""
        match each.method:
            case "chat.postMessage":
                about = _post(told.get("metadata") or {})
            case "chat.update":
                about = f"{told.get('channel')}|{told.get('ts')}"
            case "chat.postEphemeral" | "response_url":
                about, text = str(told.get("user", "")), str(told.get("text", ""))
            case _:
                continue
        yield Called(each.at, each.method, about, str(each.answer.get("error", "")), text)


def _post(metadata: Any) -> str:
    """The name of a post, with its session; empty for a message that nobody looks for."""
    told = json.loads(metadata) if isinstance(metadata, str) else metadata
    return str(told.get("event_payload", {}).get("id", ""))


def _left(view: View) -> str:
    """What a session still has to do, or waits for that will come soon."""
    waits = [cid for cid, call in view.open.items() if call.kind in ("tool", "news")]
    expiring = [each.id for each in view.approvals.values() if _expires(each, now=view.now)]
    owed = [post.id for post in view.posts]
    if not (view.inbox or owed or waits or expiring):
        return ""
    return f"{view.inbox} in, owed {owed}, open {waits}, due {expiring}"


def _expires(record: Record, *, now: int) -> bool:
    return (
        record.status == "pending" and record.deadline is not None and record.deadline < now + 5000
    )
