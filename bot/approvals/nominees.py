"""The people whom a form's values name; only somebody in this workspace counts as one; pure."""

from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import unquote

from pydantic import JsonValue

from bot.approvals.policy import Person
from bot.approvals.request import Approval

NO_PERSON = "must be a person of this workspace"

Schema = Mapping[str, Any]


def nominees(
    schema: Schema, payload: Mapping[str, JsonValue] | None
) -> Mapping[str, tuple[str, ...]]:
    """The values filled in where people are asked for, by field: ids, unless they name nobody."""
    fields = cast("Mapping[str, Schema]", _resolved(schema, schema).get("properties") or {})
    found = {
        name: tuple(dict.fromkeys(_named(fields[name], value, schema)))
        for name, value in (payload or {}).items()
        if name in fields
    }
    return {name: people for name, people in found.items() if people}


def is_colleague(approval: Approval, person: Person) -> bool:
    """Whether somebody is a person in the workspace of a request; guests count."""
    tenant = unquote(approval.session.partition(":")[0])
    gone = person.is_bot or person.deleted or person.is_stranger
    return person.team == tenant and not gone


def _named(schema: Schema, value: JsonValue, root: Schema) -> Iterator[str]:
    schema = _resolved(schema, root)
    options = [_resolved(each, root) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
    if isinstance(value, str) and any(map(_is_any_text, options)):
        return
    for option in options:
        yield from _named(option, value, root)
    match value:
        case str() if schema.get("format") == "person":
            yield value
        case list():
            first = cast("list[Schema]", schema.get("prefixItems") or [])
            rule = _part(schema, "items")
            for place, item in enumerate(value):
                yield from _named(first[place] if place < len(first) else rule, item, root)
        case dict():
            fields = cast("Mapping[str, Schema]", schema.get("properties") or {})
            rule = _part(schema, "additionalProperties")
            for name, item in value.items():
                yield from _named(fields.get(name) or rule, item, root)
        case _:
            pass


def _is_any_text(schema: Schema) -> bool:
    """Whether any text will do, even one that is nobody's id."""
    bound = schema.keys() & {"enum", "const", "pattern"} or schema.get("format") == "person"
    return schema.get("type") == "string" and not bound


def _part(schema: Schema, name: str) -> Schema:
    """A schema inside another; empty where there is only true or false, or nothing."""
    found = schema.get(name)
    return cast("Schema", found) if isinstance(found, Mapping) else {}


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema with the definition it refers to in its place."""
    kinds = cast("Mapping[str, Schema]", root.get("$defs") or {})
    while "$ref" in schema:
        schema = kinds.get(str(schema["$ref"]).rpartition("/")[2], {})
    return schema
