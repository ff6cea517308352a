"""The clock: it ticks, one bad sweep stops nothing, and none runs twice at once."""

import asyncio
import logging
import math
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from agents import (
    Agent,
    AgentTool,
    Companions,
    Entry,
    FunctionTool,
    LongRunningFunctionTool,
    SessionKey,
    SessionService,
    StoreUnavailable,
)
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Commit, OpenCall
from agents.runtime.slot.redis import RedisSlot, connect
from agents.runtime.testing import ScriptedModel, call
from bot import clock
from bot.approvals.board import listed
from bot.approvals.decide import decide
from bot.approvals.records import REMEDY
from bot.approvals.terms import Policy, Vote
from bot.clock import LOOK, Audits, Clock, Sweep, Walk, close_due
from bot.index import Index
from bot.index.due import LONGEST
from bot.tickets.news import UNREPORTED, Waiting
from tests.agents.desk import Desk
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import ASKED, KEY, approval, click, session
from tests.bot.river import River

NEWS = OpenCall(name="order", kind="news", version=1)


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


@pytest.mark.parametrize("lost", [{"policy": "?"}, {"asked_at": "soon"}, {"copies": 7}])
async def test_a_record_nobody_can_read_keeps_no_other_open(store_url: str, caplog, lost):
    """The deadlines of others come as ever, in its own session too, and the log says what to do."""
    other = SessionKey("reimbursement", "thread", "C2:1", KEY.tenant)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client)
        bad = approval(id="5-0", session=str(KEY)).record()
        await put(slot, left=-1)
        await put(slot, left=-1, key=other)
        await keep(slot, replace(bad, body={**bad.body, **lost}))
        for key, name in ((KEY, "5-0"), (KEY, "3-0"), (other, "3-0")):
            await index.send(index.approval_due(key, name, 1))
        with caplog.at_level(logging.INFO, logger="countersign"):
            assert await close_due(slot, index) == 3
        for key in (KEY, other):
            view = await slot.read(key, parts=("approvals",))
            assert view.approvals["3-0"].status == "expired"
    lines = [record for record in caplog.records if record.msg == "clock.passed_over"]
    assert [(line.fields["approval"], line.fields["todo"]) for line in lines] == [("5-0", REMEDY)]
    ended = [record for record in caplog.records if record.msg == "approval.expired"]
    assert len(ended) == 2


async def test_the_walk_passes_over_what_nobody_can_read(store_url: str, caplog):
    """Every other approval is found again, also in the session of the one that cannot be read."""
    other = SessionKey("reimbursement", "thread", "C2:1", KEY.tenant)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client)
        await put(slot)
        await put(slot, key=other)
        await keep(slot, replace(approval(id="5-0", session=str(KEY)).record(), body={}))
        assert await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step() == 2
        due = await client.zrange("b:{due:local}:appr", 0, -1)
    assert sorted(due) == sorted([f"{KEY}|3-0", f"{other}|3-0"])
    assert [record.msg for record in caplog.records] == ["approval.unreadable"]


@pytest.mark.parametrize("noted", ["by the release before", "for its audit"])
async def test_the_walk_meets_sessions_of_agents_that_are_gone(store_url: str, noted: str):
    """Whatever they wait for comes to an end, and then nobody knows their agent any more."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        await put(slot)
        if noted == "for its audit":
            await index.send(listed(index.lists, approval()))
            await Audits(slot, index).step()
        else:
            before = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant)
            assert sum([await before.step() for _ in range(2)])
            await index.send(index.approval_over(KEY, "3-0"))
        walk = Walk(slot, index, apps=["another"], tenant=KEY.tenant)
        assert [await walk.step() for _ in range(2)] == [0, 1]
        assert await client.zrange(f"b:{{due:{KEY.tenant}}}:appr", 0, -1) == [f"{KEY}|3-0"]
        await slot.delete(KEY)
        await walk.step()
        await walk.step()
        assert await index.lists.apps() == ["another"]


async def test_the_walk_lists_approvals_again(store_url: str):
    """Lost lists come back: of what is open without a deadline, and of who decided what."""
    vote = Vote(person="UBOSS", confirmed=False, at=ASKED)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        open_ = await put(slot, deadline=None)
        old = approval(id="5-0", status="rejected", votes=(vote,), policy=Policy(approvers=("UX",)))
        await keep(slot, old.model_copy(update={"session": str(KEY)}).record())
        assert await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step() == 0
        assert await index.lists.concerning(["UCFO"], 9) == [(KEY, open_.id)]
        assert await index.lists.concerning(["UBOSS"], 9) == [(KEY, open_.id), (KEY, "5-0")]
        assert await index.lists.recent(9) == [(KEY, open_.id), (KEY, "5-0")]
        assert await index.lists.audited() == [KEY]


async def test_the_walk_does_not_list_again_what_was_decided_long_ago(store_url: str, monkeypatch):
    """It is listed once by a clock, and again where the audit has gone on or after a day."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        asked = await put(slot, deadline=None)
        await keep(slot, approval(id="5-0", session=str(KEY), status="done").record())
        walk, hints = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant), index.lists.recent

        async def listed_anew() -> set[str]:
            """What a walk lists when there are no lists."""
            await client.delete(f"b:{{due:{KEY.tenant}}}:seen")
            await walk.step()
            return {name for _, name in await hints(9)}

        both, found = {asked.id, "5-0"}, [await listed_anew() for _ in range(3)]
        assert found == [both, {asked.id}, {asked.id}]
        assert (await decide(slot, KEY, click(asked), index=())).kind == "decided"
        assert [await listed_anew() for _ in range(2)] == [both, set()]
        monkeypatch.setattr(clock, "LISTED", 0)
        assert await listed_anew() == both


