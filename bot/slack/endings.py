# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""How a call of Slack's Web API ends: it is there, later, nobody knows, or never.

What Slack says of an error, and what happens on the way, comes down to one of four ends.
"""

import asyncio
import math
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

TIMEOUT = 10.0
WAIT = 1.0
LONG_WAIT = 600.0

LOST = (
    aiohttp.ClientError,
    SlackClientError,
    TimeoutError,
    ConnectionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors that mean that an answer got lost; the last five, that it is nothing Slack would answer:
not an object, not a text, or endless."""

Answer = Mapping[str, Any]
Asked = Mapping[str, type]
"""What an answer must contain: dotted paths, and the type of what stands there."""
NOTHING: Asked = {}


@dataclass(frozen=True, slots=True)
class Posted:
    """It is there: `place` is `channel|ts`, or what the call was about where there is no ts.

    `hides`: it does not show what it asks about.
    """

    place: str
    hides: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """Slack did not take it; the same call may work after so many seconds.

    `method` is the one that Slack limits, empty where that is not why.
    """

    after_s: float
    method: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Uncertain:
    """Nobody knows whether Slack took it: look for it before trying again."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Slack will not take it: its code, and a sentence for whoever has to hear it.

    `detail` is what Slack says about our blocks, for the log. `method` is the one that this app may
    not use, empty where that is not why.
    """

    code: str
    sentence: str
    detail: str = ""
    method: str = field(default="", compare=False)

    @property
    def gone(self) -> bool:
        """Whether the message can no longer be changed, so that a new one has to say it."""
        return self.code in _GONE

    @property
    def strange(self) -> bool:
        """Whether this release has never heard of the refusal, so that it may well pass."""
        known = self.code in _OF_APP | _OF_METHOD | _GONE | _EXPIRED | _FINAL | _NO_PLACE.keys()
        return not known and not self.code.startswith(_NEVER)

    @property
    def of_app(self) -> bool:
        """Whether nothing at all can be said until operators fix the token or the app.

        Where only a method that does not post is refused, things can still be said elsewhere.
        """
        return self.code in _OF_APP or self.method.startswith("chat.")


Result = Posted | Retry | Uncertain | Refused


class Unanswered(Exception):
    """Slack does not say now what has to be known first; `ending` is how the call ended."""

    def __init__(self, ending: Retry | Uncertain | Refused) -> None:
        super().__init__(str(ending))
        self.ending = ending


_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})
_OF_APP = frozenset(
    {
        "account_inactive",
        "accesslimited",
        "invalid_auth",
        "not_authed",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
_OF_METHOD = frozenset(
    {
        "deprecated_endpoint",
        "enterprise_is_restricted",
        "method_deprecated",
        "missing_scope",
        "not_allowed_token_type",
    }
)
_LATER = frozenset({"ratelimited", "rate_limited"})
_MUCH_LATER = frozenset({"team_added_to_org", "org_login_required"})
_UNCERTAIN = frozenset(
    {
        "external_channel_migrating",
        "fatal_error",
        "internal_error",
        "message_limit_exceeded",
        "request_timeout",
        "service_unavailable",
        "update_failed",
    }
)
_FINAL = frozenset(
    {
        "as_user_not_supported",
        "attachment_payload_limit_exceeded",
        "block_mismatch",
        "cannot_reply_to_message",
        "duplicate_channel_not_found",
        "duplicate_message_not_found",
        "invalid_arg_name",
        "invalid_arguments",
        "invalid_array_arg",
        "invalid_attachments",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_charset",
        "invalid_form_data",
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "invalid_post_type",
        "invalid_user_combination",
        "markdown_text_conflict",
        "messages_tab_disabled",
        "metadata_must_be_sent_from_app",
        "metadata_too_large",
        "method_not_supported_for_channel_type",
        "missing_post_type",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_text",
        "thread_not_found",
        "too_many_attachments",
    }
)
_EXPIRED = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})
_NEVER = ("restricted_action", "slack_connect_")
_NO_PLACE: Mapping[str, str] = {
    "channel_not_found": "I cannot see that channel; please invite me to it.",
    "not_in_channel": "I am not in that channel; please invite me to it.",
    "is_archived": "That channel is archived.",
    "user_not_found": "That person is not in this workspace.",
    "user_disabled": "That person's account is deactivated.",
    "user_not_visible": "I cannot write to that person.",
    "user_not_in_channel": "That person is not in the channel.",
    "cannot_dm_bot": "That is an app, not a person.",
}


