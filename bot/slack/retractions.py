"""What becomes of requests when the author deletes or edits the message that began them."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from agents import Decide, SessionKey, Slot
from bot.approvals import posts
from bot.approvals.records import amended, readable
from bot.approvals.request import Approval
from bot.approvals.withdrawal import withdraw
from bot.slack import events
from bot.slack.events import Retracted
from bot.turns import Command, Ring, Thread, session_key


class Retractions:
    """Withdraws what a deleted message asked for; tells those who are asked of an edited one.

    That a message is deleted is noted first: what its turn has yet to ask is withdrawn when it is
    asked (see the secretary). Where there is a session in its conversation that is remembered for
    longer: people delete much that was never said to us. `ring` makes a session due, `agents` are
    the names of all, `team` is ours.
    """

    def __init__(
        self,
        slot: Slot,
        *,
        deleted: Callable[[str], Awaitable[None]],
        gone: Callable[[Collection[str]], Awaitable[Collection[str]]],
        ring: Ring,
        agents: Sequence[str],
        team: str,
    ) -> None:
        """Look into `slot`; `deleted` notes a turn whose message is gone, for all processes.

        `gone` has the notes of turns remembered for longer.
        """
        self._slot = slot
        self._deleted = deleted
        self._gone = gone
        self._ring = ring
        self._agents = agents
        self._team = team

    async def take(self, body: Mapping[str, Any]) -> None:
        """Do what an event means. Raises StoreUnavailable; then Slack should try again."""
        found = events.retracted(body, team=self._team)
        if found is None:
            return
        if found.deleted:
            await self._deleted(found.turn)
        for agent in self._agents:
            for ts in dict.fromkeys((found.thread, "")):
                key = session_key(team=self._team, agent=agent, thread=Thread(found.channel, ts))
                there = await self._within(key, found)
                if there and found.deleted and (ts or found.channel.startswith("D")):
                    await self._gone([found.turn])

    async def _within(self, key: SessionKey, found: Retracted) -> bool:
        """Do what it means in a session; whether there is one."""
        view = await self._slot.read(key, parts=("approvals",), only=(), pending=True)
        if view is None:
            return False
        asked = [a for a in readable(view.approvals).values() if a.requester == found.author]
        for approval in asked:
            if approval.unknown or not await self._began(key, approval, found.turn):
                continue
            if found.deleted:
                await withdraw(self._slot, key, approval, index=self._ring(key))
            else:
                told = partial(_told, at=found.at, index=self._ring(key))
                await amended(self._slot, approval, told)
        return True

    async def _began(self, key: SessionKey, approval: Approval, turn: str) -> bool:
        """Whether a turn's message began the run that asks; only if need be all events are read."""
        if approval.turn:
            return approval.turn == turn
        view = await self._slot.read(key, parts=("events",))
        events = view.events if view else ()
        return any(each.entry == turn and each.invocation_id == approval.run for each in events)


def _told(approval: Approval, *, at: str, index: Sequence[Command]) -> Decide:
    """The line under each card, once for each moment `at`: a post of that name is owed once."""
    noted = approval.model_copy(update={"rev": approval.rev + 1})
    return Decide(record=noted.record(), posts=posts.edited(approval, at=at), index=index)
