"""Slack's Web API over HTTP, for the unmodified SDK: encodings, tokens, faults, a journal."""

import asyncio
import json
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from aiohttp import web

from bot.playground.feed import Feed
from bot.playground.grants import Refused
from bot.playground.methods import chat, conversations, directory, views
from bot.playground.methods.call import Call
from bot.playground.methods.response_url import respond
from bot.playground.sockets import Sockets
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject
from bot.slack.manifest import SCOPES

Method = Callable[[Call], JsonObject]

METHODS: Mapping[str, tuple[Method, tuple[str, ...]]] = MappingProxyType(
    {
        "auth.test": (directory.auth_test, ()),
        "assistant.threads.setStatus": (chat.set_status, ("channel_id", "thread_ts", "status")),
        "bots.info": (directory.bot_info, ()),
        "chat.delete": (chat.delete, ("channel", "ts")),
        "chat.getPermalink": (chat.get_permalink, ("channel", "message_ts")),
        "chat.postEphemeral": (chat.post_ephemeral, ("channel", "user")),
        "chat.postMessage": (chat.post_message, ("channel",)),
        "chat.update": (chat.update, ("channel", "ts")),
        "conversations.history": (conversations.history, ("channel",)),
        "conversations.info": (conversations.info, ("channel",)),
        "conversations.join": (conversations.join, ("channel",)),
        "conversations.list": (conversations.list_all, ()),
        "conversations.members": (conversations.members, ("channel",)),
        "conversations.open": (conversations.open_dm, ()),
        "conversations.replies": (conversations.replies, ("channel", "ts")),
        "reactions.add": (chat.add_reaction, ("channel", "name", "timestamp")),
        "team.info": (directory.team_info, ()),
        "usergroups.list": (directory.group_list, ()),
        "usergroups.users.list": (directory.group_members, ("usergroup",)),
        "users.info": (directory.user_info, ("user",)),
        "users.list": (directory.user_list, ()),
        "users.lookupByEmail": (directory.user_by_email, ("email",)),
        "views.open": (views.open_view, ("trigger_id", "view")),
        "views.publish": (views.publish_view, ("user_id", "view")),
        "views.push": (views.push_view, ("trigger_id", "view")),
        "views.update": (views.update_view, ("view",)),
    }
)
"""What there is: the method's name -> what runs, and what it must be given."""

FaultKind = Literal["ratelimited", "error", "html", "slow", "lost", "refused"]


@dataclass(frozen=True)
class Fault:
    """How a call goes wrong: `seconds` is Retry-After or the delay, `error` Slack's code.

    ratelimited 429; error 500; html a 503 page; slow: works, late; lost: works, but the answer
    never arrives; refused: `error` as the answer.
    """

    kind: FaultKind
    seconds: float = 1.0
    error: str = "fatal_error"


@dataclass(frozen=True)
class ApiCall:
    """One call the bot made, and what it was answered; `at` is when it came (s)."""

    at: float
    method: str
    arguments: JsonObject
    status: int
    answer: JsonObject


