"""What a policy asks for, in words that can be read in only one way, the same everywhere.

Whoever shows it says what names are called there: mentions on a card, ids at a console.
"""

from collections.abc import Callable, Sequence

from bot.approvals.terms import Policy, Quota, is_person

Called = Callable[[Sequence[str]], Sequence[str]]
"""What some names are called, a word or so for each; where they are many, the last says so."""


def demands(policy: Policy, called: Called) -> str:
    """How many of whom have to agree; empty where any one of those asked will do."""
    if not policy.is_simple:
        return rules(policy, called)
    count = policy.demands[0][0].count
    return f"{count} have to approve" if count > 1 else ""


def rules(policy: Policy, called: Called) -> str:
    """Each rule with the names that count for it; empty where one number says it all.

    Several names stand in brackets, so that none of them is read as another demand.
    """
    if policy.is_simple:
        return ""
    several = len(policy.demands) > 1
    told = [_rule(rule, called, several=several) for rule in policy.demands]
    apart = f"; {policy.people} different people" if several and policy.people > 1 else ""
    return f"it takes {'; and also '.join(told)}{apart}"


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
