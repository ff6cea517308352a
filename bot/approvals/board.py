"""The approvals people look at: the newest ones of all sessions, sorted by whom they concern."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from agents import SessionKey, Slot
from bot.approvals.records import readable
from bot.approvals.request import Approval, late

MOST = 100
"""Approvals that are looked through."""

Recent = Callable[[int], Awaitable[Sequence[tuple[SessionKey, str]]]]
"""The newest approvals, so many at the most: session and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What one person has to do with approvals, each newest first."""

    waiting: tuple[Approval, ...] = ()
    asked: tuple[Approval, ...] = ()
    decided: tuple[Approval, ...] = ()


class Board:
    """Finds approvals across sessions; what is too old to be recent is in its own thread only."""

    def __init__(self, slot: Slot, *, recent: Recent) -> None:
        """Look into `slot` for what `recent` names."""
        self._slot = slot
        self._recent = recent

    async def approvals(self, most: int = MOST) -> tuple[list[Approval], int]:
        """The newest approvals, and the store's time in milliseconds (0 when there are none)."""
        named = await self._recent(most)
        keys = list(dict.fromkeys(key for key, _ in named))
        views = await asyncio.gather(*(self._slot.read(key, parts=("approvals",)) for key in keys))
        found = dict(zip(keys, views, strict=True))
        kept: list[Approval] = []
        for key, name in named:
            view = found[key]
            record = view.approvals.get(name) if view else None
            kept += readable({name: record} if record else {}).values()
        return kept, max((view.now for view in views if view), default=0)

    async def find(self, word: str) -> Approval | None:
        """The approval with this reference, in capitals or not."""
        approvals, _ = await self.approvals()
        wanted = word.strip().lower()
        return next((each for each in approvals if reference(each) == wanted), None)


def reference(approval: Approval) -> str:
    """A short name for people to type; approvals of different sessions have different ones."""
    return hashlib.sha256(f"{approval.session}|{approval.id}".encode()).hexdigest()[:8]


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
