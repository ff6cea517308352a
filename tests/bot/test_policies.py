"""Policies, roles and working hours as operators write them, and what is wrong with them."""

import json
from datetime import date, time, timedelta
from typing import Any

import pytest

from agents import Agent, ApprovalPolicy, FunctionTool
from bot.approvals.resolve import Defaults, resolve, times
from bot.approvals.rules import book, calendar, usable
from bot.approvals.terms import Policy
from bot.errors import SettingsError
from bot.settings import Settings


def pay(amount: float) -> dict[str, float]:
    """Pay."""
    return {"paid": amount}


def agents(policy: ApprovalPolicy | None = None) -> list[Agent]:
    """An agent that pays."""
    return [Agent(name="desk", tools=[FunctionTool(pay, approval=policy)])]


def written(policy: Any, **more: Any) -> Settings:
    """Settings with a policy for desk.pay."""
    return Settings.read(approval_policies=json.dumps({"desk.pay": policy}), **more)


def test_a_policy_is_read_whole():
    """Spans, names, tiers and parts of the time are read, in tiers too."""
    policy = {
        "approvers": ["U1A", "finance"],
        "quorum": 2,
        "any_of": {"cfo": 1},
        "expires": "2d",
        "run_within": "1h",
        "escalate": {"0.5": ["leads"]},
        "notify": [],
        "tiers": {"amount > 100": {"approvers": ["U2B"], "expires": None}},
    }
    found = written(policy).approval_policies["desk.pay"]
    assert found.approvers == ("U1A", "finance")
    assert (found.expires, found.run_within) == (timedelta(days=2), timedelta(hours=1))
    assert (found.escalate, found.notify) == ({0.5: ("leads",)}, ())
    assert found.tiers["amount > 100"].expires is None


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param({"aprovers": ["U1A"]}, "no 'aprovers'", id="a field spelled wrongly"),
        pytest.param({"tiers": {"a > 1": {"quorm": 1}}}, "no 'quorm'", id="the same in a tier"),
        pytest.param({"expires": "soon"}, "a duration such as", id="no duration"),
        pytest.param({"quorum": "many"}, "integer", id="no number"),
        pytest.param(["U1A"], "dictionary", id="no object"),
    ],
)
def test_a_policy_nobody_can_read_is_refused(policy, words):
    """A stricter rule that is spelled wrongly is never passed over."""
    with pytest.raises(SettingsError, match="APPROVAL_POLICIES is wrong") as raised:
        written(policy)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        pytest.param({"desk.pays": {}}, "no tool desk.pays", id="no such tool"),
        pytest.param({"dusk.*": {}}, r"no tool dusk\.\* here", id="no such agent"),
        pytest.param({"*.pays": {}}, r"no tool \*\.pays here", id="no agent has that tool"),
        pytest.param({"*": {"tiers": {"much": {}}}}, "no condition", id="no condition anywhere"),
        pytest.param({"desk.pay": {"tiers": {"much": {}}}}, "no condition", id="no condition"),
        pytest.param({"desk.pay": {"reminders": [1.5]}}, "parts of its time", id="no part"),
    ],
)
def test_a_policy_for_nothing_stops_the_start(policies, words):
    """A policy of a tool that is not there, or that cannot be applied, stops the start."""
    found = book(Settings.read(approval_policies=json.dumps(policies)), agents())
    with pytest.raises(SettingsError, match=words):
        usable(found)


@pytest.mark.parametrize(
    ("policy", "given", "words"),
    [
        pytest.param({"approvers": ["boss"]}, {}, "nobody knows who boss is", id="a name"),
        pytest.param(
            {"approvers": ["boss"]}, {"boss": []}, "stands for nobody", id="an empty role"
        ),
        pytest.param({"working_hours": True}, {}, "none are set", id="no working hours"),
        pytest.param({}, {}, "no default approvers", id="no approvers at all"),
    ],
)
def test_what_an_operator_should_mend(policy, given, words):
    """What works, but hardly as it is meant, is said once at the start and by the doctor."""
    found = book(written(policy, approver_roles=json.dumps(given)), agents())
    assert any(words in each.text for each in usable(found).complaints)


