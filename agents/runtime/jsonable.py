"""Pure: any Python value -> JSON, the same way for arguments, results and initial values.

Dates and times become ISO 8601, a Decimal text (its digits survive), an Enum its value, a model or
a dataclass an object, a set a list in a fixed order (so that two processes agree), bytes a `data:`
URL, NaN and the infinities text, a key that is no text its text.
"""

import base64
import dataclasses
import json
import math
from collections import deque
from collections.abc import Mapping, Set
from enum import Enum
from typing import Any, TypeGuard, cast

from pydantic import AliasChoices, BaseModel, JsonValue, RootModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

MAX_DEPTH = 64
MAX_INT_BITS = 14_000  # Python refuses to write an int of more than 4300 digits as text

SCALARS = (Enum, str, int, float, bytes, bytearray)


def to_json(
    value: object, *, strict: bool = False, depth: int = MAX_DEPTH, as_input: bool = False
) -> JsonValue:
    """The value as JSON; what has no JSON form becomes a short text about it.

    With `as_input` a model is written as it would be given: all its fields, under the names it is
    validated by, and nothing that it computes.

    With `strict` it raises ValueError instead: for no JSON form, NaN, a circle, text that is no
    Unicode, nesting deeper than `depth`. Bytes are then the text they hold, as pydantic reads them.
    """
    return _Walk(strict=strict, depth=depth, as_input=as_input).json(value)


class _Walk:
    """One walk over a value: how strict it is, how deep, and inside which containers."""

    def __init__(self, *, strict: bool, depth: int, as_input: bool) -> None:
        self.strict = strict
        self.depth = depth
        self.as_input = as_input
        self.inside: list[int] = []

    def json(self, value: object) -> JsonValue:
        """The JSON form of one value."""
        if _is_plain(value):
            return value
        if type(value) is dict or not isinstance(value, SCALARS):
            return self._container(cast("object", value))
        match value:
            case Enum():
                return self.json(value.value)
            case str():
                return self._text(str.__str__(value))
            case int() | float():
                return self._number(value)
            case _:
                return self._bytes(bytes(value))

    def _container(self, value: object) -> JsonValue:
        if len(self.inside) >= self.depth or id(value) in self.inside:
            return self._fallback(value, "is nested in itself or too deeply")
        self.inside.append(id(value))
        try:
            match value:
                case dict() | Mapping():
                    return self._object(cast("Mapping[object, object]", value))
                case list() | tuple() | deque() | range():
                    return [self.json(item) for item in cast("list[object]", value)]
                case Set():
                    items = [self.json(item) for item in cast("Set[object]", value)]
                    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
                case _:
                    return self._record(value)
        except Exception as error:
            # A stranger's items may raise anything.
            if self.strict and isinstance(error, ValueError):
                raise
            return self._fallback(cast("object", value), "cannot be read")
        finally:
            self.inside.pop()

    def _object(self, value: Mapping[object, object]) -> JsonValue:
        found: dict[str, JsonValue] = {}
        for key, item in value.items():
            name = key if type(key) is str and key.isascii() else self._key(key)
            if name in found and self.strict:
                raise ValueError(f"two keys are written {name!r}")
            while name in found:
                name = f"{name} ({type(key).__name__})"
            found[name] = self.json(item)
        return found

    def _key(self, key: object) -> str:
        plain = self.json(key)
        return plain if isinstance(plain, str) else json.dumps(plain)

    def _record(self, value: object) -> JsonValue:
        if isinstance(value, BaseModel):
            return self._model(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._object({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
        if hasattr(value, "__next__"):  # asking for its items would use them up
            return self._fallback(value, "has no JSON form")
        try:
            return self.json(to_jsonable_python(value))
        except (PydanticSerializationError, ValueError, RecursionError):
            return self._fallback(value, "has no JSON form")

    def _model(self, value: BaseModel) -> JsonValue:
        if self.as_input:
            return self.json(_given(value))
        try:
            return self.json(value.model_dump(by_alias=True, warnings=False))
        except (PydanticSerializationError, ValueError, RecursionError):
            return self._fallback(value, "has no JSON form")

    def _number(self, value: float) -> JsonValue:
        if isinstance(value, int):
            too_big = value.bit_length() > MAX_INT_BITS
            return self._fallback(value, "is too big") if too_big else int(value)
        return float(value) if math.isfinite(value) else self._not_finite(value)

    def _text(self, value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            if self.strict:
                raise
            return value.encode("utf-8", "replace").decode()
        return value

    def _bytes(self, value: bytes) -> str:
        if self.strict:
            return value.decode()
        return f"data:application/octet-stream;base64,{base64.b64encode(value).decode()}"

    def _not_finite(self, value: float) -> str:
        if self.strict:
            raise ValueError("not a finite number")
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")

    def _fallback(self, value: object, why: str) -> str:
        kind: type[Any] = type(value)
        if self.strict:
            raise ValueError(f"{kind.__qualname__} {why}")
        if kind.__repr__ is object.__repr__ or isinstance(value, (int, Mapping, Set, list, tuple)):
            return f"<{kind.__qualname__}>"
        try:
            return self._text(repr(value)[:200])
        except Exception:  # noqa: BLE001 - a stranger's __repr__ may raise anything
            return f"<{kind.__qualname__}>"


def _is_plain(value: object) -> TypeGuard[JsonValue]:
    """Whether a value is JSON as it is: most are, and need no walk."""
    if type(value) is str:
        return value.isascii()
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) is bool


def _given(value: BaseModel) -> object:
    """A model's fields under the names by which it takes them."""
    if isinstance(value, RootModel):
        return cast("RootModel[Any]", value).root
    by_name = value.model_config.get("validate_by_alias") is False
    fields = type(value).model_fields
    named = {
        name if by_name else _name(name, field): getattr(value, name)
        for name, field in fields.items()
    }
    return named | (value.model_extra or {})


def _name(name: str, field: FieldInfo) -> str:
    """The first name of a field that is not a path."""
    alias = field.validation_alias
    options = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return next((option for option in options if isinstance(option, str)), name)
