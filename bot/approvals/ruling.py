"""What an operator does about an approval from outside Slack: recorded as such, never as a vote."""

import asyncio
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
from bot.approvals.pauses import pauses
from bot.approvals.request import Approval, late
from bot.approvals.terms import OPERATOR, Vote
from bot.turns import Command

NO_REASON = "Nothing was decided: its policy wants a reason for every rejection."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What an operator wants: `by` is their name on the machine, `values` the inputs' values."""

    act: Literal["approve", "reject", "cancel"]
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
    """Carry a ruling out, and say what came of it.

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
            sentence = f"It is {after.status} now, by {after.decided_by}."
            return Ruled("ruled", sentence, changed.record)
    raise StoreUnavailable(f"the approval {approval.id} changes all the time")


def carried(
    approval: Approval, ruling: Ruling, *, now: int, run_for: timedelta | None
) -> Approval | Ruled:
    """The approval's next record, or why there is nothing to rule."""
    if approval.status != "pending":
        return Ruled("already", f"It is {approval.status} already.", approval.record())
    if late(approval, now=now):
        return Ruled("late", "It expired before anybody decided.")
    by = f"{OPERATOR}{ruling.by}"
    if ruling.act == "cancel":
        return closed(approval, "cancelled", now=now, why="operator", by=by)
    payload: dict[str, JsonValue] | None = None
    if ruling.act == "approve" and approval.payload_schema is not None:
        try:
            payload = check_payload(approval.payload_schema, dict(ruling.values))
        except PayloadError as error:
            told = "; ".join(f"{name} {problem}" for name, problem in error.problems.items())
            return Ruled("invalid", f"Nothing was decided: {told}.")
    reason = (ruling.reason or "").strip() or None
    if ruling.act == "reject" and reason is None and approval.policy.reason_required:
        return Ruled("invalid", NO_REASON)
    vote = Vote(
        person=by,
        confirmed=ruling.act == "approve",
        at=now,
        payload=payload,
        reason=reason,
    )
    return ruled(approval, vote, run_for=run_for)
