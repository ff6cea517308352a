"""Which agent answers what."""

from typing import Any

import pytest

from agents import Agent, LlmRequest
from bot.errors import SettingsError
from bot.guide import Fixed, guide, sentence
from bot.routing import Choice, Message, best_match, resolved, route
from bot.settings import Route


def pay(amount: float) -> str:
    """Reimburse an expense to an employee."""
    return f"{amount} paid"


REIMBURSEMENT = Agent(
    name="reimbursement",
    description="Pays people back what they spent.",
    tools=[pay],
    examples=["50 dollars for lunch"],
)
TIME_OFF = Agent(
    name="time_off", description="Asks a manager for days off.", examples=["I need 3 days off"]
)
AGENTS = (REIMBURSEMENT, TIME_OFF)
ROUTES = {
    "C1": Route(agent="reimbursement"),
    "C2": Route(agent="time_off", answer="all"),
}


def message(**given: Any) -> Message:
    """A person's post in a routed channel."""
    fields: dict[str, Any] = {
        "team": "T1",
        "channel": "C1",
        "ts": "5.0",
        "author": "U1",
        "text": "hello",
    }
    return Message(**(fields | given))


def choice(given: Message, *, last: str | None = None, **routes: Route) -> tuple[Any, ...] | None:
    """Who answers, in which thread, and whether only if they are in it already."""
    found = route(given, routes=ROUTES | routes, agents=AGENTS, last=last)
    return (found.agent, found.ts, found.only_existing) if found else None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            {"mention": True}, ("reimbursement", "5.0", False), id="mention starts a thread"
        ),
        pytest.param({}, None, id="a plain message is not ours"),
        pytest.param(
            {"thread_ts": "4.0"}, ("reimbursement", "4.0", True), id="in a thread, if ours"
        ),
        pytest.param(
            {"thread_ts": "4.0", "mention": True},
            ("reimbursement", "4.0", False),
            id="mention in any thread",
        ),
        pytest.param({"channel": "C2"}, ("time_off", "5.0", False), id="answer all"),
        pytest.param(
            {"channel": "C2", "thread_ts": "4.0"},
            ("time_off", "4.0", False),
            id="answer all, thread",
        ),
        pytest.param({"channel": "C9"}, None, id="no route, plain"),
        pytest.param({"channel": "C9", "mention": True}, ("guide", "5.0", False), id="no route"),
        pytest.param(
            {"channel": "C9", "thread_ts": "4.0"}, ("guide", "4.0", True), id="the guide's thread"
        ),
    ],
)
def test_channels(given: dict[str, Any], expected: tuple[Any, ...] | None) -> None:
    """A channel's route says who answers, and to what."""
    assert choice(message(**given)) == expected


@pytest.mark.parametrize(
    ("text", "last", "agent"),
    [
        pytest.param("time off: 3 days", None, "time_off", id="by name"),
        pytest.param("Time_Off: 3 days", "reimbursement", "time_off", id="by name, any spelling"),
        pytest.param("please pay my lunch", None, "reimbursement", id="by its example"),
        pytest.param("an expense of 20 dollars", None, "reimbursement", id="by its tool"),
        pytest.param("I need a day off", None, "time_off", id="by its description"),
        pytest.param("hello", "time_off", "time_off", id="the last one"),
        pytest.param("hello", "gone", "guide", id="the last one is gone"),
        pytest.param("hello", None, "guide", id="nobody fits"),
        pytest.param("pay my day", None, "guide", id="two fit equally"),
        pytest.param("note: pay lunch", None, "reimbursement", id="a colon that names nobody"),
        pytest.param("", None, "guide", id="nothing said"),
    ],
)
def test_direct_messages(text: str, last: str | None, agent: str) -> None:
    """In a DM the words decide, then who spoke last, then the guide helps."""
    given = message(channel="D1", text=text, direct=True)
    assert choice(given, last=last) == (agent, "", False)


def test_direct_message_to_a_named_agent_is_told_without_the_name() -> None:
    """The name in front is for us, the rest for the agent."""
    given = message(channel="D1", text="time off:  3 days", direct=True, thread_ts="4.0")
    found = route(given, routes={}, agents=AGENTS, last=None)
    assert found == Choice(agent="time_off", text="3 days", ts="4.0")


def test_direct_messages_may_have_a_route() -> None:
    """A route named dm is for all direct messages, unless they name an agent."""
    dm = Route(agent="time_off")
    given = message(channel="D1", text="pay my lunch", direct=True)
    assert choice(given, dm=dm) == ("time_off", "", False)
    named = message(channel="D1", text="reimbursement: lunch", direct=True)
    assert choice(named, dm=dm) == ("reimbursement", "", False)


