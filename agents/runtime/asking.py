"""One question to a model: what the model is shown, and its reply as an event."""

import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

from google.genai import types
from pydantic import JsonValue, ValidationError

from agents.runtime import output, transfer
from agents.runtime.budget import Budget
from agents.runtime.compaction import INSTRUCTION, due, transcript
from agents.runtime.context import ReadonlyContext, ToolContext
from agents.runtime.errors import AgentsError, ModelError, ModelUnavailable, UsageError
from agents.runtime.events import Compaction, Event, EventActions
from agents.runtime.held import Held
from agents.runtime.history import contents, contents_until
from agents.runtime.hooks import Hooks
from agents.runtime.instruction import instruction
from agents.runtime.model import LlmRequest, LlmResponse, Model
from agents.runtime.outcome import changed, spoken
from agents.runtime.state import State
from agents.runtime.steps import CallModel

log = logging.getLogger(__name__)

_SILENCE = types.Content(role="model", parts=[])


class Asking:
    """One question to the model of one agent, in a session in hand; `new` is what to store."""

    def __init__(
        self, held: Held, step: CallModel, *, model: Model, hooks: Hooks, budget: Budget
    ) -> None:
        """Ask on behalf of the agent of `step`."""
        self.held = held
        self.step = step
        self.model = model
        self.hooks = hooks
        self.budget = budget
        self.person = held.user(step.invocation)
        self.new: list[Event] = []
        self._context: ToolContext | None = None

    @property
    def context(self) -> ToolContext:
        """What hooks are handed; nothing is written to its state before the first of them."""
        if self._context is None:
            step, key = self.step, self.held.key
            self._context = ToolContext(
                invocation_id=step.invocation,
                agent_name=step.agent.name,
                app_name=key.app,
                user_id=self.person,
                session_id=key.id,
                state=State(self.held.view(step.invocation, step.branch)),
            )
        return self._context

    async def pieces(self) -> AsyncIterator[Event]:
        """Ask, and yield pieces of text as they come; the event of the reply goes into `new`.

        A failure makes an event, too. Where the conversation has outgrown the window, the event
        is its summary, and the question comes next. Raises ModelUnavailable while trying again
        later may help.
        """
        try:
            await self._claim()
            if summed_up := await self._compaction():
                self.new.append(summed_up)
                return
            async for response in self._responses():
                event = self._reply(response)
                if event.partial:
                    yield event
                else:
                    self.new.append(event)
        except ModelUnavailable as error:
            if self.held.attempt < self.budget.tries:
                raise
            self.new.append(self._failed(error))
        except Exception as error:  # noqa: BLE001 - a model may fail in any way: it ends the turn
            self.new.append(self._failed(error))

    async def _claim(self) -> None:
        step, held = self.step, self.held
        await self.budget.claim(
            held.story,
            invocation=step.invocation,
            person=self.person,
            begins=step.branch is None and held.story.branch(None).spoken_to,
        )

    async def _compaction(self) -> Event | None:
        """A summary of what is too old to be read whole; None when there is none to write.

        A turn goes on without one when the model writes none; the next turn asks for it again.
        """
        window, story = self.budget.config.window, self.held.story
        apart = self.step.branch is not None or self.step.agent.include_contents == "none"
        if not window or apart or not self.budget.compacts:
            return None
        until = due(story.branch(None), window=window)
        if until is None:
            return None
        request, begun = self._minutes(until), time.monotonic()
        try:
            answer = self.budget.patience.asked(self.model, request, stream=False)
            whole = [response async for response in answer if not response.partial]
        except Exception as error:  # noqa: BLE001 - a model may fail in any way
            why = str(error) if isinstance(error, ModelError) else type(error).__name__
            log.warning("model.failed", extra={"agent": self.step.agent.name, "why": why})
            whole = []
        if not whole:
            self.budget.compacts = False
            return None
        self._called(response := whole[-1], begun)
        parts = response.content.parts if response.content else None
        said = (part.text for part in parts or () if part.text and not part.thought)
        summary = "".join(said).strip()
        self.budget.compacts = bool(summary)
        return self._compacted(until, summary, response) if summary else None

    def _minutes(self, until: int) -> LlmRequest:
        """The request for a summary; as plain text, so that no call needs its tool declared."""
        agent = self.step.agent
        said = transcript(contents_until(agent, self.held.story, until))
        return LlmRequest(
            model=agent.model if isinstance(agent.model, str) else "",
            contents=[types.Content(role="user", parts=[types.Part(text=said)])],
            system_instruction=INSTRUCTION,
        )

    def _compacted(self, until: int, summary: str, response: LlmResponse) -> Event:
        return Event(
            version=self.held.next_version,
            invocation_id=self.step.invocation,
            author=self.step.agent.name,
            actions=EventActions(compaction=Compaction(until=until, summary=summary)),
            usage=dict(response.usage),
            timestamp=self.held.now / 1000,
        )

    async def _responses(self) -> AsyncIterator[LlmResponse]:
        """What the model, or a hook in its place, answers."""
        request = await self._request()
        if self.hooks.of_model:
            request = request.copied()
        told = {"llm_request": request}
        answer = await self._hooked("before_model_callback", told)
        if answer is not None:
            yield answer
            return
        stream, patience = self.budget.config.streaming, self.budget.patience
        begun = time.monotonic()
        try:
            async for response in patience.asked(self.model, request, stream=stream):
                self._called(response, begun)
                yield await self._after(response)
        except Exception as error:
            answer = await self._hooked("on_model_error_callback", {**told, "error": error})
            if answer is None:
                raise
            yield answer

    def _called(self, response: LlmResponse, begun: float) -> None:
        """Log that a model has answered: time and tokens, but nothing of what was said."""
        if not response.partial:
            took = round(time.monotonic() - begun, 3)
            told = {f"tokens_{name}": count for name, count in response.usage.items()}
            log.info("model.called", extra={"agent": self.step.agent.name, "took_s": took, **told})

    async def _after(self, response: LlmResponse) -> LlmResponse:
        told = {"llm_response": response}
        return await self._hooked("after_model_callback", told) or response

    async def _hooked(self, kind: str, told: Mapping[str, Any]) -> LlmResponse | None:
        if not self.hooks.there(kind):
            return None
        answer = await self.hooks.model(kind, {"callback_context": self.context, **told})
        if self.context.request is not None:
            raise UsageError(
                f"{kind} asks for a confirmation: only a tool's call can be asked about"
            )
        return answer

    async def _request(self) -> LlmRequest:
        agent, held = self.step.agent, self.held
        context = ReadonlyContext(
            state=held.view(self.step.invocation, self.step.branch),
            agent_name=agent.name,
            invocation_id=self.step.invocation,
            user_id=self.person,
        )
        told = await instruction(agent, context)
        declarations = [tool.declaration for tool in cast(Sequence[Any], agent.tools)]
        others = transfer.targets(agent, self.step.root)
        if others:
            told += transfer.told(others)
            declarations.insert(0, transfer.TransferTool(others).declaration)
        schema = agent.output_schema
        if schema is not None and declarations:
            told += output.told(schema)
        return LlmRequest(
            model=agent.model if isinstance(agent.model, str) else "",
            contents=contents(
                agent,
                held.story,
                branch=self.step.branch,
                notes=held.notes,
                window=self.budget.config.window,
            ),
            system_instruction=told,
            tools=declarations,
            response_schema=schema.model_json_schema() if schema else None,
            config=agent.generate_content_config,
        )

    def _reply(self, response: LlmResponse) -> Event:
        step, held = self.step, self.held
        version, said = held.next_version, response.content or _SILENCE
        content, model_ids = spoken(said, version=version)
        code, message = response.error_code, response.error_message
        if not content.parts and not code and not response.partial:
            code = "MODEL_RETURNED_NO_CONTENT"
            reason = response.finish_reason or "unknown"
            message = f"The model returned no content (finish_reason={reason} with empty parts)."
        delta, misfit = ({}, "") if response.partial else self._delta(content.parts or [])
        if misfit and not code:
            code, message = output.MISFIT, misfit
        return Event(
            version=version,
            invocation_id=step.invocation,
            author=step.agent.name,
            branch=step.branch,
            content=content,
            model_ids=model_ids,
            partial=response.partial or None,
            long_running_tool_ids=self._lasting(content.parts or []) or None,
            error_code=code,
            error_message=message,
            usage=dict(response.usage),
            timestamp=held.now / 1000,
            actions=EventActions(state_delta=delta),
        )

    def _lasting(self, parts: Sequence[types.Part]) -> set[str]:
        """The calls of long-running tools in a reply."""
        calls = (part.function_call for part in parts if part.function_call)
        tools = ((call.id, self.step.agent.tool(call.name or "")) for call in calls)
        return {cid for cid, tool in tools if cid and tool and tool.is_long_running}

    def _delta(self, parts: Sequence[types.Part]) -> tuple[dict[str, JsonValue], str]:
        """The state that a reply changes, and why the output in it does not fit its schema."""
        delta: dict[str, JsonValue] = {}
        if self._context is not None:
            delta |= changed(self._context).state_delta
        agent = self.step.agent
        if not parts or any(part.function_call for part in parts):
            return delta, ""
        said = "".join(part.text for part in parts if part.text and not part.thought)
        found: JsonValue = said
        if agent.output_schema is not None:
            try:
                found = output.fitted(agent.output_schema, said)
            except ValidationError as error:
                return delta, output.misfit(agent.name, error)
        return (delta | {agent.output_key: found} if agent.output_key else delta), ""

    def _failed(self, error: Exception) -> Event:
        """The event of a turn that a model could not finish.

        A nested agent's caller hears of it and may go on.
        """
        if self.step.branch is None:
            self.budget.failure = error
        step, kind = self.step, type(error).__name__
        why = str(error) if isinstance(error, AgentsError) else ""
        log.error("model.failed", extra={"agent": step.agent.name, "error": kind, "why": why})
        return Event(
            version=self.held.next_version,
            invocation_id=step.invocation,
            author=step.agent.name,
            branch=step.branch,
            error_code=kind,
            error_message=str(error) if isinstance(error, AgentsError) else kind,
            timestamp=self.held.now / 1000,
        )
