"""What people are asked about one call, at first and when what they agreed to has changed."""

import logging
from typing import Any, cast

from pydantic import JsonValue

from agents.runtime import gate
from agents.runtime.arguments import Bound, Unfit
from agents.runtime.confirmation import Question, ToolConfirmation
from agents.runtime.context import ConfirmationRequest, ToolContext
from agents.runtime.differences import differences
from agents.runtime.digest import canonical
from agents.runtime.errors import LookFailed, ToolError
from agents.runtime.foreign import ours
from agents.runtime.held import Held
from agents.runtime.jsonable import to_json
from agents.runtime.outcome import Ask, Report, answered, changed
from agents.runtime.payload import schema_of
from agents.runtime.results import failure, result_of
from agents.runtime.story import Call
from agents.runtime.tools import Tool

log = logging.getLogger(__name__)

AGAIN = 2.0
"""Seconds before a failed precondition is looked up again; longer each time."""
PATIENCE = 45.0
"""Seconds for which it is tried; nobody in the conversation is answered meanwhile."""
Response = dict[str, JsonValue]


def filled_in(request: ConfirmationRequest) -> tuple[Response | None, Response]:
    """The schema of what people fill in, None if that is nothing, and its initial values."""
    if request.payload is None:
        return None, {}
    schema, initial = schema_of(request.payload)
    return cast("Response", to_json(schema)), initial


def formless(asked: Question) -> Question:
    """The question without its form."""
    return asked.model_copy(update={"payload_schema": None, "form": (), "initial": {}})


