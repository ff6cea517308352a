"""What a tool answers with, as a person would say it: `Paid 250 for lunch, reference 17`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

from agents.runtime.rehearsal.words import name_words, plain

_SUMS = ("amount", "sum", "total", "price", "cost", "count", "quantity")
_LED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "for": ("purpose", "occasion", "reason"),
        "to": ("to", "recipient", "payee", "account", "destination"),
        "from": ("start", "since", "begin", "from", "first day"),
        "until": ("end", "until", "last day"),
        "on": ("date", "day", "on"),
        "at": ("at", "time"),
        "in": ("city", "place", "location", "room", "office"),
    }
)
_ASKED = ("requested", "asked", "wanted", "proposed")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def clause(lead: str, fields: Mapping[str, Any], shown: Mapping[str, str], *, acted: bool) -> str:
    """One clause: what was done, how much of what, and the rest as `name value`.

    `lead` begins it: what was done if `acted`, such as `Paid`, else what it is about. `shown` has
    the values in words, empty for those that say nothing.
    """
    left = {name: spoken(text) for name, text in shown.items() if text}
    granted = _granted(fields, left)
    phrases = " ".join(_phrases(fields, left, sums=not granted))
    head = granted or lead
    if phrases:
        head = f"{head} {phrases}" if granted or acted else f"{head}: {phrases}"
    rest = listed(left)
    if not rest:
        return head
    return f"{head}: {rest}" if head == lead else f"{head}, {rest}"


def spoken(text: str) -> str:
    """A value as one says it: `2026-12-24` is `24 December 2026`."""
    if not _ISO.fullmatch(text):
        return text
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text
    return f"{day.day} {day:%B %Y}"


def listed(shown: Mapping[str, str]) -> str:
    """Names with their values, such as `reference 17 and ticket T-4`; empty ones are left out."""
    told = {name: plain(name).removesuffix(" id") or name for name in shown}
    return joined([f"{told[name]} {text}" for name, text in shown.items() if text])


def joined(texts: Sequence[str]) -> str:
    """Some texts as one: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _granted(fields: Mapping[str, Any], left: dict[str, str]) -> str:
    """`3 of 5 days are approved`, out of `approved_days` and perhaps `requested_days`."""
    for name, value in fields.items():
        done, *what = name_words(name)
        number = isinstance(value, int) and not isinstance(value, bool)
        if number and what and done.endswith("ed") and done not in _ASKED:
            count, noun = left.pop(name), " ".join(what)
            asked = next((n for w in _ASKED if (n := "_".join((w, *what))) in left), "")
            of = left.pop(asked, count)
            noun = noun.removesuffix("s") if of == "1" else noun
            told = count if of == count else f"{count} of {of}"
            return f"{told} {noun} {'is' if value == 1 else 'are'} {done}"
    return ""


def _phrases(fields: Mapping[str, Any], left: dict[str, str], *, sums: bool) -> Iterator[str]:
    """How much, for what, to whom, from when: what needs no name; it is taken from `left`."""
    short = [name for name in left if isinstance(fields[name], str | int | float)]
    if sums and (found := next((name for name in short if plain(name) in _SUMS), "")):
        yield " ".join(filter(None, (left.pop(found), left.pop("currency", ""))))
    for word, names in _LED.items():
        found = next((name for name in short if plain(name) in names), "")
        if found and "\n" not in left[found]:
            yield f"{word} {left.pop(found)}"
