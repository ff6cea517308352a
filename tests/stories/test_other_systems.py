"""Systems that are somebody else's: prices and tickets come from where the settings say."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.stories.conftest import Opening

Tickets = dict[str, dict[str, object]]


@pytest.fixture
def tickets() -> Tickets:
    """What the other system knows, by the ticket's id."""
    return {}


@pytest.fixture
async def elsewhere(tickets: Tickets) -> AsyncIterator[str]:
    """The address of a service for prices and tickets."""

    async def on_price(request: web.Request) -> web.Response:
        price = {"AAPL": 301.25}.get(request.query["s"])
        return web.json_response({"price": price, "currency": "EUR"})

    async def on_open(request: web.Request) -> web.Response:
        asked = await request.json()
        number = str(len(tickets) + 100)
        tickets[number] = {"id": number, "status": "New", "subject": asked["subject"]}
        return web.json_response(tickets[number], status=201)

    async def on_look(request: web.Request) -> web.Response:
        found = tickets.get(request.match_info["id"])
        return web.json_response(found, status=200 if found else 404)

    application = web.Application()
    application.router.add_get("/price", on_price)
    application.router.add_post("/tickets", on_open)
    application.router.add_get("/tickets/{id}", on_look)
    server = TestServer(application)
    await server.start_server()
    yield f"http://127.0.0.1:{server.port}"
    await server.close()


async def test_a_price_from_a_service(open_office: Opening, elsewhere: str):
    """The price is that of the service, and an unknown symbol is said to be one."""
    office = await open_office(stock_price_url=elsewhere + "/price?s={symbol}")
    for asked, told in (("Apple", "301.25"), ("XYZQ", "There is no stock price")):
        await office.slack.dm("ana", f"stock price of {asked}")
        await office.slack.wait_for(lambda: office.slack.find(told, office.slack.dms("ana")))  # noqa: B023 - waited for


async def test_a_ticket_in_another_system(open_office: Opening, elsewhere: str, tickets: Tickets):
    """It is opened there, and what happens to it there is heard of in the thread."""
    office = await open_office(
        routes={"#support": "support"},
        tickets_url=f"{elsewhere}/tickets",
        ticket_poll=timedelta(milliseconds=20),
    )
    thread = await office.ask("high urgency ticket: the printer is on fire", where="support")
    line = await office.answer(thread, "Ticket 100: open.", where="support")
    assert tickets["100"]["subject"] == "printer is on fire"
    tickets["100"] |= {"status": "Waiting for parts", "progress": 50}
    await office.slack.wait_for(lambda: "in progress, 50 %" in office.now(line)["text"])
    tickets["100"] |= {"status": "Closed", "note": "A new printer stands there"}
    await office.answer(thread, "A new printer stands there.", where="support")
    assert "resolved" in office.now(line)["text"]
