"""A running workspace, a client of the SDK, and something that listens."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from tests.bot.playground.ear import Ear, serving


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """A local workspace with quick retries; nobody listens yet."""
    async with LocalSlack(retry_after=(0.0, 0.01, 0.01), patience=30.0) as slack:
        yield slack


@pytest.fixture
def client(slack: LocalSlack) -> AsyncWebClient:
    """The SDK's own client, aimed at the workspace."""
    return AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)


@pytest.fixture
async def ear(slack: LocalSlack) -> AsyncIterator[Ear]:
    """A listener the workspace delivers to."""
    ear = Ear()
    application = web.Application()
    application.router.add_post("/slack/events", ear.hear)
    async with serving(application) as url:
        ear.url = f"{url}/slack/events"
        slack.connect(ear.url)
        yield ear
