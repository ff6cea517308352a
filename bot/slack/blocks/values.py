"""Pure: values in words, what a call runs with and what somebody entered alike.

A value is told whole and exactly. Numbers have no marks of thousands, since these are points in one
country and commas in another.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from bot.secrets import MASK, covered
from bot.slack.text import cut, titled, visible

EXACT = 2**53
"""Below this a float without a fraction is the same number as an int."""
DIGITS = 15
"""Up to so many digits of a float are as somebody wrote them; more come from computing."""
NUMBER_LIMIT = 40
FILLED_LIMIT = 200
LINE = 80
"""Characters beyond which a value wants a box of its own."""
YES, NO, NOTHING, EMPTY, NONE = "Yes", "No", "nothing", "empty", "none"
OURS = frozenset({YES, NO, NOTHING, EMPTY, NONE})
"""Our words for values: a text that is one of them is quoted."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?")
_LIKE_A_PAIR = re.compile(r"[,;][^,;:\"]{1,60}: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One value, whole: secrets masked, hidden characters spelled out.

    `deceiving` says that there were some; `default` that the model left it out, `filled` what of it
    the model left out; `instead` is what shows it better than its text: a moment in the reader's
    zone.
    """

    name: str
    value: str
    deceiving: bool
    default: bool = False
    filled: tuple[str, ...] = ()
    instead: tuple[dict[str, Any], ...] = ()

    @property
    def long(self) -> bool:
        """Whether the value wants a box of its own."""
        return len(self.value) > LINE or "\n" in self.value

    @property
    def title(self) -> str:
        """Its name as a person would write it, and what of it the model left out."""
        inside = f" (default: {cut(', '.join(self.filled), FILLED_LIMIT)})" if self.filled else ""
        return titled(self.name) + (" (default)" if self.default else inside)


def argument(
    name: str, value: JsonValue, *, default: bool = False, filled: tuple[str, ...] = ()
) -> Argument:
    """A value for people to read: an argument, something a call depends on, or an entry."""
    shown_name, odd_name = visible(name)
    safe = covered(value, by=MASK, name=name)
    shown, odd = visible(words(safe))
    odd = odd or odd_name or (safe != value and visible(words(value))[1])
    return Argument(
        name=shown_name,
        value=shown,
        deceiving=odd,
        default=default,
        filled=filled,
        instead=_moment(safe) if isinstance(safe, str) else (),
    )


def arranged(value: JsonValue, path: str, place: Mapping[str, int]) -> JsonValue:
    """A value at a path, its names in order of their places; those of no place come last."""
    match value:
        case list():
            return [arranged(each, path, place) for each in value]
        case dict():
            names = sorted(value, key=lambda name: place.get(f"{path}.{name}", len(place)))
            return {name: arranged(value[name], f"{path}.{name}", place) for name in names}
        case _:
            return value


def in_one_line(shown: Sequence[Argument], limit: int) -> str:
    """Some arguments as `name: value, …`, for notifications and screen readers."""
    told = ", ".join(f"{titled(each.name)}: {_within_a_line(each.value)}" for each in shown)
    return told if len(told) <= limit else f"{told[: limit - 1]}…"


def words(value: JsonValue) -> str:
    """A value in words; what has parts is a list of words or, where that is too long, JSON."""
    match value:
        case None:
            return NOTHING
        case bool():
            return YES if value else NO
        case str():
            return _text(value)
        case int() | float():
            return _computed(value)
        case _:
            return _several(value) if value else NONE


def number(value: float) -> str:
    """A number in full, digit by digit; only one with very many digits has a power of ten."""
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < EXACT and str(value) != "-0.0":
        return str(int(value))
    text = str(value)
    plain = f"{Decimal(text):f}" if "e" in text else text
    return plain if len(plain) <= NUMBER_LIMIT else text


def _computed(value: float) -> str:
    """A number; one that was computed in binary, such as 0.1 + 0.2, also as people meant it."""
    exact = number(value)
    if isinstance(value, float) and len(exact.strip("-0.").replace(".", "")) > DIGITS:
        meant = number(float(f"{value:.{DIGITS}g}"))
        if len(meant) < len(exact) - 3:
            return f"{meant} (exactly {exact})"
    return exact


def _text(text: str) -> str:
    """A text as it is, in quotes if it reads like another value or begins with a blank."""
    if not text:
        return EMPTY
    edges = not text.strip() or ("\n" not in text and text != text.strip())
    if edges or text in OURS or (text[0] == text[-1] == '"' and len(text) > 1):
        return json.dumps(text, ensure_ascii=False)
    at = _at(text)
    if at is None:
        return text
    seconds = f":{at:%S}" if at.second else ""
    zone = f" {at.isoformat()[-6:]}" if at.utcoffset() else (" UTC" if at.tzinfo else "")
    return f"{at:%Y-%m-%d %H:%M}{seconds}{zone}"


def _several(value: dict[str, JsonValue] | list[JsonValue]) -> str:
    flat = isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)
    line = ", ".join(map(_member, value)) if flat else ""
    return line if flat and len(line) <= LINE else _json(value)


def _member(value: JsonValue) -> str:
    """One of several values in a line, in quotes if it would look like two of them."""
    if isinstance(value, str) and re.search(r"[,\n]", value):
        return json.dumps(value, ensure_ascii=False)
    return words(value)


def _within_a_line(value: str) -> str:
    """A value among others, in quotes if it would look like the name of another one."""
    line = " ".join(cut(value, 150).split())
    return json.dumps(line, ensure_ascii=False) if _LIKE_A_PAIR.search(line) else line


def _json(value: JsonValue, *, before: str = "") -> str:
    """A value with parts as indented JSON, its numbers written as everywhere else."""
    inner = f"{before}  "
    match value:
        case dict() if value:
            lines = [f"{inner}{_quoted(k)}: {_json(v, before=inner)}" for k, v in value.items()]
            return "{\n" + ",\n".join(lines) + f"\n{before}}}"
        case list() if value:
            lines = [f"{inner}{_json(each, before=inner)}" for each in value]
            return "[\n" + ",\n".join(lines) + f"\n{before}]"
        case bool():
            return json.dumps(value)
        case int() | float():
            return number(value)
        case _:
            return _quoted(value)


def _quoted(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _at(text: str) -> datetime | None:
    """The date and time that a text is, as machines write it, with whole seconds."""
    try:
        return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
    except ValueError:
        return None


def _moment(text: str) -> tuple[dict[str, Any], ...]:
    """A date and time with a zone, which Slack shows in the reader's; none for anything else."""
    at = _at(text)
    if at is None or at.tzinfo is None:
        return ()
    seconds = int(at.timestamp())
    if not 0 <= seconds < 10**10:
        return ()
    piece = {
        "type": "date",
        "timestamp": seconds,
        "format": f"{{date_short_pretty}} at {{time{'_secs' if at.second else ''}}}",
        "fallback": f"{at.astimezone(UTC):%Y-%m-%d %H:%M}{f':{at:%S}' if at.second else ''} UTC",
    }
    return (piece,)
