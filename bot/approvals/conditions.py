"""Conditions on a call's arguments, such as `amount > 1000`: pure, and sure or silent.

A Decimal stands in a call as text, so digits in text are a number beside a number. Dates, times and
spans of time compare as what they are. Two texts that only look the same are neither equal nor
different: nobody can tell, and then the stricter counts, whichever way the condition points.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue, TypeAdapter

from bot.approvals.looks import looks_like, spelling

_FORM = re.compile(
    r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*(>=|<=|==|!=|>|<|\bin\b)\s*(\S.*?)\s*", re.DOTALL
)
_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_DAY, _HOUR = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
_SPAN: TypeAdapter[timedelta] = TypeAdapter(timedelta)
_KINDS: Mapping[str, tuple[re.Pattern[str], Callable[[str], Any]]] = MappingProxyType(
    {
        "number": (_DIGITS, Decimal),
        "date": (re.compile(_DAY), date.fromisoformat),
        "time": (re.compile(_HOUR), time.fromisoformat),
        "moment": (re.compile(f"{_DAY}T{_HOUR}{_ZONE}"), datetime.fromisoformat),
        "moment without a zone": (re.compile(f"{_DAY}T{_HOUR}"), datetime.fromisoformat),
        "span": (re.compile(r"-?P[0-9DWTHMS.]+"), _SPAN.validate_python),
    }
)
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
ORDERS = frozenset({">", ">=", "<", "<="})
"""The signs that need more or less of something."""


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


def covers(later: Condition, earlier: Condition) -> bool:
    """Whether whatever meets the earlier condition is sure to meet the later one, too."""
    if later.path != earlier.path:
        return False
    name, literal = later.path[-1], earlier.value
    alone = Condition((name,), later.sign, later.value)
    if earlier.sign in ("==", "in"):
        values = literal if earlier.sign == "in" and isinstance(literal, list) else [literal]
        return all(alone.met({name: value}) for value in values)
    if earlier.sign not in ORDERS or later.sign[:1] != earlier.sign[:1]:
        return False
    beyond = Condition((name,), later.sign[:1], later.value).met({name: literal})
    same = Condition((name,), "==", later.value).met({name: literal})
    return beyond is True or (same is True and later.sign >= earlier.sign)


def condition(text: str) -> Condition:
    """Reads `argument sign value`; raises ValueError with a sentence.

    The sign is one of `>`, `>=`, `<`, `<=`, `==`, `!=` and `in` (a JSON list); numbers compare with
    numbers, texts with texts; dates, times and spans of time are written as in ISO 8601.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a condition such as: amount > 1000")
    path, sign, told = found.groups()
    try:
        value: JsonValue = json.loads(told, parse_constant=_no_number)
    except ValueError:
        raise ValueError(f"{told!r} in {text!r} is not a JSON value") from None
    if sign == "in" and not isinstance(value, list):
        raise ValueError(f"{text!r} needs a list after `in`")
    if sign in ORDERS and quantity(value) is None:
        raise ValueError(f"{text!r} needs a number, a date, a time or a span after `{sign}`")
    return Condition(tuple(path.split(".")), sign, value)


def _no_number(word: str) -> JsonValue:
    raise ValueError(word)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compared(found: JsonValue, sign: str, value: JsonValue) -> bool | None:
    """What a comparison says of two values; None unless all ways to read them agree."""
    answers = {_SIGNS[sign](one, other) for one, other in _readings(found, sign, value)}
    return answers.pop() if len(answers) == 1 else None


def _readings(found: JsonValue, sign: str, value: JsonValue) -> Iterator[tuple[Any, Any]]:
    """The pairs of quantities that two values can be read as, both of one kind."""
    one, other = quantity(found), quantity(value)
    if one and other and one.kind == other.kind:
        yield one.amount, other.amount
    if value is None:
        yield found is None, True
    elif isinstance(value, bool) and isinstance(found, bool):
        yield found, value
    elif sign not in ORDERS and _spelled(found, other) and type(found) is type(value):
        yield spelling(found), spelling(value)
        if looks_like(found, value):
            yield True, True


def _spelled(found: JsonValue, other: "Quantity | None") -> bool:
    """Whether a value is compared letter by letter: dates, times and spans are not."""
    written = other is None or other.kind == "number"
    return written and isinstance(found, str | list | dict)


@dataclass(frozen=True, slots=True)
class Quantity:
    """What can be more or less than another of its kind."""

    kind: str
    amount: Any


def quantity(value: JsonValue) -> Quantity | None:
    """What a value measures; None for what has no order."""
    if _is_number(value):
        return Quantity("number", Decimal(repr(value)))
    if not isinstance(value, str):
        return None
    for kind, (form, read) in _KINDS.items():
        if form.fullmatch(value):
            try:
                return Quantity(kind, read(value))
            except (ValueError, ArithmeticError):
                return None
    return None
