# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The Web API calls we make, each with one of four ends: Posted, Retry, Uncertain, Refused.

The client must not try again by itself: a post whose answer was lost may be there, and is looked
for by its metadata before it is made a second time.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast
from uuid import NAMESPACE_URL, uuid5

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.blocks.rendered import Block, Rendered, shortened
from bot.slack.endings import (
    LOST,
    NOTHING,
    TIMEOUT,
    Answer,
    Asked,
    Posted,
    Refused,
    Result,
    Retry,
    Unanswered,
    Uncertain,
    answered,
    inside,
    objects,
    text_of,
)
from bot.turns import Spot, Thread

EVENT_TYPE = "countersign_post"
"""The metadata's event type on every message we post; its payload holds the post's id."""
CLOCKS_APART = 120.0
"""Seconds by which the clocks of the store and of Slack may differ."""
PAGES = 25
"""Pages in which a post is looked for: as many as Slack answers in half a minute."""
PAGE = 200
UNTOLD = 60.0
"""Seconds after which a channel about which Slack says nothing counts as shared."""
LULL = 600.0
"""Seconds without a look after which it is another time that Slack says nothing: no post waits so
long to be tried again."""
SHARED_REMEMBERED = 60.0
"""Seconds until a channel is asked about again: it may be shared with somebody meanwhile."""
QUICK = 1.2
"""Seconds for a call that a click waits for, since Slack waits three for our answer."""
THINKING = "is thinking…"

_SHARED = ("is_ext_shared", "is_pending_ext_shared")
_UNSHOWABLE = frozenset(
    {
        "msg_too_long",
        "msg_blocks_too_long",
        "invalid_blocks",
        "invalid_blocks_format",
        "too_many_attachments",
    }
)


@dataclass(slots=True)
class Seen:
    """What was read of a place so far: where our posts are, by their ids, and where to read on.

    Nothing older than `since` (seconds since the epoch) is read. `at` is when the last page was
    read (`time.monotonic`), `over` says that there is no other one.
    """

    since: float = 0.0
    places: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    cursor: str = ""
    pages: int = 0
    over: bool = False
    at: float = field(default_factory=time.monotonic)

    @property
    def begun(self) -> bool:
        """Whether a part of it was read and there is more."""
        return bool(self.cursor) and not self.over

    def begin_anew(self) -> None:
        """Forget what was read of it."""
        self.cursor, self.pages = "", 0
        self.places.clear()

    def tells(self, id: str) -> bool:  # noqa: A002
        """Whether enough was read to know where the post with that id is."""
        return self.over or id in self.places


