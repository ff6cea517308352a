"""What an operator decides from outside Slack: recorded as such, never counted as a vote."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from pydantic import JsonValue

from agents import PayloadError, Record, SessionKey, Slot, StoreUnavailable, check_payload
from bot.approvals import posts
from bot.approvals.decide import settle
from bot.approvals.decision import change
from bot.approvals.life import closed, is_over, ruled
from bot.approvals.nominees import nominees
from bot.approvals.pauses import pauses
from bot.approvals.request import Approval, late
from bot.approvals.terms import OPERATOR, Vote, is_person
from bot.secrets import MASK, covered
from bot.turns import Command

NO_REASON = "Nothing was decided: its policy wants a reason for every rejection."
INTERRUPTED = (
    "Nothing was decided: its call was started and interrupted, and the question is whether it"
    " happened. Look, and say happened, run (it did not happen, and starts once more) or leave (it"
    " stays as it is)."
)
NOT_STARTED = "Nothing was decided: its call was not started yet. Say approve or reject."
NO_VALUES = "Nothing was decided: its call asks for no values."
ONLY_APPROVED = "Nothing was decided: values go with an approval only."
NOT_KEPT = "Nothing was decided: no reason is kept of a call that happened."
Act = Literal["approve", "reject", "happened", "run", "leave", "cancel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What an operator wants: `by` is their name on the machine, `values` the inputs' values.

    Of a call that was interrupted they say that it `happened`, that it did not and is to `run`, or
    `leave` it; of others that they `approve` or `reject` it.
    """

    act: Act
    by: str
    reason: str | None = None
    values: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Ruled:
    """What came of a ruling: it is stored, or why not, and a sentence about this record of it."""

    kind: Literal["ruled", "gone", "already", "late", "invalid"]
    sentence: str
    record: Record | None = None


async def rule(
    slot: Slot,
    approval: Approval,
    ruling: Ruling,
    *,
    run_for: timedelta | None = None,
    index: Sequence[Command] = (),
) -> Ruled:
    """Carry out a ruling, and say what came of it.

    Raises StoreUnavailable when the store does not answer, or others are always faster.
    """
    key = SessionKey.parse(approval.session)
    for pause in pauses():
        await asyncio.sleep(pause)
        view = await slot.read(key, parts=("approvals",), only=(approval.id,))
        record = view and view.approvals.get(approval.id)
        if view is None or record is None:
            return Ruled("gone", "It is not there any more.")
        before = Approval.from_record(record)
        if is_over(before, asks=view.asks):
            await settle(slot, key, before.id, index=index)
            continue
        after = carried(before, ruling, now=view.now, run_for=run_for)
        if isinstance(after, Ruled):
            return after
        changed = change(before, after, now=view.now, head=view.audit_head)
        owed = (*changed.posts, *posts.ruled(after))
        if (await slot.decide(key, replace(changed, posts=owed, index=index))).kind == "ok":
            return Ruled("ruled", _told(after, ruling), changed.record)
    raise StoreUnavailable(f"the approval {approval.id} changes all the time")


def acts(approval: Approval) -> tuple[Act, ...]:
    """What an operator may decide about an open approval, besides cancelling it."""
    if approval.status != "pending":
        return ()
    return ("happened", "run", "leave") if approval.unknown else ("approve", "reject")


def disclosed(approval: Approval, payload: Mapping[str, JsonValue] | None) -> JsonValue:
    """The values filled in, without those that are secret by their field's name or its label."""
    fields = (approval.payload_schema or {}).get("properties")
    labels = {
        name: str(field.get("title") or "")
        for name, field in (fields.items() if isinstance(fields, dict) else ())
        if isinstance(field, dict)
    }
    told = {
        name: covered(value, by=MASK, name=labels.get(name, ""))
        for name, value in (payload or {}).items()
    }
    return None if payload is None else covered(told, by=MASK)


def _told(after: Approval, ruling: Ruling) -> str:
    now = {
        "happened": "It is recorded that it happened",
        "run": "It starts once more",
        "leave": "It is left as it is",
    }.get(ruling.act, f"It is {after.status} now")
    payload = after.payload if ruling.act in ("approve", "run") else None
    values = disclosed(after, payload)
    with_ = f", with {json.dumps(values, ensure_ascii=False)}" if payload else ""
    return f"{now}, by {after.decided_by}{with_}."


def carried(
    approval: Approval, ruling: Ruling, *, now: int, run_for: timedelta | None
) -> Approval | Ruled:
    """The approval's next record, or why it cannot be ruled on."""
    refused = _refused(approval, ruling, now=now)
    if refused is not None:
        return refused
    by = f"{OPERATOR}{ruling.by}"
    if ruling.act in ("cancel", "happened"):
        why = "operator" if ruling.act == "cancel" else "happened"
        return closed(approval, "cancelled", now=now, why=why, by=by)
    yes = ruling.act in ("approve", "run")
    payload: dict[str, JsonValue] | None = None
    if yes and approval.payload_schema is not None:
        try:
            values, begun = dict(ruling.values), approval.payload
            payload = check_payload(approval.payload_schema, values, begun=begun)
        except PayloadError as error:
            told = "; ".join(f"{name} {problem}" for name, problem in error.problems.items())
            return Ruled("invalid", f"Nothing was decided: {told}.")
    named = nominees(approval.payload_schema or {}, payload)
    if wrong := [name for name, people in named.items() if not all(map(is_person, people))]:
        return Ruled("invalid", f"Nothing was decided: {wrong[0]} must be the id of a person.")
    reason = (ruling.reason or "").strip() or None
    vote = Vote(person=by, confirmed=yes, at=now, payload=payload, reason=reason)
    return ruled(approval, vote, run_for=run_for)


def _refused(approval: Approval, ruling: Ruling, *, now: int) -> Ruled | None:
    """Why an operator cannot do this now, or None."""
    if approval.status != "pending":
        return Ruled("already", f"It is {approval.status} already.", approval.record())
    if late(approval, now=now):
        return Ruled("late", "It expired before anybody decided.")
    if ruling.act not in (*acts(approval), "cancel"):
        return Ruled("invalid", INTERRUPTED if approval.unknown else NOT_STARTED)
    told = _unread(approval, ruling)
    no = ruling.act in ("reject", "leave")
    if no and approval.policy.reason_required and not (ruling.reason or "").strip():
        told = NO_REASON
    return Ruled("invalid", told) if told else None


def _unread(approval: Approval, ruling: Ruling) -> str:
    """That something was given with a ruling that nothing reads; empty where there is no such."""
    if ruling.values and ruling.act not in ("approve", "run"):
        return ONLY_APPROVED
    if ruling.values and approval.payload_schema is None:
        return NO_VALUES
    return NOT_KEPT if ruling.act == "happened" and ruling.reason else ""
