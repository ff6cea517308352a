"""One process put together from its settings: which parts it has, and how it stops."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from bot import app
from bot.errors import SettingsError
from bot.playground import MAX, LocalSlack
from bot.settings import Settings
from bot.slack.workspace import workspace


@pytest.fixture
async def slack():
    """A Slack on this machine."""
    async with LocalSlack() as workspace:
        yield workspace


def settings(slack: LocalSlack, url: str | None, folder: Path, **given) -> Settings:
    """The settings of a bot for the local Slack."""
    usual = {
        "slack_api_url": slack.api_url,
        "slack_bot_token": slack.bot_token,
        "slack_signing_secret": slack.signing_secret,
        "redis_url": url,
        "model": "rehearsal",
        "port": 0,
        "approvers": [MAX.id],
        "data_dir": folder / "store",
        "ledger_path": folder / "ledger.jsonl",
    }
    return Settings.read(**{**usual, **given})


@pytest.mark.parametrize(
    ("roles", "parts"),
    [
        pytest.param(["web", "worker", "clock"], (True, 2), id="all three"),
        pytest.param(["web"], (True, 0), id="web only listens"),
        pytest.param(["worker"], (False, 1), id="worker only works"),
        pytest.param(["clock"], (False, 1), id="clock only ticks"),
    ],
)
async def test_a_process_has_the_parts_of_its_roles(slack, store_url, tmp_path, roles, parts):
    """Each role brings its part and no other."""
    async with app.opened(settings(slack, store_url, tmp_path, roles=roles)) as bot:
        assert (bot.port > 0, len(bot.work)) == parts


async def test_all_ends_when_it_is_told_to(slack, store_url, tmp_path):
    """A bot that runs stops by itself once `stopping` is set."""
    stopping = asyncio.Event()
    running = asyncio.create_task(app.run(settings(slack, store_url, tmp_path), stopping=stopping))
    await slack.wait_for(lambda: slack.calls("auth.test"))
    stopping.set()
    await asyncio.wait_for(running, 10)
    assert running.exception() is None


async def test_without_an_address_the_store_is_its_own(slack, tmp_path):
    """All roles in one process need no REDIS_URL: a server of its own keeps the data."""
    async with app.opened(settings(slack, None, tmp_path)) as bot:
        assert bot.port > 0
        assert (tmp_path / "store").is_dir()


async def test_an_approvers_channel_that_is_not_there(slack, store_url, tmp_path):
    """A channel that cannot be found stops the start, and is named."""
    wrong = settings(slack, store_url, tmp_path, approvers_channel="#nowhere")
    with pytest.raises(SettingsError, match="#nowhere"):
        async with app.opened(wrong):
            pass


async def test_a_slack_that_does_not_answer(slack, store_url, tmp_path, free_port):
    """An address where nobody is stops the start after a while, and is named."""
    url = f"http://127.0.0.1:{free_port}/api/"
    nowhere = settings(slack, store_url, tmp_path, slack_api_url=url)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(SettingsError, match="SLACK_API_URL"):
            await workspace(nowhere, session, wait=0.2)
