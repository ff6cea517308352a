"""Handing the conversation over, and back."""

import pytest

from agents import Agent
from agents.runtime.testing import call
from agents.runtime.transfer import TransferTool, targets, told
from tests.agents.desk import Desk, results, texts

low = Agent(name="low", description="Knows little.")
shut = Agent(name="shut", disallow_transfer_to_parent=True, disallow_transfer_to_peers=True)
middle = Agent(name="middle", sub_agents=[low])
root = Agent(name="root", sub_agents=[middle, shut])


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (root, ["middle", "shut"]),
        (middle, ["low", "root", "shut"]),
        (low, ["middle"]),
        (shut, []),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_targets(agent, expected):
    """Children, then parent and peers, unless it is forbidden."""
    assert [other.name for other in targets(agent, root)] == expected


async def test_the_tool():
    """It names those offered, refuses others, and asks nobody."""
    tool = TransferTool([low])
    assert "low" in tool.bind({"agent_name": "nobody"}).response["error"]
    bound = tool.bind({"agent_name": "low", "prompt": "x"})
    assert bound.values == {"agent_name": "low"}
    assert await tool.needs_confirmation(bound, None) is False
    assert "- low: Knows little." in told([low])


async def test_there_and_back():
    """Who took over keeps the conversation until it hands it back."""
    hand = [call("transfer_to_agent", agent_name=name) for name in ("middle", "root")]
    at = await Desk(root, [hand[0], "Middle.", "Still me.", hand[1], "Root."]).open()
    said = [texts(await at.say(text)) for text in ("go", "and?", "back")]
    assert said == [["Middle."], ["Still me."], ["Root."]]


async def test_an_unknown_name():
    """The model hears whom it may name, and nothing else happens."""
    made = [call("transfer_to_agent", agent_name="nobody"), "I stay."]
    at = await Desk(root, made).open()
    events = await at.say()
    assert "middle, shut" in results(events)[0]["error"]
    assert texts(events) == ["I stay."]


async def test_nobody_to_hand_over_to():
    """Without others there is no such tool."""
    made = [call("transfer_to_agent", agent_name="root"), "Oh."]
    at = await Desk(Agent(name="alone"), made).open()
    assert "no tool called" in results(await at.say())[0]["error"]
