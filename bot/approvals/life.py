"""What becomes of a question: votes, time running out, its end and what that sets off; pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Literal

from agents import Entry, ToolConfirmation
from bot.approvals.request import (
    MOVES,
    Approval,
    Copy,
    Escalation,
    Status,
    against,
    late,
    repeats,
)
from bot.approvals.terms import (
    Policy,
    Vote,
    approving,
    different,
    in_favour,
    is_person,
    newest,
    reached,
)

_OUTCOMES: Mapping[Status, Literal["rejected", "expired", "cancelled"]] = MappingProxyType(
    {"rejected": "rejected", "expired": "expired", "cancelled": "cancelled"}
)
"""What a status is called in an answer; for a call that had happened it is `happened`."""

_REASONS = {
    "withdrawn": "Whoever asked for it withdrew it.",
    "superseded": "The same call was asked for again; the newer request counts.",
    "run_cancelled": "The run that asked was cancelled.",
    "operator": "An operator closed it.",
    "nobody": "Too few people may approve it here; an operator has to name approvers first.",
}


def voted(approval: Approval, vote: Vote, *, run_for: timedelta | None) -> Approval:
    """The approval after one more vote: enough rejections close it, enough equal approvals do too.

    Values that differ are different answers and are counted apart. Whoever asked closes it by one
    rejection. An approved call has to start within `run_for`, or the approval's own if shorter.
    """
    counted = approval.model_copy(update={"votes": (*approval.votes, vote)})
    decided: dict[str, object] = {"decided_by": vote.person, "decided_at": vote.at}
    policy = approval.policy
    if not vote.confirmed:
        enough = len(against(counted)) >= policy.rejections or vote.person in approval.askers
        return _next(counted, "rejected", decided) if enough else _next(counted, "pending", {})
    if not reached(policy, in_favour(counted.votes, vote.payload)):
        return _next(counted, "pending", {})
    bounds = (run_for // timedelta(milliseconds=1) if run_for else None, approval.run_for)
    spans = [span for span in bounds if span is not None]
    run_by = vote.at + min(spans) if spans else None
    return _next(counted, "approved", {**decided, "payload": vote.payload, "run_by": run_by})


def ruled(approval: Approval, vote: Vote, *, run_for: timedelta | None) -> Approval:
    """The approval as an operator has closed it, whoever else was asked."""
    ruling = Policy(approvers=(vote.person,))
    closed = voted(approval.model_copy(update={"policy": ruling}), vote, run_for=run_for)
    return closed.model_copy(update={"policy": approval.policy})


def widens(approval: Approval, *, now: int) -> bool:
    """Whether others who have not been asked yet may decide an open approval by now."""
    later = approval.escalations[approval.escalated :]
    return (
        approval.status == "pending"
        and not late(approval, now=now)
        and any(each.at <= now for each in later)
    )


def prompted(approval: Approval, *, now: int) -> Approval | None:
    """The approval after the reminders and escalations whose moment has come; None without any."""
    reminded = sum(at <= now for at in approval.reminders)
    escalated = sum(each.at <= now for each in approval.escalations)
    if approval.status != "pending" or (reminded, escalated) == (
        approval.reminded,
        approval.escalated,
    ):
        return None
    due = approval.escalations[approval.escalated : escalated]
    people = list(dict.fromkeys(person for each in due for person in each.people))
    changes = {
        "reminded": reminded,
        "escalated": escalated,
        "policy": _told_too(escalated_by(due, approval.policy), people),
        "copies": (*approval.copies, *more_copies(approval, people)),
    }
    return _next(approval, "pending", changes)


def hastened(
    approval: Approval, *, now: int, gone: frozenset[str] = frozenset()
) -> Approval | None:
    """The approval when the next escalation comes at once; None where there is none to come.

    Those who are `gone` are not asked any more, and their votes count on.
    """
    made, coming = (
        approval.escalations[: approval.escalated],
        approval.escalations[approval.escalated :],
    )
    at = min((each.at for each in coming), default=now)
    early = {"at": min(at, now), "early": True}
    coming = tuple(e.model_copy(update=early) if e.at == at else e for e in coming)
    policy = _without(approval, gone) if coming else approval.policy
    sooner = {"escalations": (*made, *coming), "policy": policy}
    return prompted(approval.model_copy(update=sooner), now=now) if coming else None


def escalated_by(escalations: Iterable[Escalation], policy: Policy) -> Policy:
    """The policy when those whom these escalations name may decide as well."""
    for each in escalations:
        policy = policy.widened(each.names, each.people, rules=each.rules)
    return policy


def inherited(
    approval: Approval,
    names: Sequence[str],
    people: Sequence[str],
    *,
    gone: frozenset[str],
    rules: Sequence[int],
) -> Approval:
    """The approval when these names may decide as well, in place of people who are `gone`.

    They stand in for the `rules` of these numbers, and for no other, and it takes as many different
    people for these as before. Whoever of them voted stays in the rules, so that the vote counts
    on.
    """
    policy = _without(approval, gone).widened(names, people, rules=rules)
    numbers = (*approval.policy.passed_on, *rules)
    before = (*approval.passed_on, *(approval.policy.demands[n] for n in rules))
    first = dict(zip(reversed(numbers), reversed(before), strict=False))
    together = {"passed_on": numbers, "people": different(first.values())}
    policy = _told_too(policy, people).model_copy(update=together)
    changes = {
        "heirs": tuple(dict.fromkeys((*approval.heirs, *names))),
        "passed_on": before,
        "policy": policy,
        "copies": (*approval.copies, *more_copies(approval, people)),
    }
    return _next(approval, "pending", changes)


def _without(approval: Approval, gone: frozenset[str]) -> Policy:
    """The policy when those who are gone are not asked any more; their votes count on."""
    unheard = gone - {vote.person for vote in approval.votes if vote.counts}
    return approval.policy.without(gone, unheard)


def recounted(approval: Approval, held: Mapping[str, frozenset[str] | None]) -> Approval | None:
    """The approval without the votes of people who lost the right; None where all still count.

    `held` are the names that those who approved stand for now, None where they may never decide. A
    rejection stands whoever gave it: it can only ever close a question.
    """
    last = approving(approval.votes)
    votes = tuple(
        _as_held(vote, held[vote.person], approval.policy) if vote in last else vote
        for vote in approval.votes
    )
    return None if votes == approval.votes else _next(approval, "pending", {"votes": votes})


def _as_held(vote: Vote, names: frozenset[str] | None, policy: Policy) -> Vote:
    """A vote with only those of its person's rights that they still have."""
    kept = tuple(name for name in vote.names if name in (names or ()))
    counts = vote.counts and names is not None and policy.entitles(vote.person, kept)
    return vote.model_copy(update={"names": kept, "counts": counts})


