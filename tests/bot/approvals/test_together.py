"""Policies of one tool are weighed together at the start: each may make sense, and all no sense."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import pytest

from agents import Agent, ApprovalPolicy, FunctionTool
from bot.approvals.conditions import condition
from bot.approvals.examples import examples
from bot.approvals.resolve import chosen
from bot.approvals.rules import Book, book
from bot.settings import Settings

ROLES = {"cfo": ["U0CFO"], "leads": ["U0AAAA", "U0BBBB"], "managers": ["S0MGR"]}
ONE = ApprovalPolicy(approvers=("U0BBBB",))
TWO = ApprovalPolicy(approvers=("U0AAAA", "U0BBBB"))
BIG = "amount > 1000"


def pay(amount: float, to: str = "Bo", when: str = "now") -> str:
    """Pay somebody."""
    return f"{to} {when} {amount}"


def leave(days: int) -> str:
    """Take days off."""
    return f"{days}"


def written(
    settings: Mapping[str, Any], own: ApprovalPolicy | None, groups: Mapping[str, Any] | None = None
) -> Book:
    """The policies of a deployment with a tool that pays and one that does not."""
    read = Settings.read(
        approvers=["U0AAAA", "U0DDDD"],
        approval_policies=json.dumps(settings),
        approver_roles=json.dumps(ROLES),
    )
    tools = [
        FunctionTool(pay, require_confirmation=True, approval=own),
        FunctionTool(leave, require_confirmation=True),
    ]
    return book(read, [Agent(name="shop", tools=tools)], groups=groups or {})


def tier(when: str, **told: Any) -> dict[str, Any]:
    """Settings for everything that pays, with one tier."""
    return {"shop.pay": {"tiers": {when: told}}}


@pytest.mark.parametrize(
    ("own", "settings", "words"),
    [
        pytest.param(ONE, {"*": {"quorum": 2}}, "2 people have to agree, and 1 can.", id="quorum"),
        pytest.param(
            ApprovalPolicy(any_of={"cfo": 1}),
            {"shop.pay": {"quorum": 2}},
            "2 people have to agree, and 1 can.",
            id="a role",
        ),
        pytest.param(
            ONE, tier(BIG, quorum=2), 'and 1 can, where a call has {"amount": 1001}', id="a tier"
        ),
        pytest.param(
            ApprovalPolicy(approvers=("leads",), tiers={"amount >= 500": ONE}),
            tier(BIG, quorum=2),
            'where a call has {"amount": 1001}',
            id="two tiers",
        ),
        pytest.param(
            ApprovalPolicy(approvers=("leads",), tiers={'to == "Al"': ONE}),
            tier(BIG, quorum=2),
            'where a call has {"to": "Al", "amount": 1001}',
            id="tiers on two arguments",
        ),
        pytest.param(
            ONE,
            {"shop.*": {"tiers": {BIG: {"tiers": {"amount > 5000": {"quorum": 2}}}}}},
            '{"amount": 5001}',
            id="a tier in a tier",
        ),
        pytest.param(
            None,
            {"shop.pay": {"rejections": 3}},
            "3 people have to reject, and 2 can",
            id="rejections",
        ),
        pytest.param(
            ApprovalPolicy(approvers=("managers",)),
            {"*.pay": {"quorum": 3}},
            "3 people have to agree, and 2 can",
            id="a user group that was looked up",
        ),
    ],
)
def test_what_nobody_can_meet_together(own: ApprovalPolicy | None, settings, words: str):
    """It is refused at the start, with a call that shows it, and not when somebody asks."""
    found = written(settings, own, {"S0MGR": ["U0AAAA", "U0BBBB"]})
    assert any(words in each.text for each in found.complaints if each.refuse)


@pytest.mark.parametrize(
    ("own", "settings"),
    [
        pytest.param(TWO, {"shop.pay": {"quorum": 2}}, id="enough"),
        pytest.param(
            ApprovalPolicy(approvers=("U0AAAA", "U0BBBB", "U0CFO")),
            {"shop.pay": {"quorum": 3}},
            id="more than there are default approvers",
        ),
        pytest.param(
            ApprovalPolicy(approvers=("U0BBBB",), tiers={BIG: TWO}),
            tier(BIG, quorum=2),
            id="both have a tier for the same",
        ),
        pytest.param(
            ApprovalPolicy(approvers=("leads",), tiers={"amount < 10": ONE}),
            tier(BIG, quorum=2),
            id="tiers that are never met at once",
        ),
        pytest.param(
            ApprovalPolicy(approvers=("managers",)), {"*.pay": {"quorum": 9}}, id="a user group"
        ),
        pytest.param(
            ApprovalPolicy(approvers=("U0BBBB",), escalate={0.5: ("U0CFO",)}),
            {"shop.pay": {"quorum": 2}},
            id="who comes in later",
        ),
        pytest.param(ONE, {"shop.pay": {"rejections": 2}}, id="one rejection is enough already"),
    ],
)
def test_what_can_be_met_together(own: ApprovalPolicy, settings):
    """No start is refused for what cannot come about."""
    found = written(settings, own)
    assert [each.text for each in found.complaints if each.refuse] == []


@pytest.mark.parametrize(
    "conditions",
    [
        ["amount > 1000"],
        ["amount > 10", "amount > 10.5", "amount >= 20"],
        ["amount in [1, 2]", "amount != 2"],
        ['to == "Bo"', 'to in ["Bo", "Al"]'],
        ['when > "2026-12-30"', 'when >= "2026-12-31"'],
        ['when > "2026-12-30T10:00:00Z"'],
        ['when > "P7D"', 'when < "PT12H"'],
        ['when >= "17:30"'],
        ["ok == true"],
        ["ok != null"],
        ['what == ["a"]'],
        ['what == {"a": 1}'],
        ["a.b > 1", "a.c > 1"],
        ['when > "9999-12-31"'],
        ["amount > 1e15"],
    ],
    ids=str,
)
def test_examples_meet_and_miss_each_condition(conditions: list[str]):
    """Of every condition there is a call that meets it and one that misses it, and none unsure."""
    policy = ApprovalPolicy(tiers={when: ApprovalPolicy() for when in conditions})
    calls = list(examples([policy]))
    for when in conditions:
        answers = {condition(when).met(call) for call in calls}
        assert answers <= {True, False}
        assert answers == {True, False} or "9999" in when


@pytest.mark.parametrize(
    "when", ["amount > 1", "amount == 1", "amount.cents > 1", "amount in [1]", "amount != 1"]
)
@pytest.mark.parametrize("nested", [False, True], ids=["a tier", "a tier in a tier"])
def test_a_tier_about_what_a_tool_has_not_is_none_of_its(when: str, *, nested: bool):
    """A wildcard's tier binds the tools that have its argument, and loosens or burdens no other."""
    inner = {when: {"approvers": ["cfo"]}}
    told = {"quorum": 2, "tiers": {"days > 3": {"tiers": inner}} if nested else inner}
    found = written({"*": told}, None).policies["shop.leave"]
    for days in (1, 9):
        for each in chosen(found, {"days": days}, everybody=["U0AAAA"]):
            assert each.approvers == ()
            assert each.quorum == 2


