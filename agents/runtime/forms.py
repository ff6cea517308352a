"""Pure: a pydantic model -> the JSON schema of a form that states every limit of it, or a refusal.

The answer to a form is checked weeks later by a process that may not have the class. So whatever a
class checks has to be in the schema: limits that JSON Schema has no words for are in words of its
own (`formatMinimum`, `decimalPlaces`, `zone`, `strip`, `case`, `schemes`), and a class that checks
by functions cannot be asked for.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time
from typing import Any, cast

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined

from agents.runtime.errors import UsageError
from agents.runtime.fields import matcher
from agents.runtime.jsonable import to_json
from agents.runtime.marks import is_secret, leaking

Core = Mapping[str, Any]
Json = dict[str, JsonValue]

STATED = frozenset(
    {
        *("any", "none", "bool", "int", "float", "decimal", "str", "uuid", "url"),
        *("date", "time", "datetime", "timedelta", "literal", "enum", "nullable", "default"),
        *("list", "tuple", "set", "frozenset", "dict", "union", "tagged-union", "no-info"),
        *("model", "model-fields", "model-field", "dataclass", "dataclass-args"),
        *("dataclass-field", "typed-dict", "typed-dict-field", "definitions", "definition-ref"),
    }
)
"""The kinds of a pydantic schema all of whose limits are stated."""
ASIDE = frozenset({"metadata", "serialization", "default", "config", "function", "expected"})
SETTINGS = (
    *("str_min_length", "str_max_length"),
    *("str_strip_whitespace", "str_to_lower", "str_to_upper"),
)
FUNCTIONS = ("custom_init", "post_init")
LIMITS = {
    "ge": "formatMinimum",
    "le": "formatMaximum",
    "gt": "formatExclusiveMinimum",
    "lt": "formatExclusiveMaximum",
}


def form_of(payload: BaseModel | type[BaseModel]) -> tuple[Json, Json]:
    """The schema of a form that asks for a model, and the values that the form begins with.

    A class begins with its defaults, an instance with its values. Raises UsageError for a model
    that cannot be asked for.
    """
    model = payload if isinstance(payload, type) else type(payload)
    try:
        odd = next(_unstated(cast("Core", model.__pydantic_core_schema__), ""), None)
        schema = {} if odd else model.model_json_schema(schema_generator=_Stated)
        _compiled(schema)
    except (ValueError, TypeError, RuntimeError, NameError) as error:
        raise UsageError(f"{model.__name__} cannot be asked for: {error}") from error
    if is_secret(model) or leaking(model):
        raise UsageError(f"{model.__name__} cannot be asked for: what people enter is no Secret")
    if odd:
        raise UsageError(f"{model.__name__} cannot be asked for: {odd[0] or 'it'} {odd[1]}")
    if schema.get("type") != "object":
        raise UsageError(f"{model.__name__} cannot be asked for: it has no fields")
    begun = {name: value for name, value in _begun(payload) if name in schema["properties"]}
    return schema, begun


def _begun(payload: BaseModel | type[BaseModel]) -> Iterator[tuple[str, JsonValue]]:
    """What each field begins with, by its name in the form."""
    model = payload if isinstance(payload, type) else type(payload)
    for name, field in model.model_fields.items():
        if not isinstance(payload, type):
            yield _called(name, field), to_json(getattr(payload, name))
        elif not field.default_factory_takes_validated_data:
            default = field.get_default(call_default_factory=True)
            if default is not PydanticUndefined and default is not None:
                yield _called(name, field), to_json(default)


def _called(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    return alias if isinstance(alias, str) else name


class _Stated(GenerateJsonSchema):
    """Schemas whose objects take no other keys, and which say what JSON Schema cannot."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """A model's schema, closed unless its configuration says otherwise."""
        return {"additionalProperties": False} | super().model_schema(schema)

    def field_is_required(self, field: Any, *args: Any, **more: Any) -> bool:
        """Whether a field is required; one whose default is made anew each time is."""
        made = "default_factory" in field.get("schema", {})
        return made or super().field_is_required(field, *args, **more)

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        """Digits in text, so that they survive."""
        places = {"decimalPlaces": "decimal_places", "maxDigits": "max_digits"}
        told = {name: schema[key] for name, key in places.items() if schema.get(key) is not None}
        if schema.get("multiple_of") is not None:
            told["multipleOf"] = str(schema["multiple_of"])
        return {"type": "string", "format": "decimal", **_limits(schema), **told}

    def date_schema(self, schema: Any) -> dict[str, Any]:
        """A date and its limits."""
        return super().date_schema(schema) | _limits(schema)

    def time_schema(self, schema: Any) -> dict[str, Any]:
        """A time of day and its limits."""
        return super().time_schema(schema) | _limits(schema)

    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        """A moment, its limits, and that it needs its zone."""
        zone = {"zone": "with"} if schema.get("tz_constraint") == "aware" else {}
        return super().datetime_schema(schema) | _limits(schema) | zone

    def timedelta_schema(self, schema: Any) -> dict[str, Any]:
        """A span of time and its limits."""
        return {"type": "string", "format": "duration", **_limits(schema)}

    def uuid_schema(self, schema: Any) -> dict[str, Any]:
        """A UUID and which version of it."""
        version = {"version": schema["version"]} if schema.get("version") else {}
        return super().uuid_schema(schema) | version

    def url_schema(self, schema: Any) -> dict[str, Any]:
        """A link and what it may begin with."""
        told = {
            "schemes": schema.get("allowed_schemes"),
            "hostRequired": schema.get("host_required"),
        }
        return super().url_schema(schema) | {name: value for name, value in told.items() if value}

    def str_schema(self, schema: Any) -> dict[str, Any]:
        """A text, and what becomes of it before its limits are looked at."""
        told: dict[str, Any] = {"strip": True} if schema.get("strip_whitespace") else {}
        case = "lower" if schema.get("to_lower") else "upper" if schema.get("to_upper") else ""
        return super().str_schema(schema) | told | ({"case": case} if case else {})


