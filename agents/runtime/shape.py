"""Pure: the type of a parameter -> its validator and JSON schema, or why no model can send it."""

import datetime
import functools
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.warnings import UnsupportedFieldAttributeWarning
from pydantic_core import SchemaError, SchemaValidator

from agents.runtime.approval import Secret
from agents.runtime.marks import is_secret, leaking

Core = Mapping[str, Any]

NO_SHAPE = (
    PydanticUserError,
    SchemaError,
    ImportError,
    NameError,
    TypeError,
    ValueError,
    RecursionError,
)
UNKNOWN = re.compile(r"Unable to generate pydantic-core schema for (.+)\. Set `arb", re.DOTALL)
WITHOUT = re.compile(r"Cannot generate a JsonSchema for core_schema\.(.+)", re.DOTALL)
LIMIT = re.compile(r"constraint '(\w+)'")
INSTEAD = "use a pydantic model, a dataclass or a TypedDict"
SAMPLES: Mapping[str, Any] = {
    "bool": True,
    "bytes": b"x",
    "date": datetime.date(2000, 1, 1),
    "datetime": datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
    "decimal": Decimal(1),
    "dict": {},
    "float": 1.5,
    "frozenset": frozenset(),
    "int": 1,
    "list": [],
    "set": set(),
    "str": "x",
    "time": datetime.time(12),
    "timedelta": datetime.timedelta(1),
    "uuid": UUID(int=0),
}
"""A value of each plain type."""


class Shapeless(ValueError):
    """A type that no parameter of a tool can have; the text says why, and what to take instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A type as validator and JSON schema; `titled` when its property has a title."""

    adapter: TypeAdapter[Any]
    schema: dict[str, JsonValue]
    definitions: dict[str, JsonValue]
    titled: bool
    secret: bool


def shape_of(annotation: object) -> Shape:
    """The shape of an annotation, shared by all functions that use a plain one.

    Raises Shapeless.
    """
    try:
        return _shared(annotation, repr(annotation))
    except TypeError:  # an annotation that cannot be hashed, as with Field(...) in it
        return _shape(annotation)


@functools.lru_cache(maxsize=512)
def _shared(annotation: object, _written: str) -> Shape:
    """As _shape; the text is part of the key because `int | str` equals `str | int`."""
    return _shape(annotation)


def _shape(annotation: Any) -> Shape:
    try:
        adapter, schema, rest = _read(annotation)
    except NO_SHAPE as error:
        raise Shapeless(f"{annotation!r} cannot be declared: {_reason(error)}") from error
    if why := _unfit(annotation, adapter.core_schema, schemas=(schema, rest)):
        raise Shapeless(why)
    options = schema.get("anyOf", [])
    named = [option for option in (options or [schema]) if option != {"type": "null"}]
    return Shape(
        adapter=adapter,
        schema=schema,
        definitions=rest.get("$defs", {}),
        titled=len(named) != 1 or "$ref" not in named[0],
        secret=is_secret(annotation),
    )


def _read(annotation: Any) -> tuple[TypeAdapter[Any], dict[str, Any], dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)  # an alias means nothing
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    schemas, rest = TypeAdapter.json_schemas([("", "validation", adapter)])
    return adapter, schemas["", "validation"], rest


def _reason(error: BaseException) -> str:
    """What pydantic says, without advice that nobody can follow here."""
    text = " ".join(str(error).split()).partition(" For further information")[0]
    if found := UNKNOWN.match(text):
        if found[1] == repr(Secret) or found[1].startswith(
            f"<{Secret.__module__}.{Secret.__name__} "
        ):
            return "Secret is a mark beside a type: write Annotated[str, Secret]"
        return f"a model cannot send {found[1]}: {INSTEAD}"
    if found := WITHOUT.match(text):
        return f"there is no JSON schema for {found[1]}: {INSTEAD}"
    if isinstance(error, PydanticUserError) and error.code == "class-not-fully-defined":
        return "it names types that are not there yet: define them before it"
    return text


def _unfit(annotation: object, core: object, *, schemas: object) -> str:
    """Why values of a type cannot come from a model, or not be hidden as they are to be."""
    written = repr(core)
    if "'type': 'generator'" in written:
        return f"{annotation!r} can be gone through once only: use list"
    if "'writeOnly': True" in repr(schemas):
        return "a secret cannot come from a model"
    if inside := leaking(annotation):
        return (
            f"{inside} has a Secret field, and only whole parameters can be hidden: mark this one"
        )
    if "'type': 'function-" in written and (limit := _misplaced(core)):
        return f"{annotation!r}: {limit} is no limit for it, and no value would be taken"
    return ""


def _misplaced(core: object) -> str:
    """A limit in a schema that cannot be asked of its type, as a pattern of a number; or nothing.

    pydantic notices only once a value is there: one is tried, in which no code but its own runs.
    """
    waiting = [core]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            node = cast("Core", part)
            if limit := _limit(node):
                return limit
            waiting += [value for key, value in node.items() if key not in ("metadata", "default")]
        elif isinstance(part, list | tuple):
            waiting += cast("list[object]", part)
    return ""


def _limit(node: Core) -> str:
    sample = SAMPLES.get(_bottom(node))
    if sample is None or node["type"] not in ("chain", "function-after"):
        return ""
    try:
        SchemaValidator(cast("Any", node)).validate_python(sample)
    except TypeError as error:
        found = LIMIT.search(str(error))
        return found[1] if found else ""
    except (ValidationError, SchemaError):
        return ""
    return ""


def _bottom(node: Core) -> str:
    """The type that nothing but functions of pydantic stands around."""
    while node.get("type") in ("chain", "function-after"):
        steps = node.get("steps") or [node["schema"], node]
        if not all(map(_is_known, steps[1:])):
            return ""
        node = steps[0]
    return node.get("type", "")


def _is_known(step: Core) -> bool:
    """Whether pydantic wrote what a step calls."""
    called = step.get("function", {}).get("function")
    where = getattr(getattr(called, "func", called), "__module__", None) or ""
    return called is None or where.startswith("pydantic.")
