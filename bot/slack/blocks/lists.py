"""Lists of approvals: the Home tab, and what `/approvals` answers."""

from collections.abc import Iterable, Sequence

from bot.approvals.board import Inbox, reference
from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.slack.actions import REJECT, SHOW, WITHDRAW
from bot.slack.blocks.arguments import summary
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import (
    Block,
    actions,
    button,
    mentions,
    moment,
    paragraph,
    small,
)

EACH = 10
"""Approvals of one list; Home takes a hundred blocks, a message fifty."""


def home_view(inbox: Inbox) -> Block:
    """A person's Home: what waits for them, what they asked for, what was decided."""
    return {"type": "home", "blocks": inbox_blocks(inbox)}


def inbox_blocks(inbox: Inbox, *, each: int = EACH) -> list[Block]:
    """The three lists of an inbox, so many of `each`."""
    return [
        *_list("Waits for you", inbox.waiting[:each], action=SHOW, more=len(inbox.waiting) - each),
        *_list("Asked by you", inbox.asked[:each], action=WITHDRAW, more=len(inbox.asked) - each),
        *_list("Decided", inbox.decided[:each], action="", more=len(inbox.decided) - each),
    ]


def item(approval: Approval) -> list[Block]:
    """One approval: the call, and how it stands, in mrkdwn."""
    return [summary(approval), small(f"`{reference(approval)}` · {_state(approval)}")]


def _list(title: str, shown: Sequence[Approval], *, action: str, more: int) -> Iterable[Block]:
    yield {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}
    if not shown:
        yield paragraph("Nothing.")
    for approval in shown:
        yield from item(approval)
        if row := _row(approval, action):
            yield actions(*row, block_id=f"{action}:{reference(approval)}")
    if more > 0:
        yield paragraph(f"… and {more} more.")


def _row(approval: Approval, action: str) -> list[Block]:
    """The buttons below one approval."""
    value = encode(approval)
    if action == WITHDRAW:
        return [button("Withdraw", action=WITHDRAW, value=value)]
    if action != SHOW:
        return []
    no = "Leave it" if approval.unknown else "Reject"
    return [button("Open", action=SHOW, value=value), button(no, action=REJECT, value=value)]


def _state(approval: Approval) -> str:
    if approval.status != "pending":
        return outcome(approval)
    until = f", until {moment(approval.deadline)}" if approval.deadline else ""
    return f"waits for {mentions(approval.policy.approvers)}{until}"
