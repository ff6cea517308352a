"""Every slot under one suite: in memory, on a server, on a cluster."""

import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis, RedisCluster

from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import SessionKey, Slot
from agents.runtime.slot.redis import RedisSlot, connect
from tests.agents.slot.servers import server


@dataclass
class Stored:
    """A slot on a real store, the client it uses and its prefix."""

    slot: RedisSlot
    client: Redis | RedisCluster
    prefix: str


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A cluster of one node."""
    with server(cluster=True) as url:
        yield url


@pytest.fixture(params=["redis", "cluster"])
async def stored(request: pytest.FixtureRequest) -> AsyncIterator[Stored]:
    """A slot on each kind of store, with keys of its own."""
    clustered = request.param == "cluster"
    url = request.getfixturevalue("cluster" if clustered else "store_server")
    prefix = f"{uuid.uuid4().hex}:"
    async with connect(url, cluster=clustered) as client:
        yield Stored(RedisSlot(client, prefix=prefix), client, prefix)


@pytest.fixture(params=["memory", "redis", "cluster"])
async def slot(request: pytest.FixtureRequest) -> AsyncIterator[Slot]:
    """Each implementation of the port."""
    if request.param == "memory":
        yield MemorySlot()
        return
    clustered = request.param == "cluster"
    url = request.getfixturevalue("cluster" if clustered else "store_server")
    async with connect(url, cluster=clustered) as client:
        yield RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")


@pytest.fixture
def key() -> SessionKey:
    """A session with everything in its name that could break a key."""
    return SessionKey("helper", "thread", "C1:17.2|{x}/ü", "T1")
