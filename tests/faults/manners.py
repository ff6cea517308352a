"""How Slack and its people are treated: nobody is pestered, and whoever presses hears. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents.runtime.slot.port import Record
from tests.faults.case import Violation
from tests.faults.evidence import SHAKING, Called, Evidence
from tests.faults.plan import LIMITED

ON_ITS_WAY = 0.3
"""Seconds for which others may not know yet that Slack wants less."""


def waits_when_told(evidence: Evidence) -> Iterator[Violation]:
    """What Slack limits is not tried again before its time."""
    if not evidence.calm:
        return
    for first in evidence.calls:
        if first.error != "ratelimited":
            continue
        soon = [call for call in evidence.calls if _early(call, first)]
        if soon:
            what = f"{first.about} was limited, and tried again {len(soon)} times before its time"
            yield Violation(19, "all", what)


def _early(call: Called, first: Called) -> bool:
    same = (call.method, call.about) == (first.method, first.about)
    late = call.at - first.at
    return same and call is not first and ON_ITS_WAY * bool(late) < late < LIMITED - 0.05


def answers_clicks(evidence: Evidence) -> Iterator[Violation]:
    """Whoever pressed in vain is told so; where the machine stands still some may not be."""
    slack = any(kind.startswith(("slack", "token", "deaf")) for kind in evidence.faults)
    if slack or evidence.died or evidence.faults & (SHAKING - {"stall"}):
        return
    vain: dict[str, set[str]] = defaultdict(set)
    for click in evidence.clicks:
        view = evidence.sessions.get(click.session)
        record = view and view.approvals.get(click.approval)
        person = evidence.people.get(click.who, "")
        if click.ok and click.act == "approve" and record:
            votes = {vote["person"] for vote in record.body["votes"]}
            if person not in votes and person != record.body["decided_by"]:
                vain[person].add(click.approval + click.session)
    notes = Counter(call.about for call in evidence.calls if call.method == "chat.postEphemeral")
    for person, asked in vain.items():
        least = min(1, sum(notes.values())) if not evidence.calm else notes[person]
        if least < (len(asked) if evidence.calm else 1):
            what = f"pressed {len(asked)} times in vain and heard {notes[person]} times"
            yield Violation(19, person, what)


def notes_are_true(evidence: Evidence) -> Iterator[Violation]:
    """What people hear in private is so: whose approval counts, and how something ended."""
    records = [each for view in evidence.sessions.values() for each in view.approvals.values()]
    for call in evidence.calls:
        for words, holds in NOTES.items():
            found = re.search(words, call.text, re.MULTILINE)
            if (
                found
                and call.about
                and not any(holds(each, call.about, *found.groups()) for each in records)
            ):
                yield Violation(19, call.about, f"heard {call.text!r}, and it is not so")


def _counts(record: Record, person: str) -> bool:
    """They voted on it."""
    votes: Any = record.body["votes"]
    return person in [vote["person"] for vote in votes]


def _decided(record: Record, _person: str, how: str, by: str) -> bool:
    """It ended so, by that person."""
    agreed = record.status not in ("rejected", "expired", "pending")
    return record.body["decided_by"] == by and agreed == (how == "approved")


def _did(record: Record, person: str, how: str) -> bool:
    """They voted so on it."""
    votes: Any = record.body["votes"]
    return (person, how == "approved") in [(vote["person"], vote["confirmed"]) for vote in votes]


def _ended(status: str, why: str = "") -> Callable[[Record, str], bool]:
    """It ended so."""
    return lambda record, _person: (record.status, record.body["why"]) == (status, why)


def _never(_record: Record, _person: str) -> bool:
    """Nobody may be told so in private."""
    return False


NOTES: Mapping[str, Callable[..., bool]] = {
    r"^Your (?:approval|rejection) (?:is )?counted": _counts,
    r"already (approved|rejected) by <@(\w+)>": _decided,
    r"^You (?:already )?(approved|rejected) this": _did,
    r"\bexpired\b": _ended("expired"),
    r"\bwithdrawn\b|\bwithdrew\b": _ended("cancelled", "withdrawn"),
    r"\basked again\b": _ended("cancelled", "superseded"),
    r"\bit runs\b": _never,
}
"""What a note says, and of which question it must be so."""


def asks_properly(evidence: Evidence) -> Iterator[Violation]:
    """A model is asked what a strict provider accepts."""
    for problem in evidence.malformed:
        yield Violation(14, "all", f"a model was asked something malformed: {problem}")


MANNERS: tuple[Callable[[Evidence], Iterator[Violation]], ...] = (
    waits_when_told,
    answers_clicks,
    notes_are_true,
    asks_properly,
)
