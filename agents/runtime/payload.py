"""Pure: what a person is asked to fill in -> a JSON schema, and their answer -> checked values.

The schema is stored with the question, so an answer can be checked weeks later, by another process,
without the class it came from.
"""

import contextlib
import copy
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, cast

from pydantic import BaseModel, JsonValue

from agents.runtime.errors import PayloadError, UsageError
from agents.runtime.fields import Refused, Schema, read, scalar, storable, wanted
from agents.runtime.forms import form_of
from agents.runtime.jsonable import to_json
from agents.runtime.meaning import alike, meaning, resolved

Payload = Mapping[str, object] | BaseModel | type[BaseModel]

MAX_ITEMS = 1_000
MAX_FIELDS = 90
MAX_NAME = 200
_EMPTY: tuple[JsonValue, ...] = (None, "", [], {})
SIMPLE: Mapping[type, dict[str, Any]] = {
    type(None): {"type": "string", "minLength": 1},
    str: {"type": "string", "minLength": 1},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
}


def schema_of(payload: Payload) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """The schema of what is asked for, and the values it begins with.

    Of a dict every key is required and nothing else is taken; 0, 0.0, "" and None mean empty, any
    other value is what the field begins with. Of a pydantic model its own schema counts; a class
    begins with its defaults, an instance with its values. Raises UsageError for a payload that
    cannot be asked for.
    """
    if isinstance(payload, Mapping):
        form = _object(payload), _filled(payload)
    elif isinstance(payload, BaseModel) or _is_model(payload):
        form = form_of(payload)
    else:
        raise UsageError("a payload must be a dict of names and values, or a pydantic model")
    names = cast("dict[str, object]", form[0]["properties"])
    if len(names) > MAX_FIELDS:
        raise UsageError(f"a payload has at most {MAX_FIELDS} fields, not {len(names)}")
    if wrong := [name for name in names if not 0 < len(name.strip()) <= MAX_NAME]:
        raise UsageError(f"the name of a field has 1 to {MAX_NAME} characters: {wrong[0][:40]!r}")
    return form


def _is_model(payload: object) -> bool:
    return isinstance(payload, type) and issubclass(payload, BaseModel)


def check(
    schema: Schema,
    values: JsonValue,
    *,
    begun: Mapping[str, JsonValue] | None = None,
    before: Iterable[dict[str, JsonValue]] = (),
) -> dict[str, JsonValue]:
    """The values as the schema wants them, coerced from what people type; defaults filled in.

    Fields that are not in them keep the value that they have `begun` with, which nobody typed. What
    others have filled in `before` comes back where these values mean the same, however they are
    spelled. What it returns passes unchanged. Raises PayloadError with a sentence for each field.
    """
    if values is not None and not isinstance(values, dict):
        raise PayloadError({"payload": "must be an object with the fields asked for"})
    problems: dict[str, str] = {}
    checking = _Check(schema, problems)
    whole = {**(begun or {}), **checking.typed(values or {})}
    checked = checking.value(schema, whole, path="")
    if problems:
        raise PayloadError(problems)
    found = cast("dict[str, JsonValue]", checked)
    meant = meaning(schema, found, schema)
    same = (each for each in before if alike(meaning(schema, each, schema), meant))
    return next(same, found)


def _object(payload: Mapping[str, object]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _of_value(value) for name, value in payload.items()},
        "required": list(payload),
        "additionalProperties": False,
    }


