"""The line under a request: who was asked, and then what became of it."""

from bot.approvals.button import encode
from bot.approvals.request import Approval, late
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import Rendered, actions, button, mentions, moment, small
from bot.slack.payloads import WITHDRAW


def asked(approval: Approval, *, now: int) -> Rendered:
    """The line in the requester's thread; while the question is open they can withdraw it."""
    if approval.status != "pending" or late(approval, now=now):
        ended = outcome(approval)
        return Rendered(ended, [small(ended)])
    until = f", until {moment(approval.deadline)}" if approval.deadline else ""
    line = f"Asked {mentions(approval.policy.approvers)}{until}."
    withdraw = button("Withdraw", action=WITHDRAW, value=encode(approval))
    return Rendered(line, [small(line), actions(withdraw, block_id=f"withdraw:{approval.rev}")])
