"""A process that has everything imported and nothing running; bots are forked from it.

It reads one JSON order a line and answers `{"pid": …}`; when a bot ends it says `{"ended": pid}`.
Its bots end with it.
"""

import asyncio
import json
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from tests.faults import crew

ROOT = Path(__file__).parent.parent.parent


class Nursery:
    """The parent of all bots, as the harness sees it: `async with Nursery() as nursery`."""

    async def __aenter__(self) -> Self:
        self._waiting: dict[int, asyncio.Event] = {}
        self._born: asyncio.Queue[int] = asyncio.Queue()
        self._order = asyncio.Lock()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.faults.nursery",
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.stdin.close()
        await self._process.wait()
        await self._reading

    async def fork(self, order: Mapping[str, Any]) -> int:
        """Start a bot as `crew.play` is told; its process id."""
        async with self._order:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            await self._process.stdin.drain()
            return await self._born.get()

    async def ended(self, pid: int) -> None:
        """Wait until that bot is gone."""
        await self._waiting[pid].wait()

    def alive(self, pid: int) -> bool:
        """Whether that bot still runs."""
        return not self._waiting[pid].is_set()

    async def _read(self) -> None:
        async for line in self._process.stdout:
            told = json.loads(line)
            if "pid" in told:
                self._waiting[told["pid"]] = asyncio.Event()
                self._born.put_nowait(told["pid"])
            else:
                self._waiting[told["ended"]].set()


def main() -> None:
    """Fork what is ordered and bury what has ended, until nobody orders any more."""
    children: set[int] = set()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.fileno(), selectors.EVENT_READ, "order")
    selector.register(wake, selectors.EVENT_READ, "child")
    unread = b""
    while True:
        for key, _ in selector.select():
            read = os.read(key.fd, 65536)
            if key.data == "child":
                _bury(children)
                continue
            if not read:
                _end(children)
            *lines, unread = (unread + read).split(b"\n")
            for line in lines:
                children.add(_born(json.loads(line)))


def _born(order: Mapping[str, Any]) -> int:
    pid = os.fork()
    if not pid:
        _become(order)
    _say({"pid": pid})
    return pid


def _become(order: Mapping[str, Any]) -> NoReturn:
    """Be a bot, and nothing of the nursery any more."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = crew.play(order)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _bury(children: set[int]) -> None:
    for pid in list(children):
        if os.waitpid(pid, os.WNOHANG)[0]:
            children.discard(pid)
            _say({"ended": pid})


def _end(children: set[int]) -> NoReturn:
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)
    sys.exit(0)


def _say(told: Mapping[str, Any]) -> None:
    os.write(1, json.dumps(told).encode() + b"\n")


if __name__ == "__main__":
    main()
