"""A Gemini on this machine, and our client of it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from agents.runtime.gemini import Gemini, GeminiOptions
from tests.agents.gemini.server import KEY, GeminiServer, Item

Both = tuple[GeminiServer, Gemini]


@pytest_asyncio.fixture(loop_scope="module")
async def opened() -> AsyncGenerator[Callable[..., Any]]:
    """Opens a server with a script and a client of it; both are closed after the test."""
    async with AsyncExitStack() as stack:

        async def both(
            script: Sequence[Item], *, models: Sequence[str] = ("gemini-test",), **options: Any
        ) -> Both:
            server = await stack.enter_async_context(GeminiServer(script, models=models))
            told = {"api_key": KEY, "base_url": server.url, "timeout": 30.0, **options}
            gemini = Gemini(models[0], GeminiOptions(**told))
            return server, await stack.enter_async_context(gemini)

        yield both


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncGenerator[Both]:
    """A server and a client for all tests of a module, for a client takes a while to make."""
    async with GeminiServer([]) as server:
        options = GeminiOptions(api_key=KEY, base_url=server.url, timeout=30.0)
        async with Gemini("gemini-test", options) as gemini:
            yield server, gemini


@pytest.fixture
def scripted(shared: Both) -> Callable[[Sequence[Item]], Both]:
    """Puts a script into the shared server, which forgets what it was asked before."""

    def both(script: Sequence[Item]) -> Both:
        shared[0].begin(script)
        return shared

    return both
