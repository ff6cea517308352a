"""A bot in a process of its own, started, killed and started again as a platform would."""

import asyncio
import json
import signal
import socket
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, get_args

from pydantic import SecretStr

from bot.playground.people import MAX, MIA
from bot.settings import REHEARSAL, Role, Route, Settings

ROUTES = {
    "#expenses": "reimbursement",
    "#time-off": "time_off",
    "#support": "support",
    "#partners": "reimbursement",
}
APPROVERS = (MAX.id, MIA.id)
LOOPBACK = "127.0.0.1"
STARTED = "at=bot.started"
START_TIMEOUT = 60.0
STOP_TIMEOUT = 25.0


class BotProcess:
    """`python -m bot` with the given roles: `async with BotProcess("worker", …) as process`.

    `environment` is all the process sees; `folder` is where it runs. `lines` is what it wrote so
    far. Leaving the block stops it.
    """

    def __init__(self, *command: str, environment: Mapping[str, str], folder: Path) -> None:
        """Keep what to start; nothing runs yet."""
        self.lines: list[str] = []
        self._command = command
        self._environment = environment
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._started = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Start it and wait until it is ready."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, if it still runs."""
        await self.stop()

    @property
    def pid(self) -> int:
        """The process id of the one that runs now."""
        if self._process is None:
            raise RuntimeError("the bot was not started")
        return self._process.pid

    async def start(self) -> None:
        """Start it, again perhaps; returns when it is ready.

        Raises RuntimeError, with what it wrote last, when it ends instead.
        """
        root = str(Path(__file__).parent.parent.parent)
        self._started.clear()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            *self._command,
            cwd=self._folder,
            env={"PYTHONPATH": root, "PYTHONUNBUFFERED": "1", **self._environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._reading = asyncio.create_task(self._read(self._process))
        waiting = asyncio.create_task(self._started.wait())
        await asyncio.wait(
            {waiting, self._reading}, timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED
        )
        waiting.cancel()
        if not self._started.is_set():
            await self.kill()
            raise RuntimeError("the bot did not start: " + " | ".join(self.lines[-5:]))

    async def ended(self) -> int:
        """Wait until it has ended by itself; returns the exit status."""
        return await self._process.wait() if self._process else 0

    async def kill(self) -> None:
        """SIGKILL: nothing of it can finish anything."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """SIGTERM, as the platform says it; returns the exit status."""
        return await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> int:
        process, reading = self._process, self._reading
        if process is None or reading is None:
            return 0
        if process.returncode is None:
            process.send_signal(how)
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await reading
        except TimeoutError:
            process.kill()
        return await process.wait()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Keep each line; what it writes must be read, or it would stand still."""
        if process.stdout is None:
            return
        async for line in process.stdout:
            self.lines.append(line.decode(errors="replace").rstrip())
            if STARTED in self.lines[-1]:
                self._started.set()


class Reachable(Protocol):
    """What a bot has to know of a workspace on this machine."""

    bot_token: str
    signing_secret: str

    @property
    def api_url(self) -> str:
        """Where its Web API is."""
        ...


def environment(slack: Reachable, *, store: str, ledger: Path, port: int) -> dict[str, str]:
    """What a bot in a process of its own has to know of a workspace on this machine."""
    return {
        "REDIS_URL": store,
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "MODEL": REHEARSAL,
        "PORT": str(port),
        "COUNTERSIGN_HOST": LOOPBACK,
        "COUNTERSIGN_ROUTES": json.dumps(ROUTES),
        "COUNTERSIGN_APPROVERS": ",".join(APPROVERS),
        "COUNTERSIGN_APPROVERS_CHANNEL": "#approvals",
        "COUNTERSIGN_LEDGER_PATH": str(ledger),
        "COUNTERSIGN_TICKET_POLL": "1s",
        "COUNTERSIGN_LEASE": "2",  # a killed process keeps its sessions for so long
    }


def local(slack: Reachable, settings: Settings) -> Settings:
    """The settings of a bot for a workspace on this machine, where nothing else is said.

    Routes that are said come to those that are there.
    """
    told: dict[str, object] = {
        "slack_api_url": slack.api_url,
        "slack_bot_token": SecretStr(slack.bot_token),
        "slack_signing_secret": SecretStr(slack.signing_secret),
        "slack_app_token": None,
        "roles": get_args(Role),
        "port": 0,
        "host": LOOPBACK,
        "routes": {channel: Route(agent=agent) for channel, agent in ROUTES.items()}
        | settings.routes,
    }
    usual: dict[str, object] = {
        "approvers": APPROVERS,
        "approvers_channel": "#approvals",
    }
    told |= {name: value for name, value in usual.items() if not getattr(settings, name)}
    if not (settings.gemini_api_key or settings.vertexai):
        told["model"] = REHEARSAL
    if settings.tickets_url is None:
        told["ticket_poll"] = told["ticket_poll_limit"] = timedelta(seconds=1)
    return settings.model_copy(update=told)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
