"""The records of approvals as a session keeps them: read one by one, and amended.

A record that cannot be read spoils no other.
"""

import asyncio
from collections.abc import Callable, Mapping

from agents import Decide, Record, SessionKey, Slot
from bot import logs
from bot.approvals.pauses import pauses
from bot.approvals.request import Approval

REMEDY = "deploy the release that wrote it, or have the session deleted"


def readable(records: Mapping[str, Record]) -> dict[str, Approval]:
    """The approvals that can be read; each other one is left out, with a line in the log."""
    found: dict[str, Approval] = {}
    for name, record in records.items():
        try:
            found[name] = Approval.from_record(record)
        except ValueError as error:
            logs.error("approval.unreadable", approval=name, error=error, todo=REMEDY)
    return found


async def amended(
    slot: Slot, approval: Approval, amend: Callable[[Approval], Decide | None]
) -> Approval:
    """Change an open approval without deciding it, and return it as it then stands.

    `amend` makes the change out of the approval, or None where there is nothing to change; it is
    asked again when somebody else changed the approval first. A closed one stays as it is.
    """
    key = SessionKey.parse(approval.session)
    for pause in pauses():
        if pause:
            await asyncio.sleep(pause)
        change = amend(approval) if approval.status == "pending" else None
        if change is None:
            break
        stored = await slot.decide(key, change)
        if stored.kind == "ok":
            return Approval.from_record(change.record)
        there = readable({approval.id: stored.record} if stored.record else {})
        if stored.kind != "moved" or approval.id not in there:
            break
        approval = there[approval.id]
    return approval
