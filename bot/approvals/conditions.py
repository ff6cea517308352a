"""Conditions on a call's arguments, such as `amount > 1000`: pure, and strict when in doubt."""

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

_FORM = re.compile(
    r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(>=|<=|==|!=|>|<|\bin\b)\s*(\S.*?)\s*", re.DOTALL
)
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
)


@dataclass(frozen=True, slots=True)
class Condition:
    """An argument (`a.b` looks inside), a comparison, and a JSON value to compare with."""

    path: tuple[str, ...]
    sign: str
    value: JsonValue

    def met(self, args: Mapping[str, JsonValue]) -> bool:
        """Whether a call meets it; one that cannot be compared does, for the stricter counts."""
        found: JsonValue = dict(args)
        for name in self.path:
            if not isinstance(found, dict) or name not in found:
                return True
            found = found[name]
        match self.sign:
            case "==":
                return _same(found, self.value)
            case "!=":
                return not _same(found, self.value)
            case "in":
                members = self.value if isinstance(self.value, list) else []
                return any(_same(found, member) for member in members)
            case sign:
                return not _alike(found, self.value) or _ORDERS[sign](found, self.value)


def condition(text: str) -> Condition:
    """Reads `argument sign value`; raises ValueError with a sentence.

    The sign is one of `>`, `>=`, `<`, `<=`, `==`, `!=` and `in` (a JSON list); numbers compare with
    numbers, texts with texts (dates in ISO 8601 do as they should).
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no condition such as: amount > 1000")
    path, sign, told = found.groups()
    try:
        value: JsonValue = json.loads(told, parse_constant=_no_number)
    except ValueError:
        raise ValueError(f"{told!r} in {text!r} is no JSON value") from None
    if sign == "in" and not isinstance(value, list):
        raise ValueError(f"{text!r} needs a list behind `in`")
    if sign in _ORDERS and not (isinstance(value, str) or _is_number(value)):
        raise ValueError(f"{text!r} needs a number or a text behind `{sign}`")
    return Condition(tuple(path.split(".")), sign, value)


def _no_number(word: str) -> JsonValue:
    raise ValueError(word)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alike(one: JsonValue, other: JsonValue) -> bool:
    return (_is_number(one) and _is_number(other)) or (
        isinstance(one, str) and isinstance(other, str)
    )


def _same(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
