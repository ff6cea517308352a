"""What is left after a run: what people did, and what store, ledger and Slack say afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents import Ticket
from agents.runtime.slot.port import View

SHAKING = frozenset(
    {"crash point", "frozen", "kill", "term", "stop", "stall", "store", "cut", "delay", "hole"}
) | {"drop", "flush", "hints", "full", "failover"}
"""The faults after which a process or the store is not what it was."""


@dataclass(frozen=True)
class Sent:
    """A message: its entry's id and its session's tag.

    `posted` and `acked` are moments in one order: when it was written, and when the bot first said
    200 to it (None: never).
    """

    id: str
    session: str
    text: str
    posted: int
    acked: int | None


@dataclass(frozen=True)
class Clicked:
    """A click that Slack delivered; `ok` when it was answered 200, `reason` what was entered."""

    session: str
    approval: str
    who: str
    act: str
    ok: bool
    reason: str = ""


@dataclass(frozen=True)
class Forged:
    """A click that nobody made: what is wrong with it, and the status it was answered with."""

    kind: str
    status: int


@dataclass(frozen=True)
class Called:
    """A call of Slack's: when (s), what it was about, and the error it met.

    `about` is the post and its session, the message that was changed, or who got a note; `text` is
    what the note says.
    """

    at: float
    method: str
    about: str
    error: str
    text: str = ""


@dataclass(frozen=True)
class Shown:
    """A message of the bot as it stands in Slack.

    `post` is the id in its metadata; `about` are the approvals that its buttons are about, as
    `session|approval`.
    """

    channel: str
    thread: str
    ts: str
    post: str
    buttons: tuple[str, ...]
    text: str
    about: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Evidence:
    """Everything the judge needs; `restless` says what did not come to rest.

    `people` are the ids by name, `deleted` the messages whose deletion the bot said 200 to,
    `anchors` those of the audit by day, `left` when somebody's account was closed (milliseconds of
    the store's clock, once the bot knew). `moves` are the states of each ticket, oldest first, and
    `places` the crash points that were passed. `calls` are those of Slack, `malformed` what is
    wrong with what models were asked, `shared` is the `app:` and `user:` state by person, `died`
    when each process ended (s), and `faults` what went wrong, `stall` if the machine stood still.
    `dead` are the sessions in which operators know of a turn that was given up, `audited` those
    that had an audit before anything began; `journals` and `runs` are the steps and the invocations
    that each session still keeps something of.
    """

    sent: Sequence[Sent] = ()
    clicks: Sequence[Clicked] = ()
    forged: Sequence[Forged] = ()
    people: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    anchors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sessions: Mapping[str, View] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    due: Sequence[str] = ()
    acts: Sequence[Mapping[str, Any]] = ()
    moves: Mapping[str, Sequence[Ticket]] = field(default_factory=dict)
    shown: Sequence[Shown] = ()
    immortal: Sequence[str] = ()
    restless: str = ""
    drained: Sequence[float] = ()
    places: frozenset[str] = frozenset()
    calls: Sequence[Called] = ()
    malformed: Sequence[str] = ()
    shared: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    died: Mapping[int, float] = field(default_factory=dict)
    faults: frozenset[str] = frozenset()
    dead: Sequence[str] = ()
    audited: frozenset[str] = frozenset()
    journals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    runs: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def calm(self) -> bool:
        """Whether no process and not the store had to suffer."""
        return not self.died and not self.faults & SHAKING
