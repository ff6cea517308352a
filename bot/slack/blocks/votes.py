"""Why people voted against it, in their own words."""

from bot.approvals.request import Approval, against
from bot.approvals.terms import newest
from bot.slack.blocks.concealed import concealed
from bot.slack.blocks.rendered import Block, named, rich, said, section, user
from bot.slack.text import cut, visible

REASON_LIMIT = 1_000
VOTES_LIMIT = 5
"""The most people whose reasons are told one by one."""


def reasons(approval: Approval) -> list[Block]:
    """The reasons of those against it, with names unless the outcome has the only one."""
    votes = newest(approval.votes).values()
    told = [(vote.person, vote.reason) for vote in votes if not vote.confirmed and vote.reason]
    safe = [(person, visible(concealed(approval, reason))[0]) for person, reason in told]
    alone = approval.status == "rejected" and len(against(approval)) == 1
    return [
        rich(*named("Reason", cut(words, REASON_LIMIT)))
        if alone
        else rich(section(user(person), said(cut(f" is against it: {words}", REASON_LIMIT))))
        for person, words in safe[-VOTES_LIMIT:]
    ]
