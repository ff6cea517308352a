"""Connections to the one server that may be written to, and many commands in one round trip.

What a replica answers breaks its connection: after a failover the old primary may stay up as one,
and only a new connection finds the new one behind the same name.

A trip is a pipeline of redis-py without its bookkeeping. Connections, their pool, parsing and
retries are redis-py's. What its pipeline does besides (a timer for each answer, a task to clean up,
statistics) costs more than all the rest of a trip.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import hiredis
from redis.asyncio import Connection, Redis, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import (
    ConnectionError,  # noqa: A004
    MasterDownError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,  # noqa: A004
)

from agents.runtime.slot.port import Command

_ELSEWHERE = ("NOREPLICAS", "UNBLOCKED")
"""What else a server answers that is not, or no longer, the one to write to.

LOADING is a broken connection to redis-py already.
"""

_pack: Callable[[Command], bytes] = cast(Any, hiredis).pack_command


class _ToThePrimary:
    """Breaks off where another server has to be asked, so that redis-py connects and asks anew.

    A cancellation while sending gets through: `asyncio.wait_for`, which redis-py sends with, may
    swallow it before Python 3.12.
    """

    socket_timeout: float | None

    async def send_packed_command(self, *given: Any, **options: Any) -> None:
        """Send packed commands, for as long as `socket_timeout`; redis-py's TimeoutError after."""
        async with _in_time(self):
            await cast(Any, super()).send_packed_command(*given, **options)

    async def read_response(self, *given: Any, **options: Any) -> Any:
        """The next answer; raises ConnectionError for one that only another server can give."""
        try:
            return await cast(Any, super()).read_response(*given, **options)
        except ResponseError as error:
            known = isinstance(error, ReadOnlyError | MasterDownError)
            if known or str(error).startswith(_ELSEWHERE):
                raise ConnectionError(f"another server has to be asked: {error}") from error
            raise


class ToThePrimary(_ToThePrimary, Connection):
    """A connection to one server."""


class SecurelyToThePrimary(_ToThePrimary, SSLConnection):
    """A connection to one server with TLS."""


class NearThePrimary(_ToThePrimary, UnixDomainSocketConnection):
    """A connection to one server on this machine."""


TO_THE_PRIMARY = {
    "redis": ToThePrimary,
    "rediss": SecurelyToThePrimary,
    "unix": NearThePrimary,
}
"""The connection for each scheme of a store's URL."""


class Line:
    """Exchanges with the server behind a client, on connections of its pool."""

    def __init__(self, redis: Redis) -> None:
        """Use what the client uses."""
        self._pool: Any = redis.connection_pool
        self._parsers: Any = redis.response_callbacks

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """The answers in order, refusals among them; tried again when the connection breaks.

        One try may take as long as the client's `socket_timeout`.
        """
        packed = b"".join(map(_pack, commands))
        connection = await self._connection()
        try:
            answers = await connection.retry.call_with_retry(
                partial(_exchanged, connection, packed, len(commands)),
                partial(_broken, connection),
            )
        finally:
            await self._pool.release(connection)
        return [self._parsed(*both) for both in zip(commands, answers, strict=True)]

    async def _connection(self) -> Any:
        """A connection that answers; callers wait in the pool until one is free."""
        pool = self._pool
        if not pool.can_get_connection():
            return await pool.get_connection()
        connection = pool.get_available_connection()
        try:
            await pool.ensure_connection(connection)
        except BaseException:
            await pool.release(connection)
            raise
        return connection

    def _parsed(self, command: Command, answer: Any) -> Any:
        parse = self._parsers.get(command[0])
        return answer if parse is None or isinstance(answer, Exception) else parse(answer)


@asynccontextmanager
async def _in_time(connection: Any) -> AsyncGenerator[None]:
    """Time the block as a whole, and nothing in it: `socket_timeout`, then redis-py's TimeoutError.

    Each answer would have a timer else, and the sending a task for its own.
    """
    patience, connection.socket_timeout = connection.socket_timeout, None
    try:
        async with asyncio.timeout(patience):
            yield
    except asyncio.TimeoutError as error:  # noqa: UP041 - not redis-py's of that name
        raise TimeoutError("the server took too long") from error
    finally:
        connection.socket_timeout = patience


async def _exchanged(connection: Any, packed: bytes, count: int) -> list[Any]:
    """What the server answers to packed commands."""
    async with _in_time(connection):
        await connection.send_packed_command(packed)
        return [await _answer(connection) for _ in range(count)]


async def _broken(connection: Any, error: Exception) -> None:
    await connection.disconnect(error=error)


async def _answer(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
