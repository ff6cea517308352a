"""Takes a request back for the person who asked, who deleted the message that began it."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from agents import SessionKey, Slot
from bot import logs
from bot.approvals.button import decode, encode
from bot.approvals.decide import decide
from bot.approvals.decision import Decision
from bot.approvals.policy import Person
from bot.approvals.request import Approval
from bot.turns import Command

Gone = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Those of some turns whose messages were deleted."""


async def withdraw(
    slot: Slot, key: SessionKey, approval: Approval, *, index: Sequence[Command]
) -> None:
    """Withdraw an open request; one that is over stays as it is."""
    button = decode(encode(approval))
    if button is None:
        return
    person = Person(id=approval.requester, team=key.tenant)
    decision = Decision(button=button, person=person, act="withdraw")
    outcome = await decide(slot, key, decision, index=index)
    logs.info("approval.decided", approval=approval.id, act="withdraw", kind=outcome.kind)
