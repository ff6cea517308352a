"""Which cards hide what they are about: written down, so that nobody approves there.

A channel that other companies see gets a card without details, and Slack may take no more of a card
than its text. Neither can be told from the request itself.
"""

from collections.abc import Sequence
from functools import partial

from agents import Decide, Slot
from bot.approvals.records import amended
from bot.approvals.request import Approval


async def note(slot: Slot, approval: Approval, channel: str, *, hides: bool) -> Approval:
    """Write down whether the card in a channel hides what an open request is about.

    Returns the approval as it then stands. Nothing is written where that is known already.
    """
    return await amended(slot, approval, partial(_noted, channel=channel, hides=hides))


def concealed(approval: Approval, channels: Sequence[str]) -> Approval | None:
    """The approval when what is in these channels as well hides it from now on; None for none."""
    changed = {"hidden": (*approval.hidden, *channels), "rev": approval.rev + 1}
    return approval.model_copy(update=changed) if channels else None


def _noted(approval: Approval, *, channel: str, hides: bool) -> Decide | None:
    if (channel in approval.hidden) == hides:
        return None
    others = tuple(each for each in approval.hidden if each != channel)
    noted = {"hidden": (*others, channel) if hides else others, "rev": approval.rev + 1}
    return Decide(record=approval.model_copy(update=noted).record())
