"""How many sessions a process has in hand: a turn that does not end takes up no place for ever."""

from agents import SessionKey

LONG = 120.0
"""Seconds after which a turn takes up no place any more, as one whose tool never ends."""
MOST = 8
"""Turns in hand for each place, those that take up none included: they hold leases and threads."""


class Places:
    """The places for turns, and who has one since when; times are of `time.monotonic`."""

    def __init__(self, count: int) -> None:
        """Begin with all of them free."""
        self._count = count
        self._begun: dict[SessionKey, float] = {}

    def begin(self, key: SessionKey, *, now: float) -> None:
        """Give a session's turn a place."""
        self._begun[key] = now

    def end(self, key: SessionKey) -> None:
        """A session's turn is over."""
        del self._begun[key]

    def free(self, now: float) -> int:
        """How many more turns may begin."""
        return max(0, min(self._count - self._taken(now), self._left))

    def passes_on(self, key: SessionKey, *, now: float) -> bool:
        """Whether a turn that ends has a place for another one, and had not given it up before."""
        return not self._is_long(key, now) and self._taken(now) <= self._count

    @property
    def full(self) -> bool:
        """Whether so many turns do not end that none may begin until one does."""
        return self._left <= 0

    @property
    def _left(self) -> int:
        return MOST * self._count - len(self._begun)

    def _taken(self, now: float) -> int:
        return sum(not self._is_long(key, now) for key in self._begun)

    def _is_long(self, key: SessionKey, now: float) -> bool:
        return now - self._begun[key] >= LONG
