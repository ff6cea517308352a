"""What tests of the bot's own parts share."""

import uuid
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from agents import Slot
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.redis import Client, RedisSlot, connect
from bot.index import Index
from bot.outbox import Outbox
from bot.playground import LocalSlack
from bot.slack.replies import Replies, web_client
from bot.turns import Thread, session_key
from tests.agents.slot.servers import server
from tests.bot.owing import Desk
from tests.bot.river import River


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Client]:
    """A client of the empty store."""
    client = connect(store_url)
    yield client
    await client.aclose()


@pytest.fixture(params=["memory", "redis"])
async def slot(request: pytest.FixtureRequest) -> AsyncIterator[Slot]:
    """A slot in memory and on a real server."""
    if request.param == "memory":
        yield MemorySlot()
        return
    async with connect(request.getfixturevalue("store_server")) as client:
        yield RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A cluster of one node."""
    with server(cluster=True) as url:
        yield url


@pytest.fixture(params=["single", "cluster"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A client of each kind of store, empty."""
    clustered = request.param == "cluster"
    url = request.getfixturevalue("cluster" if clustered else "store_server")
    async with connect(url, cluster=clustered) as client:
        await client.flushall()
        yield client


@pytest.fixture
async def river(store: Client) -> AsyncIterator[River]:
    """A thread of Ana's in #expenses."""
    async with LocalSlack() as slack, aiohttp.ClientSession() as session:
        said = await slack.say("ana", "expenses", "hello")
        replies = Replies(web_client(slack.bot_token, api_url=slack.api_url, session=session))
        thread = Thread(said.message["channel"], said.ts)
        yield River(slack, RedisSlot(store), Index(store), replies, thread)


@pytest.fixture
async def desk(store_url: str) -> AsyncIterator[Desk]:
    """A thread that Ana began, with nothing owed yet."""
    async with LocalSlack() as slack, aiohttp.ClientSession() as session:
        client = connect(store_url)
        slot = RedisSlot(client)
        replies = Replies(web_client(slack.bot_token, api_url=slack.api_url, session=session))
        said = await slack.say("ana", "expenses", "hello")
        thread = Thread(said.message["channel"], said.ts)
        key = session_key(team="T0LOCALWORK", agent="reimbursement", thread=thread)
        await slot.apply(key, state={}, create=True)
        yield Desk(slack, slot, Outbox(slot=slot, replies=replies), key)
        await client.aclose()
