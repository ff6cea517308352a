"""Says what a share costs: a plain function as a tool, over a bundled table or a service."""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import aiohttp

from agents import Agent, FunctionTool, ToolError

TABLE: Mapping[str, Any] = json.loads(Path(__file__).with_name("stock_prices.json").read_text())
STOCKS: Mapping[str, Mapping[str, Any]] = {stock["symbol"]: stock for stock in TABLE["stocks"]}
TIMEOUT_S = 10.0
INSTRUCTION = """\
You look up share prices. Call `get_stock_price` with the ticker symbol, or with the company's name
when that is all the person gave; call it once for each company. Tell the price with its currency,
and from when it is. When no price is found, say so; never guess one.
"""

_SYMBOL = re.compile(r"[A-Z0-9][A-Z0-9.^=-]{0,11}")
_NO_NAME = frozenset({"and", "co", "company", "corp", "corporation", "group", "inc", "ltd", "of",
                      "plc", "share", "shares", "stock", "the"})  # fmt: skip


def stock_price_agent(look_up: Callable[..., Any] | None = None) -> Agent:
    """The agent that looks prices up; without `look_up` in the bundled table."""
    return Agent(
        name="stock_price",
        description="Looks up what a share costs, by ticker symbol or company name.",
        instruction=INSTRUCTION,
        tools=[FunctionTool(look_up or get_stock_price, effects="none")],
        examples=("What is the stock price of AAPL?", "Stock price of Microsoft, please"),
    )


def get_stock_price(symbol: str) -> dict[str, Any]:
    """Get the stock price of a company.

    Args:
        symbol: The ticker symbol, e.g. "AAPL", or the company's name.
    """
    stock = STOCKS.get(symbol_of(symbol) or "")
    if stock is None:
        raise ToolError(_unknown(symbol))
    when = {"currency": TABLE["currency"], "as_of": TABLE["as_of"]}
    return {**stock, **when, "note": "This is a sample out of a bundled table, no market's price."}


class HttpPrices:
    """Prices by GET from a service: `url` with `{symbol}` where the ticker symbol goes.

    It answers with a JSON object that has `price`, and perhaps `currency`, `company` and `as_of`;
    404, or no price, means that it does not know the symbol. The caller owns the session.
    """

    def __init__(
        self, url: str, *, session: aiohttp.ClientSession, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Keep where to ask."""
        self._url = url
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def get_stock_price(self, symbol: str) -> dict[str, Any]:
        """Get the stock price of a company.

        Args:
            symbol: The ticker symbol, e.g. "AAPL", or the company's name.
        """
        wanted = symbol_of(symbol)
        if wanted is None:
            raise ToolError(_unknown(symbol))
        said = await self._asked(wanted)
        price = _number(said.get("price"))
        if price is None:
            raise ToolError(_unknown(symbol))
        told = {key: said[key] for key in ("company", "currency", "as_of") if said.get(key)}
        known = {"company": STOCKS[wanted]["company"]} if wanted in STOCKS else {}
        return {"symbol": wanted, **known, **told, "price": price}

    async def _asked(self, symbol: str) -> Mapping[str, Any]:
        """What the service says of a symbol; empty when it does not know it."""
        url = self._url.replace("{symbol}", quote(symbol, safe=""))
        try:
            async with self._session.get(url, timeout=self._timeout) as response:
                if response.status == 404:
                    return {}
                response.raise_for_status()
                said = json.loads(await response.text(errors="replace"))
        except aiohttp.ClientResponseError as error:
            raise ToolError(f"The price service refused: status {error.status}.") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ToolError("The price service does not answer. Try again later.") from error
        except ValueError as error:
            raise ToolError("The price service answered with something else.") from error
        return cast("Mapping[str, Any]", said) if isinstance(said, Mapping) else {}


def symbol_of(text: str) -> str | None:
    """The ticker symbol that somebody means; None when it can be none.

    A symbol is taken as it is, a company's name is looked for in the bundled table.
    """
    said = text.strip().lstrip("$").upper()
    if said in STOCKS:
        return said
    wanted = _words(text)
    found = [symbol for symbol, stock in STOCKS.items() if wanted and _fits(wanted, stock)]
    if len(found) == 1:
        return found[0]
    return said if _SYMBOL.fullmatch(said) else None


def _fits(wanted: set[str], stock: Mapping[str, Any]) -> bool:
    """Whether words name a company: all its own words, or none but its own."""
    own = _words(stock["company"])
    return wanted <= own or own <= wanted


def _words(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower().replace("'s", "").replace("’s", ""))
    return {word for word in words if word not in _NO_NAME}


def _unknown(text: str) -> str:
    """That no price is known, and which symbols are close."""
    names = {stock["company"].lower(): symbol for symbol, stock in STOCKS.items()}
    names |= {symbol.lower(): symbol for symbol in STOCKS}
    close = difflib.get_close_matches(text.strip().lower(), names, n=3, cutoff=0.6)
    meant = [f"{names[name]} ({STOCKS[names[name]]['company']})" for name in close]
    hint = f" Did you mean {' or '.join(dict.fromkeys(meant))}?" if meant else ""
    return f"There is no stock price for “{text.strip()[:50]}”: the symbol is unknown.{hint}"


def _number(value: object) -> float | None:
    """A price, given as a number or in digits; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        price = float(value)
    except ValueError:
        return None
    return price if math.isfinite(price) and price > 0 else None
