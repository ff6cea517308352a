"""What people write: routed, and put into their session's inbox before Slack hears 200.

Slack may bring an answer in a thread before the mention that began the thread. So what is said in
an unknown thread is set aside for as long as a mention may still come, and then follows it.

While the store is nearly full, what would begin a conversation is not taken: Slack brings it again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from agents import Agent, Entry, SessionKey, Slot, StoreUnavailable
from bot import logs
from bot.policies import Route
from bot.routing import GUIDE, Message, route
from bot.slack import events
from bot.slack.events import Joined
from bot.slack.payloads import Ignored
from bot.turns import Command


class Doorbell(Protocol):
    """The part of the index that messages need."""

    def ring(self, key: SessionKey) -> Sequence[Command]:
        """The commands that make a session due now."""
        ...

    def spoken(self, channel: str, agent: str) -> Sequence[Command]:
        """The commands that remember which agent answers in a DM."""
        ...

    async def last_agent(self, channel: str) -> str | None:
        """The agent that answered last in a DM."""
        ...

    async def set_aside(self, key: SessionKey, said: str, *, ts: str) -> None:
        """Keep for a while what was said in a thread that no session is known of."""
        ...

    async def said_after(self, key: SessionKey, ts: str) -> list[str]:
        """What was set aside for a session and said after a moment, oldest first."""
        ...


class Messages:
    """Puts events into inboxes; the same post is put there once, however often it comes."""

    def __init__(
        self,
        *,
        slot: Slot,
        doorbell: Doorbell,
        routes: Mapping[str, Route],
        agents: Sequence[Agent],
        team: str,
        bot_user: str,
        is_full: Callable[[], bool],
    ) -> None:
        """Keep the parts; `routes` are resolved, `team` and `bot_user` are ours.

        While the store `is_full`, only sessions that are there get messages.
        """
        self._slot = slot
        self._doorbell = doorbell
        self._routes = routes
        self._agents = agents
        self._team = team
        self._bot_user = bot_user
        self._is_full = is_full

    async def take(self, body: Mapping[str, Any]) -> None:
        """Store what an event means. Raises StoreUnavailable; then Slack should try again."""
        match events.event(body, team=self._team, bot_user=self._bot_user):
            case Ignored():
                return
            case Joined() as joined:
                greeting = events.greeting(joined, agent=GUIDE)
                await self._ingest(greeting.session, greeting.entry())
            case Message() as message:
                await self._take(message)

    async def _take(self, message: Message) -> None:
        last = await self._doorbell.last_agent(message.channel) if message.direct else None
        choice = route(message, routes=self._routes, agents=self._agents, last=last)
        if choice is None:
            return
        spoken = self._doorbell.spoken(message.channel, choice.agent) if message.direct else ()
        turn = events.turn(message, choice)
        key, entry = turn.session, turn.entry()
        if choice.only_existing:
            await self._follow(key, entry, ts=message.ts)
            return
        await self._ingest(key, entry, spoken=spoken)
        if message.mention:
            for said in await self._doorbell.said_after(key, message.ts):
                await self._ingest(key, _entry(said))

    async def _follow(self, key: SessionKey, entry: Entry, *, ts: str) -> None:
        """Store an answer in a thread of ours; one in nobody's thread yet waits for a mention."""
        if await self._ingest(key, entry, only_existing=True) == "missing":
            await self._doorbell.set_aside(key, json.dumps([entry.id, entry.body]), ts=ts)
            # The mention may have been stored between the two: then it found nothing set aside.
            await self._ingest(key, entry, only_existing=True)

    async def _ingest(
        self,
        key: SessionKey,
        entry: Entry,
        *,
        only_existing: bool = False,
        spoken: Sequence[Command] = (),
    ) -> Literal["queued", "duplicate", "missing"]:
        is_full = self._is_full()
        taken = await self._slot.ingest(
            key,
            entry,
            only_existing=only_existing or is_full,
            index=(*self._doorbell.ring(key), *spoken),
        )
        if is_full and taken == "missing" and not only_existing:
            raise StoreUnavailable("the store is nearly full, so no conversation begins")
        if taken != "missing":
            event = "turn.ingested" if taken == "queued" else "turn.duplicate"
            logs.info(event, turn=entry.id, session=str(key))
        return taken


def _entry(said: str) -> Entry:
    """The entry that was set aside."""
    entry_id, body = json.loads(said)
    return Entry(id=entry_id, body=body)
