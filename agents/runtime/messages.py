"""What a client says to a session: checked against what is open, then turned into events."""

from collections.abc import Sequence

from google.genai import types
from pydantic import JsonValue

from agents.runtime.confirmation import REQUEST_CONFIRMATION, read_answer
from agents.runtime.errors import AnswerError
from agents.runtime.events import Event, EventActions
from agents.runtime.jsonable import to_json
from agents.runtime.parts import content, storable, storable_text, text_part
from agents.runtime.payload import check
from agents.runtime.slot.port import Entry
from agents.runtime.story import USER, Call, Story


def accepted(message: types.Content, story: Story) -> types.Content:
    """The message as it will be stored: responses validated, named and addressed by our ids.

    Raises AnswerError when it fits no open call; PayloadError when a payload breaks the schema.
    """
    parts = [storable(part) for part in message.parts or []]
    if not parts:
        raise AnswerError("the message is empty")
    if any(part.function_call for part in parts):
        raise AnswerError("a message of a user must not contain function calls")
    responses = [part.function_response for part in parts if part.function_response]
    if not responses:
        return content("user", parts)
    if len(responses) < len(parts):
        raise AnswerError("answers to calls must not be mixed with other parts")
    answers = [_accepted(response, story) for response in responses]
    if len({call.invocation for call, _ in answers}) > 1:
        raise AnswerError("the answers belong to different invocations; send them apart")
    return content("user", [part for _, part in answers])


def _accepted(response: types.FunctionResponse, story: Story) -> tuple[Call, types.Part]:
    if not response.id:
        raise AnswerError("a function response without an id answers nothing")
    call = story.asked_by(response.id)
    if call is not None and response.name in (None, REQUEST_CONFIRMATION):
        return call, _confirmation(call, response)
    call = story.find(response.id)
    if call is None:
        raise AnswerError(f"there is no call {response.id!r} in this session")
    agreed = call.answer is not None and call.answer.confirmed
    if (call.question and not agreed) or response.name == REQUEST_CONFIRMATION:
        raise AnswerError(f"{call.name} takes nothing but an answer to request {call.request!r}")
    if not call.long_running:
        raise AnswerError(f"only a long-running call can be answered, and {call.name} is not one")
    update = {"id": call.id, "name": call.name}
    return call, types.Part(function_response=response.model_copy(update=update))


def _confirmation(call: Call, response: types.FunctionResponse) -> types.Part:
    answer = read_answer(response.response)
    schema = call.question.payload_schema if call.question else None
    if schema is None and answer.payload is not None:
        raise AnswerError(f"nothing but yes or no was asked about {call.name}")
    if schema is not None and answer.confirmed:
        payload = {} if answer.payload is None else answer.payload
        if not isinstance(payload, dict):
            raise AnswerError("a payload must be an object")
        answer = answer.model_copy(update={"payload": check(schema, payload)})
    said = answer.model_dump(mode="json", exclude_none=True, exclude={"hint"})
    return types.Part(
        function_response=types.FunctionResponse(
            id=response.id, name=REQUEST_CONFIRMATION, response=said
        )
    )


def entry(entry_id: str, message: types.Content, *, user: str, **told: object) -> Entry:
    """The inbox entry of a message, with what else was told about it."""
    written = message.model_dump(mode="json", exclude_none=True)
    said = {key: to_json(value) for key, value in told.items() if value}
    return Entry(id=entry_id, body={"content": written, "user_id": user, **said})


def heard(entry: Entry, story: Story, *, version: int, now: float) -> Sequence[Event]:
    """The events that an inbox entry becomes; none when it no longer fits the session.

    A text starts an invocation, an answer re-enters the one of its call; answers to calls of
    nested agents go to their strands, one event each.
    """
    strands: dict[tuple[str | None, str], list[types.Part]] = {}
    for part in map(storable, _said(entry.body.get("content"))):
        place = _place(part, story, version)
        if place is not None:
            strands.setdefault(place, []).append(part)
    given = entry.body.get("state_delta")
    delta = to_json(given) if isinstance(given, dict) else {}
    quiet = True if entry.body.get("skip_summarization") else None
    user_id = storable_text(str(entry.body.get("user_id") or ""))
    return [
        Event(
            version=version + offset,
            invocation_id=invocation,
            author=USER,
            user_id=user_id or None,
            entry=storable_text(entry.id) or "",
            branch=branch,
            content=content("user", parts),
            actions=EventActions(
                state_delta=delta if isinstance(delta, dict) else {}, skip_summarization=quiet
            ),
            timestamp=now,
        )
        for offset, ((branch, invocation), parts) in enumerate(strands.items())
    ]


def _said(content: JsonValue) -> Sequence[types.Part]:
    """The parts of a content as JSON; a text alone is one by its looks."""
    match content:
        case {"role": "user", "parts": [{"text": str(text), **more}], **rest} if not (more or rest):
            return [text_part(text)]
        case _:
            return types.Content.model_validate(content or {"role": "user"}).parts or []


def _place(part: types.Part, story: Story, version: int) -> tuple[str | None, str] | None:
    response = part.function_response
    if response is None:
        return None, f"inv-{version}"
    call = story.asked_by(response.id or "") or story.find(response.id or "")
    return (call.branch, call.invocation) if call else None
