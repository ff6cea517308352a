"""Pure: what values that people filled in mean, however each of them spelled it.

Two people agree when they mean the same: 10.00 is 10, half past nine in London is half past ten in
Rome, nobody sees blanks at an end, and choices have no order but the one they were clicked in.
"""

import contextlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from pydantic import JsonValue

Schema = Mapping[str, Any]

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}

ANYTHING: Schema = {}
"""The schema that allows any value."""


def meaning(schema: Schema, value: JsonValue, root: Schema) -> JsonValue:
    """The one form that all spellings of a value share; the value fits the schema.

    `root` has the definitions that a schema refers to.
    """
    schema = _chosen(resolved(schema, root), value, root)
    if "enum" in schema or "const" in schema:
        return value
    match value:
        case str():
            return _text(schema, value)
        case list():
            return _list(schema, value, root)
        case dict():
            return _object(schema, value, root)
        case _:
            return value


def resolved(schema: Schema, root: Schema) -> Schema:
    """The schema with the definition it refers to in its place."""
    while "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")] | rest
    return schema


def _chosen(schema: Schema, value: JsonValue, root: Schema) -> Schema:
    """Of several options the first that takes a value of this type."""
    options = [resolved(each, root) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
    fits = (each for each in options if isinstance(value, TYPES.get(each.get("type", ""), ())))
    return next(fits, ANYTHING) if options else schema


def _text(schema: Schema, value: str) -> JsonValue:
    text = "\n".join(line.rstrip() for line in value.strip().splitlines())
    with contextlib.suppress(ValueError, InvalidOperation, OverflowError):
        if schema.get("format") == "decimal":
            number = Decimal(text)
            return str(number.normalize()) if number else "0"
        if schema.get("format") == "date-time":
            moment = datetime.fromisoformat(text)
            return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()
    return text or None


def _list(schema: Schema, value: list[JsonValue], root: Schema) -> JsonValue:
    rules = list(schema.get("prefixItems", []))
    rules += [schema.get("items", {})] * (len(value) - len(rules))
    found = [meaning(rule, item, root) for rule, item in zip(rules, value, strict=False)]
    if schema.get("uniqueItems") or _is_picked(schema, root):
        found.sort(key=lambda each: json.dumps(each, sort_keys=True))
    return found


def _is_picked(schema: Schema, root: Schema) -> bool:
    """Whether the items of a list are clicked, and not written: choices, people, yes and no."""
    item = resolved(schema.get("items", {}), root)
    options = [resolved(each, root) for each in item.get("anyOf") or item.get("oneOf") or (item,)]
    real = [each for each in options if each.get("type") != "null"]
    return "prefixItems" not in schema and len(real) == 1 and _is_choice(real[0])


def _is_choice(schema: Schema) -> bool:
    return "enum" in schema or schema.get("type") == "boolean" or schema.get("format") == "person"


def alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same; 1 is not True, though Python says so."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _object(schema: Schema, value: dict[str, JsonValue], root: Schema) -> JsonValue:
    """An object, in which a field left empty is like one that is not there."""
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    rule = cast("Schema", rest if isinstance(rest, dict) else {})
    found = {name: meaning(known.get(name, rule), each, root) for name, each in value.items()}
    return {name: each for name, each in found.items() if each is not None or name not in known}
