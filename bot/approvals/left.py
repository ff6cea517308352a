"""Whether enough people are left who may decide, for each rule of a request; pure."""

from collections.abc import Mapping, Sequence

from bot.approvals.life import excluded
from bot.approvals.request import Approval
from bot.approvals.terms import Policy, Quota, Vote, approving, in_favour, standing

Able = Mapping[str, frozenset[str]]
"""Who may decide now behind each name; behind a person's id it is that person, or nobody."""


def unmet(approval: Approval, able: Able) -> Sequence[int]:
    """The numbers of the rules for which votes cast and people who may still vote are too few.

    A vote is counted until it is known that its person has lost the right; whether all are good
    enough to start on is looked at once more right before the call runs. Whoever voted otherwise,
    and still may, can think again.
    """
    barred = excluded(approval)
    alike = [in_favour(approval.votes, vote.payload) for vote in approving(approval.votes)]
    found = (_short(approval.policy, votes, able, barred=barred) for votes in (*alike, ()))
    return min(found, key=len)


def _short(
    policy: Policy, votes: Sequence[Vote], able: Able, *, barred: frozenset[str]
) -> Sequence[int]:
    """The numbers of the rules that cannot be met with these votes, or those not together."""
    numbers = [
        number
        for number, rule in enumerate(policy.demands)
        if all(_possible(quota, votes, able, barred=barred) < quota.count for quota in rule)
    ]
    together = _possible(policy.together, votes, able, barred=barred)
    return numbers or (policy.passed_on if together < policy.people else ())


def _possible(quota: Quota, votes: Sequence[Vote], able: Able, *, barred: frozenset[str]) -> int:
    """How many people could come to count for a quota, all with the same values."""
    left = {person for name in quota.names for person in able.get(name, ())} - barred
    return len(left) + standing(quota, [vote for vote in votes if vote.person not in left])
