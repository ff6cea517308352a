"""Instructions: state filled in, other braces left alone."""

import pytest

from agents import Agent
from agents.runtime.context import ReadonlyContext
from agents.runtime.instruction import fill, instruction

STATE = {"city": "Rome", "user:lang": "it", "n": 3, "none": None}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("In {city}.", "In Rome.", id="a value"),
        pytest.param("In {user:lang}, {n}.", "In it, 3.", id="prefixes and numbers"),
        pytest.param("Hi {who?}!", "Hi !", id="optional"),
        pytest.param("Hi {who}!", "Hi {who}!", id="missing"),
        pytest.param("Hi {none?}{none}!", "Hi {none}!", id="null is missing"),
        pytest.param("Write {{city}}.", "Write {city}.", id="escaped"),
        pytest.param('{"a": {"b": "{city}"}}', '{"a": {"b": "Rome"}}', id="JSON"),
        pytest.param("${city} {} {1} { city }", "${city} {} {1} { city }", id="other braces"),
        pytest.param("no braces", "no braces", id="none"),
    ],
)
def test_fill(template, expected):
    """Only names are filled in."""
    assert fill(template, STATE) == expected


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(
            Agent(name="a", instruction="In {city}."),
            'In Rome.\n\nYou are an agent. Your internal name is "a".',
            id="a template",
        ),
        pytest.param(
            Agent(name="a", description="D.", instruction=lambda told: f"{{n}} {told.state['n']}"),
            '{n} 3\n\nYou are an agent. Your internal name is "a". '
            'The description about you is "D.".',
            id="a function",
        ),
        pytest.param(Agent(name="a"), 'You are an agent. Your internal name is "a".', id="nothing"),
    ],
)
async def test_instruction(agent, expected):
    """An agent is told its instruction and who it is."""
    assert await instruction(agent, ReadonlyContext(state=STATE)) == expected


async def test_an_instruction_may_be_made_by_an_async_function():
    """It reads the state, of which it has a copy, and knows for whom it is."""
    state = {"names": ["x"]}

    async def provider(context: ReadonlyContext) -> str:
        context.state["names"].append("y")
        with pytest.raises(TypeError):
            context.state["k"] = 1
        return f"{context.agent_name} for {context.user_id}"

    context = ReadonlyContext(state=state, agent_name="a", user_id="ann")
    told = await instruction(Agent(name="a", instruction=provider), context)
    assert told.startswith("a for ann\n")
    assert state == {"names": ["x"]}
