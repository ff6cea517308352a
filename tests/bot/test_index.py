"""What is due when: claimed once, never lost, struck off only when nothing new came."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from agents import SessionKey, StoreUnavailable
from agents.runtime.slot.redis import connect
from bot.index import TOKENS, Index
from tests.agents.slot.servers import server

KEYS = [SessionKey("helper", "thread", f"C1:{n}|x", "T1") for n in range(5)]
LEASE = 60_000


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster of one node."""
    with server(cluster=True) as url:
        yield url


@pytest.fixture(params=["single", "cluster"])
async def index(request: pytest.FixtureRequest) -> AsyncIterator[Index]:
    """An index on each kind of store, empty."""
    clustered = request.param == "cluster"
    url = request.getfixturevalue("cluster" if clustered else "store_server")
    async with connect(url, cluster=clustered) as client:
        await client.flushall()
        yield Index(client)


async def _ring(index: Index, *keys: SessionKey, after: float = 0) -> None:
    for key in keys:
        await index.send(index.ring(key, after=after))


async def test_what_is_due_is_claimed_once(index: Index) -> None:
    """A claimed session is nobody else's, and comes back by itself when its lease ends."""
    await _ring(index, KEYS[0])
    first = await index.claim(9, lease=LEASE)
    assert [claim.key for claim in first] == [KEYS[0]]
    assert await index.claim(9, lease=LEASE) == []
    await _ring(index, KEYS[0])
    assert [claim.key for claim in await index.claim(9, lease=-1)] == [KEYS[0]]
    assert [claim.key for claim in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_done_strikes_off(index: Index) -> None:
    """A session that is done is not due; saying so again changes nothing."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=-1)
    for _ in range(2):
        await index.done(claim)
    assert await index.claim(9, lease=LEASE) == []


async def test_a_ring_survives_done(index: Index) -> None:
    """Who rings while a session is worked on makes it due at once, whatever the worker says."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=LEASE)
    await _ring(index, KEYS[0])
    await index.done(claim)
    assert [again.key for again in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_an_old_claim_strikes_nothing_off(index: Index) -> None:
    """Two claims never look the same, not even in the same millisecond."""
    claims = []
    for _ in range(20):
        await _ring(index, KEYS[0])
        claims += await index.claim(9, lease=LEASE)
    for claim in claims[:-1]:
        await index.done(claim)
    assert len({claim.until for claim in claims}) == 20
    await index.done(claims[-1])
    await _ring(index, KEYS[0], after=-1)
    assert len(await index.claim(9, lease=LEASE)) == 1


async def test_later_is_later(index: Index) -> None:
    """A session rung for later is not due now."""
    await _ring(index, KEYS[0], after=60)
    assert await index.claim(9, lease=LEASE) == []


async def test_many_workers_share(index: Index) -> None:
    """Claims at once are disjoint, and together they are all that is due."""
    await _ring(index, *KEYS)
    found = await asyncio.gather(*(index.claim(2, lease=LEASE) for _ in range(4)))
    keys = [claim.key for claims in found for claim in claims]
    assert sorted(keys, key=str) == sorted(KEYS, key=str)


async def test_nobody_is_passed_over(index: Index) -> None:
    """When more is due than fits, each gets its turn, though all are rung for again and again."""
    seen: set[SessionKey] = set()
    for _ in range(200):
        await _ring(index, *KEYS)
        seen.update(claim.key for claim in await index.claim(1, lease=LEASE))
        if len(seen) == len(KEYS):
            break
    assert seen == set(KEYS)


async def test_a_ring_ends_a_wait(index: Index) -> None:
    """Who waits hears the doorbell; the tokens are few and mortal."""
    waiting = asyncio.create_task(index.wait(seconds=4))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await _ring(index, KEYS[0])
    await asyncio.wait_for(waiting, timeout=3)
    for _ in range(TOKENS):
        await _ring(index, *KEYS[:2])
    length, lifetime = await index.send((("LLEN", "b:{due}:wake"), ("TTL", "b:{due}:wake")))
    assert length == TOKENS
    assert 0 < lifetime <= 60


async def test_a_wait_ends(index: Index) -> None:
    """Without a doorbell a wait is over after its time."""
    await index.wait(seconds=0.05)
    assert await index.claim(9, lease=LEASE) == []


async def test_a_wait_may_be_given_up(index: Index) -> None:
    """Whoever stops waiting leaves nothing behind that keeps others from the store."""
    for _ in range(20):
        waiting = asyncio.create_task(index.wait(seconds=4))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await _ring(index, KEYS[0])
    assert len(await index.claim(9, lease=LEASE)) == 1


async def test_approvals_are_due_at_their_time(index: Index) -> None:
    """An approval is claimed when its time has come, with whatever id it has, until it is over."""
    approvals = ["q1", "q|2"]
    for approval in approvals:
        await index.send(index.approval_due(KEYS[0], approval, 17))
    await index.send(index.approval_due(KEYS[1], "later", 9_999_999_999_999))
    due = await index.claim_due(9)
    assert due == [(KEYS[0], approval) for approval in approvals]
    assert await index.claim_due(9) == []
    for key, approval in due:
        await index.send(index.approval_due(key, approval, 18))
        await index.send(index.approval_over(key, approval))
    assert await index.claim_due(9) == []


async def test_the_agent_of_a_dm(index: Index) -> None:
    """Which agent answered last is remembered per channel, for a while."""
    assert await index.last_agent("D1") is None
    await index.send(index.spoken("D1", "helper"))
    assert await index.last_agent("D1") == "helper"
    assert await index.last_agent("D2") is None
    [lifetime] = await index.send((("TTL", "b:{dm:D1}:agent"),))
    assert lifetime > 0


async def test_a_full_store_can_be_worked_off() -> None:
    """Without memory left, what is due is still claimed, put off and struck off."""
    with server("--maxmemory-policy", "noeviction") as url:
        async with connect(url) as client:
            index = Index(client)
            await _ring(index, *KEYS[:2])
            await client.config_set("maxmemory", "1")
            with pytest.raises(StoreUnavailable):
                await _ring(index, KEYS[2])
            first, second = await index.claim(9, lease=-1)
            await index.done(first)
            await _ring(index, second.key, after=60)
            assert await index.claim(9, lease=LEASE) == []


async def test_a_store_that_is_gone() -> None:
    """Nobody answers: that is an error of its own, and the bot is not ready."""
    with server() as url:
        index = Index(client := connect(url))
    with pytest.raises(StoreUnavailable):
        await index.claim(1, lease=LEASE)
    assert not await index.answers()
    await client.aclose()


async def test_a_store_that_answers(index: Index) -> None:
    """The bot is ready when its store is."""
    assert await index.answers()


async def test_tokens_are_counted_by_person_and_day(index: Index) -> None:
    """What one person used up adds up until midnight, whichever of their sessions it was in."""
    now = int(time.time() * 1000)
    for key, person, tokens in ((KEYS[0], "UA", 5), (KEYS[1], "UA", 7), (KEYS[0], "UB", 1)):
        await index.send(index.spent(key, person, tokens=tokens, now=now))
    assert [await index.spent_today("T1", who) for who in ("UA", "UB", "UC")] == [12, 1, 0]
    assert await index.spent_today("T2", "UA") == 0


async def test_a_new_day_begins_at_nothing(index: Index) -> None:
    """What was used up before midnight UTC is forgotten then."""
    yesterday = int(time.time() * 1000) - 24 * 3600 * 1000
    await index.send(index.spent(KEYS[0], "UA", tokens=5, now=yesterday))
    assert await index.spent_today("T1", "UA") == 0
