"""What this process knows about its store: whether it keeps what it gets, whether it was emptied.

A store that was fit for use at the start may be set up otherwise later. Then work goes on, since
whatever is under way is safer with a bot than without one: every new card says that it may be lost,
the log says why, once, and the next start is refused.

A store is marked when a bot first meets it. Whoever finds another mark than before, or none, or
misses what is older than the mark, knows that it was emptied in between; the first one to find it
says so in the log, and in the approvers' channel whoever can.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agents import StoreUnavailable
from bot import logs
from bot.index.due import Index, Marker

LOOK = 30.0
AGAIN = 1.0
"""Seconds between two looks, and until the next one while the store does not answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a store keeps what it is given: `unsaved`, it may lose that; `faults` are sentences.

    One that is `full` has room left only to finish what people have begun.
    """

    unsaved: bool = False
    full: bool = False
    faults: frozenset[str] = field(default_factory=frozenset[str])


class Recall:
    """Looks at the store now and then: `await recall.look()` at the start, then `run(stopping)`.

    `unsaved` is whether the store may lose what it is given, `full` whether no conversation may
    begin: then what is under way can still be decided and ended. `tell` says to people that it was
    emptied, at a moment of its clock (ms), and returns whether it is said.
    """

    def __init__(
        self,
        index: Index,
        *,
        standing: Callable[[], Awaitable[Standing]],
        tell: Callable[[int], Awaitable[bool]] | None = None,
    ) -> None:
        """Know nothing yet; `standing` asks the store how it keeps what it is given."""
        self.unsaved = self.full = False
        self._index = index
        self._ask = standing
        self._faults: frozenset[str] | None = None
        self._tell = tell
        self._since: int | None = None

    async def look(self) -> None:
        """See how the store is now. Raises StoreUnavailable."""
        standing = await self._ask()
        self.unsaved = standing.unsaved
        if standing.full and not self.full:
            logs.error("store.full", next="no conversation begins until there is room again")
        self.full = standing.full
        self._note(standing.faults)
        marker = await self._mark()
        if marker.emptied and self._tell and await self._index.to_tell():
            said = False
            try:
                said = await self._tell(marker.emptied)
            finally:
                await self._index.told(marker.emptied, done=said)

    async def lost(self, posted: float) -> bool:
        """Whether what is missing was lost with the store; Slack had it at that moment (s).

        Raises StoreUnavailable.
        """
        marker = await self._mark()
        if posted * 1000 >= marker.since:
            return False
        await self._mark(lost=True)
        return True

    async def run(self, stopping: asyncio.Event) -> None:
        """Look every half minute until `stopping` is set, and as soon as a lost store is back."""
        pause = LOOK
        while not stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await stopping.wait()
                return
            try:
                await self.look()
            except StoreUnavailable:
                pause = AGAIN
            else:
                pause = LOOK

    def _note(self, faults: frozenset[str]) -> None:
        """Log what is wrong with the store when that has changed; the start logs it first."""
        if self._faults is not None and faults != self._faults:
            if faults:
                logs.error("store.unsafe", finding="; ".join(sorted(faults)))
            else:
                logs.info("store.safe")
        self._faults = faults

    async def _mark(self, *, lost: bool = False) -> Marker:
        marker = await self._index.mark(self._since, lost=lost)
        self._since = marker.since
        if marker.news:
            logs.error("store.emptied", since=marker.since, next="what was asked before is gone")
        return marker
