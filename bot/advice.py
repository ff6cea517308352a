"""What makes a tool hard to use for a model: no words about it, too many parameters; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from agents import Agent

MOST_PARAMETERS = 5
VAGUE = frozenset(
    re.findall(
        r"\w+",
        """action call check data do execute function get handle helper info item main manage misc
    object perform process query request run submit task test thing tool update use util value
    work""",
    )
)
"""Words that do not say what a tool is for when its name has no others."""


def advice(agents: Sequence[Agent]) -> Iterator[str]:
    """What to improve about the agents' tools, in sentences that begin with the tool."""
    for member in (member for agent in agents for member in agent.family()):
        for tool in filter(None, map(member.tool, member.tool_names())):
            told = None if member.nested(tool.name) else tool.declaration.parameters_json_schema
            schema = cast("Mapping[str, Any]", told or {})
            described = tool.declaration.description or ""
            for sentence in tool_advice(tool.name, described, schema):
                yield f"{member.name}.{tool.name}: {sentence}"


def tool_advice(name: str, description: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """What to improve about one tool: its name, its description, its parameters' JSON schema."""
    parameters = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    if not description.strip():
        yield "it has no docstring, which is all that tells a model when to call it."
    if set(name.lower().split("_")) <= VAGUE:
        yield "its name does not say what it is for; name it after what it does, and to what."
    if len(parameters) > MOST_PARAMETERS:
        yield f"it has {len(parameters)} parameters; models handle {MOST_PARAMETERS} or fewer well."
    if silent := [each for each, told in parameters.items() if not _told(told)]:
        yield f"its docstring does not mention {', '.join(silent)}; tell it under `Args:`."


def _told(parameter: Mapping[str, Any]) -> bool:
    """Whether a parameter is described, or takes one of a few words."""
    return bool(str(parameter.get("description") or "").strip())
