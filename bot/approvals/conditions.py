"""Conditions on a call's arguments, such as `amount > 1000`: pure, and sure or silent.

A Decimal stands in a call as text, so digits in text are a number beside a number. Two texts that
are numbers, or moments with their zones, must compare alike as such and as texts.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

_FORM = re.compile(
    r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(>=|<=|==|!=|>|<|\bin\b)\s*(\S.*?)\s*", re.DOTALL
)
_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ">": operator.gt,
        ">=": operator.ge,
        "<": operator.lt,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
    }
)
_ORDERS = frozenset({">", ">=", "<", "<="})


@dataclass(frozen=True, slots=True)
class Condition:
    """An argument (`a.b` looks inside), a comparison, and a JSON value to compare with."""

    path: tuple[str, ...]
    sign: str
    value: JsonValue

    def met(self, args: Mapping[str, JsonValue]) -> bool | None:
        """Whether a call meets it; None when its argument cannot be compared, or is not there."""
        found: JsonValue = dict(args)
        for name in self.path:
            if not isinstance(found, dict) or name not in found:
                return None
            found = found[name]
        if self.sign != "in":
            return _compared(found, self.sign, self.value)
        members = self.value if isinstance(self.value, list) else []
        answers = [_compared(found, "==", member) for member in members]
        return True if True in answers else (None if None in answers else False)


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


def _compared(found: JsonValue, sign: str, value: JsonValue) -> bool | None:
    """What a comparison says in every way these two can be read; None if in none, or not alike."""
    answers = {_SIGNS[sign](one, other) for one, other in _readings(found, value)}
    return answers.pop() if len(answers) == 1 else None


def _readings(found: JsonValue, value: JsonValue) -> Iterator[tuple[Any, Any]]:
    """The pairs that two values are when both are of one kind."""
    if value is None:
        yield found is None, True
    elif type(found) is type(value) and isinstance(value, list | dict):
        yield json.dumps(found, sort_keys=True), json.dumps(value, sort_keys=True)
    elif type(found) is type(value) and isinstance(value, str | bool):
        yield found, value
    for kind in (_number, _moment):
        one, other = kind(found), kind(value)
        if one is not None and other is not None:
            yield one, other


def _number(value: JsonValue) -> Decimal | None:
    if isinstance(value, str):
        return Decimal(value) if _DIGITS.fullmatch(value) else None
    return Decimal(repr(value)) if _is_number(value) else None


def _moment(value: JsonValue) -> datetime | None:
    """A date and time with its zone."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment and moment.tzinfo else None
