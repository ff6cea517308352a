"""The record of one question to people, and its life.

```
pending  -> approved | rejected | expired | cancelled (withdrawn, superseded, nobody, run_cancelled)
approved -> started | void           started -> done | failed | unknown
unknown  -> done | cancelled | started (by a named person)
```
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Literal

from pydantic import Field, JsonValue

from agents import Entry, Question, Record, ToolConfirmation
from bot.approvals.terms import Frozen, Policy, Vote, in_favour, is_person, newest, reached

Status = Literal[
    "pending",
    "approved",
    "rejected",
    "expired",
    "cancelled",
    "void",
    "started",
    "done",
    "failed",
    "unknown",
]

Command = tuple[str | int | float, ...]
"""A command for the index of what is due, sent together with a change."""

MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        "pending": frozenset({"pending", "approved", "rejected", "expired", "cancelled"}),
        "approved": frozenset({"started", "void"}),
        "rejected": frozenset(),
        "expired": frozenset(),
        "cancelled": frozenset(),
        "void": frozenset(),
        "started": frozenset({"done", "failed", "unknown"}),
        "done": frozenset(),
        "failed": frozenset(),
        "unknown": frozenset({"done", "cancelled", "started"}),
    }
)
"""Where each status may go; nowhere is an end. One more vote leaves pending what it is."""


class Copy(Frozen):
    """One posted card: the post that owes it, and the channel or person it went to.

    `thread_ts` is the requester's thread, for a card that nobody else gets.
    """

    post: str
    channel: str
    thread_ts: str = ""

    @property
    def private(self) -> bool:
        """Whether those who may decide from later on do not see it without a card of their own."""
        return is_person(self.channel) or bool(self.thread_ts)

    @classmethod
    def numbered(cls, approval: str, number: int, channel: str) -> "Copy":
        """The copy of an approval's card with that number, counted from 0."""
        return cls(post=f"card:{approval}:{number}", channel=channel)


class Escalation(Frozen):
    """From a moment on (milliseconds) these names may decide as well; `people` stood for them."""

    at: int
    names: tuple[str, ...]
    people: tuple[str, ...] = ()


