"""The record of one question to people, and where its status may go; pure.

```
pending  -> approved | rejected | expired | cancelled (withdrawn, superseded, nobody, run_cancelled)
approved -> started | void           started -> done | failed | unknown
unknown  -> done | cancelled | started (by a named person)
```
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from pydantic import Field, JsonValue

from agents import Question, Record
from bot.approvals.terms import (
    Frozen,
    Policy,
    Quota,
    Vote,
    approving,
    in_favour,
    is_person,
    newest,
    reached,
    same,
    spelled,
    total,
)

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


MOST_NAMES = 300
"""How many names have their order kept; any more of them follow alphabetically."""
ORDER_LIMIT = 10_000
"""The most characters of all those names together."""


class Copy(Frozen):
    """One posted card: the post that owes it, and the channel or person it went to.

    `thread_ts` is the requester's thread, for a card that nobody else gets. One that is `lost` is
    where nobody sees it any more.
    """

    post: str
    channel: str
    thread_ts: str = ""
    lost: bool = False

    @property
    def private(self) -> bool:
        """Whether those who may decide later do not see it, and need cards of their own."""
        return is_person(self.channel) or self.channel.startswith("D") or bool(self.thread_ts)

    @classmethod
    def numbered(cls, approval: str, number: int, channel: str) -> "Copy":
        """The copy of an approval's card with that number, counted from 0."""
        return cls(post=f"card:{approval}:{number}", channel=channel)


class Escalation(Frozen):
    """From a moment on (milliseconds) these names may decide as well; `people` stood for them.

    They count for the policy's `rules` of these numbers only. One that is `early` came before its
    moment, since there was nobody else.
    """

    at: int
    names: tuple[str, ...]
    people: tuple[str, ...] = ()
    rules: tuple[int, ...] = (0,)
    early: bool = False


class Approval(Frozen):
    """A question to people about one call, everything a card, a decision and an audit need.

    `id` is the id of the request for confirmation, unique in the session whose tag is `session`.
    `requester` wrote what its turn answers, those `behind` asked for the same before and got no
    answer they could use. `run` is the invocation that asks, `turn` the delivery of the message
    that it began with. `args` are the arguments as they will run, `precondition` is what the call
    depends on besides them. Times are milliseconds of the store's clock, None means never. `order`
    names the arguments as the function has them, and what is inside them by paths such as
    `order.price`; `form` the fields of the payload as they were declared. `nonce` is on the card's
    buttons. `payload` has the question's initial values, and once approved the agreed ones.
    `hidden` are the channels whose card does not show what it is about. `notice` is the post of the
    line in the requester's thread. `why` narrows a status: `withdrawn`, `superseded`, `nobody`.

    `reminded` and `escalated` count the `reminders` and `escalations` that were made. `run_for` is
    how long an approved call may wait for its start, in milliseconds. `defaults` are arguments that
    the model left out, and paths in others, `secrets` those that no card shows, `changes` what is
    different since people were asked about the same call before. `unknown`: its body was
    interrupted, and people are asked whether it happened. `begun`: its body was let run once before
    this was asked. `heirs` are the default approvers who were asked because too few of the others
    were left, for the rules in `passed_on`, which are as they were before. `tried` is the last
    attempt that did not count, so that another one at the same moment is another change. `unsaved`:
    the store might lose this when it was asked. `lasting`: what it starts goes on when the call
    itself is done.
    """

    id: str
    session: str
    call_id: str
    agent: str
    tool: str
    requester: str
    behind: tuple[str, ...] = ()
    run: str = ""
    turn: str = ""
    hint: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    order: tuple[str, ...] = ()
    precondition: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    defaults: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    unknown: bool = False
    begun: bool = False
    heirs: tuple[str, ...] = ()
    passed_on: tuple[tuple[Quota, ...], ...] = ()
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
    lasting: bool = False

    @property
    def askers(self) -> frozenset[str]:
        """Everybody who wants the call, and so is no second pair of eyes."""
        return frozenset((self.requester, *self.behind))

    @property
    def reference(self) -> str:
        """A short name for people to type; approvals of different sessions have different ones."""
        return short_name(self.session, self.id)

    @property
    def version(self) -> int:
        """The number of the event that asks, which tells what came first where clocks may not."""
        version = self.id.partition("-")[0]
        return int(version) if version.isdecimal() else 0

    @property
    def batch(self) -> str:
        """The number of the event that made the call: calls of one reply of the model share it."""
        return self.call_id.rpartition("-")[0]

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


class Again(NamedTuple):
    """Whether people were asked about a call once more, and by which newest request."""

    newest: Approval | None


def asked_again(approval: Approval, among: Iterable[Approval]) -> Again:
    """Whether people were asked anew about the call of an approval, by those of its session."""
    since = (each for each in among if each.call_id == approval.call_id)
    later = [each for each in since if each.version > approval.version]
    return Again(max(later, key=lambda each: each.version, default=None))


