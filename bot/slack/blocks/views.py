"""The modals: a reason, a form, a whole call, and a sentence."""

import json
from collections.abc import Sequence

from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.slack.actions import APPROVE, DECIDE, REASON, REJECT, SHOW
from bot.slack.blocks.arguments import Told, asked_by, pages, summary, told
from bot.slack.blocks.concealed import concealed
from bot.slack.blocks.inputs import inputs
from bot.slack.blocks.rendered import Block, actions, button, paragraph, plain, trusted
from bot.slack.payloads import Click
from bot.slack.text import visible

REASON_LIMIT = 1_000
INPUTS_LIMIT = 95
BLOCKS_LIMIT = 98
"""Blocks of a page beside its number and the buttons that turn it."""


def reject_view(approval: Approval, click: Click) -> Block:
    """Asks for a reason, which may be left out unless the policy wants one."""
    reason: Block = {
        "type": "input",
        "block_id": REASON,
        "label": plain("Reason"),
        "hint": plain("The agent tells it to whoever asked."),
        "optional": not approval.policy.reason_required,
        "element": {
            "type": "plain_text_input",
            "action_id": REASON,
            "multiline": True,
            "max_length": REASON_LIMIT,
        },
    }
    title, yes = ("Leave it", "Leave it") if approval.unknown else ("Reject this request", "Reject")
    blocks = [summary(approval), reason]
    return _deciding(title, click=click, act=REJECT, submit=yes, blocks=blocks)


def form_view(approval: Approval, click: Click) -> Block:
    """Asks for what a message has no room for, and approves."""
    form = inputs(approval, modal=True)[:INPUTS_LIMIT]
    blocks = [summary(approval), *form]
    return _deciding(
        "Approve this request", click=click, act=APPROVE, submit=_yes(approval), blocks=blocks
    )


def everything_view(approval: Approval, click: Click, *, around: Sequence[Block] = ()) -> Block:
    """All that a card tells, word for word, a page at a time; the last page approves.

    `around` is what its card tells besides the call.
    """
    is_open = approval.status == "pending"
    call = told(approval)
    whole = pages(call, approval)
    form = inputs(approval, modal=True)[:INPUTS_LIMIT] if is_open else []
    head = [_asked(call, approval), *around]
    above = head if len(whole) == 1 else []
    if len(above) + len(whole[-1]) + len(form) > BLOCKS_LIMIT:
        whole.append([])
    last = len(whole) - 1
    page = min(max(click.page, 0), last)
    blocks = [*(head if page == 0 else []), *whole[page]]
    if last:
        blocks = [_where(page, last, is_open=is_open), *blocks, _turns(page, last, approval)]
    if not is_open or page < last:
        return _modal("The whole call", blocks) | {"private_metadata": _metadata(click, APPROVE)}
    return _deciding(
        "The whole call",
        click=click,
        act=APPROVE,
        submit=_yes(approval),
        blocks=[*blocks, *form],
    )


def _asked(call: Told, approval: Approval) -> Block:
    """Who wants to call what for whom."""
    agent = visible(concealed(approval, approval.agent))[0]
    return asked_by(call, approval, more=f" through {agent}")


def _where(page: int, last: int, *, is_open: bool) -> Block:
    """Which page it is, and where it is approved."""
    more = " It is approved on the last one." if is_open and page < last else ""
    return paragraph(f"Page {page + 1} of {last + 1}.{more}")


def _turns(page: int, last: int, approval: Approval) -> Block:
    """The buttons that turn pages."""
    turns = [
        button(name, action=f"{SHOW}:{to}", value=f"{encode(approval)}#{to}")
        for name, to in (("Earlier", page - 1), ("Later", page + 1))
        if 0 <= to <= last
    ]
    return actions(*turns, block_id=f"page:{page}")


def told_view(sentence: str) -> Block:
    """One sentence of mrkdwn for the person who submitted a modal."""
    return _modal("Countersign", [trusted(sentence)])


def _yes(approval: Approval) -> str:
    """The button that has the call run."""
    return "It did not, run it" if approval.unknown else "Approve"


def _deciding(title: str, *, click: Click, act: str, submit: str, blocks: list[Block]) -> Block:
    return {
        **_modal(title, blocks),
        "callback_id": DECIDE,
        "private_metadata": _metadata(click, act),
        "submit": plain(submit),
        "close": plain("Cancel"),
    }


def _metadata(click: Click, act: str) -> str:
    thread = click.place.thread
    told = {"act": act, "button": click.value, "channel": thread.channel, "thread": thread.ts}
    return json.dumps(told)


def _modal(title: str, blocks: list[Block]) -> Block:
    return {"type": "modal", "title": plain(title), "close": plain("Close"), "blocks": blocks}
