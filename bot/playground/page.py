"""The page at which a person plays all the people of a local workspace, and its way to act.

It listens to this machine only: a request must name 127.0.0.1 or localhost as its host, and an act
must be JSON, which another site's page cannot send.
"""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from pydantic import BaseModel, Field, ValidationError

from agents import Agent
from bot.playground import screens
from bot.playground.behind import Behind
from bot.playground.channels import Channel
from bot.playground.grants import Refused
from bot.playground.inputs import CannotDo
from bot.playground.local_slack import LocalSlack
from bot.playground.noticed import Noticed
from bot.playground.people import BOT, Person
from bot.playground.reader import Reader
from bot.playground.unread import unread
from bot.settings import Route
from bot.slack.checks import JsonObject
from bot.turns import Thread

FOLDER = Path(__file__).parent
FILES = ("page.css", *sorted(path.name for path in FOLDER.glob("page*.js")))
HOSTS = ("127.0.0.1", "localhost")
POLICY = "default-src 'self'; img-src * data:; style-src 'self' 'unsafe-inline'"
HEARTBEAT = 15.0
"""Seconds after which a screen is looked at anew though nothing happened: a status runs out."""
TOGETHER = 0.03
"""Seconds in which changes are told as one."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Act(BaseModel):
    """What a person does: where, on which element, and what they enter."""

    who: str = Field(alias="as")
    channel: str = ""
    thread: str = ""
    text: str = ""
    ts: str = ""
    view: str = ""
    block_id: str = ""
    action_id: str = ""
    value: Any = None
    option: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a newcomer should know of a channel: who answers there, and what one may say."""

    agent: str = ""
    about: str = ""
    examples: Sequence[str] = ()


class Page:
    """The page of a local workspace, whose agents and routes it explains."""

    def __init__(
        self,
        slack: LocalSlack,
        *,
        agents: Sequence[Agent],
        routes: Mapping[str, Route],
        behind: Behind,
    ) -> None:
        """Keep the parts; everybody gets their DM with the bot."""
        self._slack = slack
        self._behind = behind
        self._closing = False
        self._read: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for person in slack.workspace.people.values():
            if person != BOT:
                slack.workspace.dm(person)
        self._rooms = {
            channel.id: asdict(room(channel, agents=agents, routes=routes))
            for channel in slack.workspace.channels.values()
        }
        self._acts: Mapping[str, Callable[[Act], Awaitable[Noticed]]] = {
            "say": self._say,
            "command": self._command,
            "enter": self._enter,
            "click": self._click,
            "submit": lambda act: slack.submit(act.who),
            "close": lambda act: slack.close(act.who),
            "home": lambda act: slack.open_home(act.who),
            "read": self._mark,
            "dismiss": self._dismiss,
        }

    def application(self) -> web.Application:
        """What serves it; streams end when the application shuts down."""
        made = web.Application(middlewares=[_only_here])
        made.router.add_get("/", _file("page.html"))
        for name in FILES:
            made.router.add_get(f"/{name}", _file(name))
        made.router.add_get("/events", self._events)
        made.router.add_get("/behind", self._facts)
        made.router.add_post("/do/{what}", self._do)
        made.on_shutdown.append(self._close)
        return made

    async def _close(self, _: web.Application) -> None:
        self._closing = True
        self._slack.feed.publish({"kind": "closing"})

    def _snapshot(self, person: Person) -> JsonObject:
        """All a person sees, in words, and what is new for everybody."""
        workspace, now = self._slack.workspace, self._slack.now
        seen = screens.snapshot(workspace, person, now=now)
        reader = Reader(workspace, person, now=now)
        home = seen["home"]
        return seen | {
            "channels": [self._channel(reader, each) for each in seen["channels"]],
            "modals": [reader.view(each) for each in seen["modals"]],
            "home": reader.view(home) if home else None,
            "unread": {each.id: self._news(each) for each in workspace.people.values()},
        }

    def _channel(self, reader: Reader, seen: JsonObject) -> JsonObject:
        channel = self._slack.workspace.channels[seen["id"]]
        told = [reader.message(each) for each in seen["messages"]]
        return seen | {"messages": told, "title": _title(channel), "where": _where(channel)}

    def _news(self, person: Person) -> JsonObject:
        workspace = self._slack.workspace
        return {
            channel: asdict(told) | {"where": _where(workspace.channels[channel])}
            for channel, told in unread(workspace, person, self._read[person.id]).items()
        }

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Facts that stay, then all a person sees, again after each change."""
        person = self._person(request.query.get("as", ""))
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        stream = web.StreamResponse(headers=headers)
        await stream.prepare(request)
        facts = {"rooms": self._rooms}
        with contextlib.suppress(ConnectionError):
            await stream.write(f"event: facts\ndata: {json.dumps(facts)}\n\n".encode())
            await self._stream(stream, person)
        return stream

    async def _stream(self, stream: web.StreamResponse, person: Person) -> None:
        told, feed = "", self._slack.feed
        while not self._closing:
            seen, now = len(feed.records), json.dumps(self._snapshot(person))
            await stream.write(f"data: {now}\n\n".encode() if now != told else b":\n\n")
            told = now
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(feed.after(seen), HEARTBEAT)
            await asyncio.sleep(TOGETHER)

    async def _facts(self, request: web.Request) -> web.Response:
        thread = Thread(request.query.get("channel", ""), request.query.get("thread", ""))
        return web.json_response({"sections": await self._behind.look(thread)})

    async def _do(self, request: web.Request) -> web.Response:
        act = self._acts.get(request.match_info["what"])
        if act is None:
            raise web.HTTPNotFound
        try:
            given = Act.model_validate_json(await request.text())
            noticed = await act(given)
        except ValidationError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        except (CannotDo, Refused) as error:
            noticed = Noticed(warning=f"{error}.")
        ts = noticed.message.get("ts", "")
        told = {"warning": noticed.warning, "errors": dict(noticed.errors), "ts": ts}
        return web.json_response(told)

    def _person(self, who: str) -> Person:
        try:
            return self._slack.workspace.person(who)
        except CannotDo as error:
            raise web.HTTPNotFound(text=str(error)) from None

    # Acts

    async def _say(self, act: Act) -> Noticed:
        return await self._slack.say(act.who, act.channel, act.text, thread_ts=act.thread or None)

    async def _command(self, act: Act) -> Noticed:
        return await self._slack.command(act.who, act.channel, act.text)

    async def _enter(self, act: Act) -> Noticed:
        shown = self._shown(act)
        block = [each for each in shown["blocks"] if each["block_id"] == act.block_id]
        return await self._slack.enter(
            act.who, shown | {"blocks": block}, {act.action_id: act.value}
        )

    async def _click(self, act: Act) -> Noticed:
        return await self._slack.click(
            act.who, self._shown(act), act.action_id, block_id=act.block_id, option=act.option
        )

    async def _mark(self, act: Act) -> Noticed:
        person, channel = self._person(act.who), self._slack.workspace.channel(act.channel)
        self._read[person.id][channel.id] = channel.last_ts / 1_000_000
        self._slack.feed.publish({"kind": "read", "user": person.id})
        return Noticed()

    async def _dismiss(self, act: Act) -> Noticed:
        channel = self._slack.workspace.channel(act.channel)
        self._slack.workspace.change_whisper(channel, act.ts, None)
        return Noticed()

    def _shown(self, act: Act) -> JsonObject:
        """The message or view on the person's screen that they act on."""
        seen = screens.snapshot(self._slack.workspace, self._person(act.who), now=self._slack.now)
        views = [each for each in (*seen["modals"], seen["home"]) if each]
        messages = [
            {**message, "channel": channel["id"]}
            for channel in seen["channels"]
            for message in channel["messages"]
            if channel["id"] == act.channel
        ]
        for each in (*views, *messages):
            if (each.get("id") == act.view) if act.view else (each.get("ts") == act.ts):
                return each
        raise CannotDo("this is not there any more")


