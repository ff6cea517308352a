"""What the doctor says of tools that are hard to use for a model."""

from typing import Any

import pytest

from agents import Agent, AgentTool, FunctionTool
from bot.advice import advice, tool_advice


def parameters(**described: str) -> dict[str, Any]:
    """A JSON schema with these parameters and their descriptions."""
    return {"properties": {name: {"description": text} for name, text in described.items()}}


@pytest.mark.parametrize(
    ("name", "description", "schema", "words"),
    [
        pytest.param("pay_back", "Pay.", parameters(amount="How much."), [], id="a good one"),
        pytest.param("pay_back", "Pay.", {}, [], id="without parameters"),
        pytest.param("pay_back", " ", {}, ["no docstring"], id="no docstring"),
        pytest.param("process_data", "Pay.", {}, ["its name does not say"], id="a vague name"),
        pytest.param("run", "Pay.", {}, ["its name does not say"], id="a verb alone"),
        pytest.param("get_price", "Pay.", {}, [], id="one word that tells"),
        pytest.param(
            "pay_back",
            "Pay.",
            parameters(amount="", purpose="For what.", day=""),
            ["not mention amount, day"],
            id="parameters nobody describes",
        ),
        pytest.param(
            "pay_back",
            "Pay.",
            parameters(**dict.fromkeys("abcdef", "What.")),
            ["6 parameters"],
            id="too many parameters",
        ),
        pytest.param(
            "pay_back", "Pay.", parameters(**dict.fromkeys("abcde", "What.")), [], id="five"
        ),
        pytest.param(
            "do_it",
            "",
            parameters(it=""),
            ["no docstring", "not mention it"],
            id="several faults",
        ),
    ],
)
def test_what_makes_a_tool_hard_to_use(
    name: str, description: str, schema: dict[str, Any], words: list[str]
):
    """Each fault is one sentence, and nothing else is."""
    found = list(tool_advice(name, description, schema))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_every_agents_tools_are_looked_at():
    """Tools of agents further down as well; another agent as a tool describes itself."""

    def frobnicate(a: int) -> int:
        return a

    inner = Agent(name="inner", description="Knows things.")
    child = Agent(name="child", tools=[FunctionTool(frobnicate)])
    agent = Agent(name="top", tools=[AgentTool(inner)], sub_agents=[child])
    found = list(advice([agent]))
    assert [sentence.partition(":")[0] for sentence in found] == ["child.frobnicate"] * 2
