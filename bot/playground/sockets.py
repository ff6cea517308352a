"""Socket Mode: the bot calls us, and every payload waits for its acknowledgement."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import WSMsgType, web

from bot.playground.feed import Feed
from bot.playground.people import APP_ID
from bot.slack.checks import JsonObject


@dataclass(frozen=True)
class Answer:
    """What the bot's side answered: status 0 when it did not, and why in Slack's words."""

    status: int
    body: str = ""
    reason: str = ""
    may_retry: bool = True

    @property
    def ok(self) -> bool:
        """Whether Slack would count this as acknowledged."""
        return 200 <= self.status < 300


class Sockets:
    """The bot's open websockets; each payload goes to the one that came last."""

    def __init__(self, new_id: Callable[[str], str], feed: Feed) -> None:
        self._new_id = new_id
        self._feed = feed
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._waiting: dict[str, asyncio.Future[str]] = {}

    @property
    def connected(self) -> bool:
        """Whether somebody listens."""
        return bool(self._open)

    def ticket(self) -> str:
        """What the next connection must show, once."""
        ticket = self._new_id("tk")
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One websocket of the bot, from hello to close."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json(_hello(len(self._open) + 1))
        self._open.append(socket)
        self._feed.publish({"kind": "socket"})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._acknowledge(message.data)
        finally:
            self._open.remove(socket)
        return socket

    async def ask(self, envelope: JsonObject, *, patience: float) -> Answer:
        """Send an envelope and wait some seconds for its acknowledgement."""
        envelope_id = self._new_id("env-")
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = answer
        try:
            await self._open[-1].send_json({"envelope_id": envelope_id, **envelope})
            return Answer(200, await asyncio.wait_for(answer, patience))
        except TimeoutError:
            return Answer(0, reason="timeout")
        except ConnectionError:
            return Answer(0, reason="connection_failed")
        finally:
            del self._waiting[envelope_id]

    async def close(self) -> None:
        """Tell the bot to go, and hang up."""
        for socket in list(self._open):
            await socket.send_json({"type": "disconnect", "reason": "link_disabled"})
            await socket.close()

    def _acknowledge(self, text: str) -> None:
        frame: JsonObject = json.loads(text)
        answer = self._waiting.get(frame.get("envelope_id", ""))
        if answer and not answer.done():
            payload = frame.get("payload")
            answer.set_result(json.dumps(payload) if payload else "")


def _hello(connections: int) -> JsonObject:
    return {
        "type": "hello",
        "num_connections": connections,
        "debug_info": {
            "host": "local",
            "build_number": 1,
            "approximate_connection_time": 18_060,
        },
        "connection_info": {"app_id": APP_ID},
    }