@pytest.mark.parametrize("at_once", [2, 100], ids=["a few at a time", "all at once"])
async def test_sessions_that_are_gone_leave_the_list_of_audits(
    store_url: str, monkeypatch, at_once: int
):
    """Whoever exports reads what there is; a list nobody shortens would grow for ever."""
    monkeypatch.setattr(clock, "AT_ONCE", at_once)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        for n in range(7):
            asked = await put(slot, key=session(n))
            await index.send(listed(index.lists, asked))
        for n in (0, 1, 3, 6):
            await slot.delete(session(n))
        audits = Audits(slot, index)
        assert sum([await audits.step() for _ in range(6)]) == 4
        assert set(await index.lists.audited()) == {session(2), session(4), session(5)}


async def test_the_walk_has_open_requests_looked_at_together(store_url: str):
    """Should nobody say that an approver left: every so often all that is open is looked at."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        await put(slot, deadline=None)
        await keep(slot, approval(id="5-0", session=str(KEY), status="rejected").record())
        await put(slot, key=session(1))
        left = f"b:{{due:{KEY.tenant}}}:left"
        await index.send(index.approval_left(session(2), "3-0", 5))
        await put(slot, key=session(2))
        before = await index.now()
        for _ in range(2):
            await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step()
        found = dict(await client.zrange(left, 0, -1, withscores=True))
        after = await index.now()
    assert found.pop(f"{session(2)}|3-0") == 5
    assert sorted(found) == sorted([f"{KEY}|3-0", f"{session(1)}|3-0"])
    assert {*found.values()} <= {(now // LOOK + 1) * LOOK for now in (before, after)}


async def test_what_stays_open_is_looked_at_for_who_may_decide(store_url: str):
    """With a reminder it is due for a look at once; what is closed is not."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        now = await index.now()
        asked = await put(slot, reminders=(now - 1,))
        late = await put(slot, key=session(1), left=-1)
        for each in (asked, late):
            key = SessionKey.parse(each.session)
            await index.send(index.approval_due(key, each.id, 1))
        assert await close_due(slot, index) == 2
        _, found = await index.claim_left(9)
    assert found == [(KEY, asked.id)]


async def test_the_walk_wakes_a_session_whose_bell_was_lost(store_url: str):
    """Decided, and nobody was told: the next walk makes the session due, once it has something."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        asked = await put(slot)
        walk = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant)
        await walk.step()
        assert await index.claim(9, lease=1000) == []
        assert (await decide(slot, KEY, click(asked), index=())).kind == "decided"
        assert await index.claim(9, lease=1000) == []
        await walk.step()
        assert [claim.key for claim in await index.claim(9, lease=1000)] == [KEY]


def _over(depth: int, tool: FunctionTool) -> Agent:
    """An agent that has a tool so many agents down."""
    agent = Agent(name="a0", description="Acts.", tools=[tool])
    for number in range(1, depth + 1):
        agent = Agent(name=f"a{number}", description="Delegates.", tools=[AgentTool(agent)])
    return agent


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("sort", ["people", "news"])
async def test_the_walk_rings_nobody_who_waits(store_url: str, depth: int, sort: str):
    """A session whose calls all wait has nothing to do, at whatever depth they were made."""

    def act() -> None:
        """Act."""

    tool = FunctionTool(act, require_confirmation=True)
    agent = _over(depth, tool if sort == "people" else LongRunningFunctionTool(act))
    replies = [call(f"a{number}", request="go") for number in reversed(range(depth))]
    last = ["It is on its way."] if sort == "news" else []
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client)
        script = [*replies, call("act"), *last]
        desk = await Desk(agent, script, service=SessionService(slot)).open()
        await desk.say()
        key = SessionKey(agent.name, "ann", "s")
        await Walk(slot, index, apps=[agent.name], tenant="local").step()
        view = await slot.read(key)
        assert await index.claim(9, lease=1000) == []
    waits = {"people": "approval", "news": "news"}[sort]
    assert view
    assert sorted(each.kind for each in view.open.values()) == sorted(["nested"] * depth + [waits])


async def test_the_walk_finds_a_turn_whose_worker_died(store_url: str):
    """Between two steps a session has nothing in it that is due, and yet somebody began."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        walk = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant)
        await slot.apply(KEY, state={}, create=True)
        begun = await slot.begin(KEY, owner="test", lease=60_000)
        assert await walk.step() == 0
        await slot.renew(KEY, begun.fence, lease=0)
        assert await walk.step() == 1
        assert [claim.key for claim in await index.claim(9, lease=1000)] == [KEY]


