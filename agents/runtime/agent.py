"""Agent: a name, a model, an instruction and tools; it does nothing by itself."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, cast

from google.genai import types
from pydantic import BaseModel

from agents.runtime.context import ReadonlyContext
from agents.runtime.errors import UsageError
from agents.runtime.foreign import fits
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

TOLD = {
    "before_model_callback": ("callback_context", "llm_request"),
    "after_model_callback": ("callback_context", "llm_response"),
    "on_model_error_callback": ("callback_context", "llm_request", "error"),
    "before_tool_callback": ("tool", "args", "tool_context"),
    "after_tool_callback": ("tool", "args", "tool_context", "tool_response"),
    "on_tool_error_callback": ("tool", "args", "tool_context", "error"),
}
"""What each hook is given, by these names."""

LIST = (list, tuple)
KINDS: Mapping[str, tuple[type | UnionType | tuple[type, ...], str]] = {
    "model": (str | Model, "a name or a Model"),
    "instruction": (str | Callable, "a text or a function"),
    "description": (str, "a text"),
    "tools": (LIST, "a list"),
    "sub_agents": (LIST, "a list of Agents"),
    "output_key": (str | None, "a text"),
    "generate_content_config": (types.GenerateContentConfig | None, "a GenerateContentConfig"),
    "examples": (LIST, "a list of sentences"),
}
"""What a field takes, and what errors call it."""

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
    sentences a person may say to it. The callbacks are hooks, one or several, given what TOLD says.
    Raises UsageError for a bad name, two tools of one name, a field or a tool that is none, a hook
    that cannot be called, and a `generate_content_config` that says what the agent has fields for.
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
        name = cast("object", self.name)
        if not isinstance(name, str) or not NAME.match(name) or name == "user":
            raise UsageError(f"an agent's name must be an identifier and not 'user': {self.name!r}")
        self._check()
        tools: dict[str, Tool] = {}
        for at, given in enumerate(self.tools):
            tool = self._as_tool(given, at)
            if tool.name in tools:
                raise UsageError(f"agent {self.name} has two tools named {tool.name}")
            tools[tool.name] = tool
        object.__setattr__(self, "_tools", tools)
        object.__setattr__(self, "tools", tuple(tools.values()))
        object.__setattr__(self, "_agents", self._family())

    def _check(self) -> None:
        """Refuse what cannot be what its field is for."""
        for name, (wanted, kind) in KINDS.items():
            value: object = getattr(self, name)
            if not isinstance(value, wanted):
                raise UsageError(f"agent {self.name}: {name} must be {kind}")
        for name, item in (("sub_agents", Agent), ("examples", str)):
            items: Sequence[object] = getattr(self, name)
            if not all(isinstance(each, item) for each in items):
                raise UsageError(f"agent {self.name}: {name} must be {KINDS[name][1]}")
        if self.include_contents not in ("default", "none"):
            raise UsageError(f"agent {self.name}: include_contents must be 'default' or 'none'")
        if callable(self.instruction) and not fits(self.instruction, None):
            raise UsageError(f"agent {self.name}: instruction must take one argument, a context")
        for name in ("input_schema", "output_schema"):
            schema: object = getattr(self, name)
            if schema is not None and not (
                isinstance(schema, type) and issubclass(schema, BaseModel)
            ):
                raise UsageError(f"agent {self.name}: {name} must be a pydantic model's class")
        self._check_hooks()
        self._check_config()

    def _check_hooks(self) -> None:
        for name, words in TOLD.items():
            hooks: object = getattr(self, name)
            listed = cast("Sequence[object]", hooks if isinstance(hooks, LIST) else (hooks,))
            if hooks is not None and not all(fits(hook, **dict.fromkeys(words)) for hook in listed):
                wanted = f"a function that takes {', '.join(words)}, or a list of such"
                raise UsageError(f"agent {self.name}: {name} must be {wanted}")

    def _check_config(self) -> None:
        """Refuse what would be said twice."""
        config = self.generate_content_config
        for name, instead in SAID_HERE.items():
            if config is not None and getattr(config, name):
                raise UsageError(
                    f"agent {self.name}: generate_content_config.{name} is not looked at, "
                    f"use {instead}"
                )

    def _as_tool(self, given: Tool | Callable[..., Any], at: int) -> Tool:
        """What stands at a place among the tools, as one; the error says which agent's it is."""
        try:
            return as_tool(given)
        except UsageError as error:
            if isinstance(given, Agent):
                why = f"{given.name} is an agent: give AgentTool({given.name}), or sub_agents="
            elif not callable(given):
                why = f"tools[{at}] is of type {type(given).__name__}: give a function or a tool"
            else:
                why = str(error)
            raise type(error)(f"agent {self.name}: {why}") from error

    def _family(self) -> dict[str, "Agent"]:
        family: dict[str, Agent] = {self.name: self}
        for child in self.sub_agents:
            for agent in child.family():
                if agent.name in family:
                    raise UsageError(f"two agents below {self.name} are named {agent.name}")
                family[agent.name] = agent
        if self.sub_agents and any(agent.tool(TRANSFER) for agent in family.values()):
            raise UsageError(
                f"{TRANSFER} is how agents hand over: rename the tool below {self.name}"
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
