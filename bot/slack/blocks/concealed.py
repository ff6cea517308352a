"""Texts about a call without its secret arguments, and without what looks like a secret."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pydantic import JsonValue

from bot.secrets import MASK, masked, named_secrets

HIDDEN = "••••••"
"""What stands for the value of a secret argument."""
SHORTEST, LONG_ENOUGH = 3, 8
"""Characters from which on a secret is hidden in texts, and also inside other words."""


class Call(Protocol):
    """What has arguments, some of them secret."""

    @property
    def args(self) -> Mapping[str, JsonValue]:
        """The arguments by name."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """The names of those that nobody is shown."""
        ...


def concealed(call: Call, text: str) -> str:
    """A text about a call, without the values of its secret arguments and what looks like one."""
    return retold((call,), text)


def difference(call: Call, line: str) -> str:
    """A line such as `to: was "A", is now "B"` without secrets; the name before it counts too."""
    name, colon, told = line.partition(": ")
    was = "was " * told.startswith("was ")
    values = masked(told.removeprefix("was "), by=MASK, name=name)
    return concealed(call, f"{name}{colon}{was}{values}")


def retold(calls: Iterable[Call], text: str) -> str:
    """A text that may tell what some calls were about, without what is secret in them.

    A secret that is short is looked for as a word of its own, and one of a letter or two not at
    all: what is read beside it, such as an amount, has to stay what it is.
    """
    for call in calls:
        marked = {leaf for name in call.secrets for leaf in _leaves(call.args.get(name))}
        named = {leaf for each in named_secrets(dict(call.args)) for leaf in _leaves(each)}
        for leaf in sorted(marked | named, key=len, reverse=True):
            text = _without(text, leaf, by=HIDDEN if leaf in marked else MASK)
    return masked(text, by=MASK)


def _without(text: str, leaf: str, *, by: str) -> str:
    if len(leaf) < SHORTEST:
        return text
    for spelled in (leaf, json.dumps(leaf, ensure_ascii=False)[1:-1]):
        alone = len(leaf) < LONG_ENOUGH
        pattern = re.escape(spelled)
        found = rf"(?<!\w){pattern}(?!\w)" if alone else pattern
        text = re.sub(found, by, text)
    return text


def _leaves(value: JsonValue) -> list[str]:
    """Every text and number inside a value, in each way that it is written."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in _leaves(each)]
    if value is None or value == "" or isinstance(value, bool):
        return []
    if isinstance(value, float) and value.is_integer():
        return [json.dumps(value), str(int(value))]
    return [value if isinstance(value, str) else json.dumps(value)]
