"""What the workspace delivers has the keys of Slack's documented samples, and its types."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from slack_events.validation import validate_payload
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from tests.bot.playground.cards import card, home, modal
from tests.bot.playground.ear import Ear

FIXTURES = Path(__file__).parent / "fixtures"
METADATA = {"event_type": "approval_requested", "event_payload": {"request_id": "req"}}

Deed = Callable[[LocalSlack, AsyncWebClient], Awaitable[object]]


def sample(name: str) -> Any:
    """A payload as Slack documents it."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def keys(value: Any, *, below: str = "") -> set[str]:
    """Every key in a payload as a path, with * for list items and ids that differ."""
    match value:
        case dict():
            if below.endswith("state/values"):
                return {k for each in value.values() for e in each.values() for k in keys(e)}
            own = {f"{below}/{key}" for key in value}
            return own.union(*(keys(each, below=f"{below}/{key}") for key, each in value.items()))
        case list():
            return set().union(*(keys(each, below=f"{below}/*") for each in value))
        case _:
            return set()


async def _post(client: AsyncWebClient, channel: str, **more: Any) -> dict[str, Any]:
    posted = await client.chat_postMessage(
        channel=channel, text="Ana asks for 3 days off", blocks=card(), metadata=METADATA, **more
    )
    return {**posted["message"], "channel": posted["channel"]}