def room(channel: Channel, *, agents: Sequence[Agent], routes: Mapping[str, Route]) -> Room:
    """What a newcomer should know of a channel."""
    found = routes.get(channel.id)
    agent = next((each for each in agents if found and each.name == found.agent), None)
    if channel.kind == "im":
        return Room(examples=[each.examples[0] for each in agents if each.examples])
    if BOT.id not in channel.members:
        return Room(about=f"{BOT.real_name} is not in this channel.")
    if agent is None and channel.kind == "group":
        return Room(about="Requests that wait for a person are put here.")
    if agent is None:
        return Room(
            about=f"Mention @{BOT.name} to hear what it can do.", examples=["What can you do?"]
        )
    return Room(agent=agent.name, about=agent.description, examples=agent.examples)


def _title(channel: Channel) -> str:
    """What a channel is called on the screen."""
    return BOT.real_name if channel.kind == "im" else channel.name


def _where(channel: Channel) -> str:
    """A channel's name in the page's address."""
    return "dm" if channel.kind == "im" else channel.name


@web.middleware
async def _only_here(request: web.Request, handler: Handler) -> web.StreamResponse:
    if request.url.host not in HOSTS:
        raise web.HTTPForbidden
    if request.method == "POST" and not _is_ours(request):
        raise web.HTTPUnsupportedMediaType
    return await handler(request)


def _is_ours(request: web.Request) -> bool:
    """Whether a page of ours sent this: no other may send JSON, or a form with our origin."""
    if request.content_type == "application/json":
        return True
    return request.headers.get("Origin") == str(request.url.origin())


def _file(name: str) -> Handler:
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": POLICY}

    async def serve(_: web.Request) -> web.FileResponse:
        return web.FileResponse(FOLDER / name, headers=headers)

    return serve
