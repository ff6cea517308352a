# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportMissingTypeStubs=false
"""The clock: apscheduler ticks, and each tick starts a sweep over what is due in the store.

The scheduler remembers nothing: what is due when stands in the store, so any number of clocks may
run, stop and start. A tick returns at once; a sweep that is still running is not started again.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from agents import SessionKey, Slot, StoreUnavailable
from bot import logs
from bot.approvals.board import listed
from bot.approvals.decide import settle
from bot.approvals.life import next_look
from bot.approvals.records import REMEDY, readable
from bot.approvals.request import Approval
from bot.approvals.succession import Succession
from bot.index import Index
from bot.tickets.news import Waiting, unreported
from bot.tickets.poll import Poll
from bot.turns import Command

TICKETS = 1.0
EXPIRY = 1.0
RECONCILE = 30.0
"""Seconds between two looks at what is due, and between two steps of reading everything again."""
LOOK = 600_000
"""Milliseconds between two looks at who may still decide, should no event say that people left."""
DUE = 500
AT_ONCE = 100
"""Approvals of one look; sessions of one step."""
REPORTS = timedelta(days=90)
"""How long nothing may happen in a session before its calls stop waiting for a report."""
BETWEEN_LOOKS = timedelta(minutes=30)
LISTED = 24 * 3600_000
"""Milliseconds for which a clock takes it that what it has listed is still on the lists."""
UNTOLD = 10
"""Requests whose approvers Slack says nothing about, after which a look leaves Slack in peace."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Something to do every so many seconds; `run` returns how much was due."""

    name: str
    seconds: float
    run: Callable[[], Awaitable[int]]


class Clock:
    """Runs sweeps until it is told to stop: `await Clock(sweeps).run(stopping)`."""

    def __init__(self, sweeps: Sequence[Sweep], *, drain: float = 10.0) -> None:
        """Keep what is to be done; `drain` seconds are left to running sweeps at the end."""
        self._sweeps = sweeps
        self._drain = drain
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Tick until `stopping` is set, then let running sweeps end."""
        scheduler = AsyncIOScheduler(
            timezone="UTC",
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        )
        scheduler.add_listener(_log, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES | EVENT_JOB_ERROR)
        for sweep in self._sweeps:
            scheduler.add_job(self._tick, "interval", [sweep], seconds=sweep.seconds, id=sweep.name)
        scheduler.start()
        try:
            await stopping.wait()
        finally:
            scheduler.pause()
            await self._let_end()
            scheduler.shutdown(wait=False)

    async def _tick(self, sweep: Sweep) -> None:
        """Start a sweep unless it is still running."""
        running = self._running.get(sweep.name)
        if running is None or running.done():
            # Not in a TaskGroup: one sweep that fails must not stop the others.
            self._running[sweep.name] = asyncio.create_task(_run(sweep), name=sweep.name)

    async def _let_end(self) -> None:
        """Wait for running sweeps, then cancel what is left."""
        tasks = [task for task in self._running.values() if not task.done()]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=self._drain)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def sweeps(
    slot: Slot,
    index: Index,
    *,
    apps: Sequence[str],
    tenant: str,
    tickets: Poll,
    succession: Succession,
    reports: timedelta = REPORTS,
    more: Sequence[Sweep] = (),
) -> tuple[Sweep, ...]:
    """Everything that is looked at again and again, when it is due or at regular times."""
    walk = Walk(
        slot, index, apps=apps, tenant=tenant, reports=reports, between_looks=tickets.longest
    )
    return (
        Sweep("tickets", TICKETS, tickets.look),
        Sweep("expiry", EXPIRY, partial(close_due, slot, index)),
        Sweep("succession", EXPIRY, partial(pass_on_due, slot, index, succession)),
        Sweep("reconcile", RECONCILE, walk.step),
        Sweep("audits", RECONCILE, Audits(slot, index).step),
        *more,
    )


async def close_due(slot: Slot, index: Index) -> int:
    """Remind people, ask others, or close what is due; returns how many were looked at."""
    due = await index.claim_due(DUE)
    for key, approval_id in due:
        with _passing(key, approval=approval_id):
            await _close(slot, index, key, approval_id=approval_id)
    return len(due)


async def pass_on_due(slot: Slot, index: Index, succession: Succession) -> int:
    """See who may still decide requests whose approvers may have left; returns how many these are.

    A request about which Slack says nothing does not hold up the others: it is looked at again in
    a minute, after those that were not reached.
    """
    until, due = await index.claim_left(DUE)
    untold = 0
    for key, approval_id in due:
        if untold == UNTOLD:
            break
        with _passing(key, approval=approval_id):
            if await succession.look(slot, key, approval_id):
                await index.send(index.left_over(key, approval_id, until))
            else:
                untold += 1
                await index.send(index.left_last(key, approval_id))
    return len(due)


async def _close(slot: Slot, index: Index, key: SessionKey, *, approval_id: str) -> None:
    """Do what one approval is due for, and say when to look at it again.

    Of one that stays open it is also looked up who may still decide it.
    """
    approval = await settle(slot, key, approval_id, index=index.ring(key, behind=True))
    look = approval and next_look(approval)
    due = index.approval_due(key, approval_id, look) if look else ()
    is_open = approval is not None and approval.status == "pending"
    left = index.approval_left(key, approval_id, 0) if is_open else ()
    await index.send((*(due or index.approval_over(key, approval_id)), *left))
    if approval and approval.status == "expired":
        logs.info("approval.expired", session=str(key), approval=approval_id)


@contextmanager
def _passing(key: SessionKey, **what: str) -> Generator[None]:
    """Let nothing but a missing store stop the others: what fails is logged and passed over."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as raised:  # noqa: BLE001 - the clock's rim: one record is nobody else's fault
        logs.error("clock.passed_over", session=str(key), **what, error=raised, todo=REMEDY)


