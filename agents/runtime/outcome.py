"""What came of a call in one step, and the events that record it for a whole batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from google.genai import types
from pydantic import BaseModel, Field, JsonValue

from agents.runtime.confirmation import (
    REQUEST_CONFIRMATION,
    Question,
    ToolConfirmation,
    rejection,
    request_args,
)
from agents.runtime.context import ToolContext
from agents.runtime.events import Event, EventActions
from agents.runtime.parts import call_of, call_part, content, response_part, storable
from agents.runtime.results import Yielded, result_of
from agents.runtime.story import Call

ASKED_AGAIN = ToolConfirmation(
    outcome="cancelled", reason="The same was asked for again; the newer request counts."
)


class Ask(BaseModel):
    """A question to put to a person about a call, and what stands for the result until then.

    `args` are the call's as the model gave them or a hook changed them.
    """

    question: Question
    args: dict[str, JsonValue]
    shown: ToolConfirmation
    placeholder: dict[str, JsonValue]


class Report(BaseModel):
    """What a body brought about, as JSON: kept in the slot until its batch is complete.

    `response` None means nothing yet, or a question (`ask`). `progress` are intermediate responses,
    oldest first.
    """

    response: dict[str, JsonValue] | None = None
    progress: list[dict[str, JsonValue]] = Field(default_factory=list[dict[str, JsonValue]])
    parts: list[types.Part] = Field(default_factory=list[types.Part])
    actions: EventActions = Field(default_factory=EventActions)
    ask: Ask | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call: a result, a question, or the words a nested agent starts with.

    `superseded` are calls of earlier turns whose open questions ask the same for the same person.
    `ended` are calls of its nested agent that nobody goes on with, and what they are answered.
    `error` is what the body or a hook raised.
    """

    call: Call
    report: Report = field(default_factory=Report)
    superseded: Sequence[Call] = ()
    ended: Sequence[tuple[Call, dict[str, JsonValue]]] = ()
    entering: Event | None = None
    error: Exception | None = None

    @property
    def ask(self) -> Ask | None:
        """The question, if there is one."""
        return self.report.ask


def changed(context: ToolContext) -> EventActions:
    """What was changed through a context, its state included."""
    return context.actions.told(context.state.delta())


def answered(response: dict[str, JsonValue], context: ToolContext) -> Report:
    """An answer given in place of a body; what hooks wrote to the state is kept."""
    return Report(response=response, actions=EventActions(state_delta=changed(context).state_delta))


def report_of(value: object, context: ToolContext, *, lasting: bool) -> Report:
    """The result of a body; with `lasting`, None means that there is nothing yet."""
    progress: list[dict[str, JsonValue]] = []
    if isinstance(value, Yielded):
        progress = [result_of(item).response for item in value.intermediate]
        value = value.result
    if value is None and lasting:
        return Report(progress=progress, actions=changed(context))
    result = result_of(value)
    parts = [storable(part) for part in result.media]
    return Report(
        response=result.response, progress=progress, parts=parts, actions=changed(context)
    )


def recorded(outcomes: Sequence[Outcome], *, version: int, now: float) -> list[Event]:
    """The events of a batch's outcomes, from `version` on.

    One response event in the order of the calls; beside it, when people are asked, the request
    event: before a response event that holds placeholders only, else after it. What a new request
    supersedes is answered first.
    """
    versions = count(version)
    over = [
        (call, rejection(ASKED_AGAIN, tool=call.name)) for o in outcomes for call in o.superseded
    ]
    over += [each for o in outcomes for each in o.ended]
    closing = [_closed(call, told, version=next(versions), now=now) for call, told in over]
    entering = [o.entering for o in outcomes if o.entering is not None]
    outcomes = [o for o in outcomes if o.entering is None]
    asks = [o for o in outcomes if o.ask is not None]
    makers = [(_response_event, outcomes), (_request_event, asks)]
    if not any(map(_settled, outcomes)):
        makers.reverse()
    told = [make(about, version=next(versions), now=now) for make, about in makers if about]
    return [*closing, *told, *(_at(event, next(versions)) for event in entering)]