class Approval(Frozen):
    """A question to people about one call, everything a card, a decision and an audit need.

    `id` is the id of the request for confirmation, unique in the session whose tag is `session`.
    `run` is the invocation that asks. `args` are the arguments as they will run, `precondition` is
    what the call depends on besides them. Times are milliseconds of the store's clock, None
    means never. `order` names the arguments as the function has them, `form` the fields of the
    payload as they were declared. `nonce` is on the card's buttons. `payload` has the question's
    initial values, and once approved the agreed ones. `hidden` are the channels whose card does
    not show what it is about. `notice` is the post of the line in the requester's thread. `why`
    narrows a status: `withdrawn`, `superseded`, `nobody`.

    `reminded` and `escalated` count the `reminders` and `escalations` that were made. `run_for` is
    how long an approved call may wait for its start, in milliseconds. `defaults` are arguments that
    the model left out, `secrets` those that no card shows, `changes` what is different since people
    were asked about the same call before. `unknown`: its body was interrupted, and people are asked
    whether it happened. `heirs` are the default approvers who were asked because too few of the
    others were left. `tried` is the last attempt that did not count, so that another one at the
    same moment is another change. `unsaved`: nothing of this was on a disk when it was asked.
    """

    id: str
    session: str
    call_id: str
    agent: str
    tool: str
    requester: str
    run: str = ""
    hint: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    order: tuple[str, ...] = ()
    precondition: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    defaults: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    unknown: bool = False
    heirs: tuple[str, ...] = ()
    payload_schema: dict[str, JsonValue] | None = None
    form: tuple[str, ...] = ()
    payload: dict[str, JsonValue] | None = None
    contract: str = ""
    digest: str = ""
    nonce: str = ""
    policy: Policy
    asked_at: int
    deadline: int | None = None
    reminders: tuple[int, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    reminded: int = 0
    escalated: int = 0
    run_for: int | None = None
    run_by: int | None = None
    copies: tuple[Copy, ...] = ()
    hidden: tuple[str, ...] = ()
    notice: str = ""
    votes: tuple[Vote, ...] = ()
    status: Status = "pending"
    rev: int = 1
    why: str = ""
    decided_by: str | None = None
    decided_at: int | None = None
    tried: str = ""
    unsaved: bool = False

    @property
    def reference(self) -> str:
        """A short name for people to type; approvals of different sessions have different ones."""
        return short_name(self.session, self.id)

    @property
    def version(self) -> int:
        """The number of the event that asks."""
        return int(self.id.partition("-")[0])

    def record(self) -> Record:
        """The approval as the slot keeps it."""
        body = self.model_dump(mode="json", exclude={"status", "rev"})
        return Record(
            id=self.id,
            status=self.status,
            rev=self.rev,
            digest=self.digest,
            deadline=self.deadline,
            run_by=self.run_by,
            body=body,
        )

    @classmethod
    def from_record(cls, record: Record) -> "Approval":
        """The approval in a slot's record."""
        return cls.model_validate({**record.body, "status": record.status, "rev": record.rev})


def short_name(session: object, approval: str) -> str:
    """What people type for the approval with that id in a session."""
    return hashlib.sha256(f"{session}|{approval}".encode()).hexdigest()[:8]


def opened(
    request_id: str,
    question: Question,
    *,
    session: str,
    requester: str,
    policy: Policy,
    nonce: str,
    now: int,
    deadline: int | None,
    run_for: int | None = None,
    run: str = "",
) -> Approval:
    """The approval that a question opens."""
    return Approval(
        id=request_id,
        session=session,
        requester=requester,
        policy=policy,
        nonce=nonce,
        asked_at=now,
        deadline=deadline,
        payload=question.initial if question.payload_schema is not None else None,
        run_for=run_for,
        run=run,
        order=tuple(question.args),
        **question.model_dump(exclude={"dynamic", "ended", "kept", "initial"}),
    )


def agreed(approval: Approval, payload: dict[str, JsonValue] | None) -> tuple[str, ...]:
    """The people whose newest vote approves with exactly this payload, in order of their votes."""
    return tuple(vote.person for vote in in_favour(approval.votes, payload))


def against(approval: Approval) -> tuple[str, ...]:
    """The people whose newest vote rejects, in order of their votes."""
    return tuple(vote.person for vote in newest(approval.votes).values() if not vote.confirmed)


def voted(approval: Approval, vote: Vote, *, run_for: timedelta | None) -> Approval:
    """The approval after one more vote: enough rejections close it, enough equal approvals do too.

    Values that differ are different answers and are counted apart. Whoever asked closes it by one
    rejection. An approved call has to start within `run_for`, or the approval's own if shorter.
    """
    counted = approval.model_copy(update={"votes": (*approval.votes, vote)})
    decided: dict[str, object] = {"decided_by": vote.person, "decided_at": vote.at}
    policy = approval.policy
    if not vote.confirmed:
        enough = len(against(counted)) >= policy.rejections or vote.person == approval.requester
        return _next(counted, "rejected", decided) if enough else _next(counted, "pending", {})
    if not reached(policy, in_favour(counted.votes, vote.payload)):
        return _next(counted, "pending", {})
    bounds = (_milliseconds(run_for) if run_for else None, approval.run_for)
    spans = [span for span in bounds if span is not None]
    run_by = vote.at + min(spans) if spans else None
    return _next(counted, "approved", {**decided, "payload": vote.payload, "run_by": run_by})


def ruled(approval: Approval, vote: Vote, *, run_for: timedelta | None) -> Approval:
    """The approval as an operator has closed it, whoever else was asked."""
    ruling = Policy(approvers=(vote.person,))
    closed = voted(approval.model_copy(update={"policy": ruling}), vote, run_for=run_for)
    return closed.model_copy(update={"policy": approval.policy})


def prompted(approval: Approval, *, now: int) -> Approval | None:
    """The approval after the reminders and escalations whose moment has come; None without any."""
    reminded = sum(at <= now for at in approval.reminders)
    escalated = sum(each.at <= now for each in approval.escalations)
    if approval.status != "pending" or (reminded, escalated) == (
        approval.reminded,
        approval.escalated,
    ):
        return None
    policy, people = approval.policy, list[str]()
    for each in approval.escalations[approval.escalated : escalated]:
        policy = policy.widened(each.names, each.people)
        people += each.people
    changes = {
        "reminded": reminded,
        "escalated": escalated,
        "policy": policy,
        "copies": (*approval.copies, *_more_copies(approval, list(dict.fromkeys(people)))),
    }
    return _next(approval, "pending", changes)


def inherited(
    approval: Approval, names: Sequence[str], people: Sequence[str], *, gone: frozenset[str]
) -> Approval:
    """The approval when these names may decide as well, in place of people who are `gone`.

    Whoever of them voted stays in the rules, so that the vote counts on.
    """
    unheard = gone - {vote.person for vote in approval.votes}
    policy = approval.policy.without(gone, unheard).widened(names, people)
    if policy.notified is not None:
        notified = tuple(dict.fromkeys((*policy.notified, *people)))
        policy = policy.model_copy(update={"notified": notified})
    changes = {
        "heirs": tuple(dict.fromkeys((*approval.heirs, *names))),
        "policy": policy,
        "copies": (*approval.copies, *_more_copies(approval, people)),
    }
    return _next(approval, "pending", changes)


def _more_copies(approval: Approval, people: Sequence[str]) -> tuple[Copy, ...]:
    """Cards for those among these people who do not see one where it is."""
    if not all(copy.private for copy in approval.copies):
        return ()
    there = {copy.channel for copy in approval.copies}
    new = (person for person in people if person not in there)
    return tuple(Copy.numbered(approval.id, n, p) for n, p in enumerate(new, len(approval.copies)))


def next_look(approval: Approval) -> int | None:
    """When something is to be done about an open approval without anybody's click; None: never."""
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


def lapse(approval: Approval, others: Iterable[Approval], *, now: int) -> Approval | None:
    """The approval as time and the rest of its session have changed it, or None.

    It is closed when its time is up, nobody may decide it, or the same call was asked for again in
    a later turn (`others` are the session's approvals). Two equal calls of one turn are two
    questions. One that stays open may be due for a reminder or an escalation.
    """
    if approval.status != "pending":
        return None
    if late(approval, now=now):
        return closed(approval, "expired", now=now)
    if not approval.policy.approvers:
        return closed(approval, "cancelled", now=now, why="nobody")
    if any(supersedes(other, approval) for other in others):
        return closed(approval, "cancelled", now=now, why="superseded")
    return prompted(approval, now=now)


def late(approval: Approval, *, now: int) -> bool:
    """Whether the time to decide is up."""
    return approval.deadline is not None and now >= approval.deadline


def supersedes(newer: Approval, older: Approval) -> bool:
    """Whether `newer` asks for the same call again, in a later turn, and can be decided.

    Whether an interrupted call happened is another question: no newer one answers it.
    """
    return (
        newer.status == older.status == "pending"
        and bool(older.digest)
        and newer.digest == older.digest
        and not older.unknown
        and newer.asked_at > older.asked_at
        and _batch(newer) != _batch(older)
        and bool(newer.policy.approvers)
    )


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


_OUTCOMES: Mapping[Status, Literal["rejected", "expired", "cancelled"]] = MappingProxyType(
    {"rejected": "rejected", "expired": "expired", "cancelled": "cancelled"}
)
"""What a status is called in an answer; a call that had happened is `happened`."""

_REASONS = {
    "withdrawn": "The person who asked for it does not want it any more.",
    "superseded": "The same call was asked for again; the newer request counts.",
    "operator": "An operator closed it.",
    "nobody": "Nobody may approve it here; an operator has to name approvers first.",
}


def _reason(approval: Approval) -> str | None:
    """What is said besides the outcome: a person's own words, or why it was closed."""
    if approval.status in ("approved", "rejected"):
        return approval.votes[-1].reason
    return _REASONS.get(approval.why)


def _next(approval: Approval, status: Status, changes: Mapping[str, object]) -> Approval:
    """The next record; raises ValueError where the machine has no such move."""
    if status not in MOVES[approval.status]:
        raise ValueError(f"{approval.id} is {approval.status} and cannot become {status}")
    return approval.model_copy(update={**changes, "status": status, "rev": approval.rev + 1})


def _batch(approval: Approval) -> str:
    """The version of the event that made the call."""
    return approval.call_id.rpartition("-")[0]


def _milliseconds(span: timedelta) -> int:
    """A span in milliseconds."""
    return span // timedelta(milliseconds=1)
