"""How many of whom have to agree, and who did so far: the same on cards and in lists."""

from functools import partial

from bot.approvals.request import Approval, leading, uncounted
from bot.approvals.wording import demands
from bot.slack.blocks.rendered import called, mentions


def takes(approval: Approval) -> str:
    """Both in mrkdwn; empty where it is any one of those asked."""
    policy = approval.policy
    told = demands(policy, partial(called, told=policy.notified))
    if not told:
        return ""
    people = [vote.person for vote in leading(approval)]
    so_far = f"so far {len(people)}: {mentions(people)}" if people else "so far none"
    if gone := uncounted(approval):
        so_far += f", and not counted, since they may not decide any more: {mentions(gone)}"
    return f"{told}{', ' if policy.is_simple else ' · '}{so_far}"
