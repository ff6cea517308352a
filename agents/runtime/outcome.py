"""What came of a call in one step, and the events that record the outcomes of a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from google.genai import types
from pydantic import BaseModel, Field, JsonValue

from agents.runtime.confirmation import Question, ToolConfirmation, rejection, request_part
from agents.runtime.events import Event, EventActions
from agents.runtime.parts import call_part, content, response_part, storable
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

    `superseded` are calls of earlier turns whose open questions ask for the same. `error` is what
    the body or a hook raised.
    """

    call: Call
    report: Report = field(default_factory=Report)
    superseded: Sequence[Call] = ()
    entering: Event | None = None
    error: Exception | None = None

    @property
    def ask(self) -> Ask | None:
        """The question, if there is one."""
        return self.report.ask


def recorded(outcomes: Sequence[Outcome], *, version: int, now: float) -> list[Event]:
    """The events of a batch's outcomes, from `version` on.

    One response event in the order of the calls; beside it, when people are asked, the request
    event: before a response event that holds placeholders only, else after it. What a new request
    supersedes is answered first.
    """
    closing = [_closed(call, now=now) for o in outcomes for call in o.superseded]
    entering = [o.entering for o in outcomes if o.entering is not None]
    outcomes = [o for o in outcomes if o.entering is None]
    asks = [o for o in outcomes if o.ask is not None]
    responses = _response_event(outcomes, now=now) if outcomes else None
    requests = _request_event(asks, now=now) if asks else None
    order = (responses, requests) if any(map(_settled, outcomes)) else (requests, responses)
    events = [event for event in (*closing, *order, *entering) if event is not None]
    return [_at(event, version + i) for i, event in enumerate(events)]


def _closed(call: Call, *, now: float) -> Event:
    """The answer to a call whose question was asked again.

    Only a nested agent is told at once: its caller waits for it.
    """
    answer = response_part(call.id, call.name, rejection(ASKED_AGAIN, tool=call.name))
    return Event(
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("user", [answer]),
        actions=EventActions(skip_summarization=None if call.branch else True),
        timestamp=now,
    )


def _settled(outcome: Outcome) -> bool:
    return outcome.ask is None and outcome.report.response is not None


def _response_event(outcomes: Sequence[Outcome], *, now: float) -> Event | None:
    parts: list[types.Part] = []
    pending: list[str] = []
    actions = EventActions()
    for outcome in outcomes:
        parts += _parts(outcome)
        if outcome.ask is None and outcome.report.response is None:
            pending.append(outcome.call.id)
        _merge(actions, outcome)
    asks = [outcome.ask for outcome in outcomes if outcome.ask is not None]
    static = asks and not any(ask.question.dynamic for ask in asks)
    if static and not any(map(_settled, outcomes)):
        actions.skip_summarization = True
    if not parts and not pending:
        return None
    call = outcomes[0].call
    return Event(
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("user", parts) if parts else None,
        actions=actions,
        pending=pending,
        timestamp=now,
    )


def _parts(outcome: Outcome) -> list[types.Part]:
    call = outcome.call
    answers = [(answer, True) for answer in outcome.report.progress]
    if outcome.ask is not None:
        answers.append((outcome.ask.placeholder, False))
    elif outcome.report.response is not None:
        answers.append((outcome.report.response, False))
    parts = [
        response_part(call.id, call.name, dict(answer), more=more or None)
        for answer, more in answers
    ]
    return parts + list(outcome.report.parts)


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


def _request_event(asks: Sequence[Outcome], *, now: float) -> Event:
    call = asks[0].call
    return Event(
        invocation_id=call.invocation,
        author=call.agent,
        branch=call.branch,
        content=content("model", [_request(o.call, o.ask) for o in asks if o.ask]),
        questions={str(i): o.ask.question for i, o in enumerate(asks) if o.ask},
        timestamp=now,
    )


def _request(call: Call, ask: Ask) -> types.Part:
    wire = types.FunctionCall(id=call.id, name=call.name, args=dict(ask.args))
    return request_part("", call=wire, question=ask.shown)


def _at(event: Event, version: int) -> Event:
    """The event at its version; requests get their ids, `<version>-<part>`."""
    if not event.questions:
        return event.model_copy(update={"version": version})
    ids = [f"{version}-{i}" for i in range(len(event.parts))]
    parts = [_with_id(part, request_id) for part, request_id in zip(event.parts, ids, strict=True)]
    return event.model_copy(
        update={
            "version": version,
            "content": content("model", parts),
            "questions": dict(zip(ids, event.questions.values(), strict=True)),
            "long_running_tool_ids": set(ids),
        }
    )


def _with_id(part: types.Part, call_id: str) -> types.Part:
    call = part.function_call
    return call_part(call.model_copy(update={"id": call_id})) if call else part


def spoken(
    said: types.Content, *, version: int, author: str, invocation: str, branch: str | None
) -> Event:
    """The event of a model's reply at its version: each call gets its id, `<version>-<part>`."""
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
    return Event(
        version=version,
        invocation_id=invocation,
        author=author,
        branch=branch,
        content=content("model", parts),
        model_ids=model_ids,
    )
