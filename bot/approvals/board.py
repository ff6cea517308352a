"""The approvals people look at, by whom they concern: what is open, and the newest of the rest."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents import SessionKey, Slot
from bot.approvals.records import readable
from bot.approvals.request import Approval, late, short_name, voted
from bot.turns import Command

MOST = 100
"""Approvals looked through: of everybody's, or of one name's those that are over."""
EVERY = 10_000
"""Approvals among which one is found by its reference; no other one is read."""

Named = Sequence[tuple[SessionKey, str]]
"""Some approvals: session and id."""


class Lists(Protocol):
    """The part of the index that has approvals found."""

    def approval_listed(
        self, key: SessionKey, approval: str, at: int, *, names: Iterable[str], is_open: bool
    ) -> Sequence[Command]:
        """The commands that have an approval found, by those whom it concerns as well."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What one person has to do with approvals: those waiting by urgency, others newest first.

    `counted` are open ones that wait for others, since this person has said what they think.
    """

    waiting: tuple[Approval, ...] = ()
    counted: tuple[Approval, ...] = ()
    asked: tuple[Approval, ...] = ()
    decided: tuple[Approval, ...] = ()


class Board:
    """Finds approvals across sessions by what hints name: open ones, then the newest."""

    def __init__(
        self,
        slot: Slot,
        *,
        recent: Callable[[int], Awaitable[Named]],
        concerning: Callable[[Sequence[str], int], Awaitable[Named]],
    ) -> None:
        """Look into `slot` for those of everybody, or those that concern one of some names."""
        self._slot = slot
        self._recent = recent
        self._concerning = concerning

    async def approvals(self) -> list[Approval]:
        """Everybody's approvals, newest first."""
        approvals, _ = await self._read(await self._recent(MOST))
        return approvals

    async def of(self, names: Iterable[str]) -> tuple[list[Approval], int]:
        """The approvals of people and groups, newest first; the store's time in ms (0: none)."""
        return await self._read(await self._concerning(list(names), MOST))

    async def find(self, word: str) -> Approval | None:
        """The approval with this reference; capital letters do not matter."""
        wanted = word.strip().lower()
        named = [each for each in await self._recent(EVERY) if short_name(*each) == wanted]
        found, _ = await self._read(named)
        return found[0] if found else None

    async def _read(self, named: Named) -> tuple[list[Approval], int]:
        only: dict[SessionKey, list[str]] = {}
        for key, name in named:
            only.setdefault(key, []).append(name)
        views = await asyncio.gather(
            *(self._slot.read(k, parts=("approvals",), only=names) for k, names in only.items())
        )
        there = [view for view in views if view]
        kept = [each for view in there for each in readable(view.approvals).values()]
        kept.sort(key=_age, reverse=True)
        return kept, max((view.now for view in there), default=0)


def concerned(approval: Approval) -> frozenset[str]:
    """The people, groups and roles that find an approval among theirs, some of them later on."""
    later = (each.names + each.people for each in approval.escalations)
    voted = (vote.person for vote in approval.votes)
    asked = {*approval.askers, *approval.policy.approvers, *approval.policy.names}
    return frozenset({*asked, *voted, *(name for names in later for name in names)})


def listed(lists: Lists, approval: Approval) -> Sequence[Command]:
    """The commands that have an approval found by those whom it concerns, as it is now."""
    return lists.approval_listed(
        SessionKey.parse(approval.session),
        approval.id,
        approval.asked_at,
        names=sorted(concerned(approval)),
        is_open=approval.status == "pending",
    )


def groups(approvals: Iterable[Approval]) -> frozenset[str]:
    """Every group or role that may give a right to decide about these."""
    return frozenset(name for each in approvals for name in each.policy.groups)


def inbox(approvals: Sequence[Approval], person: str, *, names: Iterable[str], now: int) -> Inbox:
    """What a person who stands for `names` has to do with these approvals."""
    held = frozenset(names)
    opened = [each for each in approvals if each.status == "pending" and not late(each, now=now)]
    waiting = [each for each in opened if waits_for(each, person, held)]
    said = (each for each in opened if person in {vote.person for vote in each.votes})
    over = (each for each in approvals if each.status != "pending" or late(each, now=now))
    return Inbox(
        waiting=tuple(sorted(waiting, key=_urgency)),
        counted=tuple(each for each in said if each not in waiting),
        asked=tuple(each for each in opened if person in each.askers),
        decided=tuple(each for each in over if _told_of(each, person, held)),
    )


def _told_of(approval: Approval, person: str, names: frozenset[str]) -> bool:
    """Whether somebody is told of a closed one: they asked, voted, or let its time pass."""
    if person in approval.askers or person in {vote.person for vote in approval.votes}:
        return True
    return approval.status in ("pending", "expired") and approval.policy.entitles(person, names)


def _age(approval: Approval) -> tuple[int, str, int, str]:
    """The order of asking; within one moment, the order of the model's calls."""
    return approval.asked_at, approval.session, len(approval.id), approval.id


def _urgency(approval: Approval) -> tuple[bool, int, tuple[int, str, int, str]]:
    """The order of urgency: what ends first, then what has waited longest."""
    return approval.deadline is None, approval.deadline or 0, _age(approval)


def waits_for(approval: Approval, person: str, names: frozenset[str]) -> bool:
    """Whether it is for somebody who stands for `names` to decide about an open approval."""
    policy = approval.policy
    if person in approval.askers and not policy.self_approval:
        return False
    return policy.entitles(person, names) and person not in voted(approval)
