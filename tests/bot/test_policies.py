"""Policies, roles and working hours as operators write them, and what is wrong with them."""

import json
from datetime import date, time, timedelta
from typing import Any

import pytest

from agents import Agent, ApprovalPolicy, FunctionTool
from bot.approvals.rules import book, calendar, usable
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