async def answered(
    call: Coroutine[Any, Any, Any],
    *,
    asked: Asked = NOTHING,
    within: float = TIMEOUT,
    until: float = math.inf,
) -> AsyncSlackResponse | Retry | Uncertain | Refused:
    """What Slack answered to a call, or why it is no answer.

    One without what was `asked` (dotted paths, and what stands there) is none, nor is one that is
    no object, or cannot be read. `within` is in seconds. A call that is late, because this process
    stood still, is not made.
    """
    left = min(within, until - time.monotonic())
    if left <= 0:
        call.close()
        return Uncertain("late")
    try:
        async with asyncio.timeout(left):
            response = cast(AsyncSlackResponse, await call)
    except SlackApiError as error:
        return ending(error)
    except aiohttp.ClientConnectorError:
        return Retry(WAIT)
    except LOST as error:
        return Uncertain(type(error).__name__)
    data = cast("object", response.data)
    told = isinstance(data, Mapping) and all(
        _is_there(inside(cast("Answer", data), path), kind) for path, kind in asked.items()
    )
    return response if told else Uncertain("incomplete")


def ending(error: SlackApiError) -> Retry | Uncertain | Refused:
    """What an error from Slack means for the call that met it."""
    response = cast("Any", error.response)
    status = getattr(response, "status_code", 200)
    data = getattr(response, "data", response)
    code = text_of(data.get("error")) if isinstance(data, Mapping) else ""
    method = text_of(getattr(response, "api_url", "")).rpartition("/")[2]
    if status == 429 or code in _LATER:
        return Retry(_seconds(getattr(response, "headers", {})), method)
    if code in _MUCH_LATER:
        return Retry(LONG_WAIT)
    if not code or status >= 500 or code in _UNCERTAIN:
        return Uncertain(code or f"http_{status}")
    return _refused(code, data, method=method)


def _refused(code: str, data: Answer, *, method: str) -> Refused:
    messages = inside(data, "response_metadata.messages")
    detail = (
        "; ".join(map(str, cast("list[object]", messages))) if _is_there(messages, list) else ""
    )
    if code in _EXPIRED or (code == "invalid_arguments" and "trigger" in detail):
        return Refused(code, "That took too long; please click again.", detail)
    if code in _NO_PLACE:
        return Refused(code, _NO_PLACE[code], detail)
    if code.startswith("restricted_action"):
        return Refused(code, "I am not allowed to post in that channel.", detail)
    if code in _OF_METHOD:
        why = f"may not use {method}: {code}"
        if needed := text_of(data.get("needed")):
            why = f"lacks the scope {needed} for {method}"
        return Refused(code, f"The app {why}.", detail, method)
    if code in _OF_APP:
        return Refused(code, f"Slack takes nothing from this app: {code}.", detail)
    return Refused(code, f"Slack refused: {code}.", detail)


def _seconds(headers: Mapping[str, str]) -> float:
    """What Retry-After says, within bounds, or a moment."""
    told = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return min(max(float(told), WAIT), LONG_WAIT) if told.isdecimal() else WAIT


def inside(data: Answer, path: str) -> Any:
    """What stands at a dotted path; None where there is nothing."""
    value: Any = data
    for key in path.split("."):
        value = cast("Answer", value).get(key) if isinstance(value, Mapping) else None
    return value


def _is_there(value: object, kind: type) -> bool:
    """Whether a value is of a kind, and no empty text."""
    return isinstance(value, kind) and value != ""


def objects(value: object) -> list[Answer]:
    """The objects in a list; whatever else is in it is left out."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Answer", each) for each in listed if isinstance(each, Mapping)]


def text_of(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""
