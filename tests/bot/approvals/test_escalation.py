"""Who comes in later comes in for the rule that names them, and loosens no other."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from agents import ApprovalPolicy
from bot.approvals.board import concerned
from bot.approvals.life import hastened, prompted, voted
from bot.approvals.request import Approval
from bot.approvals.resolve import Defaults, NoApprovers, resolve, times, unsettled
from bot.approvals.terms import Policy, Vote
from tests.bot.approvals.samples import ASKED, approval, asking, calling, message, planned

DAY = timedelta(days=1)
LATER = ASKED + 12 * 60 * 60 * 1000
DEFAULTS = Defaults(approvers=("UBOSS",), groups={"cfo": ("UCFO",), "legal": ("ULEX", "ULUX")})


def policy(*names: str, to: str = "", **more) -> ApprovalPolicy:
    """These people decide, within a day; from the half of it on somebody else may as well."""
    told = {"escalate": {0.5: (to,)}} if to else {}
    return ApprovalPolicy(approvers=names, expires=DAY, **{**told, **more})


def asked(policies: Sequence[ApprovalPolicy], *, escalated: bool = True) -> Approval:
    """What UASK asks for under these policies, after whoever comes in later has come in."""
    found = resolve(policies, defaults=DEFAULTS, requester="UASK")
    assert isinstance(found, Policy)
    moments = times(policies, defaults=DEFAULTS, now=ASKED)
    opened = approval(policy=found, escalations=moments.escalations, deadline=moments.deadline)
    later = prompted(opened, now=LATER) if escalated else None
    return later or opened


def status(of: Approval, *people: str) -> str:
    """What becomes of it when these approve, with what they stand for."""
    for person in people:
        of = voted(of, vote(person), run_for=None)
    return of.status


def vote(person: str) -> Vote:
    """An approval by somebody, after the escalation."""
    names = tuple(name for name, people in DEFAULTS.groups.items() if person in (people or ()))
    return Vote(person=person, confirmed=True, at=LATER, names=names)


TOOL = policy("UMAX", to="UBEN")
CASES = {
    "the tool's does not loosen the settings'": ([TOOL, policy("UMIA")], ["UBEN"], ["UMIA"]),
    "nor the other way round": ([policy("UMIA"), TOOL], ["UBEN"], ["UMIA"]),
    "of two others": ([TOOL, policy("UMIA"), policy("ULEX")], ["UBEN", "ULEX"], ["UMIA"]),
    "each has its own": ([TOOL, policy("UMIA", to="UTIM")], ["UBEN"], ["UTIM"]),
    "nor for two of two": ([TOOL, policy("UMIA", "UTIM", quorum=2)], ["UBEN", "UMIA"], ["UTIM"]),
    "the same people, with and without": ([TOOL, policy("UMAX")], ["UBEN"], ["UMAX"]),
    "the same people, without and with": ([policy("UMAX"), TOOL], ["UBEN"], ["UMAX"]),
    "two ways": (
        [TOOL, ApprovalPolicy(any_of={"cfo": 1, "legal": 2}, expires=DAY)],
        ["UBEN", "ULEX"],
        ["UCFO"],
    ),
    "for two ways": (
        [replace(TOOL, approvers=(), any_of={"cfo": 1, "legal": 2}), policy("UMIA")],
        ["UBEN"],
        ["UMIA"],
    ),
    "a policy without names": (
        [policy("UMIA"), ApprovalPolicy(expires=DAY, escalate={0.5: ("UBEN",)})],
        ["UBEN"],
        ["UMIA"],
    ),
}


@pytest.mark.parametrize(("policies", "few", "rest"), CASES.values(), ids=CASES)
def test_an_escalation_loosens_no_other_rule(
    policies: Sequence[ApprovalPolicy], few: list[str], rest: list[str]
):
    """Whoever comes in for one rule does not count for another, then or at the start."""
    found = asked(policies)
    assert status(found, *few) == "pending"
    assert status(found, *few, *rest) == "approved"
    done = found.model_copy(update={"status": "approved", "decided_at": LATER})
    words = unsettled(done, [vote(p) for p in few], policies, defaults=DEFAULTS)
    assert "any more" in words
    votes = [vote(p) for p in (*few, *rest)]
    assert not unsettled(done, votes, policies, defaults=DEFAULTS)


STAND_INS = {
    "of one rule": [TOOL],
    "of the default approvers": [ApprovalPolicy(expires=DAY, escalate={0.5: ("UBEN",)})],
    "of two that are the same": [TOOL, TOOL],
    "of two rules that name the same": [TOOL, policy("UMIA", to="UBEN")],
}


@pytest.mark.parametrize("policies", STAND_INS.values(), ids=STAND_INS)
def test_whoever_comes_in_counts_for_what_names_them(policies: Sequence[ApprovalPolicy]):
    """Alone they are enough where each rule names them, and only once it is their time."""
    assert status(asked(policies), "UBEN") == "approved"
    assert status(asked(policies, escalated=False), "UBEN") == "pending"


@pytest.mark.parametrize(
    ("today", "words"),
    [
        pytest.param([TOOL], "", id="the same"),
        pytest.param([policy("UMAX")], "stricter", id="nobody comes in any more"),
        pytest.param([policy("UMAX", to="UTIM")], "stricter", id="somebody else comes in"),
        pytest.param([policy("UMAX", escalate={0.9: ("UBEN",)})], "stricter", id="later"),
        pytest.param([policy("UMAX", escalate={0.1: ("UBEN",)})], "", id="earlier"),
        pytest.param([replace(TOOL, expires=30 * DAY)], "", id="in a longer time"),
        pytest.param([replace(TOOL, expires=DAY / 3)], "", id="in a shorter time"),
        pytest.param(
            [replace(TOOL, expires=30 * DAY, escalate={0.5: ("UTIM",)})],
            "stricter",
            id="somebody else in a longer time",
        ),
        pytest.param([TOOL, policy("UMIA")], "stricter", id="a rule more"),
        pytest.param([policy("UMAX"), policy("UMIA", to="UBEN")], "stricter", id="for another"),
        pytest.param([replace(TOOL, expires=None)], "stricter", id="a time without parts"),
    ],
)
def test_who_came_in_at_the_start(today: Sequence[ApprovalPolicy], words: str):
    """Whoever came in counts for what today's policies say about them, and no more."""
    done = asked([TOOL]).model_copy(update={"status": "approved", "decided_at": LATER})
    told = unsettled(done, [vote("UBEN")], today, defaults=DEFAULTS)
    assert words in told
    assert bool(told) is bool(words)