def test_best_match_needs_an_agent() -> None:
    """Without agents nobody fits."""
    assert best_match("pay my lunch", []) is None


def test_routes_are_resolved_to_ids() -> None:
    """Names become ids, those of approvers' channels too; ids and dm stay."""
    routes = {
        "#money": Route(agent="reimbursement", approvers_channel="#bosses"),
        "C0G9QF9GZ": Route(agent="time_off", approvers_channel="C0BOSSES1"),
        "dm": Route(agent="guide"),
    }
    found = resolved(
        routes,
        agents=["reimbursement", "time_off", "guide"],
        channels={"money": "C0MONEY01", "bosses": "C0BOSSES2"},
    )
    assert {place: (entry.agent, entry.approvers_channel) for place, entry in found.items()} == {
        "C0MONEY01": ("reimbursement", "C0BOSSES2"),
        "C0G9QF9GZ": ("time_off", "C0BOSSES1"),
        "dm": ("guide", None),
    }


@pytest.mark.parametrize(
    ("routes", "told"),
    [
        pytest.param(
            {"C0G9QF9GZ": Route(agent="payroll")},
            "The route of C0G9QF9GZ names the agent 'payroll'; there are: reimbursement, time_off.",
            id="unknown agent",
        ),
    ],
)
def test_routes_to_nowhere(routes: dict[str, Route], told: str) -> None:
    """A route that cannot work stops the start and says what is wrong."""
    with pytest.raises(SettingsError) as raised:
        resolved(routes, agents=["reimbursement", "time_off"], channels={"general": "C1"})
    assert str(raised.value) == told


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        pytest.param({"#gone": Route(agent="time_off")}, {}, id="where an agent answers"),
        pytest.param({"gone": Route(agent="time_off")}, {}, id="without its sign"),
        pytest.param(
            {"dm": Route(agent="time_off", approvers_channel="#gone")},
            {"dm": "#gone"},
            id="for approvals",
        ),
        pytest.param(
            {"#gone": Route(agent="time_off"), "#general": Route(agent="time_off")},
            {"C0GENERAL1": None},
            id="one of two",
        ),
    ],
)
def test_routes_of_a_channel_that_is_gone(routes: dict[str, Route], expected: dict) -> None:
    """The others stay; for approvals the name stays, and Slack says of it that it is not there."""
    found = resolved(routes, agents=["time_off"], channels={"general": "C0GENERAL1"})
    assert {place: entry.approvers_channel for place, entry in found.items()} == expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("time_off", "Two agents are named 'time_off'; rename one of them"),
        ("guide", "'guide' is the bot's own agent: give yours another name"),
    ],
)
def test_two_agents_of_one_name(name: str, words: str) -> None:
    """A route or a DM would lead to either, so the bot does not start."""
    with pytest.raises(SettingsError, match=words):
        resolved({}, agents=["time_off", "guide", name], channels={})


async def test_the_guide_names_every_agent_with_an_example() -> None:
    """Whoever asks nobody in particular hears who is there."""
    agent = guide(AGENTS)
    assert agent.name == "guide"
    assert isinstance(agent.model, Fixed)
    (answer,) = [each async for each in agent.model.generate_content_async(LlmRequest())]
    text = agent.model.text
    assert answer.content is not None
    assert [part.text for part in answer.content.parts or []] == [text]
    assert text == sentence(AGENTS)
    assert "• reimbursement: Pays people back what they spent." in text
    assert "time_off: I need 3 days off" in text


@pytest.mark.parametrize(
    ("routes", "first", "line"),
    [
        pytest.param({}, "Write to me directly. There are:", "• bare: Nothing", id="no channel"),
        pytest.param(
            {"#shop": Route(agent="bare"), "#till": Route(agent="bare"), "#x": Route(agent="y")},
            "Mention me in an agent's channel, or write to me directly. There are:",
            "• bare (in #shop, #till): Nothing",
            id="channels",
        ),
        pytest.param(
            {"C0123ABC": Route(agent="bare")},
            "Mention me in an agent's channel, or write to me directly. There are:",
            "• bare: Nothing",
            id="a channel without a name",
        ),
    ],
)
def test_the_guide_names_channels(routes: dict[str, Route], first: str, line: str) -> None:
    """Whoever is told to go to an agent's channel hears which one that is."""
    assert sentence([Agent(name="bare", description="Nothing.")], routes) == f"{first}\n{line}"


def test_the_guide_without_agents() -> None:
    """An empty deployment says so."""
    assert sentence([]) == "There is no agent here yet."
    assert sentence([Agent(name="bare")]).endswith("• bare")
