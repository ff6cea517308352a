"""A slot in memory and on a real server."""

import uuid
from collections.abc import AsyncIterator

import pytest

from agents import Slot
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.redis import RedisSlot, connect


@pytest.fixture(params=["memory", "redis"])
async def slot(request: pytest.FixtureRequest) -> AsyncIterator[Slot]:
    """Each kind of store."""
    if request.param == "memory":
        yield MemorySlot()
        return
    async with connect(request.getfixturevalue("store_server")) as client:
        yield RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")
