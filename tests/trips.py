"""How often work goes to the store: what redis-py writes to its sockets, counted."""

from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio.connection import AbstractConnection


async def trips(work: Callable[[], Awaitable[object]]) -> int:
    """How often something was written to a socket while this ran; whole pipelines are one."""
    sent = 0
    sending = AbstractConnection.send_packed_command

    async def counting(self: AbstractConnection, *told: Any, **options: Any) -> None:
        nonlocal sent
        sent += 1
        await sending(self, *told, **options)

    AbstractConnection.send_packed_command = counting
    try:
        await work()
    finally:
        AbstractConnection.send_packed_command = sending
    return sent
