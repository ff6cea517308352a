"""Policies, roles and working hours as operators write them, and what is wrong with them."""

import json
from dataclasses import replace
from datetime import date, time, timedelta
from typing import Any

import pytest

from agents import Agent, AgentTool, ApprovalPolicy, FunctionTool, ToolContext
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
    tool = FunctionTool(pay, require_confirmation=True, approval=policy)
    return [Agent(name="desk", tools=[tool])]


def written(policy: Any, **more: Any) -> Settings:
    """Settings with a policy for desk.pay."""
    return Settings.read(approval_policies=json.dumps({"desk.pay": policy}), **more)


def test_a_policy_is_read_whole():
    """Spans, names, tiers and parts of the time are read, in tiers too."""
    policy = {
        "approvers": ["U1A", "finance"],
        "quorum": 2,
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


SENSELESS: tuple[dict[str, Any], ...] = (
    {"quorum": 0},
    {"quorum": -1},
    {"rejections": 0},
    {"any_of": {"U1A": 0}},
    {"any_of": {" ": 1}},
    {"approvers": [""]},
    {"expires": 0},
    {"expires": -5},
    {"expires": "99999d"},
    {"run_within": 0},
    {"run_within": "9999999d"},
    {"reminders": [1]},
    {"reminders": [0]},
    {"escalate": {"nan": ["U1A"]}},
    {"escalate": {"1.5": ["U1A"]}},
    {"escalate": {"0.5": []}},
)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param({"aprovers": ["U1A"]}, "no 'aprovers'", id="a field spelled wrongly"),
        pytest.param({"tiers": {"a > 1": {"quorm": 1}}}, "no 'quorm'", id="the same in a tier"),
        pytest.param({"expires": "soon"}, "a duration such as", id="no duration"),
        pytest.param({"quorum": "many"}, "integer", id="no number"),
        pytest.param(["U1A"], "dictionary", id="no object"),
        *(
            pytest.param(policy, f"the {name} of an ApprovalPolicy must", id=str(policy))
            for policy in SENSELESS
            for name in policy
        ),
        pytest.param({"tiers": {"amount > 1": {"quorum": 0}}}, "the quorum", id="a tier's quorum"),
        pytest.param({"approvers": ["U1A"], "any_of": {"U2B": 1}}, "never both", id="two ways"),
    ],
)
def test_a_policy_nobody_can_read_is_refused(policy, words):
    """A stricter rule that is spelled wrongly is never passed over."""
    with pytest.raises(SettingsError, match="APPROVAL_POLICIES is wrong") as raised:
        written(policy)
    assert words in str(raised.value)