def test_a_tier_about_what_a_tool_has_stays():
    """Where the argument is there, the tier stands as it was written."""
    found = written({"*": {"tiers": {BIG: {"approvers": ["cfo"]}}}}, None).policies["shop.pay"]
    assert chosen(found, {"amount": 5000})[0].approvers == ("cfo",)
    assert [each.approvers for each in chosen(found, {"amount": "5 000"}, everybody=["UA"])] == [
        ("UA",),
        ("cfo",),
    ]


def ship(count: int, env: Literal["dev", "staging", "prod"]) -> str:
    """Ship so many."""
    return f"{count} {env}"


@pytest.mark.parametrize(
    ("own", "when"),
    [
        pytest.param({"count >= 2": TWO}, "count > 1", id="whole numbers"),
        pytest.param(
            {'env == "prod"': TWO, 'env == "staging"': TWO}, 'env != "dev"', id="all other members"
        ),
    ],
)
def test_a_call_that_the_tool_never_gets(own: dict[str, ApprovalPolicy], when: str):
    """Nobody is refused a start for a number between two, or a member that there is not."""
    told = json.dumps({"shop.ship": {"tiers": {when: {"quorum": 2}}}})
    read = Settings.read(approvers=["U0AAAA"], approval_policies=told)
    policy = ApprovalPolicy(approvers=("U0BBBB",), tiers=own)
    tool = FunctionTool(ship, require_confirmation=True, approval=policy)
    found = book(read, [Agent(name="shop", tools=[tool])])
    assert [each.text for each in found.complaints if each.refuse] == []
