"""Commands of several callers in one round trip, since trips cost more than the scripts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents.runtime.slot.port import Command

AT_ONCE = 2
"""Round trips under way at a time, so that one that gets stuck does not hold up the others."""


class Batches:
    """Gathers what is asked while the store is busy, and sends it together afterwards."""

    def __init__(self, exchange: Callable[[Sequence[Command]], Awaitable[Sequence[Any]]]) -> None:
        """Send through `exchange`, which answers each command in its order, or raises for all."""
        self._exchange = exchange
        self._free = asyncio.Semaphore(AT_ONCE)
        self._alone = False
        self._gathered: list[Command] = []
        self._leaving: asyncio.Task[Sequence[Any]] | None = None

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """The answers; a caller that stops waiting does not stop the others.

        A caller that asks alone waits for nobody.
        """
        if self._leaving is None and not self._alone:
            self._alone = True
            try:
                async with self._free:
                    return list(await self._exchange(commands))
            finally:
                self._alone = False
        if self._leaving is None:
            self._gathered = []
            self._leaving = asyncio.create_task(self._leave())
        batch, start = self._leaving, len(self._gathered)
        self._gathered += commands
        answers = await asyncio.shield(batch)
        return list(answers[start : start + len(commands)])

    async def _leave(self) -> Sequence[Any]:
        try:
            await self._free.acquire()
        finally:
            # Whoever comes from here on is too late for this trip.
            self._leaving = None
        try:
            return await self._exchange(self._gathered)
        finally:
            self._free.release()
