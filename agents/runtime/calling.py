"""One call: checked, asked about, refused or run; the only place that enters a tool's body."""

import asyncio
import inspect
import logging
from collections.abc import Sequence
from typing import Any, cast

from google.genai import types
from pydantic import JsonValue

from agents.runtime.agent import Agent
from agents.runtime.agent_tool import entered, left
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.confirmation import Question, ToolConfirmation, rejection, verdict
from agents.runtime.context import ConfirmationRequest, State, ToolContext
from agents.runtime.digest import digest
from agents.runtime.events import EventActions
from agents.runtime.held import Held
from agents.runtime.instruction import TRANSFER, transfer_targets
from agents.runtime.jsonable import to_json
from agents.runtime.outcome import Ask, Outcome, Report
from agents.runtime.payload import schema_of
from agents.runtime.results import Yielded, failure, result_of, unknown_tool
from agents.runtime.slot.port import Start, Started
from agents.runtime.steps import RunTools
from agents.runtime.story import Call
from agents.runtime.tools import Tool

log = logging.getLogger(__name__)

Response = dict[str, JsonValue]


async def outcomes(held: Held, step: RunTools) -> list[Outcome]:
    """What comes of the calls of a batch, in their order; bodies run at the same time."""
    live = held.view(step.calls[0].invocation)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(Calling(held, step, call, live).outcome()) for call in step.calls
        ]
    found = [task.result() for task in tasks]
    return [outcome for outcome in found if outcome is not None]


