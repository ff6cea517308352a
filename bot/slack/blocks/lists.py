"""Lists of approvals: the Home tab, and what `/approvals` answers."""

from collections.abc import Iterable, Sequence

from bot.approvals.board import Inbox
from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.slack.actions import REJECT, SHOW, WITHDRAW
from bot.slack.blocks.arguments import summary
from bot.slack.blocks.entered import agreed_on
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
from bot.slack.blocks.takes import takes
from bot.slack.validate import problems

FULL = "Your approvals are too long for a message: they are on my Home tab."
WAITING = ", which are less urgent: each comes up here as others are decided, and has its card"
ASKED = ", asked earlier: each can be withdrawn where it was asked"
COUNTED = ", which wait for others as well: each has its card"
DECIDED = ", decided earlier: each is told where it was asked"
EACH, EACH_OF_FOUR = 10, 8
"""Approvals of one list of three, and of four; Home takes a hundred blocks."""
EACH_SAID = 5
"""The same in a message, which takes fifty blocks and 12,000 characters, where they fit."""


def home_view(inbox: Inbox) -> Block:
    """A person's Home: what waits for them or others, what they asked for, what was decided."""
    each = EACH_OF_FOUR if inbox.counted else EACH
    return {"type": "home", "blocks": inbox_blocks(inbox, each=each)}


def inbox_blocks(inbox: Inbox, *, each: int = EACH, where: str = "") -> list[Block]:
    """The lists of an inbox, at most `each` long; `where` says where the others are.

    That of what waits for others is there only when somebody's own vote did not decide.
    """
    lists = [
        ("Waits for you", inbox.waiting, SHOW, WAITING),
        ("You voted, and it waits for others", inbox.counted, "", COUNTED),
        ("Asked by you", inbox.asked, WITHDRAW, ASKED),
        ("Decided", inbox.decided, "", DECIDED),
    ]
    if not inbox.counted:
        del lists[1]
    blocks: list[Block] = []
    for title, approvals, action, others in lists:
        blocks += _list(title, approvals[:each], action=action)
        if (more := len(approvals) - each) > 0:
            blocks.append(paragraph(f"… and {more} more{where or others}."))
    return blocks


def inbox_message(inbox: Inbox, *, where: str) -> list[Block]:
    """The lists as one message takes them: as many of each as fit into it."""
    fewer = (inbox_blocks(inbox, each=each, where=where) for each in range(EACH_SAID, 0, -1))
    return next((b for b in fewer if not problems(b, surface="message")), [paragraph(FULL)])


def item(approval: Approval) -> list[Block]:
    """One approval: the call, how it stands, and what it was approved with."""
    state = small(f"`{approval.reference}` · {_state(approval)}")
    return [summary(approval), state, *agreed_on(approval)]


def _list(title: str, shown: Sequence[Approval], *, action: str) -> Iterable[Block]:
    yield {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}
    if not shown:
        yield paragraph("Nothing.")
    for approval in shown:
        yield from item(approval)
        if row := _row(approval, action):
            yield actions(*row, block_id=f"{action}:{approval.reference}")


def alone(approval: Approval, *, waits: bool, own: bool) -> list[Block]:
    """One approval by itself, for somebody for whom it `waits`, or whose `own` it is."""
    show = button("Show everything", action=SHOW, value=encode(approval))
    is_open = approval.status == "pending"
    row = _row(approval, SHOW) if is_open and waits else [show]
    row += _row(approval, WITHDRAW) if is_open and own else []
    return [*item(approval), actions(*row, block_id="show")]


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
    until = f"until {moment(approval.deadline)}" if approval.deadline else ""
    waits = f"waits for {mentions(approval.policy.approvers)}"
    return " · ".join(filter(None, (waits, takes(approval), until)))
