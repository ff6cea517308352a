"""What happened, in order, for whoever waits for it."""

import asyncio
from collections.abc import AsyncIterator

from bot.slack.checks import JsonObject


class Feed:
    """A growing list of small records one can wait on; `kind` says what a record is."""

    def __init__(self) -> None:
        self.records: list[JsonObject] = []
        self._more = asyncio.Event()

    def publish(self, record: JsonObject) -> None:
        """Append a record and wake everybody who waits."""
        self.records.append(record)
        self._more.set()
        self._more = asyncio.Event()

    async def after(self, count: int) -> None:
        """Wait until there are more than `count` records."""
        while len(self.records) <= count:
            await self._more.wait()

    def follow(self) -> AsyncIterator[JsonObject]:
        """Every record from now on, without end."""
        return self._from(len(self.records))

    async def _from(self, seen: int) -> AsyncIterator[JsonObject]:
        while True:
            await self.after(seen)
            for record in self.records[seen:]:
                seen += 1
                yield record
