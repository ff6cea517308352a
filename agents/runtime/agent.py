"""Agent: a name, a model, an instruction and tools; it does nothing by itself."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import BaseModel

from agents.runtime.context import ReadonlyContext
from agents.runtime.errors import UsageError
from agents.runtime.model import Model
from agents.runtime.tools import Tool, as_tool

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

SAID_HERE = {
    "tools": "tools",
    "system_instruction": "instruction",
    "response_schema": "output_schema",
    "response_json_schema": "output_schema",
}
"""Fields of a generate_content_config that an agent has itself."""

TRANSFER = "transfer_to_agent"
"""The tool with which agents hand over to each other."""

Hook = Callable[..., Any]
Instruction = str | Callable[[ReadonlyContext], str | Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who answers: what it is told, which model speaks for it, and what it may do.

    `model` is a name, resolved when a Runner is built (empty: the parent's, else the Runner's
    default), or a Model. Plain functions in `tools` become FunctionTools. `instruction` may hold
    `{name}` for a value of the session's state (`{name?}`: empty when missing, `{{` a brace),
    or be a function, sync or async, that is given an object with `.state` and returns it.
    `output_key` stores the final text under that state key. With an `output_schema` that text is
    JSON: what it says is stored, and an answer that does not fit is an error. `examples` are
    sentences a person may say to it. The callbacks are hooks, one or several. Raises UsageError for
    a bad name, two tools of one name, and a `generate_content_config` that says what the agent has
    fields for.
    """

    name: str
    model: str | Model = ""
    instruction: Instruction = ""
    description: str = ""
    tools: Sequence[Tool | Callable[..., Any]] = ()
    sub_agents: Sequence["Agent"] = ()
    output_key: str | None = None
    input_schema: type[BaseModel] | None = None
    output_schema: type[BaseModel] | None = None
    include_contents: str = "default"
    generate_content_config: types.GenerateContentConfig | None = None
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False
    before_model_callback: Hook | Sequence[Hook] | None = None
    after_model_callback: Hook | Sequence[Hook] | None = None
    on_model_error_callback: Hook | Sequence[Hook] | None = None
    before_tool_callback: Hook | Sequence[Hook] | None = None
    after_tool_callback: Hook | Sequence[Hook] | None = None
    on_tool_error_callback: Hook | Sequence[Hook] | None = None
    examples: Sequence[str] = ()
    _tools: dict[str, Tool] = field(init=False, repr=False, compare=False)
    _agents: dict[str, "Agent"] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check names and wrap plain functions."""
        if not NAME.match(self.name) or self.name == "user":
            raise UsageError(f"an agent's name must be an identifier and not 'user': {self.name!r}")
        self._check()
        if callable(self.tools):
            raise UsageError(f"agent {self.name}: tools must be a list")
        tools: dict[str, Tool] = {}
        for tool in map(as_tool, self.tools):
            if tool.name in tools:
                raise UsageError(f"agent {self.name} has two tools named {tool.name}")
            tools[tool.name] = tool
        object.__setattr__(self, "_tools", tools)
        object.__setattr__(self, "tools", tuple(tools.values()))
        object.__setattr__(self, "_agents", self._family())

    def _check(self) -> None:
        """Refuse what would be said twice, and schemas that are none."""
        config = self.generate_content_config
        for name, instead in SAID_HERE.items():
            if config is not None and getattr(config, name):
                raise UsageError(
                    f"agent {self.name}: generate_content_config.{name} is not looked at, "
                    f"use {instead}"
                )
        for name in ("input_schema", "output_schema"):
            schema: object = getattr(self, name)
            if schema is not None and not (
                isinstance(schema, type) and issubclass(schema, BaseModel)
            ):
                raise UsageError(f"agent {self.name}: {name} must be a pydantic model's class")

    def _family(self) -> dict[str, "Agent"]:
        family: dict[str, Agent] = {self.name: self}
        for child in self.sub_agents:
            for agent in child.family():
                if agent.name in family:
                    raise UsageError(f"two agents below {self.name} are named {agent.name}")
                family[agent.name] = agent
        if self.sub_agents and any(agent.tool(TRANSFER) for agent in family.values()):
            raise UsageError(
                f"{TRANSFER} is how agents hand over: name the tool below {self.name} otherwise"
            )
        return family

    def tool(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._tools.get(name)

    def tool_names(self) -> list[str]:
        """The names of the tools, as declared."""
        return list(self._tools)

    def find_agent(self, name: str) -> "Agent | None":
        """The agent of that name among this one and everybody below it."""
        return self._agents.get(name)

    def family(self) -> Sequence["Agent"]:
        """This agent and everybody below it."""
        return tuple(self._agents.values())

    def nested(self, tool_name: str) -> "Agent | None":
        """The agent behind an AgentTool of that name."""
        tool = self.tool(tool_name)
        return tool.nested if tool is not None and isinstance(tool.nested, Agent) else None
