"""A crash point: the place at which a test wants this process dead, as CRASH_AT names it.

Every awaited call of a port is two such places: `slot.commit.before` and `slot.commit.after`.
`slot.commit.after:2` is the second time one is passed, `*:40` the fortieth of all.
"""

import functools
import inspect
import os
import signal
from collections.abc import AsyncIterator, Callable
from fnmatch import fnmatchcase
from typing import Any, TypeVar, cast

T = TypeVar("T")


class CrashPoint:
    """Kills this process, with SIGKILL, when it passes the place it was told; `""` is nowhere."""

    def __init__(self, told: str) -> None:
        """Read `name` or `name:times`; the name may have `*` in it."""
        self._name, _, times = told.partition(":")
        self._left = int(times or 1)

    def watched(self, port: T, name: str) -> T:
        """The port with its places; the port itself when there is nowhere to die."""
        return cast(T, _Watched(port, name, self)) if self._name else port

    def passed(self, place: str) -> None:
        """This process is at a place now."""
        if fnmatchcase(place, self._name):
            self._left -= 1
            if not self._left:
                os.kill(os.getpid(), signal.SIGKILL)


class _Watched:
    """A port whose awaited calls are places."""

    def __init__(self, port: object, name: str, point: CrashPoint) -> None:
        self._port = port
        self._name = name
        self._point = point

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._port, method)
        place = f"{self._name}.{method}"
        if inspect.iscoroutinefunction(found):
            return functools.partial(self._awaited, found, place)
        if inspect.isasyncgenfunction(found):
            return functools.partial(self._followed, found, place)
        return found

    async def _awaited(
        self, call: Callable[..., Any], place: str, *args: object, **options: object
    ) -> Any:
        self._point.passed(f"{place}.before")
        answer = await call(*args, **options)
        self._point.passed(f"{place}.after")
        return answer

    async def _followed(
        self, call: Callable[..., Any], place: str, *args: object, **options: object
    ) -> AsyncIterator[Any]:
        self._point.passed(f"{place}.before")
        async for answer in call(*args, **options):
            yield answer
        self._point.passed(f"{place}.after")
