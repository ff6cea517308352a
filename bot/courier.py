"""Brings a session's messages to Slack, each once, as long as nobody else can be doing it."""

from collections.abc import Awaitable, Callable, Sequence

from agents import SessionKey
from bot.slack.blocks.rendered import Rendered
from bot.slack.replies import Posted, Replies, Result, Retry, Uncertain
from bot.turns import Thread


class Courier:
    """Posts and changes messages; where it is not known whether one is there, it looks first.

    `doubtful` are ids of posts that may be in Slack already.
    """

    def __init__(
        self, key: SessionKey, replies: Replies, *, until: Callable[[], Awaitable[float]]
    ) -> None:
        """Speak with `replies`; `until` is from when on (`time.monotonic`) others may be at it."""
        self.doubtful: set[str] = set()
        self._key = key
        self._replies = replies
        self._until = until

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
            found = await self._replies.find(thread, id=name, since=_since(thread))
            if isinstance(found, Posted | Retry | Uncertain):
                return found
        return await self._replies.post(thread, piece, id=name, until=await self._until())

    async def _thread(self, thread: Thread) -> Thread | Result:
        """The thread, or the DM with the person it stands for."""
        if not thread.channel.startswith(("U", "W")):
            return thread
        opened = await self._replies.direct(thread.channel)
        return Thread(opened.place) if isinstance(opened, Posted) else opened


def _since(thread: Thread) -> float:
    """Nothing that is looked for is older than its thread."""
    return float(thread.ts or 0)
