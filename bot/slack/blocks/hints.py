"""What is said below an input: what a field means, what it takes, and what it cannot begin with."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from pydantic import JsonValue

from bot.slack.options import option_value
from bot.slack.text import cut, visible

Schema = Mapping[str, Any]
Json = dict[str, JsonValue]
Flat = Callable[[object], Schema]

ABOUT_LIMIT = 300
CHOICES_LIMIT = 1_000
RULES_LIMIT = 500
SAMPLES, DEEP = 3, 3
"""Kinds of a value that are shown by a sample each, and how deep a sample goes."""
UNSHOWN = "Its initial value cannot be shown here, so this starts empty."


def hint(
    schema: Schema,
    *,
    flat: Flat,
    choices: Sequence[JsonValue] = (),
    typed: bool,
    unshown: bool,
) -> str:
    """The text below an input, at most some 2,000 characters.

    `flat` gives a schema without references. `choices` are those that no select could offer;
    `typed` says that a value with parts is entered as text; `unshown` that the value it would begin
    with is not in the input.
    """
    about = schema.get("description")
    told = [cut(about.strip(), ABOUT_LIMIT)] if isinstance(about, str) and about.strip() else []
    rules = [_form(schema, flat)] if typed else []
    rules += [rule for rule in _rules(schema) if rule not in " ".join(told)]
    told += [cut(" ".join(filter(None, rules)), RULES_LIMIT)] if any(rules) else []
    told += [_one_of(choices)] if choices else []
    told += [UNSHOWN] if unshown else []
    return visible(" ".join(told))[0][:2_000]


def takes_lines(schema: Schema) -> bool:
    """Whether a field is a list of texts, which people type line by line."""
    items: object = schema.get("items")
    texts = isinstance(items, Mapping) and cast("Schema", items).get("type") == "string"
    return schema.get("type") == "array" and texts


def _form(schema: Schema, flat: Flat) -> str:
    """How to type a value that has parts: by a sample of each kind that there is."""
    if takes_lines(schema):
        return "One per line."
    kinds = _kinds({key: schema[key] for key in schema if key != "default"}, flat)
    parted = [kind for kind in kinds if kind.get("type") in _PARTED]
    if not parted:
        return ""
    words = "JSON" if len(parted) > 1 else _PARTED[parted[0]["type"]]
    samples = [json.dumps(_sample(kind, flat), ensure_ascii=False) for kind in parted[:SAMPLES]]
    told = f"{words}, such as {' or '.join(samples)}."
    if len(parted) < len(kinds):
        told = f"Or {told[:1].lower() if words != 'JSON' else 'J'}{told[1:]}"
    spare = _spare(parted[0]) if len(parted) == 1 else []
    return f"{told} May be left out: {', '.join(spare)}." if spare else told


def _kinds(schema: Schema, flat: Flat) -> list[Schema]:
    """The kinds of value that a field takes, but for null."""
    ways = cast("Sequence[object]", schema.get("anyOf") or schema.get("oneOf") or [schema])
    found = [flat(way) for way in ways]
    return [kind for kind in found if kind.get("type") != "null"]


def _spare(schema: Schema) -> list[str]:
    """The keys of an object that nobody has to type."""
    required = cast("Sequence[str]", schema.get("required") or ())
    return [name for name in _properties(schema) if name not in required]


def _properties(schema: Schema) -> Schema:
    return cast("Schema", schema.get("properties") or {})


def _sample(about: object, flat: Flat, *, deep: int = DEEP) -> JsonValue:
    """A value as it could look: defaults and first choices as they are, texts as three dots."""
    nothing: Schema = {}
    schema = next(iter(_kinds(flat(about), flat)), nothing)
    for said in ("default", "const"):
        if said in schema:
            return schema[said]
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object" if deep:
            return _object(schema, flat, deep=deep - 1)
        case "array" if deep:
            each = schema.get("prefixItems") or _kinds(flat(schema.get("items")), flat)[:SAMPLES]
            return [_sample(item, flat, deep=deep - 1) for item in each]
        case kind:
            least = schema.get("minimum", 1)
            plain: Json = {"integer": least, "number": least, "boolean": True}
            plain |= {"object": {}, "array": []}
            return plain.get(str(kind), _DATES.get(str(schema.get("format")), "…"))


def _object(schema: Schema, flat: Flat, *, deep: int) -> JsonValue:
    """An object with its keys; with one that is made up where any may stand."""
    known = _properties(schema)
    if not known and schema.get("additionalProperties") is not False:
        return {"…": _sample(schema.get("additionalProperties"), flat, deep=deep)}
    return {name: _sample(about, flat, deep=deep) for name, about in known.items()}


def _one_of(choices: Sequence[JsonValue]) -> str:
    """The choices in words, as many as there is room for."""
    told: list[str] = []
    for each in choices:
        word = option_value(each) or '""'
        if sum(map(len, told)) + len(word) > CHOICES_LIMIT:
            break
        told.append(word)
    if not told:
        return f"One of {len(choices):,} choices, each too long to be listed here."
    more = len(choices) - len(told)
    return f"One of: {' | '.join(told)}" + (f" and {more:,} more." if more else ".")


def _rules(schema: Schema) -> Iterator[str]:
    """The rules for a value, a sentence each."""
    yield _between(*(_limit(schema, end) for end in ("inimum", "aximum")))
    for least, most, unit in _COUNTED:
        yield _counted(schema.get(least), schema.get(most), unit=unit)
    for key, told in _TOLD.items():
        if key in schema:
            yield told(schema[key])
    yield _FORMATS.get(str(schema.get("format")), "")


def _limit(schema: Schema, end: str) -> tuple[object, bool] | None:
    """The least or greatest value that a field takes, and whether that value itself is taken."""
    for name, within in ((f"m{end}", True), (f"exclusiveM{end}", False)):
        for key in (name, f"format{name[:1].upper()}{name[1:]}"):
            if key in schema:
                return schema[key], within
    return None


def _between(low: tuple[object, bool] | None, high: tuple[object, bool] | None) -> str:
    if low and high and low[1] and high[1]:
        return f"From {low[0]} to {high[0]}."
    told = [f"{'at least' if low[1] else 'more than'} {low[0]}"] if low else []
    told += [f"{'at most' if high[1] else 'less than'} {high[0]}"] if high else []
    return f"{', '.join(told).capitalize()}." if told else ""


def _counted(least: object, most: object, *, unit: str) -> str:
    """How many characters or entries there must be; a mere "at least one" goes unsaid."""
    low = least if isinstance(least, int) and least > 1 else None
    high = most if isinstance(most, int) else None
    if low is None and high is None:
        return ""
    if low == high:
        return f"{low} {unit}."
    if low is None:
        return f"At most {high} {unit}."
    return f"At least {low} {unit}." if high is None else f"{low} to {high} {unit}."


_PARTED = {"array": "A list, as JSON", "object": "An object, as JSON"}
_DATES = {"date": "2026-12-24", "time": "17:30", "date-time": "2026-12-24T17:30:00Z"}
_COUNTED = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "entries"),
    ("minProperties", "maxProperties", "keys"),
)
_TOLD: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "multipleOf": lambda step: f"A multiple of {step}.",
        "decimalPlaces": lambda places: f"At most {places} digits after the decimal point.",
        "maxDigits": lambda digits: f"At most {digits} digits.",
        "pattern": lambda form: f"Of the form {form}.",
        "uniqueItems": lambda once: "Each once." if once else "",
        "schemes": lambda names: f"A link that begins with {' or '.join(names)}.",
    }
)
_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "duration": "A span of time, like P1DT2H or 02:30:00.",
        "decimal": "A number.",
        "uuid": "A UUID.",
        "uri": "A link.",
    }
)
