"""Contents and parts of sound pieces, made without checking them again.

A turn makes some twenty of them; google.genai's own constructors would be most of its cost.
"""

from collections.abc import Sequence
from typing import Any

from google.genai import types

_EMPTY = types.Part()


def content(role: str, parts: Sequence[types.Part]) -> types.Content:
    """A content of these parts."""
    return types.Content.model_construct({"role", "parts"}, role=role, parts=list(parts))


def text_part(text: str) -> types.Part:
    """A part with a text."""
    return _EMPTY.model_copy(update={"text": text})


def call_part(call: types.FunctionCall) -> types.Part:
    """A part with a function call."""
    return _EMPTY.model_copy(update={"function_call": call})


def response_part(
    call_id: str | None, name: str, response: dict[str, Any], *, more: bool | None = None
) -> types.Part:
    """A part with a function response; with `more` others follow it."""
    said = {"id": call_id, "name": name, "response": response, "will_continue": more}
    fields = {key for key, value in said.items() if value is not None}
    answer = types.FunctionResponse.model_construct(fields, **said)
    return _EMPTY.model_copy(update={"function_response": answer})
