"""Agents: put together rightly, or refused when they are built."""

import pytest

from agents import Agent, AgentTool, FunctionTool, LlmRequest, Runner, UsageError
from agents.runtime.testing import ScriptedModel


def pay() -> None:
    """Pay."""


@pytest.mark.parametrize("name", ["", "user", "1st", "two words", "a.b"])
def test_a_bad_name(name):
    """A name is an identifier, and not the person's."""
    with pytest.raises(UsageError, match="name"):
        Agent(name=name)


def test_two_tools_of_one_name():
    """The model could not tell them apart."""
    with pytest.raises(UsageError, match="two tools named pay"):
        Agent(name="a", tools=[pay, pay])


def test_a_tool_where_a_list_is_wanted():
    """One function is no list of them."""
    with pytest.raises(UsageError, match="agent a: tools must be a list"):
        Agent(name="a", tools=pay)  # pyright: ignore[reportArgumentType]


def test_two_agents_of_one_name():
    """The conversation could be handed to either."""
    twin = Agent(name="b")
    with pytest.raises(UsageError, match="named b"):
        Agent(name="a", sub_agents=[twin, Agent(name="c", sub_agents=[Agent(name="b")])])


def test_a_tree():
    """Everybody below is found by name, nested ones by their tool."""
    nested, child = Agent(name="n"), Agent(name="c")
    root = Agent(name="a", tools=[pay, AgentTool(nested)], sub_agents=[child])
    assert (root.find_agent("c"), root.find_agent("n")) == (child, None)
    assert (root.nested("n"), root.nested("pay"), root.nested("x")) == (nested, None, None)
    assert (root.tool_names(), root.family()) == (["pay", "n"], (root, child))


async def test_a_script_that_is_over():
    """A scripted model says when it is asked once too often."""
    with pytest.raises(AssertionError, match="over"):
        async for _ in ScriptedModel([]).generate_content_async(LlmRequest()):
            pass


def _handing() -> FunctionTool:
    def transfer_to_agent(agent_name: str) -> str:
        """Mine."""
        return agent_name

    return FunctionTool(transfer_to_agent)


@pytest.mark.parametrize(
    "agents",
    [
        pytest.param(
            lambda: Agent(name="a", tools=[_handing()], sub_agents=[Agent(name="b")]), id="its own"
        ),
        pytest.param(
            lambda: Agent(name="a", sub_agents=[Agent(name="b", tools=[_handing()])]),
            id="a child's",
        ),
    ],
)
def test_a_tool_called_like_the_one_that_hands_over(agents):
    """Beside sub-agents it would be shadowed, so it is refused; alone it is a tool like any."""
    with pytest.raises(UsageError, match="name the tool below a otherwise"):
        agents()
    assert Agent(name="a", tools=[_handing()]).tool("transfer_to_agent") is not None


@pytest.mark.parametrize("value", ["firefox", Agent(name="inner")], ids=["a text", "an agent"])
def test_a_tool_may_have_an_attribute_called_agent(value):
    """Only an AgentTool is an agent that is stepped through."""

    class Browser(FunctionTool):
        agent = value

    agent = Agent(name="a", tools=[Browser(lambda: 1, name="browse")])
    Runner(agent=agent, models=ScriptedModel([]))
    assert agent.nested("browse") is None
