"""What came of a call, in one line of words; values that are missing go unmentioned."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from pydantic import JsonValue

from agents import Event
from bot.approvals.request import Approval
from bot.secrets import MASK, covered
from bot.slack.blocks.concealed import concealed
from bot.slack.blocks.rendered import listed
from bot.slack.blocks.values import number
from bot.slack.text import cut, titled

ALL_LIMIT = 900
EACH_LIMIT = 300
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")

Hide = Callable[[str], str]
"""Hides what is secret in a text; applied before anything is cut."""


def brought(events: Sequence[Event], approval: Approval) -> str:
    """The newest response to the call of an approval, as `Name: value` pairs; empty without any.

    A value without a name of its own, `result`, stands alone. What is secret in it is not told.
    """
    for event in reversed(events):
        for response in event.get_function_responses():
            if response.id == approval.call_id:
                found: dict[str, JsonValue] = response.response or {}
                fields = {name: covered(each, by=MASK, name=name) for name, each in found.items()}
                return _told(fields, partial(concealed, approval))
    return ""


def _told(fields: Mapping[str, JsonValue], hide: Hide) -> str:
    pairs = _pairs(fields, hide)
    lone = [*fields] == ["result"]
    told: list[str] = []
    for name, word in pairs:
        value = cut(" ".join(word.split()), EACH_LIMIT)
        piece = value if lone else f"{cut(titled(hide(name)), EACH_LIMIT)}: {value}"
        if sum(map(len, told)) + len(piece) > ALL_LIMIT:
            return f"{', '.join(told)} … and {len(pairs) - len(told):,} more"
        told.append(piece)
    return ", ".join(told)


def _pairs(fields: Mapping[str, JsonValue], hide: Hide) -> list[tuple[str, str]]:
    """The names that have a value, each with the value in words."""
    found = [(name, value, _word(value, hide)) for name, value in fields.items()]
    return [
        (name, word if isinstance(value, bool) else hide(word))
        for name, value, word in found
        if word
    ]


def _word(value: JsonValue, hide: Hide) -> str:
    """A value as a person would say it; empty where there is none."""
    match value:
        case None:
            return ""
        case bool():
            return "Yes" if value else "No"
        case str():
            return _text(hide(value).strip())
        case int() | float():
            return number(value)
        case _:
            return _several(value, hide)


def _several(value: dict[str, JsonValue] | list[JsonValue], hide: Hide) -> str:
    """Values inside a value; empty where none of them is there."""
    if not value:
        return "none"
    if isinstance(value, dict):
        pairs = [f"{hide(name).replace('_', ' ')}: {word}" for name, word in _pairs(value, hide)]
        return f"({', '.join(pairs)})" if pairs else ""
    words = [_word(each, hide) for each in value]
    return listed([word or "nothing" for word in words]) if any(words) else ""


def _text(text: str) -> str:
    """A text; one that is a moment as people write it, to the second."""
    if not _MOMENT.fullmatch(text):
        return text
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    seconds = f":{at:%S}" if at.second else ""
    zone = f" {at.isoformat()[-6:]}" if at.utcoffset() else (" UTC" if at.tzinfo else "")
    return f"{at:%Y-%m-%d %H:%M}{seconds}{zone}"