LATER = {"approvers": ["U1A"], "quorum": 2, "escalate": {"0.5": ["U2B"]}}


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        pytest.param({"desk.pays": {}}, "no tool desk.pays", id="no such tool"),
        pytest.param({"dusk.*": {}}, r"no tool dusk\.\* here", id="no such agent"),
        pytest.param({"*.pays": {}}, r"no tool \*\.pays here", id="no agent has that tool"),
        pytest.param({"*": {"tiers": {"much": {}}}}, "not a condition", id="no condition anywhere"),
        pytest.param({"desk.pay": {"tiers": {"much": {}}}}, "not a condition", id="no condition"),
        pytest.param(
            {"desk.pay": {"tiers": {"amount > 9": {}, "amount > 2": {}}}},
            "'amount > 2' is met whenever 'amount > 9' is",
            id="tiers in falling order",
        ),
        pytest.param(
            {"desk.pay": {"tiers": {"amuont > 1": {}}}}, "amuont, which it has not", id="no such"
        ),
        pytest.param(
            {"*": {"tiers": {"amount > 1": {"tiers": {"a == 1": {}}}}}},
            "a, which it has not",
            id="no tool has such an argument",
        ),
        pytest.param(
            {"desk.pay": {"approvers": ["U1A", "U1A"], "quorum": 2}},
            "2 people have to agree, and 1 can",
            id="one person twice",
        ),
        pytest.param(
            {"*": {"any_of": {"U1A": 2, "U2B": 3}}}, "2 people have to agree", id="2 of one"
        ),
        pytest.param(
            {
                "*": {
                    "approvers": ["U1A"],
                    "quorum": 2,
                    "expires": None,
                    "escalate": {"0.5": ["U2B"]},
                }
            },
            "2 people have to agree, and 1 can",
            id="the second never comes",
        ),
        pytest.param(
            {"*": {"approvers": ["U1A"], "tiers": {"amount > 1": {"quorum": 2}}}},
            "2 people have to agree, and 1 can",
            id="a tier without names",
        ),
        pytest.param({"*": {"quorum": 9}}, "9 people have to agree, and 2 can", id="9 of 2"),
        pytest.param({"*": {"rejections": 3}}, "3 people have to reject, and 2 can", id="3 of 2"),
        pytest.param(
            {"*": {"tiers": {"amount > 1": {"approvers": ["leads"], "quorum": 3}}}},
            "3 people have to agree, and 2 can",
            id="a role in a tier",
        ),
    ],
)
def test_a_policy_for_nothing_stops_the_start(policies, words):
    """A policy of a tool that is not there, or that cannot be applied, stops the start."""
    told = {"approvers": ["U1A", "U2B"], "approver_roles": json.dumps({"leads": ["U1A", "U3C"]})}
    found = book(Settings.read(approval_policies=json.dumps(policies), **told), agents())
    with pytest.raises(SettingsError, match=words):
        usable(found)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param({"approvers": ["S1MGR"], "quorum": 9}, id="a user group may have many"),
        pytest.param(LATER, id="later"),
        pytest.param({"any_of": {"U1A": 2, "leads": 2}}, id="one way is enough"),
        pytest.param(
            {"approvers": ["nosuch"], "quorum": 2}, id="a name nobody knows is told apart"
        ),
        pytest.param({"tiers": {"amount > 1": {}, "amount in [2, 3]": {}}}, id="two tiers"),
    ],
)
def test_a_policy_that_makes_sense_starts(policy):
    """What could be met is no reason not to start."""
    roles = json.dumps({"leads": ["U1A", "finance"], "finance": ["U2B"]})
    assert usable(book(written(policy, approvers=["U9Z"], approver_roles=roles), agents()))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("approval_policies", '{"desk.pay": {"quorum": 2}, "desk.pay": {}}', "desk.pay twice"),
        ("approval_policies", '{"desk.pay": {"quorum": 2, "quorum": 1}}', "quorum twice"),
        ("approver_roles", '{"a": ["U1A"], "a": ["U2B"]}', "a twice"),
        ("routes", '{"#a": "x", "#a": "y"}', "#a twice"),
        ("working_hours", '{"start": "17:00", "end": "09:00"}', "start must be before end"),
        ("working_hours", '{"start": "09:00", "end": "09:00"}', "start must be before end"),
        ("working_hours", '{"days": []}', "one day at least"),
        ("working_hours", '{"start": "09:00+02:00"}', "a time of day such as 09:00"),
        ("approval_ttl", "99999999d", "APPROVAL_TTL"),
        ("execution_ttl", "99999999d", "EXECUTION_TTL"),
        ("lease", "inf", "LEASE"),
        ("lease", "nan", "LEASE"),
        ("lease", "1e300", "LEASE"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(name: str, value: str, words: str):
    """What would be ignored, or fail at the first question, stops the start with one sentence."""
    with pytest.raises(SettingsError, match="is wrong") as raised:
        Settings.read(**{name: value})
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("policy", "given", "words"),
    [
        pytest.param(
            {"approvers": ["boss"]},
            {},
            "nobody knows who boss is: name it in COUNTERSIGN_APPROVER_ROLES",
            id="a name",
        ),
        pytest.param(
            {"approvers": ["boss"]}, {"boss": []}, "stands for nobody", id="an empty role"
        ),
        pytest.param({"approvers": ["Sales"]}, {}, "who Sales is", id="a name like a user group"),
        pytest.param({"approvers": ["SALES-1"]}, {}, "who SALES-1 is", id="nearly an id"),
        pytest.param({"approvers": ["fin"]}, {"fin": ["max"]}, "who max is", id="in a role"),
        pytest.param(
            {"approvers": ["a"]}, {"a": ["b"], "b": ["a"]}, "role a stands", id="two in a circle"
        ),
        pytest.param({"approvers": ["a"]}, {"a": ["a"]}, "role a stands", id="a circle of one"),
        pytest.param(
            {"expires": None, "escalate": {"0.5": ["U2B"]}}, {}, "its escalations", id="never later"
        ),
        pytest.param({"expires": None, "reminders": [0.2]}, {}, "its reminders", id="no reminder"),
        pytest.param(
            {"approvers": ["U1A"], "tiers": {"amount > 1": {"expires": None, "reminders": [0.2]}}},
            {},
            "its reminders",
            id="no reminder in a tier",
        ),
        pytest.param({"working_hours": True}, {}, "none are set", id="no working hours"),
        pytest.param({}, {}, "no default approvers", id="no approvers at all"),
    ],
)
def test_what_an_operator_should_mend(policy, given, words):
    """What works, but hardly as it is meant, is said once at the start and by the doctor."""
    found = book(written(policy, approver_roles=json.dumps(given)), agents())
    assert any(words in each.text for each in usable(found).complaints)


