"""How many of whom have to agree, and who has so far: the same on cards and in lists."""

from functools import partial

from bot.approvals.request import Approval, enough, leading, uncounted
from bot.approvals.wording import demands
from bot.slack.blocks.rendered import called, mentions

ENOUGH = "which is enough by now, but was not at the time: somebody has to approve once more"


def takes(approval: Approval) -> str:
    """Both, in mrkdwn; empty where any one of those asked will do."""
    policy = approval.policy
    told = demands(policy, partial(called, told=policy.notified))
    if not told:
        return ""
    people = [vote.person for vote in leading(approval)]
    so_far = f"so far {len(people)}: {mentions(people)}" if people else "so far none"
    if again := once_more(approval):
        so_far += f", {again}"
    if gone := uncounted(approval):
        so_far += f", and not counted, since they may not decide any more: {mentions(gone)}"
    return f"{told}{', ' if policy.is_simple else ' · '}{so_far}"


def once_more(approval: Approval) -> str:
    """What is still to be done where the approvals so far are enough by now; empty elsewhere."""
    return ENOUGH if enough(approval) else ""
