"""The store behind the slots: commands in one round trip, and what it means when they fail."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, cast

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import (
    ClusterError,
    ConnectionError,  # noqa: A004
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    TimeoutError,  # noqa: A004
    TryAgainError,
)

from agents.runtime.errors import StoreUnavailable
from agents.runtime.slot.batches import Batches
from agents.runtime.slot.line import Line
from agents.runtime.slot.port import Command
from agents.runtime.slot.scripts import SCRIPTS

Client = Redis | RedisCluster

MOVING, AGAIN = 5.0, 0.02
"""Seconds that a cluster's slot may take to move to another node, and between two looks."""

_NO_ANSWER = (
    ConnectionError,
    TimeoutError,
    ClusterError,
    RedisClusterException,
    OutOfMemoryError,
    ReadOnlyError,
    TryAgainError,
)
_NOT_NOW = ("BUSY", "MISCONF", "NOREPLICAS")
"""Refusals of that kind for which redis-py has no class of their own."""
_TEXT_OF = {script.sha: script.text for script in SCRIPTS.values()}


class Store:
    """Sends commands and sorts out what went wrong."""

    def __init__(self, redis: Client) -> None:
        """Keep the client; on one server, share round trips."""
        self._redis: Any = redis
        self._batches: Batches | None = None
        if not isinstance(redis, RedisCluster):
            self._batches = Batches(Line(redis).exchange)

    async def send(self, *commands: Command, apart: bool = False) -> list[Any]:
        """The answers, after one round trip; on a cluster one for the first and one for the rest.

        On one server the round trip is shared with others who ask at the same time.

        The first changes a session, the rest are hints about it in other slots, which must not be
        there before. Where they are `apart` they need not follow it, and none is sent twice because
        the store did not know the first one's script. The first is never sent twice because it did
        not know another's, which a node that has just got a slot may not.
        """
        if not commands:
            return []
        try:
            answers = await self._exchange(commands)
            missing = [n for n, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
            if missing and (apart or 0 not in missing) and len(answers) == len(commands):
                told = await self._exchange([_with_text(commands[n]) for n in missing])
                for n, answer in zip(missing, told, strict=True):
                    answers[n] = answer
            elif missing:
                answers = await self._exchange([_with_text(command) for command in commands])
        except _NO_ANSWER as error:
            raise StoreUnavailable(f"the store did not answer: {error}") from error
        _raise_first(answers)
        return answers

    async def replicated(self, *writes: Command, wait: Command) -> tuple[int, Any]:
        """How many replicas have these writes and all before, and the answer to the first write.

        `wait` counts for its own connection alone. Where that breaks, maybe because another server
        took over, the writes are made once more before it is asked again. The last write has to
        change something each time. On a cluster all goes to the node of its key.
        """
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for write in writes:
                    pipe.execute_command(*_with_text(write))
                if isinstance(self._redis, RedisCluster):
                    node = self._redis.get_node_from_key(str(writes[-1][3]))
                    pipe.execute_command(*wait, target_nodes=node)
                else:
                    pipe.execute_command(*wait)
                answers: list[Any] = await pipe.execute(raise_on_error=False)
        except _NO_ANSWER as error:
            raise StoreUnavailable(f"the store did not answer: {error}") from error
        _raise_first(answers)
        return int(answers[-1]), answers[0]

    async def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        if self._batches is not None:
            return await self._batches.send(commands)
        first = await self._first(commands[0])
        if len(commands) == 1 or isinstance(first, Exception):
            return [first]
        pipe = self._redis.pipeline(transaction=False)
        for command in commands[1:]:
            pipe.execute_command(*command)
        rest: list[Any] = await pipe.execute(raise_on_error=False)
        for n, answer in enumerate(rest, start=1):
            if isinstance(answer, ClusterError):
                rest[n - 1] = await self._first(commands[n])
        return [first, *rest]

    async def _first(self, command: Command) -> Any:
        """The answer of the node that has the keys now.

        While a slot moves, some of its keys are here and some there, and neither node runs a script
        that names both. The client sends such a one again for less than a second.
        """
        until = time.monotonic() + MOVING
        while True:
            try:
                return await self._redis.execute_command(*command)
            except ResponseError as error:
                return error
            except ClusterError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(AGAIN)


def _with_text(command: Command) -> Command:
    """A script's call that also teaches the store the script."""
    if command[0] != "EVALSHA":
        return command
    return ("EVAL", _TEXT_OF[cast(str, command[1])], *command[2:])


def _raise_first(answers: Sequence[Any]) -> None:
    """Raise the first error among answers, as StoreUnavailable where asking again may help."""
    error = next((answer for answer in answers if isinstance(answer, Exception)), None)
    if isinstance(error, _NO_ANSWER) or str(error).startswith(_NOT_NOW):
        raise StoreUnavailable(f"the store did not answer: {error}") from error
    if error is not None:
        raise error
