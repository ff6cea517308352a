"""One call: checked, asked about, refused or run; the only place that enters a tool's body."""

import asyncio
import copy
import functools
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic import JsonValue

from agents.runtime import gate
from agents.runtime.agent import TRANSFER
from agents.runtime.agent_tool import entered, left
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.confirmation import Question, ToolConfirmation, rejection, verdict
from agents.runtime.context import ConfirmationRequest, ToolContext
from agents.runtime.differences import differences
from agents.runtime.digest import bare
from agents.runtime.errors import SessionConflict, StoreUnavailable, TurnFailed, Unsettled
from agents.runtime.events import EventActions
from agents.runtime.foreign import contained, ours, watched
from agents.runtime.functions import called
from agents.runtime.held import Held, Leave
from agents.runtime.hooks import Hooks
from agents.runtime.outcome import Outcome, Report, answered, report_of
from agents.runtime.questions import Questions, filled_in, formless
from agents.runtime.results import failure, result_of, unknown_tool
from agents.runtime.slot.port import Start, Started
from agents.runtime.state import Live, State
from agents.runtime.steps import RunTools
from agents.runtime.story import Call
from agents.runtime.tools import Tool
from agents.runtime.transfer import TransferTool, targets

log = logging.getLogger(__name__)

NAME_LIMIT = 100
SETTLE = 20.0
"""Seconds until a body that left no trace is looked for once more before it runs again.

What a process was sending when it stopped may arrive after another one took over, and a body in a
thread goes on until its process is killed: 15 seconds after it gave its sessions back.
"""
ABSENT_AGAIN = 10.0
"""Seconds until a call whose tool is not here is looked at again; longer each time."""
SLOW = 60.0
"""Seconds after which the log names a tool whose body has not ended: it may never do so."""
AT_ONCE = 16
"""Calls of a batch that run at once, so that one batch leaves threads for the other sessions."""
Response = dict[str, JsonValue]

_FREE: Leave = ("", None)
_SAYS_NOTHING = (bool, BaseException, type(NotImplemented), type(...))
"""What tells nobody what came of a call, though it is there; nor does what is empty."""


async def outcomes(held: Held, step: RunTools, hooks: Hooks) -> list[Outcome]:
    """What comes of the calls of a batch, in their order; bodies run at the same time, AT_ONCE.

    The others are not started before one of these has ended.

    Raises SessionConflict and StoreUnavailable, once every body has ended, and Unsettled where
    nothing came of any call and one has to be looked for later.
    """
    live = Live(_state(held, step))
    callings = [Calling(held, step, call, live=live, hooks=hooks) for call in step.calls]
    if len(callings) == 1:
        outcome = await callings[0].outcome()
        return [outcome] if outcome else []
    places = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(
        *(_outcome(calling, places) for calling in callings), return_exceptions=True
    )
    settled = [_settled(outcome, live) for outcome in found if isinstance(outcome, Outcome)]
    for outcome in found:
        if isinstance(outcome, BaseException) and not (settled and isinstance(outcome, Unsettled)):
            raise outcome
    return settled


async def _outcome(calling: "Calling", places: asyncio.Semaphore) -> Outcome | None:
    async with places:
        return await calling.outcome()


def _state(held: Held, step: RunTools) -> dict[str, Any]:
    """The state a batch begins with, or goes on with where some of its bodies have ended."""
    state = held.view(step.calls[0].invocation, step.calls[0].branch)
    ended = [held.results[call.id] for call in step.calls if call.id in held.results]
    for result in ended:
        state |= Report.model_validate(result).actions.state_delta
    return state


def _settled(outcome: Outcome, live: Live) -> Outcome:
    """The outcome with the state as it is at the end of its batch."""
    report = outcome.report
    delta = report.actions.state_delta
    if not delta:
        return outcome
    actions = report.actions.told(live.settled(delta))
    return replace(outcome, report=report.model_copy(update={"actions": actions}))


