"""Copies of events for callers: whatever they change in one is changed nowhere else."""

from google.genai import types

from agents.runtime.events import Event, EventActions
from agents.runtime.slot.wire import copied

PLAIN = frozenset({"text", "thought", "thought_signature"})
"""The fields of a part that hold nothing which could be changed in place."""
CALL = PLAIN | {"function_call"}
RESPONSE = PLAIN | {"function_response"}


def own(event: Event) -> Event:
    """A copy of an event that shares nothing changeable with it."""
    content, asked = event.content, event.long_running_tool_ids
    parts = [_part(part) for part in event.parts]
    return event.model_copy(
        update={
            "content": content and content.model_copy(update={"parts": parts}),
            "actions": _actions(event.actions),
            "long_running_tool_ids": asked and set(asked),
            "usage": event.usage.copy(),
            "model_ids": event.model_ids.copy(),
            "questions": {i: each.model_copy(deep=True) for i, each in event.questions.items()},
            "pending": event.pending.copy(),
        }
    )


def _part(part: types.Part) -> types.Part:
    """A part of one's own; most are words, calls and responses of plain fields."""
    fields, call, response = part.model_fields_set, part.function_call, part.function_response
    if fields <= PLAIN:
        return part.model_copy()
    if call is not None and fields <= CALL and not call.partial_args:
        inner = call.model_copy(update={"args": copied(call.args)})
        return part.model_copy(update={"function_call": inner})
    if response is not None and fields <= RESPONSE and not response.parts:
        inner = response.model_copy(update={"response": copied(response.response)})
        return part.model_copy(update={"function_response": inner})
    return part.model_copy(deep=True)


def _actions(actions: EventActions) -> EventActions:
    if actions.requested_tool_confirmations or actions.compaction:
        return actions.model_copy(deep=True)
    delta = copied(actions.state_delta)
    return actions.model_copy(update={"state_delta": delta, "requested_tool_confirmations": {}})
