"""What is no answer of Slack's, or lacks what it was asked for: nobody knows how the call ended."""

from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.errors import SlackUnavailable
from bot.slack import workspace
from bot.slack.blocks import Rendered
from bot.slack.endings import Posted, Refused, Unanswered, Uncertain
from bot.slack.replies import EVENT_TYPE, Replies, web_client
from bot.slack.workspace import socket_address
from bot.turns import Thread

CHANNEL, HELLO = Thread("C1", "1.1"), Rendered("hello", [])
CALLS: dict[str, Callable[[Replies], Awaitable[object]]] = {
    "post": lambda replies: replies.post(CHANNEL, HELLO, id="x"),
    "update": lambda replies: replies.update("C1|1.1", HELLO),
    "find": lambda replies: replies.find(CHANNEL, id="x"),
    "copies": lambda replies: replies.copies(CHANNEL, id="x"),
    "user": lambda replies: replies.user("U1"),
    "group": lambda replies: replies.group("S1"),
    "members": lambda replies: replies.members("C1"),
    "direct": lambda replies: replies.direct("U1"),
    "whisper": lambda replies: replies.whisper("U1", "psst"),
    "shared": lambda replies: replies.shared("C1"),
    "channels": lambda replies: replies.channels(),
}
JSON = "application/json"
STRANGE = [
    pytest.param(b"<html>Log in</html>", "text/html", id="a page"),
    pytest.param(b"[]", JSON, id="a list"),
    pytest.param(b'"ok"', JSON, id="a text"),
    pytest.param(b"null", JSON, id="null"),
    pytest.param(b"1", JSON, id="a number"),
    pytest.param(b"", JSON, id="nothing"),
    pytest.param(b'{"ok":true,"ts":"1.', JSON, id="half of it"),
    pytest.param(b'{"ok":true,"ts":"\xff"}', JSON, id="no text"),
    pytest.param(b"[" * 100_000, JSON, id="without end"),
    pytest.param(b'{"ok":true}', f"{JSON}; charset=klingon", id="a charset nobody knows"),
    pytest.param(b'{"ok":true}', JSON, id="ok, and no more"),
    pytest.param(
        b'{"ok":"yes","ts":5,"channel":{"id":1},"user":[],"users":"U1","members":{},'
        b'"messages":{},"channels":"C1"}',
        JSON,
        id="things of another kind",
    ),
    pytest.param(
        b'{"ok":true,"ts":"","channel":{"id":"","is_ext_shared":null},"user":{"id":""},'
        b'"users":null,"members":null,"messages":null,"channels":null}',
        JSON,
        id="things that are empty",
    ),
    pytest.param(b'{"ok":false,"error":5}', JSON, id="an error that is no word"),
]

Slack = Callable[[bytes, str], Awaitable[Replies]]


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    """A Slack that answers every call with the same bytes; it gives what calls it."""
    said: list[tuple[bytes, str]] = []

    async def serve(_request: web.Request) -> web.Response:
        body, kind = said[0]
        return web.Response(body=body, headers={"Content-Type": kind})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:

        async def speaking(body: bytes, kind: str) -> Replies:
            said.append((body, kind))
            url = str(server.make_url("/api/"))
            return Replies(web_client("xoxb-1", api_url=url, session=session))

        yield speaking


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("body", "kind"), STRANGE)
async def test_nobody_knows_how_it_ended(slack: Slack, call: str, body: bytes, kind: str):
    """It is neither believed nor raised: whoever asked is told that nobody knows."""
    replies = await slack(body, kind)
    try:
        ending = await CALLS[call](replies)
    except Unanswered as raised:
        ending = raised.ending
    assert isinstance(ending, Uncertain)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        pytest.param(b'{"ok":false,"error":"invalid_blocks"}', "", id="no more"),
        pytest.param(
            b'{"ok":false,"error":"x","response_metadata":{"messages":5}}', "", id="a number"
        ),
        pytest.param(
            b'{"ok":false,"error":"x","response_metadata":{"messages":[1,"b"]}}',
            "1; b",
            id="a list",
        ),
        pytest.param(b'{"ok":false,"error":"x","response_metadata":[]}', "", id="no object"),
    ],
)
async def test_what_it_says_of_a_refusal(slack: Slack, body: bytes, refused: str):
    """The details are what Slack lists there; anything else is none."""
    ending = await (await slack(body, JSON)).direct("U1")
    assert isinstance(ending, Refused)
    assert ending.detail == refused


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(b'[{"name":"a","id":"C1"},5,{"name":"b"},{"id":"C2"}]', id="halves"),
        pytest.param(b'[null,{"name":"a","id":"C1"},{"name":4,"id":"C3"}]', id="other kinds"),
    ],
)
async def test_channels_of_which_it_says_too_little(slack: Slack, listed: bytes):
    """They are left out; the others are known by their names."""
    replies = await slack(b'{"ok":true,"channels":' + listed + b"}", JSON)
    assert await replies.channels() == {"a": "C1"}


async def test_messages_of_which_it_says_too_little(slack: Slack):
    """What is no message of ours, or stands nowhere, is no post that was looked for."""
    ours = b'"metadata":{"event_type":"countersign_post","event_payload":{"id":"x"}}'
    told = b'[5,null,{"ts":"1.2"},{' + ours + b'},{"ts":"1.3",' + ours + b"}]"
    replies = await slack(b'{"ok":true,"messages":' + told + b"}", JSON)
    assert await replies.find(CHANNEL, id="x") == Posted("C1|1.3")


@pytest.mark.parametrize(("body", "kind"), STRANGE)
async def test_a_start_waits_for_an_answer(slack: Slack, monkeypatch, body: bytes, kind: str):
    """Who we are, and where a websocket is opened, is asked until it is said, and then told so."""
    monkeypatch.setattr(workspace, "WAIT", 0.1)
    client = (await slack(body, kind))._client
    with pytest.raises(SlackUnavailable):
        await socket_address(client, app_token="xapp-1")
    with pytest.raises(SlackUnavailable):
        await workspace._identity(client, wait=0.1)


OURS = b'{"ts":"5.5","metadata":{"event_type":"%b","event_payload":{"id":"x"}}}'


@pytest.mark.parametrize(
    ("messages", "more", "expected"),
    [
        pytest.param(b"", b"true", Uncertain("incomplete"), id="more, and nobody knows where"),
        pytest.param(b"", b"false", None, id="no more"),
        pytest.param(OURS % EVENT_TYPE.encode(), b"true", Posted("C1|5.5"), id="it is here"),
    ],
)
async def test_a_place_of_which_there_is_more_was_not_read_to_its_end(
    slack: Slack, messages: bytes, more: bytes, expected: object
):
    """A post that was not met in a part of a thread is not said to be missing, and made again."""
    replies = await slack(b'{"ok":true,"messages":[%b],"has_more":%b}' % (messages, more), JSON)
    assert await replies.find(CHANNEL, id="x") == expected
