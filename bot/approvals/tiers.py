"""What takes the place of a policy for some calls; pure."""

from collections.abc import Iterator
from dataclasses import replace

from agents import ApprovalPolicy

_DEFAULT = ApprovalPolicy()


def instead(policy: ApprovalPolicy, tier: ApprovalPolicy) -> ApprovalPolicy:
    """What takes the place of a policy where one of its tiers is met.

    A tier that names people says all there is to say. One that names nobody only adds: the same
    people decide, never fewer of them, and what it says nothing of stays; only that whoever asked
    may approve has to be said again.
    """
    if tier.approvers or tier.any_of:
        return tier
    return replace(
        tier,
        approvers=policy.approvers,
        any_of={name: max(count, tier.quorum) for name, count in policy.any_of.items()},
        quorum=max(policy.quorum, tier.quorum),
        rejections=policy.rejections if tier.rejections == _DEFAULT.rejections else tier.rejections,
        reason_required=policy.reason_required or tier.reason_required,
        notify=policy.notify if tier.notify is None else tier.notify,
        expires=policy.expires if tier.expires == _DEFAULT.expires else tier.expires,
        run_within=policy.run_within if tier.run_within is None else tier.run_within,
        working_hours=policy.working_hours or tier.working_hours,
        reminders=policy.reminders if tier.reminders == _DEFAULT.reminders else tier.reminders,
        escalate=tier.escalate or policy.escalate,
    )


def whole(policy: ApprovalPolicy) -> Iterator[ApprovalPolicy]:
    """A policy and everything that may take its place."""
    yield policy
    for tier in policy.tiers.values():
        yield from whole(instead(policy, tier))