@pytest.mark.parametrize("role", ["U1A", "WEB", "UAT", "SALES", "SRE"])
def test_a_role_named_like_an_id_stops_the_start(role: str):
    """Such a name stands for the person or the user group of that id, so its people never count."""
    roles = json.dumps({role: ["U2B"]})
    found = book(written({"approvers": [role]}, approver_roles=roles), agents())
    with pytest.raises(SettingsError, match=f"The role {role} is named like an id of Slack"):
        usable(found)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"expires": "1d"}, id="it expires"),
        pytest.param({}, id="as the deployment says"),
        pytest.param({"expires": None, "reminders": [0.8]}, id="no more than is always said"),
        pytest.param({"expires": None, "reminders": []}, id="none"),
    ],
)
def test_a_time_that_has_parts(more: dict[str, Any]):
    """Nothing is said about reminders that come, or that nobody wrote down."""
    found = book(written({"approvers": ["U1A"], **more}), agents())
    assert not any("never" in each.text for each in found.complaints)


def test_a_deployment_that_lets_no_question_stay_open():
    """Where each question ends, parts of the time come also for a policy that has no end."""
    policy = {"approvers": ["U1A"], "expires": None, "escalate": {"0.5": ["U2B"]}}
    assert book(written(policy, approval_ttl="7d"), agents()).complaints == ()


OWN = ApprovalPolicy(approvers=("U1A",), reason_required=True)
TIGHT = FunctionTool(pay, require_confirmation=True, approval=OWN)
WAYS: dict[str, Agent] = {
    "a sub-agent": Agent(name="top", sub_agents=[Agent(name="desk", tools=[TIGHT])]),
    "an agent as a tool": Agent(name="top", tools=[AgentTool(Agent(name="desk", tools=[TIGHT]))]),
    "an agent of an agent as a tool": Agent(
        name="top",
        tools=[
            AgentTool(
                Agent(name="mid", tools=[AgentTool(Agent(name="desk", tools=[TIGHT]))]),
            )
        ],
    ),
    "a sub-agent of an agent as a tool": Agent(
        name="top",
        tools=[AgentTool(Agent(name="mid", sub_agents=[Agent(name="desk", tools=[TIGHT])]))],
    ),
    "an agent as a tool of a sub-agent": Agent(
        name="top",
        sub_agents=[Agent(name="mid", tools=[AgentTool(Agent(name="desk", tools=[TIGHT]))])],
    ),
}


@pytest.mark.parametrize("top", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ["desk.pay", "*.pay", "desk.*", "*"])
def test_every_way_to_a_tool_leads_to_its_policy(top: Agent, name: str):
    """What a tool says counts by whatever path it is called, and so does what the settings say."""
    told = json.dumps({name: {"approvers": ["U2B"]}})
    found = usable(book(Settings.read(approval_policies=told), [top])).policies["desk.pay"]
    assert found == (OWN, ApprovalPolicy(approvers=("U2B",)))


