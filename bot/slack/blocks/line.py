"""The line under a request: who was asked, and then what became of it."""

from bot.approvals.button import encode
from bot.approvals.request import Approval, late
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import Rendered, actions, button, mentions, moment, small
from bot.slack.payloads import WITHDRAW


def prompt(approval: Approval, *, kind: str) -> Rendered:
    """The line under a card that brings it to mind; for an `escalation` to others as well."""
    until = f" until {moment(approval.deadline)}" if approval.deadline else ""
    if kind == "escalation" and approval.escalated:
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


def asked(approval: Approval, *, now: int) -> Rendered:
    """The line in the requester's thread; while the question is open they can withdraw it."""
    if approval.status != "pending" or late(approval, now=now):
        ended = outcome(approval)
        return Rendered(ended, [small(ended)])
    until = f", until {moment(approval.deadline)}" if approval.deadline else ""
    line = f"Asked {mentions(approval.policy.approvers)}{until}."
    withdraw = button("Withdraw", action=WITHDRAW, value=encode(approval))
    return Rendered(line, [small(line), actions(withdraw, block_id=f"withdraw:{approval.rev}")])
