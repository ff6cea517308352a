"""Brings a session's messages to Slack, each once, while no other process can be doing so."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from agents import SessionKey
from bot import logs
from bot.slack.blocks.rendered import Rendered
from bot.slack.endings import Posted, Refused, Result, Retry, Uncertain
from bot.slack.replies import CLOCKS_APART, Replies, Seen
from bot.turns import Spot, Thread

FRESH = 10.0
"""Seconds for which what was read of a place still counts as what stands there."""
LOOKS = (0.0, 3.0, FRESH)
"""Seconds before each look for a copy that somebody else made of a message we sent late."""


class Courier:
    """Posts and changes messages; where it is not known whether one is there, it looks first.

    `doubtful` are ids of posts that may be in Slack already. `since` is when posts were owed first,
    in seconds of the store's time, as far as that is known: none is looked for among what is older.
    `seen` is what was read of each place.
    """

    def __init__(
        self,
        key: SessionKey,
        replies: Replies,
        *,
        until: Callable[[], Awaitable[float]],
        stored: Callable[[str], Awaitable[str]],
        wait: Callable[[], float] = float,
        believed: Callable[[str], bool] = bool,
    ) -> None:
        """Speak with `replies`; `until` is from when on (`time.monotonic`) others may be at it.

        `stored` is where a post is said to be, if it was made, `wait` how many seconds it takes
        until one may look for any. `believed` says of a strange refusal whether it was met often
        enough: until then it may pass.
        """
        self.doubtful: set[str] = set()
        self.since: dict[str, float] = {}
        self._key = key
        self._replies = replies
        self._until = until
        self._stored = stored
        self._wait = wait
        self._believed = believed
        self.seen: dict[Thread, Seen] = {}
        self._made: dict[tuple[Thread, str], Posted] = {}

    async def say(self, post_id: str, thread: Thread, pieces: Sequence[Rendered]) -> Result:
        """Post all pieces of a message; the place is that of the first one."""
        there = await self._thread(thread)
        if not isinstance(there, Thread):
            return self._weighed(there, post_id, thread)
        owed = post_id.partition("/")[0]
        first: Result = Posted("")
        for number, piece in enumerate(pieces):
            piece_id = f"{post_id}/{number}" if number else post_id
            result = await self._once(piece_id, there, piece, doubtful=owed in self.doubtful)
            if not isinstance(result, Posted):
                if number or not isinstance(result, Retry):
                    self.doubtful.add(owed)
                return self._weighed(result, post_id, thread)
            first = first if number else result
        return first

    async def change(self, post_id: str, place: str, piece: Rendered) -> Result:
        """Replace the message at `channel|ts` as a post wants it; safe to repeat."""
        result = await self._replies.update(place, piece, until=await self._until())
        return self._weighed(result, post_id, place)

    def _weighed(self, result: Result, post_id: str, place: Thread | str) -> Result:
        """The result, where a refusal that may pass counts as none until it was met a few times."""
        if not isinstance(result, Refused) or not result.strange:
            return result
        known = self._believed(f"{post_id} {place} {result.code}")
        return result if known else Uncertain(result.code)

    async def _once(
        self, piece_id: str, thread: Thread, piece: Rendered, *, doubtful: bool
    ) -> Result:
        """Post one message, unless it is there already; cards of many sessions share a channel."""
        name = f"{piece_id} {self._key}"
        if made := self._made.get((thread, name)):
            return made
        if doubtful and (found := await self._found(piece_id, thread, name=name)):
            return replace(found, hides=piece.hides) if isinstance(found, Posted) else found
        until = await self._until()
        result = await self._replies.post(thread, piece, id=name, until=until)
        if time.monotonic() >= until:
            await self._take_back(piece_id, thread, name=name, late=result)
        elif isinstance(result, Posted):
            self._made[thread, name] = result
        if isinstance(result, Uncertain):
            self.seen.pop(thread, None)
        return result

    async def _found(self, piece_id: str, thread: Thread, *, name: str) -> Result | None:
        """Where a post is that may be there, or why nobody can tell; None when it can be made.

        A place is read once for all that may be there: while the session is in hand, nobody else
        posts there what belongs to it. Where Slack allows a page now and then, it is read on.
        """
        since, seen = self._from(piece_id, thread), self.seen.get(thread)
        if seen is None or seen.since > since or _is_old(seen):
            seen = self.seen[thread] = Seen(since)
        if not seen.tells(name) and (wait := self._wait()):
            return Retry(wait)
        read = await self._replies.find(thread, id=name, seen=seen)
        found = read and self._weighed(read, piece_id, f"{thread} read")
        if not isinstance(found, Refused) or found.of_app:
            return found
        seen.over = True
        if found.method:
            logs.error("outbox.refused", post=piece_id, code=found.code, todo=found.sentence)
        return None

    async def _take_back(self, piece_id: str, thread: Thread, *, name: str, late: Result) -> None:
        """Delete a late post, or its copy, if the process that took over has posted it as well.

        This process may have stood still right before the call. Whoever takes over looks for the
        post first, so there are two only when both were at it in the same moment.
        """
        owed, since = piece_id.partition("/")[0], self._from(piece_id, thread)
        mine = {late.place} if isinstance(late, Posted) else set[str]()
        for pause in LOOKS:
            await asyncio.sleep(pause)
            stored = await self._stored(owed)  # first: what is stored by now can be found
            found = await self._replies.copies(thread, id=name, since=since)
            places = mine.union(found) if isinstance(found, tuple) else set[str]()
            stays = _stays(places, stored=stored if piece_id == owed else None)
            if not stays:
                continue
            for place in places - {stays}:
                logs.warning("outbox.taken_back", post=piece_id)
                await self._replies.delete(place)
            if stored:
                return

    async def _thread(self, thread: Thread) -> Thread | Result:
        """The thread, or the DM with the person it stands for."""
        if not thread.channel.startswith(("U", "W")):
            return thread
        opened = await self._replies.direct(thread.channel)
        return Thread(opened.place) if isinstance(opened, Posted) else opened

    def _from(self, piece_id: str, thread: Thread) -> float:
        """The moment before which a post cannot be: when its thread began, or when it was owed."""
        owed = self.since.get(piece_id.partition("/")[0], 0.0)
        return max(float(thread.ts or 0), owed - CLOCKS_APART)


def _is_old(seen: Seen) -> bool:
    """Whether a place has to be read again; one that was read in part is read on instead."""
    return not seen.begun and time.monotonic() - seen.at > FRESH


def _stays(places: Collection[str], *, stored: str | None) -> str:
    """Which of a message's copies stays, by its place; empty while that is not known.

    It is the stored one where one is. Nobody needs to know the place of another one (`stored` is
    None): the first that was made stays, so that whoever looks deletes the same ones, and none of a
    message's pieces comes before the one that it follows.
    """
    if stored is not None:
        return stored if stored in places else ""
    return min(places, key=lambda place: float(Spot.parse(place).ts), default="")
