"""The sweep over tickets, on a real server: who is looked at, what is told, and when again."""

import asyncio
import logging
import math
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from agents import Companions, Ticket
from agents.runtime.slot.port import Begun, Commit, OpenCall
from agents.runtime.slot.redis import Client, RedisSlot, connect
from bot.clock import Walk
from bot.errors import TicketsUnavailable
from bot.index import Index
from bot.tickets.news import Waiting
from bot.tickets.poll import MISSED, UNKNOWN, Poll
from tests.bot.tickets.samples import CID, KEY, NAME

LEASE, SHORT = timedelta(seconds=30), timedelta(milliseconds=200)
PAUSE = timedelta(minutes=1)
BUSY = 25_000
"""Milliseconds that a test may take, which are in no answer that is looked for."""
DAY = 86_400_000
LIMIT = timedelta(minutes=15)
REPORTS = timedelta(days=3)
LATE = -901_000
"""Milliseconds: it was waited for until then and the longest pause more."""


@dataclass
class Elsewhere:
    """A ticket system whose tickets others work on; what is no ticket is raised or waited for."""

    tickets: dict[str, Ticket | Exception | asyncio.Event] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def create(self, *, subject: str, urgency: str, requester: str, key: str) -> Ticket:
        """Nobody opens tickets here."""
        raise NotImplementedError

    async def get(self, ticket_id: str) -> Ticket | None:
        """How it stands."""
        self.asked.append(ticket_id)
        found = self.tickets.get(ticket_id)
        if isinstance(found, BaseException):
            raise found
        if isinstance(found, asyncio.Event):
            await found.wait()
            return None
        return found


@dataclass
class Office:
    """A session that waits for the ticket T-1, and whoever looks at it."""

    redis: Client
    slot: RedisSlot
    index: Index
    elsewhere: Elsewhere
    prefix: str
    chance: float = 0.5
    lease: timedelta = LEASE

    def clock(self) -> Poll:
        """One of any number of clocks."""
        return Poll(
            slot=self.slot,
            index=self.index,
            tickets=self.elsewhere,
            lease=self.lease,
            pause=PAUSE,
            limit=LIMIT,
            reports=REPORTS,
            chance=lambda: self.chance,
        )

    async def waits(
        self, *, until: int = DAY, since: int = 0, cid: str = CID, due: bool = True
    ) -> int:
        """Open a call that waits for T-1; the store's time."""
        await self.slot.apply(KEY, state={}, create=True)
        begun = await self.slot.begin(KEY, owner="test", lease=5_000)
        assert isinstance(begun, Begun)
        note = Waiting(
            ticket="T-1",
            seen=Ticket(id="T-1").mark,
            news=0,
            since=begun.now + since,
            until=begun.now + until,
            person="UANA",
        ).note()
        call = OpenCall(name=NAME, kind="news", version=1, note=note)
        index = self.index.ticket_due(KEY, cid, 0) if due else ()
        commit = Commit(
            id=uuid.uuid4().hex,
            fence=begun.fence,
            version=0,
            opened={cid: call},
            companions=Companions(index=index),
        )
        await self.slot.commit(KEY, commit)
        await self.slot.release(KEY, begun.fence)
        return begun.now

    async def closes(self) -> None:
        """The call has its last answer."""
        begun = await self.slot.begin(KEY, owner="test", lease=5_000)
        commit = Commit(id=uuid.uuid4().hex, fence=begun.fence, version=0, closed=[CID])
        await self.slot.commit(KEY, commit)
        await self.slot.release(KEY, begun.fence)

    async def looks(self, clock: Poll, *, there: bool) -> None:
        """A clock looks at the ticket, which is open, or not to be found."""
        await self.index.send(self.index.ticket_due(KEY, CID, 0))
        self.elsewhere.tickets["T-1"] = Ticket(id="T-1") if there else None
        await clock.look()

    async def inbox(self) -> int:
        """How much was put to the session."""
        view = await self.slot.read(KEY, parts=())
        return view.inbox

    async def due(self) -> float | None:
        """When the ticket is looked at next."""
        return await self.redis.zscore(f"{self.prefix}{{due:local}}:tick", f"{KEY}|{CID}")


