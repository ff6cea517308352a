"""The client of Gemini: the only place that makes a genai.Client.

Tools are sent as declarations only and no function is called by the client. google-genai speaks
`/v1` unless told otherwise; some servers only know `/v1beta`, so the version is a setting. It would
try some faults again by itself after a random pause of seconds; it is told not to, for how often
and how long is a matter of the turn. What grows with a conversation goes in by `extra_body`, which
takes the place of the contents handed in.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, cast

from google import genai
from google.genai import types
from pydantic import ValidationError

from agents.runtime.errors import ModelUnavailable, UsageError
from agents.runtime.gemini import replies, wire
from agents.runtime.gemini.refusals import RAISED, refusal
from agents.runtime.model import LlmRequest, LlmResponse
from agents.runtime.parts import content, text_part

log = logging.getLogger(__name__)

BODY = "the body has the contents"
"""Stands for the contents, which google-genai insists on and `extra_body` replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiOptions:
    """How Gemini is reached; `timeout` is in seconds, per request.

    Without a key google-genai looks for one in its own environment variables; with `vertexai` it
    uses the machine's credentials, `project` and `location`, or the key alone. `fallbacks` are
    models that are asked, in this order, when one does not answer.
    """

    api_key: str | None = None
    vertexai: bool = False
    project: str | None = None
    location: str | None = None
    base_url: str | None = None
    api_version: str | None = None
    timeout: float = 60.0
    fallbacks: Sequence[str] = ()


class Gemini:
    """A Model that asks Gemini, under the name in the request or else `model`.

    One client serves all agents of a process. Made and closed in the loop that uses it.
    """

    def __init__(
        self, model: str, options: GeminiOptions, *, client: genai.Client | None = None
    ) -> None:
        """Make the client, if there is none; nothing is sent yet.

        Raises UsageError when it has no key.
        """
        self._model = model
        self._options = options
        self._client = client or _client(options)

    def named(self, model: str) -> "Gemini":
        """The same client for another model; empty is its own. The one it came from closes it."""
        return Gemini(model or self._model, self._options, client=self._client)

    async def __aenter__(self) -> Self:
        """Use the client for the length of a block."""
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the client's connections."""
        await self._client.aio.aclose()

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Ask once; with `stream` texts come as they are written, then the whole reply.

        An unusable reply is asked for once more. Raises ModelUnavailable when no model answered,
        ModelError when the request or the set-up was refused.
        """
        name = request.model or self._model
        failures: list[ModelUnavailable] = []
        for model in (name, *(other for other in self._options.fallbacks if other != name)):
            try:
                async with aclosing(self._answer(model, request, stream=stream)) as answer:
                    async for response in answer:
                        yield response
            except ModelUnavailable as failure:
                log.warning("model.failed", extra={"model": model, "why": str(failure)})
                failures.append(failure)
            else:
                return
        raise min(failures, key=lambda failure: failure.retry_after or 0.0)

    async def _answer(
        self, model: str, request: LlmRequest, *, stream: bool
    ) -> AsyncGenerator[LlmResponse]:
        """What one model answers: pieces of text, then the whole, nudged if need be."""
        body, config, spent = wire.body(request), _config(request), dict[str, int]()
        for is_last in (False, True):
            chunks: list[types.GenerateContentResponse] = []
            async for chunk in self._chunks(model, config, body, stream=stream):
                chunks.append(chunk)
                if stream and (text := replies.words(chunk)):
                    yield _piece(text)
            reply = replies.whole(chunks, stream=stream)
            spent = replies.together(spent, reply.response.usage)
            if is_last or not reply.nudge:
                yield replace(reply.response, usage=spent)
                return
            body = wire.nudged(body, reply.nudge)

    async def _chunks(
        self, model: str, config: types.GenerateContentConfig, body: wire.Json, *, stream: bool
    ) -> AsyncIterator[types.GenerateContentResponse]:
        """The response, or those of a stream, as they come; faults are errors of ours."""
        models = cast(Any, self._client.aio.models)  # its types lean on PIL, which is not there
        options = types.HttpOptions(extra_body=body)
        config = config.model_copy(update={"http_options": options})
        asked: dict[str, Any] = {"model": model, "contents": BODY, "config": config}
        try:
            if not stream:
                yield await models.generate_content(**asked)
                return
            async for chunk in await models.generate_content_stream(**asked):
                yield chunk
        except ValidationError:
            yield _unreadable()
        except RAISED as error:
            raise refusal(error, model=model, now=datetime.now(UTC)) from error


def _client(options: GeminiOptions) -> genai.Client:
    http_options = types.HttpOptions(
        base_url=options.base_url,
        api_version=options.api_version,
        timeout=int(options.timeout * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    try:
        return genai.Client(
            api_key=options.api_key or None,
            vertexai=options.vertexai,
            project=options.project,
            location=options.location,
            http_options=http_options,
        )
    except ValueError as error:
        needed = "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or GEMINI_API_KEY"
        if not options.vertexai:
            needed = "GEMINI_API_KEY"
        raise UsageError(f"Gemini cannot be reached without {needed}") from error


def _config(request: LlmRequest) -> types.GenerateContentConfig:
    """What does not grow with a conversation; a schema only where nothing can be called."""
    base = request.config
    schema = dict(request.response_schema) if request.response_schema else None
    written = schema if not request.tools else None
    return base.model_copy(
        update={
            "system_instruction": None,
            "tools": None,
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            "response_json_schema": written,
            "response_mime_type": "application/json" if written else base.response_mime_type,
        }
    )


def _piece(text: str) -> LlmResponse:
    return LlmResponse(content=content("model", [text_part(text)]), partial=True)


def _unreadable() -> types.GenerateContentResponse:
    """What stands for a reply that cannot be read, such as arguments that are not an object."""
    malformed = types.Candidate(finish_reason=types.FinishReason.MALFORMED_RESPONSE)
    return types.GenerateContentResponse(candidates=[malformed])
