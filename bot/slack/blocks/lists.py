"""Lists of approvals: the Home tab, and what `/approvals` answers."""

from collections.abc import Iterable, Sequence

from bot.approvals.board import Inbox, reference
from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.slack.actions import SHOW, WITHDRAW
from bot.slack.blocks.arguments import arguments, in_one_line, titled
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import (
    Block,
    actions,
    button,
    mentions,
    moment,
    paragraph,
    rich,
    said,
    section,
    small,
    user,
)
from bot.slack.text import cut, visible

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
    call = cut(in_one_line(arguments(approval), 200), 220)
    what = section(
        said(titled(visible(cut(approval.tool, 60))[0]), bold=True),
        said(", asked by "),
        user(approval.requester),
        said(f": {call}" if call else ""),
    )
    return [rich(what), small(f"`{reference(approval)}` · {_state(approval)}")]


def _list(title: str, shown: Sequence[Approval], *, action: str, more: int) -> Iterable[Block]:
    yield {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}
    if not shown:
        yield paragraph("Nothing.")
    for approval in shown:
        yield from item(approval)
        if action:
            word = "Open" if action == SHOW else "Withdraw"
            pressed = button(word, action=action, value=encode(approval))
            yield actions(pressed, block_id=f"{action}:{reference(approval)}")
    if more > 0:
        yield paragraph(f"… and {more} more.")


def _state(approval: Approval) -> str:
    if approval.status != "pending":
        return outcome(approval)
    until = f", until {moment(approval.deadline)}" if approval.deadline else ""
    return f"waits for {mentions(approval.policy.approvers)}{until}"