def test_the_tools_policy_and_the_settings():
    """Both are kept, for the stricter counts each time; names are told for looking up."""
    own = ApprovalPolicy(approvers=("S1MGR",), escalate={0.5: ("leads",)})
    settings = written(
        {"approvers": ["cfo"]},
        approver_roles=json.dumps({"cfo": ["U1A"], "leads": ["U2B"]}),
        approvers=["U3C"],
    )
    found = book(settings, agents(own))
    assert len(found.policies["desk.pay"]) == 2
    assert set(found.names) == {"U3C", "S1MGR", "leads", "cfo"}
    assert found.complaints == ()


@pytest.mark.parametrize(
    ("names", "found"),
    [
        pytest.param(["desk.pay"], {"desk.pay": 1}, id="a tool"),
        pytest.param(["desk.*"], {"desk.pay": 1, "desk.refund": 1}, id="an agent's tools"),
        pytest.param(["*.pay"], {"desk.pay": 1, "till.pay": 1}, id="a tool of any agent"),
        pytest.param(["*"], {"desk.pay": 1, "desk.refund": 1, "till.pay": 1}, id="everything"),
        pytest.param(["*.*"], {"desk.pay": 1, "desk.refund": 1, "till.pay": 1}, id="two stars"),
        pytest.param(["*.re*"], {"desk.refund": 1}, id="part of a name"),
        pytest.param(
            ["*", "desk.*", "desk.pay"],
            {"desk.pay": 3, "desk.refund": 2, "till.pay": 1},
            id="all that match",
        ),
    ],
)
def test_a_policy_for_many_tools(names: list[str], found: dict[str, int]):
    """A star stands for anything; each tool has every policy whose name matches its own."""

    def refund(amount: float) -> float:
        """Refund."""
        return amount

    both = [Agent(name="desk", tools=[pay, refund]), Agent(name="till", tools=[pay])]
    told = {name: {"approvers": [f"U1{n}"]} for n, name in enumerate(names)}
    policies = usable(book(Settings.read(approval_policies=json.dumps(told)), both)).policies
    assert {tool: len(each) for tool, each in policies.items()} == found


@pytest.mark.parametrize("order", [["*", "desk.pay"], ["desk.pay", "*"]], ids=["wide", "narrow"])
def test_the_strictest_that_matches_counts(order: list[str]):
    """However the policies stand, the larger number, the shorter time and every name count."""
    told: dict[str, Any] = {
        "*": {"approvers": ["U1A", "U1B"], "quorum": 2, "expires": "2d", "self_approval": True},
        "desk.pay": {"approvers": ["U1B", "U1C"], "expires": "1d"},
    }
    settings = Settings.read(approval_policies=json.dumps({name: told[name] for name in order}))
    policies = book(settings, agents()).policies["desk.pay"]
    found = resolve(policies, defaults=Defaults(), requester="U1D")
    assert isinstance(found, Policy)
    assert {(quota.names, quota.count) for rule in found.rules for quota in rule} == {
        (("U1A", "U1B"), 2),
        (("U1B", "U1C"), 1),
    }
    assert not found.self_approval
    day = 24 * 60 * 60 * 1000
    assert times(policies, defaults=Defaults(), now=0).deadline == day


def test_default_approvers_may_be_roles():
    """A role may stand among the default approvers, a name nobody knows may not."""
    roles = json.dumps({"cfo": ["U1A"]})
    assert Settings.read(approver_roles=roles, approvers="cfo").approvers == ("cfo",)
    with pytest.raises(SettingsError, match="APPROVERS is wrong"):
        Settings.read(approvers="cfo")


def test_working_hours():
    """Zone, days, hours and holidays make the calendar; nothing set means none."""
    told = {"zone": "Europe/Berlin", "days": ["mon", "sun"], "holidays": ["2026-12-25"]}
    found = calendar(Settings.read(working_hours=json.dumps(told)).working_hours)
    assert found is not None
    assert (found.days, found.start) == (frozenset({0, 6}), time(9))
    assert found.holidays == {date(2026, 12, 25)}
    assert calendar(None) is None
    with pytest.raises(SettingsError, match="name of a time zone"):
        Settings.read(working_hours=json.dumps({"zone": "Mars"}))