def _of_value(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return _object(cast("Mapping[str, object]", value))
    if isinstance(value, list):
        items = [_of_value(item) for item in cast("list[object]", value)]
        alike = items and all(item == items[0] for item in items)
        return {"type": "array", "items": items[0] if alike else {}, "minItems": 1}
    if type(value) not in SIMPLE:
        raise UsageError(f"a payload cannot ask for a {type(value).__name__}")
    return dict(SIMPLE[type(value)])


def _filled(payload: Mapping[str, object]) -> dict[str, JsonValue]:
    """The values that are not empty."""
    found: dict[str, JsonValue] = {}
    for name, value in payload.items():
        if isinstance(value, Mapping):
            inner = _filled(cast("Mapping[str, object]", value))
            found |= {name: inner} if inner else {}
        elif isinstance(value, bool) or value:
            found[name] = to_json(value)
    return found


class _Check:
    """One check of values against a schema; collects a sentence for each field."""

    def __init__(self, root: Schema, problems: dict[str, str]) -> None:
        self.root = root
        self.problems = problems

    def typed(self, values: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """The values with the lists and objects in them that people typed as text."""
        fields = resolved(self.root, self.root).get("properties", {})
        return {
            name: self._typed(name, fields[name], value)
            if name in fields and isinstance(value, str)
            else value
            for name, value in values.items()
        }

    def _typed(self, name: str, field: Schema, text: str) -> JsonValue:
        """The value typed for one field; a text stays one where the field takes texts."""
        options = [resolved(each, self.root) for each in _options(resolved(field, self.root))]
        kinds = {option.get("type") for option in options}
        structured = [o for o in options if o.get("type") in ("array", "object")]
        if not text.strip():
            return [] if structured and "null" not in kinds and "array" in kinds else text
        if not structured and not any(_is_open(option) for option in options):
            return text
        if structured and _is_words(text) and not self._tried(field, text)[1]:
            return text
        made: list[JsonValue] = []
        for option in structured or [{}]:
            with contextlib.suppress(Refused):
                made.append(read(option, text))
        fits = [value for value in made if not self._tried(field, value)[1]]
        if fits or not structured or not self._tried(field, text)[1]:
            return fits[0] if fits else text
        if not made:
            self.problems[name] = f"must be {wanted(structured[0])}, typed as JSON"
        return made[0] if made else text

    def value(self, schema: Schema, value: JsonValue, *, path: str) -> JsonValue:
        """The value as the schema wants it; one that does not fit is noted, and comes back."""
        try:
            return self._fitting(resolved(schema, self.root), value, path=path)
        except Refused as refused:
            self.problems.setdefault(path or "payload", str(refused))
            return value

    def _fitting(self, schema: Schema, value: JsonValue, *, path: str) -> JsonValue:
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return self._any_of(options, value, path=path)
        match schema.get("type"):
            case "object":
                return self._fields(schema, value, path=path)
            case "array":
                return self._items(schema, value, path=path)
            case _:
                return scalar(schema, value)

    def _any_of(self, options: list[Schema], value: JsonValue, *, path: str) -> JsonValue:
        """The first option the value fits as it is, else the first it can be made to fit."""
        made = [self._tried(option, value) for option in options]
        fits = [found for found, problems in made if not problems]
        exact = [found for found in fits if type(found) is type(value) and found == value]
        if fits:
            return (exact or fits)[0]
        real = [option for option in options if option.get("type") != "null"]
        if len(real) == 1:
            return self.value(real[0], value, path=path)
        raise Refused("must be " + " or ".join(_kind(resolved(o, self.root)) for o in real))

    def _fields(self, schema: Schema, value: JsonValue, *, path: str) -> JsonValue:
        if not isinstance(value, dict):
            raise Refused("must be an object")
        known, required = schema.get("properties", {}), schema.get("required", [])
        extra = schema.get("additionalProperties", True)
        found: dict[str, JsonValue] = {}
        for name, field in known.items():
            where = f"{path}.{name}" if path else name
            if name in value:
                may_lack = name not in required and "default" not in field
                if may_lack and self._left(field, value[name]):
                    continue
                found[name] = self._field(field, value[name], path=where)
            elif name in required:
                self.problems[where] = "is required"
            elif "default" in field:
                found[name] = copy.deepcopy(field["default"])
        least, most = schema.get("minProperties", 0), schema.get("maxProperties", MAX_ITEMS)
        if not least <= len(value) <= most:
            raise Refused(f"must be {wanted(schema)}")
        for name in sorted(value.keys() - known.keys()):
            where = f"{path}.{name}" if path else name
            if extra is False:
                self.problems[where] = "is not asked for"
            else:
                rule = cast("Schema", extra if isinstance(extra, dict) else {})
                storable(name)
                found[name] = self.value(rule, value[name], path=where)
        return found

    def _left(self, field: Schema, value: JsonValue) -> bool:
        """Whether a field is left empty, unless emptiness is one of its values."""
        return _is_empty(value) and bool(self._tried(field, value)[1])

    def _field(self, field: Schema, value: JsonValue, *, path: str) -> JsonValue:
        """A field's value; one left empty is empty, in the first way that the field takes.

        It is never the default: a form begins with that, so whoever emptied the field saw it go,
        and where it could not be shown nobody agreed to it.
        """
        if not self._left(field, value):
            return self.value(field, value, path=path)
        for empty in _EMPTY:
            made, problems = self._tried(field, empty)
            if not problems and made == empty:
                return made
        self.problems[path] = "is required"
        return None

    def _tried(self, schema: Schema, value: JsonValue) -> tuple[JsonValue, dict[str, str]]:
        """The value a schema makes of one, and what is wrong with it; noted nowhere."""
        problems: dict[str, str] = {}
        return _Check(self.root, problems).value(schema, value, path=""), problems

    def _items(self, schema: Schema, value: JsonValue, *, path: str) -> JsonValue:
        least, most = schema.get("minItems", 0), schema.get("maxItems", MAX_ITEMS)
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise Refused(f"must be {wanted(schema)}")
        rules = list(schema.get("prefixItems", []))
        rules += [schema.get("items", {})] * (len(value) - len(rules))
        places = enumerate(zip(rules, value, strict=False))
        found = [self.value(rule, item, path=f"{path}.{at}") for at, (rule, item) in places]
        twice = (alike(one, item) for at, item in enumerate(found) for one in found[:at])
        if schema.get("uniqueItems") and any(twice):
            raise Refused("must not name anything twice")
        return found


def _kind(schema: Schema) -> str:
    """One of several things that a field takes, in words; objects are told apart by their keys."""
    known: Mapping[str, Schema] = schema.get("properties", {})
    names = [f"{name} {each['const']}" if "const" in each else name for name, each in known.items()]
    return f"{wanted(schema)} with {', '.join(names)}" if names else wanted(schema)


def _is_empty(value: JsonValue) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_words(text: str) -> bool:
    """Whether somebody typed one line that is not JSON: where a text is taken, they meant one."""
    return "\n" not in text.strip() and not text.strip().startswith(("[", "{"))


def _options(schema: Schema) -> list[Schema]:
    return schema.get("anyOf") or schema.get("oneOf") or [schema]


def _is_open(schema: Schema) -> bool:
    """Whether a schema takes any value."""
    return not schema.keys() & {"type", "enum", "const", "anyOf", "oneOf", "$ref"}
