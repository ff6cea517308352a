"""Whether so many people can agree, or say no, as a policy asks for: by what is known at the start.

Who is in a user group is Slack's to say: until somebody asks it may be any number of people.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from agents import ApprovalPolicy
from bot.approvals.terms import is_group, is_person
from bot.approvals.tiers import whole


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something about policies that an operator has to mend; `refuse` stops the start."""

    text: str
    refuse: bool = False


def counts(
    policies: Mapping[str, Sequence[ApprovalPolicy]],
    *,
    approvers: Sequence[str],
    roles: Mapping[str, Sequence[str]],
    bounded: bool = False,
) -> Iterator[Complaint]:
    """What more people are needed for than there are; `approvers` decide where nobody is named.

    `roles` are the members of every name that is known. `bounded`: the deployment lets no question
    stay open for ever.
    """
    for tool, found in policies.items():
        for n, declared in enumerate(found):
            others = (*found[:n], *found[n + 1 :])
            ends = bounded or any(isinstance(each.expires, timedelta) for each in others)
            for policy in whole(declared):
                endless = policy.expires is None and not ends
                yield from _never(tool, policy) if endless else ()
                yield from _too_few(tool, policy, approvers, roles=roles, endless=endless)


def nobody(role: str, roles: Mapping[str, Sequence[str]]) -> bool:
    """Whether nobody stands behind a role, for it is empty or only leads back to itself."""
    return not _leaves([role], roles)


def _never(tool: str, policy: ApprovalPolicy) -> Iterator[Complaint]:
    """That parts of a time without an end never come."""
    parts = {
        "reminders": policy.reminders not in ((), ApprovalPolicy().reminders),
        "escalations": bool(policy.escalate),
    }
    for name in (name for name, told in parts.items() if told):
        yield Complaint(f"the policy of {tool} never expires, so its {name} never come about")


def _too_few(
    tool: str,
    policy: ApprovalPolicy,
    approvers: Sequence[str],
    *,
    roles: Mapping[str, Sequence[str]],
    endless: bool,
) -> Iterator[Complaint]:
    later = [] if endless else [name for names in policy.escalate.values() for name in names]
    named = policy.approvers or tuple(policy.any_of) or tuple(approvers)
    demands = policy.any_of or {"": policy.quorum}
    most = [
        (needed, _count([*([name] if name else named), *later], roles))
        for name, needed in demands.items()
    ]
    if named and all(needed > there > 0 for needed, there in most):
        needed, there = min(most)
        told = f"{needed} people have to agree, and {there:.0f} can"
        yield Complaint(f"The policy of {tool} is wrong: {told}.", refuse=True)
    there = _count([*named, *later], roles)
    if policy.rejections > there > 0:
        told = f"{policy.rejections} people have to reject, and {there:.0f} can"
        yield Complaint(f"The policy of {tool} is wrong: {told}.", refuse=True)


def _count(names: Sequence[str], roles: Mapping[str, Sequence[str]]) -> float:
    """How many people can stand behind names; no end of them behind a group nobody looked up."""
    leaves = _leaves(names, roles)
    return math.inf if any(map(is_group, leaves)) else sum(map(is_person, leaves))


def _leaves(names: Sequence[str], roles: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The names behind names that stand for nobody else."""
    seen, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += roles.get(name, ())
    return frozenset(seen.difference(roles))