def _limits(schema: Core) -> dict[str, Any]:
    found = {LIMITS[key]: schema[key] for key in LIMITS if schema.get(key) is not None}
    return {name: str(to_json(value)) for name, value in found.items()}


def _unstated(core: Core, name: str) -> Iterator[tuple[str, str]]:
    """The fields of a pydantic schema whose limits no form can state, and why."""
    if core.get("type") == "function-wrap" and core["schema"].get("type") == "url":
        core = core["schema"]
    why = _why(core)
    if why:
        yield name, why
    for key, value in core.items():
        if key not in ASIDE:
            yield from _within(value, name if key != "fields" else f"{name}.")


def _within(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        found = cast("Core", value)
        if isinstance(found.get("type"), str):
            yield from _unstated(found, _name(found, name))
            return
        for key, inner in found.items():
            yield from _within(inner, f"{name}{key}" if name.endswith(".") or not name else name)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _within(inner, name)


def _name(core: Core, name: str) -> str:
    return f"{name}{core['name']}" if core["type"] == "dataclass-field" else name


def _why(core: Core) -> str:
    """Why a form cannot state one part of a schema; empty if it can."""
    kind = core["type"]
    if kind not in STATED:
        return f"is checked by a function or has no form ({kind}); say it with Field(…) limits"
    return next((why for applies, why in _REASONS if applies(core)), "")


def _has_odd_keys(core: Core) -> bool:
    keys: Core = core.get("keys_schema") or {"type": "any"}
    wrong = keys["type"] not in ("str", "any") or bool(set(keys) - {"type", "metadata"})
    return core["type"] == "dict" and wrong


def _has_settings(core: Core) -> bool:
    config: Core = core.get("config") or {}
    return any(config.get(key) for key in SETTINGS)


def _has_flags(core: Core) -> bool:
    pattern = core.get("pattern")
    return isinstance(pattern, re.Pattern) and pattern.flags != re.compile("").flags


def _has_no_zone(core: Core) -> bool:
    """Whether a moment may lack a zone, although a picked one always has one."""
    naive = any(isinstance(each, datetime) and each.tzinfo is None for each in _bounds(core))
    odd = core.get("tz_constraint") not in (None, "aware")
    return core["type"] == "datetime" and (naive or odd)


def _has_zone(core: Core) -> bool:
    """Whether a time of day needs a zone, although a picked one never has one."""
    aware = any(isinstance(each, time) and each.tzinfo for each in _bounds(core))
    return core["type"] == "time" and (aware or core.get("tz_constraint") is not None)


def _bounds(core: Core) -> list[object]:
    return [core[key] for key in LIMITS if core.get(key) is not None]


_REASONS: tuple[tuple[Callable[[Core], object], str], ...] = (
    (
        lambda core: any(core.get(key) for key in FUNCTIONS),
        "is checked by a function when it is made; say it with Field(…) limits",
    ),
    (_has_settings, "has limits for all texts in its configuration; say them at each field"),
    (
        lambda core: core.get("now_op"),
        "has to be in the past or the future, which changes while people think",
    ),
    (lambda core: callable(core.get("discriminator")), "is told apart by a function"),
    (_has_odd_keys, "has keys that are not any text"),
    (_has_flags, "has a pattern with flags"),
    (
        lambda core: core.get("pattern") and (core.get("to_lower") or core.get("to_upper")),
        "has a pattern and changes its letters",
    ),
    (_has_no_zone, "needs a time zone, in its limits as well: what people pick has one"),
    (_has_zone, "must have no time zone: what people pick has none"),
)


def _compiled(schema: object) -> None:
    """Raise ValueError for a pattern in a schema that cannot be checked."""
    if isinstance(schema, Mapping):
        found = cast("Core", schema)
        if isinstance(found.get("pattern"), str):
            matcher(found["pattern"])
        for value in found.values():
            _compiled(value)
    elif isinstance(schema, list):
        for value in cast("list[object]", schema):
            _compiled(value)
