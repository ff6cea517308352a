"""The daily anchor: the last hash of each session's audit, and one root over all of them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agents import SessionKey, Slot
from bot.approvals import audit
from bot.approvals.verify import root

WEEK = timedelta(days=7) // timedelta(milliseconds=1)

Anchor = Mapping[str, Any]
"""`{anchor, heads, lapses, prev, root}`: a date, by session the last hash and when it may be gone
(milliseconds, None: not before it is settled), the root of the anchor before, and its own root."""


def day_of(now: int) -> str:
    """The date in UTC of a moment in milliseconds."""
    return datetime.fromtimestamp(now / 1000, UTC).date().isoformat()


async def anchor(
    slot: Slot, sessions: Sequence[SessionKey], *, ttl: timedelta, prev: str = ""
) -> Anchor | None:
    """The anchor for now, by the store's clock; None when there is no audit at all.

    `ttl` is how long a session that nobody touches is kept, `prev` the root of the anchor before.
    """
    heads: dict[str, str] = {}
    lapses: dict[str, int | None] = {}
    now = 0
    for key in sessions:
        view = await slot.read(key, parts=("approvals", "audit"))
        if view is None or not view.audit:
            continue
        now = view.now
        heads[str(key)] = view.audit[-1][1]
        ends = [record.deadline + WEEK for record in view.approvals.values() if record.deadline]
        waits = view.open or any(r.status == "pending" for r in view.approvals.values())
        kept = int(view.updated * 1000) + ttl // timedelta(milliseconds=1)
        lapses[str(key)] = None if waits else max([kept, *ends])
    if not heads:
        return None
    made = {"anchor": day_of(now), "heads": heads, "lapses": lapses, "prev": prev}
    return {**made, "root": root(made)}


def told(made: Anchor) -> str:
    """An anchor in words, for the channel in which it is posted."""
    count = len(made["heads"])
    sessions = "1 session" if count == 1 else f"{count} sessions"
    return f"Audit anchor {made['anchor']}: {sessions}, root {made['root']}"


async def exported(slot: Slot, sessions: Sequence[SessionKey]) -> AsyncIterator[str]:
    """The audit of all sessions as JSON Lines, session by session."""
    for key in sessions:
        view = await slot.read(key, parts=("audit",))
        for line in audit.lines(str(key), view.audit if view else ()):
            yield line
