"""The modals: a reason, a form, a whole call, and a sentence."""

import json

from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.slack.actions import APPROVE, DECIDE, REASON, REJECT, SHOW
from bot.slack.blocks.arguments import arguments, concealed, depends_on, summary
from bot.slack.blocks.inputs import inputs
from bot.slack.blocks.rendered import Block, actions, button, paragraph, plain, trusted
from bot.slack.payloads import Click
from bot.slack.text import chunks, visible

PAGE = 20_000
"""Characters of one page: a view may take 250 kB, and a character may take twelve bytes."""
PIECE = 2_500
REASON_LIMIT = 1_000
LOOK = "This was started and interrupted. It may have happened; it does not run again by itself."
INPUTS_LIMIT = 95


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


def everything_view(approval: Approval, click: Click) -> Block:
    """A call with all of its arguments, word for word, a page at a time; the last one approves."""
    pages = list(chunks(_whole(approval), PAGE)) or [" "]
    page = min(max(click.page, 0), len(pages) - 1)
    last = len(pages) - 1
    blocks = [paragraph(piece) for piece in chunks(pages[page], PIECE)]
    turns = [
        button(name, action=f"{SHOW}:{to}", value=f"{encode(approval)}#{to}")
        for name, to in (("Earlier", page - 1), ("Later", page + 1))
        if 0 <= to <= last
    ]
    if turns:
        more = " It is approved on the last one." if approval.status == "pending" else ""
        where = paragraph(f"Page {page + 1} of {len(pages)}.{more if page < last else ''}")
        blocks = [where, *blocks, actions(*turns, block_id=f"page:{page}")]
    if approval.status != "pending" or page < last:
        return _modal("The whole call", blocks) | {"private_metadata": _metadata(click, APPROVE)}
    blocks += inputs(approval, modal=True)[: INPUTS_LIMIT - len(blocks)]
    return _deciding(
        "The whole call", click=click, act=APPROVE, submit=_yes(approval), blocks=blocks
    )


def told_view(sentence: str) -> Block:
    """One sentence of mrkdwn for the person who submitted a modal."""
    return _modal("Countersign", [trusted(sentence)])


def _whole(approval: Approval) -> str:
    told = [f"{approval.agent} wants to call {approval.tool}.", approval.hint]
    if approval.unknown:
        told.insert(0, LOOK)
    head = "\n\n".join(visible(concealed(approval, each))[0] for each in told if each)
    shown = (*arguments(approval), *depends_on(approval))
    listed = (f"{each.name}:\n{each.value}" for each in shown)
    return "\n\n".join([head, *listed])


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
