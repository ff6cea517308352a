"""Pure: one field a person fills in: what they typed -> its value, or the words for what is wanted.

People type text: "3" and " ３ " are whole numbers (see `numbers`), "yes" is true, "2026-12-24" a
date. A value of the right JSON type is taken as it is. Dates, times and spans stay text, in ISO
8601, and so do the digits of a Decimal. Lists and objects are typed as JSON, a list of texts also
line by line.
"""

import functools
import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from uuid import UUID

from pydantic import JsonValue, TypeAdapter
from pydantic_core import SchemaError, SchemaValidator, core_schema

from agents.runtime.jsonable import to_json
from agents.runtime.numbers import Unclear, digits, is_doubtful, unmistakable

Schema = Mapping[str, Any]

MAX_TEXT = 10_000
MAX_WORDS = 400
"""Characters of the choices that are named where a value is none of them."""
WHOLE = re.compile(r"(-?[0-9]+)(\.0+)?")
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
    return made(schema, value) if made else storable(value)


def storable(value: JsonValue) -> JsonValue:
    """The value as it is; raises Refused for one that would be another once it is stored."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused("must have only numbers and characters that can be written down") from error
    return value


def wanted(schema: Schema) -> str:
    """What a schema wants, in words: "a whole number between 1 and 5"."""
    if "enum" in schema or "const" in schema:
        return _one(schema.get("enum", [schema.get("const")]))
    form, kind = schema.get("format", ""), schema.get("type", "")
    words = _KINDS[form] if form in _FORMATS else _KINDS.get(kind, "something else")
    for (low, high), unit in _LIMITS.items():
        words += _limits(schema.get(low), schema.get(high), unit=unit)
    return words + "".join(
        text.format(schema[key]) for key, text in _RULES.items() if key in schema
    )


def _one(members: list[JsonValue]) -> str:
    """Which values are taken, in words; of very many only the first ones."""
    words = [str(each) if each != "" else '""' for each in members]
    room = (sum(map(len, words[: end + 1])) for end in range(len(words)))
    kept = sum(used <= MAX_WORDS for used in room)
    if not kept:
        return f"one of {len(words):,} choices"
    more = len(words) - kept
    return " or ".join(words[:kept]) + (f" or one of {more:,} more" if more else "")


def _limits(least: object, most: object, *, unit: str) -> str:
    if least is not None and least == most and unit:
        return f" of {least} {unit}{'s' if least != 1 else ''}"
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
        found = WHOLE.fullmatch(_typed(schema, value))
        value = int(found[1]) if found else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not _in_range(schema, value):
        raise Refused(f"must be {wanted(schema)}")
    return value


def _number(schema: Schema, value: JsonValue) -> float:
    if isinstance(value, str):
        text = _typed(schema, value)
        value = float(text) if text else None
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # pyright: ignore[reportArgumentType]
    except (OverflowError, TypeError):
        number = math.nan
    if not math.isfinite(number) or not _in_range(schema, number):
        raise Refused(f"must be {wanted(schema)}")
    return number


def _typed(schema: Schema, text: str) -> str:
    """The digits of a number that somebody typed; empty where they typed no number."""
    try:
        return digits(text) or ""
    except Unclear as unclear:
        raise Refused(f"must be {wanted(schema)}; {unclear}") from unclear


def _flag(schema: Schema, value: JsonValue) -> bool:
    found = FLAGS.get(value.strip().casefold()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise Refused(f"must be {wanted(schema)}")
    return found


def read(schema: Schema, text: str) -> JsonValue:
    """The list, object or other value that somebody typed for a field; raises Refused.

    What is no JSON is a list of texts, one in each line, where one is wanted; a line `[]` is the
    empty list that the field began with. Where no list and no object is wanted, what is no JSON is
    a text.
    """
    kind = schema.get("type")
    fraction = float if kind in ("array", "object") else _fraction
    try:
        found: JsonValue = json.loads(text, parse_constant=_no_number, parse_float=fraction)
    except (ValueError, RecursionError):
        found = text
    if kind == "array" and not isinstance(found, list) and _takes_lines(schema):
        return [line.strip() for line in text.splitlines() if line.strip() not in ("", "[]")]
    wrong = (kind == "array" and not isinstance(found, list)) or (
        kind == "object" and not isinstance(found, dict)
    )
    if wrong:
        raise Refused(f"must be {wanted(schema)}, typed as JSON")
    return found


@functools.lru_cache(maxsize=256)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A test for a pattern that searches a text as pydantic does; raises ValueError."""
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"nobody can read the pattern {pattern!r}: {error}") from error
        return lambda text: compiled.search(text) is not None
    return validator.isinstance_python


def _takes_lines(schema: Schema) -> bool:
    return schema.get("items", {}).get("type") == "string" and "prefixItems" not in schema


def _no_number(word: str) -> JsonValue:
    raise ValueError(word)


def _fraction(word: str) -> float:
    """A number that stands alone; one that may be thousands stays as it was typed."""
    if is_doubtful(word):
        raise ValueError(word)
    return float(word)


def _text(schema: Schema, value: JsonValue) -> str:
    try:
        text = _FORMATS.get(schema.get("format", ""), _as_is)(schema, value)
        if schema.get("strip"):
            text = text.strip()
        fits = "pattern" not in schema or matcher(schema["pattern"])(text)
    except Refused:
        raise
    except (ValueError, TypeError, OverflowError, OSError, ArithmeticError) as error:
        raise Refused(f"must be {wanted(schema)}") from error
    least, most = schema.get("minLength", 0), schema.get("maxLength", MAX_TEXT)
    blank = least and not text.strip()
    if blank or not least <= len(text) <= most or not fits:
        raise Refused(f"must be {wanted(schema)}")
    return _CASES.get(schema.get("case", ""), str)(text)


