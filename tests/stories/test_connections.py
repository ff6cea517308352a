"""Connections to the store: bounded by role, so that two releases fit into the smallest plan."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from redis.asyncio import Redis

from bot.playground import LocalSlack
from bot.settings import CONNECTIONS, Settings
from tests.agents.slot.servers import server
from tests.stories.conftest import office_settings, running
from tests.stories.office import Message, Office, buttons

PLAN = 20
"""Connections of Heroku's smallest plan."""
REQUESTS = 24


@pytest.fixture
def small() -> Iterator[str]:
    """A store that takes no more connections than the smallest plan."""
    with server("--maxclients", str(PLAN)) as url:
        yield url


@asynccontextmanager
async def most(client: Redis) -> AsyncIterator[list[int]]:
    """How many connections there are, looked at again and again while the block lasts."""
    seen: list[int] = []

    async def look() -> None:
        while True:
            seen.append(len(await client.client_list()))
            await asyncio.sleep(0.005)

    looking = asyncio.create_task(look())
    try:
        yield seen
    finally:
        looking.cancel()


@pytest.mark.parametrize(
    ("given", "connections"),
    [
        pytest.param({}, 9, id="all roles in one process"),
        pytest.param({"roles": ["web"]}, 3, id="web"),
        pytest.param({"roles": ["worker"]}, 4, id="worker, one of which waits"),
        pytest.param({"roles": ["clock"]}, 2, id="clock"),
        pytest.param({"roles": ["web", "clock"]}, 5, id="two roles"),
        pytest.param({"roles": ["web"], "store_connections": 30}, 30, id="a larger plan"),
    ],
)
def test_how_many_a_process_may_open(given, connections: int):
    """Each role has its share, unless a setting says otherwise."""
    assert Settings.read(**given).connections == connections


def test_two_releases_leave_room_for_an_operator():
    """Old and new processes of all roles, and one more for `release` or a look."""
    assert 2 * sum(CONNECTIONS.values()) + 1 < PLAN


async def test_two_releases_side_by_side_at_work(slack: LocalSlack, small: str, tmp_path):
    """Web, worker and clock twice, two dozen requests and clicks at once: nobody is turned away."""
    office = Office(slack, tmp_path / "ledger.jsonl")
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Redis.from_url(small))
        ports = [
            await stack.enter_async_context(
                running(office_settings(slack, small, tmp_path, roles=[role]))
            )
            for _ in range(2)
            for role in CONNECTIONS
        ]
        old, new = (f"http://127.0.0.1:{port}/slack/events" for port in ports if port)
        async with most(client) as seen:
            slack.connect(old)
            sums = range(200, 200 + REQUESTS)
            await asyncio.gather(
                *(office.ask(f"please reimburse {each} dollars for the hotel") for each in sums)
            )
            cards = await slack.wait_for(lambda: _all_asked(office))
            slack.connect(new)
            await asyncio.gather(*(slack.click("max", card, "approve") for card in cards))
            for card in cards:
                await office.closed(card, "It is done")
        assert sorted(office.amounts()) == list(sums)
        assert 6 < max(seen) <= 2 * sum(CONNECTIONS.values()) + 1
        assert (await client.info("stats"))["rejected_connections"] == 0


def _all_asked(office: Office) -> list[Message]:
    """The open cards, once every request has one."""
    cards = [card for card in office.slack.messages("approvals") if buttons(card)]
    return cards if len(cards) == REQUESTS else []
