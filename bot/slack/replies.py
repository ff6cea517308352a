# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The Web API calls we make, each with one of four ends: Posted, Retry, Uncertain, Refused.

The client must not try again by itself: a post whose answer was lost may be there, and is looked
for by its metadata before it is made a second time.
"""

import asyncio
import math
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from uuid import NAMESPACE_URL, uuid5

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.blocks.rendered import Block, Rendered, shortened
from bot.turns import Spot, Thread

EVENT_TYPE = "countersign_post"
"""The metadata's event type on every message we post; its payload holds the post's id."""
PAGES = 10
PAGE = 200
SHARED_REMEMBERED = 600.0
"""Seconds until a channel is asked about again: it may be shared with somebody meanwhile."""
QUICK = 1.2
"""Seconds for a call that a click waits for: Slack waits three for our answer."""
TIMEOUT = 10.0
WAIT = 1.0
LONG_WAIT = 600.0

Audience = Literal["requester", "operator", "clicker"]
Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Posted:
    """It is there: `place` is `channel|ts`, or what the call was about where there is no ts."""

    place: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Slack did not take it; the same call may work after so many seconds."""

    after_s: float


@dataclass(frozen=True, slots=True)
class Uncertain:
    """Nobody knows whether Slack took it: look for it before trying again."""

    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Slack will not take it: its code, who has to hear it, and a sentence for them.

    `detail` is what Slack says about our blocks, for the log.
    """

    code: str
    audience: Audience
    sentence: str
    detail: str = ""

    @property
    def gone(self) -> bool:
        """Whether the message to change cannot be changed any more: say it in a new one."""
        return self.code in _GONE


Result = Posted | Retry | Uncertain | Refused

THINKING = "is thinking…"

_SHARED = ("is_ext_shared", "is_pending_ext_shared")
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})
_UNSHOWABLE = frozenset(
    {
        "msg_too_long",
        "msg_blocks_too_long",
        "invalid_blocks",
        "invalid_blocks_format",
        "too_many_attachments",
    }
)
_LATER = frozenset({"ratelimited", "rate_limited"})
_MUCH_LATER = frozenset({"team_added_to_org", "org_login_required"})
_UNCERTAIN = frozenset({"fatal_error", "internal_error", "service_unavailable", "request_timeout"})
_EXPIRED = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})
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


class Replies:
    """Everything we say to Slack, through one client that belongs to the running loop.

    `client` must have no retry handlers; `timeout` bounds each call in seconds.
    """

    def __init__(self, client: AsyncWebClient, *, timeout: float = TIMEOUT) -> None:
        self._client = client
        self._timeout = timeout
        self._shared: dict[str, tuple[float, bool]] = {}

    async def post(
        self,
        thread: Thread,
        message: Rendered,
        *,
        id: str,  # noqa: A002
        until: float = math.inf,
    ) -> Result:
        """Post a message; a thread without ts is the channel or DM itself.

        What Slack cannot show is posted once more as its text and buttons alone. From the moment
        `until` (of `time.monotonic`) on nothing is sent any more.
        """
        result = await self._post(thread, message, id=id, until=until)
        if isinstance(result, Refused) and result.code in _UNSHOWABLE:
            return await self._post(thread, shortened(message), id=id, until=until)
        return result

    async def update(self, place: str, message: Rendered, *, until: float = math.inf) -> Result:
        """Replace a message of ours at `channel|ts`; safe to repeat. `until` as for `post`."""
        result = await self._update(place, message, until=until)
        if isinstance(result, Refused) and result.code in _UNSHOWABLE:
            return await self._update(place, shortened(message), until=until)
        return result

    async def ephemeral(self, thread: Thread, *, person: str, text: str) -> Result:
        """Say something that only one person sees, where they are; `text` is mrkdwn."""
        return await self._ended(
            self._client.chat_postEphemeral(
                channel=thread.channel, user=person, text=text, thread_ts=thread.ts or None
            )
        )

    async def whisper(self, person: str, text: str) -> Result:
        """Say something to one person in their DM with us; `text` is mrkdwn."""
        opened = await self.direct(person)
        if not isinstance(opened, Posted):
            return opened
        return await self._ended(self._client.chat_postMessage(channel=opened.place, text=text))

    async def thinking(self, thread: Thread, *, over: bool = False) -> None:
        """Show under a thread that an answer is on its way; Slack takes it away with the answer.

        When it is `over`, it is taken away without one. It may be lost: nothing depends on it.
        """
        await self._ended(
            self._client.assistant_threads_setStatus(
                channel_id=thread.channel, thread_ts=thread.ts, status="" if over else THINKING
            ),
            within=QUICK,
        )

    async def respond(self, url: str, text: str) -> Result:
        """Answer an interaction through its response URL, to the clicker only."""
        try:
            async with asyncio.timeout(self._timeout):
                answer = await AsyncWebhookClient(url, retry_handlers=[]).send(
                    text=text, response_type="ephemeral", replace_original=False
                )
        except (aiohttp.ClientError, SlackClientError, TimeoutError) as error:
            return Uncertain(type(error).__name__)
        if answer.status_code == 200:
            return Posted("")
        return Refused(f"http_{answer.status_code}", "operator", "The answer came too late.")

    async def open_view(self, trigger: str, view: Block) -> Result:
        """Open a modal; a trigger lives three seconds and works once."""
        return await self._ended(
            self._client.views_open(trigger_id=trigger, view=view), within=QUICK
        )

    async def update_view(self, view_id: str, view: Block) -> Result:
        """Show something else in a modal that is open."""
        return await self._ended(
            self._client.views_update(view_id=view_id, view=view), within=QUICK
        )

    async def shared(self, channel: str) -> bool:
        """Whether people of other companies may be in a channel; also when Slack does not say."""
        if channel.startswith(("U", "W", "D")):
            return False
        known = self._shared.get(channel)
        if known and time.monotonic() - known[0] < SHARED_REMEMBERED:
            return known[1]
        read = await self._answered(self._client.conversations_info(channel=channel))
        if not isinstance(read, Mapping):
            return True
        about = cast("Answer", read.get("channel") or {})
        found = any(bool(about.get(flag)) for flag in _SHARED)
        self._shared[channel] = (time.monotonic(), found)
        return found

    async def publish(self, person: str, view: Block) -> Result:
        """Show something in a person's Home."""
        return await self._ended(self._client.views_publish(user_id=person, view=view))

    async def direct(self, person: str) -> Result:
        """The DM with a person; `place` is its channel id."""
        return await self._ended(self._client.conversations_open(users=person), key="channel.id")

    async def find(self, thread: Thread, *, id: str, since: float = 0) -> Result | None:  # noqa: A002
        """The post with that id, if it is there; None when it is not. `since` as for `copies`."""
        found = await self.copies(thread, id=id, since=since)
        if not isinstance(found, tuple):
            return found
        return Posted(found[0]) if found else None

    async def copies(
        self,
        thread: Thread,
        *,
        id: str,  # noqa: A002
        since: float = 0,
    ) -> tuple[str, ...] | Retry | Uncertain | Refused:
        """The places of all posts with that id, at least of one if there is any.

        `since` is in seconds since the epoch: nothing older is looked at.
        """
        cursor = ""
        for _ in range(PAGES):
            read = await self._answered(self._page(thread, since=since, cursor=cursor))
            if not isinstance(read, Mapping):
                return read
            messages = cast("list[Answer]", read.get("messages") or [])
            found = [str(each["ts"]) for each in messages if _post_id(each) == id]
            cursor = _text(_inside(read, "response_metadata.next_cursor"))
            if found or not cursor:
                return tuple(str(Spot(thread.channel, ts)) for ts in found)
        return ()

    async def delete(self, place: str) -> Result:
        """Take a message of ours away; safe to repeat."""
        spot = Spot.parse(place)
        return await self._ended(self._client.chat_delete(channel=spot.channel, ts=spot.ts))

    async def channels(self) -> Mapping[str, str] | Retry | Uncertain | Refused:
        """The ids of the channels we can see, by name."""
        found: dict[str, str] = {}
        cursor = ""
        while True:
            read = await self._answered(
                self._client.conversations_list(
                    types="public_channel,private_channel",
                    exclude_archived=True,
                    limit=1000,
                    cursor=cursor or None,
                )
            )
            if not isinstance(read, Mapping):
                return read
            found |= {each["name"]: each["id"] for each in read["channels"]}
            cursor = _text(_inside(read, "response_metadata.next_cursor"))
            if not cursor:
                return found

    async def user(self, person: str) -> Answer | Retry | Uncertain | Refused:
        """What Slack knows about a person: the `user` of users.info."""
        read = await self._answered(self._client.users_info(user=person), within=QUICK)
        return cast("Answer", read["user"]) if isinstance(read, Mapping) else read

    async def group(self, group: str) -> tuple[str, ...] | Retry | Uncertain | Refused:
        """The ids of the people in a user group."""
        read = await self._answered(
            self._client.usergroups_users_list(usergroup=group), within=QUICK
        )
        if not isinstance(read, Mapping):
            return read
        return tuple(map(str, cast("list[object]", read.get("users") or [])))

    async def _post(
        self,
        thread: Thread,
        message: Rendered,
        *,
        id: str,  # noqa: A002
        until: float,
    ) -> Result:
        return await self._ended(
            self._client.chat_postMessage(
                channel=thread.channel,
                thread_ts=thread.ts or None,
                text=message.text,
                blocks=message.blocks,
                metadata={"event_type": EVENT_TYPE, "event_payload": {"id": id}},
                unfurl_links=False,
                unfurl_media=False,
                client_msg_id=str(uuid5(NAMESPACE_URL, id)),
            ),
            key="ts",
            until=until,
        )

    async def _update(self, place: str, message: Rendered, *, until: float) -> Result:
        spot = Spot.parse(place)
        return await self._ended(
            self._client.chat_update(
                channel=spot.channel, ts=spot.ts, text=message.text, blocks=message.blocks
            ),
            key="ts",
            until=until,
        )

    def _page(self, thread: Thread, *, since: float, cursor: str) -> Coroutine[Any, Any, Any]:
        options: dict[str, Any] = {
            "channel": thread.channel,
            "oldest": f"{since:.6f}",
            "limit": PAGE,
            "cursor": cursor or None,
            "include_all_metadata": True,
        }
        if thread.ts:
            return self._client.conversations_replies(ts=thread.ts, **options)
        return self._client.conversations_history(**options)

    async def _ended(
        self,
        call: Coroutine[Any, Any, Any],
        *,
        key: str = "",
        within: float | None = None,
        until: float = math.inf,
    ) -> Result:
        """How a call ended; `key` names what of the answer is its place."""
        read = await self._answered(call, within=within, until=until)
        if not isinstance(read, Mapping):
            return read
        found = _text(_inside(read, key))
        channel = _text(read.get("channel"))
        return Posted(str(Spot(channel, found)) if key == "ts" else found)

    async def _answered(
        self,
        call: Coroutine[Any, Any, Any],
        *,
        within: float | None = None,
        until: float = math.inf,
    ) -> Answer | Retry | Uncertain | Refused:
        """What Slack answered, if it did what was asked."""
        answer = await answered(
            call, within=min(within or self._timeout, self._timeout), until=until
        )
        if isinstance(answer, AsyncSlackResponse):
            return cast("Answer", answer.data)
        return answer


