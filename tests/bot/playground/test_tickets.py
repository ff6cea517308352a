"""The page for tickets: what it lists, how a ticket is moved, and what it refuses."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from agents.runtime.slot.memory import MemorySlot
from bot.playground import tickets
from bot.playground.people import TEAM_ID
from bot.tickets.local import LocalTickets


@pytest.fixture
def system() -> LocalTickets:
    """A ticket system in memory."""
    return LocalTickets(MemorySlot(), tenant=TEAM_ID)


@pytest.fixture
async def page(system: LocalTickets) -> AsyncIterator[TestClient]:
    """The page over it."""
    application = web.Application()
    application.add_routes(tickets.routes(system))
    async with TestClient(TestServer(application)) as client:
        yield client


async def test_the_page_and_its_script_are_served(page: TestClient):
    """Both are there, and nothing from elsewhere may run in it."""
    for path, kind in (("/tickets", "html"), ("/tickets.js", "javascript")):
        response = await page.get(path)
        assert response.status == 200
        assert response.content_type.endswith(kind)
        assert response.headers["Content-Security-Policy"].startswith("default-src 'self'")


async def test_a_ticket_is_listed_and_moved(page: TestClient, system: LocalTickets):
    """What the page shows is what the agent's ticket system knows."""
    made = await system.create(subject="printer", urgency="high", requester="UANA", key="k1")
    [listed] = await (await page.get("/tickets.json")).json()
    assert (listed["id"], listed["status"], listed["final"]) == (made.id, "open", False)
    moved = await page.post(
        f"/tickets/{made.id}", json={"status": "resolved", "note": "  new toner "}
    )
    assert (await moved.json())["final"] is True
    assert (await system.get(made.id)).note == "new toner"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param('{"status": "burnt"}', 400, id="no status of a ticket"),
        pytest.param('{"status": "open", "progress": 101}', 400, id="too much progress"),
        pytest.param('{"status": "open", "id": "x"}', 400, id="a field that is none"),
        pytest.param('{"status": "open", "note": "' + "x" * 1001 + '"}', 400, id="a long note"),
        pytest.param("hello", 400, id="no JSON"),
    ],
)
async def test_what_is_refused(page: TestClient, system: LocalTickets, body: str, status: int):
    """The ticket stays as it is."""
    made = await system.create(subject="printer", urgency="high", requester="UANA", key="k1")
    response = await page.post(f"/tickets/{made.id}", data=body)
    assert response.status == status
    assert await system.get(made.id) == made


async def test_a_ticket_that_is_not_there(page: TestClient):
    """Somebody else may have deleted it."""
    response = await page.post("/tickets/T-NOTHERE", json={"status": "resolved"})
    assert response.status == 404
    assert "not there" in await response.text()