def short_name(session: object, approval: str) -> str:
    """What people type for the approval with that id in a session."""
    return hashlib.sha256(f"{session}|{approval}".encode()).hexdigest()[:8]


def opened(
    request_id: str,
    question: Question,
    *,
    session: str,
    requester: str,
    behind: tuple[str, ...] = (),
    policy: Policy,
    nonce: str,
    now: int,
    deadline: int | None,
    run_for: int | None = None,
    run: str = "",
    turn: str = "",
) -> Approval:
    """The approval that a question opens."""
    return Approval(
        id=request_id,
        session=session,
        requester=requester,
        behind=behind,
        policy=policy,
        nonce=nonce,
        asked_at=now,
        deadline=deadline,
        payload=question.initial if question.payload_schema is not None else None,
        run_for=run_for,
        run=run,
        turn=turn,
        order=tuple(_ordered(question.args)),
        **question.model_dump(include={*Approval.model_fields}),
    )


def _ordered(args: Mapping[str, JsonValue]) -> Iterator[str]:
    """The names of arguments, then the paths inside them, as many as there is room for."""
    room = ORDER_LIMIT
    named = dict.fromkeys((*args, *_paths(dict(args))))
    for path in itertools.islice(named, MOST_NAMES):
        if (room := room - len(path)) < 0:
            return
        yield path


def _paths(value: JsonValue, path: str = "") -> Iterator[str]:
    """The paths inside a value, in order; all items of a list share one."""
    for each in value if isinstance(value, list) else ():
        yield from _paths(each, path)
    for name, each in value.items() if isinstance(value, dict) else ():
        yield (where := f"{path}.{name}" if path else name)
        yield from _paths(each, where)


def left_open(approval: Approval) -> bool:
    """Whether an approved call was started without anybody being able to say what came of it.

    Whatever closes a question before it is approved says why.
    """
    return approval.status == "cancelled" and not approval.why


def agreed(approval: Approval, payload: dict[str, JsonValue] | None) -> tuple[str, ...]:
    """The people whose newest vote approves with exactly this payload, in order of their votes."""
    return tuple(vote.person for vote in in_favour(approval.votes, payload))


def leading(approval: Approval) -> tuple[Vote, ...]:
    """The largest group of votes that approve with the same values."""
    return enough(approval) or max(_alike(approval), key=len, default=())


def enough(approval: Approval) -> tuple[Vote, ...]:
    """Equal approvals that suffice by now, since the rules were widened after them; else none.

    They were given where more had to agree, so they decide only once one of them is given again.
    """
    found = (votes for votes in _alike(approval) if reached(approval.policy, votes))
    return next(found, ()) if approval.status == "pending" else ()


def _alike(approval: Approval) -> list[tuple[Vote, ...]]:
    """The votes that approve, together with those of the same values."""
    found: dict[str, list[Vote]] = {}
    for vote in approving(approval.votes):
        found.setdefault(spelled(vote.payload), []).append(vote)
    return [tuple(votes) for votes in found.values()]


def differ(approval: Approval) -> bool:
    """Whether people approved with different values, which are counted apart."""
    agreed = [vote.payload for vote in approving(approval.votes)]
    return not all(same(payload, agreed[0]) for payload in agreed)


def voted(approval: Approval) -> frozenset[str]:
    """Who has said what there is to say; who approved apart from others has to agree with them.

    Approvals that are `enough` by now wait for one of them to be given again.
    """
    again = differ(approval) or enough(approval)
    said = () if again else (vote.person for vote in approving(approval.votes))
    return frozenset((*said, *against(approval)))


def uncounted(approval: Approval) -> tuple[str, ...]:
    """Those who approved and are known to have lost the right to, in order of their votes."""
    votes = newest(approval.votes).values()
    return tuple(vote.person for vote in votes if vote.confirmed and not vote.counts)


def tally(approval: Approval, payload: dict[str, JsonValue] | None) -> str:
    """How many approve with exactly this payload, of how many at the least, such as `1 of 2`."""
    votes = in_favour(approval.votes, payload)
    return f"{len(votes)} of {total(approval.policy, votes)}"


def against(approval: Approval) -> tuple[str, ...]:
    """The people whose newest vote rejects, in order of their votes."""
    return tuple(vote.person for vote in newest(approval.votes).values() if not vote.confirmed)


def late(approval: Approval, *, now: int) -> bool:
    """Whether the time to decide is up."""
    return approval.deadline is not None and now >= approval.deadline


def repeats(newer: Approval, older: Approval) -> bool:
    """Whether `newer` asked for the same call again, in a later turn.

    Whether an interrupted call happened is another question: no newer one answers it.
    """
    return (
        bool(older.digest)
        and newer.digest == older.digest
        and not older.unknown
        and newer.version > older.version
        and newer.batch != older.batch
    )