@pytest.fixture
async def office(store_server: str) -> AsyncIterator[Office]:
    """A store of its own."""
    prefix = f"{uuid.uuid4().hex}:"
    async with connect(store_server) as client:
        slot, index = RedisSlot(client, prefix=prefix), Index(client, prefix=prefix)
        yield Office(client, slot, index, Elsewhere({"T-1": Ticket(id="T-1")}), prefix)


async def test_a_ticket_that_has_not_changed_is_looked_at_later(office: Office):
    """Nothing is told, and the next look is a pause away."""
    now = await office.waits()
    assert await office.clock().look() == 1
    assert await office.inbox() == 0
    assert await office.due() == pytest.approx(now + 60_000, abs=BUSY)
    assert await office.clock().look() == 0


@pytest.mark.parametrize(("chance", "milliseconds"), [(0.0, 48_000), (1.0, 72_000)])
async def test_looks_are_scattered(office: Office, chance: float, milliseconds: int):
    """The pause is a fifth shorter or longer by chance, so that not all are due at once."""
    office.chance = chance
    now = await office.waits()
    await office.clock().look()
    assert await office.due() == pytest.approx(now + milliseconds + 10_000, abs=10_000)


async def test_news_are_put_to_the_session(office: Office):
    """The session is told once, and is due at once."""
    await office.waits()
    office.elsewhere.tickets["T-1"] = Ticket(id="T-1", status="in_progress", progress=30)
    await office.clock().look()
    begun = await office.slot.begin(KEY, owner="test", lease=5_000)
    [part] = begun.head.body["content"]["parts"]
    assert begun.head.body["user_id"] == "UANA"
    assert part["function_response"]["id"] == CID
    assert part["function_response"]["response"]["progress"] == 30
    assert [claim.key for claim in await office.index.claim(10, lease=1)] == [KEY]


async def test_two_clocks_tell_it_once(office: Office):
    """Both find the same end; the session hears of one."""
    await office.waits()
    office.elsewhere.tickets["T-1"] = Ticket(id="T-1", status="resolved")
    for _ in range(2):
        await office.index.send(office.index.ticket_due(KEY, CID, 0))
        await asyncio.gather(office.clock().look(), office.clock().look())
    assert await office.inbox() == 1


async def test_nothing_is_asked_while_the_session_has_not_read(office: Office):
    """What was told may not be noted yet, so it would be told again."""
    await office.waits()
    office.elsewhere.tickets["T-1"] = Ticket(id="T-1", status="in_progress")
    await office.clock().look()
    office.elsewhere.tickets["T-1"] = Ticket(id="T-1", status="in_progress", progress=10)
    await office.index.send(office.index.ticket_due(KEY, CID, 0))
    await office.clock().look()
    assert office.elsewhere.asked == ["T-1"]
    assert await office.inbox() == 1


@pytest.mark.parametrize(
    ("ticket", "until", "status"),
    [
        pytest.param(Ticket(id="T-1", status="deleted"), DAY, "deleted", id="deleted"),
        pytest.param(Ticket(id="T-1"), 0, "timeout", id="too late"),
        pytest.param(Ticket(id="T-1", status="in_progress"), 0, "timeout", id="news too late"),
        pytest.param(TicketsUnavailable("down"), LATE, "timeout", id="nobody to ask, too late"),
        pytest.param(ConnectionResetError("gone"), LATE, "timeout", id="no way to ask, too late"),
        pytest.param(RuntimeError("a bug"), LATE, "timeout", id="a system that fails, too late"),
        pytest.param(asyncio.CancelledError(), LATE, "timeout", id="it was cancelled, too late"),
        pytest.param({"status": "open"}, LATE, "timeout", id="no ticket, too late"),
        pytest.param(asyncio.Event(), LATE, "timeout", id="it hangs, too late"),
        pytest.param(Ticket(id="T-1", status="resolved"), 0, "resolved", id="done in time"),
    ],
)
async def test_how_waiting_ends(office: Office, ticket, until: int, status: str):
    """A ticket that is gone ends it, and so does its deadline unless it is done by then."""
    await office.waits(until=until)
    office.elsewhere.tickets["T-1"] = ticket
    office.lease = SHORT if isinstance(ticket, asyncio.Event) else LEASE
    clock = office.clock()
    for _ in range(MISSED):
        await office.index.send(office.index.ticket_due(KEY, CID, 0))
        await clock.look()
    begun = await office.slot.begin(KEY, owner="test", lease=5_000)
    [part] = begun.head.body["content"]["parts"]
    assert part["function_response"]["response"] == {"status": status, "ticket_id": "T-1"}
    assert begun.head.id == f"ticket:{CID}:T-1:1"