class WebApi:
    """The methods behind /api/, the response URLs, and the door of Socket Mode.

    `scopes` are those of the bot's token, which every answer names.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        bot_token: str,
        app_token: str,
        clock: Callable[[], float],
        feed: Feed,
        sockets: Sockets,
        after_call: Callable[[], None],
    ) -> None:
        self.calls: list[ApiCall] = []
        self.scopes: Sequence[str] = SCOPES
        self._workspace = workspace
        self._tokens = {"bot": bot_token, "app": app_token}
        self._clock = clock
        self._feed = feed
        self._sockets = sockets
        self._after_call = after_call
        self._faults: dict[str, deque[Fault]] = {}

    def routes(self) -> list[web.RouteDef]:
        """What the server must answer."""
        return [
            web.route("*", "/api/{method}", self._serve),
            web.post("/response/{token}", self._serve_response),
            web.get("/link", self._sockets.serve),
        ]

    def add_fault(self, method: str, fault: Fault, *, times: int) -> None:
        """Let the next calls of a method go wrong."""
        self._faults.setdefault(method, deque()).extend([fault] * times)

    def forget_faults(self) -> None:
        """Let no call go wrong any more."""
        self._faults.clear()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method, came = request.match_info["method"], self._clock()
        try:
            arguments, token = await _read(request)
        except ValueError:
            return web.json_response({"ok": False, "error": "invalid_json"})
        faults = self._faults.get(method)
        fault = faults.popleft() if faults else None
        if fault and fault.kind in ("ratelimited", "error", "html", "refused"):
            response, answer = _failed(fault)
        else:
            answer = self._answer(method, arguments, token, host=request.host)
            response = web.json_response(answer)
        response.headers["x-oauth-scopes"] = ",".join(self.scopes)
        self._journal(ApiCall(came, method, arguments, response.status, answer))
        if fault and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        if fault and fault.kind == "lost" and request.transport:
            request.transport.abort()
        return response

    def _answer(self, method: str, arguments: JsonObject, token: str, *, host: str) -> JsonObject:
        try:
            self._check_token(method, token)
            if method == "apps.connections.open":
                return {
                    "ok": True,
                    "url": f"ws://{host}/link?ticket={self._sockets.ticket()}",
                }
            run, required = _known(method)
            missing = [name for name in required if name not in arguments]
            if missing:
                lines = [f"[ERROR] missing required field: {name}" for name in missing]
                raise Refused("invalid_arguments", response_metadata={"messages": lines})
            return {"ok": True, **run(Call(self._workspace, arguments, self._clock()))}
        except Refused as refused:
            return {"ok": False, "error": refused.error, **refused.details}

    def _check_token(self, method: str, token: str) -> None:
        wanted = "app" if method == "apps.connections.open" else "bot"
        if not token:
            raise Refused("not_authed")
        if token not in self._tokens.values():
            raise Refused("invalid_auth")
        if token != self._tokens[wanted]:
            raise Refused("not_allowed_token_type")

    def _journal(self, call: ApiCall) -> None:
        self.calls.append(call)
        self._feed.publish({"kind": "call", "method": call.method})
        self._after_call()

    async def _serve_response(self, request: web.Request) -> web.StreamResponse:
        came = self._clock()
        arguments, _ = await _read(request)
        try:
            respond(Call(self._workspace, arguments, self._clock()), request.match_info["token"])
        except Refused as refused:
            answer = {"ok": False, "error": refused.error, **refused.details}
            status = 404 if refused.error.endswith("_url") else 400
            self._journal(ApiCall(came, "response_url", arguments, status, answer))
            return web.json_response(answer, status=status)
        self._journal(ApiCall(came, "response_url", arguments, 200, {"ok": True}))
        return web.Response(text="ok")


def _known(method: str) -> Any:
    if method not in METHODS:
        raise Refused("unknown_method", req_method=method)
    return METHODS[method]


async def _read(request: web.Request) -> tuple[JsonObject, str]:
    """The arguments from query, form and JSON together, and the token wherever it stands."""
    arguments: JsonObject = dict(request.query)
    if request.content_type == "application/json":
        body = await request.text()
        arguments |= json.loads(body) if body else {}
    else:
        arguments |= dict(await request.post())
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "basic":
        client_id, _, client_secret = b64decode(credentials).decode().partition(":")
        arguments |= {"client_id": client_id, "client_secret": client_secret}
        credentials = ""
    token = str(arguments.pop("token", "")) or credentials
    return {key: value for key, value in arguments.items() if value is not None}, token


def _failed(fault: Fault) -> tuple[web.Response, JsonObject]:
    match fault.kind:
        case "ratelimited":
            answer = {"ok": False, "error": "ratelimited"}
            headers = {"Retry-After": f"{fault.seconds:g}"}
            return web.json_response(answer, status=429, headers=headers), answer
        case "refused":
            answer = {"ok": False, "error": fault.error}
            return web.json_response(answer), answer
        case "html":
            page = "<html><body>Service unavailable</body></html>"
            return web.Response(text=page, content_type="text/html", status=503), {}
        case _:
            answer = {"ok": False, "error": "internal_error"}
            return web.json_response(answer, status=500), answer
