"""Who stands for the groups that may decide: not known at first, or others than at first; pure."""

from collections.abc import Iterable, Mapping, Sequence

from bot.approvals.life import excluded, more_copies
from bot.approvals.request import Approval, Copy
from bot.approvals.terms import is_person

Roster = Mapping[str, Sequence[str]]
"""The people behind names of groups."""

TOLD = 50
"""The most who have cards of their own since they stand for a group: Slack takes one a second."""


def unasked(approval: Approval) -> tuple[str, ...]:
    """The groups that were to be told of it, but whose members could not be found out."""
    policy = approval.policy
    told = (*policy.approvers, *(policy.notified or ()))
    return tuple(dict.fromkeys(name for name in told if not is_person(name)))


def introduced(approval: Approval, members: Mapping[str, Iterable[str]]) -> Approval | None:
    """The approval when the `unasked` are asked, as far as they are known now; None for nobody.

    They may decide already, by the names that they stand for.
    """
    policy = approval.policy
    own = excluded(approval)
    approvers = tuple(p for p in _behind(policy.approvers, members) if p not in own)
    notified = policy.notified and _behind(policy.notified, members)
    if not approvers or (approvers, notified) == (policy.approvers, policy.notified):
        return None
    known = {"rules": policy.demands, "approvers": approvers, "notified": notified}
    more = _more_copies(approval, approvers if notified is None else notified)
    changes = {"policy": policy.model_copy(update=known), "copies": (*approval.copies, *more)}
    return approval.model_copy(update={**changes, "rev": approval.rev + 1})


def rotating(approval: Approval) -> tuple[str, ...]:
    """The groups of which it matters who stands for them while it is open, now or later."""
    policy, coming = approval.policy, approval.escalations[approval.escalated :]
    names = (
        *sorted(policy.names),
        *policy.notify,
        *(name for each in coming for name in each.names),
    )
    return tuple(dict.fromkeys(name for name in names if not is_person(name)))


def newcomers(approval: Approval, members: Roster) -> tuple[str, ...]:
    """Those of these `members` of groups who are not known to be asked or told, now or later."""
    policy, own = approval.policy, excluded(approval)
    later = (person for each in approval.escalations for person in each.people)
    known = {*policy.approvers, *(policy.notified or ()), *later, *own}
    people = (person for behind in members.values() for person in behind)
    return tuple(dict.fromkeys(person for person in people if person not in known))


def rotated(approval: Approval, members: Roster) -> Approval | None:
    """The approval when those are asked who stand for its groups now; None when they are already.

    Who stands for none of its names any more is not asked any more. The rules stay as they are, and
    everything does where nobody stands for them: of a group that is not in `members` it is not
    known.
    """
    policy, made = approval.policy, approval.escalations[: approval.escalated]
    own = excluded(approval)
    coming = tuple(
        each.model_copy(
            update={"people": _standing(each.people, each.names, members=members, own=own)}
        )
        for each in approval.escalations[approval.escalated :]
    )
    approvers = policy.approvers
    if policy.groups:
        approvers = _standing(approvers, sorted(policy.names), members=members, own=own)
    notified = _notified(approval, approvers, members)
    after = policy.model_copy(update={"approvers": approvers, "notified": notified})
    if after == policy and (*made, *coming) == approval.escalations:
        return None
    told = approvers if notified is None else notified
    more = _more_copies(approval, told)
    changes = {"policy": after, "escalations": (*made, *coming)}
    changes |= {"copies": (*approval.copies, *more), "rev": approval.rev + 1}
    return approval.model_copy(update=changes)


def _more_copies(approval: Approval, told: Sequence[str]) -> tuple[Copy, ...]:
    """Cards for those who are told from now on, while fewer than `TOLD` have one."""
    policy = approval.policy
    before = policy.approvers if policy.notified is None else policy.notified
    there = sum(copy.channel in told for copy in approval.copies)
    more = more_copies(approval, [person for person in told if person not in before])
    return more[: max(0, TOLD - there)]


def _notified(
    approval: Approval, approvers: Sequence[str], members: Roster
) -> tuple[str, ...] | None:
    """Who is told of it now: who stands for `notify`, and who came in later and is still asked."""
    policy = approval.policy
    if not (policy.notified and policy.notify):
        return policy.notified
    made = approval.escalations[: approval.escalated]
    came = (*approval.heirs, *(name for each in made for name in each.names))
    names = (*policy.notify, *(n for n in came if n in approvers or not is_person(n)))
    named = (person for name in policy.notify for person in members.get(name, (name,)))
    own = excluded(approval).difference(named)
    return _standing(policy.notified, names, members=members, own=own)


def _standing(
    before: Sequence[str], names: Iterable[str], *, members: Roster, own: frozenset[str]
) -> tuple[str, ...]:
    """Who stands for names now, those from before first; as before where it is not known."""
    there: dict[str, None] = {}
    for name in names:
        if not is_person(name) and name not in members:
            return tuple(before)
        people = members.get(name, (name,) if name in before else ())
        there.update(dict.fromkeys(person for person in people if person not in own))
    kept = (person for person in before if person in there)
    return tuple(dict.fromkeys((*kept, *there))) or tuple(before)


def _behind(names: Iterable[str], members: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The names, with each group replaced by its members where any are known."""
    people = (
        person
        for name in names
        for person in ((name,) if is_person(name) else sorted(members.get(name, ())) or (name,))
    )
    return tuple(dict.fromkeys(people))
