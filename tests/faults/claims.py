"""What closed cards claim in people's words, against the audit and the ledger of effects. Pure.

Nothing here asks the code that words the cards: a sentence that lies would agree with itself.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from agents.runtime.slot.port import Record
from tests.faults.case import Case, Found, is_a
from tests.faults.evidence import Shown

ENDS = {
    "*Expired*": "expired",
    "*Nobody looked.*": "expired",
    "*Rejected*": "rejected",
    "*Left as it is*": "rejected",
    "*Approved*": "approved",
    "*It did not happen*": "approved",
    "*It happened*": "cancelled",
    "*Withdrawn*": "cancelled",
    "Closed: ": "cancelled",
}
"""How a card begins to say what came out, and what the audit calls that."""
BY = re.compile(r"\*(?:Rejected|Left as it is|Approved|Withdrawn)\*[^.]*? by <@(\w+)>")
SAYS = re.compile(r"\*It (?:happened|did not happen)\*, says <@(\w+)>")


def true_of(case: Case, record: Record, shown: Shown) -> Found:
    """Whether all that a closed question's card or line says is so."""
    *_, end = [{}, *case.audit(record, "approval.decided")]
    claimed = {status for words, status in ENDS.items() if words in shown.text}
    if claimed != {end.get("status")}:
        yield 19, f"{record.id} is {end.get('status')} in the audit, and one reads: {shown.text}"
    named = [*BY.findall(shown.text), *SAYS.findall(shown.text)]
    if named and end.get("by") not in named and record.body["policy"]["quorum"] == 1:
        yield 19, f"{record.id} was decided by {end.get('by')}, and one reads: {shown.text}"
    for words, holds in CLAIMS.items():
        if words in shown.text and not holds(case, record):
            acts = case.acts(str(record.body["call_id"]))
            told = f"{record.id} is {record.status} with {len(acts)} acts"
            yield 19, f"{told}, and {shown.post} at {shown.ts} reads: {shown.text}"


def _acts(case: Case, record: Record) -> list[Mapping[str, Any]]:
    return case.acts(str(record.body["call_id"]))


def _nothing(case: Case, record: Record) -> bool:
    """Nothing happened under the call's key."""
    return not _acts(case, record)


def _something(case: Case, record: Record) -> bool:
    """It took effect."""
    return any(act["effect"] for act in _acts(case, record))


def _by_another(case: Case, record: Record) -> bool:
    """Nothing happened, or it was let run by another approval of the call."""
    own = case.audit(record, "approval.started")
    return not own and (_nothing(case, record) or len(case.records(_call(record))) > 1)


def _followed(case: Case, record: Record) -> bool:
    """People were asked about the call once more, later."""
    return any(_version(each) > _version(record) for each in case.records(_call(record)))


def _last(case: Case, record: Record) -> bool:
    """Nobody was asked about the call after this."""
    return not _followed(case, record)


def _version(record: Record) -> int:
    return int(record.id.partition("-")[0])


def _no_start_since(case: Case, record: Record) -> bool:
    """Nobody let the call start after this was closed."""
    entries = [entry for entry, _ in case.view.audit]
    closed = [
        number
        for number, entry in enumerate(entries)
        if entry.get("approval") == record.id and is_a(entry, "approval.decided")
    ]
    later = entries[closed[-1] :] if closed else entries
    return not any(
        is_a(each, "approval.started") and each["call"] == _call(record) for each in later
    )


def _interrupted(case: Case, record: Record) -> bool:
    """A run of the call was interrupted: people were asked about it, or it was given up."""
    ends = case.audit(record, "approval.answered")
    if case.audit(record, "approval.started") and ends and ends[-1]["status"] == "unknown":
        return True
    return any(each.body["unknown"] or each.body["begun"] for each in case.records(_call(record)))


def _over(_case: Case, _record: Record) -> bool:
    """Never so once everything has come to rest."""
    return False


def _call(record: Record) -> str:
    return str(record.body["call_id"])


CLAIMS: Mapping[str, Callable[[Case, Record], bool]] = {
    "It did not run.": _nothing,
    "It was not run on this approval": _by_another,
    "It was not asked again.": _last,
    "sked again as `": _followed,
    "That is asked as `": _followed,
    "and it does not run again.": _no_start_since,
    "does not run on": _no_start_since,
    "not known": _interrupted,
    "It is done.": _something,
    "It is on its way.": _over,
    "It is running.": _over,
}
"""What a card says of the call itself, and whether that is so."""