class Calling:
    """One call of one session in hand, on its way to an outcome."""

    def __init__(self, held: Held, step: RunTools, call: Call, live: dict[str, Any]) -> None:
        """Work on `call`; the calls of a batch share the `live` state."""
        self.held = held
        self.agent = agent = step.agent
        self.call = call
        self.root = step.root
        self.context = ToolContext(
            function_call_id=call.id,
            invocation_id=call.invocation,
            agent_name=agent.name,
            app_name=held.key.app,
            user_id=held.user,
            session_id=held.key.id,
            idempotency_key=f"{held.key}:{call.id}",
            state=State(live),
            tool_confirmation=call.answer,
        )

    async def outcome(self) -> Outcome | None:
        """What comes of the call; None when it is answered already."""
        call = self.call
        targets = transfer_targets(self.agent, self.root) if call.name == TRANSFER else ()
        if targets:
            return self._transferred(targets)
        tool = self.agent.tool(call.name)
        if tool is None:
            return self._answered(self._gone())
        nested = self.agent.nested(call.name)
        if nested is not None and call.status == "entered":
            return left(
                self.held.story, call, nested, skip=bool(getattr(tool, "skip_summarization", False))
            )
        bound = tool.bind(dict(call.args))
        if isinstance(bound, Unfit):
            return self._answered(self._changed() if call.question else bound.response)
        return await self._judged(tool, bound)

    async def _judged(self, tool: Tool, bound: Bound) -> Outcome | None:
        call, asked = self.call, self.call.question
        if asked is not None and self._digest(tool, bound, asked.payload_schema) != asked.digest:
            return self._answered(self._changed())
        needed = asked is not None or await tool.needs_confirmation(bound, self.context)
        match verdict(needed=needed, answer=call.answer):
            case "ask":
                hint = f"May {tool.name} run with these arguments?"
                request = ConfirmationRequest(hint=hint)
                return self._asked(tool, bound, request, placeholder=_waits(tool.name))
            case "reject":
                return self._answered(rejection(call.answer or ToolConfirmation(), tool=tool.name))
            case "run":
                return await self._started(tool, bound)

    async def _started(self, tool: Tool, bound: Bound) -> Outcome | None:
        call = self.call
        if self.agent.nested(call.name) is not None:
            return entered(call, bound, user=self.held.user)
        may_ask = call.answer is None and call.question is None
        if tool.effects == "none" and call.request is None:
            return await self._run(tool, bound)
        start = Start(
            fence=self.held.fence,
            cid=call.id,
            step=f"{call.id}:ask" if may_ask and _takes_context(tool) else call.id,
            request=call.request,
            digest=call.question.digest if call.question else "",
        )
        return await self._permitted(
            tool, bound, await self.held.slot.start_call(self.held.key, start)
        )

    async def _permitted(self, tool: Tool, bound: Bound, started: Started) -> Outcome | None:
        match started.kind:
            case "go":
                return await self._run(tool, bound)
            case "again":
                return await self._again(tool, bound)
            case "done":
                return Outcome(call=self.call, report=Report.model_validate(started.result))
            case "closed":
                return None
            case "refused":
                return self._answered(self._refused(started.why))

    async def _again(self, tool: Tool, bound: Bound) -> Outcome:
        """A body that was started before and left no result: its class says what to do."""
        if tool.effects in ("none", "idempotent"):
            return await self._run(tool, bound)
        if tool.reconcile is not None:
            found = tool.reconcile(self.context.idempotency_key)
            found = await found if inspect.isawaitable(found) else found
            if found is None:
                return await self._run(tool, bound)
            return Outcome(call=self.call, report=Report(response=result_of(found).response))
        log.error("tool.unknown", extra={"tool": tool.name, "call": self.call.id})
        return self._answered(
            {
                "status": "unknown",
                "error": f"{tool.name} was started and interrupted; whether it took effect is not "
                "known. It will not run again by itself: a person has to look.",
            }
        )

    async def _run(self, tool: Tool, bound: Bound) -> Outcome:
        context = self.context
        try:
            value = await tool.run_async(args=bound, tool_context=context)
        except Exception as error:  # noqa: BLE001 - a body may fail in any way, the model hears it
            log.warning("tool.failed", extra={"tool": tool.name, "error": type(error).__name__})
            return self._answered(failure(error, tool=tool.name))
        if context.request is not None:
            return self._asked_by_body(tool, bound, context.request, value)
        report = _report(value, context, nothing_yet=tool.is_long_running)
        await self._keep(report)
        return Outcome(call=self.call, report=report)

    async def _keep(self, report: Report) -> None:
        """Keep a finished body's result while its siblings run."""
        if len(self.held.story.batch(self.call)) > 1:
            kept = cast(JsonValue, report.model_dump(mode="json", exclude_none=True))
            await self.held.commit(results={self.call.id: kept})

    def _asked_by_body(
        self, tool: Tool, bound: Bound, request: ConfirmationRequest, value: Any
    ) -> Outcome:
        placeholder = result_of(value).response if value is not None else _waits(tool.name)
        return self._asked(tool, bound, request, placeholder=placeholder, dynamic=True)

    def _asked(
        self,
        tool: Tool,
        bound: Bound,
        request: ConfirmationRequest,
        *,
        placeholder: Response,
        dynamic: bool = False,
    ) -> Outcome:
        schema, initial = (
            schema_of(request.payload) if request.payload is not None else (None, None)
        )
        question = Question(
            call_id=self.call.id,
            tool=tool.name,
            agent=self.agent.name,
            hint=request.hint,
            args=bound.as_json,
            payload_schema=schema,
            contract=tool.contract,
            digest=self._digest(tool, bound, schema),
            dynamic=dynamic,
        )
        offered = request.payload if isinstance(request.payload, dict) else initial
        shown = ToolConfirmation(hint=request.hint, payload=offered)
        actions = _actions(self.context) if dynamic else EventActions()
        return Outcome(
            call=self.call,
            report=Report(actions=actions),
            ask=Ask(question=question, shown=shown, placeholder=placeholder),
        )

    def _digest(self, tool: Tool, bound: Bound, schema: Response | None) -> str:
        return digest(
            tenant=self.held.key.tenant,
            agent=f"{self.call.branch or ''}/{self.agent.name}",
            tool=tool.name,
            contract=tool.contract,
            args=bound.as_json,
            payload_schema=schema,
        )

    def _answered(self, response: Response) -> Outcome:
        return Outcome(call=self.call, report=Report(response=response))

    def _gone(self) -> Response:
        if self.call.question is None:
            return unknown_tool(self.call.name, known=self.agent.tool_names())
        return {"error": f"{self.call.name} is no longer available, so it did not run."}

    def _changed(self) -> Response:
        name = self.call.name
        return {"error": f"{name} has changed since a person was asked about it; it did not run."}

    def _refused(self, why: str) -> Response:
        name = self.call.name
        sentence = {
            "late": f"The time in which {name} was allowed to run is over; it did not run.",
            "digest": f"{name} is not what a person agreed to; it did not run.",
        }.get(why, f"{name} may not run: its approval is {why}.")
        return {"error": sentence}

    def _transferred(self, targets: Sequence[Agent]) -> Outcome:
        name = self.call.args.get("agent_name")
        known = [agent.name for agent in targets]
        if name not in known:
            there = ", ".join(known)
            return self._answered({"error": f"There is no agent {name!r} here; there is: {there}."})
        actions = EventActions(transfer_to_agent=str(name))
        return Outcome(call=self.call, report=Report(response={"result": None}, actions=actions))


def _waits(name: str) -> Response:
    return {"error": f"{name} waits for a person's approval; it has not run."}


def _takes_context(tool: Tool) -> bool:
    """Whether the body can ask a person: only one that is handed a context can."""
    signature = getattr(tool, "signature", None)
    return signature is None or signature.context is not None


def _actions(context: ToolContext) -> EventActions:
    delta = cast(Response, to_json(context.state.delta()))
    return context.actions.model_copy(
        update={"state_delta": {**context.actions.state_delta, **delta}}
    )


def _report(value: Any, context: ToolContext, *, nothing_yet: bool) -> Report:
    progress: list[Response] = []
    if isinstance(value, Yielded):
        progress = [result_of(item).response for item in value.intermediate]
        value = value.result
    if value is None and nothing_yet:
        return Report(progress=progress, actions=_actions(context))
    result = result_of(value)
    parts: list[types.Part] = list(result.media)
    return Report(
        response=result.response, progress=progress, parts=parts, actions=_actions(context)
    )