def web_client(token: str, *, api_url: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """A client that never tries again by itself, on a session of the running loop."""
    return AsyncWebClient(token=token, base_url=api_url, session=session, retry_handlers=[])


async def answered(
    call: Coroutine[Any, Any, Any], *, within: float = TIMEOUT, until: float = math.inf
) -> AsyncSlackResponse | Retry | Uncertain | Refused:
    """What Slack answered to a call, or why it is no answer.

    `within` is in seconds. A call that is late, because this process stood still, is not made.
    """
    left = min(within, until - time.monotonic())
    if left <= 0:
        call.close()
        return Uncertain("late")
    try:
        async with asyncio.timeout(left):
            return cast(AsyncSlackResponse, await call)
    except SlackApiError as error:
        return ending(error)
    except aiohttp.ClientConnectorError:
        return Retry(WAIT)
    except (aiohttp.ClientError, SlackClientError, TimeoutError, ConnectionError) as error:
        return Uncertain(type(error).__name__)


def ending(error: SlackApiError) -> Retry | Uncertain | Refused:
    """What an error of Slack's means for the call that met it."""
    response = cast("Any", error.response)
    status = getattr(response, "status_code", 200)
    data = getattr(response, "data", response)
    code = _text(data.get("error")) if isinstance(data, Mapping) else ""
    if status == 429 or code in _LATER:
        return Retry(_seconds(getattr(response, "headers", {})))
    if code in _MUCH_LATER:
        return Retry(LONG_WAIT)
    if not code or status >= 500 or code in _UNCERTAIN:
        return Uncertain(code or f"http_{status}")
    return _refused(code, data)


def _refused(code: str, data: Answer) -> Refused:
    detail = "; ".join(map(str, _inside(data, "response_metadata.messages") or ()))
    if code in _EXPIRED or (code == "invalid_arguments" and "trigger" in detail):
        return Refused(code, "clicker", "That took too long; please click again.", detail)
    if code in _NO_PLACE:
        return Refused(code, "requester", _NO_PLACE[code], detail)
    if code.startswith("restricted_action"):
        return Refused(code, "requester", "I am not allowed to post in that channel.", detail)
    if code == "missing_scope":
        return Refused(code, "operator", f"The app lacks the scope {data.get('needed')}.", detail)
    return Refused(code, "operator", f"Slack refused: {code}.", detail)


def _seconds(headers: Mapping[str, str]) -> float:
    """What Retry-After says, or a moment."""
    told = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return max(float(told), WAIT) if told.isdecimal() else WAIT


def _post_id(message: Answer) -> str:
    if _inside(message, "metadata.event_type") != EVENT_TYPE:
        return ""
    return _text(_inside(message, "metadata.event_payload.id"))


def _inside(data: Answer, path: str) -> Any:
    value: Any = data
    for key in path.split("."):
        value = cast("Answer", value).get(key) if isinstance(value, Mapping) else None
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
