"""One process put together from its settings: which parts it has, and how it stops."""

import asyncio
import contextlib
import logging
from pathlib import Path

import aiohttp
import pytest

from agents import SessionKey
from agents.runtime.slot.redis import connect
from bot import app
from bot.errors import SettingsError, SlackUnavailable
from bot.playground import MAX, LocalSlack
from bot.playground.people import BOT, TEAM_ID
from bot.settings import Settings
from bot.slack.workspace import workspace
from bot.tickets.local import LocalTickets


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
        pytest.param(["web", "worker", "clock"], (True, 3), id="all three"),
        pytest.param(["web"], (True, 1), id="web only listens"),
        pytest.param(["worker"], (False, 2), id="worker only works"),
        pytest.param(["clock"], (False, 2), id="clock only ticks"),
    ],
)
async def test_a_process_has_the_parts_of_its_roles(slack, store_url, tmp_path, roles, parts):
    """Each role brings its part and no other; every process looks after its store."""
    async with app.opened(settings(slack, store_url, tmp_path, roles=roles)) as bot:
        assert (bot.port > 0, len(bot.work)) == parts


async def test_all_ends_when_it_is_told_to(slack, store_url, tmp_path):
    """A bot that runs stops by itself once `stopping` is set."""
    stopping = asyncio.Event()
    running = asyncio.create_task(app.run(settings(slack, store_url, tmp_path), stopping=stopping))
    await slack.wait_for(lambda: slack.calls("auth.test"))
    stopping.set()
    await running
    assert running.exception() is None


@pytest.mark.parametrize(
    ("method", "given"),
    [
        pytest.param("auth.test", {}, id="Slack is away"),
        pytest.param(
            "apps.connections.open", {"slack_app_token": "xapp-1-1"}, id="no websocket is opened"
        ),
    ],
)
async def test_it_may_be_told_to_stop_before_it_is_open(slack, store_url, tmp_path, method, given):
    """Who presses Ctrl-C while it waits for Slack does not wait with it."""
    slack.fail(method, "error", times=99)
    stopping = asyncio.Event()
    waiting = settings(slack, store_url, tmp_path, **given)
    running = asyncio.create_task(app.run(waiting, stopping=stopping))
    await slack.wait_for(lambda: len(slack.calls(method)) > 1)
    stopping.set()
    await running
    assert running.exception() is None


@pytest.mark.parametrize("swallowed", [0, 2])
async def test_what_is_opened_is_told_to_stop_until_it_does(monkeypatch, swallowed):
    """Clients swallow a cancellation at times, and then fail as they would have anyway."""
    monkeypatch.setattr(app, "AGAIN", 0.01)
    stopping = asyncio.Event()

    async def opening() -> app.Bot:
        for _ in range(swallowed):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        try:
            await asyncio.Event().wait()
        finally:
            raise SlackUnavailable("too late to matter")

    waiting = asyncio.create_task(app.unless(stopping, opening()))
    await asyncio.sleep(0)
    stopping.set()
    assert await waiting is None


async def test_a_token_for_websockets_that_slack_refuses(slack, store_url, tmp_path):
    """It is not tried for ever: the start stops, and the setting is named with Slack's reason."""
    wrong = settings(slack, store_url, tmp_path, slack_app_token="xapp-wrong")
    with pytest.raises(SettingsError, match="does not accept SLACK_APP_TOKEN: invalid_auth"):
        await app.run(wrong, stopping=asyncio.Event())
    assert len(slack.calls("apps.connections.open")) == 1


async def test_without_an_address_the_store_is_its_own(slack, tmp_path):
    """All roles in one process need no REDIS_URL: a server of its own keeps the data."""
    async with app.opened(settings(slack, None, tmp_path)) as bot:
        assert bot.port > 0
        assert (tmp_path / "store").is_dir()


async def test_a_slack_that_does_not_answer(slack, store_url, tmp_path, free_port):
    """An address where nobody is stops the start after a while, and is named."""
    url = f"http://127.0.0.1:{free_port}/api/"
    nowhere = settings(slack, store_url, tmp_path, slack_api_url=url)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(SlackUnavailable, match="SLACK_API_URL"):
            await workspace(nowhere, session, wait=0.2)


@pytest.mark.parametrize("method", ["auth.test", "conversations.list"])
@pytest.mark.parametrize("kind", ["ratelimited", "error", "html", "lost"])
async def test_slack_on_a_bad_day(slack, store_url, tmp_path, method, kind):
    """Too many requests, a failure, a page instead of JSON: the start asks Slack again."""
    slack.fail(method, kind, times=2, seconds=0.1)
    asked = settings(slack, store_url, tmp_path, approvers_channel="#approvals")
    async with app.opened(asked) as bot:
        assert bot.port > 0
    assert len(slack.calls(method)) == 3


@pytest.mark.parametrize("method", ["auth.test", "conversations.list"])
@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        pytest.param("ratelimited", "does not answer at SLACK_API_URL now", id="429"),
        pytest.param("error", r"SLACK_API_URL \(\w+\)", id="500"),
        pytest.param("html", r"SLACK_API_URL \(http_503\)", id="a page"),
    ],
)
async def test_slack_stays_away(slack, tmp_path, method, kind, sentence):
    """What does not get better within the time is said in words that name the right setting."""
    slack.fail(method, kind, times=99, seconds=0.1)
    asked = settings(slack, None, tmp_path, approvers_channel="#approvals")
    async with aiohttp.ClientSession() as session:
        with pytest.raises(SlackUnavailable, match=sentence):
            await workspace(asked, session, wait=0.5)


