"""What is kept outside sessions: one tenant's hints under one prefix, and how to reach them."""

import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisError

from agents import SessionKey, StoreUnavailable
from bot import logs
from bot.index.lua import TAKE
from bot.turns import Command

Client = Redis | RedisCluster


class Hints:
    """Sends commands to the store. Raises StoreUnavailable when it does not answer."""

    def __init__(self, redis: Client, *, prefix: str = "b:", tenant: str = "local") -> None:
        """Keep the connection; `prefix` is that of all keys, `tenant` whose hints these are."""
        self._redis: Any = redis
        self._prefix = prefix
        self._tenant = quote(tenant, safe="")
        self._due = f"{prefix}{{due:{self._tenant}}}"

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip; their answers."""
        if not commands:
            return []
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                return await pipe.execute()
        except (RedisError, OSError) as error:
            raise StoreUnavailable(f"the store did not answer: {type(error).__name__}") from error

    async def take(self, key: str, *, seconds: int) -> bool:
        """Take a mark for so long; whether nobody else had it."""
        [mine] = await self.send((("EVAL", TAKE, 1, key, uuid.uuid4().hex, seconds),))
        return bool(mine)

    async def now(self) -> int:
        """The store's time in milliseconds."""
        [(seconds, micros)] = await self.send((("TIME",),))
        return int(seconds) * 1000 + int(micros) // 1000

    async def answers(self) -> bool:
        """Whether the store answers."""
        try:
            await self.send((("PING",),))
        except StoreUnavailable:
            return False
        return True

    async def _read(self, name: str, members: Sequence[Any]) -> dict[Any, tuple[SessionKey, str]]:
        """The session of each member, and what of it is meant; what nobody can read is dropped."""
        read = {member: _apart(member) for member in members}
        strange = [member for member, found in read.items() if found is None]
        for member in strange:
            logs.error("index.unreadable", key=name, member=member, next="it was taken out")
        await self.send([("ZREM", name, *strange)] if strange else [])
        return {member: found for member, found in read.items() if found}


def _apart(member: bytes | str) -> tuple[SessionKey, str] | None:
    """The session of a member, and what of it is meant; None when it is no such thing."""
    try:
        tag, _, name = (text_of(member) or "").partition("|")
        return SessionKey.parse(tag), name
    except ValueError:
        return None


def pairs(found: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Members with their scores, which RESP 3 gives in pairs and RESP 2 one after the other."""
    if found and not isinstance(found[0], list | tuple):
        return list(zip(found[::2], found[1::2], strict=True))
    return [(tag, at) for tag, at in found]


def text_of(value: bytes | str | None) -> str | None:
    """What the store says, as text."""
    return value.decode() if isinstance(value, bytes) else value
