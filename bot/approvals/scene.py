"""What new events come into: the deployment's rules and the session; and the plan they make."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents import ApprovalPolicy, Companions, Event, Question, SessionKey, Story
from bot.approvals.request import Approval
from bot.approvals.resolve import Defaults, chosen
from bot.turns import Command, Due, Thread, thread_of

USER = "user"
TALK_READ = 50
"""Events that are read to see whether people went on talking."""

STRANGE = ApprovalPolicy(approvers=("a tool that no policy is known for",))
"""Nobody has this name, so that a missing policy is no leave for the default approvers."""


class Spent(Protocol):
    """The index commands that count what a person used up; `now` is in ms."""

    def __call__(self, key: SessionKey, person: str, *, tokens: int, now: int) -> Sequence[Command]:
        """Count tokens of a session on a person's account."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How questions are put; `due` and `listed` make commands for the index of approvals.

    `policies` are by `agent.tool`; all of one tool count, the stricter each time, and nobody may
    decide about a tool that is not there; None: the default approvers decide about all. `channel`
    is for cards, None for DMs. `name` says what the person with an id is called. `unsaved`: the
    store may lose what it is given.
    """

    due: Due
    listed: Callable[[Approval], Sequence[Command]] | None = None
    spent: Spent | None = None
    policies: Mapping[str, Sequence[ApprovalPolicy]] | None = None
    defaults: Defaults = field(default_factory=Defaults)
    channel: str | None = None
    name: Callable[[str], str] = str
    unsaved: bool = False

    def declared(self, question: Question | Approval) -> tuple[ApprovalPolicy, ...]:
        """The policies for one call, as its arguments want them."""
        name = f"{question.agent}.{question.tool}"
        found = () if self.policies is None else self.policies.get(name, (STRANGE,))
        return chosen(found, question.args, everybody=self.defaults.approvers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something an operator has to fix: a policy, missing approvers, unknown names."""

    kind: Literal["no_approvers", "unknown_names", "broken_policy"]
    tool: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes with a commit, the approvals to close right after it, and what operators hear."""

    companions: Companions = field(default_factory=Companions)
    settling: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The session that new events come into.

    `story` has the new events already. `approvals` are the session's records by id; what is asked
    of them never changes, so they may be older than the story. `nonces` are taken one for each
    question, `now` is in milliseconds of the store's clock.
    """

    key: SessionKey
    story: Story
    now: int
    rules: Rules
    nonces: Iterator[str]
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])

    @property
    def thread(self) -> Thread:
        """Where the session's answers go."""
        return thread_of(self.key)


def requester(events: Iterable[Event], event: Event) -> str:
    """The person behind an event: who wrote the message its invocation began with.

    Whoever answered a question in between is not; empty when no message is known.
    """
    return beginning(events, event).user_id or ""


def beginning(events: Iterable[Event], event: Event) -> Event:
    """The message that an event's invocation began with; an empty event when none is known."""
    spoke = [
        e
        for e in events
        if e.author == USER and e.user_id and not e.branch and not e.get_function_responses()
    ]
    own = [e for e in spoke if e.invocation_id == event.invocation_id]
    return (own[:1] or spoke[-1:] or [Event()])[0]


def talked_since(approval: Approval, events: Iterable[Event]) -> bool:
    """Whether people wrote in the conversation after a question that is still open."""
    is_open = approval.status == "pending"
    return is_open and any(talks(each) and each.version > approval.version for each in events)


def talks(event: Event) -> bool:
    """Whether somebody writes in the conversation, and does not only answer a question."""
    return event.author == USER and bool(event.said) and not event.branch


def merged(plans: Iterable[Plan]) -> Plan:
    """Several plans as one."""
    parts = list(plans)
    carried = [part.companions for part in parts]
    return Plan(
        companions=Companions(
            approvals=[record for one in carried for record in one.approvals],
            settles=[settle for one in carried for settle in one.settles],
            posts=[post for one in carried for post in one.posts],
            audit=[entry for one in carried for entry in one.audit],
            notes={cid: note for one in carried for cid, note in one.notes.items()},
            index=[command for one in carried for command in one.index],
        ),
        settling=tuple(approval_id for part in parts for approval_id in part.settling),
        gaps=tuple(gap for part in parts for gap in part.gaps),
    )