def _nothing(_schema: Schema, value: JsonValue) -> None:
    if value is not None:
        raise Refused("must be left empty")


def _as_is(_schema: Schema, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    value.encode()  # half a surrogate pair cannot be stored
    return value


def _date(schema: Schema, value: Any) -> str:
    return _limited(schema, date.fromisoformat(_as_is(schema, value).strip())).isoformat()


def _time(schema: Schema, value: Any) -> str:
    return _limited(schema, time.fromisoformat(_as_is(schema, value).strip())).isoformat()


def _moment(schema: Schema, value: Any) -> str:
    """A date and time; Slack's picker gives seconds since the epoch."""
    if isinstance(value, int) and not isinstance(value, bool):
        moment = datetime.fromtimestamp(value, tz=UTC)
    else:
        moment = datetime.fromisoformat(_as_is(schema, value).strip())
    if schema.get("zone") and moment.tzinfo is None:
        raise ValueError("no time zone")
    return _limited(schema, moment).isoformat()


def _span(schema: Schema, value: Any) -> str:
    return str(to_json(_limited(schema, _SPAN.validate_python(_plain(value)))))


def _digits(schema: Schema, value: Any) -> str:
    told = _typed(schema, value) if isinstance(value, str) else value
    limits = {"decimal_places": "decimalPlaces", "max_digits": "maxDigits"}
    known = {key: schema[name] for key, name in limits.items() if name in schema}
    if "multipleOf" in schema:
        known["multiple_of"] = Decimal(schema["multipleOf"])
    number = SchemaValidator(core_schema.decimal_schema(**known)).validate_python(_plain(told))
    return unmistakable(str(_limited(schema, number)))


def _person(schema: Schema, value: Any) -> str:
    text = _as_is(schema, value).strip()
    if not text:
        raise ValueError("nobody")
    return text


def _identity(schema: Schema, value: Any) -> str:
    found = UUID(_as_is(schema, value).strip())
    if schema.get("version") not in (None, found.version):
        raise ValueError("another version")
    return str(found)


def _link(schema: Schema, value: Any) -> str:
    wants = core_schema.url_schema(
        allowed_schemes=schema.get("schemes"), host_required=schema.get("hostRequired")
    )
    return str(SchemaValidator(wants).validate_python(_as_is(schema, value).strip()))


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("a flag")
    return value


def _limited(schema: Schema, value: Any) -> Any:
    """The value if it is within its limits, which are texts of the same format."""
    for name, fits in _BOUNDS.items():
        if name in schema and not fits(value, _MADE[schema["format"]](schema[name])):
            raise ValueError("beyond its limits")
    return value


def _in_range(schema: Schema, value: float) -> bool:
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and schema.get("exclusiveMinimum", -math.inf) < value
        and value < schema.get("exclusiveMaximum", math.inf)
        and ("multipleOf" not in schema or _is_multiple(value, schema["multipleOf"]))
    )


def _is_multiple(value: float, step: float) -> bool:
    """Whether a number is one in decimals, as people write it: 19.99 is a multiple of 0.01."""
    return Fraction(repr(value)) % Fraction(repr(step)) == 0


_UUIDS = ("uuid", *(f"uuid{version}" for version in range(1, 9)))
_SPAN = TypeAdapter(timedelta)
_CASES: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"lower": str.lower, "upper": str.upper}
)
_BOUNDS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "formatMinimum": operator.ge,
        "formatMaximum": operator.le,
        "formatExclusiveMinimum": operator.gt,
        "formatExclusiveMaximum": operator.lt,
    }
)
_MADE: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {
        "date": date.fromisoformat,
        "time": time.fromisoformat,
        "date-time": datetime.fromisoformat,
        "duration": _SPAN.validate_python,
        "decimal": Decimal,
    }
)
_SCALARS: Mapping[str, Callable[[Schema, JsonValue], JsonValue]] = MappingProxyType(
    {"integer": _whole, "number": _number, "boolean": _flag, "string": _text, "null": _nothing}
)
_FORMATS: Mapping[str, Callable[[Schema, Any], str]] = MappingProxyType(
    {
        "date": _date,
        "time": _time,
        "date-time": _moment,
        "duration": _span,
        "decimal": _digits,
        "uri": _link,
        "person": _person,
        **dict.fromkeys(_UUIDS, _identity),
    }
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
        "duration": "a span of time like P1DT2H or 02:30:00",
        "decimal": "a number",
        **dict.fromkeys(_UUIDS, "a UUID"),
        "uri": "a link like https://example.com",
        "array": "a list",
        "object": "an object",
    }
)
_LIMITS = MappingProxyType(
    {
        ("minimum", "maximum"): "",
        ("formatMinimum", "formatMaximum"): "",
        ("minLength", "maxLength"): "character",
        ("minItems", "maxItems"): "choice",
        ("minProperties", "maxProperties"): "key",
    }
)
_RULES = MappingProxyType(
    {
        "exclusiveMinimum": ", more than {}",
        "exclusiveMaximum": ", less than {}",
        "formatExclusiveMinimum": ", more than {}",
        "formatExclusiveMaximum": ", less than {}",
        "multipleOf": ", a multiple of {}",
        "decimalPlaces": ", with at most {} digits after the decimal point",
        "maxDigits": ", with at most {} digits",
        "zone": ", {} its time zone",
        "pattern": ", of the form {}",
    }
)
