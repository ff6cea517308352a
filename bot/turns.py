"""What is put to a session, whoever it comes from, and where its answer goes.

A message, a person's decision and news of a ticket all become a Turn, and from there take the
same way: into the session's inbox, to the worker, to what is owed to Slack.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from agents import Entry, Record, SessionKey

THREAD_USER = "thread"

Command = tuple[str | int | float, ...]
"""A command for the index of what is due, sent together with a change of a session."""
Ring = Callable[[SessionKey], Sequence[Command]]
"""The index commands that make a session due now."""
Due = Callable[[SessionKey, str, int], Sequence[Command]]
"""The index commands that have an approval or a ticket looked at: session, its id, when (ms)."""


class Saved(Protocol):
    """Knows whether all that is stored about a session would outlive the server that has it."""

    def __call__(self, key: SessionKey, record: Record | None = None) -> Awaitable[bool]:
        """Also of an approval's `record`, whether that server has it."""
        ...


@dataclass(frozen=True, slots=True)
class Thread:
    """A place in Slack: a channel or DM id, and the ts of a thread's first message.

    `ts` is empty for a DM without a thread.
    """

    channel: str
    ts: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one message is: its channel or DM id and its own ts, stored as `channel|ts`."""

    channel: str
    ts: str

    def __str__(self) -> str:
        return f"{self.channel}|{self.ts}"

    @classmethod
    def parse(cls, place: str) -> "Spot":
        """The spot that is stored so; what is missing is empty."""
        channel, _, ts = place.partition("|")
        return cls(channel, ts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing put to a session; `id` names its delivery, and the same id twice is one turn."""

    id: str
    session: SessionKey
    author: str
    text: str = ""
    parts: tuple[Mapping[str, JsonValue], ...] = field(default=())

    def entry(self) -> Entry:
        """The inbox entry: `content` in the model's vocabulary, `user_id` its author."""
        parts: list[JsonValue] = [dict(part) for part in self.parts]
        if self.text:
            parts.insert(0, {"text": self.text})
        content: dict[str, JsonValue] = {"role": "user", "parts": parts}
        return Entry(id=self.id, body={"content": content, "user_id": self.author})


def session_key(*, team: str, agent: str, thread: Thread) -> SessionKey:
    """The session of an agent in a thread of a team's Slack."""
    session = f"{thread.channel}:{thread.ts}"
    return SessionKey(app=agent, user=THREAD_USER, id=session, tenant=team)


def thread_of(key: SessionKey) -> Thread:
    """Where a session's answers go."""
    channel, _, ts = key.id.partition(":")
    return Thread(channel, ts)