class Replies:
    """Everything we say to Slack, through one client that belongs to the running loop.

    `client` must have no retry handlers; `timeout` bounds each call in seconds.
    """

    def __init__(self, client: AsyncWebClient, *, timeout: float = TIMEOUT) -> None:
        self._client = client
        self._timeout = timeout
        self._shared: dict[str, tuple[float, bool]] = {}
        self._untold: dict[str, tuple[float, float]] = {}

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
        except LOST as error:
            return Uncertain(type(error).__name__)
        if answer.status_code == 200:
            return Posted("")
        return Refused(f"http_{answer.status_code}", "The answer came too late.")

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
        """Whether people of other companies may be in a channel; true where Slack will never say.

        Raises Unanswered when Slack may say in a moment: for as long as this app may say nothing
        at all, or wants to be asked later, and `UNTOLD` seconds on end where nobody knows why.
        """
        if channel.startswith(("U", "W", "D")):
            return False
        known, now = self._shared.get(channel), time.monotonic()
        if known and now - known[0] < SHARED_REMEMBERED:
            return known[1]
        call = self._client.conversations_info(channel=channel)
        read = await self._answered(call, asked={"channel.is_ext_shared": bool})
        if not isinstance(read, Mapping):
            return self._never_told(channel, read)
        found = any(bool(inside(read, f"channel.{flag}")) for flag in _SHARED)
        self._shared[channel] = (now, found)
        self._untold.pop(channel, None)
        return found

    def is_shared(self, channel: str) -> bool:
        """Whether Slack has said so of a channel when it last answered."""
        return self._shared.get(channel, (0.0, False))[1]

    def _never_told(self, channel: str, ending: Retry | Uncertain | Refused) -> bool:
        """True where no answer is to be expected; raises Unanswered where one is."""
        if isinstance(ending, Refused) and ending.strange:
            ending = Uncertain(ending.code)
        if isinstance(ending, Refused) and not ending.of_app:
            return True
        if isinstance(ending, Uncertain):
            now = time.monotonic()
            first, last = self._untold.get(channel, (now, now))
            first = first if now - last < LULL else now
            self._untold[channel] = first, now
            if now - first >= UNTOLD:
                return True
        raise Unanswered(ending)

    async def publish(self, person: str, view: Block) -> Result:
        """Show something in a person's Home."""
        return await self._ended(self._client.views_publish(user_id=person, view=view))

    async def direct(self, person: str) -> Result:
        """The DM with a person; `place` is its channel id."""
        return await self._ended(self._client.conversations_open(users=person), key="channel.id")

    async def find(
        self,
        thread: Thread,
        *,
        id: str,  # noqa: A002
        seen: Seen | None = None,
    ) -> Result | None:
        """The post with that id, if it is there; None when it is not.

        Only what was not `seen` yet is read, no more of it than has to be.
        """
        seen = seen or Seen()
        while not seen.tells(id):
            ending = await self._read_on(thread, seen)
            if ending and not seen.tells(id):
                return ending
        found = seen.places.get(id)
        return Posted(found[0]) if found else None

    async def copies(
        self,
        thread: Thread,
        *,
        id: str,  # noqa: A002
        since: float = 0,
    ) -> tuple[str, ...] | Retry | Uncertain | Refused:
        """The places of all posts with that id.

        `since` is in seconds since the epoch: nothing older is looked at.
        """
        seen = Seen(since)
        while not seen.over:
            if ending := await self._read_on(thread, seen):
                return ending
        return tuple(seen.places.get(id, ()))

    async def _read_on(self, thread: Thread, seen: Seen) -> Retry | Uncertain | Refused | None:
        """Read one page more of a place, or say why not."""
        page = self._page(thread, since=seen.since, cursor=seen.cursor)
        read = await self._answered(page, asked={"messages": list})
        if isinstance(read, Refused) and seen.cursor and not read.of_app:
            seen.begin_anew()
            return Uncertain(read.code)  # what came before may be there all the same
        if not isinstance(read, Mapping):
            return read
        for each in objects(read["messages"]):
            name, ts = _post_id(each), text_of(each.get("ts"))
            if name and ts:
                seen.places.setdefault(name, []).append(str(Spot(thread.channel, ts)))
        seen.cursor = text_of(inside(read, "response_metadata.next_cursor"))
        if read.get("has_more") and not seen.cursor:
            return Uncertain("incomplete")
        seen.pages, seen.at = seen.pages + 1, time.monotonic()
        seen.over = not seen.cursor or seen.pages >= PAGES
        return None

    async def delete(self, place: str) -> Result:
        """Take a message of ours away; safe to repeat."""
        spot = Spot.parse(place)
        return await self._ended(self._client.chat_delete(channel=spot.channel, ts=spot.ts))

    async def channels(self) -> Mapping[str, str] | Retry | Uncertain | Refused:
        """The ids of the channels we can see, by name."""
        listed = partial(
            self._client.conversations_list,
            types="public_channel,private_channel",
            exclude_archived=True,
        )
        found = await self._paged(listed, "channels")
        if not isinstance(found, list):
            return found
        named = ((text_of(each.get("name")), text_of(each.get("id"))) for each in objects(found))
        return {name: id_ for name, id_ in named if name and id_}

    async def user(self, person: str) -> Answer | Retry | Uncertain | Refused:
        """What Slack knows about a person: the `user` of users.info."""
        call = self._client.users_info(user=person)
        asked = {"user.id": str, "user.deleted": bool}
        read = await self._answered(call, asked=asked, within=QUICK)
        return cast("Answer", read["user"]) if isinstance(read, Mapping) else read

    async def group(self, group: str) -> tuple[str, ...] | Retry | Uncertain | Refused:
        """The ids of the people in a user group."""
        call = self._client.usergroups_users_list(usergroup=group)
        read = await self._answered(call, asked={"users": list}, within=QUICK)
        if not isinstance(read, Mapping):
            return read
        return tuple(map(str, cast("list[object]", read["users"])))

    async def members(self, channel: str) -> tuple[str, ...] | Retry | Uncertain | Refused:
        """The ids of who reads there what we post, of a huge channel the first `PAGES` thousand.

        Slack names the members of a channel that is archived, and of one that this app is not in.
        """
        call = self._client.conversations_info(channel=channel)
        told = await self._answered(call, asked={"channel": dict})
        if not isinstance(told, Mapping):
            return told
        ours = inside(told, "channel.is_member")
        if inside(told, "channel.is_archived") is True or ours is False:
            return ()
        listed = partial(self._client.conversations_members, channel=channel)
        found = await self._paged(listed, "members", most=PAGES)
        return tuple(map(str, found)) if isinstance(found, list) else found

    async def _paged(
        self, page: Callable[..., Coroutine[Any, Any, Any]], key: str, *, most: float = math.inf
    ) -> list[object] | Retry | Uncertain | Refused:
        """What stands under `key` on all pages, or on the first so many of them."""
        found: list[object] = []
        cursor, pages = "", 0
        while pages < most:
            call = page(limit=1000, cursor=cursor or None)
            read = await self._answered(call, asked={key: list})
            if not isinstance(read, Mapping):
                return read
            found += cast("list[object]", read[key])
            cursor, pages = text_of(inside(read, "response_metadata.next_cursor")), pages + 1
            if not cursor:
                break
        return found

    async def _post(
        self,
        thread: Thread,
        message: Rendered,
        *,
        id: str,  # noqa: A002
        until: float,
    ) -> Result:
        posted = await self._ended(
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
        return replace(posted, hides=message.hides) if isinstance(posted, Posted) else posted

    async def _update(self, place: str, message: Rendered, *, until: float) -> Result:
        spot = Spot.parse(place)
        shown = await self._ended(
            self._client.chat_update(
                channel=spot.channel, ts=spot.ts, text=message.text, blocks=message.blocks
            ),
            key="ts",
            until=until,
        )
        return replace(shown, hides=message.hides) if isinstance(shown, Posted) else shown

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
        asked = {name: str for name in ((key, "channel") if key == "ts" else (key,)) if name}
        read = await self._answered(call, asked=asked, within=within, until=until)
        if not isinstance(read, Mapping):
            return read
        found = text_of(inside(read, key))
        return Posted(str(Spot(read["channel"], found)) if key == "ts" else found)

    async def _answered(
        self,
        call: Coroutine[Any, Any, Any],
        *,
        asked: Asked = NOTHING,
        within: float | None = None,
        until: float = math.inf,
    ) -> Answer | Retry | Uncertain | Refused:
        """What Slack answered, if it did what was asked, and all that was `asked` is there."""
        within = min(within or self._timeout, self._timeout)
        answer = await answered(call, asked=asked, within=within, until=until)
        if isinstance(answer, AsyncSlackResponse):
            return cast("Answer", answer.data)
        return answer


def web_client(token: str, *, api_url: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """A client that never tries again by itself, on a session of the running loop."""
    return AsyncWebClient(token=token, base_url=api_url, session=session, retry_handlers=[])


def _post_id(message: Answer) -> str:
    if inside(message, "metadata.event_type") != EVENT_TYPE:
        return ""
    return text_of(inside(message, "metadata.event_payload.id"))