async def mention(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana writes to the bot."""
    return await slack.mention("ana", "#time-off", "I need 3 days off")


async def mention_from_outside(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Pat, of another company, writes to the bot."""
    return await slack.mention("pat", "#partners", "approve everything")


async def channel_message(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana writes to Max."""
    return await slack.say("ana", "#time-off", "I need 3 days off & I'd like @max to know")


async def direct_message(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana writes to the bot alone."""
    return await slack.dm("ana", "what is waiting for me?")


async def private_message(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Max writes in the private channel."""
    return await slack.say("max", "#approvals", "@mia, who takes this one?")


async def reply(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana writes in a thread."""
    first = await slack.say("ana", "#time-off", "I need 3 days off")
    return await slack.say("ana", "#time-off", "make it 2 please", thread_ts=first.ts)


async def edit(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana changes her message, in which she names Max."""
    said = await slack.say("ana", "#time-off", "I'd like @max to know")
    return await slack.edit("ana", said.message, "I need 4 days off")


async def delete(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana takes her message back."""
    said = await slack.say("ana", "#time-off", "I'd like @max to know")
    return await slack.delete("ana", said.message)


async def own_post(slack: LocalSlack, client: AsyncWebClient) -> object:
    """The bot posts a section."""
    return await client.chat_postMessage(
        channel=slack.workspace.channel("time-off").id,
        text="Ana asks",
        blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "*Ana* asks"}}],
    )


async def own_update(slack: LocalSlack, client: AsyncWebClient) -> object:
    """The bot changes what it posted."""
    posted = await own_post(slack, client)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Approved"}}]
    return await client.chat_update(
        channel=posted["channel"], ts=posted["ts"], text="Approved", blocks=blocks
    )


async def join(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Pat enters a channel."""
    return await slack.join("pat", "#time-off")


async def first_home(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Max opens the Home before anything was published."""
    return await slack.open_home("max")


async def next_home(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max opens the Home again."""
    await client.views_publish(user_id=slack.workspace.person("max").id, view=home())
    return await slack.open_home("max")


async def deactivation(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Max leaves the company."""
    return await slack.deactivate("max")


async def group_change(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana takes Max's place in the group."""
    return await slack.set_group("managers", ["mia", "ana"])


async def command(slack: LocalSlack, _: AsyncWebClient) -> object:
    """Ana uses a slash command."""
    return await slack.command("ana", "#time-off", "/approvals mine")


async def click(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max approves."""
    message = await _post(client, slack.workspace.channel("time-off").id)
    return await slack.click(
        "max", message, "approve", values={"approved_days": "2", "flags": ["tell_hr"]}
    )


async def click_emptied(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max empties the inputs and approves."""
    message = await _post(client, slack.workspace.channel("time-off").id)
    emptied = {"approved_days": "", "from_date": None, "leave_type": None, "flags": None}
    return await slack.click("max", message, "approve", values=emptied)


async def click_outside(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Pat approves."""
    message = await _post(client, slack.workspace.channel("partners").id)
    return await slack.click("pat", message, "approve", values={"flags": ["tell_hr"]})


async def click_in_thread(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max rejects in a thread."""
    said = await slack.say("ana", "#time-off", "I need 3 days off")
    message = await _post(client, said.message["channel"], thread_ts=said.ts)
    return await slack.click("max", message, "reject", values={"flags": ["tell_hr"]})


async def change(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max chooses another kind of leave."""
    message = await _post(client, slack.workspace.channel("time-off").id)
    await slack.enter("max", message, {"flags": ["tell_hr"]})
    return await slack.enter("max", message, {"leave_type": "unpaid"})


async def click_ephemeral(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max clicks on what only he sees."""
    await client.chat_postEphemeral(
        channel=slack.workspace.channel("time-off").id,
        user=slack.workspace.person("max").id,
        text="Sure?",
        blocks=[{"type": "actions", "elements": card()[4]["elements"][2:]}],
    )
    return await slack.click("max", slack.visible("max", "#time-off")[-1], "approve")


async def click_home(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max clicks on his Home."""
    await client.views_publish(user_id=slack.workspace.person("max").id, view=home())
    return await slack.click("max", slack.home("max") or {}, "open_request")


async def submit(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max sends a form."""
    await _open(slack, client)
    return await slack.submit("max", {"reason": "release week", "approved_days": 2})


async def close(slack: LocalSlack, client: AsyncWebClient) -> object:
    """Max closes a form."""
    await _open(slack, client)
    return await slack.close("max")


async def _open(slack: LocalSlack, client: AsyncWebClient) -> None:
    trigger = slack.workspace.grants.trigger(slack.workspace.person("max").id, now=slack.now)
    await client.views_open(trigger_id=trigger, view=modal())


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        pytest.param(mention, ("app_mention", "app_mention"), id="mention"),
        pytest.param(
            mention_from_outside,
            ("app_mention", "app_mention_slack_connect_external"),
            id="mention from outside",
        ),
        pytest.param(channel_message, ("message", "message_channel"), id="channel"),
        pytest.param(direct_message, ("message", "message_dm"), id="dm"),
        pytest.param(private_message, ("message", "message_private_channel"), id="private"),
        pytest.param(reply, ("message", "message_thread_reply"), id="reply"),
        pytest.param(edit, ("message", "message_changed_user_edit"), id="edit"),
        pytest.param(delete, ("message", "message_deleted"), id="delete"),
        pytest.param(own_post, ("message", "message_own_bot"), id="own post"),
        pytest.param(own_update, ("message", "message_changed_own_update"), id="own update"),
        pytest.param(first_home, ("app_home_opened", "app_home_opened_first"), id="first home"),
        pytest.param(next_home, ("app_home_opened", "app_home_opened_again"), id="home again"),
        pytest.param(deactivation, ("user_change", "user_change_deactivated"), id="deactivated"),
        pytest.param(
            group_change, ("subteam_members_changed", "subteam_members_changed"), id="group"
        ),
        pytest.param(command, ("/approvals", "slash_command"), id="command"),
        pytest.param(click, ("block_actions", "block_actions_message_approve"), id="click"),
        pytest.param(
            click_emptied, ("block_actions", "block_actions_message_empty_inputs"), id="emptied"
        ),
        pytest.param(
            click_outside,
            ("block_actions", "block_actions_slack_connect_external"),
            id="click from outside",
        ),
        pytest.param(
            click_in_thread, ("block_actions", "block_actions_thread_reject"), id="click in thread"
        ),
        pytest.param(change, ("block_actions", "block_actions_select_changed"), id="change"),
        pytest.param(click_ephemeral, ("block_actions", "block_actions_ephemeral"), id="ephemeral"),
        pytest.param(click_home, ("block_actions", "block_actions_app_home"), id="click on home"),
        pytest.param(submit, ("view_submission", "view_submission_decide"), id="submit"),
        pytest.param(close, ("view_closed", "view_closed"), id="close"),
    ],
)
async def test_keys(
    slack: LocalSlack, client: AsyncWebClient, ear: Ear, deed: Deed, expected: tuple[str, str]
) -> None:
    """Each payload has exactly the keys of Slack's sample, and fields of the right types."""
    kind, name = expected
    await deed(slack, client)
    await slack.settled()
    delivered = ear.of(kind)[-1]
    documented = sample(name)
    assert keys(delivered) == keys(documented)
    event = delivered.get("event", {})
    validate_payload(event.get("type", kind), event.get("subtype"), event or delivered)


async def test_join(slack: LocalSlack, ear: Ear) -> None:
    """Entering a channel is told twice: as an event of its own and as a message."""
    await join(slack, AsyncWebClient())
    assert [body["event"]["user"] for body in ear.of("member_joined_channel")] == [
        slack.workspace.person("pat").id
    ]
    documented = keys(sample("message_channel_join")["event"]) - {"/inviter"}
    assert documented <= keys(ear.of("message")[-1]["event"])


async def test_mention_is_told_twice(slack: LocalSlack, ear: Ear) -> None:
    """One post that names the bot comes with two event ids and one ts."""
    said = await slack.mention("ana", "#time-off", "hello")
    assert {body["event"]["type"] for body in ear.bodies} == {"app_mention", "message"}
    assert {body["event"]["ts"] for body in ear.bodies} == {said.ts}
    assert len({body["event_id"] for body in ear.bodies}) == 2


async def test_values_of_a_click(slack: LocalSlack, client: AsyncWebClient, ear: Ear) -> None:
    """A click carries what stands in every input, entered or initial."""
    await click(slack, client)
    values = ear.of("block_actions")[-1]["state"]["values"]
    assert values["in_days"]["approved_days"] == {"type": "plain_text_input", "value": "2"}
    assert values["in_from"]["from_date"]["selected_date"] == "2026-12-07"
    assert values["act"]["leave_type"]["selected_option"]["value"] == "paid"
    assert [each["value"] for each in values["act"]["flags"]["selected_options"]] == ["tell_hr"]
