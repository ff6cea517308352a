"""The counter of hops counts functions of ours on the way, across tasks and threads."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

import pytest

from tests.hops import Hops

HERE = "tests/test_hops.py"


async def listener(end: Callable[[], None]) -> None:
    """Where the ways of these tests begin."""
    aside()
    await middle(end)


async def middle(end: Callable[[], None]) -> None:
    """On the way, entered twice."""
    await asyncio.sleep(0)
    async for _ in steps():
        end()


async def steps() -> AsyncIterator[int]:
    """Beside the way: it has handed over when the mark is reached."""
    yield 1


async def tasks(end: Callable[[], None]) -> None:
    """Goes on in a task."""
    async with asyncio.TaskGroup() as group:
        group.create_task(middle(end))


async def thread(end: Callable[[], None]) -> None:
    """Goes on in a thread."""
    await asyncio.to_thread(deep, end)


def deep(end: Callable[[], None]) -> None:
    """On the way in a thread."""
    end()


def aside() -> None:
    """Returns before the mark is reached."""


@pytest.mark.parametrize(
    ("start", "way"),
    [
        pytest.param(listener, ["listener", "middle"], id="awaits"),
        pytest.param(tasks, ["tasks", "middle"], id="a task goes on where it was created"),
        pytest.param(thread, ["thread", "deep"], id="a thread goes on where work was submitted"),
    ],
)
async def test_functions_on_the_way_are_counted(start, way: list[str]):
    """Counted is who waits for the mark, once each, and not who has returned or runs the test."""
    with Hops("/tests/test_hops.py") as hops:
        await asyncio.create_task(start(hops.mark))
    lines = [line.split() for line in hops.way().splitlines()]
    names = [line[1] for line in lines if line[0] == HERE]
    assert [name for name in names if not name.startswith("test_")] == way


async def test_functions_that_returned_are_counted_apart():
    """What ran and was gone when the mark was reached is in the other count only."""
    with Hops("/tests/test_hops.py") as hops:
        await listener(hops.mark)
        await thread(lambda: None)
    assert hops.at_mark == (len({"this test", "listener", "middle"}), 1)
    assert hops.entered == (len({"this test", "listener", "middle", "aside", "steps"}), 1)


async def test_a_named_function_is_a_mark():
    """Each call of a function handed in as a mark is one, and the ways are added up."""
    with Hops("/tests/test_hops.py", marks=[aside, deep]) as hops:
        await asyncio.create_task(listener(lambda: None))
        await asyncio.create_task(thread(lambda: None))
    functions, files = hops.at_mark
    assert files == 1
    assert functions == len({"this test", "listener", "aside", "thread", "deep"})


async def test_what_is_not_under_the_roots_does_not_count():
    """Files outside the roots, and the libraries between, are no hops."""
    with Hops("/bot/") as hops:
        await listener(hops.mark)
    assert hops.at_mark == (0, 0)


async def test_an_unreached_mark_is_an_error():
    """A count of nothing proves nothing."""
    with Hops("/tests/") as hops:
        await listener(lambda: None)
    with pytest.raises(AssertionError, match="no mark was reached"):
        _ = hops.at_mark


def test_tracing_ends_with_the_block():
    """Afterwards the interpreter is traced as it was before."""
    before = sys.getprofile()
    with Hops("/tests/"):
        assert sys.getprofile() is not before
    assert sys.getprofile() is before
