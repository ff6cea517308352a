"""The stock price agent: symbols, names, unknown ones, and a service instead of the table."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agents import InMemorySessionService, Runner, ToolError
from agents.runtime.rehearsal import RehearsalModel
from agents.stock_price import STOCKS, HttpPrices, get_stock_price, stock_price_agent, symbol_of
from tests.agents.talk import says


@pytest.mark.parametrize(
    ("said", "symbol"),
    [
        pytest.param("AAPL", "AAPL", id="a symbol"),
        pytest.param(" aapl ", "AAPL", id="in small letters"),
        pytest.param("$msft", "MSFT", id="with a dollar"),
        pytest.param("Apple", "AAPL", id="a company"),
        pytest.param("Apple Inc.", "AAPL", id="with its legal form"),
        pytest.param("the Microsoft Corporation", "MSFT", id="with an article"),
        pytest.param("google", "GOOG", id="a former name"),
        pytest.param("McDonald’s", "MCD", id="an apostrophe"),
        pytest.param("Johnson and Johnson", "JNJ", id="an ampersand"),
        pytest.param("Coca-Cola Company", "KO", id="a hyphen"),
        pytest.param("Ford", "F", id="a part of the name"),
        pytest.param("motor", "MOTOR", id="a word of several names"),
        pytest.param("BRK.B", "BRK.B", id="a symbol that is not in the table"),
        pytest.param("^GSPC", None, id="no first letter"),
        pytest.param("Foobar Industries", None, id="no company we know"),
        pytest.param("", None, id="nothing"),
        pytest.param("the", "THE", id="no name is made of filler"),
    ],
)
def test_what_somebody_means(said: str, symbol: str | None) -> None:
    """A symbol is taken as it is; a name is looked for in the table."""
    assert symbol_of(said) == symbol


def test_the_table_is_whole() -> None:
    """A few dozen companies, each with a name and a price above zero."""
    assert len(STOCKS) >= 36
    assert all(stock["company"] and stock["price"] > 0 for stock in STOCKS.values())
    assert all(symbol_of(stock["company"]) == symbol for symbol, stock in STOCKS.items())


def test_a_price_out_of_the_table() -> None:
    """The answer has symbol, company, price and currency, and says that it is a sample."""
    told = get_stock_price("apple")
    assert (told["symbol"], told["company"], told["currency"]) == ("AAPL", "Apple", "USD")
    assert told["price"] == STOCKS["AAPL"]["price"]
    assert "sample" in told["note"]


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        pytest.param("APPL", "Did you mean AAPL (Apple)", id="a slip"),
        pytest.param("Mikrosoft", "Did you mean MSFT (Microsoft)", id="a name with a slip"),
        pytest.param("XYZQ", "is unknown.", id="nothing like it"),
        pytest.param("x" * 500, "“" + "x" * 50 + "”", id="very long"),
    ],
)
def test_an_unknown_symbol_says_so(said: str, hint: str) -> None:
    """The sentence names what was asked for, and what is close to it."""
    with pytest.raises(ToolError, match="There is no stock price for") as raised:
        get_stock_price(said)
    assert hint in str(raised.value)


async def test_the_agent_tells_a_price_and_that_there_is_none() -> None:
    """A person asks for two companies, one of which nobody knows."""
    runner = Runner(
        agent=stock_price_agent(),
        session_service=InMemorySessionService(),
        models=RehearsalModel(),
        auto_create_session=True,
    )
    assert "268.40" in await says(runner, "What is the stock price of AAPL?")
    assert "There is no stock price for “XYZQ”" in await says(runner, "stock price of XYZQ")


@pytest.fixture
async def service() -> AsyncIterator[TestServer]:
    """A service that knows a few symbols, and some ways to go wrong."""
    answers: dict[str, Any] = {
        "AAPL": {"price": 300.5, "currency": "EUR", "as_of": "now", "secret": "x"},
        "BRK.B": {"price": "512.30"},
        "EMPTY": {},
        "NULL": {"price": None},
        "TRUE": {"price": True},
        "NAN": {"price": "nan"},
        "LIST": [1],
    }

    async def price(request: web.Request) -> web.Response:
        symbol = request.match_info["symbol"]
        if symbol == "HTML":
            return web.Response(text="<html>")
        if symbol == "BROKEN":
            return web.Response(status=500)
        if symbol not in answers:
            return web.Response(status=404)
        return web.json_response(answers[symbol])

    application = web.Application()
    application.router.add_get("/q/{symbol}", price)
    server = TestServer(application)
    await server.start_server()
    yield server
    await server.close()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(
            "apple",
            {
                "symbol": "AAPL",
                "company": "Apple",
                "currency": "EUR",
                "as_of": "now",
                "price": 300.5,
            },
            id="a company",
        ),
        pytest.param("brk.b", {"symbol": "BRK.B", "price": 512.3}, id="a price in digits"),
    ],
)
async def test_a_price_from_a_service(service: TestServer, said: str, told: dict[str, Any]) -> None:
    """The service is asked by symbol; what it says beyond a price is not passed on."""
    async with aiohttp.ClientSession() as session:
        prices = HttpPrices(str(service.make_url("/q/")) + "{symbol}", session=session)
        assert await prices.get_stock_price(said) == told


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        pytest.param("NOBODY", "There is no stock price", id="404"),
        pytest.param("EMPTY", "There is no stock price", id="no price"),
        pytest.param("NULL", "There is no stock price", id="null"),
        pytest.param("TRUE", "There is no stock price", id="a boolean"),
        pytest.param("NAN", "There is no stock price", id="not a number"),
        pytest.param("LIST", "There is no stock price", id="a list"),
        pytest.param("a / b ? c", "There is no stock price", id="no symbol at all"),
        pytest.param("HTML", "answered with something else", id="a page"),
        pytest.param("BROKEN", "status 500", id="an error"),
    ],
)
async def test_a_service_that_knows_no_price(service: TestServer, said: str, sentence: str) -> None:
    """Whatever it answers, the model gets a sentence and nothing crashes."""
    async with aiohttp.ClientSession() as session:
        prices = HttpPrices(str(service.make_url("/q/")) + "{symbol}", session=session)
        with pytest.raises(ToolError, match=sentence):
            await prices.get_stock_price(said)


async def test_a_service_that_is_down() -> None:
    """When nobody listens, the sentence says that trying again later may help."""
    async with aiohttp.ClientSession() as session:
        prices = HttpPrices("http://127.0.0.1:9/{symbol}", session=session)
        with pytest.raises(ToolError, match="does not answer"):
            await prices.get_stock_price("AAPL")