@pytest.mark.parametrize(
    "failure",
    [TicketsUnavailable("down"), ConnectionResetError("gone"), {"status": "open"}],
    ids=["down", "no way to ask", "no ticket"],
)
async def test_one_look_in_vain_does_not_end_the_wait(office: Office, failure):
    """Resolved while nobody looked, and not to be asked right after the deadline: it is heard."""
    await office.waits(until=-60_000)
    office.elsewhere.tickets["T-1"] = failure
    await office.clock().look()
    assert await office.inbox() == 0
    office.elsewhere.tickets["T-1"] = Ticket(id="T-1", status="resolved")
    await office.index.send(office.index.ticket_due(KEY, CID, 0))
    await office.clock().look()
    begun = await office.slot.begin(KEY, owner="test", lease=5_000)
    [part] = begun.head.body["content"]["parts"]
    assert part["function_response"]["response"]["status"] == "resolved"


@pytest.mark.parametrize(
    ("after_s", "milliseconds"),
    [pytest.param(None, 60_000, id="no word"), pytest.param(180.0, 180_000, id="it says when")],
)
async def test_a_system_that_does_not_answer_is_asked_later(
    office: Office, after_s: float | None, milliseconds: int
):
    """Nothing is told; Retry-After is kept to."""
    now = await office.waits()
    office.elsewhere.tickets["T-1"] = TicketsUnavailable("busy", after_s=after_s)
    await office.clock().look()
    assert await office.inbox() == 0
    assert await office.due() == pytest.approx(now + milliseconds, abs=BUSY)


@pytest.mark.parametrize(
    ("after_s", "until", "milliseconds"),
    [
        pytest.param(1e9, DAY, 900_000, id="no look for decades"),
        pytest.param(1e22, DAY, 900_000, id="a number too large"),
        pytest.param(math.inf, DAY, 900_000, id="never"),
        pytest.param(-5.0, DAY, 60_000, id="a time that is over"),
        pytest.param(86_400.0, 300_000, 300_000, id="longer than it is waited for"),
        pytest.param(86_400.0, 40_000, 60_000, id="it is waited for no longer than a pause"),
    ],
)
async def test_no_system_says_when_the_wait_ends(
    office: Office, after_s: float, until: int, milliseconds: int
):
    """What it names is kept to within bounds, so that people hear of the end in time."""
    now = await office.waits(until=until)
    office.elsewhere.tickets["T-1"] = TicketsUnavailable("busy", after_s=after_s)
    await office.clock().look()
    assert await office.due() == pytest.approx(now + milliseconds, abs=BUSY)


async def test_the_last_look_is_at_the_deadline(office: Office):
    """A ticket that is looked at seldom is looked at when nobody waits for it any more."""
    now = await office.waits(until=200_000, since=-DAY)
    await office.clock().look()
    assert await office.due() == pytest.approx(now + 200_000, abs=BUSY)


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        pytest.param("-", 0, id="once"),
        pytest.param("-" * (MISSED - 1), 0, id="a few times"),
        pytest.param("--+--", 0, id="it is there again"),
        pytest.param("--+" + "-" * MISSED, 1, id="there, and gone for good"),
        pytest.param("-" * MISSED, 1, id="gone for good"),
    ],
)
@pytest.mark.parametrize("clocks", [1, 2], ids=["one clock", "two clocks"])
async def test_a_ticket_that_is_not_found_for_a_moment(
    office: Office, seen: str, told: int, clocks: int
):
    """Only what several looks in a row do not find is deleted; each is later after the last."""
    now, all_clocks = await office.waits(), [office.clock() for _ in range(clocks)]
    for number, found in enumerate("+" + seen):
        await office.looks(all_clocks[number % clocks], there=found == "+")
        if number in {1, 2}:
            assert await office.due() == pytest.approx(now + 60_000 * 2 ** (number - 1), abs=BUSY)
    assert await office.inbox() == told


