"""How long what could not be posted waits: longer each time, and not for ever."""

from dataclasses import dataclass

from agents import SessionKey

LONGEST = 300.0
"""Seconds between two tries, however many there were."""
GIVE_UP = 2 * 3600.0
"""Seconds until a post whose fate is unknown each time is given up."""
NEWER = 600.0
"""Seconds for which a post that this release cannot show is left to a newer one, as in a deploy."""
FEW = 3
"""Tries after which a refusal that nobody knows the meaning of is believed."""
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Tried:
    """How often a post was tried in vain, and when first and last (`time.monotonic`)."""

    count: int
    first: float
    last: float

    def pause(self, shortest: float) -> float:
        """Seconds until the next try: `shortest` after the first one, twice that after the next."""
        return max(shortest, min(shortest * 2.0 ** min(self.count - 1, 32), LONGEST))


class Tries:
    """What this process tried in vain; another one begins to count anew."""

    def __init__(self) -> None:
        """Know of none."""
        self._tried: dict[tuple[SessionKey, str], Tried] = {}

    def failed(self, key: SessionKey, post: str, *, now: float) -> Tried:
        """A post was tried in vain once more."""
        before = self._tried.get((key, post))
        tried = Tried(before.count + 1 if before else 1, before.first if before else now, now)
        self._tried[key, post] = tried
        return tried

    def enough(self, key: SessionKey, post: str, *, now: float, after: float | None = None) -> bool:
        """Whether a post was tried in vain for so long (`GIVE_UP`) that there is no use in it."""
        tried = self._tried.get((key, post))
        return tried is not None and now - tried.first >= (GIVE_UP if after is None else after)

    def believed(self, key: SessionKey, what: str, *, now: float) -> bool:
        """Whether a strange refusal, which was met once more, was met a few times by now."""
        return self.failed(key, what, now=now).count >= FEW

    def over(self, key: SessionKey, post: str) -> None:
        """A post need not be tried any more."""
        self._tried.pop((key, post), None)

    def forget(self, now: float) -> None:
        """Know no more of what was not tried for a day: other processes have paid it."""
        old = [name for name, tried in self._tried.items() if now - tried.last >= DAY]
        for name in old:
            del self._tried[name]
