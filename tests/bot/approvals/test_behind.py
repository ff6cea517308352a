"""Who asked for the same before stays behind it, whoever said the last word in the conversation."""

from typing import Any

import pytest

from agents import ApprovalPolicy
from bot.approvals.board import concerned, inbox
from bot.approvals.decision import Outcome, weigh
from bot.approvals.policy import refusal
from bot.approvals.request import Approval
from bot.approvals.resolve import Defaults, unsettled
from bot.approvals.terms import Policy, Vote
from tests.bot.approvals.samples import (
    ASKED,
    approval,
    asking,
    calling,
    click,
    message,
    person,
    planned,
)

ALL = Defaults(approvers=("UASK", "UBOSS", "UCFO"))
EARLIER = (message(), calling(), asking())


def again(*known: Approval, **changes: Any) -> Approval:
    """What UBEN's word in the conversation has the model ask for anew."""
    said = message("sounds good", user="UBEN", version=5, run="i2")
    new = asking(version=7, calls=("6-0",), run="i2", **changes)
    before = (*EARLIER, said, calling(version=6, run="i2"))
    found = planned(new, after=before, known=known, defaults=ALL)
    return Approval.from_record(found.companions.approvals[0])


@pytest.mark.parametrize(
    ("older", "newer", "behind"),
    [
        pytest.param({}, {}, ("UASK",), id="open"),
        pytest.param({"status": "cancelled", "why": "withdrawn"}, {}, ("UASK",), id="withdrawn"),
        pytest.param({"status": "rejected"}, {}, ("UASK",), id="rejected"),
        pytest.param({"status": "expired"}, {}, ("UASK",), id="expired"),
        pytest.param({"status": "void"}, {}, ("UASK",), id="void"),
        pytest.param({"status": "failed"}, {}, ("UASK",), id="failed"),
        pytest.param({"status": "unknown"}, {}, ("UASK",), id="nobody knows"),
        pytest.param({"status": "done"}, {}, (), id="done"),
        pytest.param({"requester": "UBEN"}, {}, (), id="the same person"),
        pytest.param({"requester": ""}, {}, (), id="nobody known"),
        pytest.param({"tool": "refund"}, {}, (), id="another tool"),
        pytest.param({}, {"args": {"amount": 9}, "digest": "e"}, (), id="another call"),
        pytest.param(
            {"args": {"to": "Bo"}}, {"args": {"to": "bo "}, "digest": "e"}, ("UASK",), id="alike"
        ),
        pytest.param(
            {"requester": "UMAX", "behind": ("UASK", "UBEN")}, {}, ("UMAX", "UASK"), id="a chain"
        ),
        pytest.param(
            {"requester": "UMAX", "call_id": "6-0", "status": "done", "args": {}, "digest": "e"},
            {},
            ("UMAX",),
            id="the very call, asked otherwise",
        ),
    ],
)
def test_who_is_behind(older: dict[str, Any], newer: dict[str, Any], behind: tuple[str, ...]):
    """Whoever wants a call wants it until it is done, whatever else becomes of it."""
    found = again(approval(**older), **newer)
    assert (found.requester, found.behind) == ("UBEN", behind)
    assert not found.askers & set(found.policy.approvers)


def test_only_what_came_since_it_was_done():
    """Who wanted it before it was done last does not want it by that."""
    first = approval(status="expired")
    done = approval(id="4-0", status="done", requester="UMAX", asked_at=ASKED + 1)
    assert again(first, done).behind == ()
    late = approval(id="4-1", status="expired", requester="UMIA", asked_at=ASKED + 2)
    assert again(first, done, late).behind == ("UMIA",)


def test_nobody_else_is_left():
    """Where only those behind it could decide nobody is asked, and what is open stays so."""
    said = message("sounds good", user="UBEN", version=5, run="i2")
    new = asking(version=7, calls=("6-0",), run="i2")
    found = planned(
        new,
        after=(*EARLIER, said, calling(version=6, run="i2")),
        known=[approval()],
        defaults=Defaults(approvers=("UASK", "UBEN")),
    )
    assert found.settling == ("7-0",)


BOTH = approval(
    requester="UBEN", behind=("UASK",), policy=Policy(approvers=("UASK", "UBEN", "UBOSS"))
)


@pytest.mark.parametrize("who", ["UASK", "UBEN"])
def test_they_are_requesters(who: str):
    """None of them approves it or has it among what waits for them; each may stop it."""
    assert refusal(BOTH, person(who), "approve", now=ASKED).code == "own_request"
    assert refusal(BOTH, person(who), "withdraw", now=ASKED) is None
    assert refusal(BOTH, person(who, is_guest=True), "withdraw", now=ASKED) is None
    rejected = weigh(BOTH, click(BOTH, who, "reject"), now=ASKED, run_for=None)
    assert not isinstance(rejected, Outcome)
    assert rejected.status == "rejected"
    found = inbox([BOTH], who, names=(), now=ASKED)
    assert (found.waiting, found.asked) == ((), (BOTH,))
    assert who in concerned(BOTH)


@pytest.mark.parametrize(
    ("who", "why"), [("UASK", "stricter"), ("UBEN", "stricter"), ("UBOSS", "")]
)
def test_at_the_start(who: str, why: str):
    """Nor does an approval of theirs count when the call starts."""
    everybody = Defaults(approvers=("UASK", "UBEN", "UBOSS"))
    vote = Vote(person=who, confirmed=True, at=ASKED)
    found = unsettled(BOTH, [vote], [ApprovalPolicy()], defaults=everybody)
    assert why in found
    assert bool(found) is bool(why)


def test_where_whoever_asks_may_approve():
    """A policy that lets the requester approve lets those behind it, too."""
    own = BOTH.model_copy(update={"policy": BOTH.policy.model_copy(update={"self_approval": True})})
    assert refusal(own, person("UASK"), "approve", now=ASKED) is None