@pytest.mark.parametrize(
    ("policies", "opens"),
    [
        pytest.param([policy("UMAX", to="UBEN", quorum=2)], True, id="the second comes later"),
        pytest.param([policy("UMAX", quorum=2)], False, id="nobody comes"),
        pytest.param(
            [policy("UMAX", quorum=2), policy("UMIA", to="UBEN")], False, id="for another rule"
        ),
        pytest.param([policy("UASK", to="UBEN")], True, id="nobody until then"),
        pytest.param([policy("UMAX", to="UASK", quorum=2)], False, id="only whoever asks comes"),
        pytest.param(
            [replace(policy("UMAX", to="UBEN", quorum=2), expires=None)], False, id="never"
        ),
    ],
)
def test_too_few_until_somebody_comes_in(policies: Sequence[ApprovalPolicy], opens: bool):
    """A question that enough people may decide in time is put to those who are there."""
    found = resolve(policies, defaults=DEFAULTS, requester="UASK")
    assert isinstance(found, NoApprovers) is not opens
    if opens:
        assert status(asked(policies), "UMAX", "UBEN") == "approved"


@pytest.mark.parametrize(
    ("policies", "noes"),
    [
        pytest.param([policy("UASK", "UMIA", rejections=2)], 1, id="whoever asks is one of two"),
        pytest.param([policy("UASK", "legal", rejections=3)], 2, id="a person and a group"),
        pytest.param([policy("UMAX", "UMIA", rejections=2)], 2, id="all are there"),
        pytest.param([policy("UMAX", "UMIA", rejections=5)], 2, id="more than there are"),
        pytest.param([policy("UMAX", to="UBEN", rejections=2)], 2, id="one comes in later"),
        pytest.param([policy("UMAX", to="UASK", rejections=2)], 1, id="only whoever asks comes in"),
        pytest.param([ApprovalPolicy(rejections=3)], 1, id="the default approvers"),
    ],
)
def test_a_no_that_can_come_to_something(policies: Sequence[ApprovalPolicy], noes: int):
    """As many as may say no are enough, though more are asked for."""
    found = resolve(policies, defaults=DEFAULTS, requester="UASK")
    assert isinstance(found, Policy)
    assert found.rejections == noes


ALONE = policy("UASK", to="UBEN")


@pytest.mark.parametrize(
    ("declared", "people", "early"),
    [
        pytest.param(ALONE, ["UBEN"], 1, id="whoever asks is the only one"),
        pytest.param(policy("UASK", to="legal"), ["ULEX", "ULUX"], 1, id="then a group"),
        pytest.param(
            replace(ALONE, escalate={0.2: ("UASK",), 0.5: ("UBEN",), 0.9: ("UCFO",)}),
            ["UBEN"],
            2,
            id="the second escalation is the first with somebody",
        ),
        pytest.param(policy("nobody", to="UBEN"), ["UBEN"], 1, id="a role of nobody"),
        pytest.param(policy("UMAX", to="UBEN"), ["UMAX"], 0, id="somebody is there"),
        pytest.param(policy("UMAX", to="UBEN", quorum=2), ["UMAX"], 0, id="one of two is there"),
    ],
)
def test_nobody_until_then_is_asked_at_once(declared, people: list[str], early: int):
    """Where nobody else can decide the next escalation is made with the asking, and no other."""
    found = planned(
        asking(), after=[message(), calling()], defaults=DEFAULTS, policies={"reimburse": declared}
    )
    made = Approval.from_record(found.companions.approvals[0])
    assert (made.status, made.rev) == ("pending", 1)
    assert [*made.policy.approvers] == people
    assert [each.early for each in made.escalations[: made.escalated]] == [True] * early
    assert not any(each.early for each in made.escalations[made.escalated :])
    assert concerned(made) >= {*people}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param([ALONE], "", id="the same rules"),
        pytest.param([policy("UASK", to="UCFO")], "stricter", id="somebody else comes in later"),
        pytest.param([policy("UASK", "UMAX", to="UBEN")], "", id="one more could have decided"),
        pytest.param([policy("UASK")], "nobody may decide", id="nobody comes in later"),
    ],
)
def test_what_they_approve_before_the_moment_may_start(
    now: Sequence[ApprovalPolicy], expected: str
):
    """They decide before their time, by the rules of now as well as by those of then."""
    opened = hastened(asked([ALONE], escalated=False), now=ASKED)
    assert opened is not None
    by = Vote(person="UBEN", confirmed=True, at=ASKED + 1)
    made = voted(opened, by, run_for=None)
    assert made.status == "approved"
    found = unsettled(made, [by], now, defaults=DEFAULTS)
    assert expected in found
    assert bool(found) is bool(expected)
