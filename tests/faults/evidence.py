"""What is left after a run: what people did, and what store, ledger and Slack say afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.runtime.slot.port import View


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
    """A click that Slack delivered; `ok` when it was answered 200, `note` what the person read."""

    session: str
    approval: str
    who: str
    act: str
    ok: bool
    note: str = ""


@dataclass(frozen=True)
class Shown:
    """A message of the bot as it stands in Slack; `post` is the id in its metadata."""

    channel: str
    thread: str
    ts: str
    post: str
    buttons: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Evidence:
    """Everything the judge needs; `restless` says what did not come to rest."""

    sent: Sequence[Sent] = ()
    clicks: Sequence[Clicked] = ()
    sessions: Mapping[str, View] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    ready: Sequence[str] = ()
    due: Sequence[str] = ()
    acts: Sequence[Mapping[str, Any]] = ()
    shown: Sequence[Shown] = ()
    immortal: Sequence[str] = ()
    restless: str = ""
    drained: Sequence[float] = ()
