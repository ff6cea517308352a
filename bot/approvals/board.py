"""The approvals people look at: the newest and the most urgent ones, by whom they concern."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from agents import SessionKey, Slot
from bot.approvals.records import readable
from bot.approvals.request import Approval, late

MOST = 100
"""Approvals of each kind that are looked through."""
EVERY = 10_000
"""Approvals among which one is found by its reference, without reading any other."""

Names = Callable[[int], Awaitable[Sequence[tuple[SessionKey, str]]]]
"""Some approvals, so many at the most: session and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What one person has to do with approvals, each newest first."""

    waiting: tuple[Approval, ...] = ()
    asked: tuple[Approval, ...] = ()
    decided: tuple[Approval, ...] = ()


class Board:
    """Finds approvals across sessions: `recent` names the newest, `waiting` those due first."""

    def __init__(self, slot: Slot, *, recent: Names, waiting: Names) -> None:
        """Look into `slot` for what is named."""
        self._slot = slot
        self._recent = recent
        self._waiting = waiting

    async def approvals(self, most: int = MOST) -> tuple[list[Approval], int]:
        """The approvals there are, newest first, and the store's time in ms (0 without any)."""
        return await self._read(await self._named(most))

    async def find(self, word: str) -> Approval | None:
        """The approval with this reference, in capitals or not."""
        wanted = word.strip().lower()
        named = [each for each in await self._named(EVERY) if _short(*each) == wanted]
        found, _ = await self._read(named)
        return found[0] if found else None

    async def _named(self, most: int) -> Sequence[tuple[SessionKey, str]]:
        return list(dict.fromkeys([*await self._recent(most), *await self._waiting(most)]))

    async def _read(self, named: Sequence[tuple[SessionKey, str]]) -> tuple[list[Approval], int]:
        only: dict[SessionKey, list[str]] = {}
        for key, name in named:
            only.setdefault(key, []).append(name)
        views = await asyncio.gather(
            *(self._slot.read(k, parts=("approvals",), only=names) for k, names in only.items())
        )
        there = [view for view in views if view]
        kept = [each for view in there for each in readable(view.approvals).values()]
        kept.sort(key=lambda each: each.asked_at, reverse=True)
        return kept, max((view.now for view in there), default=0)


def reference(approval: Approval) -> str:
    """A short name for people to type; approvals of different sessions have different ones."""
    return _short(approval.session, approval.id)


def _short(session: object, name: str) -> str:
    return hashlib.sha256(f"{session}|{name}".encode()).hexdigest()[:8]


def groups(approvals: Iterable[Approval]) -> frozenset[str]:
    """Every group or role that a right to decide about these may come from."""
    return frozenset(name for each in approvals for name in each.policy.groups)


def inbox(approvals: Sequence[Approval], person: str, *, names: Iterable[str], now: int) -> Inbox:
    """What a person who stands for `names` has to do with these approvals."""
    held = frozenset(names)
    opened = [each for each in approvals if each.status == "pending" and not late(each, now=now)]
    return Inbox(
        waiting=tuple(each for each in opened if _waits_for(each, person, held)),
        asked=tuple(each for each in opened if each.requester == person),
        decided=tuple(
            each
            for each in approvals
            if each not in opened
            and (each.requester == person or person in {vote.person for vote in each.votes})
        ),
    )


def _waits_for(approval: Approval, person: str, names: frozenset[str]) -> bool:
    policy = approval.policy
    if person == approval.requester and not policy.self_approval:
        return False
    voted = any(vote.person == person for vote in approval.votes)
    return policy.entitles(person, names) and not voted
