"""What a policy asks for, in words that can be read one way only: the same wherever it is told.

Whoever shows it says what names are called there: mentions on a card, ids at a console.
"""

from collections.abc import Callable, Sequence

from bot.approvals.terms import Policy, Quota, Vote, is_person, needed

Called = Callable[[Sequence[str]], Sequence[str]]
"""What some names are called, a word or so for each; where they are many, the last says so."""


def demands(policy: Policy, called: Called) -> str:
    """How many of whom have to agree; empty where it is any one of those asked."""
    if not is_simple(policy):
        return rules(policy, called)
    count = policy.demands[0][0].count
    return f"{count} have to approve" if count > 1 else ""


def rules(policy: Policy, called: Called) -> str:
    """Each rule with the names that count for it; empty where that is one number of those asked.

    Several names stand in brackets, so that none of them is read as another demand.
    """
    if is_simple(policy):
        return ""
    several = len(policy.demands) > 1
    told = [_rule(rule, called, several=several) for rule in policy.demands]
    return f"it takes {'; and also '.join(told)}"


def is_simple(policy: Policy) -> bool:
    """Whether a number says it all: so many of those who were asked."""
    among = {name for rule in policy.demands for quota in rule for name in quota.names}
    return [len(rule) for rule in policy.demands] == [1] and among == {*policy.approvers}


def total(policy: Policy, votes: Sequence[Vote]) -> str:
    """How many it takes, those with these equal votes among them: with several rules at least."""
    least = "" if is_simple(policy) else "at least "
    return f"{least}{needed(policy, votes)}"


def _rule(rule: Sequence[Quota], called: Called, *, several: bool) -> str:
    ways = [_quota(quota, called) for quota in rule if quota.names]
    either = "either " if several and len(ways) > 1 else ""
    return either + (" or ".join(ways) or "nobody")


def _quota(quota: Quota, called: Called) -> str:
    names, count = quota.names, quota.count
    words = ", ".join(called(names))
    if len(names) == 1:
        return words if count == 1 and is_person(names[0]) else f"{count} from {words}"
    every = count == len(names) and all(map(is_person, names))
    return f"all of ({words})" if every else f"any {count} of ({words})"