@pytest.mark.parametrize(
    ("pause", "left"),
    [
        pytest.param(60.0, 60.0, id="put off for a minute"),
        pytest.param(1e9, LONGEST, id="put off for ever"),
        pytest.param(math.inf, LONGEST, id="put off without an end"),
        pytest.param(None, 30.0, id="in hand"),
    ],
)
async def test_the_walk_leaves_a_session_put_off(store_url: str, pause: float | None, left: float):
    """Who has it in hand, or was told to come later, knows better when to look; and it is soon."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        await slot.ingest(KEY, Entry(id="m", body={}), index=index.ring(KEY))
        [claim] = await index.claim(1, lease=30_000)
        if pause is not None:
            await index.send(index.over(claim, pause=pause))
        assert await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step() == 1
        due = await client.zscore(f"b:{{due:{KEY.tenant}}}:ready", str(KEY))
        assert left - 10 < (float(due) - await index.now()) / 1000 < left + 1


@pytest.mark.parametrize(
    ("ahead", "due"),
    [
        pytest.param(0, True, id="due already"),
        pytest.param(1_700_000, False, id="within the longest pause and a lease"),
        pytest.param(3_600_000, True, id="an hour"),
        pytest.param(10**13, True, id="centuries"),
    ],
)
async def test_the_walk_finds_a_session_that_is_due_too_late(store_url: str, ahead: int, due: bool):
    """A clock that was ahead for a moment leaves no session behind in its future."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        await slot.ingest(KEY, Entry(id="m", body={}))
        ready = f"b:{{due:{KEY.tenant}}}:ready"
        await client.zadd(ready, {str(KEY): await index.now() + ahead})
        await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step()
        assert bool(await index.claim(1, lease=1000)) == due


async def test_a_request_of_a_session_that_is_gone_is_struck_off(store_url: str):
    """Whatever waits for nobody's session is looked at once and forgotten."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        asked = await put(slot, left=-1)
        await index.send(index.approval_due(KEY, asked.id, 1))
        await slot.delete(KEY)
        assert await close_due(slot, index) == 1
        assert await close_due(slot, index) == 0
        assert await client.zcard(f"b:{{due:{KEY.tenant}}}:appr") == 0
        assert await slot.read(KEY) is None


async def test_the_walk_goes_a_few_sessions_at_a_time(store_url: str, monkeypatch):
    """Every app's sessions are met, a page each step, and then all over again."""
    monkeypatch.setattr("bot.clock.AT_ONCE", 2)
    others = [SessionKey("helper", "thread", f"C2:{n}", KEY.tenant) for n in range(5)]
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client)
        for key in (KEY, *others):
            await put(slot, key=key)
        walk = Walk(slot, index, apps=["nobody", KEY.app, "helper"], tenant=KEY.tenant)
        assert [await walk.step() for _ in range(4)] == [1, 2, 2, 1]
        due = await client.zrange("b:{due:local}:appr", 0, -1)
        assert sorted(due) == sorted(f"{key}|3-0" for key in (KEY, *others))
        assert [await walk.step() for _ in range(4)] == [1, 2, 2, 1]
        assert await Walk(slot, index, apps=["nobody"], tenant=KEY.tenant).step() == 0


async def test_a_session_that_cannot_be_read_does_not_end_the_walk(store_url: str, caplog):
    """What of a session cannot be looked at is logged, and the others are looked at."""
    other = SessionKey("reimbursement", "thread", "C2:1", KEY.tenant)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client)
        await put(slot)
        await put(slot, key=other)
        [name] = await client.keys(f"*{KEY}*:a*")
        await client.hset(name, "3-0", "nonsense")
        assert await Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant).step() == 1
    assert [record.msg for record in caplog.records] == ["clock.passed_over"]


