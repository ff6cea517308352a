"""What people write: routed, and put into their session's inbox before Slack hears 200."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agents import Agent, SessionKey, Slot
from bot import logs
from bot.approvals.request import Command
from bot.policies import Route
from bot.routing import GUIDE, Message, route
from bot.slack import payloads
from bot.slack.payloads import Ignored, Joined
from bot.turns import Turn


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
    ) -> None:
        """Keep the parts; `routes` are resolved, `team` and `bot_user` are ours."""
        self._slot = slot
        self._doorbell = doorbell
        self._routes = routes
        self._agents = agents
        self._team = team
        self._bot_user = bot_user

    async def take(self, body: Mapping[str, Any]) -> None:
        """Store what an event means. Raises StoreUnavailable; then Slack should try again."""
        match payloads.event(body, team=self._team, bot_user=self._bot_user):
            case Ignored():
                return
            case Joined() as joined:
                await self._ingest(payloads.greeting(joined, agent=GUIDE))
            case Message() as message:
                await self._take(message)

    async def _take(self, message: Message) -> None:
        last = await self._doorbell.last_agent(message.channel) if message.direct else None
        choice = route(message, routes=self._routes, agents=self._agents, last=last)
        if choice is None:
            return
        spoken = self._doorbell.spoken(message.channel, choice.agent) if message.direct else ()
        turn = payloads.turn(message, choice)
        await self._ingest(turn, only_existing=choice.only_existing, spoken=spoken)

    async def _ingest(
        self, turn: Turn, *, only_existing: bool = False, spoken: Sequence[Command] = ()
    ) -> None:
        key = turn.session
        taken = await self._slot.ingest(
            key,
            turn.entry(),
            only_existing=only_existing,
            index=(*self._doorbell.ring(key), *spoken),
        )
        if taken != "missing":
            event = "turn.ingested" if taken == "queued" else "turn.duplicate"
            logs.info(event, turn=turn.id, session=str(key))
