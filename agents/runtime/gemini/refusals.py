"""What went wrong between us and Gemini -> an error that says whether trying again helps.

Where trying again does not help, it tells an operator what to change. Nothing that a person wrote
is quoted.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

import aiohttp
import httpx2
from google.auth.exceptions import GoogleAuthError, TransportError
from google.genai import errors

from agents.runtime.errors import ModelError, ModelUnavailable, RequestRefused

NO_ANSWER = (
    aiohttp.ClientError,
    httpx2.HTTPError,
    TimeoutError,
    ConnectionError,
    UnicodeDecodeError,
    json.JSONDecodeError,
    errors.UnknownApiResponseError,
)
"""What a client raises when no answer came, or none that can be read."""
RAISED = (errors.APIError, GoogleAuthError, *NO_ANSWER)

TRANSIENT = frozenset({408, 409, 425, 429, 499})
ADVICE: Mapping[int, str] = {
    400: "it calls the request malformed: look at the agent's tools and generate_content_config",
    401: "it does not accept the credentials: check GEMINI_API_KEY, or those for Vertex AI",
    403: "the key or account may not use it: check GEMINI_API_KEY and that its API is enabled",
    404: "it does not know the model: check MODEL, GEMINI_BASE_URL and GEMINI_API_VERSION",
}
"""What to change, by HTTP status."""
OF_REQUEST = frozenset({400, 413, 415, 422})
"""Statuses that are about one request, unless the advice is about the key or the place."""
BAD_KEY = "it does not accept the API key: set GEMINI_API_KEY to a valid one"
BAD_PLACE = "it may not be used from here or needs billing: look at the project behind the key"
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")
_QUOTED = re.compile(r"\"[^\"]*\"?|'[^']*'?|“[^”]*”?|`[^`]*`?")


def refusal(error: Exception, *, model: str, now: datetime) -> ModelError:
    """The error of ours for one that the client raised; `now` is what Retry-After counts from."""
    if isinstance(error, errors.APIError):
        return _answered(error, model=model, now=now)
    if isinstance(error, TransportError) or not isinstance(error, GoogleAuthError):
        return ModelUnavailable(f"{model} did not answer: {type(error).__name__}")
    return ModelError(f"Vertex AI was not asked: {type(error).__name__}: check the credentials")


def _answered(error: errors.APIError, *, model: str, now: datetime) -> ModelError:
    code, status = error.code or 0, error.status or ""
    if code in TRANSIENT or code >= 500 or code < 400:
        told = f"{model} answered {code} {status}".strip()
        return ModelUnavailable(told, retry_after=_wait(error, now))
    advice = usual = ADVICE.get(code, ADVICE[400])
    if any(detail.get("reason") == "API_KEY_INVALID" for detail in _details(error)):
        advice = BAD_KEY
    elif status == "FAILED_PRECONDITION":
        advice = BAD_PLACE
    said = _QUOTED.sub("…", str(error.message or "").partition("\n")[0])[:200]
    kind = RequestRefused if code in OF_REQUEST and advice == usual else ModelError
    return kind(f"{model} refused with {code} {status}: {advice} (it says: {said})")


def _wait(error: errors.APIError, now: datetime) -> float | None:
    """Seconds after which Gemini wants to be asked again, if it says so."""
    for detail in _details(error):
        match = _SECONDS.fullmatch(str(detail.get("retryDelay", "")))
        if match:
            return float(match[1])
    response = cast(Any, error.response)  # pyright: ignore[reportUnknownMemberType]
    headers: Mapping[str, str] = getattr(response, "headers", None) or {}
    return _seconds(headers.get("Retry-After", ""), now)


def _seconds(value: str, now: datetime) -> float | None:
    """A Retry-After as seconds: it is a number of them, or a date."""
    if value.isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _details(error: errors.APIError) -> Iterator[Mapping[str, Any]]:
    """The details of an error body, however little of it there is."""
    body = _object(cast(Any, error).details)
    details = _object(body.get("error", body)).get("details")
    for detail in cast("list[Any]", details) if isinstance(details, list) else ():
        yield _object(detail)


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
