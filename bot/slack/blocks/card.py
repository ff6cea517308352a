"""The card on which people approve or reject one call."""

import json

from bot.approvals.button import encode
from bot.approvals.kin import ALONE, Kin
from bot.approvals.request import Again, Approval, against, differ, late
from bot.approvals.terms import approving
from bot.slack.actions import APPROVE, FORM, HAPPENED, REJECT, SHOW
from bot.slack.blocks.arguments import (
    Told,
    asked_by,
    in_one_line,
    shortly,
    told,
    values,
)
from bot.slack.blocks.entered import agreed_on, filled
from bot.slack.blocks.inputs import inputs
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.relation import alike, attempt, talked_on
from bot.slack.blocks.rendered import (
    TEXT_LIMIT,
    Block,
    Rendered,
    actions,
    button,
    mention,
    mentions,
    moment,
    plain,
    quietly,
    rich,
    said,
    section,
    small,
    trusted,
    user,
)
from bot.slack.blocks.takes import takes
from bot.slack.blocks.votes import VOTES_LIMIT, reasons
from bot.slack.text import cut, escaped, visible

WITHHELD = "Other companies may read this channel, so the details are not shown here."
UNSAVED = (
    ":warning: This bot's memory is not saved to disk, or not kept when it is full: its store may "
    "forget this request."
)
RESULT_LIMIT = 1_000
DIFFER = "These values differ. Only people who enter the same values agree with each other."
INPUTS_LIMIT = 12
INPUTS_TEXT_LIMIT = 3_000


def card(
    approval: Approval,
    *,
    now: int,
    kin: Kin = ALONE,
    result: str = "",
    again: Again | None = None,
) -> Rendered:
    """The card as it has to look at `now` (milliseconds, the store's clock).

    `kin` is how it stands among the others of its conversation; `result` is what the call brought,
    once it ran, without its secrets. `again` is as for `outcome`.
    """
    call = told(approval)
    is_open = approval.status == "pending" and not late(approval, now=now)
    equal = f" ({kin.place} of {kin.of} identical calls)" if kin.of > 1 else ""
    blocks = [asked_by(call, approval, more=equal), *shortly(call, approval)]
    blocks += _beside(approval, kin, is_open=is_open)
    ending = _terms(approval) if is_open else outcome(approval, again=again)
    blocks += _open(approval, whole=call.fits) if is_open else _closed(approval, ending, result)
    if not is_open and not call.fits:
        blocks.append(actions(_show(approval), block_id=f"show:{approval.rev}"))
    return Rendered(_text(approval, call, ending), blocks)


def shows_all(approval: Approval) -> bool:
    """Whether the card shows all that is decided about, so that it can be approved there."""
    return told(approval).fits


def withheld(approval: Approval, *, now: int, again: Again | None = None) -> Rendered:
    """The card for a channel that other companies see: the details are behind a button.

    `again` is as for `outcome`.
    """
    is_open = approval.status == "pending" and not late(approval, now=now)
    asks = section(user(approval.requester), said(" asks for approval. "), said(WITHHELD))
    ending = _terms(approval) if is_open else outcome(approval, again=again)
    text = f"{mention(approval.requester)} asks for approval. {ending}"
    if not is_open:
        return Rendered(text, [rich(asks), trusted(ending)], hides=True)
    value = encode(approval)
    row = [
        button("Show everything", action=SHOW, value=value, style="primary"),
        button("Reject", action=REJECT, value=value, style="danger"),
    ]
    buttons = actions(*row, block_id=f"decide:{approval.rev}")
    shown = [rich(asks), small(_terms(approval)), *_unsaved(approval), buttons]
    return Rendered(text, shown, hides=True)


def called(approval: Approval) -> str:
    """What a request is called where it is not shown: what was asked, and by whom; mrkdwn."""
    return _called(approval, told(approval))


def _called(approval: Approval, call: Told) -> str:
    return f"{escaped(cut(call.heading, 60))}, asked by {mention(approval.requester)}"


def around(approval: Approval, kin: Kin) -> list[Block]:
    """What a card says besides the call: how it relates to others, and who may decide it."""
    is_open = approval.status == "pending"
    terms = [small(_terms(approval)), *_so_far(approval), *_unsaved(approval)] if is_open else []
    return [*_beside(approval, kin, is_open=is_open), *terms]


