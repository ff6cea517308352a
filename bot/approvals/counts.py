"""Whether so many people can agree, or say no, as a policy asks for: by what is known at the start.

Who is in a user group is Slack's to say, so a policy that names one may have any number of people.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents import ApprovalPolicy
from bot.approvals.terms import is_group, is_person

DEPTH = 8


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
) -> Iterator[Complaint]:
    """What more people are needed for than there are; `approvers` decide where nobody is named."""
    for tool, found in policies.items():
        for policy in (each for declared in found for each in _whole(declared)):
            yield from _too_few(tool, policy, approvers=approvers, roles=roles)


def _whole(policy: ApprovalPolicy) -> Iterator[ApprovalPolicy]:
    """A policy and all of its tiers."""
    yield policy
    for tier in policy.tiers.values():
        yield from _whole(tier)


def _too_few(
    tool: str,
    policy: ApprovalPolicy,
    *,
    approvers: Sequence[str],
    roles: Mapping[str, Sequence[str]],
) -> Iterator[Complaint]:
    later = [name for names in policy.escalate.values() for name in names]
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
    """How many people can stand behind names; no end of them behind a user group."""
    leaves = {leaf for name in names for leaf in _leaves(name, roles, DEPTH)}
    if any(is_group(leaf) for leaf in leaves):
        return math.inf
    return sum(map(is_person, leaves))


def _leaves(name: str, roles: Mapping[str, Sequence[str]], depth: int) -> Iterator[str]:
    if name not in roles:
        yield name
    elif depth:
        for member in roles[name]:
            yield from _leaves(member, roles, depth - 1)
