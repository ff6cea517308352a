"""What only the slot in memory has: a clock of its own, and any number of event loops."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Busy, Entry, SessionKey
from agents.runtime.slot.wire import DEDUPE_MS
from tests.agents.slot.samples import begin, open_session


def test_every_loop_sees_the_same_sessions(key: SessionKey) -> None:
    """A program may call asyncio.run again and again, also in other threads."""
    slot = MemorySlot()

    def put(name: str) -> str:
        return asyncio.run(slot.ingest(key, Entry(id=name, body={})))

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(put, [str(n % 10) for n in range(40)]))
    view = asyncio.run(slot.read(key))
    assert sorted(answers) == ["duplicate"] * 30 + ["queued"] * 10
    assert view is not None
    assert view.inbox == 10


async def test_the_clock_is_handed_in(key: SessionKey) -> None:
    """Leases and remembered entries end by the clock that was passed in."""
    now = 1000.0
    slot = MemorySlot(clock=lambda: now)
    begun = await open_session(slot, key)
    assert (begun.now, begun.fence) == (1_000_000, 1_000_000)
    now += 59.999
    assert await slot.begin(key, owner="other", lease=1) == Busy(until=1_060_000, now=1_059_999)
    now += 0.001
    assert not isinstance(await slot.begin(key, owner="other", lease=1), Busy)
    now += DEDUPE_MS / 1000
    assert await slot.ingest(key, Entry(id="m1", body={})) == "queued"
    assert (await begin(slot, key)).fence > begun.fence
