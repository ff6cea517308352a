"""One call: checked, asked about, refused or run; the only place that enters a tool's body."""

import asyncio
import copy
import inspect
import logging
from typing import Any, cast

from google.genai import types
from pydantic import JsonValue

from agents.runtime.agent_tool import entered, left
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.confirmation import Question, ToolConfirmation, rejection, verdict
from agents.runtime.context import ConfirmationRequest, State, ToolContext
from agents.runtime.digest import digest
from agents.runtime.events import EventActions
from agents.runtime.held import Held
from agents.runtime.hooks import Hooks
from agents.runtime.jsonable import to_json
from agents.runtime.outcome import Ask, Outcome, Report
from agents.runtime.payload import schema_of
from agents.runtime.results import Yielded, failure, result_of, unknown_tool
from agents.runtime.slot.port import Start, Started
from agents.runtime.steps import RunTools
from agents.runtime.story import Call
from agents.runtime.tools import Tool
from agents.runtime.transfer import TRANSFER, TransferTool, targets

log = logging.getLogger(__name__)

Response = dict[str, JsonValue]


async def outcomes(held: Held, step: RunTools, hooks: Hooks) -> list[Outcome]:
    """What comes of the calls of a batch, in their order; bodies run at the same time."""
    live = held.view(step.calls[0].invocation, step.calls[0].branch)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(Calling(held, step, call, live=live, hooks=hooks).outcome())
            for call in step.calls
        ]
    found = [task.result() for task in tasks]
    return [outcome for outcome in found if outcome is not None]


class Calling:
    """One call of one session in hand, on its way to an outcome."""

    def __init__(
        self, held: Held, step: RunTools, call: Call, *, live: dict[str, Any], hooks: Hooks
    ) -> None:
        """Work on `call`; the calls of a batch share the `live` state."""
        self.held = held
        self.agent = agent = step.agent
        self.call = call
        self.hooks = hooks
        self.tool = self._tool(step)
        self.context = ToolContext(
            function_call_id=call.id,
            invocation_id=call.invocation,
            agent_name=agent.name,
            app_name=held.key.app,
            user_id=held.user(call.invocation),
            session_id=held.key.id,
            idempotency_key=f"{held.key}:{call.id}",
            state=State(live),
            tool_confirmation=call.answer,
        )

    def _tool(self, step: RunTools) -> Tool | None:
        others = targets(step.agent, step.root) if self.call.name == TRANSFER else ()
        return TransferTool(others) if others else step.agent.tool(self.call.name)

    async def outcome(self) -> Outcome | None:
        """What comes of the call; None when it is answered already."""
        call, tool = self.call, self.tool
        if tool is None:
            gone = self._gone()
            return self._answered(await self._mended(KeyError(call.name), dict(call.args)) or gone)
        nested = self.agent.nested(call.name)
        if nested is not None and call.status == "entered":
            skip = bool(getattr(tool, "skip_summarization", False))
            return left(self.held.story, call, nested, skip=skip)
        args = copy.deepcopy(dict(call.question.args if call.question else call.args))
        early = await self._before(tool, args)
        if early is not None:
            return early
        bound = tool.bind(args)
        if isinstance(bound, Unfit):
            return self._answered(self._changed() if call.question else bound.response)
        return await self._judged(tool, bound)

    async def _before(self, tool: Tool, args: dict[str, Any]) -> Outcome | None:
        """Ask the hooks, once per call: they may answer for the tool, change `args`, or ask."""
        call = self.call
        if call.question is not None:
            return None
        told = {"tool": tool, "args": args, "tool_context": self.context}
        answer = await self.hooks.tool("before_tool_callback", told)
        if self.context.request is not None:
            bound = tool.bind(args)
            if isinstance(bound, Unfit):
                return self._answered(bound.response)
            return self._asked_by_body(tool, bound, self.context.request, answer)
        if answer is None:
            return None
        report = _report(await self._after(tool, args, answer), self.context, lasting=False)
        return Outcome(call=call, report=report)

    async def _after(self, tool: Tool, args: dict[str, Any], value: Any) -> Any:
        """What the hooks make of a result."""
        told = {
            "tool": tool,
            "args": args,
            "tool_context": self.context,
            "tool_response": value,
        }
        answer = await self.hooks.tool("after_tool_callback", told)
        return value if answer is None else answer

    async def _mended(self, error: Exception, args: dict[str, Any]) -> Response | None:
        """What a hook answers in place of a failure."""
        told = {
            "tool": self.tool,
            "args": args,
            "tool_context": self.context,
            "error": error,
        }
        answer = await self.hooks.tool("on_tool_error_callback", told)
        return None if answer is None else result_of(answer).response

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
            return entered(call, bound, user=self.held.user(call.invocation))
        if tool.effects == "none" and call.request is None:
            return await self._run(tool, bound)
        may_ask = call.question is None and _takes_context(tool)
        start = Start(
            fence=self.held.fence,
            cid=call.id,
            step=f"{call.id}:ask" if may_ask else call.id,
            request=call.request,
            digest=call.question.digest if call.question else "",
        )
        started = await self.held.slot.start_call(self.held.key, start)
        return await self._permitted(tool, bound, started)

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
        context.request = None
        try:
            value = await tool.run_async(args=bound, tool_context=context)
        except Exception as error:  # noqa: BLE001 - a body may fail in any way, the model hears it
            log.warning("tool.failed", extra={"tool": tool.name, "error": type(error).__name__})
            mended = await self._mended(error, bound.values)
            return self._answered(mended or failure(error, tool=tool.name))
        if context.request is not None:
            return self._asked_by_body(tool, bound, context.request, value)
        value = await self._after(tool, bound.values, value)
        report = _report(value, context, lasting=tool.is_long_running)
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
        form = request.payload
        schema, initial = schema_of(form) if form is not None else (None, None)
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
        shown = ToolConfirmation(
            hint=request.hint, payload=form if isinstance(form, dict) else initial
        )
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


def _waits(name: str) -> Response:
    return {"error": f"{name} waits for a person's approval; it has not run."}


def _takes_context(tool: Tool) -> bool:
    """Whether the body can ask a person: only one that is handed a context can."""
    signature = getattr(tool, "signature", None)
    return signature is not None and signature.context is not None


def _actions(context: ToolContext) -> EventActions:
    delta = cast(Response, to_json(context.state.delta()))
    return context.actions.model_copy(
        update={"state_delta": {**context.actions.state_delta, **delta}}
    )


def _report(value: Any, context: ToolContext, *, lasting: bool) -> Report:
    """A body's result; `lasting` when None means that nothing is there yet."""
    progress: list[Response] = []
    if isinstance(value, Yielded):
        progress = [result_of(item).response for item in value.intermediate]
        value = value.result
    if value is None and lasting:
        return Report(progress=progress, actions=_actions(context))
    result = result_of(value)
    parts: list[types.Part] = list(result.media)
    return Report(
        response=result.response, progress=progress, parts=parts, actions=_actions(context)
    )
