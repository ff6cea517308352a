"""A real Bolt app and the people who use it: each action does what it does in Slack."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.playground import CannotDo, LocalSlack
from tests.bot.playground.cards import card, modal, plain
from tests.bot.playground.ear import serving

ANSWERS: dict[str, dict[str, Any]] = {
    "errors": {"response_action": "errors", "errors": {"b_reason": "Say more."}},
    "unknown": {"response_action": "errors", "errors": {"elsewhere": "?"}},
    "update": {"response_action": "update", "view": modal(title=plain("Next"))},
    "push": {"response_action": "push", "view": modal(title=plain("Next"))},
    "clear": {"response_action": "clear"},
}

Heard = list[tuple[str, Any]]


@pytest.fixture
def heard() -> Heard:
    """What the app's listeners were called with: a kind and what matters of it."""
    return []


@pytest.fixture
async def app(slack: LocalSlack, client: AsyncWebClient, heard: Heard) -> AsyncIterator[AsyncApp]:
    """A small approval bot on the real Bolt, reachable for the workspace."""
    app = AsyncApp(client=client, signing_secret=slack.signing_secret, process_before_response=True)
    _listen(app, heard)
    server = app.server(port=0, path="/slack/events")
    async with serving(server.web_app) as url:
        slack.connect(f"{url}/slack/events")
        yield app


