"""The bot's side of Slack without worker and clock: it hears, stores, decides and answers."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import aiohttp

from agents import Agent, Companions, Post, SessionKey, Slot
from agents.runtime.slot.port import Begun, Commit, View
from bot import web
from bot.approvals.request import Approval, Copy
from bot.approvals.terms import Policy
from bot.playground import LocalSlack
from bot.playground.people import APP_ID
from bot.settings import Route
from bot.slack import blocks
from bot.slack.clicks import Clicks, Ring
from bot.slack.endings import Posted
from bot.slack.listeners import Listeners
from bot.slack.messages import Messages
from bot.slack.people import People
from bot.slack.replies import Replies, web_client
from bot.slack.workspace import Identity
from bot.turns import Command, Spot, Thread, session_key, thread_of
from tests.bot.approvals.samples import waiting
from tests.bot.slack.samples import approval

AGENTS = (
    Agent(name="reimbursement", description="Pays people back."),
    Agent(name="time_off", description="Days off."),
)


@dataclass
class Doorbell:
    """Remembers in this process which agent spoke last in a DM, and what was set aside."""

    last: dict[str, str] = field(default_factory=dict[str, str])
    aside: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    told: dict[str, int] = field(default_factory=dict[str, int])

    def ring(self, key: SessionKey) -> Sequence[Command]:
        """Nobody sleeps here."""
        return (("PUBLISH", "due", str(key)),)

    def spoken(self, channel: str, agent: str) -> Sequence[Command]:
        """Remember the agent."""
        self.last[channel] = agent
        return ()

    async def last_agent(self, channel: str) -> str | None:
        """The agent that spoke last."""
        return self.last.get(channel)

    async def first(self, what: str) -> bool:
        """Whether nobody has said so to this process."""
        self.told[what] = self.told.get(what, 0) + 1
        return self.told[what] == 1

    async def set_aside(self, key: SessionKey, said: str, *, ts: str) -> None:
        """Keep it as long as this process lives."""
        self.aside.setdefault(str(key), {})[ts] = said

    async def said_after(self, key: SessionKey, ts: str) -> list[str]:
        """What was set aside, by its ts."""
        kept = self.aside.get(str(key), {})
        return [kept[at] for at in sorted(kept) if at > ts]


@dataclass
class Office:
    """A running bot and the workspace it is in."""

    slack: LocalSlack
    slot: Slot
    replies: Replies
    url: str

    @property
    def general(self) -> str:
        """The id of a channel."""
        return self.slack.workspace.channel("general").id

    def id(self, name: str) -> str:
        """A person's id."""
        return self.slack.workspace.person(name).id

    def key(self, thread: Thread, agent: str = "reimbursement") -> SessionKey:
        """The session of an agent in a thread."""
        return session_key(team=self.team, agent=agent, thread=thread)

    @property
    def team(self) -> str:
        """Our workspace."""
        return self.slack.workspace.person("ana").team_id

    async def inbox(self, thread: Thread, agent: str = "reimbursement") -> list[dict[str, Any]]:
        """What waits in a session: the oldest entry, if there is one."""
        key = self.key(thread, agent)
        if await self.slot.read(key) is None:
            return []
        begun = await self.slot.begin(key, owner="test", lease=1000)
        assert isinstance(begun, Begun)
        return [dict(begun.head.body)] if begun.head else []

    async def asked(self, **given: Any) -> tuple[Approval, dict[str, Any]]:
        """An open question of Ana's to Max and Mia, and its card in the channel."""
        said = await self.slack.mention("ana", "general", "900 dollars for a chair")
        key = self.key(Thread(self.general, said.ts))
        people = (self.id("max"), self.id("mia"))
        fields: dict[str, Any] = {
            "session": str(key),
            "requester": self.id("ana"),
            "policy": Policy(approvers=people),
            "asked_at": 1,
            "deadline": None,
            "copies": (Copy(post="card:1", channel=self.general),),
        }
        record = approval(**(fields | given))
        begun = await self.slot.begin(key, owner="test", lease=1000)
        assert isinstance(begun, Begun)
        owed = Post(id="card:1", body={"kind": "card", "approval": record.id})
        opened = Companions(approvals=[record.record()], posts=[owed])
        commit = Commit(
            id="c1",
            fence=begun.fence,
            version=begun.version,
            opened=waiting(record),
            companions=opened,
        )
        await self.slot.commit(key, commit)
        card = blocks.card(record, now=1)
        posted = await self.replies.post(thread_of(key), card, id="card:1")
        assert isinstance(posted, Posted)
        await self.slot.posted(key, {owed.id: posted.place})
        return record, self.message(posted.place)

    def message(self, place: str) -> dict[str, Any]:
        """A message as everybody sees it."""
        at = Spot.parse(place)
        thread = self.slack.workspace.channels[at.channel].message(at.ts).get("thread_ts", at.ts)
        return next(each for each in self.slack.thread(at.channel, thread) if each["ts"] == at.ts)

    async def stored(self, record: Approval) -> Approval:
        """An approval as it is stored now."""
        view = await self.slot.read(SessionKey.parse(record.session), parts=("approvals",))
        assert isinstance(view, View)
        return Approval.from_record(view.approvals[record.id])

    async def note(self, who: str, text: str) -> dict[str, Any]:
        """Wait for a private note, which nobody else sees."""
        found = await self.slack.wait_for(
            lambda: next(
                (
                    each
                    for each in self.slack.visible(who, "general")
                    if each.get("is_ephemeral") and text in each["text"]
                ),
                None,
            )
        )
        assert found is not None
        return found


@asynccontextmanager
async def open_office(
    slack: LocalSlack,
    slot: Slot,
    *,
    socket: bool = False,
    ring: Ring | None = None,
    is_full: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[Office]:
    """Open the bot's door for the workspace; `ring` makes a session due after a click.

    While the store `is_full`, no conversation begins.
    """
    async with aiohttp.ClientSession() as session:
        client = web_client(slack.bot_token, api_url=slack.api_url, session=session)
        replies = Replies(client)
        told = await client.auth_test()
        ours = {"team": told["team_id"], "user": told["user_id"], "bot": told["bot_id"]}
        identity = Identity(**ours, app=APP_ID)
        people = People(replies, team=identity.team, clock=lambda: 0)
        doorbell = Doorbell()
        routes = {slack.workspace.channel("general").id: Route(agent="reimbursement")}
        messages = Messages(
            slot=slot,
            doorbell=doorbell,
            routes=routes,
            agents=AGENTS,
            team=identity.team,
            bot_user=identity.user,
            is_full=is_full,
        )
        clicks = Clicks(
            slot=slot,
            replies=replies,
            people=people,
            ring=ring or doorbell.ring,
            team=identity.team,
            run_for=timedelta(days=1),
            first=doorbell.first,
        )
        listeners = Listeners(messages=messages, clicks=clicks, people=people, identity=identity)
        secret = "" if socket else slack.signing_secret
        app = listeners.app(client=client, signing_secret=secret)

        async def ready() -> bool:
            return True

        made = web.application(slack=None if socket else app, ready=ready)
        async with AsyncExitStack() as door:
            port = await door.enter_async_context(web.serve(made, port=0, host="127.0.0.1"))
            url = f"http://127.0.0.1:{port}"
            if socket:
                await door.enter_async_context(web.socket_mode(app, app_token=slack.app_token))
            else:
                slack.connect(f"{url}{web.EVENTS}")
            yield Office(slack, slot, replies, url)
            slack.connect(None)
            await listeners.close()
