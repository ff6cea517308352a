"""The conversation as the rehearsal model remembers it: who said what, and what calls came to."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from google.genai import types

from agents.runtime.history import NEWS, PREAMBLE
from agents.runtime.transfer import TRANSFER

_NEWS = re.compile(
    re.escape(NEWS).replace(r"\{name\}", r"(?P<name>\S+?)") + r"(?P<json>.*)", re.DOTALL
)
_MENTION = re.compile(r"<@[A-Z0-9]+(?:\|[^>]*)?>")
_WAITING = frozenset({"pending", "waiting", "requested", "queued", "in_progress", "running"})
_WAITS = re.compile(r"\bwaits? for\b|\bneeds? (?:approval|confirmation)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A text, of the person or of the model."""

    by: Literal["user", "model"]
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What a call came to, as far as it has: `pending` while it waits for somebody."""

    name: str
    args: dict[str, Any]
    response: dict[str, Any]
    place: int = 0

    @property
    def pending(self) -> bool:
        """Whether the call still waits."""
        if "outcome" in self.response:
            return False
        return str(self.response.get("status", "")).lower() in _WAITING or self.asks

    @property
    def asks(self) -> bool:
        """Whether people are asked about it."""
        waits = _WAITS.search(str(self.response.get("error", "")))
        return bool(waits or {"asked", "waiting_for"} & set(self.response))


Item = Said | Answered


def remember(contents: Sequence[types.Content]) -> list[Item]:
    """The conversation, oldest first; a call's newest answer stands where it arrived."""
    items: list[Item] = []
    calls: list[types.FunctionCall] = []
    for content in contents:
        parts = content.parts or []
        if content.role != "model" and parts and parts[0].text == PREAMBLE:
            continue
        for part in parts:
            if part.function_call:
                calls.append(part.function_call)
            elif part.function_response:
                _answer(items, calls, part.function_response)
            elif part.text and not part.thought:
                beside = any(other.function_response for other in parts)
                _say(items, "model" if beside else content.role or "user", part.text)
    return items


def _say(items: list[Item], role: str, text: str) -> None:
    news = _NEWS.fullmatch(text) if role != "model" else None
    earlier = [i for i in items if isinstance(i, Answered) and news and i.name == news["name"]]
    if news and earlier:
        old = next((e for e in reversed(earlier) if e.pending), earlier[-1])
        items.append(Answered(old.name, old.args, _object(news["json"]), old.place))
        return
    text = _MENTION.sub(" ", text).strip() if role != "model" else text
    if text:
        items.append(Said("model" if role == "model" else "user", text))


def _answer(
    items: list[Item], calls: list[types.FunctionCall], response: types.FunctionResponse
) -> None:
    name = response.name or ""
    if name == TRANSFER:
        return
    same = [c for c in calls if c.name == name and (not response.id or c.id == response.id)]
    call = same[0] if same else None
    place = len(items)
    if call:
        calls.remove(call)
    args = dict(call.args or {}) if call else {}
    items.append(Answered(name, args, dict(response.response or {}), place))


def _object(text: str) -> dict[str, Any]:
    try:
        read: Any = json.loads(text)
    except ValueError:
        return {"result": text}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {"result": read}


def newest(items: Sequence[Item]) -> list[Answered]:
    """The newest answer of each call, in the order of the calls."""
    answers: dict[int, Answered] = {}
    for item in items:
        if isinstance(item, Answered):
            answers[item.place] = item
    return list(answers.values())


def fresh(items: Sequence[Item]) -> list[Answered]:
    """The answers that came after the last word; all newest ones when nobody spoke since."""
    last = max((i for i, item in enumerate(items) if isinstance(item, Said)), default=-1)
    return newest(items[last + 1 :]) or newest(items)


def heard(items: Sequence[Item]) -> tuple[list[Item], str]:
    """What was before the person's latest words, and these words."""
    place = len(items)
    while place and isinstance(said := items[place - 1], Said) and said.by == "user":
        place -= 1
    words = [item.text for item in items[place:] if isinstance(item, Said)]
    return list(items[:place]), "\n".join(words)