async def test_channels_that_may_not_be_listed(slack, store_url, tmp_path):
    """What Slack will never answer is not asked twice, and is said in a sentence."""
    slack.fail("conversations.list", "refused", error="missing_scope")
    with pytest.raises(SettingsError, match=r"Channels cannot be listed.*: missing_scope"):
        async with app.opened(settings(slack, store_url, tmp_path, audit_channel="#general")):
            pass
    assert len(slack.calls("conversations.list")) == 1


@pytest.mark.parametrize("field", ["approvers_channel", "audit_channel"])
async def test_a_channel_by_name_is_enough(slack, store_url, tmp_path, field):
    """One setting with a #name is reason enough to look names up; all others may be ids."""
    channel = slack.workspace.channel("expenses").id
    given = {field: "#general", "routes": {channel: "reimbursement"}}
    async with app.opened(settings(slack, store_url, tmp_path, **given)) as bot:
        assert set(bot.routes) == {channel}


def lose(slack: LocalSlack, how: str) -> None:
    """Have #approvals be no channel of that name any more."""
    channel = slack.workspace.channel("approvals")
    match how:
        case "archived":
            channel.is_archived = True
        case "renamed":
            channel.name = "sign-offs"
        case "without us":
            channel.members.discard(BOT.id)
        case _:
            del slack.workspace.channels[channel.id]


@pytest.mark.parametrize("how", ["archived", "renamed", "deleted", "without us"])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(
            {"approvers_channel": "#approvals"},
            "COUNTERSIGN_APPROVERS_CHANNEL names #approvals, and no such channel can be seen",
            id="for approvals",
        ),
        pytest.param(
            {"audit_channel": "#approvals"},
            "COUNTERSIGN_AUDIT_CHANNEL names #approvals, and no such channel can be seen",
            id="for the audit",
        ),
        pytest.param(
            {"routes": {"#approvals": "time_off", "#expenses": "reimbursement"}},
            "COUNTERSIGN_ROUTES names #approvals, and no such channel can be seen",
            id="where an agent answers",
        ),
        pytest.param(
            {"routes": {"#expenses": {"agent": "time_off", "approvers_channel": "#approvals"}}},
            "COUNTERSIGN_ROUTES names #approvals, and no such channel can be seen",
            id="for approvals of one channel",
        ),
    ],
)
async def test_a_channel_that_is_not_there_any_more(
    slack, store_url, tmp_path, caplog, *, given, told, how
):
    """It was there when the settings were written: the bot starts, and one line says what to do."""
    lose(slack, how)
    with caplog.at_level(logging.WARNING, logger="countersign"):
        async with app.opened(settings(slack, store_url, tmp_path, **given)) as bot:
            assert bot.port > 0
            assert set(bot.routes) == ({"C0EXPENSES1"} if "routes" in given else set())
    lines = [record.fields["why"] for record in caplog.records if "why" in record.fields]
    [line] = [each for each in lines if "#approvals" in each]
    assert line.startswith(told)
    assert line.endswith("then start again.")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"approvers_channel": "#approvals"}, id="by name"),
        pytest.param({"approvers_channel": "C0APPROVAL1"}, id="by id"),
        pytest.param({"routes": {"#general": "time_off", "dm": "time_off"}}, id="routes"),
        pytest.param({}, id="none"),
    ],
)
async def test_a_channel_that_is_there_is_not_spoken_of(slack, store_url, tmp_path, caplog, given):
    """Nobody is warned of what works."""
    with caplog.at_level(logging.WARNING, logger="countersign"):
        async with app.opened(settings(slack, store_url, tmp_path, **given)) as bot:
            assert bot.port > 0
    assert "no such channel" not in caplog.text + str([r.fields for r in caplog.records])


@pytest.mark.parametrize(
    ("session_ttl", "days"),
    [
        pytest.param("1d", 14, id="sessions live shorter than a ticket is waited for"),
        pytest.param("60d", 59, id="and longer"),
    ],
)
async def test_a_ticket_outlives_whoever_waits_for_it(
    slack, store_url, tmp_path, session_ttl, days
):
    """A bundled ticket that nobody touches is not told as deleted before the wait for it ends."""
    given = {"session_ttl": session_ttl, "ticket_ttl": "14d"}
    async with app.opened(settings(slack, store_url, tmp_path, **given)) as bot:
        tickets = LocalTickets(bot.tickets, tenant=TEAM_ID)
        opened = await tickets.create(subject="it", urgency="low", requester="UANA", key=TEAM_ID)
        async with connect(store_url) as client:
            [name] = await client.keys(f"*{opened.id}*:s")
            assert await client.ttl(name) > days * 24 * 3600


async def test_an_operator_sees_the_tenant_of_the_token(slack, store_url, tmp_path):
    """The console looks at what is due in the workspace that the token is for, and only there."""
    asked = settings(slack, store_url, tmp_path)
    key = SessionKey("reimbursement", "thread", "C1:1", TEAM_ID)
    async with app.opened(asked), app.kept(asked) as (_, index, _):
        await index.send(index.buried(key))
    async with app.kept(asked) as (_, index, _):
        assert [found for found, _ in await index.dead()] == [key]
    async with app.kept(settings(slack, store_url, tmp_path, slack_bot_token=None)) as (
        _,
        index,
        _,
    ):
        assert await index.dead() == []
