"""The office of the stories: a real store, the local Slack, and the bot in this process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents import Agent
from bot import app
from bot.playground import MAX, MIA, LocalSlack
from bot.settings import Settings
from tests.stories.office import Office

Opening = Callable[..., Awaitable[Office]]


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    """A Slack on this machine, which repeats events soon, and gives a busy bot its time."""
    async with LocalSlack(retry_after=(0.05, 0.2, 0.5), patience=30.0) as workspace:
        yield workspace


@pytest.fixture
async def open_office(slack: LocalSlack, store_url: str, tmp_path: Path) -> AsyncIterator[Opening]:
    """Starts bots in this process; every one it started is stopped at the end."""
    async with AsyncExitStack() as stack:

        async def opening(
            *, agents: Sequence[Agent] | None = None, url: str = store_url, **given: Any
        ) -> Office:
            settings = office_settings(slack, url, tmp_path, **given)
            port = await stack.enter_async_context(running(settings, agents=agents))
            slack.connect(f"http://127.0.0.1:{port}/slack/events")
            return Office(slack, settings.ledger_path)

        yield opening


@pytest.fixture
async def office(open_office: Opening) -> Office:
    """The usual office: reimbursements in #expenses, days off in #time-off, Max and Mia decide."""
    return await open_office()


def office_settings(slack: LocalSlack, url: str, folder: Path, **given: Any) -> Settings:
    """The settings of a bot in the office."""
    usual = {
        "slack_api_url": slack.api_url,
        "slack_bot_token": slack.bot_token,
        "slack_signing_secret": slack.signing_secret,
        "redis_url": url,
        "model": "rehearsal",
        "port": 0,
        "routes": {"#expenses": "reimbursement", "#time-off": "time_off"},
        "approvers": [MAX.id, MIA.id],
        "approvers_channel": "#approvals",
        "ledger_path": folder / "ledger.jsonl",
    }
    return Settings.read(**{**usual, **given})


@asynccontextmanager
async def running(
    settings: Settings, *, agents: Sequence[Agent] | None = None
) -> AsyncIterator[int]:
    """A bot that works while the block lasts; yields its port."""
    stopping = asyncio.Event()
    async with app.opened(settings, agents=agents) as bot:
        work = asyncio.create_task(bot.run(stopping))
        try:
            yield bot.port
        finally:
            stopping.set()
            with contextlib.suppress(asyncio.CancelledError):
                await work
