"""A command of the index whose answer was lost is sent again by the client, and counts once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from uuid import uuid4

import pytest

from agents import SessionKey
from agents.runtime.slot.redis import connect
from bot.index import Index
from tests.agents.slot.test_lost_answers import Lossy
from tests.lines import listening

KEY = SessionKey("a", "thread", "C1:1", "T1")


@pytest.fixture
async def lossy(store_server: str) -> AsyncIterator[tuple[Lossy, Index]]:
    """An index behind a line that can be cut."""
    line = Lossy(store_server)
    async with listening(line.serve) as port, connect(f"redis://127.0.0.1:{port}") as client:
        index = Index(client, prefix=f"{uuid4().hex}:", tenant="T1")
        assert await index.answers()
        yield line, index


async def spent(index: Index) -> int:
    """What is counted once 100 tokens are."""
    await index.send(index.spent(KEY, "U1", tokens=100, now=await index.now()))
    return await index.spent_today("T1", "U1")


async def told(index: Index) -> bool:
    """Whether it is for who found the store emptied to tell so."""
    await index.mark(5)
    return await index.to_tell()


async def claimed(index: Index) -> int:
    """How many sessions are in hand of the one that is due."""
    await index.send(index.ring(KEY))
    return len(await index.claim(9, lease=1000))


async def looked_at(index: Index) -> int:
    """How many tickets are looked at of the one that is due."""
    await index.send(index.ticket_due(KEY, "2-0", 1))
    return len(await index.claim_tickets(9, lease=timedelta(seconds=60)))


async def kept(index: Index) -> str:
    """The anchor that is kept of a day."""
    return await index.lists.keep_anchor("2026-11-30", "mine")


CASES: dict[str, tuple[Callable[[Index], Awaitable[object]], object]] = {
    "first": (lambda index: index.first("a note"), True),
    "anchoring": (lambda index: index.lists.anchoring(), True),
    "keep_anchor": (kept, "mine"),
    "to_tell": (told, True),
    "spent": (spent, 100),
    "claim": (claimed, 1),
    "claim_tickets": (looked_at, 1),
}


@pytest.mark.parametrize("lost", [1, 2, 3], ids=lambda number: f"answer {number} is lost")
@pytest.mark.parametrize("name", CASES)
async def test_a_lost_answer(lossy: tuple[Lossy, Index], name: str, lost: int):
    """Whichever answer on the way is lost, what comes of it is what comes without a loss."""
    line, index = lossy
    line.after = lost - 1
    line.cut = True
    call, expected = CASES[name]
    assert await call(index) == expected


@pytest.mark.parametrize(
    "take",
    [
        pytest.param(lambda index: index.first("a note"), id="a note"),
        pytest.param(lambda index: index.lists.anchoring(), id="the anchor"),
        pytest.param(told, id="that the store was emptied"),
    ],
)
async def test_one_of_several(lossy: tuple[Lossy, Index], take: Callable[[Index], Awaitable[bool]]):
    """What one may do is for one of those who ask at once, and for nobody later."""
    _, index = lossy
    asked = await asyncio.gather(*(take(index) for _ in range(5)))
    assert sorted(asked) == [False] * 4 + [True]
    assert not await take(index)


async def test_what_is_spent_twice_counts_twice(lossy: tuple[Lossy, Index]):
    """The same number of tokens once more is another count."""
    _, index = lossy
    assert [await spent(index), await spent(index)] == [100, 200]