def _closed(call: Call, told: dict[str, JsonValue], *, version: int, now: float) -> Event:
    """The answer to a call whose question was asked again, or that is given up.

    Only a nested agent is told at once: its caller waits for it.
    """
    answer = response_part(call.id, call.name, told)
    return Event(
        version=version,
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("user", [answer]),
        actions=EventActions(skip_summarization=None if call.branch else True),
        timestamp=now,
    )


def _settled(outcome: Outcome) -> bool:
    return outcome.ask is None and outcome.report.response is not None


def _response_event(outcomes: Sequence[Outcome], *, version: int, now: float) -> Event:
    parts = [part for outcome in outcomes for part in _parts(outcome)]
    call = outcomes[0].call
    return Event(
        version=version,
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("user", parts) if parts else None,
        actions=_actions(outcomes),
        pending=[o.call.id for o in outcomes if o.ask is None and o.report.response is None],
        timestamp=now,
    )


def _parts(outcome: Outcome) -> Iterator[types.Part]:
    call, report = outcome.call, outcome.report
    for news in report.progress:
        yield response_part(call.id, call.name, dict(news), more=True)
    answer = report.response if report.ask is None else report.ask.placeholder
    if answer is not None:
        yield response_part(call.id, call.name, dict(answer))
    yield from report.parts


def _actions(outcomes: Sequence[Outcome]) -> EventActions:
    """What the calls of a batch changed; after questions alone no model needs to speak."""
    actions = EventActions()
    for outcome in outcomes:
        _merge(actions, outcome)
    asks = [outcome.ask for outcome in outcomes if outcome.ask is not None]
    static = asks and not any(ask.question.dynamic for ask in asks)
    if static and not any(map(_settled, outcomes)):
        actions.skip_summarization = True
    return actions


def _merge(actions: EventActions, outcome: Outcome) -> None:
    done = outcome.report.actions
    for key, value in done.state_delta.items():
        old = actions.state_delta.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        actions.state_delta[key] = _merged(old, value) if both else value
    for name in ("skip_summarization", "escalate", "transfer_to_agent"):
        if getattr(done, name):
            setattr(actions, name, getattr(done, name))
    if outcome.ask is not None:
        actions.requested_tool_confirmations[outcome.call.id] = outcome.ask.shown


def _merged(old: JsonValue, new: JsonValue) -> JsonValue:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}


def _request_event(asks: Sequence[Outcome], *, version: int, now: float) -> Event:
    """The questions of a batch; each gets its id, `<version>-<part>`."""
    call = asks[0].call
    asked = {f"{version}-{i}": (o.call, o.ask) for i, o in enumerate(asks) if o.ask}
    return Event(
        version=version,
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("model", [_request(name, *about) for name, about in asked.items()]),
        questions={name: ask.question for name, (_, ask) in asked.items()},
        long_running_tool_ids=set(asked),
        timestamp=now,
    )


def _request(request_id: str, call: Call, ask: Ask) -> types.Part:
    wire = call_of(call.id, call.name, dict(ask.args))
    return request_part(request_id, call=wire, question=ask.shown)


def request_part(
    request_id: str, *, call: types.FunctionCall, question: ToolConfirmation
) -> types.Part:
    """The function call that asks; `call` is the model's call with our id."""
    args = request_args(call, question)
    return call_part(call_of(request_id, REQUEST_CONFIRMATION, args))


def _at(event: Event, version: int) -> Event:
    return event.model_copy(update={"version": version})


def spoken(said: types.Content, *, version: int) -> tuple[types.Content, dict[str, str]]:
    """A model's reply at its version: each call gets its id, `<version>-<part>`.

    Returned with it are the ids that the model gave its calls, by ours.
    """
    parts: list[types.Part] = []
    model_ids: dict[str, str] = {}
    for i, part in enumerate(map(storable, said.parts or [])):
        call = part.function_call
        if call is None:
            parts.append(part)
            continue
        cid = f"{version}-{i}"
        if call.id:
            model_ids[cid] = call.id
        update = {"function_call": call.model_copy(update={"id": cid})}
        parts.append(part.model_copy(update=update))
    return content("model", parts), model_ids