async def test_a_store_that_is_gone_ends_the_sweep(store_url: str):
    """Without the store nothing can be passed over: the whole sweep is tried again."""
    async with connect(store_url) as client:
        slot, index = MemorySlot(), Index(client)
        await index.send(index.approval_due(KEY, "3-0", 1))

        class Gone(MemorySlot):
            async def read(self, *_args, **_options):
                raise StoreUnavailable("gone")

        with pytest.raises(StoreUnavailable):
            await close_due(Gone(), index)
    assert await slot.read(KEY) is None


async def keep(slot, record) -> None:
    """Put a record into the session that is there already."""
    begun = await slot.begin(KEY, owner="test", lease=5000)
    put_in = Companions(approvals=[record])
    await slot.commit(
        KEY, Commit(id="bad", fence=begun.fence, version=begun.version, companions=put_in)
    )
    await slot.release(KEY, begun.fence)


STARTED = "Started: “order”. News of it will come here by itself; you need not ask again."


@pytest.mark.parametrize(
    ("first", "said", "heard"),
    [
        pytest.param(None, [], STARTED, id="it said nothing yet"),
        pytest.param(
            {"status": "pending", "order": 7}, ["ordered"], "ordered", id="it said something"
        ),
    ],
)
async def test_a_call_of_which_nobody_reports_is_ended(
    river: River, caplog, first: dict | None, said: list[str], heard: str
):
    """After a long silence the model hears so, the thread its answer, and nothing stays open."""
    model, tools = ScriptedModel([call("order"), *said, "bad"]), [_ordering(first)]
    apps, tenant = ["helper"], river.key.tenant
    walk = Walk(river.slot, river.index, apps=apps, tenant=tenant, reports=timedelta(0))
    async with river.worker(model, tools=tools):
        await river.ask()
        await river.hears(heard)
    for _ in range(2):
        await walk.step()
    async with river.worker(model, tools=tools):
        await river.hears(heard, "bad")
    await walk.step()
    view = await river.slot.read(river.key)
    assert view
    assert (view.inbox, view.open) == (0, {})
    [told] = view.events[-2].get_function_responses()
    assert told.response == {"status": "timeout", "message": UNREPORTED}
    [line] = [record for record in caplog.records if record.msg == "call.unreported"]
    assert (line.levelno, line.fields["tool"]) == (logging.WARNING, "order")


def _ordering(first: dict | None) -> LongRunningFunctionTool:
    """A tool that says this at first, and later nothing."""

    def order() -> dict | None:
        """Order something."""
        return first

    return LongRunningFunctionTool(order)


WAITING = Waiting(ticket="7", seen="s", news=0, since=0, until=2**52)


@pytest.mark.parametrize(
    ("open_call", "reports", "ended"),
    [
        pytest.param(NEWS, timedelta(0), True, id="nobody reports"),
        pytest.param(NEWS, timedelta(days=90), False, id="it is not long ago"),
        pytest.param(replace(NEWS, note=WAITING.note()), timedelta(0), False, id="a ticket"),
        pytest.param(replace(NEWS, kind="tool"), timedelta(0), False, id="it has not run yet"),
        pytest.param(
            replace(NEWS, kind="approval", request="q"), timedelta(0), False, id="people are asked"
        ),
    ],
)
async def test_whose_report_is_waited_for(
    store_url: str, open_call: OpenCall, reports: timedelta, ended: bool
):
    """A ticket has a time of its own, and so has a question; what is said meanwhile is first."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        await slot.apply(KEY, state={}, create=True)
        begun = await slot.begin(KEY, owner="test", lease=1)
        opened = {"1-0": open_call}
        commit = Commit(id="c", fence=begun.fence, version=0, opened=opened, release=True)
        await slot.commit(KEY, commit)
        walk = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant, reports=reports)
        for _ in range(2):
            await walk.step()
        begun = await slot.begin(KEY, owner="test", lease=1000)
    assert (begun.head.id if begun.head else "") == ("unreported:1-0" if ended else "")


class Refusing(Index):
    """An index that takes nothing the first time."""

    refused = False

    async def send(self, commands):
        """Take the commands, but for the first ones."""
        if not self.refused:
            self.refused = True
            raise StoreUnavailable("away")
        return await super().send(commands)


async def test_what_could_not_be_listed_is_listed_by_the_next_round(store_url):
    """A store that is away between reading and listing keeps no approval off the lists."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Refusing(client, tenant=KEY.tenant)
        asked = await put(slot)
        assert (await decide(slot, KEY, click(asked), index=())).kind == "decided"
        walk = Walk(slot, index, apps=[KEY.app], tenant=KEY.tenant)
        with pytest.raises(StoreUnavailable):
            await walk.step()
        for _ in range(3):
            await walk.step()
        assert await index.lists.recent(5) == [(KEY, asked.id)]
