"""The Web API calls we make, against a Slack that can fail in every way."""

import time
from typing import Any

import aiohttp
import pytest

from bot.playground import LocalSlack
from bot.slack import blocks
from bot.slack.blocks import Rendered
from bot.slack.endings import Posted, Refused, Retry, Uncertain
from bot.slack.people import People, person_of
from bot.slack.replies import Replies, Seen, web_client
from bot.turns import Spot, Thread
from tests.bot.slack.samples import NOW, approval, payload

HELLO = blocks.answer("hello")[0]


def general(slack: LocalSlack) -> str:
    """The id of a channel the bot is in."""
    return slack.workspace.channel("general").id


async def test_a_post_is_found_again_by_its_id(slack: LocalSlack, replies: Replies) -> None:
    """A message in a channel, and a reply in its thread, carry the id of what is owed."""
    channel = Thread(general(slack))
    top = await replies.post(channel, HELLO, id="o:1")
    assert isinstance(top, Posted)
    spot = Spot.parse(top.place)
    thread = Thread(spot.channel, spot.ts)
    reply = await replies.post(thread, HELLO, id="o:2")
    assert isinstance(reply, Posted)
    assert await replies.find(channel, id="o:1") == top
    assert await replies.find(thread, id="o:2") == reply
    assert await replies.find(thread, id="o:3") is None
    assert await replies.find(channel, id="o:1", seen=Seen(9_999_999_999)) is None


@pytest.mark.parametrize(
    ("kind", "error", "result"),
    [
        pytest.param("ratelimited", "", Retry(7), id="429 says when"),
        pytest.param("error", "", Uncertain("internal_error"), id="500"),
        pytest.param("html", "", Uncertain("http_503"), id="an HTML page"),
        pytest.param("lost", "", Uncertain("ServerDisconnectedError"), id="the answer is lost"),
        pytest.param("refused", "fatal_error", Uncertain("fatal_error"), id="fatal_error"),
        pytest.param("refused", "rate_limited", Retry(1), id="flooding a channel"),
        pytest.param("refused", "org_login_required", Retry(600), id="much later"),
    ],
)
async def test_what_may_be_tried_again(
    slack: LocalSlack, replies: Replies, kind: Any, error: str, result: object
) -> None:
    """Slack did not take it, or nobody knows: two different ends."""
    slack.fail("chat.postMessage", kind, seconds=7, error=error)
    assert await replies.post(Thread(general(slack)), HELLO, id="o:1") == result


async def test_nothing_is_sent_from_a_moment_on(slack: LocalSlack, replies: Replies) -> None:
    """A process that stood still makes no call that has become late, and ends one that would be."""
    now = time.monotonic()
    channel = Thread(general(slack))
    posted = await replies.post(channel, HELLO, id="o:1", until=now + 60)
    assert isinstance(posted, Posted)
    assert await replies.post(channel, HELLO, id="o:2", until=now) == Uncertain("late")
    assert await replies.update(posted.place, HELLO, until=now) == Uncertain("late")
    assert [call.method for call in slack.calls()] == ["chat.postMessage"]
    slack.fail("chat.postMessage", "slow", seconds=5)
    late = await replies.post(channel, HELLO, id="o:3", until=time.monotonic() + 0.05)
    assert late == Uncertain("TimeoutError")


async def test_no_answer_in_time(slack: LocalSlack, session: aiohttp.ClientSession) -> None:
    """Who waits no longer does not know whether it was taken."""
    slack.fail("chat.postMessage", "slow", seconds=5)
    client = web_client(slack.bot_token, api_url=slack.api_url, session=session)
    hasty = Replies(client, timeout=0.05)
    assert await hasty.post(Thread(general(slack)), HELLO, id="o:1") == Uncertain("TimeoutError")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("channel_not_found", "I cannot see that channel; please invite me to it."),
        ("is_archived", "That channel is archived."),
        ("user_disabled", "That person's account is deactivated."),
        (
            "restricted_action_thread_only_channel",
            "I am not allowed to post in that channel.",
        ),
        ("missing_scope", "The app may not use chat.postMessage: missing_scope."),
        ("token_revoked", "Slack takes nothing from this app: token_revoked."),
        ("expired_trigger_id", "That took too long; please click again."),
    ],
)
async def test_what_slack_refuses(
    slack: LocalSlack, replies: Replies, error: str, sentence: str
) -> None:
    """A refusal says why in a sentence for whoever has to hear it."""
    slack.fail("chat.postMessage", "refused", error=error)
    refused = await replies.post(Thread(general(slack)), HELLO, id="o:1")
    assert isinstance(refused, Refused)
    assert (refused.code, refused.sentence) == (error, sentence)
    assert not refused.gone


