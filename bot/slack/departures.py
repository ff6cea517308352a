"""Makes requests due for a look when Slack says that people may have lost the right to decide."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from agents import SessionKey
from bot.slack import events
from bot.slack.people import person_of
from bot.turns import Command

REMEMBERED = 2.0
"""Seconds for which an answer of Slack's serves whoever looks who may still decide: that is done
when no process knows an answer from before the event."""


Concerning = Callable[[Sequence[str]], Awaitable[Sequence[tuple[SessionKey, str]]]]
"""The open approvals that concern one of some names: session and id."""


class Hints(Protocol):
    """The part of the index that departures need."""

    def approval_left(self, key: SessionKey, approval: str, at: int) -> Sequence[Command]:
        """The commands that have it checked, at a moment (ms), whether enough people may decide."""
        ...

    async def now(self) -> int:
        """The store's time in milliseconds."""
        ...

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands."""
        ...


class Departures:
    """Makes requests due for a look; `roles` are names for people, user groups and other roles.

    One event costs three trips to the store, however many requests it is about, and no call of
    Slack's: who is left is looked up by the clock, once for all of them.
    """

    def __init__(
        self, hints: Hints, *, concerning: Concerning, roles: Mapping[str, Sequence[str]]
    ) -> None:
        """Keep the parts."""
        self._hints = hints
        self._concerning = concerning
        self._roles = roles

    async def take(self, body: Mapping[str, Any]) -> None:
        """Do what an event means. Raises StoreUnavailable; then Slack should try again."""
        name = departed(body)
        if not name:
            return
        found = await self._concerning(standing_for(name, self._roles))
        at = await self._hints.now() + int(REMEMBERED * 1000) if found else 0
        due = (self._hints.approval_left(key, each, at) for key, each in found)
        await self._hints.send([command for one in due for command in one])


def departed(body: Mapping[str, Any]) -> str:
    """The person who can no longer decide, or the group that changed; empty for other events."""
    if group := events.changed_group(body):
        return group
    person = events.changed_person(body)
    if not person:
        return ""
    user = cast("Mapping[str, Any]", body["event"]["user"])
    return person if person_of(user).barred else ""


def standing_for(name: str, roles: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A name and all roles that stand for it, directly or through other roles."""
    found = {name: None}
    while more := [r for r, names in roles.items() if r not in found and found.keys() & {*names}]:
        found |= dict.fromkeys(more)
    return tuple(found)
