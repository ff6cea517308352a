"""The HTTP side: what Slack posts, and whether this process is alive and ready."""

import json
from binascii import a2b_qp
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from bot import logs
from bot.errors import SettingsError
from bot.slack.workspace import socket_address

EVENTS = "/slack/events"
BODY_LIMIT = 1_000_000
"""Bytes; Slack's own bodies stay far below."""
UNSIGNED = 401
"""What Bolt answers where a signature is wrong or old."""
CHECK = "compare SLACK_SIGNING_SECRET, and look at this machine's clock"
_FORM = "application/x-www-form-urlencoded"
_UNREADABLE = (ValueError, AttributeError, TypeError, LookupError, RecursionError)
"""What reading a strange body raises; Bolt reads bodies before it checks the signature."""

Ready = Callable[[], Awaitable[bool]]


def application(*, slack: AsyncApp | None, ready: Ready) -> web.Application:
    """POST /slack/events (without `slack` 404), GET /healthz, GET /readyz (503 until `ready`)."""

    async def on_request(request: web.Request) -> web.Response:
        return await _answer(slack, request) if slack else web.Response(status=404)

    async def on_ready(_: web.Request) -> web.Response:
        told = await ready()
        return web.Response(status=200 if told else 503, text="ready" if told else "not ready")

    made = web.Application(client_max_size=BODY_LIMIT)
    made.router.add_post(EVENTS, on_request)
    made.router.add_get("/healthz", _on_health)
    made.router.add_get("/readyz", on_ready)
    return made


@asynccontextmanager
async def serve(
    made: web.Application,
    *,
    port: int,
    host: str,
) -> AsyncGenerator[int]:
    """Serve while the block runs; yields the port, which is a free one for 0.

    At the end the requests under way are answered first. Raises SettingsError where it cannot
    listen, for example because somebody else does.
    """
    runner = web.AppRunner(made, access_log=None, shutdown_timeout=10.0)
    await runner.setup()
    try:
        await _listen(runner, host, port)
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        # From Python 3.13 on asyncio puts the number before the reason: "…: [errno 98] address …".
        why = str(error.strerror or error).rpartition(": ")[2].rpartition("] ")[2]
        told = f"{host}:{port} cannot be listened on ({why})"
        raise SettingsError(f"PORT or COUNTERSIGN_HOST is wrong: {told}.") from None


@asynccontextmanager
async def socket_mode(slack: AsyncApp, *, app_token: str) -> AsyncGenerator[None]:
    """Receive over a websocket of Slack's while the block runs, without a public address.

    Raises SettingsError when Slack refuses the token, SlackUnavailable when it does not answer.
    """
    address = await socket_address(slack.client, app_token=app_token)
    connection = AsyncSocketModeHandler(slack, app_token)
    connection.client.wss_uri = address  # asked for there, a refused token would be tried for ever
    try:
        await connection.connect_async()
        yield
    finally:
        await connection.close_async()


async def _on_health(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _answer(slack: AsyncApp, request: web.Request) -> web.Response:
    raw = await request.read()
    try:
        asked = _bolt_request(raw.decode(), request)
    except _UNREADABLE:
        logs.warning("slack.request_refused", why="unreadable", bytes=len(raw))
        return web.Response(status=400, text="not what Slack sends")
    answer = await slack.async_dispatch(asked)
    if answer.status == UNSIGNED:
        logs.warning("slack.request_refused", why="signature", todo=CHECK)
    # Bytes leave together with the headers; a text, as Bolt's adapter hands it in, follows them.
    return web.Response(
        status=answer.status, body=answer.body.encode(), headers=answer.first_headers()
    )


def _bolt_request(body: str, request: web.Request) -> AsyncBoltRequest:
    """The request as Bolt takes it; raises one of _UNREADABLE if Slack cannot have sent it."""
    headers: dict[str, str | Sequence[str]] = {n: [told] for n, told in request.headers.items()}
    told = _as_json(body) if request.content_type == _FORM else body
    asked = AsyncBoltRequest(body=told, query=request.query_string, headers=headers)
    asked.raw_body = body  # what is signed
    return asked


def _as_json(form: str) -> str:
    """A form as JSON: its payload, or its fields where it has none.

    Left to Bolt, a command whose text contains the word "payload" would be an interaction.
    """
    pairs = (pair.partition("=") for pair in form.split("&"))
    fields = {_decoded(name): _decoded(value) for name, _, value in pairs}
    told = fields["payload"] if "payload" in fields else json.dumps(fields)
    if not told.startswith("{"):
        raise ValueError("a payload is a JSON object")
    return told


def _decoded(text: str) -> str:
    """A form's name or value; raises ValueError for a wrong escape."""
    # A click is a thousand escapes. Quoted-printable has the same ones behind another mark, and its
    # codec takes a twentieth of the time of urllib's loop.
    marked = text.replace("=", "%3D").replace("+", " ").replace("%", "=")
    raw = a2b_qp(marked)
    if len(marked) - len(raw) != 2 * marked.count("=") or "=\n" in marked or "=\r" in marked:
        raise ValueError("a wrong escape")
    return raw.decode()
