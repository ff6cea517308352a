"""Commands of several callers in one round trip: each gets its own answers."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agents.runtime.errors import StoreUnavailable
from agents.runtime.slot.batches import AT_ONCE, Batches
from agents.runtime.slot.port import Command


class Line:
    """An exchange that answers each command with its own name, when it is let."""

    def __init__(self) -> None:
        """Answer at once until `open` is cleared."""
        self.sent: list[list[str]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Note what came together; one command breaks the line for its whole batch."""
        self.sent.append([str(name) for name, *_ in commands])
        await self.open.wait()
        if ("break",) in commands:
            raise StoreUnavailable("the line is down")
        return [f"+{name}" for name, *_ in commands]


async def _all_under_way(line: Line, batches: Batches) -> list[asyncio.Task[list[Any]]]:
    """As many round trips as there may be, none of which gets an answer yet."""
    line.open.clear()
    tasks: list[asyncio.Task[list[Any]]] = []
    for n in range(AT_ONCE):
        tasks.append(asyncio.create_task(batches.send([(f"early{n}",)])))
        await asyncio.sleep(0.001)
    assert len(line.sent) == AT_ONCE
    return tasks


async def test_who_is_alone_waits_for_nobody() -> None:
    """One caller's commands are one round trip, answered in their order."""
    line = Line()
    batches = Batches(line.exchange)
    assert await batches.send([("a",), ("b",)]) == ["+a", "+b"]
    assert await batches.send([("c",)]) == ["+c"]
    assert line.sent == [["a", "b"], ["c"]]


async def test_who_asks_meanwhile_goes_together() -> None:
    """What is asked while the store is busy is one round trip, and each gets its own answers."""
    line = Line()
    batches = Batches(line.exchange)
    early = await _all_under_way(line, batches)
    later = [asyncio.create_task(batches.send([(f"{n}",), (f"{n}'",)])) for n in range(5)]
    await asyncio.sleep(0.001)
    line.open.set()
    assert await asyncio.gather(*later) == [[f"+{n}", f"+{n}'"] for n in range(5)]
    assert await asyncio.gather(*early) == [[f"+early{n}"] for n in range(AT_ONCE)]
    assert line.sent[AT_ONCE:] == [[f"{n}{end}" for n in range(5) for end in ("", "'")]]


@pytest.mark.parametrize("gone", [range(1), range(1, 3), range(3)], ids=["first", "rest", "all"])
async def test_who_stops_waiting_stops_nobody(gone: range) -> None:
    """Who is cancelled leaves the batch as it is: it goes out, and the others are answered."""
    line = Line()
    batches = Batches(line.exchange)
    early = await _all_under_way(line, batches)
    later = [asyncio.create_task(batches.send([(f"{n}",)])) for n in range(3)]
    await asyncio.sleep(0.001)
    for n in gone:
        later[n].cancel()
    line.open.set()
    answers = await asyncio.gather(*early, *later, return_exceptions=True)
    stopped = [isinstance(answer, asyncio.CancelledError) for answer in answers[AT_ONCE:]]
    assert stopped == [n in gone for n in range(3)]
    assert line.sent[AT_ONCE:] == [["0", "1", "2"]]
    assert await batches.send([("next",)]) == ["+next"]


async def test_a_failure_is_told_to_each_and_ends_with_its_batch() -> None:
    """All of a batch hear that the store did not answer; the next batch is another one."""
    line = Line()
    batches = Batches(line.exchange)
    early = await _all_under_way(line, batches)
    names = ("x", "break", "y")
    later = [asyncio.create_task(batches.send([(name,)])) for name in names]
    await asyncio.sleep(0.001)
    line.open.set()
    answers = await asyncio.gather(*later, return_exceptions=True)
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 3
    assert await asyncio.gather(*early) == [[f"+early{n}"] for n in range(AT_ONCE)]
    assert await batches.send([("next",)]) == ["+next"]


async def test_a_stuck_round_trip_holds_up_no_other() -> None:
    """While one answer does not come, others go on being asked and answered."""
    line = Line()
    batches = Batches(line.exchange)
    line.open.clear()
    stuck = asyncio.create_task(batches.send([("stuck",)]))
    await asyncio.sleep(0.001)
    line.open = asyncio.Event()
    line.open.set()
    assert [await batches.send([(f"{n}",)]) for n in range(3)] == [[f"+{n}"] for n in range(3)]
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
