"""AgentTool: an agent another agent calls like a function; its events are kept on a branch.

The runner does not run it: it enters the nested agent (its first words are the arguments), steps
through it like through any agent, and leaves it when nothing is left to do there.
"""

import json
from typing import Any, cast

from google.genai import types
from pydantic import JsonValue, ValidationError

from agents.runtime.agent import Agent
from agents.runtime.approval import ApprovalPolicy
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.build import NO_BUILD, Build
from agents.runtime.context import ToolContext
from agents.runtime.errors import UsageError
from agents.runtime.events import Event, EventActions
from agents.runtime.jsonable import to_json
from agents.runtime.outcome import Outcome, Report
from agents.runtime.output import MISFIT, fitted, misfit
from agents.runtime.story import USER, Call, Story
from agents.runtime.tools import PATIENCE, Effects

REQUEST_SCHEMA = {
    "type": "object",
    "properties": {"request": {"type": "string"}},
    "required": ["request"],
}


class AgentTool:
    """One agent as another's tool; with `skip_summarization` its answer is the final answer."""

    is_long_running: bool = False
    wake_on_progress: bool = False
    approval: ApprovalPolicy | None = None
    reconcile: Any = None
    effects: Effects = "none"
    secrets: tuple[str, ...] = ()
    build: Build = NO_BUILD
    patience: float = PATIENCE

    def __init__(self, agent: Agent, *, skip_summarization: bool = False) -> None:
        """Offer `agent` under its name and description; raises UsageError when it is none."""
        if not isinstance(cast("object", agent), Agent):
            raise UsageError(f"AgentTool needs an Agent, not one of type {type(agent).__name__}")
        self.agent = agent
        self.nested: object | None = agent
        self.skip_summarization = skip_summarization
        self.name = agent.name
        schema = agent.input_schema
        self.declaration = types.FunctionDeclaration(
            name=agent.name,
            description=agent.description or None,
            parameters_json_schema=schema.model_json_schema() if schema else REQUEST_SCHEMA,
        )
        self.contract = f"agent:{agent.name}"
        self.promise: dict[str, JsonValue] = {}

    def bind(self, args: dict[str, Any]) -> Bound | Unfit:
        """Check the arguments against the nested agent's input schema."""
        try:
            plain = self._plain(args)
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            return Unfit({"error": f"{self.name} cannot take these arguments: {told}"})
        return Bound(
            values=dict(plain),
            args=(),
            kwargs=dict(plain),
            as_json=plain,
            defaults=frozenset(),
        )

    def _plain(self, args: dict[str, Any]) -> dict[str, JsonValue]:
        """The arguments as JSON; without an input schema whatever there is, the request first."""
        schema = self.agent.input_schema
        if schema is None:
            told = {"request": args["request"]} if args.get("request") else args
            return cast("dict[str, JsonValue]", to_json(told))
        given = schema.model_validate(args)
        return cast("dict[str, JsonValue]", given.model_dump(mode="json", exclude_none=True))

    async def needs_confirmation(self, bound: Bound, tool_context: ToolContext) -> bool:  # noqa: ARG002 - as Tool has it
        """Never: any agent may be asked, and its own tools ask people themselves."""
        return False

    async def precondition(
        self,
        bound: Bound,  # noqa: ARG002 - as Tool has it
        tool_context: ToolContext,  # noqa: ARG002 - as Tool has it
    ) -> dict[str, JsonValue]:
        """Nothing: the call depends on its arguments alone."""
        return {}

    async def run_async(self, *, args: Bound, tool_context: ToolContext) -> Any:  # noqa: ARG002 - as Tool has it
        """Raise UsageError: the runner steps through a nested agent instead."""
        raise UsageError(f"{self.name} is an agent: a Runner steps through it")


def entered(call: Call, bound: Bound, *, user: str) -> Outcome:
    """The first words a nested agent hears: the request, or the arguments as JSON."""
    only = bound.as_json.get("request") if set(bound.as_json) == {"request"} else None
    text = only if isinstance(only, str) else _compact(bound.as_json)
    content = types.Content(role="user", parts=[types.Part(text=text)])
    event = Event(
        invocation_id=call.invocation,
        author=USER,
        user_id=user,
        branch=call.inner,
        content=content,
    )
    return Outcome(call=call, entering=event)


def _compact(args: dict[str, JsonValue]) -> str:
    return json.dumps(args, ensure_ascii=False, separators=(",", ":"))


def left(story: Story, call: Call, nested: Agent, *, skip: bool) -> Outcome:
    """What came of a nested agent: its last words, and the state it changed."""
    events = story.branch(call.inner).events
    response = _response(events, nested)
    deltas = [event.actions.state_delta.items() for event in events]
    delta = {k: v for items in deltas for k, v in items if not k.startswith("temp:")}
    actions = EventActions(state_delta=delta, skip_summarization=skip or None)
    text = response.get("result")
    parts = [types.Part(text=text)] if skip and isinstance(text, str) and text else []
    return Outcome(call=call, report=Report(response=response, parts=parts, actions=actions))


def _response(events: list[Event], nested: Agent) -> dict[str, JsonValue]:
    spoken = [event for event in events if event.author != USER and not event.questions]
    last = next((event for event in reversed(spoken) if any(event.texts())), None)
    if spoken and spoken[-1].error_code not in (None, MISFIT):
        kind = "error" if spoken[-1].content is None else "result"
        return {kind: spoken[-1].error_message or spoken[-1].error_code}
    text = "\n".join(last.texts()) if last else ""
    if nested.output_schema is None:
        return {"result": text}
    try:
        return fitted(nested.output_schema, text)
    except ValidationError as error:
        return {"error": misfit(nested.name, error)}
