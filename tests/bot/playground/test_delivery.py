"""How events and clicks reach the bot: signed, retried or not, as Slack does."""

import json
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from tests.bot.playground.cards import card
from tests.bot.playground.ear import Ear, serving


def refusing(*statuses: int, **headers: str) -> list[web.Response]:
    """Responses with these statuses."""
    return [web.Response(status=status, headers=headers) for status in statuses]


async def test_retried_until_taken(slack: LocalSlack, ear: Ear) -> None:
    """An event the bot did not take comes again, the same one, and says why."""
    ear.answers.extend(refusing(503, 503))
    said = await slack.dm("ana", "hello")
    await slack.settled()
    assert said.status == 503
    assert len({body["event_id"] for body in ear.bodies}) == 1
    assert [head.get("X-Slack-Retry-Num") for head in ear.headers] == [None, "1", "2"]
    assert ear.headers[1]["X-Slack-Retry-Reason"] == "http_error"


async def test_given_up(slack: LocalSlack, ear: Ear) -> None:
    """After three retries nothing more comes."""
    ear.answers.extend(refusing(500, 500, 500, 500))
    await slack.dm("ana", "hello")
    await slack.settled()
    assert len(ear.bodies) == 4


async def test_no_retry_wanted(slack: LocalSlack, ear: Ear) -> None:
    """X-Slack-No-Retry stops it at once."""
    ear.answers.extend(refusing(500, **{"X-Slack-No-Retry": "1"}))
    await slack.dm("ana", "hello")
    await slack.settled()
    assert len(ear.bodies) == 1


async def test_retry_reaches_a_restarted_bot(slack: LocalSlack, ear: Ear) -> None:
    """What nobody took while the bot was down comes when it is back, at its new address."""
    slack.connect(None)
    said = await slack.dm("ana", "hello")
    slack.connect(ear.url)
    await slack.settled()
    assert said.status == 0
    assert ear.headers[0]["X-Slack-Retry-Reason"] == "connection_failed"
    assert ear.bodies[0]["event"]["text"] == "hello"


async def test_click_comes_once(slack: LocalSlack, ear: Ear, client: AsyncWebClient) -> None:
    """A click that failed is not repeated; the person sees a warning."""
    general = slack.workspace.channel("general").id
    await client.chat_postMessage(channel=general, text="x", blocks=card())
    await slack.settled()
    ear.answers.extend(refusing(500))
    clicked = await slack.click("max", slack.messages("#general")[0], "approve")
    await slack.settled()
    assert clicked.warning
    assert len(ear.of("block_actions")) == 1


async def test_no_answer_in_time() -> None:
    """A bot that does not answer in time gets the event again."""

    async def sleep(request: web.Request) -> web.Response:
        await request.read()
        await slack.wait_for(lambda: len(slack.delivery.records) > 1)
        return web.Response()

    from_bot = web.Application()
    from_bot.router.add_post("/", sleep)
    async with (
        LocalSlack(retry_after=(0.0,), patience=0.1) as slack,
        serving(from_bot) as url,
    ):
        slack.connect(url)
        said = await slack.dm("ana", "hello")
        await slack.settled()
        assert said.deliveries[0].answer.reason == "http_timeout"
        assert [each.attempt for each in slack.delivery.records] == [0, 1]


async def test_signature(slack: LocalSlack, ear: Ear) -> None:
    """What is delivered passes the SDK's verifier."""
    await slack.dm("ana", "hello")
    (record,) = slack.delivery.records
    assert SignatureVerifier(slack.signing_secret).is_valid_request(record.body, record.headers)
    assert json.loads(record.body) == ear.bodies[0]


async def test_raw(slack: LocalSlack, ear: Ear) -> None:
    """Anything can be posted to the bot, as a forger would."""
    body = json.dumps({"type": "forged"})
    headers = {"Content-Type": "application/json", **slack.delivery.signed(body, now=1.0)}
    delivered = await slack.deliver_raw(body, headers)
    assert delivered.ok
    assert ear.headers[0]["X-Slack-Request-Timestamp"] == "1"


async def test_any_event(slack: LocalSlack, ear: Ear) -> None:
    """Events the workspace does not make by itself are delivered in the usual envelope."""
    event = {"type": "tokens_revoked", "tokens": {"bot": ["U0LOCALBOT1"]}}
    assert (await slack.deliver_event(event)).ok
    assert ear.bodies[0]["event"] == event
    assert ear.bodies[0]["type"] == "event_callback"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        pytest.param("#general", ["message"], id="a member hears"),
        pytest.param("#random", [], id="elsewhere the bot hears nothing"),
    ],
)
async def test_only_members_hear(
    slack: LocalSlack, ear: Ear, where: str, expected: list[Any]
) -> None:
    """The bot is told of channels it is in."""
    await slack.say("ana", where, "hello")
    assert [body["event"]["type"] for body in ear.bodies] == expected


async def test_a_bot_brought_in_hears_of_it(slack: LocalSlack, ear: Ear) -> None:
    """The bot is told that it joined."""
    await slack.join("countersign", "#random")
    assert ear.of("member_joined_channel")[0]["event"]["user"] == "U0LOCALBOT1"
