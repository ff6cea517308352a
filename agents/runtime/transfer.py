"""Handing a conversation over: the tool, the agents it may name, and what is told about them."""

from collections.abc import Sequence
from typing import Any

from google.genai import types
from pydantic import JsonValue

from agents.runtime.agent import TRANSFER, Agent
from agents.runtime.approval import ApprovalPolicy
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.build import NO_BUILD, Build
from agents.runtime.context import ToolContext
from agents.runtime.tools import PATIENCE, Effects


def targets(agent: Agent, root: Agent) -> Sequence[Agent]:
    """Whom an agent may hand over to: children, then parent and peers unless it is forbidden."""
    parent = next((a for a in root.family() if agent in a.sub_agents), None)
    found = list(agent.sub_agents)
    if parent is not None and not agent.disallow_transfer_to_parent:
        found.append(parent)
    if parent is not None and not agent.disallow_transfer_to_peers:
        found += [peer for peer in parent.sub_agents if peer is not agent]
    return found


def told(others: Sequence[Agent]) -> str:
    """What an agent is told about the others."""
    names = "\n".join(f"- {agent.name}: {agent.description}" for agent in others)
    return (
        f"\n\nOther agents you can hand the conversation to:\n{names}\n\n"
        f"If one of them is better suited to answer, call `{TRANSFER}` with its name and say "
        "nothing else; otherwise answer yourself."
    )


class TransferTool:
    """The tool that hands the conversation to another agent."""

    name: str = TRANSFER
    contract: str = TRANSFER
    effects: Effects = "none"
    approval: ApprovalPolicy | None = None
    reconcile: Any = None
    is_long_running: bool = False
    wake_on_progress: bool = False
    secrets: tuple[str, ...] = ()
    build: Build = NO_BUILD
    patience: float = PATIENCE
    nested: object | None = None
    skip_summarization: bool = False

    def __init__(self, others: Sequence[Agent]) -> None:
        """Offer `others`."""
        self.names = [agent.name for agent in others]
        self.declaration = types.FunctionDeclaration(
            name=TRANSFER,
            description="Hand the conversation to another agent that is better suited to answer.",
            parameters_json_schema={
                "properties": {
                    "agent_name": {"title": "Agent Name", "type": "string", "enum": self.names}
                },
                "required": ["agent_name"],
                "title": f"{TRANSFER}Params",
                "type": "object",
            },
        )
        self.promise: dict[str, JsonValue] = {}

    def bind(self, args: dict[str, Any]) -> Bound | Unfit:
        """Check that the agent is one of those offered."""
        name = args.get("agent_name")
        if name not in self.names:
            there = ", ".join(self.names)
            return Unfit({"error": f"There is no agent {name!r} to hand over to; use: {there}."})
        values = {"agent_name": name}
        return Bound(
            values=values,
            args=(),
            kwargs=values,
            as_json={"agent_name": name},
            defaults=frozenset(),
        )

    async def needs_confirmation(self, bound: Bound, tool_context: ToolContext) -> bool:  # noqa: ARG002 - as Tool has it
        """Never: an agent hands over without asking people."""
        return False

    async def precondition(
        self,
        bound: Bound,  # noqa: ARG002 - as Tool has it
        tool_context: ToolContext,  # noqa: ARG002 - as Tool has it
    ) -> dict[str, JsonValue]:
        """Nothing: the call depends on its arguments alone."""
        return {}

    async def run_async(self, *, args: Bound, tool_context: ToolContext) -> Any:
        """Note whom the conversation goes to."""
        tool_context.actions.transfer_to_agent = args.values["agent_name"]
