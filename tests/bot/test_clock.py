"""The clock: it ticks, one bad sweep stops nothing, and none runs twice at once."""

import asyncio
import logging
from contextlib import asynccontextmanager

from bot.clock import Clock, Sweep


@asynccontextmanager
async def running(*sweeps: Sweep, drain: float = 5.0):
    """A clock that runs while the block does."""
    stopping = asyncio.Event()
    task = asyncio.create_task(Clock(sweeps, drain=drain).run(stopping))
    try:
        yield
    finally:
        stopping.set()
        await task


async def test_a_sweep_runs_again_and_again(caplog):
    """A sweep is run each time its seconds are over, and how much was due is logged."""
    runs = asyncio.Queue()

    async def run() -> int:
        runs.put_nowait(None)
        return 2

    with caplog.at_level(logging.INFO, logger="countersign"):
        async with running(Sweep("expiry", 0.02, run)):
            for _ in range(3):
                await runs.get()
    ticks = [record.fields for record in caplog.records if record.msg == "clock.tick"]
    assert ticks[:3] == [{"sweep": "expiry", "done": 2}] * 3


async def test_a_sweep_that_fails_is_tried_again(caplog):
    """An error is logged with the sweep's name; the next tick runs it again, others go on."""
    others = asyncio.Queue()
    failures = asyncio.Queue()

    async def fail() -> int:
        failures.put_nowait(None)
        raise RuntimeError("the store went away")

    async def work() -> int:
        others.put_nowait(None)
        return 0

    with caplog.at_level(logging.INFO, logger="countersign"):
        async with running(Sweep("bad", 0.02, fail), Sweep("good", 0.02, work)):
            for queue in (failures, failures, others, others):
                await queue.get()
    failed = [record for record in caplog.records if record.msg == "clock.failed"]
    assert failed[0].fields["sweep"] == "bad"


async def test_a_slow_sweep_is_not_started_twice():
    """While a sweep is running its ticks pass by; it ends before the clock does."""
    started, others, go_on = asyncio.Queue(), asyncio.Queue(), asyncio.Event()
    ended = []

    async def slow() -> int:
        started.put_nowait(None)
        await go_on.wait()
        ended.append("slow")
        return 1

    async def other() -> int:
        others.put_nowait(None)
        return 0

    async with running(Sweep("slow", 0.01, slow), Sweep("other", 0.01, other)):
        await started.get()
        for _ in range(5):
            await others.get()
        assert started.qsize() == 0
        asyncio.get_running_loop().call_soon(go_on.set)
    assert ended[0] == "slow"


async def test_a_sweep_that_does_not_end_is_cancelled():
    """What does not end when the clock stops is cancelled after its time."""
    started, cancelled = asyncio.Event(), []

    async def hang() -> int:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("hang")
            raise
        return 0

    async with running(Sweep("hang", 0.01, hang), drain=0.05):
        await started.wait()
    assert cancelled == ["hang"]
