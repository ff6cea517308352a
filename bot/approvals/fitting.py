"""Whether a tier's condition can say anything about a tool's calls; pure, asked at the start.

What an argument may be stands in the tool's JSON schema. A condition about something else would be
sure of nothing, or would never be met, and nobody who writes a policy means that.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import JsonValue

from agents import ApprovalPolicy
from bot.approvals.conditions import ORDERS, Condition, condition, quantity

Schema = Mapping[str, Any]

TEXTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "duration": ("a span such as P7D or PT12H", frozenset({"span"})),
    "date": ("a date such as 2026-12-31", frozenset({"date"})),
    "time": ("a time such as 17:30", frozenset({"time"})),
    "date-time": (
        "a moment such as 2026-12-31T17:30:00Z",
        frozenset({"moment", "moment without a zone"}),
    ),
}
"""What a text of each format is, and the kinds of quantities it compares with."""
NAMES = {
    "string": "a text",
    "number": "a number",
    "integer": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}


def fitted(policy: ApprovalPolicy, schemas: Sequence[Schema]) -> ApprovalPolicy:
    """A policy without the tiers about arguments that calls of none of these schemas have.

    Whoever writes one policy for many tools means those that have the argument.
    """
    tiers = {
        when: fitted(tier, schemas)
        for when, tier in policy.tiers.items()
        if any(_is_about(when, schema) for schema in schemas)
    }
    return replace(policy, tiers=tiers)


def misfit(found: Condition, schema: Schema) -> str:
    """What is wrong with a condition on calls of this schema; empty where it can be met or not."""
    leaves = _found(found, schema)
    name = ".".join(found.path)
    if not leaves:
        return f"is about {name}, which it has not"
    literals = cast("list[JsonValue]", found.value) if found.sign == "in" else [found.value]
    for literal in literals:
        if not any(_fits(leaf, found.sign, literal) for leaf in leaves):
            kinds = " or ".join(dict.fromkeys(map(_told, leaves)))
            return f"compares {name} with {json.dumps(literal, ensure_ascii=False)}; it is {kinds}"
    return ""


def _is_about(when: str, schema: Schema) -> bool:
    """Whether calls may have what a condition is about; unreadable ones are reported elsewhere."""
    try:
        return bool(_found(condition(when), schema))
    except ValueError:
        return True


def _found(found: Condition, schema: Schema) -> Sequence[Schema]:
    """The schemas of what a condition is about; none where calls have it not."""
    return _leaves([schema], found.path, schema.get("$defs") or {})


def _leaves(schemas: Sequence[Schema], path: Sequence[str], kinds: Schema) -> Sequence[Schema]:
    """The schemas that the value at a path may have."""
    whole = [each for schema in schemas for each in _alternatives(schema, kinds)]
    if not path:
        return whole
    inside = [each for schema in whole for each in _inside(schema, path[0])]
    return _leaves(inside, path[1:], kinds)


def _alternatives(schema: Schema, kinds: Schema) -> Iterator[Schema]:
    """A schema, or all that it may be instead."""
    if (reference := schema.get("$ref")) is not None:
        yield from _alternatives(kinds.get(reference.rpartition("/")[2], {}), kinds)
    elif listed := schema.get("anyOf") or schema.get("oneOf"):
        for each in listed:
            yield from _alternatives(each, kinds)
    elif isinstance(schema.get("type"), list):
        yield from ({**schema, "type": each} for each in schema["type"])
    else:
        yield schema


def _inside(schema: Schema, name: str) -> Iterator[Schema]:
    """What an object may have under a name; where nobody says what it is, anything."""
    if "type" not in schema:
        yield {}
    elif schema["type"] == "object":
        properties, more = schema.get("properties"), schema.get("additionalProperties")
        if properties and name in properties:
            yield properties[name]
        elif more or (properties is None and more is not False):
            yield more if isinstance(more, dict) else {}


def _fits(schema: Schema, sign: str, literal: JsonValue) -> bool:
    """Whether a value of this schema and a literal can be compared."""
    if (choices := _choices(schema)) is not None:
        answers = [Condition(("it",), sign, literal).met({"it": each}) for each in choices]
        ordered = sign in ORDERS and any(answer is not None for answer in answers)
        return ordered or any(_is_choice(each, literal) for each in choices)
    measured = quantity(literal)
    match schema.get("type"):
        case None:
            return True
        case "string" if (form := TEXTS.get(schema.get("format", ""))) is not None:
            return measured is not None and measured.kind in form[1]
        case "string":
            return isinstance(literal, str) or measured is not None
        case "number" | "integer":
            return measured is not None and measured.kind == "number"
        case kind:
            return sign not in ORDERS and _kind(literal) == kind


def _kind(literal: JsonValue) -> str:
    """The JSON type of a value that has no order."""
    match literal:
        case bool():
            return "boolean"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "null" if literal is None else ""


def _choices(schema: Schema) -> Sequence[JsonValue] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _is_choice(choice: JsonValue, literal: JsonValue) -> bool:
    return Condition(("it",), "==", literal).met({"it": choice}) is True


def _told(schema: Schema) -> str:
    """What a value is, in words."""
    if (choices := _choices(schema)) is not None:
        return f"one of {json.dumps(choices, ensure_ascii=False)}"
    form = TEXTS.get(schema.get("format", ""))
    return form[0] if form else NAMES.get(schema.get("type", ""), "something else")