async def test_who_missed_it_long_ago_does_not_end_it(office: Office):
    """One clock missed it a few times; meanwhile another found it: that counts."""
    await office.waits()
    one, other = office.clock(), office.clock()
    await office.looks(one, there=True)
    for _ in range(MISSED - 1):
        await office.looks(one, there=False)
    await office.looks(other, there=True)
    await office.looks(one, there=False)
    assert await office.inbox() == 0


@pytest.mark.parametrize(
    ("since", "told"),
    [
        pytest.param(0, None, id="just opened"),
        pytest.param(-2 * DAY, None, id="after the time for tickets"),
        pytest.param(-3 * DAY, UNKNOWN, id="nobody reported for too long"),
    ],
)
async def test_a_ticket_that_was_never_there_is_not_deleted(
    office: Office, since: int, told: str | None
):
    """It is in another system, perhaps: a report is waited for, as for a tool without a ticket."""
    await office.waits(since=since, until=since + DAY)
    for _ in range(3 * MISSED):
        await office.looks(office.clock(), there=False)
    begun = await office.slot.begin(KEY, owner="test", lease=5_000)
    if told is None:
        assert begun.head is None
        return
    [part] = begun.head.body["content"]["parts"]
    response = part["function_response"]["response"]
    assert response == {"status": "timeout", "ticket_id": "T-1", "note": told}


async def test_a_system_that_hangs_holds_up_nobody_for_long(office: Office):
    """After half the lease it counts as not answering."""
    await office.waits()
    office.elsewhere.tickets["T-1"] = asyncio.Event()
    office.lease = SHORT
    assert await office.clock().look() == 1
    assert await office.inbox() == 0


async def test_one_ticket_that_fails_stops_no_other(office: Office, caplog):
    """A surprise is logged, and the ticket is looked at again like any other."""
    now = await office.waits()
    office.elsewhere.tickets["T-1"] = RuntimeError("a bug")
    with caplog.at_level(logging.ERROR, logger="countersign"):
        assert await office.clock().look() == 1
    assert [record.msg for record in caplog.records] == ["ticket.failed"]
    assert await office.due() == pytest.approx(now + 60_000, abs=BUSY)


async def test_a_call_that_is_over_is_struck_off(office: Office):
    """Neither is its ticket asked for, nor is it looked at again."""
    await office.waits()
    await office.looks(office.clock(), there=True)
    await office.index.send(office.index.ticket_due(KEY, CID, 0))
    await office.closes()
    await office.clock().look()
    assert office.elsewhere.asked == ["T-1"]
    assert await office.due() is None
    assert await office.index.missed(KEY, CID) is None


async def test_a_session_that_is_gone_is_struck_off(office: Office):
    """A hint about nothing is forgotten."""
    await office.index.send(office.index.ticket_due(KEY, CID, 0))
    await office.clock().look()
    assert await office.due() is None


async def test_a_lost_hint_is_found_again(office: Office):
    """Walking through the sessions makes a ticket due that the index has forgotten."""
    now = await office.waits(due=False)
    walk = Walk(office.slot, office.index, apps=["support"], tenant="T1")
    assert await walk.step() == 1
    assert await office.due() == pytest.approx(now, abs=BUSY)


async def test_walking_by_changes_no_time_to_look(office: Office):
    """A ticket that is due at its time stays due at that time."""
    await office.waits(due=False)
    await office.index.send(office.index.ticket_due(KEY, CID, DAY))
    await Walk(office.slot, office.index, apps=["support"], tenant="T1").step()
    assert await office.due() == DAY
