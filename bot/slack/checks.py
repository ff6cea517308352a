"""What a value in Block Kit may be: a check for each kind of value, and what it finds wrong."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

JsonObject = dict[str, Any]
Check = Callable[[Any, str], Iterator["Problem"]]


@dataclass(frozen=True)
class Problem:
    """Something Slack would refuse: where (a JSON pointer), why, and with which error code."""

    pointer: str
    message: str
    error: str = "invalid_blocks"


def as_object(value: Any) -> JsonObject | None:
    """The value if it is a JSON object."""
    return cast("JsonObject", value) if isinstance(value, dict) else None


def as_array(value: Any) -> list[Any] | None:
    """The value if it is a JSON array."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def string(most: int, *, least: int = 1) -> Check:
    """A string of so many characters."""

    def check(value: Any, at: str) -> Iterator[Problem]:
        if not isinstance(value, str):
            yield Problem(at, "must provide a string")
        elif len(value) > most:
            yield Problem(at, f"must be less than {most + 1} characters")
        elif len(value) < least:
            yield Problem(at, f"must be more than {least - 1} characters")

    return check


def matching(pattern: str, form: str) -> Check:
    """A string of a form, such as a date."""

    def check(value: Any, at: str) -> Iterator[Problem]:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            yield Problem(at, f"must match the format {form}")

    return check


def whole(least: int, most: int) -> Check:
    """A whole number between two others."""

    def check(value: Any, at: str) -> Iterator[Problem]:
        if not isinstance(value, int) or isinstance(value, bool):
            yield Problem(at, "must provide a number")
        elif not least <= value <= most:
            yield Problem(at, f"must be between {least} and {most}")

    return check


def one_of(*values: str) -> Check:
    """One of some strings."""

    def check(value: Any, at: str) -> Iterator[Problem]:
        if value not in values:
            yield Problem(at, f"must be a valid enum value: {', '.join(values)}")

    return check


def flag(value: Any, at: str) -> Iterator[Problem]:
    """True or false."""
    if not isinstance(value, bool):
        yield Problem(at, "must provide a boolean")


def anything(_value: Any, _at: str) -> Iterator[Problem]:
    """No rule is known, or another function has it."""
    yield from ()


def several(check_one: Check, most: int, *, least: int = 1) -> Check:
    """A list of so many, each checked."""

    def check(value: Any, at: str) -> Iterator[Problem]:
        items = as_array(value)
        if items is None:
            yield Problem(at, "must provide an array")
            return
        if len(items) > most:
            yield Problem(at, f"no more than {most} items allowed")
        if len(items) < least:
            yield Problem(at, f"no fewer than {least} items allowed")
        for index, item in enumerate(items):
            yield from check_one(item, f"{at}/{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these fields and no others."""
    fields = {**required, **(optional or {})}

    def check(value: Any, at: str) -> Iterator[Problem]:
        there = as_object(value)
        if there is None:
            yield Problem(at, "must be an object")
            return
        for name in required:
            if name not in there:
                yield Problem(f"{at}/{name}", f"missing required field: {name}")
        for name, item in there.items():
            if name in fields:
                yield from fields[name](item, f"{at}/{name}")
            else:
                yield Problem(f"{at}/{name}", f"invalid additional property: {name}")

    return check


def text(most: int, *, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> Check:
    """A text object of one of the kinds."""
    extra = {"plain_text": {"emoji": flag}, "mrkdwn": {"verbatim": flag}}
    shapes = {
        kind: shape({"type": one_of(kind), "text": string(most)}, extra[kind]) for kind in kinds
    }

    def check(value: Any, at: str) -> Iterator[Problem]:
        there = as_object(value)
        if there is None:
            yield Problem(at, "must be a text object")
            return
        kind = there.get("type")
        if kind in shapes:
            yield from shapes[kind](there, at)
        else:
            yield Problem(f"{at}/type", f"must be one of: {', '.join(kinds)}")

    return check


def plain(most: int) -> Check:
    """A plain_text object."""
    return text(most, kinds=("plain_text",))
