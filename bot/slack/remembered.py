"""Answers of Slack's that are remembered for a while: many who ask at once ask once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")
FORGET_ALL_AT = 5_000


class Remembered(Generic[Answer]):
    """Answers by the name that is asked about, each good for so many `seconds`."""

    def __init__(
        self,
        ask: Callable[[str], Awaitable[Answer | None]],
        *,
        seconds: float,
        clock: Callable[[], float],
    ) -> None:
        """Ask with `ask`, which says None when Slack does not answer; `clock` is in seconds."""
        self._ask = ask
        self._seconds = seconds
        self._clock = clock
        self._known: dict[str, tuple[float, Answer]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, name: str) -> Answer | None:
        """The answer about a name, asked for unless it is known; None when Slack does not say."""
        async with self._asking.setdefault(name, asyncio.Lock()):
            known = self._known.get(name)
            if known and self._clock() - known[0] < self._seconds:
                return known[1]
            found = await self._ask(name)
            if found is not None:
                self._keep(name, found)
            return found

    def forget(self, name: str) -> None:
        """Ask anew next time."""
        self._known.pop(name, None)

    def _keep(self, name: str, found: Answer) -> None:
        if len(self._known) >= FORGET_ALL_AT:
            self._known.clear()
            self._asking.clear()
        self._known[name] = (self._clock(), found)
