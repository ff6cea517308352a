"""TCP lines of which no end is left open, however the block that uses them is left."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from ssl import SSLContext

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(serve: Serve, *, ssl: SSLContext | None = None) -> AsyncIterator[int]:
    """Serve each connection to a free port of 127.0.0.1, until the block ends or `serve` does."""
    serving: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            serving.add(task)
            task.add_done_callback(serving.discard)
        with contextlib.suppress(asyncio.CancelledError, OSError):
            async with _closed(writer):
                await serve(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=ssl)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)  # one that was just accepted begins
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


@contextlib.asynccontextmanager
async def dialled(host: str | None, port: int | None) -> AsyncIterator[Ends]:
    """Both ends of a connection, for as long as the block lasts."""
    reader, writer = await asyncio.open_connection(host, port)
    async with _closed(writer):
        yield reader, writer


@contextlib.asynccontextmanager
async def _closed(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Have the line closed after the block; what was said is sent, unless nobody takes it."""
    try:
        yield
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await writer.wait_closed()
        writer.transport.abort()