def _listen(app: AsyncApp, heard: Heard) -> None:
    async def on_mention(event: dict[str, Any], client: AsyncWebClient) -> None:
        heard.append(("mention", event["ts"]))
        await client.chat_postMessage(
            channel=event["channel"], thread_ts=event["ts"], text="Sure?", blocks=card()
        )

    async def on_message(event: dict[str, Any]) -> None:
        heard.append((f"message {event.get('subtype', '')}".strip(), event["ts"]))

    async def on_action(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        heard.append((body["actions"][0]["action_id"], body["state"]["values"]))
        if body["actions"][0]["action_id"] == "reject":
            await client.views_open(trigger_id=body["trigger_id"], view=modal())

    async def on_submit(ack: Any, view: dict[str, Any]) -> None:
        heard.append(("submit", view["state"]["values"]))
        reason = view["state"]["values"]["b_reason"]["reason"]["value"]
        await ack(**ANSWERS.get(reason, {}))

    async def on_close(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        heard.append(("closed", body["is_cleared"]))

    async def on_command(ack: Any, command: dict[str, Any]) -> None:
        heard.append((command["command"], command["text"]))
        await ack(text=f"You said {command['text']}.")

    async def on_home(event: dict[str, Any]) -> None:
        heard.append(("home", event["user"]))

    app.event("app_mention")(on_mention)
    app.event("message")(on_message)
    app.event("app_home_opened")(on_home)
    app.action(re.compile(".*"))(on_action)
    app.view("decide")(on_submit)
    app.view_closed("decide")(on_close)
    app.command("/approvals")(on_command)


async def _rejecting(slack: LocalSlack) -> None:
    """Bring Max in front of the form."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    await slack.click("max", slack.thread("#time-off", said.ts)[1], "reject")


async def test_mention(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A mention is heard twice and answered in its thread."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    assert sorted(heard) == [("mention", said.ts), ("message", said.ts)]
    assert [each["text"] for each in slack.thread("#time-off", said.ts)][1] == "Sure?"


async def test_typed_name_is_a_mention(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """Typing the bot's name mentions it, as picking it from the list does."""
    await slack.say("ana", "#time-off", "@countersign 3 days off")
    assert set(dict(heard)) == {"mention", "message"}


async def test_dm(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A DM is heard once."""
    said = await slack.dm("ana", "hello @countersign")
    assert heard == [("message", said.ts)]


async def test_edit_and_delete(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """Changing and deleting one's own message is heard; another's cannot be touched."""
    said = await slack.say("ana", "#time-off", "one")
    await slack.edit("ana", said.message, "two")
    assert slack.messages("#time-off")[0]["text"] == "two"
    with pytest.raises(CannotDo):
        await slack.delete("ben", said.message)
    await slack.delete("ana", said.message)
    assert slack.messages("#time-off") == []
    assert [kind for kind, _ in heard] == [
        "message",
        "message message_changed",
        "message message_deleted",
    ]


async def test_click_with_values(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A click sends what this person entered, and nobody else's entries."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    shown = slack.thread("#time-off", said.ts)[1]
    await slack.enter("mia", shown, {"approved_days": "1"})
    clicked = await slack.click("max", shown, "approve", values={"approved_days": "2"})
    assert clicked.ok
    kind, values = heard[-1]
    assert kind == "approve"
    assert values["in_days"]["approved_days"]["value"] == "2"


async def test_change_is_told_at_once(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A select in an actions block tells of its change; a text input keeps it."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    shown = slack.thread("#time-off", said.ts)[1]
    await slack.enter("max", shown, {"approved_days": "2"})
    await slack.enter("max", shown, {"leave_type": "unpaid"})
    assert [kind for kind, _ in heard[2:]] == ["leave_type"]


async def test_entries_survive_an_update(
    slack: LocalSlack, client: AsyncWebClient, app: AsyncApp, heard: Heard
) -> None:
    """An updated card with the same block ids keeps what a person entered."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    shown = slack.thread("#time-off", said.ts)[1]
    await slack.enter("max", shown, {"approved_days": "2"})
    await client.chat_update(
        channel=shown["channel"], ts=shown["ts"], text="Still sure?", blocks=card()
    )
    await slack.click("max", shown, "approve")
    assert heard[-1][1]["in_days"]["approved_days"]["value"] == "2"


async def test_form(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A form is filled in, sent, and gone; numbers are strings."""
    await _rejecting(slack)
    sent = await slack.submit("max", {"reason": "release week", "approved_days": 2})
    assert sent.ok
    assert heard[-1][1]["b_days"]["approved_days"] == {"type": "number_input", "value": "2"}
    assert slack.modals("max") == []


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        pytest.param({}, {"b_reason"}, id="a required field is empty"),
        pytest.param({"reason": "x", "approved_days": 31}, {"b_days"}, id="too large"),
        pytest.param({"reason": "x", "approved_days": "1.5"}, {"b_days"}, id="not whole"),
        pytest.param({"reason": "x", "approved_days": "two"}, {"b_days"}, id="no number"),
    ],
)
async def test_form_refuses_by_itself(
    slack: LocalSlack, app: AsyncApp, heard: Heard, values: dict[str, Any], errors: set[str]
) -> None:
    """What Slack's own form refuses never reaches the bot."""
    await _rejecting(slack)
    sent = await slack.submit("max", values)
    assert set(sent.errors) == errors
    assert "submit" not in dict(heard)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        pytest.param("errors", ({"b_reason": "Say more."}, "", ["Decide"]), id="errors"),
        pytest.param("update", ({}, "", ["Next"]), id="update"),
        pytest.param("push", ({}, "", ["Decide", "Next"]), id="push"),
        pytest.param("clear", ({}, "", []), id="clear"),
        pytest.param("unknown", ({}, "trouble", ["Decide"]), id="errors of no block"),
    ],
)
async def test_answers_to_a_form(
    slack: LocalSlack, app: AsyncApp, reason: str, expected: tuple[Any, str, list[str]]
) -> None:
    """The bot's answer to a form decides what the person sees next."""
    await _rejecting(slack)
    sent = await slack.submit("max", {"reason": reason})
    errors, warning, titles = expected
    assert sent.errors == errors
    assert warning in sent.warning
    assert [view["title"]["text"] for view in slack.modals("max")] == titles


async def test_form_nobody_answers(slack: LocalSlack, app: AsyncApp, free_port: int) -> None:
    """A form that reaches nobody stays open and says so."""
    await _rejecting(slack)
    slack.connect(f"http://127.0.0.1:{free_port}/slack/events")
    sent = await slack.submit("max", {"reason": "x"})
    assert sent.deliveries[0].answer.reason == "connection_failed"
    assert "trouble" in sent.warning
    assert len(slack.modals("max")) == 1


async def test_notice(slack: LocalSlack, client: AsyncWebClient) -> None:
    """A modal without inputs is only read and closed, and nobody hears of it."""
    trigger = slack.workspace.grants.trigger(slack.workspace.person("max").id, now=slack.now)
    notice = {"type": "modal", "title": plain("Notice"), "blocks": card()[:2]}
    await client.views_open(trigger_id=trigger, view=notice)
    with pytest.raises(CannotDo, match="no submit"):
        await slack.submit("max")
    assert (await slack.close("max")).deliveries == ()
    assert slack.modals("max") == []


async def test_close(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A form that asks for it tells that it was closed."""
    await _rejecting(slack)
    await slack.close("max")
    assert heard[-1] == ("closed", False)
    assert slack.modals("max") == []


async def test_command(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A command's answer is shown to the person alone."""
    used = await slack.command("ana", "#time-off", "/approvals mine")
    assert used.ok
    assert heard == [("/approvals", "mine")]
    assert [each["text"] for each in slack.visible("ana", "#time-off")] == ["You said mine."]
    assert slack.visible("max", "#time-off") == []


async def test_open_answer_to_a_command(
    slack: LocalSlack, client: AsyncWebClient, app: AsyncApp
) -> None:
    """An answer for the channel is seen by all, and silence by nobody."""

    async def on_poll(ack: Any) -> None:
        await ack(text="Lunch?", response_type="in_channel")

    async def on_quiet(ack: Any) -> None:
        await ack()

    app.command("/poll")(on_poll)
    app.command("/quiet")(on_quiet)
    await slack.command("ana", "#time-off", "/poll")
    await slack.command("ana", "#time-off", "/quiet")
    assert [each["text"] for each in slack.visible("max", "#time-off")] == ["Lunch?"]


async def test_unknown_command(slack: LocalSlack, app: AsyncApp) -> None:
    """A command the bot does not know fails visibly."""
    assert "dispatch_failed" in (await slack.command("ana", "#time-off", "/lunch")).warning


async def test_home(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """Looking at the Home is told."""
    await slack.open_home("max")
    assert heard == [("home", slack.workspace.person("max").id)]


async def test_forged_signature(slack: LocalSlack, app: AsyncApp, heard: Heard) -> None:
    """A body with a wrong or old signature is refused and never heard."""
    said = await slack.say("ana", "#time-off", "hello")
    body = said.deliveries[0].body
    true = slack.delivery.signed(body)
    for headers in (
        true | {"X-Slack-Signature": "v0=0"},
        slack.delivery.signed(body, now=slack.now - 301),
        {},
    ):
        forged = await slack.deliver_raw(body, {"Content-Type": "application/json", **headers})
        assert forged.status == 401
    assert len(heard) == 1


async def test_own_messages_are_not_heard(
    slack: LocalSlack, client: AsyncWebClient, app: AsyncApp, heard: Heard
) -> None:
    """The bot's own posts are delivered as in Slack, and Bolt ignores them."""
    await client.chat_postMessage(channel=slack.workspace.channel("general").id, text="mine")
    await slack.settled()
    assert [each.status for each in slack.delivery.records] == [200]
    assert heard == []


async def test_response_url(slack: LocalSlack, client: AsyncWebClient, app: AsyncApp) -> None:
    """A response_url answers five times, privately, openly, or in place of what was clicked."""
    urls: list[str] = []

    async def on_shown(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        urls.append(body["response_url"])

    button = {"type": "button", "action_id": "other", "text": plain("Go")}
    buttons = [{"type": "actions", "elements": [button]}]
    app._async_listeners.clear()
    app.action("other")(on_shown)
    where = slack.workspace.channel("general").id
    person = slack.workspace.person("max").id
    await client.chat_postEphemeral(channel=where, user=person, text="Go?", blocks=buttons)
    await slack.click("max", slack.visible("max", "#general")[0], "other")
    reply = AsyncWebhookClient(urls[0])
    await reply.send(text="gone", replace_original=True)
    assert [each["text"] for each in slack.visible("max", "#general")] == ["gone"]
    await reply.send(text="all", response_type="in_channel")
    assert [each["text"] for each in slack.messages("#general")] == ["all"]
    await reply.send(text="you")
    await reply.send(text="", delete_original=True)
    assert [each["text"] for each in slack.visible("max", "#general")] == ["all", "you"]
    assert (await reply.send(text="")).status_code == 400
    assert (await reply.send(text="once more")).status_code == 404


async def test_response_url_changes_a_message(slack: LocalSlack, client: AsyncWebClient) -> None:
    """A message that was clicked is replaced, blocks and all, and taken away."""
    where = slack.workspace.channel("general").id
    posted = await client.chat_postMessage(channel=where, text="Go?", blocks=card())
    token = slack.workspace.grants.reply("U0", channel_id=where, ts=posted["ts"], now=slack.now)
    reply = AsyncWebhookClient(f"{slack.url}/response/{token}")
    await reply.send(text="gone", replace_original=True)
    (left,) = slack.messages("#general")
    assert (left["text"], "blocks" in left) == ("gone", False)
    bad = await reply.send(text="x", blocks=[{"type": "banner"}])
    assert bad.status_code == 400
    await reply.send(text="", delete_original=True)
    assert slack.messages("#general") == []
    again = await reply.send(text="", delete_original=True)
    assert "message_not_found" in again.body
    invented = await AsyncWebhookClient(f"{slack.url}/response/none").send(text="x")
    assert invented.status_code == 404


@pytest.mark.parametrize(
    ("deed", "what"),
    [
        pytest.param(
            lambda slack, shown: slack.click("ana", shown, "nothing"), "no 'nothing'", id="button"
        ),
        pytest.param(
            lambda slack, shown: slack.click("pat", shown, "approve"), "not see", id="outsider"
        ),
        pytest.param(
            lambda slack, shown: slack.enter("max", shown, {"leave_type": "gift"}),
            "not offer",
            id="option",
        ),
        pytest.param(
            lambda slack, shown: slack.enter("max", shown, {"from_date": "soon"}), "date", id="date"
        ),
        pytest.param(
            lambda slack, shown: slack.enter("max", shown, {"approve": "x"}), "no value", id="value"
        ),
        pytest.param(lambda slack, shown: slack.submit("max"), "no modal", id="modal"),
        pytest.param(lambda slack, shown: slack.say("pat", "#general", "x"), "not in", id="room"),
        pytest.param(lambda slack, shown: slack.say("zoe", "#general", "x"), "zoe", id="person"),
        pytest.param(lambda slack, shown: slack.say("ana", "#nowhere", "x"), "nowhere", id="name"),
        pytest.param(
            lambda slack, shown: slack.click("max", {"hash": "", "id": "V0"}, "x"),
            "view",
            id="view",
        ),
        pytest.param(
            lambda slack, shown: slack.command("pat", "#general", "/approvals"),
            "not see",
            id="command",
        ),
    ],
)
async def test_what_nobody_can_do(slack: LocalSlack, app: AsyncApp, deed: Any, what: str) -> None:
    """A test that does what no person could do in Slack is told so."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    [shown] = await slack.wait_for(lambda: slack.thread("#time-off", said.ts)[1:2])
    with pytest.raises(CannotDo, match=what):
        await deed(slack, shown)


async def test_wait_for_tells_what_is_there(slack: LocalSlack) -> None:
    """A failed wait lists messages, whispers, modals, deliveries and calls."""
    await slack.say("ana", "#time-off", "is anybody there?")
    with pytest.raises(TimeoutError, match=r"is anybody there\?[\s\S]*message -> 0"):
        await slack.wait_for(lambda: slack.messages("#general"), timeout=0.01)


async def test_changes(slack: LocalSlack) -> None:
    """Whoever follows the changes hears of each, without any text."""
    changes = slack.changes()
    waiting = anext(changes)
    said = await slack.say("ana", "#random", "secret words")
    channel = slack.workspace.channel("random").id
    assert await waiting == {"kind": "message", "channel": channel, "ts": said.ts}


async def test_snapshot(slack: LocalSlack, client: AsyncWebClient, app: AsyncApp) -> None:
    """A snapshot has what this person sees, and what stands in their inputs."""
    said = await slack.mention("ana", "#time-off", "3 days off")
    shown = slack.thread("#time-off", said.ts)[1]
    await slack.enter("max", shown, {"approved_days": "2"})
    await client.chat_postMessage(channel=slack.workspace.channel("approvals").id, text="boss")

    def rooms(who: str) -> dict[str, Any]:
        return {each["name"]: each for each in slack.snapshot(who)["channels"]}

    card_of_max, card_of_ana = (rooms(who)["time-off"]["messages"][1] for who in ("max", "ana"))
    assert card_of_max["state"]["values"]["in_days"]["approved_days"]["value"] == "2"
    assert card_of_ana["state"]["values"]["in_days"]["approved_days"]["value"] == "3"
    assert "approvals" in rooms("max")
    assert "approvals" not in rooms("ana")
    assert set(rooms("pat")) == {"partners"}
