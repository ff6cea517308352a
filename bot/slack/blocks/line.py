"""The line under a request: who was asked, and then what became of it."""

from bot.approvals.button import encode
from bot.approvals.request import Approval, late
from bot.slack.actions import WITHDRAW
from bot.slack.blocks.arguments import arguments, in_one_line, titled
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import (
    Rendered,
    actions,
    button,
    mention,
    mentions,
    moment,
    quietly,
    small,
)
from bot.slack.text import cut, escaped, visible

CALL_LIMIT = 200


def prompt(approval: Approval, *, kind: str, by: str = "") -> Rendered:
    """The line under a card that brings it to mind; for an `escalation` to others as well.

    `moved_on` says that somebody, `by`, wrote where it was asked; `ruling` that it was taken out of
    people's hands.
    """
    until = f" until {moment(approval.deadline)}" if approval.deadline else ""
    if kind == "moved_on":
        told = f":speech_balloon: {mention(by)} wrote in the conversation after this was asked."
    elif kind == "ruling":
        policy = approval.policy
        told = f":rotating_light: {quietly(policy.approvers, policy.notified)}: {outcome(approval)}"
    elif kind == "escalation" and approval.escalated:
        names = approval.escalations[approval.escalated - 1].names
        told = f"{mentions(names)} may decide this as well now{until}."
    else:
        told = f"{mentions(waited_for(approval))}: this still waits for a decision{until}."
    return Rendered(told, [small(told)])


def waited_for(approval: Approval) -> tuple[str, ...]:
    """Who is to be reminded: those who are told about it and have not voted."""
    policy = approval.policy
    told = policy.approvers if policy.notified is None else policy.notified
    voted = {vote.person for vote in approval.votes}
    return tuple(name for name in told if name not in voted)


def asked(approval: Approval, *, now: int, shared: bool = False) -> Rendered:
    """The line in the requester's thread; while the question is open they can withdraw it.

    In a channel that other companies see, `shared`, it does not say what the call is about.
    """
    call = "" if shared else _call(approval)
    if approval.status != "pending" or late(approval, now=now):
        ended = outcome(approval)
        return Rendered(f"{ended} {escaped(call)}".strip(), [small(ended, before=call)])
    until = f", until {moment(approval.deadline)}" if approval.deadline else ""
    line = f"Asked {quietly(approval.policy.approvers, approval.policy.notified)}{until}."
    withdraw = button("Withdraw", action=WITHDRAW, value=encode(approval))
    row = actions(withdraw, block_id=f"withdraw:{approval.rev}")
    return Rendered(f"{line} {escaped(call)}".strip(), [small(line, before=call), row])


def _call(approval: Approval) -> str:
    """Which of the thread's requests this is about."""
    tool = titled(cut(visible(approval.tool)[0], 60))
    told = in_one_line(arguments(approval), CALL_LIMIT)
    return f"{tool}: {told}" if told else tool
