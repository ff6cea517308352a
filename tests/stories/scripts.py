"""Agents of the stories whose model follows a script, and the tools they call."""

from collections.abc import Sequence
from typing import Any

from agents import Agent, FunctionTool
from agents.runtime.testing import Reply, ScriptedModel
from agents.time_off import time_off_agent


def scripted(*tools: Any, replies: Sequence[Reply], **fields: Any) -> Sequence[Agent]:
    """The office's agents, of which the one in #expenses has these tools and says these replies."""
    model = ScriptedModel(replies)
    agent = Agent(name="reimbursement", description="Helps.", tools=tools, model=model, **fields)
    return [agent, time_off_agent()]


def model_of(agents: Sequence[Agent]) -> ScriptedModel:
    """The model that follows the script; its `requests` are what it read."""
    model = agents[0].model
    assert isinstance(model, ScriptedModel)
    return model


def gated(func: Any, **options: Any) -> FunctionTool:
    """A tool that always asks."""
    return FunctionTool(func, require_confirmation=True, **options)


class Hosts:
    """A tool whose runs are remembered."""

    def __init__(self) -> None:
        """Nothing ran yet."""
        self.ran: list[str] = []

    def ping(self, host: str) -> dict[str, str]:
        """Ping a host."""
        self.ran.append(host)
        return {"pong": host}
