"""A running workspace, and what talks to it."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from bot.playground import LocalSlack
from bot.slack.replies import Replies, web_client


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """A local workspace that brings events again at once; nobody listens yet."""
    async with LocalSlack(retry_after=(0.0, 0.01, 0.01), patience=30.0) as slack:
        yield slack


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """What the bot calls Slack with."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def replies(slack: LocalSlack, session: aiohttp.ClientSession) -> Replies:
    """The bot's calls, aimed at the workspace."""
    client = web_client(slack.bot_token, api_url=slack.api_url, session=session)
    return Replies(client)
