"""What is due when: claimed once, never lost, struck off only when nothing new came."""

import asyncio
import time
from datetime import timedelta

import pytest

from agents import SessionKey, StoreUnavailable
from agents.runtime.slot.redis import connect
from bot.index import Client, Index
from bot.index.due import ASIDE, ASIDE_LIVES, TOKENS
from bot.index.lists import MINE
from tests.agents.slot.servers import server
from tests.faults.proxy import Proxy

KEYS = [SessionKey("helper", "thread", f"C1:{n}|x", "T1") for n in range(5)]
LEASE = 60_000


@pytest.fixture
def index(client: Client) -> Index:
    """An index on each kind of store, empty."""
    return Index(client)


async def _ring(index: Index, *keys: SessionKey) -> None:
    for key in keys:
        await index.send(index.ring(key))


async def test_what_is_due_is_claimed_once(index: Index) -> None:
    """A claimed session is nobody else's, and comes back by itself when its lease ends."""
    await _ring(index, KEYS[0])
    first = await index.claim(9, lease=LEASE)
    assert [claim.key for claim in first] == [KEYS[0]]
    assert await index.claim(9, lease=LEASE) == []
    await _ring(index, KEYS[0])
    assert [claim.key for claim in await index.claim(9, lease=-1)] == [KEYS[0]]
    assert [claim.key for claim in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_a_claim_whose_answer_is_lost_is_made_once(store_server: str) -> None:
    """The connection breaks in place of the answer: asked again, the store says the same."""
    async with connect(store_server) as client:
        await client.flushall()
        await _ring(Index(client), *KEYS[:2])
        port = client.connection_pool.connection_kwargs["port"]
        async with Proxy(port) as proxy, connect(f"redis://127.0.0.1:{proxy.port}") as other:
            index = Index(other)
            await index.now()
            proxy.become("drop")
            first = await index.claim(1, lease=LEASE)
            assert (proxy.dropped, len(first)) == (1, 1)
        second = await Index(client).claim(9, lease=LEASE)
    assert {claim.key for claim in (*first, *second)} == set(KEYS[:2])


@pytest.mark.parametrize("arrives", ["before", "late", "never"])
async def test_an_unheard_claim_is_found(index: Index, arrives: str) -> None:
    """As soon as the store has it, however late; nothing is taken that is asked for twice."""
    await _ring(index, *KEYS[:3])
    lost = index.claiming(2, lease=LEASE)
    if arrives == "before":
        await index.send(lost)
    index.unheard(lost, lease=LEASE)
    claims = await index.claim(1, lease=LEASE)
    assert len(claims) == 1
    if arrives == "late":
        await index.send(lost)
    if arrives != "never":
        claims += await index.claim(2, lease=LEASE)
    assert len({each.key for each in claims}) == len(claims)
    assert len(claims) == (1 if arrives == "never" else 3)
    for _ in range(2):
        assert await index.claim(0, lease=LEASE) == []
    for claim in claims:
        await index.send(index.over(claim))
    assert len(await index.claim(9, lease=LEASE)) == 3 - len(claims)


async def test_an_unheard_claim_is_over_with_its_lease(index: Index, client: Client) -> None:
    """Who asks for it then takes nothing, and no key is left of it."""
    await _ring(index, KEYS[0])
    lost = index.claiming(1, lease=20)
    await index.send(lost)
    index.unheard(lost, lease=LEASE)
    await asyncio.sleep(0.03)
    assert await index.claim(0, lease=LEASE) == []
    assert [claim.key for claim in await Index(client).claim(1, lease=-1)] == [KEYS[0]]
    assert await client.keys("*took*") == []


async def test_what_people_wait_for_is_ahead(index: Index) -> None:
    """Half of what is taken is from the front, and who was rung for by people stays there."""
    others = [SessionKey("helper", "thread", f"A{n}", "T1") for n in range(100)]
    for key in [*others, KEYS[0]]:
        await index.send(index.ring(key, behind=True))
    await _ring(index, KEYS[0])
    await index.send(index.ring(KEYS[0], behind=True))
    claims = await index.claim(2, lease=LEASE)
    assert KEYS[0] in [claim.key for claim in claims]
    assert len(claims) == 2


async def test_what_was_said_already(index: Index) -> None:
    """Of many who are about to say the same only one is the first, for every process."""
    said = await asyncio.gather(*(index.first("to ben") for _ in range(5)))
    assert sorted(said) == [False] * 4 + [True]
    assert await index.first("to mia")


async def test_done_strikes_off(index: Index) -> None:
    """A session that is done is not due; saying so again changes nothing."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=-1)
    for _ in range(2):
        await index.send(index.over(claim))
    assert await index.claim(9, lease=LEASE) == []


async def test_a_ring_survives_done(index: Index) -> None:
    """Who rings while a session is worked on makes it due at once, whatever the worker says."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=LEASE)
    await _ring(index, KEYS[0])
    await index.send(index.over(claim))
    assert [again.key for again in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_what_is_put_off_comes_back(index: Index, client: Client) -> None:
    """A session that its claimer puts off is due again, though the index was emptied meanwhile."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=LEASE)
    await client.flushall()
    await index.send(index.over(claim, pause=0.001))
    await asyncio.sleep(0.002)
    assert [again.key for again in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_an_old_claim_strikes_nothing_off(index: Index) -> None:
    """Two claims never look the same, not even in the same millisecond."""
    claims = []
    for _ in range(20):
        await _ring(index, KEYS[0])
        claims += await index.claim(9, lease=LEASE)
    for claim in claims[:-1]:
        await index.send(index.over(claim))
    assert len({claim.until for claim in claims}) == 20
    await index.send(index.over(claims[-1]))
    await _ring(index, KEYS[0])
    assert len(await index.claim(9, lease=LEASE)) == 1


async def test_later_is_later(index: Index) -> None:
    """A session put off is not due now, and put off by no time at all it is."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=-1)
    await index.send(index.over(claim, pause=60))
    assert await index.claim(9, lease=LEASE) == []
    await index.send(index.over(claim, pause=0))
    assert [again.key for again in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_a_ring_survives_later(index: Index) -> None:
    """Who rings while a turn fails makes its session due at once, however long it is put off."""
    await _ring(index, KEYS[0])
    [claim] = await index.claim(9, lease=LEASE)
    await _ring(index, KEYS[0])
    await index.send(index.over(claim, pause=300))
    assert [again.key for again in await index.claim(9, lease=LEASE)] == [KEYS[0]]


async def test_tenants_share_a_store(index: Index, client: Client) -> None:
    """Two bots under one prefix: neither finds, claims, or is held up by what is the other's."""
    other = Index(client, tenant="T:2")
    key, now = KEYS[0], await index.now()
    for commands in (
        index.ring(key),
        index.approval_due(key, "3-0", 1),
        index.lists.approval_listed(key, "3-0", now, names=["UMAX"], is_open=True),
        index.ticket_due(key, "2-0", 1),
        index.buried(key),
        index.spoken("D1", "helper"),
    ):
        await index.send(commands)
    await index.lists.keep_anchor("2026-11-30", "{}")
    await index.hold_off("chat.update", "C1", seconds=60)
    assert await other.claim(9, lease=LEASE) == []
    assert await other.claim_due(9) == []
    assert await other.claim_tickets(9, lease=timedelta(seconds=9)) == []
    assert (await other.dead(), await other.last_agent("D1")) == ([], None)
    lists = other.lists
    assert (await lists.recent(9), await lists.audited(), await lists.anchors()) == ([], [], [])
    assert other.held_off("chat.update", "C1") == 0
    assert [claim.key for claim in await index.claim(9, lease=LEASE)] == [key]


@pytest.mark.parametrize("strange", ["nonsense", "", "a:b", "a:b:c:d:e|3-0", "ä:|"])
async def test_what_nobody_can_read_is_taken_out(index: Index, strange: str, caplog) -> None:
    """A member that is no session is dropped with a line in the log; the others are served."""
    for name in ("ready", "appr", "tick", "seen", "dead", "audit"):
        await index.send([("ZADD", f"b:{{due:local}}:{name}", 1, strange)])
    await _ring(index, KEYS[0])
    await index.send([*index.approval_due(KEYS[1], "3-0", 1), *index.buried(KEYS[2])])
    await index.send(index.lists.approval_listed(KEYS[3], "3-0", 2, names=(), is_open=True))
    assert [claim.key for claim in await index.claim(9, lease=LEASE)] == [KEYS[0]]
    assert await index.claim_due(9) == [(KEYS[1], "3-0")]
    assert await index.claim_tickets(9, lease=timedelta(seconds=9)) == []
    assert [key for key, _ in await index.dead()] == [KEYS[2]]
    assert await index.lists.recent(9) == [(KEYS[3], "3-0")]
    assert await index.lists.audited() == [KEYS[3]]
    assert [record.msg for record in caplog.records] == ["index.unreadable"] * 6
    assert await index.send([("ZSCORE", "b:{due:local}:tick", strange)]) == [None]


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
    length, lifetime = await index.send(
        (("LLEN", "b:{due:local}:wake"), ("TTL", "b:{due:local}:wake"))
    )
    assert length == TOKENS
    assert 0 < lifetime <= 60


async def test_a_wait_ends(index: Index) -> None:
    """Without a doorbell a wait is over after its time."""
    await index.wait(seconds=0.05)
    assert await index.claim(9, lease=LEASE) == []


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "not yet connected"])
async def test_a_wait_may_be_given_up(index: Index, client: Client, *, connected: bool) -> None:
    """Whoever stops waiting, at whatever moment, has stopped, and nobody is kept from the store."""
    for steps in range(40):
        if connected:
            await client.ping()
        waiting = asyncio.create_task(index.wait(seconds=4))
        for _ in range(steps):
            await asyncio.sleep(0)
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


HOURS = 5 * 3600 * 1000


async def _set_back(client: Client, name: str) -> None:
    """Have what is due be so much later, as if the store's clock had been set back."""
    for member, _ in await client.zrange(f"b:{{due:local}}:{name}", 0, -1, withscores=True):
        await client.zincrby(f"b:{{due:local}}:{name}", HOURS, member)


async def test_nobody_waits_for_a_clock_that_was_set_back(index: Index, client: Client) -> None:
    """What is due beyond the longest there can be is due now, and what is held off is not."""
    key, now = KEYS[0], await index.now()
    at, longest = now + 5000, timedelta(minutes=30)
    waits = [
        *index.session_waits(key),
        *index.approval_asked(key, "3-0", at),
        *index.ticket_waits(key, "2-0", at, longest=longest),
    ]
    await index.send(waits)
    await index.hold_off("chat.update", "C1", seconds=60)
    for name in ("ready", "left", "tick", "until"):
        await _set_back(client, name)
    await index.send(
        [
            *index.session_waits(key),
            *index.approval_asked(key, "3-0", now),
            *index.ticket_waits(key, "2-0", now, longest=longest),
        ]
    )
    other = Index(client)
    assert [claim.key for claim in await other.claim(9, lease=LEASE)] == [key]
    assert (await other.claim_left(9))[1] == [(key, "3-0")]
    assert await other.claim_tickets(9, lease=longest) == [(key, "2-0")]
    assert other.held_off("chat.update", "C1") == 0


@pytest.mark.parametrize(
    ("ahead", "mine"),
    [
        pytest.param(30_000, False, id="another one is about to"),
        pytest.param(-1, True, id="whose time is over"),
        pytest.param(HOURS, True, id="whose clock was set back"),
    ],
)
async def test_who_tells_that_the_store_was_emptied(
    index: Index, client: Client, ahead: int, mine: bool
) -> None:
    """One of all does, and another one when that one said nothing in its time."""
    taken = {"emptied": 1, "taken": await index.now() + ahead, "by": "another"}
    await client.hset("b:{boot}:marker", mapping=taken)
    assert await index.to_tell() == mine


async def test_what_slack_wants_later_is_told_with_a_claim(index: Index, client: Client) -> None:
    """Who claims learns until when no process may make a call; what is over is forgotten."""
    other = Index(client)
    await index.hold_off("chat.update", "C1", seconds=60)
    await index.hold_off("chat.update", "C2", seconds=-1)
    assert other.held_off("chat.update", "C1") == 0
    await _ring(index, KEYS[0])
    await other.claim(9, lease=LEASE)
    for each in (index, other):
        assert 50 < each.held_off("chat.update", "C1") <= 60
        assert each.held_off("chat.update", "C2") == each.held_off("chat.postMessage", "C1") == 0


async def test_the_agent_of_a_dm(index: Index) -> None:
    """Which agent answered last is remembered per channel, for a while."""
    assert await index.last_agent("D1") is None
    await index.send(index.spoken("D1", "helper"))
    assert await index.last_agent("D1") == "helper"
    assert await index.last_agent("D2") is None
    [lifetime] = await index.send((("TTL", "b:{dm:local:D1}:agent"),))
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
            await index.send(index.over(first))
            await index.send(index.over(second, pause=60))
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


async def test_what_is_set_aside_follows_a_moment(index: Index, client: Client) -> None:
    """Words of a thread are kept in order for ten minutes, each once, a hundred at the most."""
    for ts in ("1700000000.000300", "1700000000.000100", "1700000000.000200"):
        await index.set_aside(KEYS[0], f"said {ts[-4:]}", ts=ts)
        await index.set_aside(KEYS[0], f"said {ts[-4:]}", ts=ts)
    found = await index.said_after(KEYS[0], "1700000000.000100")
    assert found == ["said 0200", "said 0300"]
    assert await index.said_after(KEYS[1], "0") == []
    for number in range(ASIDE):
        await index.set_aside(KEYS[0], f"more {number}", ts=f"17000000{number:02}.000000")
    assert len(await index.said_after(KEYS[0], "0")) == ASIDE
    (name,) = [key async for key in client.scan_iter("*aside*")]
    assert 0 < await client.ttl(name) <= ASIDE_LIVES


async def test_what_is_open_is_found_before_what_is_newer(index: Index):
    """Of everybody's and of one's own, however many were closed since; what closes steps back."""
    old, new = (KEYS[0], "3-0"), (KEYS[1], "3-0")
    await index.send(index.lists.approval_listed(*old, 1, names=["UMAX", "finance"], is_open=True))
    await index.send(index.lists.approval_listed(*new, 2, names=["UMAX"], is_open=False))
    assert await index.lists.recent(1) == await index.lists.concerning(["UMAX"], 0) == [old]
    assert await index.lists.concerning(["UMAX", "finance"], 9) == [old, new]
    assert await index.lists.concerning(["UANA"], 9) == await index.lists.concerning([], 9) == []
    await index.send(index.lists.approval_listed(*old, 1, names=["UMAX"], is_open=False))
    assert await index.lists.recent(9) == await index.lists.concerning(["UMAX"], 9) == [new, old]


@pytest.mark.parametrize("most", [1, 3, 9])
async def test_what_is_open_takes_no_place_of_what_is_over(index: Index, most: int):
    """Of one's own all that is open is found, whatever its number, and the newest of the rest."""
    closed = [(KEYS[1], f"{n}-0") for n in range(5)]
    opened = [(KEYS[0], f"{n}-0") for n in range(7)]
    for is_open, listed in ((True, opened), (False, closed)):
        for at, each in enumerate(listed, 1):
            names = ["UMAX", "finance"] if at % 2 else ["UMAX"]
            command = index.lists.approval_listed(*each, at, names=names, is_open=is_open)
            await index.send(command)
    found = await index.lists.concerning(["UMAX", "finance"], most)
    assert sorted(each for each in found if each in opened) == opened
    others = {each for each in found if each in closed}
    assert others == {*closed[-most:], *closed[::2][-most:]}


async def test_a_list_has_an_end(index: Index, client: Client):
    """A person's list keeps what is open and the newest of the rest, and lives a month."""
    await index.send(index.lists.approval_listed(KEYS[0], "3-0", 1, names=["UMAX"], is_open=True))
    for n in range(2, MINE + 5):
        closed = index.lists.approval_listed(KEYS[1], f"{n}-0", n, names=["UMAX"], is_open=False)
        await index.send(closed)
    found = await index.lists.concerning(["UMAX"], MINE + 9)
    assert (len(found), found[0], found[1][1]) == (MINE, (KEYS[0], "3-0"), f"{MINE + 4}-0")
    assert await client.ttl("b:{mine:local:UMAX}:appr") > 0


async def test_who_looked_at_their_home(index: Index):
    """Those who ever opened it are known to every process."""
    await index.send(index.lists.home_opened("UMAX"))
    assert await index.lists.with_home(["UANA", "UMAX"]) == ["UMAX"]
    assert await index.lists.with_home([]) == []


async def test_the_newest_moment_of_an_audit_counts(index: Index, client: Client):
    """Listing an older approval of a session again does not make its audit older."""
    for at in (2, 1):
        listed = index.lists.approval_listed(KEYS[0], f"{at}-0", at, names=(), is_open=True)
        await index.send(listed)
    assert await client.zscore("b:{due:local}:audit", str(KEYS[0])) == 2


@pytest.mark.parametrize(
    ("size", "kept"),
    [
        pytest.param(10, 4, id="all there is room for"),
        pytest.param(1_000_000, 4, id="just enough room"),
        pytest.param(1_500_000, 2, id="the oldest are forgotten"),
        pytest.param(5_000_000, 2, id="the last two in any case"),
    ],
)
async def test_anchors_take_only_so_much_of_the_store(index: Index, size: int, kept: int):
    """Each names every session, so that a year of them could fill a small store."""
    days = [f"2026-11-0{day}" for day in range(1, 5)]
    anchors = [day.ljust(size) for day in days]
    for day, anchor in zip(days, anchors, strict=True):
        await index.lists.keep_anchor(day, anchor)
    assert await index.lists.anchors() == anchors[-kept:]
