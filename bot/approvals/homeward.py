"""Gives an open request a card in the thread it came from, once nobody is reached by the others."""

import asyncio

from agents import Decide, SessionKey, Slot
from bot.approvals import posts
from bot.approvals.pauses import pauses
from bot.approvals.records import readable
from bot.approvals.request import Approval, Copy
from bot.turns import Thread


def is_home(approval: Approval, home: Thread, *, but: str = "") -> bool:
    """Whether the request has a card in its thread, or is to get one, `but` that of one post."""
    return any(
        (copy.channel, copy.thread_ts) == (home.channel, home.ts) and copy.post != but
        for copy in approval.copies
    )


async def bring_home(slot: Slot, approval: Approval, home: Thread, *, lost: str = "") -> Approval:
    """Owe a card in the thread of an open request; the approval as it is then.

    Nothing is owed where there is one that is not `lost`, or where the request is closed.
    """
    key = SessionKey.parse(approval.session)
    for pause in pauses():
        if pause:
            await asyncio.sleep(pause)
        if approval.status != "pending" or is_home(approval, home, but=lost):
            break
        numbered = Copy.numbered(approval.id, len(approval.copies), home.channel)
        copy = numbered.model_copy(update={"thread_ts": home.ts})
        changed = {"copies": (*approval.copies, copy), "rev": approval.rev + 1}
        after = approval.model_copy(update=changed)
        change = Decide(record=after.record(), posts=(posts.card(after, copy),))
        stored = await slot.decide(key, change)
        if stored.kind == "ok":
            return after
        there = readable({approval.id: stored.record} if stored.record else {})
        if stored.kind != "moved" or approval.id not in there:
            break
        approval = there[approval.id]
    return approval
