"""What this process knows of its store's memory: whether it is saved, and whether it was emptied.

A store is marked when a bot first meets it. Whoever finds another mark than before, or none, or
misses what is older than the mark, knows that it was emptied in between; the first one to find it
says so, in the log and in the approvers' channel.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import agents
from bot import errors, logs
from bot.index.due import Index, Marker

LOOK = 30.0
"""Seconds between two looks."""


class Recall:
    """Looks at the store now and then: `await recall.look()` at the start, then `run(stopping)`.

    `unsaved` is whether the store writes nothing to disk. `tell` says to people that the store was
    emptied, at a moment of its clock (ms), and returns whether it is said.
    """

    def __init__(
        self,
        index: Index,
        *,
        forgets: Callable[[], Awaitable[bool]],
        tell: Callable[[int], Awaitable[bool]] | None = None,
    ) -> None:
        """Know nothing yet; `forgets` asks the store whether it writes nothing to disk."""
        self.unsaved = False
        self._index = index
        self._forgets = forgets
        self._tell = tell
        self._since: int | None = None
        self._untold = 0

    async def look(self) -> None:
        """See how the store is now. Raises StoreUnavailable."""
        self.unsaved = await self._forgets()
        await self._mark()
        if self._untold and self._tell and await self._tell(self._untold):
            self._untold = 0

    async def lost(self, posted: float) -> bool:
        """Whether what is missing, and was there at a moment in Slack's time (s), was emptied away.

        Raises StoreUnavailable.
        """
        marker = await self._mark()
        if posted * 1000 >= marker.since:
            return False
        await self._mark(lost=True)
        return True

    async def run(self, stopping: asyncio.Event) -> None:
        """Look every half minute until `stopping` is set; who cannot look now looks later."""
        while not stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await stopping.wait()
                return
            with contextlib.suppress(agents.StoreUnavailable, errors.StoreUnavailable):
                await self.look()

    async def _mark(self, *, lost: bool = False) -> Marker:
        marker = await self._index.mark(self._since, lost=lost)
        self._since = marker.since
        if marker.news:
            self._untold = marker.emptied
            logs.error("store.emptied", since=marker.since, next="what was asked before is gone")
        return marker
