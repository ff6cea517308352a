"""Who stands behind a name now: Slack is asked about user groups, the deployment names roles.

What Slack does not say is never guessed: whoever asks about a right then has to wait. An answer is
remembered for a minute, for rights that were taken away must not live on.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from bot.approvals.policy import Person
from bot.approvals.terms import is_group, is_person
from bot.slack.endings import Refused, Retry, Uncertain
from bot.slack.remembered import Remembered
from bot.slack.replies import Replies

REMEMBERED = 60.0
"""Seconds until a user group is asked for again."""
BARRED_REMEMBERED = 600.0
MOST = 50
"""People who are looked up before they are asked; a click looks everybody up."""
DEPTH = 8
"""How many roles may stand for each other in a row."""

_NOBODY = frozenset({"no_such_subteam", "subteam_disabled"})


class Lookup(Protocol):
    """Says who somebody is now."""

    async def person(self, id: str) -> Person | None:  # noqa: A002
        """The person with that id; None when nobody says who that is."""
        ...


class Groups:
    """Looks names up; `roles` are names for people, user groups and other roles.

    `clock` is in seconds and only measures how old an answer is; one about a group is good for
    `remembered` seconds. `now` and `barred` are what was found by the last `refresh`, for those who
    cannot wait: members by name, and people who can never decide.
    """

    def __init__(
        self,
        replies: Replies,
        people: Lookup,
        *,
        roles: Mapping[str, Sequence[str]],
        clock: Callable[[], float],
        remembered: float = REMEMBERED,
    ) -> None:
        self._replies = replies
        self._people = people
        self._roles = roles
        self._clock = clock
        self._groups = Remembered(self._group, seconds=remembered, clock=clock)
        self._channels = Remembered(self._channel, seconds=REMEMBERED, clock=clock)
        self._looked: float | None = None
        self.now: Mapping[str, Sequence[str] | None] = {}
        self.barred: frozenset[str] = frozenset()

    async def refresh(self, names: Sequence[str]) -> None:
        """Look up who stands behind these names, and now and then who of them can never decide."""
        self.now = await self.snapshot(names)
        if self._looked is not None and self._clock() - self._looked < BARRED_REMEMBERED:
            return
        behind = [p for members in self.now.values() for p in members or ()]
        people = dict.fromkeys((*filter(is_person, names), *behind))
        self.barred = await self._barred(list(people)[:MOST])
        self._looked = self._clock()

    async def members(self, name: str) -> tuple[str, ...] | None:
        """The people behind a name, each once; None when Slack does not say.

        A name that nobody knows stands for nobody.
        """
        told = await asyncio.gather(*map(self._behind, self._leaves(name)))
        found = [people for people in told if people is not None]
        if len(found) < len(told):
            return None
        return tuple(dict.fromkeys(person for people in found for person in people))

    async def standing(self, person: str, names: Iterable[str]) -> frozenset[str] | None:
        """The names that a person stands for now; None when that could not be looked up."""
        asked = tuple(names)
        told = dict(zip(asked, await asyncio.gather(*map(self.members, asked)), strict=True))
        if None in told.values():
            return None
        return frozenset(name for name, members in told.items() if person in (members or ()))

    async def voter(self, person: str, names: Iterable[str]) -> Person | None:
        """Who somebody is now, with the names they stand for; None when Slack does not say."""
        asked = tuple(names)
        if not asked:
            return await self._people.person(person)
        found, held = await asyncio.gather(
            self._people.person(person), self.standing(person, asked)
        )
        return None if found is None or held is None else replace(found, names=held)

    async def able(self, names: Iterable[str], most: int) -> Mapping[str, frozenset[str]] | None:
        """Who behind each name may decide now, at most so many for each.

        None when Slack does not say. Nobody is looked up beyond those.
        """
        found: dict[str, frozenset[str]] = {}
        for name in names:
            members = await self.members(name)
            left = None if members is None else await self._unbarred(members, most)
            if left is None:
                return None
            found[name] = left
        return found

    async def snapshot(self, names: Iterable[str]) -> Mapping[str, tuple[str, ...] | None]:
        """The members behind each name that somebody knows; None where Slack does not say."""
        known = [n for n in names if n in self._roles or is_group(n)]
        found = await asyncio.gather(*(self.members(name) for name in known))
        return dict(zip(known, found, strict=True))

    async def inside(self, channel: str) -> frozenset[str] | None:
        """Who is in a channel, as far as we may know; nobody where Slack will never say.

        None when Slack may say it in a moment.
        """
        return await self._channels.of(channel)

    async def _barred(self, people: Iterable[str]) -> frozenset[str]:
        """Those of these people who can never decide, as far as Slack says."""
        named = list(dict.fromkeys(people))
        found = await asyncio.gather(*(self._people.person(each) for each in named))
        return frozenset(p.id for p in found if p is not None and p.barred)

    async def _unbarred(self, people: Iterable[str], most: int) -> frozenset[str] | None:
        """The first of these who can decide; None when Slack does not say it of one."""
        found: set[str] = set()
        for each in people:
            if len(found) == most:
                break
            person = await self._people.person(each)
            if person is None:
                return None
            found |= set() if person.barred else {each}
        return frozenset(found)

    def forget(self, name: str) -> None:
        """Ask anew next time, since Slack said that the person or the group changed."""
        self._groups.forget(name)
        self._looked = None

    def _leaves(self, name: str, depth: int = 0) -> tuple[str, ...]:
        """The people and user groups behind a name."""
        if name not in self._roles:
            return (name,) if is_person(name) or is_group(name) else ()
        if depth == DEPTH:
            return ()
        return tuple(leaf for each in self._roles[name] for leaf in self._leaves(each, depth + 1))

    async def _behind(self, leaf: str) -> tuple[str, ...] | None:
        """A person, or the people in a user group."""
        return (leaf,) if is_person(leaf) else await self._groups.of(leaf)

    async def _group(self, group: str) -> tuple[str, ...] | None:
        told = await self._replies.group(group)
        if isinstance(told, Refused) and told.code in _NOBODY:
            return ()
        return told if isinstance(told, tuple) else None

    async def _channel(self, channel: str) -> frozenset[str] | None:
        told = await self._replies.members(channel)
        if isinstance(told, Retry | Uncertain):
            return None
        if isinstance(told, Refused) and (told.of_app or told.strange):
            return None
        return frozenset(told if isinstance(told, tuple) else ())
