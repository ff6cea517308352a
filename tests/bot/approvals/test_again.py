"""What was approved and does not stand at the start: it stops, and people are asked anew."""

from dataclasses import replace
from itertools import count

import pytest

from agents import (
    Agent,
    ApprovalPolicy,
    Entry,
    FunctionTool,
    Runner,
    SessionService,
    Slot,
    ToolError,
)
from agents.runtime import held, questions
from agents.runtime.errors import TurnFailed, Unsettled
from agents.runtime.slot.port import Decide
from agents.runtime.testing import ScriptedModel, call
from bot.approvals.decide import decide
from bot.approvals.policy import Person
from bot.approvals.records import readable
from bot.approvals.request import Approval
from bot.approvals.secretary import Secretary
from bot.turns import Turn
from tests.bot.approvals.samples import KEY, TEAM, click, rules


class Payments:
    """A tool in several versions; what it paid is remembered."""

    def __init__(self) -> None:
        self.paid: list[tuple] = []

    def old(self, amount: float, currency: str = "USD") -> dict:
        """Pay."""
        self.paid.append((amount, currency))
        return {"paid": amount}

    def without_currency(self, amount: float) -> dict:
        """Pay."""
        self.paid.append((amount,))
        return {"paid": amount}

    def in_euros(self, amount: float, currency: str = "EUR") -> dict:
        """Pay."""
        self.paid.append((amount, currency))
        return {"paid": amount}

    def whole(self, amount: int, currency: str = "USD") -> dict:
        """Pay."""
        self.paid.append((amount, currency))
        return {"paid": amount}


