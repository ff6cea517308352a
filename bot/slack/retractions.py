"""What becomes of requests when the author deletes or edits the message that began them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from agents import Decide, SessionKey, Slot
from bot.approvals import posts
from bot.approvals.records import readable
from bot.approvals.request import Approval
from bot.approvals.withdrawal import withdraw
from bot.slack import events
from bot.slack.events import Retracted
from bot.turns import Ring, Thread, session_key


class Retractions:
    """Withdraws what a deleted message asked for; tells those who are asked of an edited one.

    That a message is deleted is noted first: what its turn has yet to ask is withdrawn when it is
    asked (see the secretary). `ring` makes a session due, `agents` are the names of all, `team` is
    ours.
    """

    def __init__(
        self,
        slot: Slot,
        *,
        deleted: Callable[[str], Awaitable[None]],
        ring: Ring,
        agents: Sequence[str],
        team: str,
    ) -> None:
        """Look into `slot`; `deleted` notes a turn whose message is gone, for all processes."""
        self._slot = slot
        self._deleted = deleted
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
                thread = Thread(found.channel, ts)
                await self._within(session_key(team=self._team, agent=agent, thread=thread), found)

    async def _within(self, key: SessionKey, found: Retracted) -> None:
        view = await self._slot.read(key, parts=("events", "approvals"), only=(), pending=True)
        if view is None:
            return
        runs = {event.invocation_id for event in view.events if event.entry == found.turn}
        for approval in readable(view.approvals).values():
            own = approval.run in runs and approval.requester == found.author
            if approval.status != "pending" or approval.unknown or not own:
                continue
            if found.deleted:
                await withdraw(self._slot, key, approval, index=self._ring(key))
            else:
                await self._changed(key, approval, at=found.at, head=view.audit_head)

    async def _changed(self, key: SessionKey, approval: Approval, *, at: str, head: str) -> None:
        """Owe the line under each card, once; whoever was faster has changed the card as well."""
        noted = approval.model_copy(update={"rev": approval.rev + 1})
        told = posts.edited(approval, at=at)
        change = Decide(record=noted.record(), posts=told, audit_head=head, index=self._ring(key))
        await self._slot.decide(key, change)
