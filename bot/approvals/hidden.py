"""Which cards hide what they are about: written down, so that nobody approves there.

A channel that other companies see gets a card without details, and Slack may take no more of a card
than its text. Neither can be told from the request itself.
"""

import asyncio

from agents import Decide, SessionKey, Slot
from bot.approvals.pauses import pauses
from bot.approvals.records import readable
from bot.approvals.request import Approval


async def note(slot: Slot, approval: Approval, channel: str, *, hides: bool) -> Approval:
    """Write down whether the card in a channel hides what an open request is about.

    The approval as it is then. Nothing is written where that is known already.
    """
    key = SessionKey.parse(approval.session)
    for pause in pauses():
        if pause:
            await asyncio.sleep(pause)
        if approval.status != "pending" or (channel in approval.hidden) == hides:
            break
        others = tuple(each for each in approval.hidden if each != channel)
        noted = {"hidden": (*others, channel) if hides else others, "rev": approval.rev + 1}
        change = Decide(record=approval.model_copy(update=noted).record())
        stored = await slot.decide(key, change)
        if stored.kind == "ok":
            return Approval.from_record(change.record)
        there = readable({approval.id: stored.record} if stored.record else {})
        if stored.kind != "moved" or approval.id not in there:
            break
        approval = there[approval.id]
    return approval
