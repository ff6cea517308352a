"""What a person has to fill in: the fields of a question's payload, out of its schema."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pydantic import JsonValue

from agents import PayloadError, check_payload
from bot.slack.text import cut, visible

LABEL_LIMIT = 150
WRONG_LIMIT = 500

Schema = Mapping[str, Any]


class Question(Protocol):
    """What asks for a payload: its schema, what is filled in, the names as they were declared."""

    @property
    def payload_schema(self) -> Schema | None:
        """The schema of the payload; None where none is asked for."""
        ...

    @property
    def payload(self) -> Mapping[str, JsonValue] | None:
        """What the fields start with, or what they were filled in with."""
        ...

    @property
    def form(self) -> Sequence[str]:
        """The fields' names in the order in which they were declared, as far as that is known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value a person enters: its name, schema without references, and what it starts with.

    `optional` says that it may be emptied; then it is empty, never a default. `alone` is the schema
    of a payload that has nothing else.
    """

    name: str
    title: str
    schema: Schema
    initial: JsonValue
    optional: bool
    alone: Schema

    def taken(self, value: JsonValue) -> JsonValue:
        """The value as an answer would store it; raises PayloadError."""
        return check_payload(self.alone, {self.name: value}).get(self.name)


def fields(question: Question) -> list[Field]:
    """The fields of a question's payload, in the order in which they were declared.

    Where nothing but the stored schema tells, the required ones come first.
    """
    schema = question.payload_schema or {}
    given = question.payload or {}
    required = cast("Sequence[str]", schema.get("required") or ())
    properties = cast("Schema", schema.get("properties") or {})
    order = dict.fromkeys((*question.form, *required, *properties))
    names = [name for name in order if name in properties]
    titles = [_title(name, properties[name]) for name in names]
    return [
        Field(
            name=name,
            title=title if titles.count(title) == 1 else f"{title} ({visible(name)[0]})",
            schema=(flat := flattened(properties[name], schema)),
            initial=given[name] if name in given else flat.get("default"),
            optional=_may_be_empty(name, alone),
            alone=alone,
        )
        for name, title in zip(names, titles, strict=True)
        for alone in (_alone(name, schema),)
    ]


def _alone(name: str, schema: Schema) -> Schema:
    """A schema with one of its fields only."""
    required = [each for each in schema.get("required") or () if each == name]
    return {**schema, "properties": {name: schema["properties"][name]}, "required": required}


def _may_be_empty(name: str, alone: Schema) -> bool:
    """Whether the answer is right with nothing entered for a field."""
    try:
        check_payload(alone, {name: None})
    except PayloadError:
        return False
    return True


def _title(name: str, about: object) -> str:
    """What a field is called: as it says itself, else its name, but never what its type is called.

    Two fields of one type are told apart by their names.
    """
    title = mapping(about).get("title")
    words = title if isinstance(title, str) and title.strip() else name.replace("_", " ")
    return visible(cut(words[:1].upper() + words[1:], LABEL_LIMIT))[0] or "Value"


def by_field(names: Collection[str], wrong: Mapping[str, str]) -> Mapping[str, str]:
    """Problems by field; those in parts of a field are told with it.

    A problem that belongs to no field stays under its own name.
    """
    found: dict[str, list[str]] = {}
    for place, text in wrong.items():
        steps = place.split(".")
        heads = (".".join(steps[:end]) for end in range(len(steps), 0, -1))
        name = next((head for head in heads if head in names), place)
        parts = [_part(step) for step in place[len(name) :].split(".") if step]
        found.setdefault(name, []).append(f"{', '.join(parts)}: {text}" if parts else text)
    return {name: cut("; ".join(texts), WRONG_LIMIT) for name, texts in found.items()}


def _part(step: str) -> str:
    return f"entry {int(step) + 1}" if step.isdecimal() else visible(cut(step, LABEL_LIMIT))[0]


def flattened(about: object, root: Schema) -> Schema:
    """A field's schema without references and without the alternative null; its entries too."""
    schema = _resolved(mapping(about), root)
    items = mapping(schema.get("items"))
    return {**schema, "items": _resolved(items, root)} if items else schema


def _resolved(schema: Schema, root: Schema) -> Schema:
    for _ in range(8):
        inner = _inner(schema, root)
        if inner is None:
            break
        outer = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        schema = {**inner, **outer}
    return schema


def _inner(schema: Schema, root: Schema) -> Schema | None:
    """The schema behind a reference, or behind a choice with only one real alternative."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return mapping(mapping(root.get("$defs")).get(reference.rpartition("/")[2]))
    for key in ("allOf", "anyOf", "oneOf"):
        others = [mapping(each) for each in cast("list[object]", schema.get(key) or [])]
        real = [each for each in others if each.get("type") != "null"]
        if len(real) == 1:
            return real[0]
    return None


def mapping(value: object) -> Schema:
    """A part of a schema; empty where something else stands."""
    return cast("Schema", value) if isinstance(value, Mapping) else {}
