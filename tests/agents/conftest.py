"""The stores that sessions of a test live in."""

import uuid
from collections.abc import AsyncIterator

import pytest

from agents import SessionService
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.redis import RedisSlot, connect


@pytest.fixture(params=["memory", "redis"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[SessionService]:
    """Sessions in memory, and on a real server."""
    if request.param == "memory":
        yield SessionService(MemorySlot())
        return
    async with connect(request.getfixturevalue("store_server")) as client:
        yield SessionService(RedisSlot(client, prefix=f"{uuid.uuid4().hex}:"))
