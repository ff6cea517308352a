"""A connection goes back to its pool without a word unread, whatever became of a round trip."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.exceptions import (
    ResponseError,
    TimeoutError,  # noqa: A004
)

from agents.runtime.slot.line import Line
from agents.runtime.slot.redis import connect
from tests.faults.proxy import Proxy

PATIENCE = 0.1
ASKED: Sequence[tuple[str, ...]] = [("ECHO", "old 1"), ("ECHO", "old 2"), ("ECHO", "old 3")]
ANSWERED = ["old 1", "old 2", "old 3"]
SLOW: Sequence[tuple[str, ...]] = [("ECHO", "old 1"), ("BLPOP", "none", "0.2"), ("ECHO", "old 3")]

Trip = Callable[[Line, Proxy], Awaitable[Any]]


@pytest.fixture
async def proxy(store_server: str) -> AsyncIterator[Proxy]:
    """A way to the store that can be in trouble."""
    async with Proxy(urlsplit(store_server).port or 0) as proxy:
        yield proxy


@pytest.fixture
async def line(proxy: Proxy) -> AsyncIterator[Line]:
    """A line over the proxy with one connection, which waits for a tenth of a second."""
    async with connect(f"redis://127.0.0.1:{proxy.port}", connections=1) as client:
        client.connection_pool.connection_kwargs["socket_timeout"] = PATIENCE  # type: ignore[union-attr]
        line = Line(client)  # type: ignore[arg-type]
        await line.exchange([("DEL", "none", "text")])
        yield line


async def given_up(line: Line, commands: Sequence[tuple[str, ...]]) -> None:
    """A round trip whose caller is cancelled while it waits."""
    task = asyncio.create_task(line.exchange(commands))
    await asyncio.sleep(PATIENCE / 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancelled(line: Line, proxy: Proxy) -> None:
    """Before any answer; all of them come when nobody waits."""
    proxy.become("hole")
    await given_up(line, ASKED)
    proxy.become("")


async def cancelled_between(line: Line, _proxy: Proxy) -> None:
    """One answer was read, two are not."""
    await given_up(line, SLOW)
    await asyncio.sleep(0.2)


async def cancelled_in_a_queue(line: Line, _proxy: Proxy) -> None:
    """The only connection is another's."""
    first = asyncio.create_task(line.exchange(ASKED))
    second = asyncio.create_task(line.exchange(ASKED))
    await asyncio.sleep(0)
    second.cancel()
    assert await first == ANSWERED


async def timed_out(line: Line, proxy: Proxy) -> None:
    """The first try takes too long, and is answered when the second is asked."""
    proxy.become("hole")
    task = asyncio.create_task(line.exchange(ASKED))
    await asyncio.sleep(1.2 * PATIENCE)
    proxy.become("")
    assert await task == ANSWERED


async def timed_out_between(line: Line, _proxy: Proxy) -> None:
    """Each try reads one answer, and two come too late."""
    with pytest.raises(TimeoutError):
        await line.exchange(SLOW)


async def timed_out_each_time(line: Line, proxy: Proxy) -> None:
    """No try is answered in time; all are answered later."""
    proxy.become("hole")
    with pytest.raises(TimeoutError):
        await line.exchange(ASKED)
    proxy.become("")


async def lost(line: Line, proxy: Proxy) -> None:
    """The connection breaks in place of the answers."""
    proxy.become("drop")
    assert await line.exchange(ASKED) == ANSWERED


async def cut(line: Line, proxy: Proxy) -> None:
    """The connection breaks while answers are waited for."""
    proxy.become("hole")
    task = asyncio.create_task(line.exchange(ASKED))
    await asyncio.sleep(PATIENCE / 2)
    proxy.cut()
    proxy.become("")
    assert await task == ANSWERED


async def refused(line: Line, _proxy: Proxy) -> None:
    """One command of several is refused; the others are answered."""
    first, wrong, last = await line.exchange(
        [("SET", "text", "1"), ("LPUSH", "text", "x"), ("GET", "text")]
    )
    assert (first, last) == (True, "1")
    assert isinstance(wrong, ResponseError)


async def refused_first_and_last(line: Line, _proxy: Proxy) -> None:
    """There is no such command, twice."""
    answers = await line.exchange([("NO", "1"), ("ECHO", "x"), ("NO", "2")])
    assert [type(answer) for answer in answers] == [ResponseError, str, ResponseError]


async def unreadable(line: Line, _proxy: Proxy) -> None:
    """An answer that is no text; one behind it is not read."""
    with pytest.raises(UnicodeDecodeError):
        await line.exchange([("EVAL", "return '\\255'", "0"), ("ECHO", "old")])


TRIPS: Sequence[Trip] = [
    cancelled,
    cancelled_between,
    cancelled_in_a_queue,
    timed_out,
    timed_out_between,
    timed_out_each_time,
    lost,
    cut,
    refused,
    refused_first_and_last,
    unreadable,
]


@pytest.mark.parametrize("trip", [pytest.param(trip, id=trip.__name__) for trip in TRIPS])
async def test_the_next_round_trip(line: Line, proxy: Proxy, trip: Trip) -> None:
    """Whoever comes next is answered what they asked."""
    await trip(line, proxy)
    for n in range(3):
        await asyncio.sleep(0)
        asked = [("ECHO", f"new {n}"), ("ECHO", f"newer {n}")]
        assert await line.exchange(asked) == [f"new {n}", f"newer {n}"]


async def test_many_at_once(line: Line) -> None:
    """Of many that share a connection some are cancelled at any moment; the others lose nothing."""

    async def ask(n: int) -> bool:
        return await line.exchange([("ECHO", f"{n}"), ("ECHO", f"{n}!")]) == [f"{n}", f"{n}!"]

    tasks = [asyncio.create_task(ask(n)) for n in range(60)]
    for n, task in enumerate(tasks):
        if n % 3 == 0:
            for _ in range(n % 11):
                await asyncio.sleep(0)
            task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [each for n, each in enumerate(found) if n % 3] == [True] * 40
