"""Gemini, on google-genai: the only place that makes a Client.

Tools are sent as declarations only and no function is called by the client. google-genai speaks
`/v1` unless told otherwise; some servers only know `/v1beta`, so the version is a setting.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

import aiohttp
import httpx
from google import genai
from google.genai import errors, types

from agents.runtime.errors import ModelError, ModelUnavailable, UsageError
from agents.runtime.model import LlmRequest, LlmResponse

DEFAULT_MODEL = "gemini-2.5-flash"
TRANSIENT = frozenset({408, 409, 425, 429, 499})
NO_ANSWER = (
    aiohttp.ClientError,
    httpx.HTTPError,
    TimeoutError,
    ConnectionError,
    json.JSONDecodeError,
    errors.UnknownApiResponseError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiOptions:
    """How Gemini is reached; `timeout` is in seconds, per request.

    Without a key google-genai looks for one in its own environment variables.
    """

    api_key: str | None = None
    base_url: str | None = None
    api_version: str | None = None
    timeout: float = 60.0


class Gemini:
    """A Model that asks Gemini. Made and closed in the loop that uses it."""

    def __init__(self, model: str, options: GeminiOptions) -> None:
        """Make the client; nothing is sent yet. Raises UsageError when it has no key."""
        self._model = model
        http_options = types.HttpOptions(
            base_url=options.base_url,
            api_version=options.api_version,
            timeout=int(options.timeout * 1000),
        )
        try:
            self._client = genai.Client(api_key=options.api_key, http_options=http_options)
        except ValueError as error:
            raise UsageError("Gemini needs an API key: set GEMINI_API_KEY") from error

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

        Raises ModelUnavailable when there was no usable answer, ModelError when the request or the
        set-up was refused.
        """
        models = cast(Any, self._client.aio.models)  # its types lean on PIL, which is not there
        asked: dict[str, Any] = {
            "model": request.model or self._model,
            "contents": list(request.contents),
            "config": _config(request),
        }
        try:
            if not stream:
                yield _whole([await models.generate_content(**asked)])
                return
            chunks: list[types.GenerateContentResponse] = []
            async for chunk in await models.generate_content_stream(**asked):
                chunks.append(chunk)
                if text := _text(chunk):
                    piece = types.Content(role="model", parts=[types.Part(text=text)])
                    yield LlmResponse(content=piece, partial=True)
            yield _whole(chunks)
        except errors.APIError as error:
            raise _refused(error) from error
        except NO_ANSWER as error:
            raise ModelUnavailable(f"Gemini did not answer: {type(error).__name__}") from error


def _config(request: LlmRequest) -> types.GenerateContentConfig:
    base = request.config or types.GenerateContentConfig()
    tools = [types.Tool(function_declarations=list(request.tools))] if request.tools else None
    schema = dict(request.response_schema) if request.response_schema else None
    return base.model_copy(
        update={
            "system_instruction": request.system_instruction or None,
            "tools": tools,
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            "response_json_schema": schema if not tools else None,
            "response_mime_type": "application/json" if schema and not tools else None,
        }
    )


def _whole(chunks: list[types.GenerateContentResponse]) -> LlmResponse:
    """The reply that one response, or the chunks of a stream, make together."""
    parts: list[types.Part] = []
    for chunk in chunks:
        for part in _parts(chunk):
            _join(parts, part)
    finish = next((reason for c in reversed(chunks) if (reason := _finish(c))), None)
    code = next((reason for c in chunks if (reason := _blocked(c))), None)
    if not parts and code is None and finish not in (None, "STOP"):
        code = finish
    return LlmResponse(
        content=types.Content(role="model", parts=parts) if parts else None,
        finish_reason=finish,
        error_code=code,
        error_message=f"Gemini gave no answer: {code}" if code else None,
        usage=_usage(chunks[-1]) if chunks else {},
    )


def _join(parts: list[types.Part], part: types.Part) -> None:
    """Add a part; a piece of text goes to the text before it, unless a signature stands between."""
    last = parts[-1] if parts else None
    both_text = last is not None and last.text is not None and part.text is not None
    if last is None or not both_text or last.thought != part.thought or last.thought_signature:
        parts.append(part)
        return
    joined = {"text": f"{last.text}{part.text}", "thought_signature": part.thought_signature}
    parts[-1] = last.model_copy(update=joined)


def _parts(response: types.GenerateContentResponse) -> list[types.Part]:
    candidate = response.candidates[0] if response.candidates else None
    content = candidate.content if candidate else None
    return list(content.parts or []) if content else []


def _text(response: types.GenerateContentResponse) -> str:
    return "".join(p.text for p in _parts(response) if p.text and not p.thought)


def _finish(response: types.GenerateContentResponse) -> str | None:
    candidate = response.candidates[0] if response.candidates else None
    return candidate.finish_reason.name if candidate and candidate.finish_reason else None


def _blocked(response: types.GenerateContentResponse) -> str | None:
    feedback = response.prompt_feedback
    return feedback.block_reason.name if feedback and feedback.block_reason else None


def _usage(response: types.GenerateContentResponse) -> dict[str, int]:
    usage = response.usage_metadata
    if usage is None:
        return {}
    counted = {
        "in": usage.prompt_token_count,
        "out": usage.candidates_token_count,
        "cached": usage.cached_content_token_count,
        "thoughts": usage.thoughts_token_count,
    }
    return {name: count for name, count in counted.items() if count is not None}


def _refused(error: errors.APIError) -> ModelError:
    code = error.code or 0
    if code in TRANSIENT or code >= 500:
        return ModelUnavailable(f"Gemini answered {code} {error.status or ''}".strip())
    return ModelError(f"Gemini refused the request: {code} {error.status or ''}".strip())