class Questions:
    """The questions that one call raises, each for the call as it would run now.

    `ended` says whether a body was started for it that does not run any more.
    """

    def __init__(
        self, held: Held, call: Call, *, args: dict[str, Any], context: ToolContext
    ) -> None:
        """Ask about `call`; `args` are those of the model, as hooks change them."""
        self.held = held
        self.call = call
        self.args = args
        self.context = context
        self.ended = False

    async def ask(
        self,
        tool: Tool,
        bound: Bound,
        request: ConfirmationRequest,
        *,
        shown: Any = None,
        dynamic: bool = True,
        since: Question | None = None,
        returned: bool = False,
    ) -> Report:
        """A question to a person, unless the same was just closed, or is open for somebody else.

        `shown` is what the model reads while they think, if the tool or a hook said something.
        `since` is what they agreed to before the tool asked for something else; `returned`: every
        run so far ended by asking. Raises ToolError as `current` does.
        """
        hint = str(to_json(request.hint))
        schema, initial = filled_in(request)
        told = Question(
            call_id=self.call.id,
            tool=tool.name,
            agent=self.context.agent_name,
            hint=hint,
            payload_schema=schema,
            form=tuple(cast("Response", schema["properties"])) if schema else (),
            initial=initial,
            dynamic=dynamic,
            kept=self.context.kept if dynamic else {},
            secrets=tool.secrets,
            lasting=tool.is_long_running,
            ended=self.ended,
            returned=returned,
            build=tool.build.mark if self.ended or not dynamic else "",
        )
        question = await self.current(tool, bound, told)
        if since is not None:
            changes = tuple(differences(since, question))
            question = question.model_copy(update={"changes": changes})
        if gate.asked_already(self.held.story, self.call, question) is not None:
            return answered(gate.already(tool.name), self.context)
        closed = gate.closed_before(self.held.story, self.call, question)
        if closed is not None and closed.answer is not None:
            return answered(gate.not_again(tool.name, closed.answer), self.context)
        form = request.payload
        begun = to_json(form if isinstance(form, dict) else initial if form is not None else None)
        ask = Ask(
            question=question,
            args=cast(Response, to_json(self.args)),
            shown=ToolConfirmation(hint=hint, payload=begun),
            placeholder=gate.waits(tool.name) if shown is None else result_of(shown).response,
        )
        return Report(actions=changed(self.context), ask=ask)

    def anew(
        self, question: Question, *, changes: list[str], shown: ToolConfirmation | None = None
    ) -> Report:
        """The question put once more, because what people agreed to no longer stands.

        `shown` is what a client reads, where the form has changed.
        """
        asked = [
            found.payload
            for event in self.held.story.events
            if (found := event.actions.requested_tool_confirmations.get(self.call.id))
        ]
        ask = Ask(
            question=question.model_copy(
                update={"changes": tuple(changes), "ended": self.ended, "returned": False}
            ),
            args=cast(Response, to_json(self.args)),
            shown=shown
            or ToolConfirmation(hint=question.hint, payload=asked[-1] if asked else None),
            placeholder=(gate.unknown if question.unknown else gate.waits)(question.tool),
        )
        return Report(ask=ask)

    def unknown(self, tool: Tool, bound: Bound) -> Report:
        """Ask whether an interrupted call happened, and if not, whether it may run."""
        asked = self.call.question
        told = Question(
            call_id=self.call.id,
            tool=tool.name,
            agent=self.context.agent_name,
            hint=str(gate.unknown(tool.name)["error"]),
            precondition=asked.precondition if asked else {},
            payload_schema=asked.payload_schema if asked else None,
            form=asked.form if asked else (),
            initial=asked.initial if asked else {},
            dynamic=bool(asked and asked.dynamic),
            kept=asked.kept if asked else {},
            build=asked.build if asked else "",
            secrets=tool.secrets,
            lasting=tool.is_long_running,
            unknown=True,
            unasked=asked is None or asked.unasked,
        )
        now = self._as_it_stands(tool, bound, told)
        return self.anew(now, changes=differences(asked, now) if asked else [])

    def lost(self) -> Report:
        """Ask those who agreed to look at a call that was started and cannot run again."""
        asked = self.call.question
        if asked is None:
            return answered(gate.lost(self.call.name), self.context)
        hint = str(gate.unknown(asked.tool)["error"])
        told = asked.model_copy(update={"unknown": True, "hint": hint})
        return self.anew(told, changes=[f"{asked.tool} is gone, or another tool by now"])

    def digest(self, tool: Tool, bound: Bound) -> str:
        """The digest of the very objects that the body is about to be handed."""
        asked = self.call.question
        if asked is None:
            return ""
        return self._as_it_stands(tool, bound.written(), asked).digest

    async def at_start(self, tool: Tool, bound: Bound, asked: Question) -> Question:
        """The question as it stands right before the start.

        What cannot be found out now is tried for a while; raises Unsettled for that while.
        """
        step = f"{self.call.id}:depends"
        try:
            now = await self.current(tool, bound, asked)
        except LookFailed as error:
            why = type(error.__cause__).__name__
            log.warning("tool.failed", extra={"tool": tool.name, "error": why})
            with ours():
                await self.held.put_off(step, again=AGAIN, patience=PATIENCE)
            raise
        if step in self.held.looked:
            with ours():
                await self.held.commit(looked={step: None})
        return now

    async def current(self, tool: Tool, bound: Bound, told: Question) -> Question:
        """The question as it stands now, with what the call depends on.

        Raises ToolError when nobody can find that out: then nobody is asked, and nothing runs. It
        is LookFailed unless the look itself says so.
        """
        try:
            found = await tool.precondition(bound, self.context)
        except ToolError:
            raise
        except Exception as error:
            why = failure(error, tool=f"what {tool.name} depends on")["error"]
            raise LookFailed(f"{tool.name} did not run: {why}") from error
        return self._as_it_stands(tool, bound, told.model_copy(update={"precondition": found}))

    def _as_it_stands(self, tool: Tool, bound: Bound, told: Question) -> Question:
        """The question for the call as it would run now, digest included."""
        now = {
            "agent": self.context.agent_name,
            "contract": tool.contract,
            "promise": tool.promise,
            "args": bound.as_json,
            "defaults": self._left_out(tool, bound),
        }
        question = told.model_copy(update=now)
        digest = gate.digest_of(question, branch=self.call.branch, tenant=self.held.key.tenant)
        return question.model_copy(update={"digest": digest})

    def _left_out(self, tool: Tool, bound: Bound) -> tuple[str, ...]:
        """The arguments that the model left out and whose values are the tool's defaults of now.

        Those of a stored question are all given; what was left out is in the question. So is what
        was left out inside others, which stays what it was.
        """
        before = self.call.question.defaults if self.call.question else ()
        inside = dict.fromkeys((*(name for name in before if "." in name), *bound.filled))
        given = {name: value for name, value in self.args.items() if name not in before}
        fresh = tool.bind(given) if before else bound
        if isinstance(fresh, Unfit):
            return (*sorted(bound.defaults), *inside)
        same = (
            n for n in fresh.defaults if canonical(fresh.as_json[n]) == canonical(bound.as_json[n])
        )
        return (*sorted(same), *inside)
