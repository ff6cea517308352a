"""A Gemini on this machine: generateContent and streamGenerateContent for the unmodified client.

It answers from a script of replies and faults, signs its own calls and demands the signatures
back, and refuses what Gemini refuses, with 400 in the real shape.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.agents.gemini.strict import Json, refused

KEY = "the-key"
USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 20,
    "cachedContentTokenCount": 30,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 127,
}
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A reply of the model: its parts as JSON; in a stream one chunk each, texts word by word.

    `cut_at` is the share of the bytes after which the connection is lost, `delay` seconds before
    the first one. Without `parts` the candidate has no content.
    """

    parts: Sequence[Json] | None = ()
    finish: str | None = "STOP"
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    cut_at: float = 1.0
    delay: float = 0.0
    sign: bool = True


@dataclass(frozen=True, kw_only=True)
class Raw:
    """Any bytes for an answer; `events` of a stream are wrapped as Gemini does."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    events: bool = True


@dataclass(frozen=True)
class Hangup:
    """The connection is lost before a byte is answered."""


Item = Reply | Raw | Hangup


def says(text: str, **more: Any) -> Reply:
    """A reply in words."""
    return Reply(parts=[{"text": text}], **more)


def call(name: str, call_id: str | None = None, /, **args: Any) -> Json:
    """A function call, as a part."""
    named = {"id": call_id} if call_id else {}
    return {"functionCall": {**named, "name": name, "args": args}}


def whole(body: object) -> Raw:
    """A whole response body, as JSON."""
    return Raw(body=json.dumps(body).encode())


def fault(
    status: int,
    *,
    message: str = "it is so",
    reason: str | None = None,
    details: Sequence[Json] = (),
    headers: Mapping[str, str] | None = None,
) -> Raw:
    """An error in Gemini's shape; `reason` is its status in words, if not the usual one."""
    word = reason or STATUSES.get(status, "UNKNOWN")
    error = {"code": status, "message": message, "status": word}
    body = {"error": {**error, **({"details": list(details)} if details else {})}}
    return Raw(body=json.dumps(body).encode(), status=status, headers=headers or {}, events=False)


def retry_info(delay: str) -> Json:
    """The detail that says when to ask again, such as `37s`."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


BAD_KEY = fault(
    400,
    message="API key not valid. Please pass a valid API key.",
    details=[{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
)


class GeminiServer:
    """Answers from a script: `async with GeminiServer([…]) as server: … server.url`.

    `requests` are the bodies it took, `paths` those it was asked at, `refused` what it refused;
    `asked` is set when it took the first. A request beyond the script is answered 500.
    """

    def __init__(self, script: Sequence[Item], *, models: Sequence[str] = ("gemini-test",)) -> None:
        """Answer with `script`, in order."""
        self.models = models
        self.signed: dict[bytes, Json] = {}
        self.asked = asyncio.Event()
        self.url = ""
        self.begin(script)

    def begin(self, script: Sequence[Item]) -> None:
        """Answer with this script from now on; what was asked before is forgotten."""
        self.script = list(script)
        self.requests: list[Json] = []
        self.paths: list[str] = []
        self.refused: list[str] = []

    async def __aenter__(self) -> Self:
        """Listen on a free port of this machine."""
        application = web.Application(client_max_size=2**26)
        application.router.add_post("/{path:.*}", self._asked)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self._runner.cleanup()

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        body = await request.json()
        item = self._refusal(request, body)
        if item is None:
            self.requests.append(body)
            self.asked.set()
            item = self.script.pop(0) if self.script else fault(500, message="the script is over")
        if isinstance(item, Hangup):
            _lose(request)
            return web.Response()
        stream = "streamGenerateContent" in request.path
        if isinstance(item, Reply):
            return await self._reply(request, item, stream=stream)
        content = b"data: " + item.body + b"\r\n\r\n" if stream and item.events else item.body
        kind = "text/event-stream" if stream and item.events else item.content_type
        return web.Response(
            body=content, status=item.status, headers=item.headers, content_type=kind
        )

    def _refusal(self, request: web.Request, body: Json) -> Raw | None:
        """What Gemini answers without asking a model."""
        key = request.headers.get("x-goog-api-key")
        if key != KEY and not request.headers.get("Authorization"):
            return BAD_KEY
        model = request.path.rsplit("/", 1)[-1].partition(":")[0]
        if model not in self.models:
            return fault(404, message=f"models/{model} is not found for API version v1beta")
        why = refused(body, self.signed)
        if why is None:
            return None
        self.refused.append(why)
        return fault(400, message=why)

    async def _reply(
        self, request: web.Request, reply: Reply, *, stream: bool
    ) -> web.StreamResponse:
        await asyncio.sleep(reply.delay)
        parts = self._signed(reply) if reply.parts is not None else None
        bodies = _chunks(reply, parts) if stream else [_body(reply, parts, finish=reply.finish)]
        pieces = [json.dumps(body).encode() for body in bodies]
        content = b"".join(b"data: %s\r\n\r\n" % piece for piece in pieces) if stream else pieces[0]
        kind = "text/event-stream" if stream else "application/json"
        response = web.StreamResponse(headers={"Content-Type": kind})
        if not stream:
            response.content_length = len(content)
        await response.prepare(request)
        await response.write(content[: int(len(content) * reply.cut_at)])
        if reply.cut_at < 1:
            _lose(request)
            return response
        await response.write_eof()
        return response

    def _signed(self, reply: Reply) -> list[Json]:
        """The parts with a signature at the first call, of bytes that no text encoding keeps."""
        parts = [dict(part) for part in reply.parts or ()]
        first = next((part for part in parts if "functionCall" in part), None)
        if first is not None and reply.sign:
            signature = bytes([0xFB, 0xEF, 0xFF, 0x00]) + f"signed {len(self.signed)}".encode()
            self.signed[signature] = first["functionCall"]
            first["thoughtSignature"] = b64encode(signature).decode()
        return parts


def _chunks(reply: Reply, parts: list[Json] | None) -> list[Json]:
    """The chunks of a stream: a part each, texts word by word; the last one says how it ended."""
    pieces = [piece for part in parts or () for piece in _pieces(part)]
    chunks = [_body(reply, [piece], finish=None) for piece in pieces[:-1]]
    last = pieces[-1:] if parts is not None else None
    return [*chunks, _body(reply, last, finish=reply.finish)]


def _pieces(part: Json) -> list[Json]:
    words = part.get("text", "").split(" ")
    if len(words) < 2 or "thoughtSignature" in part:
        return [part]
    return [{**part, "text": word} for word in (words[0], *(f" {word}" for word in words[1:]))]


def _body(reply: Reply, parts: list[Json] | None, *, finish: str | None) -> Json:
    candidate: Json = {"index": 0}
    if parts is not None:
        candidate["content"] = {"role": "model", "parts": parts} if parts else {"role": "model"}
    if finish:
        candidate["finishReason"] = finish
    counted = {"usageMetadata": dict(reply.usage)} if reply.usage else {}
    return {"candidates": [candidate], "modelVersion": "gemini-test", **counted}


def _lose(request: web.Request) -> None:
    """Lose the connection as a broken network does."""
    if request.transport is not None:
        request.transport.abort()
