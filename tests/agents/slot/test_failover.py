"""What a server answers that is not the one to write to any more: another connection is asked."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

import hiredis
import pytest
import redis

from agents.runtime.errors import StoreUnavailable
from agents.runtime.slot.port import Entry, SessionKey
from agents.runtime.slot.redis import RedisSlot, Replicas, connect
from agents.runtime.slot.store import Client
from bot.index import Index
from tests.agents.slot.pair import Pair, pair
from tests.agents.slot.samples import begin
from tests.agents.slot.servers import server
from tests.agents.slot.test_replicas import asked, start
from tests.lines import dialled, listening

KEY = SessionKey("helper", "thread", "C1:1", "T1")


class Street:
    """One address: whoever moved away refuses every command, new connections find who is there."""

    def __init__(self, url: str) -> None:
        """Lead to a store."""
        self.store = urlsplit(url)
        self.refusal = b""
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what one client and the store say, until this connection's server refuses."""
        self.connections += 1
        lives_here = self.connections
        async with dialled(self.store.hostname, self.store.port) as (there, back):
            answers = asyncio.create_task(_pass_on(there, writer))
            while chunk := await reader.read(65536):
                if self.refusal and lives_here == 1:
                    writer.write(self.refusal * _commands(chunk))
                else:
                    back.write(chunk)
            answers.cancel()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)


def _commands(chunk: bytes) -> int:
    """How many commands a client sent."""
    reader, count = hiredis.Reader(), 0
    reader.feed(chunk)
    while reader.gets() is not False:
        count += 1
    return count


@contextlib.asynccontextmanager
async def street(url: str) -> AsyncIterator[tuple[Street, Client]]:
    """An address of a store, and a client that knows it."""
    line = Street(url)
    async with (
        listening(line.serve) as port,
        connect(f"redis://127.0.0.1:{port}", connections=1) as client,
    ):
        yield line, client


async def _slot(client: Client, name: str) -> object:
    return await RedisSlot(client, prefix=name).ingest(KEY, Entry(id="m", body={}))


async def _index(client: Client, name: str) -> object:
    index = Index(client, prefix=name)
    return await index.send((*index.ring(KEY), *index.buried(KEY)))


async def _bell(client: Client, name: str) -> object:
    return await Index(client, prefix=name).wait(seconds=0.01)


async def _replicas(client: Client, name: str) -> object:
    return await RedisSlot(client, prefix=name, replicas=Replicas(1, wait=1)).saved(KEY)


ASKED = [
    pytest.param(_slot, id="a slot"),
    pytest.param(_index, id="the index"),
    pytest.param(_bell, id="the doorbell"),
    pytest.param(_replicas, id="replicas"),
]
MOVED = [
    b"-READONLY You can't write against a read only replica.",
    b"-READONLY You can't write against a read only replica. script: 1f, on @user_script:1.",
    b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    b"-LOADING Valkey is loading the dataset in memory",
    b"-UNBLOCKED force unblock from blocking operation, instance state changed",
    b"-NOREPLICAS Not enough good replicas to write.",
]
STAYED = [
    b"-BUSY Valkey is busy running a script. You can only call SCRIPT KILL.",
    b"-MISCONF Errors writing to the AOF file: No space left on device",
    b"-OOM command not allowed when used memory > 'maxmemory'.",
]


def named(lines: list[bytes]) -> list[object]:
    """Cases named by the first words of what the server says."""
    return [pytest.param(line + b"\r\n", id=line[1:30].decode()) for line in lines]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("refusal", named(MOVED))
async def test_another_server_is_asked(
    store_server: str,
    request: pytest.FixtureRequest,
    ask: Callable[..., Awaitable[object]],
    refusal,
) -> None:
    """The connection is dropped, the command repeated on a new one; the caller hears no error."""
    async with street(store_server) as (line, client):
        await client.ping()
        line.refusal = refusal
        await ask(client, f"{request.node.name}:")
        assert line.connections == 2


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("refusal", named(STAYED))
async def test_the_same_server_is_asked_later(
    store_server: str,
    request: pytest.FixtureRequest,
    ask: Callable[..., Awaitable[object]],
    refusal,
) -> None:
    """What another connection would hear as well is told at once, and keeps its connection."""
    async with street(store_server) as (line, client):
        await client.ping()
        line.refusal = refusal
        with pytest.raises(StoreUnavailable):
            await ask(client, f"{request.node.name}:")
        line.refusal = b""
        await client.ping()
        assert line.connections == 1


async def test_a_primary_that_became_a_replica() -> None:
    """A real failover behind one address, which leaves the old primary up as a replica."""
    with pair() as stores:
        async with street(stores.url) as (line, client):
            slot = RedisSlot(client)
            await slot.ingest(KEY, Entry(id="before", body={}))
            with redis.Redis.from_url(stores.url) as old:
                while old.wait(1, 100) < 1:
                    pass
                stores.part()
                line.store = urlsplit(stores.replica)
                old.replicaof("127.0.0.1", line.store.port)
            await slot.ingest(KEY, Entry(id="after", body={}))
            begun = await slot.begin(KEY, owner="w", lease=1_000)
    assert (begun.head.id, line.connections) == ("before", 2)


class Parted(RedisSlot):
    """A slot whose replica takes over right after the first look at it."""

    stores: Pair

    async def saved(self, key: SessionKey) -> bool:
        """As it is before that."""
        found = await super().saved(key)
        self.stores.part()
        return found


async def test_a_start_is_known_where_it_was_saved() -> None:
    """While it waits for replicas another server takes over, whose own replica never heard of it.

    It is written there before that one's replicas are counted: nobody begins the body again.
    """
    with (
        pair() as stores,
        server() as last,
        redis.Redis.from_url(last) as third,
        redis.Redis.from_url(stores.url) as old,
    ):
        third.replicaof("127.0.0.1", urlsplit(stores.replica).port)
        async with street(stores.url) as (line, client):
            slot = Parted(client, replicas=Replicas(1, wait=4_000))
            slot.stores = stores
            begun = await asked(slot, KEY)
            starting = asyncio.create_task(slot.start_call(KEY, start(begun)))
            await asyncio.to_thread(_wait, old)
            line.store = urlsplit(stores.replica)
            old.replicaof("127.0.0.1", line.store.port)
            assert (await starting).kind == "go"
            view = await slot.read(KEY, parts=("approvals",))
            assert view is not None
            assert view.approvals["q"].status == "started"
            assert (await begin(RedisSlot(client), KEY)).started == {"1-0"}


def _wait(store: redis.Redis) -> None:
    """Until somebody waits for the store's replicas, who has none any more."""
    while not (
        store.info("clients")["blocked_clients"]
        and not store.info("replication")["connected_slaves"]
    ):
        time.sleep(0.01)
