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


async def test_without_tickets_the_page_says_how_to_open_one(page: TestClient):
    """It looks again by itself, and nothing from elsewhere may run in it."""
    response = await page.get("/tickets")
    text = await response.text()
    assert (response.status, response.content_type) == (200, "text/html")
    assert response.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert "@countersign Open a high urgency ticket" in text
    assert 'http-equiv="refresh"' in text


async def test_a_ticket_is_listed_and_moved(page: TestClient, system: LocalTickets):
    """What the page shows is what the agent's ticket system knows; an end has no buttons."""
    made = await system.create(subject="printer", urgency="high", requester="UANA", key="k1")
    before = await (await page.get("/tickets")).text()
    assert f"{made.id} · urgency high" in before
    assert before.count("<button") == len(tickets.MOVES)
    moved = await page.post(
        f"/tickets/{made.id}", data={"move": "in_progress 30", "note": "  new toner "}
    )
    assert "in progress, 30 %" in await moved.text()
    stored = await system.get(made.id)
    assert (stored.status, stored.progress, stored.note) == ("in_progress", 30, "new toner")
    ended = await (await page.post(f"/tickets/{made.id}", data={"move": "resolved"})).text()
    assert "resolved" in ended
    assert "<button" not in ended


async def test_what_people_wrote_is_text(page: TestClient, system: LocalTickets):
    """Neither a subject nor a note becomes a part of the page."""
    subject = "<script>alert(1)</script>"
    made = await system.create(subject=subject, urgency="low", requester="UANA", key="k1")
    note = {"move": "in_progress 30", "note": '"><img src=x onerror=alert(1)>'}
    text = await (await page.post(f"/tickets/{made.id}", data=note)).text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;img src=x" in text
    assert "<script" not in text
    assert "<img" not in text


@pytest.mark.parametrize("move", [text for _, text, _ in tickets.MOVES])
async def test_every_button_is_a_move(page: TestClient, system: LocalTickets, move: str):
    """Each of them leaves the ticket as it says."""
    made = await system.create(subject="printer", urgency="high", requester="UANA", key="k1")
    response = await page.post(f"/tickets/{made.id}", data={"move": move})
    assert response.status == 200
    stored = await system.get(made.id)
    status, _, percent = move.partition(" ")
    assert (stored.status if stored else "deleted") == status
    assert str((stored and stored.progress) or "") == percent


@pytest.mark.parametrize(
    ("form", "status"),
    [
        pytest.param({"move": "burnt"}, 400, id="no status of a ticket"),
        pytest.param({}, 400, id="no move"),
        pytest.param({"move": "open 101"}, 400, id="too much progress"),
        pytest.param({"move": "open soon"}, 400, id="progress that is no number"),
        pytest.param({"move": "open", "id": "x"}, 400, id="a field that is none"),
        pytest.param({"move": "open", "note": "x" * 1001}, 400, id="a long note"),
    ],
)
async def test_what_is_refused(
    page: TestClient, system: LocalTickets, form: dict[str, str], status: int
):
    """The ticket stays as it is."""
    made = await system.create(subject="printer", urgency="high", requester="UANA", key="k1")
    response = await page.post(f"/tickets/{made.id}", data=form)
    assert response.status == status
    assert await system.get(made.id) == made


async def test_a_ticket_that_is_not_there(page: TestClient):
    """Somebody else may have deleted it."""
    response = await page.post("/tickets/T-NOTHERE", data={"move": "resolved"})
    assert response.status == 404
    assert "not there" in await response.text()
