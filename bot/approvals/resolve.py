"""The policy that tool, deployment and arguments amount to: pure, and the stricter counts.

Each policy that names people is a rule of its own, and a call needs all of them; of numbers the
stricter counts. So nothing a deployment says can loosen what a tool says, nor the other way round.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from agents import ApprovalPolicy
from bot.approvals.conditions import condition
from bot.approvals.hours import Calendar, later
from bot.approvals.request import Approval, Escalation
from bot.approvals.terms import OPERATOR, Policy, Quota, Vote, is_person, reached
from bot.approvals.tiers import instead

Members = Mapping[str, Sequence[str] | None]
"""Who stands behind a name; None where that could not be looked up."""


EVERYBODY = "default approvers"
"""A name that stands for nobody, where default approvers are meant and there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What a deployment says about approvals.

    `approvers` decide where a tool names nobody. `groups` are the members behind names of groups,
    roles and user groups, `barred` are people who can never decide. `quorum` is the least and
    `run_for` the longest a tool may say; without `self_approval` no tool may allow it. A question
    of whose time nothing is said expires after `ttl`, and none is open for longer than `longest`.
    """

    approvers: Sequence[str] = ()
    groups: Members = field(default_factory=dict[str, Sequence[str] | None])
    barred: frozenset[str] = frozenset()
    quorum: int = 1
    self_approval: bool = True
    ttl: timedelta | None = timedelta(days=7)
    longest: timedelta | None = None
    run_for: timedelta | None = timedelta(days=1)
    calendar: Calendar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoApprovers:
    """Nobody, or fewer than the quorum, could decide; `present` people are left, `needed` asked.

    `broken`: the policy makes no sense.
    """

    present: int
    needed: int
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When what happens to a question, in milliseconds of the store's clock.

    `escalations` have the names that may decide from then on, and the rules that they count for.
    `run_for` is how long an approved call may wait for its start.
    """

    deadline: int | None
    reminders: tuple[int, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    run_for: timedelta | None = None


def members(names: Sequence[str], groups: Members) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The people behind names, each once and in order, and the names nobody knows.

    A group whose members could not be looked up stands for itself.
    """
    people: dict[str, None] = {}
    unknown: list[str] = []
    for name in names:
        if name in groups:
            behind = groups[name]
            people.update(dict.fromkeys((name,) if behind is None else behind))
        elif is_person(name):
            people[name] = None
        else:
            unknown.append(name)
    return tuple(people), tuple(unknown)


def chosen(
    declared: Sequence[ApprovalPolicy],
    args: Mapping[str, JsonValue],
    *,
    everybody: Sequence[str] = (),
) -> tuple[ApprovalPolicy, ...]:
    """The policies for these arguments: each one, or the last of its tiers that is met.

    A tier whose argument cannot be compared counts beside whatever would stand without it, so that
    the stricter is met; there `everybody`, the default approvers, is who a policy without names
    means, and nobody takes over.
    """
    found = tuple(each for policy in declared for each in _tiers(policy, args, everybody))
    return found or (ApprovalPolicy(),)


def resolve(
    policies: Sequence[ApprovalPolicy],
    *,
    defaults: Defaults,
    requester: str,
    behind: Iterable[str] = (),
    heirs: Sequence[str] = (),
    passed_on: Sequence[Sequence[Quota]] = (),
) -> Policy | NoApprovers:
    """The policy for one question; `policies` have their tiers chosen.

    Neither the `requester` nor those `behind` the same call before may decide. The `heirs` are as
    good as those named in a rule that was `passed_on`, or in one as hard to meet. Names that nobody
    knows stand for nobody, and never make way for the default approvers. There are no approvers
    where only those of an escalation to come can decide.
    """
    own = all(policy.self_approval for policy in policies) and defaults.self_approval
    excluded = defaults.barred if own else defaults.barred | {requester, *behind}
    demands = [
        _inherited(each, heirs, passed_on, excluded=excluded)
        for each in _demands(policies, defaults)
    ]
    endless = defaults.longest is None and _span(policies, defaults) is None
    for each in demands:
        later = () if endless else each.later
        present = [_present((*q.names, *later), defaults, excluded) for q in each.rule]
        if all(there < q.count for there, q in zip(present, each.rule, strict=True)):
            return NoApprovers(present=int(max(present)), needed=min(q.count for q in each.rule))
    rules = tuple(each.rule for each in demands)
    named = [name for rule in rules for quota in rule for name in quota.names]
    people = tuple(p for p in members(named, defaults.groups)[0] if p not in excluded)
    simple = len(rules) == 1 and len(rules[0]) == 1 and all(map(is_person, named))
    everybody = (*named, *(() if endless else (n for each in demands for n in each.later)))
    return Policy(
        approvers=people,
        quorum=max(min(quota.count for quota in rule) for rule in rules),
        self_approval=own,
        rules=() if simple else rules,
        rejections=_rejections(policies, _present(everybody, defaults, excluded)),
        reason_required=any(policy.reason_required for policy in policies),
        notified=_notified(policies, defaults),
        notify=tuple(dict.fromkeys(n for policy in policies for n in policy.notify or ())),
    )


def times(policies: Sequence[ApprovalPolicy], *, defaults: Defaults, now: int) -> Times:
    """When a question asked `now` is reminded of and expires; the shortest that is said counts.

    The longest of a deployment is plain time, whatever hours a policy counts.
    """
    runs = [span for p in policies if (span := p.run_within) is not None]
    runs += [defaults.run_for] if defaults.run_for is not None else []
    run_for = min(runs) if runs else None
    span, longest = _span(policies, defaults), defaults.longest
    calendar = defaults.calendar if any(p.working_hours for p in policies) else None
    if longest and (span is None or later(now, span, calendar) > later(now, longest)):
        span, calendar = longest, None
    if span is None:
        return Times(deadline=None, run_for=run_for)
    end = later(now, span, calendar)
    reminders = {later(now, span * part, calendar) for p in policies for part in p.reminders}
    escalations: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for n, each in enumerate(_demands(policies, defaults)):
        for part, names in each.escalate.items():
            escalations.setdefault((later(now, span * part, calendar), names), []).append(n)
    return Times(
        deadline=end,
        reminders=tuple(sorted(at for at in reminders if now < at < end)),
        escalations=tuple(
            Escalation(at=at, names=names, rules=tuple(rules))
            for (at, names), rules in sorted(escalations.items())
            if now < at < end
        ),
        run_for=run_for,
    )


def unsettled(
    approval: Approval,
    votes: Sequence[Vote],
    policies: Sequence[ApprovalPolicy],
    *,
    defaults: Defaults,
) -> str:
    """Why an approved call may not start after all; empty when it may.

    `votes` are those of people who still have a right, with the names they stand for now. Both the
    policy of then and that of now have to be met: a looser one of now changes nothing. One that
    gives people more time is looser, though whoever comes in later would have come in later still.
    """
    if (approval.decided_by or "").startswith(OPERATOR):
        return ""
    if not reached(approval.policy, votes):
        return "somebody who approved may not decide about this any more"
    heirs = [name for name in approval.heirs if name in defaults.approvers]
    now = resolve(
        policies,
        defaults=defaults,
        requester=approval.requester,
        behind=approval.behind,
        heirs=heirs,
        passed_on=approval.passed_on,
    )
    if isinstance(now, NoApprovers):
        return "nobody may decide about this any more"
    made = approval.escalations[: approval.escalated]
    every = {name for each in made for name in each.names}
    early = {name for each in made if each.early for name in each.names}
    decided = approval.decided_at or approval.asked_at
    moments = times(policies, defaults=defaults, now=approval.asked_at)
    longer = moments.deadline is None or moments.deadline > (approval.deadline or math.inf)
    for each in moments.escalations:
        came = every if longer or each.at <= decided else early
        now = now.widened([n for n in each.names if n in came], (), rules=each.rules)
    counted = [v for v in votes if now.self_approval or v.person not in approval.askers]
    if not reached(now, counted):
        return "the rules for this have become stricter"
    return ""


def named(policies: Sequence[ApprovalPolicy], defaults: Defaults) -> tuple[str, ...]:
    """Every name that policies and deployment give a right or a card to, tiers included."""
    found: dict[str, None] = dict.fromkeys(defaults.approvers)
    for policy in policies:
        found.update(dict.fromkeys((*policy.approvers, *policy.any_of, *(policy.notify or ()))))
        found.update(dict.fromkeys(n for names in policy.escalate.values() for n in names))
        found.update(dict.fromkeys(named(tuple(policy.tiers.values()), Defaults())))
    return tuple(found)


def _tiers(
    policy: ApprovalPolicy, args: Mapping[str, JsonValue], everybody: Sequence[str]
) -> tuple[ApprovalPolicy, ...]:
    """What takes the place of a policy: itself or a tier, and later tiers that may be met."""
    sure, unsure = policy, list[ApprovalPolicy]()
    for when, written in policy.tiers.items():
        met, tier = condition(when).met(args), instead(policy, written)
        if met:
            sure, unsure = tier, []
        elif met is None:
            unsure.append(tier)
    own = (policy,) if sure is policy else _tiers(sure, args, everybody)
    if not unsure:
        return own
    beside = (each for tier in unsure for each in _tiers(tier, args, everybody))
    return tuple(_alone(each, everybody) for each in (*own, *beside))


def _alone(policy: ApprovalPolicy, everybody: Sequence[str]) -> ApprovalPolicy:
    """A policy as a rule of its own beside others, whose names take nobody else's place."""
    named = policy.approvers or policy.any_of
    approvers = policy.approvers if named else (tuple(everybody) or (EVERYBODY,))
    return replace(policy, approvers=approvers, notify=None, escalate={})


@dataclass(frozen=True, slots=True)
class _Demand:
    """A rule, and those who may decide later on as well, for this rule alone."""

    rule: tuple[Quota, ...]
    escalate: Mapping[float, tuple[str, ...]]

    @property
    def later(self) -> tuple[str, ...]:
        """Everybody who may come in later."""
        return tuple(name for names in self.escalate.values() for name in names)


def _demands(policies: Sequence[ApprovalPolicy], defaults: Defaults) -> Sequence[_Demand]:
    """One rule for each policy with names; those without only raise the number.

    Two that ask for the same are one, unless others can come in for one of them only. Of those
    without names nobody comes in for the people whom another policy names.
    """
    nameless = [p for p in policies if not (p.approvers or p.any_of)]
    least = max(1, defaults.quorum, *(p.quorum for p in nameless))
    found: list[_Demand] = []
    for policy in policies:
        if policy.any_of:
            told = policy.any_of.items()
            rule = tuple(Quota(names=(name,), count=max(n, least)) for name, n in told)
        elif policy.approvers:
            names = tuple(dict.fromkeys(policy.approvers))
            rule = (Quota(names=names, count=max(policy.quorum, least)),)
        else:
            continue
        demand = _Demand(rule, {part: tuple(names) for part, names in policy.escalate.items()})
        if demand not in found:
            found.append(demand)
    if found:
        return found
    parts = {part: () for policy in nameless for part in policy.escalate}
    escalate = {
        part: tuple(dict.fromkeys(n for p in nameless for n in p.escalate.get(part, ())))
        for part in parts
    }
    everybody = Quota(names=tuple(dict.fromkeys(defaults.approvers)), count=least)
    return [_Demand((everybody,), escalate)]


def _inherited(
    demand: _Demand,
    heirs: Sequence[str],
    passed_on: Sequence[Sequence[Quota]],
    *,
    excluded: frozenset[str],
) -> _Demand:
    """A rule with the heirs, where one that was passed on is met by whatever meets it."""
    if not any(_as_hard(demand.rule, rule, excluded=excluded) for rule in passed_on):
        return demand
    quotas = (
        quota.model_copy(update={"names": tuple(dict.fromkeys((*quota.names, *heirs)))})
        for quota in demand.rule
    )
    return replace(demand, rule=tuple(quotas))


def _as_hard(rule: Sequence[Quota], than: Sequence[Quota], *, excluded: frozenset[str]) -> bool:
    """Whether one rule is at least as hard to meet as another: nobody else may, no fewer must."""
    return all(
        any(o.count <= q.count and excluded.union(o.names).issuperset(q.names) for o in than)
        for q in rule
    )


def _rejections(policies: Sequence[ApprovalPolicy], people: float) -> int:
    """How many have to reject: never more than can, or a rejection would come to nothing."""
    asked = max(min(policy.rejections for policy in policies), 1)
    return int(min(asked, max(people, 1)))


def _span(policies: Sequence[ApprovalPolicy], defaults: Defaults) -> timedelta | None:
    """For how long policies leave a question open; None means for ever."""
    spans = [span for p in policies if isinstance(span := p.expires, timedelta)]
    if all(policy.expires == "default" for policy in policies):
        spans += [defaults.ttl] if defaults.ttl is not None else []
    return min(spans, default=None)


def _present(names: Sequence[str], defaults: Defaults, excluded: frozenset[str]) -> float:
    """How many people stand behind names; infinitely many where a group is not known."""
    if any(defaults.groups.get(name, ()) is None for name in names):
        return float("inf")
    return len(set(members(names, defaults.groups)[0]) - excluded)


def _notified(policies: Sequence[ApprovalPolicy], defaults: Defaults) -> tuple[str, ...] | None:
    told = [policy.notify for policy in policies if policy.notify is not None]
    if not told:
        return None
    people, _ = members([name for names in told for name in names], defaults.groups)
    return tuple(person for person in people if person not in defaults.barred)
