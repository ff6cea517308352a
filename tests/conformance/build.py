"""A case's description -> our agents, tools, hooks and scripted model."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import re
import types as python_types
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typing_extensions
from google.genai import types
from pydantic import BaseModel, Field

from agents import Agent, AgentTool, FunctionTool, LlmResponse, LongRunningFunctionTool, ToolContext
from agents.runtime.hooks import Plugin

PEER_IMPORT = re.compile(r"^from google\.adk\.\S+ import \w+$", re.MULTILINE)
HOOKS = tuple(field for field in Agent.__dataclass_fields__ if field.endswith("_callback"))
FIELDS = (
    "name",
    "instruction",
    "description",
    "output_key",
    "include_contents",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
)


class BasePlugin(Plugin):
    """What a case's plugin inherits from."""

    def __init__(self, name: str = "") -> None:
        """Keep the name."""
        self.name = name


def namespace(case: dict[str, Any], log: Callable[..., None]) -> dict[str, Any]:
    """The names a case's source defines, with the prelude its README promises."""
    module = python_types.ModuleType("case")
    names = module.__dict__
    names.update({k: getattr(typing, k) for k in typing.__all__})
    names.update(
        asyncio=asyncio,
        dataclasses=dataclasses,
        dataclass=dataclasses.dataclass,
        datetime=datetime,
        decimal=decimal,
        Decimal=decimal.Decimal,
        enum=enum,
        Enum=enum.Enum,
        IntEnum=enum.IntEnum,
        functools=functools,
        Annotated=Annotated,
        TypedDict=typing_extensions.TypedDict,
        NotRequired=typing_extensions.NotRequired,
        BaseModel=BaseModel,
        Field=Field,
        ToolContext=ToolContext,
        types=types,
        log=log,
        BasePlugin=BasePlugin,
        LlmResponse=LlmResponse,
    )
    source = PEER_IMPORT.sub("", case.get("python", ""))
    exec(compile(source, case["id"], "exec"), names)
    return names


def agent(told: dict[str, Any], names: dict[str, Any]) -> Agent:
    """An agent and everybody below it."""
    fields: dict[str, Any] = {key: told[key] for key in FIELDS if key in told}
    named = (*HOOKS, "input_schema", "output_schema")
    fields |= {key: _named(told[key], names) for key in named if told.get(key)}
    return Agent(
        **fields,
        tools=[tool(t, names) for t in told.get("tools", ())],
        sub_agents=[agent(a, names) for a in told.get("sub_agents", ())],
    )


def _named(told: str | list[str], names: dict[str, Any]) -> Any:
    """What a case names: one thing or a list of them."""
    return names[told] if isinstance(told, str) else [names[name] for name in told]


def tool(told: dict[str, Any], names: dict[str, Any]) -> Any:
    """A tool of any kind."""
    if told["kind"] == "agent":
        return AgentTool(
            agent(told["agent"], names), skip_summarization=told.get("skip_summarization", False)
        )
    gate = told.get("require_confirmation", False)
    func = eval(told["func"], names)
    kind = LongRunningFunctionTool if told["kind"] == "long_running" else FunctionTool
    return kind(func, require_confirmation=names[gate] if isinstance(gate, str) else gate)


def reply(told: dict[str, Any]) -> LlmResponse | Exception:
    """A scripted reply."""
    if "raise" in told:
        return RuntimeError(str(told["raise"]))
    if told.get("empty"):
        return LlmResponse(finish_reason="STOP")
    parts = [types.Part.model_validate(part) for part in told["parts"]]
    return LlmResponse(content=types.Content(role="model", parts=parts), finish_reason="STOP")
