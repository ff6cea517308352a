"""What an agent is told: its instruction with the session's state filled in, and who it is."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.genai import types

from agents.runtime.agent import Agent

TRANSFER = "transfer_to_agent"

FIELD = re.compile(r"\{\{|\}\}|\{((?:[a-z]+:)?[A-Za-z_]\w*)(\?)?\}")


def instruction(agent: Agent, state: Mapping[str, Any]) -> str:
    """The system instruction; a name that is not in the state stays as it is written."""
    told = agent.instruction
    text = fill(told, state) if isinstance(told, str) else told(state)
    name = f'You are an agent. Your internal name is "{agent.name}".'
    if agent.description:
        name += f' The description about you is "{agent.description}".'
    return f"{text}\n\n{name}" if text else name


def fill(template: str, state: Mapping[str, Any]) -> str:
    """`{name}` becomes the value in the state, `{name?}` empty when missing, `{{` a brace."""

    def value(match: re.Match[str]) -> str:
        text, name, optional = match.group(0), match.group(1), match.group(2)
        if name is None:
            return text[0]
        if state.get(name) is None:
            return "" if optional else text
        return str(state[name])

    return FIELD.sub(value, template)


def transfer_targets(agent: Agent, root: Agent) -> Sequence[Agent]:
    """Whom an agent may hand the conversation to: children, then parent and peers."""
    parent = next((a for a in root.family() if agent in a.sub_agents), None)
    targets = list(agent.sub_agents)
    if parent is not None and not agent.disallow_transfer_to_parent:
        targets.append(parent)
    if parent is not None and not agent.disallow_transfer_to_peers:
        targets += [peer for peer in parent.sub_agents if peer is not agent]
    return targets


def transfer_instruction(targets: Sequence[Agent]) -> str:
    """What an agent is told about the others it may hand over to."""
    names = "\n".join(f"- {a.name}: {a.description}" for a in targets)
    return (
        f"\n\nOther agents you can hand the conversation to:\n{names}\n\n"
        f"If one of them is better suited to answer, call `{TRANSFER}` with its name and say "
        "nothing else; otherwise answer yourself."
    )


def transfer_declaration(targets: Sequence[Agent]) -> types.FunctionDeclaration:
    """The tool that hands the conversation over."""
    names = [agent.name for agent in targets]
    return types.FunctionDeclaration(
        name=TRANSFER,
        description="Hand the conversation to another agent that is better suited to answer.",
        parameters_json_schema={
            "properties": {
                "agent_name": {
                    "description": "The agent to hand over to.",
                    "enum": names,
                    "title": "Agent Name",
                    "type": "string",
                }
            },
            "required": ["agent_name"],
            "title": f"{TRANSFER}Params",
            "type": "object",
        },
    )
