"""Pure: one field a person fills in: what they typed -> its value, or the words for what is wanted.

People type text: "3" and " ３ " are whole numbers, "yes" is true, "2026-12-24" a date. A value of
the right JSON type is taken as it is. Dates and times stay text, in ISO 8601.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

Schema = Mapping[str, Any]

MAX_TEXT = 10_000
WHOLE = re.compile(r"[+-]?[0-9]{1,4000}(\.0*)?")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Refused(ValueError):
    """A value that does not fit; the text goes on after the field's name: "must be …"."""


def scalar(schema: Schema, value: JsonValue) -> JsonValue:
    """The value of a field that is no list and no object; raises Refused.

    A schema without a type takes everything.
    """
    if "enum" in schema or "const" in schema:
        return _one_of(schema, value)
    made = _SCALARS.get(schema.get("type", ""))
    return made(schema, value) if made else value


def wanted(schema: Schema) -> str:
    """What a schema wants, in words: "a whole number between 1 and 5"."""
    if "enum" in schema or "const" in schema:
        return " or ".join(map(str, schema.get("enum", [schema.get("const")])))
    form, kind = schema.get("format", ""), schema.get("type", "")
    words = _KINDS[form] if form in _FORMATS else _KINDS.get(kind, "something else")
    for (low, high), unit in _LIMITS.items():
        words += _limits(schema.get(low), schema.get(high), unit=unit)
    return words + "".join(
        text.format(schema[key]) for key, text in _RULES.items() if key in schema
    )


def _limits(least: float | None, most: float | None, *, unit: str) -> str:
    if least is not None and most is not None:
        return f"{' of' if unit else ''} between {least} and {most}{unit and f' {unit}s'}"
    limit, words = (most, "at most") if least is None else (least, "at least")
    if limit is None:
        return ""
    return f" of {words} {limit}" + (unit and f" {unit}{'s' if limit != 1 else ''}")


def _one_of(schema: Schema, value: JsonValue) -> JsonValue:
    options: list[JsonValue] = schema.get("enum", [schema.get("const")])
    same = (option for option in options if type(option) is type(value) and option == value)
    typed = value.strip() if isinstance(value, str) else None
    meant = (option for option in options if option is not None and str(option) == typed)
    for option in (*same, *meant):
        return option
    raise Refused(f"must be {wanted(schema)}")


def _whole(schema: Schema, value: JsonValue) -> int:
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).strip()
        value = int(text.partition(".")[0]) if WHOLE.fullmatch(text) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not _in_range(schema, value):
        raise Refused(f"must be {wanted(schema)}")
    return value


def _number(schema: Schema, value: JsonValue) -> float:
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).strip()
        value = float(text) if NUMBER.fullmatch(text) else None
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # pyright: ignore[reportArgumentType]
    except (OverflowError, TypeError):
        number = math.nan
    if not math.isfinite(number) or not _in_range(schema, number):
        raise Refused(f"must be {wanted(schema)}")
    return number


def _flag(schema: Schema, value: JsonValue) -> bool:
    found = FLAGS.get(value.strip().casefold()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise Refused(f"must be {wanted(schema)}")
    return found


def _text(schema: Schema, value: JsonValue) -> str:
    try:
        text = _FORMATS.get(schema.get("format", ""), _as_is)(value)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise Refused(f"must be {wanted(schema)}") from error
    least, most = schema.get("minLength", 0), schema.get("maxLength", MAX_TEXT)
    blank = least and not text.strip()
    if blank or not least <= len(text) <= most or not re.search(schema.get("pattern", ""), text):
        raise Refused(f"must be {wanted(schema)}")
    return text


def _nothing(_schema: Schema, value: JsonValue) -> None:
    if value is not None:
        raise Refused("must be left empty")


def _as_is(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    value.encode()  # half a surrogate pair cannot be stored
    return value


def _date(value: Any) -> str:
    return date.fromisoformat(_as_is(value).strip()).isoformat()


def _time(value: Any) -> str:
    return time.fromisoformat(_as_is(value).strip()).isoformat()


def _moment(value: Any) -> str:
    """A date and time; Slack's picker gives seconds since the epoch."""
    if isinstance(value, int) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, tz=UTC).isoformat()
    return datetime.fromisoformat(_as_is(value).strip()).isoformat()


def _in_range(schema: Schema, value: float) -> bool:
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and schema.get("exclusiveMinimum", -math.inf) < value
        and value < schema.get("exclusiveMaximum", math.inf)
        and ("multipleOf" not in schema or value % schema["multipleOf"] == 0)
    )


_SCALARS: Mapping[str, Callable[[Schema, JsonValue], JsonValue]] = MappingProxyType(
    {"integer": _whole, "number": _number, "boolean": _flag, "string": _text, "null": _nothing}
)
_FORMATS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {"date": _date, "time": _time, "date-time": _moment}
)
_KINDS = MappingProxyType(
    {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "yes or no",
        "string": "text",
        "date": "a date like 2026-12-24",
        "time": "a time like 09:30",
        "person": "a person",
        "multiline": "text",
        "date-time": "a date and time like 2026-12-24T09:30",
        "array": "a list",
        "object": "an object",
    }
)
_LIMITS = MappingProxyType(
    {
        ("minimum", "maximum"): "",
        ("minLength", "maxLength"): "character",
        ("minItems", "maxItems"): "choice",
    }
)
_RULES = MappingProxyType(
    {
        "exclusiveMinimum": ", more than {}",
        "exclusiveMaximum": ", less than {}",
        "multipleOf": ", a multiple of {}",
        "pattern": ", of the form {}",
    }
)
