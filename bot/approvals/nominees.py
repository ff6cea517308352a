"""The people whom a form's values name; what is nobody of this workspace is no person: pure."""

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
    """What stands where people are asked for, by the form's field; ids, where they are any."""
    fields = cast("Mapping[str, Schema]", _resolved(schema, schema).get("properties") or {})
    found = {
        name: tuple(dict.fromkeys(_named(fields[name], value, schema)))
        for name, value in (payload or {}).items()
        if name in fields
    }
    return {name: people for name, people in found.items() if people}


def is_colleague(approval: Approval, person: Person) -> bool:
    """Whether somebody is a person who is in the workspace of a request; guests are."""
    tenant = unquote(approval.session.partition(":")[0])
    gone = person.is_bot or person.deleted or person.is_stranger
    return person.team == tenant and not gone


def _named(schema: Schema, value: JsonValue, root: Schema) -> Iterator[str]:
    schema = _resolved(schema, root)
    for option in cast("list[Schema]", schema.get("anyOf") or schema.get("oneOf") or []):
        yield from _named(option, value, root)
    match value:
        case str() if schema.get("format") == "person":
            yield value
        case list():
            rule = cast("Schema", schema.get("items") or {})
            for item in value:
                yield from _named(rule, item, root)
        case dict():
            fields = cast("Mapping[str, Schema]", schema.get("properties") or {})
            for name, item in value.items():
                yield from _named(fields.get(name) or {}, item, root)
        case _:
            pass


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema with the definition it refers to in its place."""
    kinds = cast("Mapping[str, Schema]", root.get("$defs") or {})
    while "$ref" in schema:
        schema = kinds.get(str(schema["$ref"]).rpartition("/")[2], {})
    return schema
