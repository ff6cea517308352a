"""A call's arguments as they will run, for a person who decides about them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from bot.approvals.request import Approval
from bot.logs import masked
from bot.slack.blocks.rendered import Block, preformatted, rich, said, section, user
from bot.slack.text import cut, visible

VALUE_LIMIT = 600
ALL_LIMIT = 3_500
COUNT_LIMIT = 40
NAME_LIMIT = 100
LINE_LIMIT = 60
HIDDEN = "••••••"
EXACT = 2**53
"""Below this a float without a fraction is the same number as an int."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument, whole: secrets masked, hidden characters spelled out.

    `deceiving` says that there were some; `default` that the model left it out.
    """

    name: str
    value: str
    deceiving: bool
    default: bool = False

    @property
    def long(self) -> bool:
        """Whether the value wants a box of its own."""
        return len(self.value) > 80 or "\n" in self.value


def arguments(approval: Approval) -> list[Argument]:
    """All arguments of a call, in order; those that are secret only by name."""
    return [
        _argument(
            name,
            HIDDEN if name in approval.secrets else value,
            default=name in approval.defaults,
        )
        for name, value in _ordered(approval)
    ]


def _ordered(approval: Approval) -> list[tuple[str, JsonValue]]:
    """The arguments in the order of the function's parameters, which no store keeps."""
    names = dict.fromkeys((*approval.order, *approval.args))
    return [(name, approval.args[name]) for name in names if name in approval.args]


def values(approval: Approval) -> dict[str, str]:
    """The beginning of each value by the argument's name, in one line, without secret ones."""
    pairs = zip(_ordered(approval), arguments(approval), strict=True)
    return {
        name: cut(" ".join(each.value.split()), LINE_LIMIT)
        for (name, _), each in pairs
        if name not in approval.secrets
    }


def depends_on(approval: Approval) -> list[Argument]:
    """What a call depends on besides its arguments, without the values of secret ones."""
    found = [_argument(name, value, default=False) for name, value in approval.precondition.items()]
    return [replace(each, value=concealed(approval, each.value)) for each in found]


def concealed(approval: Approval, text: str) -> str:
    """A text about a call, without the values of its secret arguments and what looks like one."""
    kept = [leaf for name in approval.secrets for leaf in _leaves(approval.args.get(name))]
    for leaf in sorted(kept, key=len, reverse=True):
        for spelled in (leaf, json.dumps(leaf, ensure_ascii=False)[1:-1]):
            text = text.replace(spelled, HIDDEN)
    return masked(text)


def _leaves(value: JsonValue) -> list[str]:
    """Every text and number inside a value."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in _leaves(each)]
    if value is None or value == "" or isinstance(value, bool):
        return []
    return [value if isinstance(value, str) else json.dumps(value)]


def listed(shown: Sequence[Argument], *, room: int = ALL_LIMIT) -> tuple[list[Block], bool]:
    """The arguments as blocks, and whether anything of them had to be left out."""
    if not shown:
        return [rich(section(said("It takes no arguments.")))], False
    kept = _cut(shown, room=room)
    parts = [part for pair in zip(shown, kept, strict=False) for part in _parts(*pair)]
    if more := len(shown) - len(kept):
        parts.append(section(said(f"… and {more:,} more arguments", bold=True)))
    return [rich(*parts)], not _whole(shown, kept)


def all_fit(shown: Sequence[Argument], *, room: int = ALL_LIMIT) -> bool:
    """Whether all of the arguments would be `listed`."""
    return _whole(shown, _cut(shown, room=room))


def _whole(shown: Sequence[Argument], kept: Sequence[str]) -> bool:
    return [argument.value for argument in shown] == kept


def _cut(shown: Sequence[Argument], *, room: int) -> list[str]:
    """As much of each value as there is room for, as long as there is room for any."""
    kept: list[str] = []
    for argument in shown[:COUNT_LIMIT]:
        if room < NAME_LIMIT:
            break
        value = cut(argument.value, min(VALUE_LIMIT, room))
        room -= len(value) + len(argument.name)
        kept.append(value)
    return kept


def titled(name: str) -> str:
    """A Python name as a person would write it: `approved_days` is `Approved days`."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def summary(approval: Approval) -> Block:
    """One call in a sentence: what, asked by whom, and the beginning of its arguments."""
    call = cut(in_one_line(arguments(approval), 200), 220)
    what = section(
        said(titled(visible(cut(approval.tool, 60))[0]), bold=True),
        said(", asked by "),
        user(approval.requester),
        said(f": {call}" if call else ""),
    )
    return rich(what)


def in_one_line(shown: Sequence[Argument], limit: int) -> str:
    """The arguments as `name: value, …`, for notifications and screen readers."""
    pairs = (f"{titled(each.name)}: {' '.join(cut(each.value, 200).split())}" for each in shown)
    return cut(", ".join(pairs), limit)


def _argument(name: str, value: JsonValue, *, default: bool) -> Argument:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT
    if isinstance(value, float) and whole and str(value) != "-0.0":
        value = int(value)
    text = value or '""' if isinstance(value, str) else _spelled(value)
    shown_name, odd_name = visible(name)
    shown, odd = visible(masked(text))
    return Argument(
        name=cut(shown_name, NAME_LIMIT), value=shown, deceiving=odd or odd_name, default=default
    )


def _spelled(value: JsonValue) -> str:
    nested = isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False, indent=2) if nested else json.dumps(value)


def _parts(argument: Argument, value: str) -> list[Block]:
    default = " (default)" if argument.default else ""
    name = said(f"{titled(argument.name)}{default}: ", bold=True)
    if argument.long:
        return [section(name), preformatted(value)]
    return [section(name, said(value + "\n"))]
