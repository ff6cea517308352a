"""How long what could not be posted waits: longer each time, and not for ever."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field

from agents import SessionKey

LONGEST = 300.0
"""The most seconds between two tries, however many there were."""
GIVE_UP = 2 * 3600.0
"""Seconds after which a post is given up whose fate is unknown each time."""
NEWER = 600.0
"""Seconds for which a post that this release cannot show is left to a newer one, as in a deploy."""
FEW = 3
"""Tries after which a refusal of unknown meaning is believed."""
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
    """What this process has tried in vain; every process counts for itself."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tried: dict[tuple[SessionKey, str], Tried] = {}

    def failed(self, key: SessionKey, post: str, *, now: float) -> Tried:
        """Count one more vain try of a post."""
        before = self._tried.get((key, post))
        tried = Tried(before.count + 1 if before else 1, before.first if before else now, now)
        self._tried[key, post] = tried
        return tried

    def times(self, key: SessionKey, what: str) -> int:
        """How often something was tried in vain."""
        tried = self._tried.get((key, what))
        return tried.count if tried else 0

    def enough(self, key: SessionKey, post: str, *, now: float, after: float | None = None) -> bool:
        """Whether a post was tried in vain for so long (`GIVE_UP`) that there is no use in it."""
        tried = self._tried.get((key, post))
        return tried is not None and now - tried.first >= (GIVE_UP if after is None else after)

    def believed(self, key: SessionKey, what: str, *, now: float) -> bool:
        """Count a strange refusal once more; whether it has been met a few times by now."""
        return self.failed(key, what, now=now).count >= FEW

    def over(self, key: SessionKey, post: str) -> None:
        """Forget a post that need not be tried any more."""
        self._tried.pop((key, post), None)

    def forget(self, now: float, *, after: float | None = None) -> None:
        """Forget what was not tried for a day, or so many seconds: other processes have done it."""
        longest = DAY if after is None else after
        old = [name for name, tried in self._tried.items() if now - tried.last >= longest]
        for name in old:
            del self._tried[name]


class Pauses:
    """What this process lets be for a while, whoever asks for it meanwhile."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ends: dict[tuple[SessionKey, str], float] = {}

    def begin(self, key: SessionKey, what: str, pause: float, *, now: float) -> None:
        """Let something be for so many seconds; `now` is of `time.monotonic`."""
        self._ends = {each: end for each, end in self._ends.items() if end > now}
        self._ends[key, what] = now + pause

    def left(self, key: SessionKey, what: str, *, now: float) -> float:
        """Seconds until it may be tried again; 0 when it may."""
        return max(0.0, self._ends.get((key, what), 0.0) - now)

    def over(self, key: SessionKey, what: str) -> None:
        """End a pause before its time."""
        self._ends.pop((key, what), None)


@dataclass(slots=True)
class Waits:
    """What of one session's posts cannot be made yet: all of them, or some that others overtake.

    `pause` is how many seconds there were to wait with all, None while nothing stands in the way of
    all. `aside` are those that others overtake, and until when (`time.monotonic`).
    """

    pause: float | None = None
    aside: dict[str, float] = field(default_factory=dict[str, float])
    _over: float = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left to wait with all; None while nothing stands in their way."""
        return None if self.pause is None else max(0.0, self._over - time.monotonic())

    @property
    def again(self) -> float | None:
        """Seconds until something is to be tried again; None when there is nothing."""
        if self.pause is not None or not self.aside:
            return self.left
        return max(0.0, min(self.aside.values()) - time.monotonic())

    def hold_up(self, pause: float) -> None:
        """Let all of them wait for so many seconds."""
        self.pause, self._over = pause, time.monotonic() + pause

    def put_aside(self, post: str, pause: float) -> None:
        """Let one post wait for so many seconds."""
        self.aside[post] = time.monotonic() + pause

    def overtaken(self, post: str) -> bool:
        """Whether it is not yet time for a post that others overtake."""
        return self.aside.get(post, 0.0) > time.monotonic()

    def among(self, posts: Collection[str]) -> None:
        """Forget what is no longer owed."""
        self.aside = {post: over for post, over in self.aside.items() if post in posts}
