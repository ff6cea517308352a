"""People's Homes: each shows the approvals that concern somebody, and is kept up to date."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from agents import StoreUnavailable
from bot import logs
from bot.approvals.board import Board, Inbox, Lists, concerned, groups, inbox, listed
from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.slack.blocks.lists import home_view
from bot.slack.endings import Posted
from bot.slack.groups import Groups
from bot.slack.replies import Replies
from bot.turns import Command


class Hints(Lists, Protocol):
    """The part of the index that Homes need."""

    def home_opened(self, person: str) -> Sequence[Command]:
        """The commands that remember who looked at their Home."""
        ...

    async def with_home(self, people: Sequence[str]) -> list[str]:
        """Those of the people who looked at their Home."""
        ...

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands."""
        ...


class Homes:
    """Shows each person what concerns them, at once and again when it has changed.

    Any process may change an approval and any may show it: who ever looked is a hint in the store.
    A view may be lost; the next change, or the next look, shows the truth.
    """

    def __init__(
        self,
        *,
        board: Board,
        groups: Groups,
        replies: Replies,
        hints: Hints,
        names: Sequence[str] = (),
    ) -> None:
        """Keep the parts; `names` are all that policies name."""
        self._board = board
        self._groups = groups
        self._replies = replies
        self._hints = hints
        self._names = [name for name in names if not is_person(name)]
        self._noted: dict[tuple[str, str], Approval] = {}
        self._people: set[str] = set()
        self._working: asyncio.Task[None] | None = None

    async def opened(self, person: str) -> None:
        """Show somebody who opened their Home what is in it."""
        try:
            await self._hints.send(self._hints.home_opened(person))
            await self._show(person)
        except StoreUnavailable as raised:
            logs.warning("store.unavailable", error=raised)

    def note(self, approval: Approval) -> None:
        """Note an approval that is new or has changed: those whom it concerns will see it soon."""
        self._noted[approval.session, approval.id] = approval
        self._work()

    def changed(self, person: str) -> None:
        """Note that somebody has done something: their Home will show it soon."""
        self._people.add(person)
        self._work()

    async def inbox(self, person: str) -> Inbox:
        """What one person has to do with approvals."""
        held = await self._groups.standing(person, self._names) or frozenset[str]()
        approvals, now = await self._board.of((person, *sorted(held)))
        names = await self._groups.standing(person, groups(approvals))
        return inbox(approvals, person, names=names or (), now=now)

    async def close(self) -> None:
        """Wait until what is known by now is shown."""
        if self._working:
            await asyncio.wait({self._working})

    def _work(self) -> None:
        # Not awaited: nobody waits for a view, neither an answer to Slack nor what is owed to it.
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._catch_up())

    async def _catch_up(self) -> None:
        """List what was noted and show it in people's Homes; many changes are shown as one."""
        while self._noted or self._people:
            noted, self._noted = list(self._noted.values()), {}
            people, self._people = self._people, set()
            people |= {name for each in noted for name in concerned(each) if is_person(name)}
            moved = [each for each in noted if each.votes or each.status != "pending"]
            try:
                await self._hints.send([each for one in moved for each in listed(self._hints, one)])
                for person in await self._hints.with_home(sorted(people)):
                    await self._show(person)
            except StoreUnavailable as raised:
                logs.warning("store.unavailable", error=raised)

    async def _show(self, person: str) -> None:
        result = await self._replies.publish(person, home_view(await self.inbox(person)))
        if not isinstance(result, Posted):
            logs.warning("outbox.refused", post="home", code=type(result).__name__)
