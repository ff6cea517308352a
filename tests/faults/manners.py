"""How Slack and its people are treated: nobody is pestered, and whoever presses hears. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from tests.faults.case import Violation
from tests.faults.evidence import Called, Evidence
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
    """Whoever pressed in vain is told so."""
    slack = any(kind.startswith(("slack", "token", "deaf")) for kind in evidence.faults)
    if slack or not evidence.calm:
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
        if notes[person] < len(asked):
            what = f"pressed {len(asked)} times in vain and heard {notes[person]} times"
            yield Violation(19, person, what)


def asks_properly(evidence: Evidence) -> Iterator[Violation]:
    """A model is asked what a strict provider accepts."""
    for problem in evidence.malformed:
        yield Violation(14, "all", f"a model was asked something malformed: {problem}")


MANNERS: tuple[Callable[[Evidence], Iterator[Violation]], ...] = (
    waits_when_told,
    answers_clicks,
    asks_properly,
)
