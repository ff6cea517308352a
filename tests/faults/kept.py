"""What must be kept of a call that ran: its result, its state, its lease, its hour. Pure.

And what must not be kept of it once it is over.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents.runtime.slot.port import Record
from agents.runtime.story import Call
from tests.faults.case import Case, Found
from tests.faults.props import SCOPES

LOOK = "look:"
"""What a step that was looked for is kept under, among the runs."""
KEEP = 0.8
"""Seconds within which the result of a body is stored, and a process that ended is missed."""


def state_is_kept(case: Case) -> Found:
    """What a tool wrote into the state is there, for its session and for all that share it."""
    for call in case.story.calls.values():
        told = [a.response.response or {} for a in call.responses if not a.placeholder]
        if not told or "ref" not in told[0]:
            continue
        person = case.story.requesters.get(call.invocation, "")
        name = f"{call.name} {call.args['mark']}"
        for scope in SCOPES:
            kept = case.shared(person) if scope else case.view.state
            if kept.get(f"{scope}{name}") != call.args["n"]:
                yield 15, f"{call.name} {call.id} wrote {scope or 'its own'} state that is lost"


def results_are_kept(case: Case) -> Found:
    """What came of a body is known, though its process dies later while others of its batch run."""
    for call, act, again in _again(case):
        died = case.evidence.died.get(act["pid"])
        ended = act.get("answered")
        if ended and died and again > died > ended + KEEP and _storing(case):
            yield 14, f"{call.name} {call.id} had its result, and it was thrown away"


def leases_are_kept(case: Case) -> Found:
    """Nobody takes over what a process is in the middle of that lives and was never stopped."""
    for call, act, again in _again(case):
        ended = act.get("answered", again)
        alive = act["pid"] not in case.evidence.died
        if alive and again <= ended and case.evidence.calm:
            yield 17, f"{call.name} {call.id} was taken out of the hands of a process that lives"


def starts_are_in_time(case: Case) -> Found:
    """No approved call starts after its last moment."""
    for record in case.view.approvals.values():
        for entry in case.audit(record, "approval.started"):
            if record.run_by and entry["at"] >= record.run_by:
                yield 12, f"{record.id} was started {entry['at'] - record.run_by} ms too late"


def nothing_is_left_over(case: Case) -> Found:
    """Of a call that is closed the journal has nothing, and of a run that is over the slot."""
    steps = [step.removeprefix(LOOK) for step in case.evidence.runs.get(case.tag, ())]
    journal = [step.partition(":")[0] for step in case.evidence.journals.get(case.tag, ())]
    lasting = {call.invocation for call in case.story.open.values()} | case.story.open.keys()
    over = [step for step in steps if re.split("[/:]", step)[0] not in lasting]
    over += [step for step in journal if step not in case.story.open]
    if over:
        yield 0, f"{over} are kept, and only {sorted(lasting)} may be"


def _again(case: Case) -> Iterator[tuple[Call, Mapping[str, Any], float]]:
    """Every call that was begun once more, or asked about as interrupted: its act before, and when.

    In seconds of the same clock for all.
    """
    for call in case.story.calls.values():
        acts = case.acts(call.id)
        asked = [_asked(record) for record in case.records(call.id) if record.body["unknown"]]
        for act in acts:
            later = [other["came"] for other in acts if other["came"] > act["came"]] + asked
            yield from ((call, act, moment) for moment in later if moment > act["came"])


def _asked(record: Record) -> float:
    return float(str(record.body["asked_at"])) / 1000


def _storing(case: Case) -> bool:
    """Whether the store could be reached and nobody stood still."""
    return not case.evidence.faults & {
        *("store", "cut", "delay", "hole", "drop", "full", "failover"),
        *("stop", "frozen", "stall"),
    }


OF_CALLS: tuple[Callable[[Case], Found], ...] = (
    state_is_kept,
    results_are_kept,
    leases_are_kept,
    starts_are_in_time,
    nothing_is_left_over,
)
