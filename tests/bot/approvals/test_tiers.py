"""A tier that names people replaces its policy; one that names nobody only makes it stricter."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents import ApprovalPolicy
from bot.approvals.resolve import Defaults, chosen, resolve
from bot.approvals.terms import Policy
from bot.approvals.tiers import instead, whole

DAY = timedelta(days=1)
TWO = ("UMIA", "UBEN")
DEFAULTS = Defaults(approvers=("UBOSS", "UCFO"), groups={"heads": TWO, "leads": TWO})
MIA = ApprovalPolicy(
    approvers=TWO,
    reason_required=True,
    self_approval=True,
    rejections=2,
    notify=("UMIA",),
    expires=3 * DAY,
    run_within=DAY,
    working_hours=True,
    reminders=(0.5,),
    escalate={0.5: ("ULEAD",)},
)
WAYS = replace(MIA, approvers=(), any_of={"heads": 1, "leads": 2})
TIERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a reason": {"reason_required": True},
    "two": {"quorum": 2},
    "a time": {"expires": DAY},
    "no end": {"expires": None},
    "a start": {"run_within": timedelta(hours=1)},
    "who is told": {"notify": ()},
    "more people to reject": {"rejections": 3},
    "reminders": {"reminders": (0.1,)},
    "who takes over": {"escalate": {0.1: ("UX1",)}},
    "working hours": {"working_hours": True},
}


@pytest.mark.parametrize("base", [MIA, WAYS], ids=["names", "ways"])
@pytest.mark.parametrize("said", TIERS.values(), ids=TIERS)
def test_a_tier_without_names(base: ApprovalPolicy, said: dict[str, Any]):
    """The same people decide, never fewer, and all that the tier says nothing of stays."""
    tiered = replace(base, tiers={"amount > 100": ApprovalPolicy(**said)})
    (found,) = chosen([tiered], {"amount": 200}, everybody=DEFAULTS.approvers)
    least = said.get("quorum", 1)
    wanted = {
        "self_approval": False,
        "any_of": {name: max(n, least) for name, n in base.any_of.items()},
        **said,
        "tiers": {},
    }
    assert found == replace(base, **wanted)
    decided = resolve([found], defaults=DEFAULTS, requester="UASK")
    assert isinstance(decided, Policy)
    assert decided.approvers == TWO


@pytest.mark.parametrize("amount", [200, "much", None], ids=["met", "not told", "nothing"])
def test_nobody_else_comes_in_by_a_tier_without_names(amount: object):
    """Whether it is met or nobody can tell, the default approvers stay out of it."""
    policy = replace(MIA, tiers={"amount > 100": ApprovalPolicy(reason_required=True)})
    policies = chosen([policy], {"amount": amount}, everybody=DEFAULTS.approvers)
    decided = resolve(policies, defaults=DEFAULTS, requester="UASK")
    assert isinstance(decided, Policy)
    assert not {"UBOSS", "UCFO"} & set(decided.approvers)


def test_a_tier_of_a_tier_without_names():
    """What names nobody takes the names of what it is in, however deep."""
    deep = ApprovalPolicy(tiers={"amount > 300": ApprovalPolicy(quorum=2)})
    policy = replace(MIA, tiers={"amount > 100": deep})
    (found,) = chosen([policy], {"amount": 400})
    assert (found.approvers, found.quorum, found.reason_required) == (MIA.approvers, 2, True)
    assert [each.approvers for each in whole(policy)] == [MIA.approvers] * 3


def test_a_tier_with_names():
    """Whoever is named stands in place of the others, with nothing kept of what they had."""
    tier = ApprovalPolicy(approvers=("UCFO",))
    assert instead(MIA, tier) is tier
    (found,) = chosen([replace(MIA, tiers={"amount > 100": tier})], {"amount": 200})
    assert found is tier


def test_a_tier_of_a_policy_without_names():
    """Where nobody is named at all the default approvers decide, as many as the tier says."""
    policy = ApprovalPolicy(tiers={"amount > 100": ApprovalPolicy(quorum=2)})
    decided = resolve(chosen([policy], {"amount": 200}), defaults=DEFAULTS, requester="UASK")
    assert isinstance(decided, Policy)
    assert (decided.approvers, decided.quorum) == (DEFAULTS.approvers, 2)