def _beside(approval: Approval, kin: Kin, *, is_open: bool) -> list[Block]:
    """What to know about the rest of the conversation: other tries, similar calls, new messages."""
    blocks: list[Block] = []
    if kin.failed:
        blocks.append(attempt(kin.attempt, kin.failed, kin.corrected, policy=approval.policy))
    if kin.alike and is_open:
        here, there = values(approval), values(kin.alike)
        like = alike(kin.alike, kin.apart, here=here, there=there, policy=approval.policy)
        blocks.append(like)
    if kin.moved_on and is_open:
        blocks.append(talked_on())
    return blocks


def _open(approval: Approval, *, whole: bool) -> list[Block]:
    """What a card has while it can be decided: terms, inputs, buttons.

    A call that does not fit is approved where all of it can be read, behind "Show everything".
    """
    form = inputs(approval)
    fits = len(form) <= INPUTS_LIMIT and _size(form) <= INPUTS_TEXT_LIMIT
    value = encode(approval)
    if not whole:
        agree = button("Show everything", action=SHOW, value=value, style="primary")
    elif fits:
        agree = button("Approve", action=APPROVE, value=value, style="primary")
    else:
        agree = button("Approve…", action=FORM, value=value, style="primary")
    row = [agree, button("Reject", action=REJECT, value=value, style="danger")]
    if approval.unknown:
        row = [
            button("It happened", action=HAPPENED, value=value),
            agree | {"text": plain("It did not, run it")} if agree["action_id"] != SHOW else agree,
            button("Leave it", action=REJECT, value=value),
        ]
    form = form if fits and whole else []
    buttons = actions(*row, block_id=f"decide:{approval.rev}")
    told = small(_terms(approval), before=_then(approval))
    return [*form, told, *_so_far(approval), *_unsaved(approval), buttons]


def _then(approval: Approval) -> str:
    """What happens when people agree."""
    tool, agent = visible(approval.tool)[0], visible(approval.agent)[0]
    when = "If it did not happen" if approval.unknown else "If approved"
    return f"{when}, {cut(agent, 100)} runs {cut(tool, 100)} with exactly these values."


def _closed(approval: Approval, ending: str, result: str) -> list[Block]:
    """What a card has once it cannot be decided: the outcome, and what people said."""
    blocks = [trusted(ending)]
    blocks += reasons(approval)
    blocks += agreed_on(approval)
    if result:
        blocks.append(small(before=cut(f"Result: {visible(result)[0]}", RESULT_LIMIT)))
    return blocks


def _so_far(approval: Approval) -> list[Block]:
    """What those who voted already said: why they are against it, and the values they entered."""
    if approval.payload_schema is None:
        return reasons(approval)
    agreed = approving(approval.votes)
    values = [
        block
        for vote in agreed[-VOTES_LIMIT:]
        for block in filled(approval, vote.payload, by=vote.person)
    ]
    return [*reasons(approval), *values, *([small(before=DIFFER)] if differ(approval) else [])]


def _terms(approval: Approval) -> str:
    """Who was asked, how many have to agree, until when, in mrkdwn."""
    policy = approval.policy
    told = [f"Asked: {quietly(policy.approvers, policy.notified)}"]
    if also := [each for each in policy.notified or () if each not in policy.approvers]:
        told.append(f"notified: {mentions(also)}")
    if so_far := takes(approval):
        told.append(so_far)
    if no := against(approval):
        told.append(f"{len(no)} of {policy.rejections} against: {mentions(no)}")
    if policy.self_approval:
        told.append(f"{mention(approval.requester)} may approve this too")
    told.append(f"until {moment(approval.deadline)}" if approval.deadline else "no deadline")
    return " · ".join(told)


def _unsaved(approval: Approval) -> list[Block]:
    """The warning that the store may forget what is asked here."""
    return [small(UNSAVED)] if approval.unsaved else []


def _show(approval: Approval) -> Block:
    return button("Show everything", action=SHOW, value=encode(approval))


def _size(blocks: list[Block]) -> int:
    return len(json.dumps(blocks, ensure_ascii=False))


def _text(approval: Approval, call: Told, ending: str) -> str:
    """The card in one paragraph; facts first, since a notification shows its beginning only."""
    agent = cut(visible(approval.agent)[0], 60)
    shown = in_one_line(call.arguments, 500) or "no arguments"
    hint = "" if approval.unknown else cut(call.hint, 300)
    about = escaped(f"through {agent}: {shown}. {hint}".strip())
    return cut(f"{_called(approval, call)} {about} {ending}", TEXT_LIMIT)
