"""How many of whom have to agree, and who did so far: the same on cards and in lists."""

from functools import partial

from bot.approvals.request import Approval
from bot.approvals.wording import demands, is_simple
from bot.slack.blocks.outcome import counted
from bot.slack.blocks.rendered import called, mentions


def takes(approval: Approval) -> str:
    """Both in mrkdwn; empty where it is any one of those asked."""
    policy = approval.policy
    told = demands(policy, partial(called, told=policy.notified))
    if not told:
        return ""
    people = counted(approval)
    so_far = f"so far {len(people)}: {mentions(people)}" if people else "so far none"
    return f"{told}{', ' if is_simple(policy) else ' · '}{so_far}"
