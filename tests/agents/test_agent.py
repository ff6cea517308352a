"""Agents: put together rightly, or refused when they are built."""

from typing import Any

import pytest

from agents import Agent, AgentTool, FunctionTool, LlmRequest, Runner, UsageError
from agents.runtime.hooks import Plugin
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


def hidden(*args: Any, **kwargs: Any) -> None:
    """Do what nobody can tell from the outside."""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"tools": pay}, "tools must be a list", id="a tool where a list is wanted"),
        pytest.param({"tools": "pay"}, "tools must be a list", id="a name where a list is wanted"),
        pytest.param({"tools": None}, "tools must be a list", id="no list"),
        pytest.param(
            {"tools": [pay, "pay"]}, r"tools\[1\] is of type str: give a function", id="a name"
        ),
        pytest.param({"tools": [pay()]}, r"tools\[0\] is of type NoneType", id="a tool called"),
        pytest.param(
            {"tools": [Agent(name="b")]},
            r"b is an agent: give AgentTool\(b\), or sub_agents=",
            id="an agent as a tool",
        ),
        pytest.param({"tools": [Agent]}, "Agent: give a function", id="a class as a tool"),
        pytest.param({"tools": [hidden]}, "hidden: .*functools.wraps", id="a tool of no shape"),
        pytest.param({"sub_agents": [pay]}, "sub_agents must be a list of Agents", id="no agent"),
        pytest.param({"sub_agents": Agent(name="b")}, "sub_agents must be a list", id="one agent"),
        pytest.param({"model": 3}, "model must be a name or a Model", id="model"),
        pytest.param({"model": None}, "model must be a name or a Model", id="no model"),
        pytest.param({"instruction": ["Be brief."]}, "instruction must be a text", id="texts"),
        pytest.param(
            {"instruction": lambda: "Be brief."},
            "instruction must take one argument",
            id="instruction without a context",
        ),
        pytest.param({"description": None}, "description must be a text", id="description"),
        pytest.param({"output_key": 1}, "output_key must be a text", id="output key"),
        pytest.param({"output_schema": {}}, "output_schema must be a pydantic", id="schema"),
        pytest.param({"include_contents": "all"}, "include_contents must", id="contents"),
        pytest.param({"examples": "Pay 3"}, "examples must be a list", id="one sentence"),
        pytest.param({"examples": [3]}, "examples must be a list of sentences", id="numbers"),
        pytest.param(
            {"generate_content_config": {"temperature": 0}},
            "generate_content_config must be a GenerateContentConfig",
            id="config",
        ),
    ],
)
def test_what_is_no_field_of_an_agent(fields: dict[str, Any], words: str):
    """An agent says which of its fields is none, when it is built."""
    with pytest.raises(UsageError, match=f"^agent a: {words}"):
        Agent(name="a", **fields)


HOOKS = {
    "before_model_callback": "callback_context, llm_request",
    "after_model_callback": "callback_context, llm_response",
    "on_model_error_callback": "callback_context, llm_request, error",
    "before_tool_callback": "tool, args, tool_context",
    "after_tool_callback": "tool, args, tool_context, tool_response",
    "on_tool_error_callback": "tool, args, tool_context, error",
}


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize(
    "hook",
    [
        pytest.param(3, id="number"),
        pytest.param("log", id="text"),
        pytest.param({}, id="mapping"),
        pytest.param([3], id="list of none"),
        pytest.param(lambda: None, id="takes nothing"),
        pytest.param(lambda context: None, id="other words"),
        pytest.param(lambda *args: None, id="by place"),
        pytest.param([lambda **_: None, lambda context: None], id="the second of a list"),
        pytest.param(lambda missing, **_: None, id="wants more"),
        pytest.param(Plugin.before_tool_callback, id="method of no object"),
    ],
)
def test_a_hook_that_cannot_be_called(kind: str, hook: Any):
    """An agent says what its hooks are given, when it is built."""
    with pytest.raises(UsageError, match=f"^agent a: {kind} must be a .* {HOOKS[kind]}, or a list"):
        Agent(name="a", **{kind: hook})


@pytest.mark.parametrize("kind", HOOKS)
def test_a_hook_that_can_be_called(kind: str):
    """A function, a list, none, and whatever takes just what it is given."""
    names: dict[str, Any] = {}
    exec(f"async def hook({HOOKS[kind]}): ...", names)
    for given in (None, [], (), names["hook"], [names["hook"]], (lambda **_: None, names["hook"])):
        assert getattr(Agent(name="a", **{kind: given}), kind) is given


class Silent:
    """Has no hook at all."""


class Deaf(Plugin):
    """Takes its arguments as an agent's own hook does."""

    def before_tool_callback(self, tool: Any, args: Any, tool_context: Any) -> Any: ...


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        pytest.param(Silent(), "Silent is not a plugin: its before_model_callback must", id="none"),
        pytest.param(
            Deaf(),
            "Deaf is not a plugin: its before_tool_callback must take tool, tool_args,",
            id="words of an agent's hook",
        ),
        pytest.param(Plugin, "Plugin is not a plugin", id="class"),
    ],
)
def test_a_plugin_that_cannot_be_called(plugin: Any, words: str):
    """A Runner says which hook of which plugin is none."""
    with pytest.raises(UsageError, match=f"^{words}"):
        Runner(agent=Agent(name="a"), models=ScriptedModel([]), plugins=[plugin])


@pytest.mark.parametrize("given", [pay, "b", Agent], ids=["function", "name", "class"])
def test_an_agent_tool_of_no_agent(given: Any):
    """It says that it needs one."""
    with pytest.raises(UsageError, match="AgentTool needs an Agent"):
        AgentTool(given)


@pytest.mark.parametrize("name", [3, None], ids=repr)
def test_a_name_that_is_no_text(name: Any):
    """A name of another type is as bad as any."""
    with pytest.raises(UsageError, match="must be an identifier"):
        Agent(name=name)


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
    with pytest.raises(UsageError, match="rename the tool below a"):
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
