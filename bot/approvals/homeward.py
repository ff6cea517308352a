"""Gives an open request a card in the thread it came from, once nobody is reached by the others."""

from functools import partial

from agents import Decide, Slot
from bot.approvals import posts
from bot.approvals.records import amended
from bot.approvals.request import Approval, Copy
from bot.turns import Thread


def is_home(approval: Approval, home: Thread, *, but: str = "") -> bool:
    """Whether the request has a card in its thread, or is to get one, `but` that of one post."""
    return any(
        (copy.channel, copy.thread_ts) == (home.channel, home.ts) and copy.post != but
        for copy in approval.copies
    )


async def bring_home(slot: Slot, approval: Approval, home: Thread, *, lost: str = "") -> Approval:
    """Owe a card in the thread of an open request, unless it has one there that is not `lost`.

    The card of the post `lost` is marked as such: nobody sees it any more. Returns the approval as
    it then stands. Nothing is owed for a request that is closed.
    """
    return await amended(slot, approval, partial(_brought, home=home, lost=lost))


def _brought(approval: Approval, *, home: Thread, lost: str) -> Decide | None:
    there = tuple(
        each.model_copy(update={"lost": True}) if each.post == lost else each
        for each in approval.copies
    )
    numbered = Copy.numbered(approval.id, len(there), home.channel)
    copy = numbered.model_copy(update={"thread_ts": home.ts})
    more = () if is_home(approval, home, but=lost) else (copy,)
    if not more and there == approval.copies:
        return None
    changed = {"copies": (*there, *more), "rev": approval.rev + 1}
    after = approval.model_copy(update=changed)
    return Decide(record=after.record(), posts=tuple(posts.card(after, each) for each in more))
