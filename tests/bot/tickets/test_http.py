"""A ticket system behind HTTP: what is sent, what its answers mean, and how it can fail."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agents import Ticket, ToolError
from bot.errors import TicketsUnavailable
from bot.tickets.http import HttpTickets

PRINTER = {"subject": "printer", "urgency": "high", "requester": "UANA", "key": "k1"}


@dataclass
class System:
    """A service that answers with what it is told to, and remembers what it was asked."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[web.Request] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    url: str = ""

    async def serve(self, request: web.Request) -> web.Response:
        """Answer."""
        self.asked.append(request)
        self.bodies.append(await request.text())
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return web.Response(status=self.status, text=text, headers=self.headers)


@pytest.fixture
async def system() -> AsyncIterator[System]:
    """A service on this machine."""
    found = System()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", found.serve)
    server = TestServer(application)
    await server.start_server()
    found.url = str(server.make_url("/tickets/"))
    yield found
    await server.close()


@pytest.fixture
async def tickets(system: System) -> AsyncIterator[HttpTickets]:
    """The client under test."""
    async with aiohttp.ClientSession() as session:
        yield HttpTickets(system.url, session=session, token="s3cret")


async def test_opening_a_ticket(system: System, tickets: HttpTickets):
    """The key goes along, so that the service opens one ticket for it."""
    system.status, system.body = 201, {"id": 17, "status": "New"}
    assert await tickets.create(**PRINTER) == Ticket(id="17")
    [request] = system.asked
    assert (request.method, request.path) == ("POST", "/tickets")
    assert request.headers["Idempotency-Key"] == "k1"
    assert request.headers["Authorization"] == "Bearer s3cret"
    assert json.loads(system.bodies[0]) == {
        "subject": "printer",
        "urgency": "high",
        "requester": "UANA",
        "external_id": "k1",
    }


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        pytest.param(422, {"error": "no such queue"}, "refused.*no such queue", id="refused"),
        pytest.param(403, "<html>", "refused.*status 403", id="refused without a reason"),
        pytest.param(200, {"status": "open"}, "without the ticket's id", id="no id"),
        pytest.param(200, "<html>", "without the ticket's id", id="a page"),
        pytest.param(500, {}, "does not answer", id="broken"),
        pytest.param(408, {}, "whether the ticket is open is not known", id="too slow"),
        pytest.param(409, {}, "whether the ticket is open is not known", id="under way"),
        pytest.param(423, {}, "whether the ticket is open is not known", id="locked"),
        pytest.param(425, {}, "whether the ticket is open is not known", id="too early"),
        pytest.param(429, {}, "does not answer", id="too busy"),
    ],
)
async def test_a_ticket_that_is_not_opened(
    system: System, tickets: HttpTickets, status: int, body: Any, sentence: str
):
    """The model gets a sentence that claims no more than is known."""
    system.status, system.body = status, body
    with pytest.raises(ToolError, match=sentence):
        await tickets.create(**PRINTER)


@pytest.mark.parametrize(
    ("said", "ticket"),
    [
        pytest.param({"status": "To Do"}, Ticket(id="a/b"), id="open"),
        pytest.param(
            {"status": "Waiting for parts", "progress": 30},
            Ticket(id="a/b", status="in_progress", progress=30),
            id="a word of its own",
        ),
        pytest.param(
            {"status": "Closed", "note": "new toner"},
            Ticket(id="a/b", status="resolved", note="new toner"),
            id="closed",
        ),
        pytest.param({"status": "WONT-FIX"}, Ticket(id="a/b", status="rejected"), id="rejected"),
        pytest.param({"status": "open", "progress": 300}, Ticket(id="a/b"), id="nonsense"),
        pytest.param({}, Ticket(id="a/b"), id="no status"),
        pytest.param({"note": "x" * 9_000}, Ticket(id="a/b", note="x" * 2_000), id="a long note"),
    ],
)
async def test_how_a_ticket_stands(
    system: System, tickets: HttpTickets, said: dict[str, Any], ticket: Ticket
):
    """Words of ticket systems are read as ours; the id is the one that was asked for."""
    system.body = said | {"id": "another"}
    assert await tickets.get("a/b") == ticket
    assert system.asked[0].raw_path == "/tickets/a%2Fb"


@pytest.mark.parametrize(
    ("status", "ticket"),
    [
        pytest.param(404, None, id="not found"),
        pytest.param(410, Ticket(id="17", status="deleted"), id="gone"),
    ],
)
async def test_a_ticket_that_is_not_there(
    system: System, tickets: HttpTickets, status: int, ticket: Ticket | None
):
    """Gone is deleted; what is not found may never have been there."""
    system.status = status
    assert await tickets.get("17") == ticket


@pytest.mark.parametrize(
    ("status", "headers", "after_s"),
    [
        pytest.param(503, {}, None, id="broken"),
        pytest.param(429, {"Retry-After": "7"}, 7.0, id="too busy"),
        pytest.param(503, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}, None, id="a date"),
        pytest.param(401, {}, None, id="not allowed in"),
    ],
)
async def test_a_system_that_does_not_answer(
    system: System,
    tickets: HttpTickets,
    status: int,
    headers: dict[str, str],
    after_s: float | None,
):
    """It is no news; how long to wait is passed on when it is said."""
    system.status, system.headers = status, headers
    with pytest.raises(TicketsUnavailable) as raised:
        await tickets.get("17")
    assert raised.value.after_s == after_s


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(200, "<html>please log in</html>", id="a page to log in"),
        pytest.param(200, "", id="nothing"),
        pytest.param(204, "", id="no content"),
        pytest.param(200, "[]", id="a list"),
        pytest.param(200, "null", id="null"),
        pytest.param(200, {}, id="an empty object"),
        pytest.param(200, {"error": "maintenance"}, id="an error"),
        pytest.param(200, {"ok": False, "message": "try again"}, id="a sentence"),
        pytest.param(409, {"id": "17", "status": "open"}, id="a conflict"),
    ],
)
async def test_what_says_nothing_of_a_ticket(
    system: System, tickets: HttpTickets, status: int, body: Any
):
    """It is neither open again nor gone: nobody can tell now."""
    system.status, system.body = status, body
    with pytest.raises(TicketsUnavailable):
        await tickets.get("17")


async def test_a_system_that_is_down():
    """Nobody listens: a ticket is neither there nor gone."""
    async with aiohttp.ClientSession() as session:
        tickets = HttpTickets("http://127.0.0.1:9/tickets", session=session)
        with pytest.raises(TicketsUnavailable):
            await tickets.get("17")
        with pytest.raises(ToolError, match="not known"):
            await tickets.create(**PRINTER)