def _twin(approval: ApprovalPolicy | None) -> Agent:
    tool = FunctionTool(pay, require_confirmation=True, approval=approval)
    return Agent(name="desk", tools=[tool])


@pytest.mark.parametrize(
    ("other", "fine"),
    [
        pytest.param(OWN, True, id="the same"),
        pytest.param(replace(OWN), True, id="an equal one"),
        pytest.param(None, False, id="none"),
        pytest.param(ApprovalPolicy(), False, id="one that says nothing"),
        pytest.param(replace(OWN, approvers=("U9Z",)), False, id="others"),
    ],
)
@pytest.mark.parametrize("turned", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("way", ["sub-agents", "tools", "both"])
def test_two_tools_of_one_name(other: ApprovalPolicy | None, fine: bool, turned: bool, way: str):
    """Two tools that a policy cannot tell apart have one policy, or the bot does not start."""
    pair = [_twin(OWN), _twin(other)]
    one, two = reversed(pair) if turned else pair
    first = Agent(name="a", sub_agents=[one] if way != "tools" else [], tools=_called(one, way))
    second = Agent(name="b", tools=[AgentTool(two)] if way != "sub-agents" else [])
    second = replace(second, sub_agents=[two]) if way == "sub-agents" else second
    found = book(Settings.read(), [first, second])
    assert found.policies["desk.pay"][:1] in ((OWN,), (other,))
    refused = [each.text for each in found.complaints if each.refuse]
    assert refused == ([] if fine else [refused[0]])
    assert fine or "two tools desk.pay" in refused[0]


def _called(agent: Agent, way: str) -> list[AgentTool]:
    return [AgentTool(agent)] if way == "tools" else []


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

    paying = FunctionTool(pay, require_confirmation=True)
    both = [Agent(name="desk", tools=[paying, refund]), Agent(name="till", tools=[paying])]
    told = {name: {"approvers": [f"U1{n}"]} for n, name in enumerate(names)}
    policies = usable(book(Settings.read(approval_policies=json.dumps(told)), both)).policies
    assert {tool: len(each) for tool, each in policies.items() if each} == found


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


def _asks_itself(amount: float, tool_context: ToolContext) -> float:
    """Pay, if somebody agrees."""
    return amount


@pytest.mark.parametrize(
    ("tool", "name", "told"),
    [
        pytest.param(FunctionTool(pay), "desk.pay", "desk.pay asks nobody", id="it never asks"),
        pytest.param(FunctionTool(pay), "desk.*", "", id="among all tools of an agent"),
        pytest.param(FunctionTool(pay, approval=OWN), "*", "desk.pay asks nobody", id="its own"),
        pytest.param(FunctionTool(pay, require_confirmation=True), "desk.pay", "", id="it asks"),
        pytest.param(
            FunctionTool(pay, require_confirmation=lambda: False), "desk.pay", "", id="it may"
        ),
        pytest.param(FunctionTool(_asks_itself, name="pay"), "desk.pay", "", id="it asks itself"),
    ],
)
def test_a_policy_where_nobody_is_asked(tool: FunctionTool, name: str, told: str):
    """Who writes a policy for a tool that never asks may believe that it is gated."""
    settings = Settings.read(approval_policies=json.dumps({name: {"approvers": ["U2B"]}}))
    found = book(settings, [Agent(name="desk", tools=[tool])])
    said = [each.text for each in found.complaints if "asks nobody" in each.text]
    assert [told in text for text in said] == ([True] if told else [])
    assert usable(found) is found


def test_a_hook_may_ask_about_any_tool():
    """Where an agent has a hook before its tools, nobody can tell that they never ask."""
    tool = FunctionTool(pay, approval=OWN)
    agent = Agent(name="desk", tools=[tool], before_tool_callback=lambda **_told: None)
    assert not any("asks nobody" in each.text for each in book(Settings.read(), [agent]).complaints)
