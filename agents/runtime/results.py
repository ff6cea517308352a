"""Pure: what a tool's body returned or raised -> what the model reads, as JSON right away.

A dict is the response, anything else is its `result`. What is stored is what was shown: no Python
object lives on in an event.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from google.genai import types
from pydantic import JsonValue

from agents.runtime.errors import ToolError
from agents.runtime.foreign import named
from agents.runtime.jsonable import to_json

MAX_BYTES = 256 * 1024
MAX_SENTENCE = 2000
Fate = Literal["done", "failed", "unknown"]
LONGER = 6
"""JSON is at most so many times as long as Python's own text: `\\u0007` for one character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yielded:
    """What a generator produced: intermediate news, and its result."""

    intermediate: list[Any] = field(default_factory=list[Any])
    result: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the model reads of one call: the response, and the media that stand beside it."""

    response: dict[str, JsonValue]
    media: tuple[types.Part, ...] = ()


def result_of(value: object) -> Result:
    """A returned value as JSON; never raises.

    Parts with media, alone or in a list, are handed on as they are. More than 256 kB of JSON are
    cut to their beginning, and the response says so.
    """
    if isinstance(value, Yielded):
        value = value.result
    parts = _media(value)
    if parts:
        return Result(response={"result": f"{len(parts)} part(s) attached"}, media=parts)
    plain = to_json(value)
    if isinstance(value, Mapping) and isinstance(plain, dict):
        return Result(response=_within_limit(plain))
    return Result(response=_within_limit({"result": plain}))


def failure(error: BaseException, *, tool: str) -> dict[str, JsonValue]:
    """What the model reads when a body raised: a ToolError's own sentence, else kind and text."""
    text = str(error) if isinstance(error, ToolError) else f"{tool} failed: {named(error)}"
    return {"error": cast("str", to_json(text))[:MAX_SENTENCE]}


def fate(response: Mapping[str, object]) -> Fate:
    """What a response says became of a call.

    `unknown` is what the runtime alone says, in these words. A body that says itself that it failed
    has failed; an error that is empty is none, and `errors` beside other things tell of a part.
    """
    status, error = response.get("status"), response.get("error")
    ours = {"status", "error"} <= set(response) <= {"status", "error", "reason"}
    if status == "unknown" and isinstance(error, str) and ours:
        return "unknown"
    refused = any(response.get(name) is False for name in ("ok", "success"))
    alone = set(response) <= {"errors", "error", "ok", "success", "status"}
    errors = alone and response.get("errors")
    failed = error or errors or refused or status in ("error", "failed")
    return "failed" if failed else "done"


def unknown_tool(name: str, *, known: Iterable[str]) -> dict[str, JsonValue]:
    """What the model reads when it called a tool that is not there."""
    there = ", ".join(sorted(known)) or "none"
    text = f"There is no tool called {name[:100]!r}. The tools are: {there}."
    return {"error": cast("str", to_json(text))}


def _media(value: object) -> tuple[types.Part, ...]:
    items = cast("list[object]", value if isinstance(value, (list, tuple)) else [value])
    parts = tuple(item for item in items if isinstance(item, types.Part))
    whole = len(parts) == len(items) and all(p.inline_data or p.file_data for p in parts)
    return parts if whole else ()


def _within_limit(response: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if LONGER * len(str(response)) <= MAX_BYTES:
        return response
    text = json.dumps(response, ensure_ascii=False).encode()
    if len(text) <= MAX_BYTES:
        return response
    kept = text[:MAX_BYTES].decode(errors="ignore")
    note = f"The result has {len(text)} bytes of JSON; only the first {MAX_BYTES} are here."
    return {"result": kept, "truncated": note}
