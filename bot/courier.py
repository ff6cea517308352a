"""Brings a session's messages to Slack, each once, as long as nobody else can be doing it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agents import SessionKey
from bot import logs
from bot.slack.blocks.rendered import Rendered
from bot.slack.endings import Posted, Result, Retry, Uncertain
from bot.slack.replies import Replies
from bot.turns import Thread

CLOCKS_APART = 120.0
"""Seconds by which the clocks of the store and of Slack may differ."""
LATER = 3.0
"""Seconds until it is looked once more whether somebody else posted what came late from here."""


class Courier:
    """Posts and changes messages; where it is not known whether one is there, it looks first.

    `doubtful` are ids of posts that may be in Slack already. `since` is when posts were owed first,
    in seconds of the store's time, as far as that is known: none is looked for among what is older.
    """

    def __init__(
        self,
        key: SessionKey,
        replies: Replies,
        *,
        until: Callable[[], Awaitable[float]],
        stored: Callable[[str], Awaitable[str]],
    ) -> None:
        """Speak with `replies`; `until` is from when on (`time.monotonic`) others may be at it.

        `stored` is where a post is said to be, if it was made.
        """
        self.doubtful: set[str] = set()
        self.since: dict[str, float] = {}
        self._key = key
        self._replies = replies
        self._until = until
        self._stored = stored

    async def say(self, post_id: str, thread: Thread, pieces: Sequence[Rendered]) -> Result:
        """Post all pieces of a message; the place is that of the first one."""
        there = await self._thread(thread)
        if not isinstance(there, Thread):
            return there
        owed = post_id.partition("/")[0]
        first: Result = Posted("")
        for number, piece in enumerate(pieces):
            piece_id = f"{post_id}/{number}" if number else post_id
            result = await self._once(piece_id, there, piece, doubtful=owed in self.doubtful)
            if not isinstance(result, Posted):
                if number or not isinstance(result, Retry):
                    self.doubtful.add(owed)
                return result
            first = first if number else result
        return first

    async def change(self, place: str, piece: Rendered) -> Result:
        """Replace the message at `channel|ts`; safe to repeat."""
        return await self._replies.update(place, piece, until=await self._until())

    async def _once(
        self, piece_id: str, thread: Thread, piece: Rendered, *, doubtful: bool
    ) -> Result:
        """Post one message, unless it is there already; cards of many sessions share a channel."""
        name = f"{piece_id} {self._key}"
        if doubtful:
            found = await self._replies.find(thread, id=name, since=self._from(piece_id, thread))
            if isinstance(found, Posted):
                return replace(found, hides=piece.hides)
            if isinstance(found, Retry | Uncertain) or (found and found.of_app):
                return found
            if found and found.method:
                code, todo = found.code, found.sentence
                logs.error("outbox.refused", post=piece_id, code=code, todo=todo)
        until = await self._until()
        result = await self._replies.post(thread, piece, id=name, until=until)
        if time.monotonic() >= until:
            await self._take_back(piece_id, thread, name=name)
        return result

    async def _take_back(self, piece_id: str, thread: Thread, *, name: str) -> None:
        """Delete what was posted late, if who took over has posted it as well.

        This process may have stood still right before the call. Whoever takes over looks for the
        post first, so there are two only when both were at it in the same moment.
        """
        since = self._from(piece_id, thread)
        for pause in (0.0, LATER):
            await asyncio.sleep(pause)
            found = await self._replies.copies(thread, id=name, since=since)
            stays = await self._stored(piece_id)
            if not isinstance(found, tuple) or stays not in found:
                continue
            for place in found:
                if place != stays:
                    logs.warning("outbox.taken_back", post=piece_id)
                    await self._replies.delete(place)
            return

    async def _thread(self, thread: Thread) -> Thread | Result:
        """The thread, or the DM with the person it stands for."""
        if not thread.channel.startswith(("U", "W")):
            return thread
        opened = await self._replies.direct(thread.channel)
        return Thread(opened.place) if isinstance(opened, Posted) else opened

    def _from(self, piece_id: str, thread: Thread) -> float:
        """Nothing that is looked for is older than its thread, nor than what it says."""
        owed = self.since.get(piece_id.partition("/")[0], 0.0)
        return max(float(thread.ts or 0), owed - CLOCKS_APART)
