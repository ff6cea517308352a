"""What people agreed to under one build of a body is worked on by another."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from pydantic import Field, create_model

from agents import ApprovalPolicy, Slot, StoreUnavailable, ToolContext
from bot.approvals.decide import decide
from bot.approvals.request import Again
from bot.slack.blocks.outcome import outcome
from tests.agents.test_other_builds import Dying
from tests.bot.approvals.samples import KEY, click, rules
from tests.bot.approvals.test_again import Office

Body = Callable[..., dict[str, Any]]


@dataclass
class Till:
    """A body in several builds: where it was entered, what it paid, and what it depends on."""

    entered: list[str] = field(default_factory=list[str])
    paid: list[Any] = field(default_factory=list[Any])
    price: int = 10

    def now(self) -> int:
        """What a payment depends on."""
        return self.price

    def build(self, name: str, *, above: float = 0, days: int = 5, fails: bool = False) -> Body:
        """A build that asks for up to so many days, of amounts above so much."""
        form = create_model("Form", days=(int, Field(ge=1, le=days)))

        def pay(amount: float, currency: str, tool_context: ToolContext) -> dict[str, Any]:
            """Pay."""
            self.entered.append(name)
            said = tool_context.tool_confirmation
            if amount > above and said is None:
                tool_context.request_confirmation(hint="For how many days?", payload=form)
                return {}
            if fails:
                raise OSError("no money")
            self.paid.append(said and said.payload)
            return {"paid": amount, "currency": currency}

        return pay


@pytest.fixture
def till() -> Till:
    """A till that was not used yet."""
    return Till()


async def agreed(slot: Slot, till: Till, **more: Any) -> Office:
    """An office where five days were agreed to under the first build."""
    office = Office(slot)
    _deploy(office, till, till.build("first"))
    await office.says("pay 500 yen")
    [asked] = await office.approvals()
    await decide(slot, KEY, click(asked, act="approve", values={"days": "5"}), **more)
    return office


def _deploy(office: Office, till: Till, body: Body, *, gate: bool = False) -> None:
    office.deploy(body, require_confirmation=gate, precondition=till.now)


def _dearer(_office: Office, till: Till) -> None:
    till.price = 99


def _stricter(office: Office, _till: Till) -> None:
    office.rules = rules(policies={"pay": ApprovalPolicy(approvers=("UBOSS", "UCFO"), quorum=2)})


def _gone(office: Office, _till: Till) -> None:
    office.gone.add("UBOSS")


DRIFT = [
    pytest.param(_dearer, "now: was 10, is now 99", id="what it depends on"),
    pytest.param(_stricter, "the rules for this have become stricter", id="a stricter policy"),
    pytest.param(_gone, "may not decide", id="who approved has left"),
]
BUILDS = [
    pytest.param({"above": 5000}, id="asks above 5000"),
    pytest.param({"days": 3}, id="asks for another form"),
    pytest.param({}, id="asks for the same"),
]


@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(("drift", "words"), DRIFT)
async def test_what_does_not_stand(slot: Slot, till: Till, drift, words, *, build, gate: bool):
    """No body of any build is entered on an approval that does not stand: people are asked."""
    office = await agreed(slot, till)
    drift(office, till)
    _deploy(office, till, till.build("second", **build), gate=gate)
    await office.serve()
    assert (till.entered, till.paid) == (["first"], [])
    first, second = await office.approvals()
    assert (first.status, second.status) == ("void", "pending")
    assert words in " ".join(second.changes)
    assert "approval.started" not in await office.audit()


@pytest.mark.parametrize("build", BUILDS)
async def test_what_comes_too_late(slot: Slot, till: Till, build):
    """After the time in which it was allowed to run no body of any build is entered."""
    office = await agreed(slot, till, run_for=timedelta(milliseconds=1))
    await asyncio.sleep(0.005)
    _deploy(office, till, till.build("second", **build))
    await office.serve()
    assert (till.entered, till.paid) == (["first"], [])
    assert [each.status for each in await office.approvals()] == ["void"]


RAN = [
    pytest.param({"above": 5000}, [None], "done", "It is done.", id="it asks nobody about this"),
    pytest.param({}, [{"days": 5}], "done", "It is done.", id="it asks for the same"),
    pytest.param({"above": 5000, "fails": True}, [], "failed", "It ran and failed.", id="it fails"),
    pytest.param({"fails": True}, [], "failed", "It ran and failed.", id="it fails once it may"),
]


@pytest.mark.parametrize(("build", "paid", "status", "words"), RAN)
async def test_what_ran_is_told(slot: Slot, till: Till, build, paid, *, status: str, words: str):
    """Whatever a body of another build does, it does on the approval: the record says so."""
    office = await agreed(slot, till)
    _deploy(office, till, till.build("second", **build))
    await office.serve()
    [only] = await office.approvals()
    assert (till.paid, only.status) == (paid, status)
    assert words in outcome(only)
    assert (await office.audit())[-2:] == ["approval.started", "approval.answered"]


async def test_another_form(slot: Slot, till: Till):
    """What was filled in is not what is asked for by now: the card says so, a new one says why."""
    office = await agreed(slot, till)
    _deploy(office, till, till.build("second", days=3))
    await office.serve()
    first, second = await office.approvals()
    assert (first.status, second.status, second.begun) == ("done", "pending", False)
    assert till.paid == []
    assert "asked again as" in outcome(first, again=Again(newest=second))
    assert second.payload_schema["properties"]["days"]["maximum"] == 3
    (change,) = second.changes
    assert "at most 5, asks for" in change
    await office.decides(values={"days": "3"})
    await office.serve()
    assert till.paid == [{"days": 3}]
    assert [each.status for each in await office.approvals()] == ["done", "done"]


async def test_another_form_after_a_run_that_was_interrupted(till: Till):
    """What may have happened is not said not to have run, neither to people nor to the model."""
    slot = Dying()
    office = Office(slot)
    office.deploy(till.build("first"), effects="idempotent", require_confirmation=False)
    await office.says("pay 500 yen")
    await office.decides(values={"days": "5"})
    slot.dying = True
    with pytest.raises(StoreUnavailable):
        await office.serve()
    slot.dying = False
    office.deploy(till.build("second", days=3), effects="idempotent", require_confirmation=False)
    await office.serve()
    first, second = await office.approvals()
    assert (first.status, second.status, second.begun) == ("unknown", "pending", True)
    await office.decides("reject")
    await office.serve()
    assert till.paid == [{"days": 5}]
    said = [outcome(each) for each in await office.approvals()]
    assert "whether it happened is not known" in said[0]
    assert "It had been started before this was asked" in said[1]
    view = await slot.read(KEY, parts=("events",))
    assert view
    [told] = view.events[-2].get_function_responses()
    assert "did not run again, and whether it took effect before is not known" in str(told.response)


async def test_no_means_no(slot: Slot, till: Till):
    """After a rejection no body of any build is entered."""
    office = Office(slot)
    _deploy(office, till, till.build("first"))
    await office.says("pay 500 yen")
    await office.decides("reject")
    _deploy(office, till, till.build("second", above=5000))
    await office.serve()
    assert (till.entered, till.paid) == (["first"], [])
