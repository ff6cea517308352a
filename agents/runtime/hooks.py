"""Hooks: functions of an agent, or of a plugin for all agents, that may answer a step themselves.

The plugins come first, then the agent's own; the first answer that is not None counts. A hook runs
once for a step: when a run is taken up again from its events, what it said is stored already.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agents.runtime.agent import TOLD, Agent, Hook
from agents.runtime.errors import UsageError
from agents.runtime.events import Event
from agents.runtime.foreign import contained, fits
from agents.runtime.model import LlmResponse
from agents.runtime.tools import FunctionTool


class Plugin:
    """Hooks for every agent of a Runner: override what is needed, each may be async.

    All take keywords. What a hook returns, unless it is None, takes the place of the step.
    """

    name: str = "plugin"

    def before_tool_callback(self, **_told: Any) -> Any:
        """Given `tool`, `tool_args` (may be changed in place), `tool_context`."""

    def after_tool_callback(self, **_told: Any) -> Any:
        """Given `tool`, `tool_args`, `tool_context`, `result`."""

    def on_tool_error_callback(self, **_told: Any) -> Any:
        """Given `tool`, `tool_args`, `tool_context`, `error`."""

    def before_model_callback(self, **_told: Any) -> Any:
        """Given `callback_context`, `llm_request`; returns an LlmResponse."""

    def after_model_callback(self, **_told: Any) -> Any:
        """Given `callback_context`, `llm_response`; returns an LlmResponse."""

    def on_model_error_callback(self, **_told: Any) -> Any:
        """Given `callback_context`, `llm_request`, `error`; returns an LlmResponse."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks around the steps of one agent."""

    plugins: Sequence[Plugin]
    agent: Agent

    async def tool(self, kind: str, told: Mapping[str, Any]) -> Any:
        """Ask the tool hooks of a kind; `told` has `tool`, `args`, `tool_context` and one more."""
        if not self.there(kind):
            return None
        renamed = {PLUGIN_WORDS.get(key, key): value for key, value in told.items()}
        return await self._first(kind, own=told, plugins=renamed)

    async def model(self, kind: str, told: Mapping[str, Any]) -> LlmResponse | None:
        """Ask the model hooks of a kind."""
        return cast("LlmResponse | None", await self._first(kind, own=told, plugins=told))

    def there(self, kind: str) -> bool:
        """Whether there is any hook of a kind."""
        return bool(self.plugins or getattr(self.agent, kind))

    @property
    def of_model(self) -> bool:
        """Whether any hook is shown what a model is asked."""
        return self.there("before_model_callback") or self.there("on_model_error_callback")

    async def _first(self, kind: str, *, own: Mapping[str, Any], plugins: Mapping[str, Any]) -> Any:
        for plugin in self.plugins:
            answer = await _called(getattr(plugin, kind), plugins)
            if answer is not None:
                return answer
        hooks: Hook | Sequence[Hook] | None = getattr(self.agent, kind)
        for hook in (hooks,) if callable(hooks) else hooks or ():
            answer = await _called(hook, own)
            if answer is not None:
                return answer
        return None


def asks_first(agent: Agent, new: Sequence[Event], *, plugins: Sequence[Plugin]) -> bool:
    """Whether all that follows from what a model said is to ask people about each of its calls.

    No function of anybody runs before they are asked.
    """
    tools = [agent.tool(call.name or "") for event in new for call in event.get_function_calls()]
    if plugins or agent.before_tool_callback or not tools:
        return False
    return all(isinstance(tool, FunctionTool) and tool.asks_first for tool in tools)


def checked(plugins: Sequence[Plugin]) -> tuple[Plugin, ...]:
    """The plugins, once it is sure that each of their hooks can be called; raises UsageError."""
    for plugin in plugins:
        kind = plugin if isinstance(plugin, type) else type(plugin)
        for name, told in TOLD.items():
            words = dict.fromkeys(PLUGIN_WORDS.get(word, word) for word in told)
            if not fits(getattr(plugin, name, None), **words):
                wanted = f"its {name} must take {', '.join(words)}"
                raise UsageError(f"{kind.__name__} is not a plugin: {wanted}")
    return tuple(plugins)


PLUGIN_WORDS = {"args": "tool_args", "tool_response": "result"}


async def _called(hook: Callable[..., Any], told: Mapping[str, Any]) -> Any:
    with contained():
        answer = hook(**told)
        return await answer if inspect.isawaitable(answer) else answer