async def test_a_lost_answer_does_not_post_twice(slack: LocalSlack, replies: Replies) -> None:
    """The client does not try again by itself; the message is there and is found."""
    channel = Thread(general(slack))
    slack.fail("chat.postMessage", "lost")
    assert isinstance(await replies.post(channel, HELLO, id="o:1"), Uncertain)
    assert isinstance(await replies.find(channel, id="o:1"), Posted)
    assert len(slack.messages("general")) == 1


async def test_no_server(session: aiohttp.ClientSession) -> None:
    """A call that never left may simply be made again."""
    client = web_client("xoxb-1", api_url="http://127.0.0.1:1/api/", session=session)
    assert await Replies(client).direct("U1") == Retry(1.0)


async def test_what_cannot_be_shown_is_posted_short(slack: LocalSlack, replies: Replies) -> None:
    """A card that Slack refuses is posted as its text and its buttons: it stays decidable."""
    card = blocks.card(approval(), now=NOW)
    broken = Rendered(card.text, [{"type": "section", "text": {}}, *card.blocks])
    posted = await replies.post(Thread(general(slack)), broken, id="o:1")
    assert isinstance(posted, Posted)
    (message,) = slack.messages("general")
    assert [block["type"] for block in message["blocks"]] == ["rich_text", "actions"]


async def test_update(slack: LocalSlack, replies: Replies) -> None:
    """An update replaces a message; one that is gone says so."""
    posted = await replies.post(Thread(general(slack)), HELLO, id="o:1")
    assert isinstance(posted, Posted)
    assert await replies.update(posted.place, blocks.answer("bye")[0]) == posted
    assert slack.find("bye", slack.messages("general"))
    gone = await replies.update(f"{general(slack)}|1.000000", HELLO)
    assert isinstance(gone, Refused)
    assert gone.gone


async def test_direct(slack: LocalSlack, replies: Replies) -> None:
    """A person's DM is opened by their id."""
    ana = slack.workspace.person("ana")
    opened = await replies.direct(ana.id)
    assert opened == Posted(slack.workspace.dm(ana).id)
    assert isinstance(await replies.direct("U0NOBODY"), Refused)


async def test_channels(slack: LocalSlack, replies: Replies) -> None:
    """Channels are found by name."""
    found = await replies.channels()
    assert not isinstance(found, Retry | Uncertain | Refused)
    assert found["general"] == general(slack)


async def test_people_are_remembered_for_a_minute(slack: LocalSlack, replies: Replies) -> None:
    """A person is asked for once a minute; when Slack does not answer, nobody is guessed."""
    now = [0.0]
    people = People(replies, team="T0LOCALWORK", clock=lambda: now[0])
    ana = slack.workspace.person("ana").id
    first = await people.person(ana)
    assert first is not None
    assert not first.deleted
    now[0] = 59
    assert await people.person(ana) is first
    assert len(slack.calls("users.info")) == 1
    now[0] = 61
    slack.fail("users.info", "error", times=1)
    assert await people.person(ana) is None
    assert await people.person(ana) == first
    people.forget(ana)
    await people.person(ana)
    assert len(slack.calls("users.info")) == 4


@pytest.mark.parametrize(
    ("user", "flags"),
    [
        pytest.param(payload("web_api/users_info_stranger")["user"], "stranger", id="stranger"),
        pytest.param({"id": "U1", "deleted": False, "is_restricted": True}, "guest", id="guest"),
        pytest.param(
            {"id": "U1", "deleted": False, "is_ultra_restricted": True}, "guest", id="one channel"
        ),
        pytest.param({"id": "U1", "deleted": False, "is_bot": True}, "bot", id="bot"),
        pytest.param({"id": "U1", "deleted": True}, "deleted", id="deactivated"),
        pytest.param({"id": "U1"}, "deleted", id="nothing is said"),
        pytest.param({"id": "U1", "deleted": False}, "", id="a colleague"),
    ],
)
def test_person_of(user: dict[str, Any], flags: str) -> None:
    """Guests, strangers, bots and deactivated accounts are told apart."""
    person = person_of(user)
    found = {
        "stranger": person.is_stranger,
        "guest": person.is_guest,
        "bot": person.is_bot,
        "deleted": person.deleted,
    }
    assert [name for name, value in found.items() if value] == ([flags] if flags else [])


@pytest.mark.parametrize(
    ("user", "name"),
    [
        pytest.param({"profile": {"display_name": "bo", "real_name": "Bo B"}}, "bo", id="display"),
        pytest.param({"profile": {"display_name": " ", "real_name": "Bo B"}}, "Bo B", id="real"),
        pytest.param({"real_name": "Bo\n\nB"}, "Bo B", id="one line"),
        pytest.param({"profile": {"real_name": "b" * 500}}, "b" * 80, id="short"),
        pytest.param({"profile": [], "real_name": 3}, "", id="odd"),
        pytest.param({}, "", id="nothing is said"),
    ],
)
def test_what_a_person_is_called(user: dict[str, Any], name: str) -> None:
    """The name that people see, whatever else the account has."""
    assert person_of(user).name == name