class Office:
    """An agent on a slot, whose build and rules may change between two turns."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.payments = Payments()
        self.rules = rules()
        self.gone: set[str] = set()
        self.broken = False
        asked = [call("pay", amount=500, currency="JPY"), "Done.", call("pay", amount=7), "Done."]
        self.model = ScriptedModel(asked)
        self.nonces = (f"nonce{n}" for n in count())
        self.deploy(self.payments.old)

    def deploy(self, func, **options) -> None:
        """Start a build with this function as the tool; None: without it."""
        build = {"name": "pay", "require_confirmation": True, **options}
        tools = [FunctionTool(each, **build) for each in (func,) if each]
        agent = Agent(name=KEY.app, tools=tools)
        self.secretary = Secretary(
            slot=self.slot,
            rules=lambda _: self.rules,
            ring=lambda _: (),
            nonces=self.nonces,
            voter=self.voter,
        )
        self.runner = Runner(
            agent=agent,
            session_service=SessionService(self.slot, tenant=TEAM),
            models=self.model,
            companion=self.secretary.companions,
            permit=self.secretary.permit,
            tenant=TEAM,
        )

    async def voter(self, person: str, _names) -> Person | None:
        """Who somebody is now."""
        if self.broken:
            raise AttributeError("'list' object has no attribute 'get'")
        return Person(id=person, team=TEAM, deleted=person in self.gone)

    async def says(self, text: str) -> None:
        """Somebody asks for something."""
        entry: Entry = Turn(id=f"m:{text}", session=KEY, author="UASK", text=text).entry()
        await self.slot.ingest(KEY, entry)
        await self.serve()

    async def serve(self) -> None:
        """The agent does what it can."""
        view = await self.slot.read(KEY, parts=("approvals",))
        self.secretary.remember(KEY, readable(view.approvals) if view else {})
        async for _ in self.runner.serve(KEY, owner="test"):
            pass
        await self.secretary.settle(KEY)
        self.secretary.forget(KEY)

    async def approvals(self) -> list[Approval]:
        """All approvals, oldest first."""
        view = await self.slot.read(KEY, parts=("approvals",))
        found = [Approval.from_record(record) for record in view.approvals.values()]
        return sorted(found, key=lambda each: each.asked_at)

    async def audit(self) -> list[str]:
        """What is in the audit."""
        return [str(e["type"]) for e, _ in (await self.slot.read(KEY, parts=("audit",))).audit]

    async def decides(self, act="approve", **more) -> None:
        """UBOSS decides about what is open."""
        (asked,) = [each for each in await self.approvals() if each.status == "pending"]
        await decide(self.slot, KEY, click(asked, act=act, **more))


@pytest.fixture
async def office(slot: Slot) -> Office:
    """An agent that asked whether it may pay 500 yen."""
    made = Office(slot)
    await made.says("pay 500 yen")
    return made


async def test_the_start_is_in_the_audit(office: Office):
    """Asked, voted, decided, started, answered: in this order, whatever came of it."""
    await office.decides()
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]
    assert await office.audit() == [
        "approval.opened",
        "approval.voted",
        "approval.decided",
        "approval.started",
        "approval.answered",
    ]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        pytest.param("without_currency", ('currency: was "JPY", is gone',), id="a parameter gone"),
        pytest.param("whole", ("amount: was 500.0, is now 500",), id="a type narrowed"),
        pytest.param("in_euros", ("the tool pay has changed since",), id="a default changed"),
    ],
)
@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_a_build_that_changed_the_tool(office: Office, build: str, words, act: str):
    """An approved call of another contract does not run: it is asked again, with what differs."""
    await office.decides(act)
    office.deploy(getattr(office.payments, build))
    await office.serve()
    assert office.payments.paid == []
    first, *again = await office.approvals()
    if act == "reject":
        assert (first.status, again) == ("rejected", [])
        return
    assert first.status == "void"
    (second,) = again
    assert all(any(word in change for change in second.changes) for word in words)
    assert second.digest != first.digest
    await office.decides()
    await office.serve()
    assert len(office.payments.paid) == 1


async def test_a_tool_that_is_gone(office: Office, monkeypatch):
    """An approved call of a tool that a deploy took away does not run, and nothing breaks."""
    monkeypatch.setattr(held, "PATIENCE", 0.0)
    await office.decides()
    office.deploy(None)
    await office.serve()
    (first,) = await office.approvals()
    assert (first.status, office.payments.paid) == ("void", [])


class Source:
    """What a payment depends on, which fails so many times after people were asked."""

    def __init__(self, raises: Exception, *, times: int) -> None:
        self.faults = [None, *[raises] * times]

    def rate(self) -> int:
        """The rate."""
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        return 7


@pytest.mark.parametrize(
    ("raises", "times"),
    [
        pytest.param(ConnectionError("503"), 1, id="away for a moment"),
        pytest.param(ConnectionError("503"), 3, id="away for a while"),
        pytest.param(TimeoutError("too slow"), 1, id="too slow"),
        pytest.param(KeyError("rate"), 1, id="no answer that fits"),
    ],
)
async def test_what_it_depends_on_is_away_at_the_start(slot: Slot, raises, times: int):
    """An approved call waits until that is found out, and runs on the approval it has."""
    office, source = Office(slot), Source(raises, times=times)
    office.deploy(office.payments.old, precondition=source.rate)
    await office.says("pay 500 yen")
    await office.decides()
    for _ in range(times):
        with pytest.raises(Unsettled) as busy:
            await office.serve()
        assert 0 < busy.value.pause <= questions.PATIENCE < held.PATIENCE
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]
    assert [each.status for each in await office.approvals()] == ["done"]


@pytest.mark.parametrize(
    ("raises", "patience"),
    [
        pytest.param(ConnectionError("503"), 0.0, id="for long"),
        pytest.param(ToolError("there is no rate"), 300.0, id="and it says so itself"),
    ],
)
async def test_what_it_depends_on_is_not_found_out(slot: Slot, monkeypatch, raises, patience):
    """Then nothing is run on that approval, and the model hears why."""
    monkeypatch.setattr(questions, "PATIENCE", patience)
    office, source = Office(slot), Source(raises, times=9)
    office.deploy(office.payments.old, precondition=source.rate)
    await office.says("pay 500 yen")
    await office.decides()
    await office.serve()
    assert office.payments.paid == []
    assert [each.status for each in await office.approvals()] == ["void"]


async def test_a_tool_that_another_release_has(office: Office):
    """Its call is left to that release for some minutes, again and again, and runs there once."""
    await office.decides()
    office.deploy(None)
    pauses: list[float] = []
    for _ in range(3):
        with pytest.raises(Unsettled) as busy:
            await office.serve()
        pauses.append(busy.value.pause)
    assert all(0 < pause <= held.PATIENCE for pause in pauses)
    office.deploy(office.payments.old)
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]


async def test_rolled_back_it_runs(office: Office):
    """When the old build is back before the start, what was approved is what runs."""
    office.deploy(office.payments.whole)
    await office.decides()
    office.deploy(office.payments.old)
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]


@pytest.mark.parametrize(
    ("policy", "asked", "paid"),
    [
        pytest.param(ApprovalPolicy(approvers=("UBOSS", "UCFO", "UX1")), 1, 1, id="looser"),
        pytest.param(ApprovalPolicy(approvers=("UBOSS", "UCFO"), quorum=2), 2, 0, id="stricter"),
        pytest.param(ApprovalPolicy(approvers=("UCFO",)), 2, 0, id="others"),
    ],
)
async def test_a_policy_that_changed_before_the_start(office: Office, policy, asked, paid):
    """A stricter policy opens the question again under its own terms, a looser changes nothing."""
    await office.decides()
    office.rules = rules(policies={"pay": policy})
    await office.serve()
    approvals = await office.approvals()
    assert (len(approvals), len(office.payments.paid)) == (asked, paid)
    if asked == 2:
        assert approvals[0].status == "void"
        assert approvals[1].changes == ("the rules for this have become stricter",)


async def test_an_approver_who_left_before_the_start(office: Office):
    """Whoever approved and was deactivated since does not count; somebody else is asked."""
    await office.decides()
    office.gone.add("UBOSS")
    await office.serve()
    first, second = await office.approvals()
    assert (first.status, second.status, office.payments.paid) == ("void", "pending", [])
    assert "may not decide" in second.changes[0]


async def test_nothing_starts_while_nobody_can_say(office: Office):
    """While it cannot be looked up who approved, nothing starts; later it does, once."""
    await office.decides()

    async def silent(_person: str, _names) -> Person | None:
        return None

    office.secretary._voter = silent
    with pytest.raises(Exception, match="Slack does not say"):
        await office.serve()
    assert office.payments.paid == []
    office.deploy(office.payments.old)
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]


async def test_an_approval_that_was_opened_just_before_the_turn_is_settled(office: Office):
    """What a worker read before it had the session in hand may be old; the run is settled still."""
    await office.decides()
    async for _ in office.runner.serve(KEY, owner="who read before it was asked"):
        pass
    (approval,) = await office.approvals()
    assert office.payments.paid == [(500, "JPY")]
    assert approval.status == "done"


async def written(slot: Slot, name: str, **body) -> None:
    """Have a record of an approval say something else."""
    record = (await slot.read(KEY, parts=("approvals",))).approvals[name]
    broken = replace(record, rev=record.rev + 1, body={**record.body, **body})
    await slot.decide(KEY, Decide(record=broken, source=record.status))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        pytest.param(None, True, id="it can be read"),
        pytest.param({"votes": "many"}, False, id="it cannot"),
    ],
)
async def test_an_approval_of_a_turn_that_is_given_up_is_void(office: Office, body, shown: bool):
    """It never runs, its record says so, and so do its messages, as far as one knows of them."""
    await office.decides()
    office.broken = True
    if body:
        await written(office.slot, "3-0", **body)
    with pytest.raises(TurnFailed):
        await office.serve()
    await office.secretary.recall(KEY)
    await office.runner.give_up(KEY, owner="test")
    office.broken = False
    await office.serve()
    view = await office.slot.read(KEY, parts=("approvals", "posts"))
    told = [post for post in view.posts if "@v" in post.id and post.body["approval"] == "3-0"]
    assert (view.approvals["3-0"].status, bool(told)) == ("void", shown)
    assert office.payments.paid == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"policy": {"rules": [{"unit": "v2"}]}}, id="a policy of another shape"),
        pytest.param({"votes": "many"}, id="votes that are no list"),
        pytest.param({"digest": None}, id="nothing where something has to be"),
        pytest.param(None, id="who approved is asked in vain"),
    ],
)
async def test_an_approval_that_this_release_cannot_check(office: Office, body):
    """Its call is not answered: the turn fails, and whoever can read the record runs it."""
    await office.decides()
    (approved,) = await office.approvals()
    office.broken = body is None
    await written(office.slot, approved.id, **(body or {}))
    for _ in range(2):
        with pytest.raises(TurnFailed):
            await office.serve()
    assert office.payments.paid == []
    assert "approval.answered" not in await office.audit()
    office.broken = False
    await written(
        office.slot, approved.id, **{name: approved.record().body[name] for name in body or {}}
    )
    await office.serve()
    assert office.payments.paid == [(500, "JPY")]
    assert [each.status for each in await office.approvals()] == ["done"]


async def test_a_record_beside_it_that_this_release_cannot_read(office: Office):
    """What was approved runs, though the session has another record that nobody can read."""
    await office.decides()
    await office.serve()
    await office.says("pay 7 more")
    (first, _) = await office.approvals()
    await office.decides()
    await written(office.slot, first.id, policy="?")
    async for _ in office.runner.serve(KEY, owner="test"):
        pass
    assert office.payments.paid == [(500, "JPY"), (7, "USD")]