class Calling:
    """One call of one session in hand, on its way to an outcome."""

    def __init__(self, held: Held, step: RunTools, call: Call, *, live: Live, hooks: Hooks) -> None:
        """Work on `call`; the calls of a batch share the `live` state."""
        self.held = held
        self.agent = agent = step.agent
        self.call = call
        self.hooks = hooks
        self.tool = self._tool(step)
        self.step = call.id if call.question else f"{call.id}:ask"
        self.interrupted = self.step in held.started
        self.ran = False
        self.agreed: Bound | None = None
        """The call as people agreed to it, while a body of another build may ask first."""
        asked = call.question
        self.args = copy.deepcopy(dict(asked.args if asked else call.args))
        self.context = ToolContext(
            function_call_id=call.id,
            invocation_id=call.invocation,
            agent_name=agent.name,
            app_name=held.key.app,
            user_id=held.user(call.invocation),
            session_id=held.key.id,
            idempotency_key=f"{held.name}:{call.id}",
            state=State(live),
            tool_confirmation=None if asked and asked.unasked else call.answer,
            precondition=copy.deepcopy(asked.precondition) if asked else {},
            kept=copy.deepcopy(asked.kept) if asked else {},
        )
        self.questions = Questions(held, call, args=self.args, context=self.context)
        self.questions.ended = self.interrupted

    def _tool(self, step: RunTools) -> Tool | None:
        others = targets(step.agent, step.root) if self.call.name == TRANSFER else ()
        return TransferTool(others) if others else step.agent.tool(self.call.name)

    async def outcome(self) -> Outcome | None:
        """What comes of the call; None when it is answered already.

        Raises SessionConflict, StoreUnavailable and TurnFailed.
        """
        if known := self._known():
            return known
        outcome = await self._contained()
        held, agent = self.held, self.agent.nested(self.call.name)
        if outcome is None or outcome.ask or self.call.status != "entered" or agent:
            return outcome
        return replace(outcome, ended=gate.inside(held.story, self.call, started=held.started))

    async def _contained(self) -> Outcome | None:
        try:
            with contained():
                return await self._outcome()
        except (SessionConflict, StoreUnavailable, TurnFailed):
            raise
        except Exception as error:  # noqa: BLE001 - a hook may fail in any way, the model hears it
            self._forget()
            return self._lost() if self.interrupted and not self.ran else self._failed(error)

    def _known(self) -> Outcome | None:
        """What is known of the call already: its result, or what a person found out about it."""
        call = self.call
        if call.id in self.held.results:
            return self._reported(Report.model_validate(self.held.results[call.id]))
        answer = call.answer
        if call.question is None or answer is None or answer.confirmed:
            return None
        if call.question.unknown:
            return self._answered(gate.looked(call.name, answer))
        if self.interrupted:
            return None
        return self._answered(rejection(answer, tool=call.name, unsure=self._unsure))

    async def _outcome(self) -> Outcome | None:
        call, tool = self.call, self.tool
        if tool is None:
            await self._left_to_others()
            return self._lost() if self.interrupted else self._answered(await self._missing())
        nested = self.agent.nested(call.name)
        if nested is not None and call.status == "entered":
            return left(self.held.story, call, nested, skip=tool.skip_summarization)
        early = await self._before(tool)
        bound = tool.bind(self.args)
        if self.interrupted:
            early = await self._again(tool, bound) or early
        if early is not None:
            return early
        if isinstance(bound, Unfit):
            gone = gate.changed(call.name, unsure=self._unsure)
            return self._answered(gone if call.question else bound.response)
        return await self._judged(tool, bound)

    async def _left_to_others(self) -> None:
        """Leave a call that was taken up already to one who has its tool; raises Unsettled."""
        if self.call.question or self.interrupted or self.call.status == "entered":
            with ours():
                await self.held.put_off(f"{self.call.id}:absent", again=ABSENT_AGAIN)

    async def _missing(self) -> Response:
        """What the model reads about a tool that is not there."""
        name = self.call.name
        mended = await self._mended(KeyError(name), dict(self.call.args))
        if mended is not None:
            return mended
        if self.call.question is not None:
            return gate.gone(name, unsure=self._unsure)
        log.warning("tool.missing", extra={"tool": name[:NAME_LIMIT], "call": self.call.id})
        return unknown_tool(name, known=self.agent.tool_names())

    async def _before(self, tool: Tool) -> Outcome | None:
        """Ask the hooks, once per call: they may answer for the tool, change arguments, or ask."""
        if self.call.question is not None:
            return None
        answer = await self.hooks.tool("before_tool_callback", self._told(self.args))
        if self.context.request is not None:
            bound = tool.bind(self.args)
            if isinstance(bound, Unfit):
                return self._answered(bound.response)
            report = await self.questions.ask(tool, bound, self.context.request, shown=answer)
            return self._reported(report)
        if answer is None:
            return None
        report = report_of(await self._after(self.args, answer), self.context, lasting=False)
        return self._outcome_of(report)

    async def _after(self, args: dict[str, Any], value: Any) -> Any:
        """What the hooks make of a result."""
        told = {**self._told(args), "tool_response": value}
        answer = await self.hooks.tool("after_tool_callback", told)
        return value if answer is None else answer

    async def _mended(self, error: Exception, args: dict[str, Any]) -> Response | None:
        """What a hook answers in place of a failure."""
        told = {**self._told(args), "error": error}
        answer = await self.hooks.tool("on_tool_error_callback", told)
        return None if answer is None else result_of(answer).response

    def _told(self, args: Mapping[str, Any]) -> dict[str, Any]:
        return {"tool": self.tool, "args": args, "tool_context": self.context}

    async def _judged(self, tool: Tool, bound: Bound) -> Outcome | None:
        call = self.call
        needed = call.question is not None or await tool.needs_confirmation(bound, self.context)
        match verdict(needed=needed, answer=call.answer):
            case "ask":
                hint = f"May {tool.name} run with these arguments?"
                request = ConfirmationRequest(hint=hint)
                report = await self.questions.ask(tool, bound, request, dynamic=False)
                return self._reported(report)
            case "reject":
                no = call.answer or ToolConfirmation()
                return self._answered(rejection(no, tool=tool.name, unsure=self._unsure))
            case "run":
                return await self._started(tool, bound)

    async def _started(self, tool: Tool, bound: Bound) -> Outcome | None:
        call = self.call
        if tool.effects == "none" and call.request is None:
            return await self._run(tool, bound)
        again, audit = await self._leave()
        if call.question:
            stopped = await self._stopped(tool, bound, call.question, why=again)
            if stopped is not None:
                return stopped
        start = Start(
            fence=self.held.fence,
            cid=call.id,
            step=self.step,
            request=call.request,
            digest=self.questions.digest(tool, bound),
            recorded=self.held.permit is not None,
            audit=audit,
        )
        with ours():
            started = await self.held.slot.start_call(self.held.key, start)
        if started.kind in ("go", "again"):
            self._check_lease()
        return await self._permitted(tool, bound, started)

    def _check_lease(self) -> None:
        """Raise SessionConflict once the lease is over: another process may look into the call."""
        if time.monotonic() > self.held.until:
            raise SessionConflict("the lease ran out before the body began")

    async def _stopped(
        self, tool: Tool, bound: Bound, asked: Question, *, why: str
    ) -> Outcome | None:
        """What keeps a call from running as people agreed to it; None when it may start."""
        told = asked
        if asked.build not in ("", tool.build.mark) and not asked.unasked:
            if await self._may_ask(tool, bound, asked):
                self.agreed = bound
            elif asked.payload_schema is not None:
                told = formless(asked)
        now = await self.questions.at_start(tool, bound, told)
        if not (why or now.digest != asked.digest):
            return None
        changes = [*filter(None, [why]), *differences(asked, now)]
        shown = None if told is asked else ToolConfirmation(hint=now.hint)
        return self._outcome_of(self.questions.anew(now, changes=changes, shown=shown))

    async def _may_ask(self, tool: Tool, bound: Bound, asked: Question) -> bool:
        """Whether the body itself would ask about a fresh call, as far as that can be told.

        A body that was not seen to ask may still do so where one asked before for no more than a
        yes or no: then people have filled in no values that could be passed over.
        """
        build = tool.build
        if not build.asks and (not asked.dynamic or asked.payload_schema is not None):
            return False
        return bool(build.mark) and not await tool.needs_confirmation(bound, self.context)

    async def _leave(self) -> Leave:
        """What the permit says: why people have to be asked anew, and the start's audit entry."""
        permit, request = self.held.permit, self.call.request
        if permit is None or not request:
            return _FREE
        with ours():
            return await permit(self.held.key, request)

    async def _permitted(self, tool: Tool, bound: Bound, started: Started) -> Outcome | None:
        match started.kind:
            case "go" | "again":
                return await self._run(tool, bound)
            case "done":
                with ours():
                    report = Report.model_validate(started.result)
                return self._reported(report)
            case "closed":
                return None
            case "refused" if started.why == "late" and self._may_have_run(tool):
                return self._maybe(tool, bound)
            case "refused":
                return self._answered(gate.refused(tool.name, why=started.why, unsure=self._unsure))

    async def _again(self, tool: Tool, bound: Bound | Unfit) -> Outcome | None:
        """What became of a body that was started before and left no result.

        None when it may start like any other: it did not happen, or may happen twice.
        """
        if isinstance(bound, Unfit):
            return self._lost()
        if tool.effects in ("none", "idempotent"):
            return None
        if tool.reconcile is None:
            return self._maybe(tool, bound)
        return await self._found(tool, bound, tool.reconcile)

    def _may_have_run(self, tool: Tool) -> bool:
        """Whether an earlier run may have taken effect without anybody having looked."""
        return self.interrupted and tool.effects == "idempotent"

    def _maybe(self, tool: Tool, bound: Bound) -> Outcome:
        """Ask a person about a body that may have taken effect."""
        log.error("tool.unknown", extra={"tool": tool.name, "call": self.call.id})
        return self._outcome_of(self.questions.unknown(tool, bound))

    async def _found(
        self, tool: Tool, bound: Bound, reconcile: Callable[..., Any]
    ) -> Outcome | None:
        """What `reconcile` finds of an interrupted body; None when two looks find nothing.

        Raises Unsettled between the looks, so that whoever works on the session is free meanwhile.
        """
        waited = self.held.waited(self.step)
        if waited is not None and waited < SETTLE:
            raise self.held.unsettled(SETTLE - waited)
        try:
            look = functools.partial(reconcile, self.context.idempotency_key)
            found = await called(look, within=tool.patience)
            if found is not None and (isinstance(found, _SAYS_NOTHING) or not found):
                raise TypeError("this is not what came of a call")
        except Exception as error:  # noqa: BLE001 - whoever cannot find out leaves it to a person
            log.warning("tool.failed", extra={"tool": tool.name, "error": type(error).__name__})
            return self._maybe(tool, bound)
        if found is not None:
            return self._answered(result_of(found).response)
        with ours():
            await self.held.commit(looked={self.step: self.held.now if waited is None else None})
        if waited is None:
            raise self.held.unsettled(SETTLE)
        return None

    async def _run(self, tool: Tool, bound: Bound) -> Outcome:
        """Run the body, and keep what came of it while its siblings run; enter a nested agent."""
        if self.agent.nested(self.call.name) is not None:
            return entered(self.call, bound, user=self.held.user(self.call.invocation))
        outcome = await (self._ran(tool, bound) if self.agreed is None else self._let_ask(tool))
        if len(self.held.story.batch(self.call)) > 1:
            kept = cast(JsonValue, outcome.report.model_dump(mode="json", exclude_none=True))
            with ours():
                await self.held.commit(results={self.call.id: kept})
        return outcome

    async def _ran(self, tool: Tool, bound: Bound) -> Outcome:
        context = self.context
        context.request = None
        self.ran = self.questions.ended = True
        told, begun = {"tool": tool.name, "call": self.call.id}, time.monotonic()
        log.info("tool.started", extra=told)
        tell = functools.partial(log.warning, "tool.slow", extra=told)
        try:
            with contained(), watched(tell, after=SLOW):
                value = await tool.run_async(args=bound, tool_context=context)
        except Exception as error:  # noqa: BLE001 - a body may fail in any way, the model hears it
            self._forget()
            mended = await self._mended(error, bound.values)
            return self._failed(error) if mended is None else self._answered(mended)
        log.info("tool.finished", extra={**told, "took_s": round(time.monotonic() - begun, 3)})
        if context.request is not None:
            return await self._asked(tool, bound, context.request, value=value)
        value = await self._after(bound.values, value)
        return self._outcome_of(report_of(value, context, lasting=tool.is_long_running))

    async def _let_ask(self, tool: Tool) -> Outcome:
        """Run a body of another build than the one that asked, as if nobody had agreed yet.

        It may ask for something else by now. It gets arguments of its own, for it may change them.
        """
        self.context.tool_confirmation = None
        bound = tool.bind(self.args)
        if isinstance(bound, Unfit):
            return self._answered(bound.response)
        return await self._ran(tool, bound)

    async def _asked(
        self, tool: Tool, bound: Bound, request: ConfirmationRequest, *, value: Any
    ) -> Outcome:
        """Put the question of a body; where people have agreed to just that already, run it."""
        asked, agreed, self.agreed = self.call.question, self.agreed, None
        if agreed is None or asked is None:
            first = asked is None and not self.interrupted
            told = await self.questions.ask(tool, bound, request, shown=value, returned=first)
            return self._reported(told)
        if bare(filled_in(request)[0]) != bare(asked.payload_schema):
            other = await self.questions.ask(
                tool, bound, request, shown=value, since=asked, returned=not self.interrupted
            )
            return self._reported(other)
        self._forget()
        self._check_lease()
        self.context.tool_confirmation = self.call.answer
        self.context.precondition = copy.deepcopy(asked.precondition)
        return await self._ran(tool, agreed)

    def _reported(self, report: Report) -> Outcome:
        """The outcome of a report; a question in it takes the place of older ones."""
        story, ask = self.held.story, report.ask
        older = gate.superseded(story, self.call, ask.question) if ask else ()
        return Outcome(call=self.call, report=report, superseded=older)

    @property
    def _unsure(self) -> bool:
        """Whether people were asked after an earlier run that may have taken effect."""
        asked = self.call.question
        return asked is not None and (asked.unknown or (asked.ended and not asked.returned))

    def _forget(self) -> None:
        """Discard what a failing call has changed so far."""
        self.context.state.forget()
        self.context.actions = EventActions()

    def _lost(self) -> Outcome:
        return self._outcome_of(self.questions.lost())

    def _answered(self, response: Response) -> Outcome:
        return self._outcome_of(answered(response, self.context))

    def _outcome_of(self, report: Report) -> Outcome:
        return Outcome(call=self.call, report=report)

    def _failed(self, error: Exception) -> Outcome:
        name = self.call.name
        log.warning("tool.failed", extra={"tool": name, "error": type(error).__name__})
        return Outcome(
            call=self.call, report=Report(response=failure(error, tool=name)), error=error
        )
