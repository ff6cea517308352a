# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportMissingTypeStubs=false
"""The clock: apscheduler ticks, and each tick starts a sweep over what is due in the store.

The scheduler remembers nothing: what is due when stands in the store, so any number of clocks may
run, stop and start. A tick returns at once; a sweep that is still running is not started again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot import logs


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
