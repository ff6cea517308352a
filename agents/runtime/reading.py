"""What the callers of run_async hear: each the events of its own turn, whoever works on it.

Several may put messages to one session. One of them works the inbox off for all, in this process or
in another one; the others wait, and what they missed they read from the store.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import takewhile

from agents.runtime.budget import Budget
from agents.runtime.errors import ModelUnavailable, SessionConflict
from agents.runtime.events import Event
from agents.runtime.held import Held, shown, without_temp


class Reading:
    """One caller: the inbox entry it put, how its turn behaves, and the events of that turn.

    Without an entry it hears whatever is done that nobody else asked for.
    """

    def __init__(self, entry: str | None, budget: Budget) -> None:
        """Nothing is heard yet."""
        self.entry = entry
        self.budget = budget
        self.found = entry is None
        self.done = False
        self.error: Exception | None = None
        self._last = 0
        self._heard = deque[Event]()
        self._news = asyncio.Event()

    async def next(self) -> Event | None:
        """What is heard next; None when the turn is over. Raises what the turn ended with."""
        while not (self._heard or self.done):
            self._news.clear()
            await self._news.wait()
        if self._heard:
            return self._heard.popleft()
        if self.error is not None:
            raise self.error
        return None

    def hear(self, event: Event) -> None:
        """A piece of text on its way, or an event of the turn, once."""
        if self.done or (not event.partial and event.version <= self._last):
            return
        if not event.partial:
            self._last = event.version
        self._heard.append(event)
        self._news.set()

    def read(self, events: Sequence[Event]) -> None:
        """Hear what these events have of the turn, if anything."""
        first = next((at for at, e in enumerate(events) if e.entry == self.entry), None)
        if self.entry is None or first is None:
            return
        self.found = True
        for event in takewhile(lambda e: e.entry in ("", self.entry), events[first:]):
            if shown(event):
                self.hear(without_temp(event))

    def end(self, error: Exception | None = None) -> None:
        """End the turn, with this error or else with what its model raised."""
        if not self.done:
            self.done, self.error = True, error or self.budget.failure
            self._news.set()


class Turns:
    """Whose turn it is, while one caller works through a session until its own is over."""

    def __init__(self, mine: Reading, others: Mapping[str, Reading] | None = None) -> None:
        """`others` are the callers of this process by their entry."""
        self.mine = mine
        self.now = mine
        self._others = others or {}

    @property
    def over(self) -> bool:
        """Whether this caller needs no further entry to be begun."""
        return self.mine.entry is not None and self.mine.found

    def catch_up(self, held: Held) -> None:
        """Hear what others have already stored of the turn under way, or of this caller's."""
        for reading in (self.mine, self._others.get(held.entry or "")):
            if reading is not None:
                reading.read(held.story.events)

    def begin(self, entry: str | None) -> Budget:
        """Begin the turn of an inbox entry, which ends the one before; returns what it may use."""
        reading = self._others.get(entry or "")
        if reading is None or reading.done:
            reading = self.mine
            if reading.entry is None:
                reading.budget = reading.budget.renewed()
            else:
                reading = Reading(entry, reading.budget.renewed())
        if self.now is not reading and self.now.found:
            self.now.end()
        reading.found, self.now = True, reading
        return reading.budget

    def fail(self, error: Exception) -> None:
        """Pass an error to the caller whose turn it was, and to this one if it cannot go on."""
        mine, now = self.mine, self.now
        passing = isinstance(error, ModelUnavailable) or error is now.budget.raised
        if not isinstance(error, SessionConflict):
            now.end(error)
        if not passing:
            mine.end(error)

    def end(self) -> None:
        """End what is still open: there is nothing more to do."""
        self.now.end()
        self.mine.end()