class Walk:
    """Reads every session again, a few at a time: what is due is a hint, and hints get lost.

    From the second round on those of agents that a deploy took away are among them. An open call
    keeps its session: one of which nobody `reports` for so long is ended. Nobody waits longer than
    `between_looks` to look at a ticket: then the store's clock was wrong.
    """

    def __init__(
        self,
        slot: Slot,
        index: Index,
        *,
        apps: Sequence[str],
        tenant: str,
        reports: timedelta = REPORTS,
        between_looks: timedelta = BETWEEN_LOOKS,
    ) -> None:
        """Start at the first app's newest session."""
        self._slot = slot
        self._index = index
        self._own = tuple(apps)
        self._apps = deque(apps)
        self._tenant = tenant
        self._reports = reports
        self._between = between_looks
        self._seen = 0
        self._listed: dict[SessionKey, tuple[str, int]] = {}

    async def step(self) -> int:
        """Look at the next sessions; returns how many had something to do."""
        found = 0
        for key in await self._next():
            with _passing(key):
                found += await self._look(key)
        return found

    async def _next(self) -> Sequence[SessionKey]:
        """The next sessions of the app that it is at, else of one after it."""
        for _ in range(len(self._apps) + 1):
            found = await self._slot.list(
                app=self._apps[0], tenant=self._tenant, skip=self._seen, most=AT_ONCE
            )
            self._seen += len(found)
            if found:
                return found
            await self._go_on()
        return ()

    async def _go_on(self) -> None:
        """Be at the next app; at the end of a round know all that other deployments had."""
        lists, over = self._index.lists, self._apps[0]
        if not self._seen and over not in self._own:
            await lists.forget_app(over)
        self._seen = 0
        self._apps.rotate(-1)
        if self._apps[0] == self._own[0]:
            others = [app for app in await lists.apps(self._own) if app not in self._own]
            self._apps = deque((*self._own, *others))
            newest = max((at for _, at in self._listed.values()), default=0)
            self._listed = {k: e for k, e in self._listed.items() if newest - e[1] < LISTED}

    async def _look(self, key: SessionKey) -> bool:
        """Make a session due if it has something to do, and list what waits for time or people."""
        view = await self._slot.read(key, parts=("posts", "approvals"), only=(), pending=True)
        if view is None:
            return False
        left = any(call.kind == "tool" for call in view.open.values())
        died = view.owner and view.lease <= view.now
        due: list[Command] = []
        if view.inbox or view.posts or left or died:
            due += self._index.session_waits(key)
        heard = None
        if not self._has_listed(key, head=view.audit_head, now=view.now):
            heard = await self._slot.read(key, parts=("approvals",))
        due_then, lost = self._asked(key, readable((heard or view).approvals).values(), view.now)
        due += due_then
        reports: list[tuple[str, str]] = []
        for cid, call in view.open.items():
            if Waiting.of(call.note):
                due += self._index.ticket_waits(key, cid, view.now, longest=self._between)
            elif call.kind == "news":
                reports.append((cid, call.name))
        await self._index.send([*due, *lost])
        if heard:
            self._listed[key] = heard.audit_head, view.now
        silence = view.now / 1000 - view.updated
        if reports and not view.inbox and silence >= self._reports.total_seconds():
            await self._end(key, reports)
        return bool(due)

    def _asked(
        self, key: SessionKey, approvals: Iterable[Approval], now: int
    ) -> tuple[list[Command], list[Command]]:
        """The commands that have approvals looked at in time, and those that have all found."""
        due, lost = list[Command](), list[Command]()
        for approval in approvals:
            lost += listed(self._index.lists, approval)
            look = next_look(approval)
            if look is not None:
                due += self._index.approval_due(key, approval.id, look)
            if approval.status == "pending":
                lost += self._index.approval_asked(key, approval.id, _together(now))
        return due, lost

    def _has_listed(self, key: SessionKey, *, head: str, now: int) -> bool:
        """Whether all approvals of a session are on the lists as they were at `head`."""
        known, at = self._listed.get(key, ("", 0))
        return known == head and 0 <= now - at < LISTED

    async def _end(self, key: SessionKey, calls: Sequence[tuple[str, str]]) -> None:
        """Tell these calls (id and name), and operators, that no report is waited for any more."""
        for cid, name in calls:
            entry, ring = unreported(key, (cid, name)).entry(), self._index.ring(key, behind=True)
            await self._slot.ingest(key, entry, only_existing=True, index=ring)
            logs.warning("call.unreported", session=str(key), call=cid, tool=name)


