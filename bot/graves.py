"""Turns that were given up in a session and may be tried again; pure.

A turn is told by its invocation. What comes of it is put as a new message: the words once more
while no tool was called for them, else a word to go on, since a call may have taken effect and one
that is made anew has another idempotency key.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from agents import Entry, Event

GO_ON = "Please go on."
"""What is said to a session in which something was already called, decided or answered."""
AGAIN = "retry:"
USER = "user"


@dataclass(frozen=True, slots=True)
class Grave:
    """A turn that was given up: whose, the version of the message that began it, when it was said.

    `end` is the version of the event that gave it up, `parts` are what is put once more: none when
    nobody could read the message.
    """

    message: int
    person: str | None
    said_at: float
    end: int
    parts: tuple[Mapping[str, JsonValue], ...]

    @property
    def goes_on(self) -> bool:
        """Whether the agent is told to go on, because the words would start it all over."""
        return self.parts == _GO_ON

    def entry(self) -> Entry:
        """What is put into the inbox, once for each time a turn was given up."""
        content: JsonValue = {"role": USER, "parts": [dict(part) for part in self.parts]}
        return Entry(id=f"{AGAIN}{self.end}", body={"content": content, "user_id": self.person})


_GO_ON: tuple[Mapping[str, JsonValue], ...] = ({"text": GO_ON},)


def graves(events: Sequence[Event]) -> list[Grave]:
    """The turns of a whole session that were given up and still are, oldest first.

    None when somebody wrote later and that turn was not given up: whoever meant the earlier one has
    seen that the agent answers again, and may have said it again.
    """
    found = list(_all(events))
    again = {event.entry for event in events if event.entry.startswith(AGAIN)}
    failed = {grave.message for grave in found}
    moved = max((e.version for e in events if _begins(e) and e.version not in failed), default=0)
    return [grave for grave in found if grave.end > moved and f"{AGAIN}{grave.end}" not in again]


def _all(events: Sequence[Event]) -> Iterator[Grave]:
    for end in events:
        if not end.given_up:
            continue
        turn = [
            e for e in events if e.invocation_id == end.invocation_id and e.version < end.version
        ]
        first = next((event for event in turn if event.author == USER and event.said), end)
        words = [part.model_dump(mode="json", exclude_none=True) for part in first.said]
        begun = any(event.get_function_calls() for event in turn)
        yield Grave(
            message=first.version,
            person=first.user_id,
            said_at=first.timestamp,
            end=end.version,
            parts=_GO_ON if begun else tuple(words),
        )


def _begins(event: Event) -> bool:
    """Whether a person wrote this unasked, so that it begins a turn."""
    wrote = event.author == USER and event.branch is None and bool(event.said)
    return wrote and not event.entry.startswith(AGAIN)
