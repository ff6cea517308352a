"""How a question was asked and how it ended: by the clock, for a reason, and told as it was. Pure.

Nothing here asks the code that closes questions: a reason that lies would agree with itself.
"""

from collections.abc import Callable, Mapping

from agents.runtime.slot.port import Record
from tests.faults.case import Case, Found

WEEK = 7 * 24 * 3600 * 1000
SPANS = {"brief": 600}
"""Milliseconds in which people may decide about a tool's calls; a week about all others."""
NEAR = 1_000
"""Milliseconds by which the clocks of this machine may seem to differ."""
RAN = ("done", "failed", "unknown", "cancelled")
"""What a call is that started on an approval; one that nobody looked for is cancelled."""


def deadlines_are_the_stores(case: Case) -> Found:
    """A question is asked when it is shown, by the store's clock, and open as long as it says."""
    begun = float(case.tag.rpartition("%3A")[2]) * 1000
    for record in case.view.approvals.values():
        asked, span = _moment(record, "asked_at"), SPANS.get(str(record.body["tool"]), WEEK)
        shown = [float(card.ts) * 1000 for card in case.cards(record)]
        if not begun - NEAR <= asked <= min(shown, default=asked) + NEAR:
            yield 12, f"{record.id} says that it was asked at {asked}, it is shown since {shown}"
        span = WEEK if record.body["unknown"] else span
        if record.deadline != asked + span:
            yield 12, f"{record.id} was asked at {asked} and ends at {record.deadline}"


def expires_in_time(case: Case) -> Found:
    """Nothing expires before its deadline."""
    for record in case.view.approvals.values():
        for end in case.audit(record, "approval.decided"):
            early = record.deadline is None or end["at"] < record.deadline
            if end["status"] == "expired" and early:
                yield (
                    12,
                    f"{record.id} expired at {end['at']}, and was open until {record.deadline}",
                )


def closes_for_a_reason(case: Case) -> Found:
    """What is closed without a vote is closed for what happened, whatever else was decided."""
    for record in case.view.approvals.values():
        for end in case.audit(record, "approval.decided"):
            holds = REASONS.get(str(end["why"]), _never)
            if end["status"] == "cancelled" and not holds(case, record):
                yield 14, f"{record.id} was closed as {end['why']!r}, which nothing accounts for"


def deciders_are_told(case: Case) -> Found:
    """The stored answer to a question names who decided it."""
    for call in case.story.calls.values():
        record = case.view.approvals.get(call.request or "")
        if record and call.answer and call.decided_by != record.body["decided_by"]:
            told = f"{call.decided_by}, and it was {record.body['decided_by']}"
            yield 18, f"the answer to {record.id} names {told}"


def starts_are_audited(case: Case) -> Found:
    """What ran on an approval has its start in the audit, once, and then what came of it."""
    for record in case.view.approvals.values():
        starts = case.audit(record, "approval.started")
        ran = record.status in RAN and case.agreed(record)
        if len(starts) != ran:
            yield 18, f"{record.id} is {record.status}, and was started {len(starts)} times"
        asked = case.records(str(record.body["call_id"]))
        told = ran and record.status != "cancelled"
        if told and not any(case.audit(each, "approval.answered") for each in asked):
            yield 18, f"{record.id} is {record.status}, and nothing came of it in the audit"


def _moment(record: Record, name: str) -> float:
    return float(str(record.body[name]))


def _pressed(case: Case, record: Record, act: str) -> bool:
    """Whether somebody pressed a button of a question."""
    return any(
        (click.session, click.approval, click.act) == (case.tag, record.id, act)
        for click in case.evidence.clicks
    )


def _withdrawn(case: Case, record: Record) -> bool:
    """Somebody took it back, or the message that began it."""
    return _pressed(case, record, "withdraw") or "deleted" in case.evidence.faults


def _happened(case: Case, record: Record) -> bool:
    """Somebody looked, and said so."""
    return _pressed(case, record, "happened")


def _superseded(case: Case, record: Record) -> bool:
    """The same was asked for again, later."""
    same = (record.body["tool"], record.body["args"])
    return any(
        (each.body["tool"], each.body["args"]) == same
        and _moment(each, "asked_at") >= _moment(record, "asked_at")
        for each in case.view.approvals.values()
        if each is not record
    )


def _answered_otherwise(case: Case, record: Record) -> bool:
    """Its call has its answer from elsewhere, not from this."""
    call = case.story.calls[str(record.body["call_id"])]
    return call.request != record.id or call.answer is None


def _never(_case: Case, _record: Record) -> bool:
    return False


REASONS: Mapping[str, Callable[[Case, Record], bool]] = {
    "withdrawn": _withdrawn,
    "happened": _happened,
    "superseded": _superseded,
    "run_cancelled": _answered_otherwise,
}
"""Why a question may be closed without a vote, and whether that is so."""

OF_ENDS: tuple[Callable[[Case], Found], ...] = (
    deadlines_are_the_stores,
    expires_in_time,
    closes_for_a_reason,
    deciders_are_told,
    starts_are_audited,
)