def excluded(approval: Approval) -> frozenset[str]:
    """Who may not decide whatever right they have: whoever asked, unless that is allowed."""
    return frozenset() if approval.policy.self_approval else approval.askers


def _told_too(policy: Policy, people: Sequence[str]) -> Policy:
    """The policy by which these people are told as well, unless everybody is told anyway."""
    if policy.notified is None:
        return policy
    notified = tuple(dict.fromkeys((*policy.notified, *people)))
    return policy.model_copy(update={"notified": notified})


def more_copies(approval: Approval, people: Sequence[str]) -> tuple[Copy, ...]:
    """Cards for those of these people who do not see one yet."""
    if not all(copy.private for copy in approval.copies):
        return ()
    there = {copy.channel for copy in approval.copies}
    new = (each for each in people if is_person(each) and each not in there)
    return tuple(Copy.numbered(approval.id, n, p) for n, p in enumerate(new, len(approval.copies)))


def next_look(approval: Approval) -> int | None:
    """When an open approval needs attention without anybody's click; None: never."""
    moments = [
        *approval.reminders[approval.reminded : approval.reminded + 1],
        *(each.at for each in approval.escalations[approval.escalated :]),
        *([approval.deadline] if approval.deadline is not None else []),
    ]
    return min(moments) if approval.status == "pending" and moments else None


def closed(
    approval: Approval,
    status: Literal["expired", "cancelled"],
    *,
    now: int,
    why: str = "",
    by: str | None = None,
) -> Approval:
    """The approval closed without a vote: nobody answered, or nobody needs it any more."""
    return _next(approval, status, {"why": why, "decided_by": by, "decided_at": now})


def is_over(approval: Approval, *, asks: Callable[[str, str], bool]) -> bool:
    """Whether an approval is open though its call is answered: a decision would reach nobody.

    `asks` tells whether a call of the session waits for the answer to a question, both by id.
    """
    return approval.status == "pending" and not asks(approval.call_id, approval.id)


def overtaken(approval: Approval, others: Iterable[Approval]) -> str:
    """Why the call of an open approval was answered without it, as its `why` will say.

    The same was asked for again in a later turn (`others` are the session's approvals), whatever
    became of that since. Two equal calls of one turn are two questions.
    """
    again = any(repeats(other, approval) for other in others)
    return "superseded" if again else "run_cancelled"


def lapse(approval: Approval, *, now: int, over: str = "") -> Approval | None:
    """The approval as time and the rest of its session have changed it, or None.

    It is closed when its time is up, nobody may decide it, or its call is answered without it:
    `over` says why. One that stays open may be due for a reminder or an escalation.
    """
    if approval.status != "pending":
        return None
    if late(approval, now=now):
        return closed(approval, "expired", now=now)
    if not approval.policy.approvers:
        return closed(approval, "cancelled", now=now, why="nobody")
    if over:
        return closed(approval, "cancelled", now=now, why=over)
    return prompted(approval, now=now)


def resume(approval: Approval) -> Entry:
    """The inbox entry that a closed approval makes: the answer to its question.

    `user_id` and `decided_by` name who decided, or nobody. Raises ValueError while it is pending.
    """
    if approval.status == "pending":
        raise ValueError(f"the approval {approval.id} is not decided")
    answer = ToolConfirmation(
        confirmed=approval.status == "approved",
        payload=approval.payload if approval.status == "approved" else None,
        reason=_reason(approval),
        outcome="happened" if approval.why == "happened" else _OUTCOMES.get(approval.status),
    )
    return Entry(
        id=f"decision:{approval.id}",
        body={
            "content": {"role": "user", "parts": [answer.wire(approval.id)]},
            "user_id": approval.decided_by,
            "decided_by": approval.decided_by,
        },
    )


def _reason(approval: Approval) -> str | None:
    """The reason told with the outcome: a person's own words, or why it was closed."""
    if approval.status == "approved":
        return approval.votes[-1].reason
    if approval.status == "rejected":
        votes = newest(approval.votes).values()
        said = [vote.reason for vote in votes if not vote.confirmed and vote.reason]
        return "\n".join(dict.fromkeys(said)) or None
    return _REASONS.get(approval.why)


def _next(approval: Approval, status: Status, changes: Mapping[str, object]) -> Approval:
    """The next record; raises ValueError where the machine has no such move."""
    if status not in MOVES[approval.status]:
        raise ValueError(f"{approval.id} is {approval.status} and cannot become {status}")
    return approval.model_copy(update={**changes, "status": status, "rev": approval.rev + 1})
