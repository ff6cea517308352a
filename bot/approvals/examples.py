"""Calls that meet each condition of some policies, and calls that miss it; pure, for the start.

Whether policies make sense together shows only in calls: which of their tiers stand at once.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import cast

from pydantic import JsonValue

from agents import ApprovalPolicy
from bot.approvals.conditions import Condition, condition, quantity

MOST = 2_000
"""Calls that are looked at: the start must not take long."""
OTHERS: Sequence[JsonValue] = (True, False, None, "another", [], {}, "00:00", "23:59:59")


def examples(policies: Sequence[ApprovalPolicy]) -> Iterator[dict[str, JsonValue]]:
    """Arguments that differ in the conditions they meet; an empty call where there are none.

    Yields nothing where a condition cannot be read.
    """
    found: dict[tuple[str, ...], list[Condition]] = {}
    try:
        for each in _conditions(policies):
            found.setdefault(each.path, []).append(each)
    except ValueError:
        return
    values = [_values(path, same) for path, same in found.items()]
    for chosen in itertools.islice(itertools.product(*values), MOST):
        yield _call(zip(found, chosen, strict=True))


def _conditions(policies: Sequence[ApprovalPolicy]) -> Iterator[Condition]:
    """All conditions, those of tiers in tiers too."""
    for policy in policies:
        for when, tier in policy.tiers.items():
            yield condition(when)
            yield from _conditions([tier])


def _values(path: tuple[str, ...], conditions: Sequence[Condition]) -> Sequence[JsonValue]:
    """One value for each way to meet and miss these conditions on one argument."""
    found: dict[tuple[bool | None, ...], JsonValue] = {}
    for value in (*_near(conditions), *OTHERS):
        call = _call([(path, value)])
        answers = tuple(each.met(call) for each in conditions)
        if None not in answers:
            found.setdefault(answers, value)
    return list(found.values())


def _near(conditions: Sequence[Condition]) -> Iterator[JsonValue]:
    """The values that conditions name, and values a little less, a little more and between."""
    named = [value for each in conditions for value in _named(each)]
    numbers = sorted(v for v in named if isinstance(v, int | float) and not isinstance(v, bool))
    yield from named
    yield from (each + step for each in numbers for step in (-1, 1))
    with suppress(OverflowError):
        yield from ((one + other) / 2 for one, other in itertools.pairwise(numbers))
    measured = (quantity(each) for each in named if isinstance(each, str))
    for each in filter(None, measured):
        for step in (-1, 1):
            with suppress(OverflowError):
                yield _beside(each.amount, step)


def _named(condition: Condition) -> Sequence[JsonValue]:
    """The values that a condition names: those of the list behind `in`."""
    listed = condition.sign == "in" and isinstance(condition.value, list)
    return cast("list[JsonValue]", condition.value) if listed else [condition.value]


def _beside(amount: object, step: int) -> str:
    """A date, a moment or a span that is a little more or less than another."""
    match amount:
        case datetime():
            return (amount + timedelta(seconds=step)).isoformat()
        case date():
            return (amount + timedelta(days=step)).isoformat()
        case timedelta():
            return f"PT{amount.total_seconds() + step:.0f}S"
        case _:
            return ""


def _call(values: Iterable[tuple[tuple[str, ...], JsonValue]]) -> dict[str, JsonValue]:
    """The arguments with these values at these paths."""
    call: dict[str, JsonValue] = {}
    for path, value in values:
        inside = call
        for name in path[:-1]:
            below = inside.get(name)
            inside[name] = below = dict(below) if isinstance(below, dict) else {}
            inside = below
        inside[path[-1]] = value
    return call
