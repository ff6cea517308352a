"""A proxy between a bot and its store that cuts, delays, swallows, and loses one answer."""

import asyncio
import contextlib
from typing import Any, Literal, Self

from tests.lines import dialled, listening

Trouble = Literal["", "cut", "delay", "hole", "drop"]


class Proxy:
    """Listens on a free port of 127.0.0.1 while its block runs: `proxy.port`.

    `trouble` is what is wrong now: `cut` refuses and closes everything, `delay` holds each piece
    for 50 ms, `hole` lets nothing through and closes nothing, `drop` lets the next command through
    and closes the connection in place of its answer.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.trouble: Trouble = ""
        self.dropped = 0
        self._healed = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._listening = listening(self._serve)

    async def __aenter__(self) -> Self:
        self.port = await self._listening.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        self.cut()
        await self._listening.__aexit__(*raised)

    def become(self, trouble: Trouble) -> None:
        """Be in trouble, or (`""`) in order again."""
        self.trouble = trouble
        if trouble == "hole":
            self._healed.clear()
        else:
            self._healed.set()
        if trouble == "cut":
            self.cut()

    def cut(self) -> None:
        """Close every connection."""
        for writer in list(self._writers):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.trouble == "cut":
            return
        async with dialled("127.0.0.1", self.target) as (answers, store):
            self._writers |= {writer, store}
            try:
                await asyncio.gather(
                    self._pump(reader, store, answers=False),
                    self._pump(answers, writer, answers=True),
                )
            finally:
                self._writers -= {writer, store}

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(65536):
                if self.trouble == "hole":
                    await self._healed.wait()
                if self.trouble == "delay":
                    await asyncio.sleep(0.05)
                if self.trouble == "drop" and answers:
                    self.trouble, self.dropped = "", self.dropped + 1
                    break
                sink.write(piece)
                await sink.drain()
        sink.close()