class Audits:
    """Checks whether the sessions listed with an audit are still kept, a few at a time."""

    def __init__(self, slot: Slot, index: Index) -> None:
        """Start at the one in which people were asked longest ago."""
        self._slot = slot
        self._lists = index.lists
        self._seen = 0

    async def step(self) -> int:
        """Look at the next sessions and forget those that are gone; returns how many were."""
        found = await self._lists.audited(skip=self._seen, most=AT_ONCE)
        gone = [key for key in found if await self._slot.read(key, parts=()) is None]
        await self._lists.forget_audits(gone)
        await self._lists.apps({key.app for key in found if key not in gone})
        self._seen = self._seen + len(found) - len(gone) if found else 0
        return len(gone)


def _together(now: int) -> int:
    """The next moment (ms) at which all open requests are looked at, so that one answer does."""
    return (now // LOOK + 1) * LOOK


async def _run(sweep: Sweep) -> None:
    """One sweep; what goes wrong is logged, and the next tick tries again."""
    try:
        done = await sweep.run()
    except Exception as raised:  # noqa: BLE001 - the clock's rim: nothing may stop it
        logs.error("clock.failed", sweep=sweep.name, error=raised)
    else:
        if done:
            logs.info("clock.tick", sweep=sweep.name, done=done)


def _log(event: JobEvent) -> None:
    """The scheduler could not tick in time."""
    logs.warning("clock.missed", sweep=event.job_id, code=event.code)
