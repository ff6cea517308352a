"""Contents and parts of sound pieces, made without checking them again; and of those from outside.

A turn makes some twenty of them; google.genai's own constructors would be most of its cost.
"""

from collections.abc import Sequence
from typing import Any, cast

from google.genai import types
from pydantic_core import PydanticSerializationError

from agents.runtime.jsonable import to_json

DEPTH = 100
"""How deep a call's arguments or a response may be nested; a store reads back about 190."""

WORDS = {"text", "thought", "thought_signature"}
"""The fields of a part that is nothing but words."""

_EMPTY = types.Part()
_CALL = types.FunctionCall()
_RESPONSE = types.FunctionResponse()


def content(role: str, parts: Sequence[types.Part]) -> types.Content:
    """A content of these parts."""
    return types.Content.model_construct({"role", "parts"}, role=role, parts=list(parts))


def text_part(text: str) -> types.Part:
    """A part with a text."""
    return _EMPTY.model_copy(update={"text": text})


def call_of(call_id: str, name: str, args: dict[str, Any]) -> types.FunctionCall:
    """A function call with an id."""
    return _CALL.model_copy(update={"id": call_id, "name": name, "args": args})


def call_part(call: types.FunctionCall) -> types.Part:
    """A part with a function call."""
    return _EMPTY.model_copy(update={"function_call": call})


def response_part(
    call_id: str | None, name: str, response: dict[str, Any], *, more: bool | None = None
) -> types.Part:
    """A part with a function response; with `more` others follow it."""
    said: dict[str, Any] = {"name": name, "response": response}
    if call_id is not None:
        said["id"] = call_id
    if more is not None:
        said["will_continue"] = more
    return _EMPTY.model_copy(update={"function_response": _RESPONSE.model_copy(update=said)})


def storable(part: types.Part) -> types.Part:
    """A part from outside, made fit to be stored and read back.

    Half a character becomes "?", NaN a text. What is nested deeper than 100 is cut, which is deeper
    than any tool takes.
    """
    call, response = part.function_call, part.function_response
    if call is not None:
        update = _told(call, "args", call.args)
        if update == {"id": call.id, "name": call.name, "args": call.args}:
            return part
        return part.model_copy(update={"function_call": call.model_copy(update=update)})
    if response is not None:
        update = _told(response, "response", response.response)
        if update == {"id": response.id, "name": response.name, "response": response.response}:
            return part
        return part.model_copy(update={"function_response": response.model_copy(update=update)})
    try:
        if part.model_fields_set <= WORDS:
            (part.text or "").encode()
        else:
            part.model_dump_json()
    except (PydanticSerializationError, ValueError):
        return types.Part.model_validate(to_json(part.model_dump(mode="json", exclude_none=True)))
    return part


def _told(
    said: types.FunctionCall | types.FunctionResponse, field: str, value: dict[str, Any] | None
) -> dict[str, Any]:
    plain = None if value is None else to_json(value, depth=DEPTH)
    return {"id": storable_text(said.id), "name": storable_text(said.name), field: plain}


def storable_text(text: str | None) -> str | None:
    """A text from outside, made fit to be stored: half a character becomes "?"."""
    return text if text is None or text.isascii() else cast("str", to_json(text))
