"""The Web API as the unmodified SDK calls it: what works, what is refused, what goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import ANA, BOT, MAX, PAT, LocalSlack
from tests.bot.playground.cards import card, home, modal, plain

Call = Callable[[AsyncWebClient, dict[str, str]], Awaitable[Any]]


@pytest.fixture
def ids(slack: LocalSlack) -> dict[str, str]:
    """The ids of all channels by name."""
    return {channel.name: channel.id for channel in slack.workspace.channels.values()}


def trigger(slack: LocalSlack, *, age: float = 0.0) -> str:
    """A trigger id of Max's, some seconds old."""
    return slack.workspace.grants.trigger(MAX.id, now=slack.now - age)


async def test_who_am_i(client: AsyncWebClient) -> None:
    """auth.test names the bot and its workspace."""
    answer = await client.auth_test()
    assert answer["user_id"] == BOT.id
    assert {"url", "team", "user", "team_id", "bot_id", "is_enterprise_install"} <= set(answer.data)


async def test_post_update_delete(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """A message is posted, changed in place, and taken away."""
    posted = await client.chat_postMessage(channel=ids["general"], text="one", blocks=card())
    assert slack.messages("#general")[0]["ts"] == posted["ts"]
    await client.chat_update(channel=ids["general"], ts=posted["ts"], text="two")
    (kept,) = slack.messages("#general")
    assert (kept["text"], len(kept["blocks"])) == ("two", 5)
    await client.chat_update(channel=ids["general"], ts=posted["ts"], text="three", blocks=[])
    assert "blocks" not in slack.messages("#general")[0]
    await client.chat_delete(channel=ids["general"], ts=posted["ts"])
    assert slack.messages("#general") == []


async def test_long_text_is_cut(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """Slack keeps 40,000 characters of a posted text."""
    await client.chat_postMessage(channel=ids["general"], text="x" * 40_001)
    assert len(slack.messages("#general")[0]["text"]) == 40_000


async def test_thread(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """A reply stands in the thread, not in the channel, and is counted."""
    said = await slack.say("ana", "#general", "hello")
    reply = await client.chat_postMessage(channel=ids["general"], text="hi", thread_ts=said.ts)
    assert [each["text"] for each in slack.messages("#general")] == ["hello"]
    answer = await client.conversations_replies(channel=ids["general"], ts=said.ts)
    assert [each["text"] for each in answer["messages"]] == ["hello", "hi"]
    assert answer["messages"][0]["reply_count"] == 1
    assert answer["messages"][0]["latest_reply"] == reply["ts"]


async def test_deleted_thread_start_leaves_a_grave(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """Deleting the first message of a thread keeps its replies."""
    first = await client.chat_postMessage(channel=ids["general"], text="start")
    await client.chat_postMessage(channel=ids["general"], text="hi", thread_ts=first["ts"])
    await client.chat_delete(channel=ids["general"], ts=first["ts"])
    grave, reply = slack.thread("#general", first["ts"])
    assert (grave["subtype"], reply["text"]) == ("tombstone", "hi")


async def test_metadata_is_shown_on_request(client: AsyncWebClient, ids: dict[str, str]) -> None:
    """Only who asks for metadata reads it back."""
    metadata = {"event_type": "asked", "event_payload": {"id": "1"}}
    await client.chat_postMessage(channel=ids["general"], text="x", metadata=metadata)
    plainly = await client.conversations_history(channel=ids["general"])
    asked = await client.conversations_history(channel=ids["general"], include_all_metadata=True)
    assert "metadata" not in plainly["messages"][0]
    assert asked["messages"][0]["metadata"] == metadata


async def test_history_is_paged_newest_first(client: AsyncWebClient, ids: dict[str, str]) -> None:
    """conversations.history gives the newest first, in pages."""
    for number in range(3):
        await client.chat_postMessage(channel=ids["general"], text=str(number))
    first = await client.conversations_history(channel=ids["general"], limit=2)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_history(channel=ids["general"], limit=2, cursor=cursor)
    assert [each["text"] for each in first["messages"]] == ["2", "1"]
    assert [each["text"] for each in rest["messages"]] == ["0"]
    assert (first["has_more"], rest["has_more"]) == (True, False)
    older = await client.conversations_history(
        channel=ids["general"], latest=first["messages"][1]["ts"]
    )
    assert [each["text"] for each in older["messages"]] == ["0"]


async def test_dm_by_user_id(slack: LocalSlack, client: AsyncWebClient) -> None:
    """Posting to a person's id opens their DM, which conversations.open finds again."""
    posted = await client.chat_postMessage(channel=ANA.id, text="psst")
    opened = await client.conversations_open(users=ANA.id)
    assert posted["channel"] == opened["channel"]["id"]
    assert opened["already_open"]
    assert [each["text"] for each in slack.dms("ana")] == ["psst"]


async def test_several_people(slack: LocalSlack, client: AsyncWebClient) -> None:
    """The bot can talk to some people at once, and finds that conversation again."""
    pair = f"{ANA.id},{MAX.id}"
    opened = await client.conversations_open(users=pair, return_im=True)
    assert opened["channel"]["is_mpim"]
    again = await client.conversations_open(channel=opened["channel"]["id"])
    assert again["channel"]["id"] == opened["channel"]["id"]
    await client.chat_postMessage(channel=opened["channel"]["id"], text="you two")
    assert slack.find("you two", slack.visible("max", opened["channel"]["id"]))
    assert slack.visible("mia", opened["channel"]["id"]) == []


async def test_markdown(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """Markdown becomes a block, also when it replaces text."""
    posted = await client.chat_postMessage(channel="#general", markdown_text="# One")
    await client.chat_update(channel=ids["general"], ts=posted["ts"], markdown_text="# Two")
    (shown,) = slack.messages("#general")
    assert [block["text"] for block in shown["blocks"]] == ["# Two"]


async def test_ephemeral_in_a_thread(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """A private note can stand in a thread that is there."""
    said = await slack.say("ana", "#general", "hello")
    note = {"channel": ids["general"], "user": ANA.id, "text": "only you"}
    await client.chat_postEphemeral(**note, thread_ts=said.ts)
    assert slack.visible("ana", "#general")[-1]["thread_ts"] == said.ts
    with pytest.raises(SlackApiError, match="thread_not_found"):
        await client.chat_postEphemeral(**note, thread_ts="1.000001")


async def test_ephemeral(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """What is whispered to one person nobody else sees, and history does not have."""
    await client.chat_postEphemeral(channel=ids["general"], user=ANA.id, text="only you")
    assert [each["text"] for each in slack.visible("ana", "#general")] == ["only you"]
    assert slack.visible("max", "#general") == []
    history = await client.conversations_history(channel=ids["general"])
    assert history["messages"] == []


async def test_channels_and_members(client: AsyncWebClient, ids: dict[str, str]) -> None:
    """Channels are listed by type, with who is in them and who shares them."""
    public = await client.conversations_list()
    private = await client.conversations_list(types="private_channel")
    assert {each["name"] for each in public["channels"]} >= {"general", "random", "partners"}
    assert [each["name"] for each in private["channels"]] == ["approvals"]
    members = await client.conversations_members(channel=ids["partners"])
    assert PAT.id in members["members"]
    info = await client.conversations_info(channel=ids["partners"], include_num_members=True)
    assert info["channel"]["is_ext_shared"]
    assert info["channel"]["num_members"] == 4


async def test_join(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """After joining, the bot can write."""
    await client.conversations_join(channel=ids["random"])
    await client.chat_postMessage(channel=ids["random"], text="here I am")
    again = await client.conversations_join(channel=ids["random"])
    assert again["warning"] == "already_in_channel"
    assert slack.messages("#random")[-1]["text"] == "here I am"


async def test_people(client: AsyncWebClient) -> None:
    """People are found by id and address; of strangers little is said."""
    ana = (await client.users_info(user=ANA.id, include_locale=True))["user"]
    pat = (await client.users_info(user=PAT.id))["user"]
    found = (await client.users_lookupByEmail(email=ANA.email))["user"]
    assert (ana["tz"], ana["locale"], found["id"]) == (ANA.tz, ANA.locale, ANA.id)
    assert pat["is_stranger"]
    assert pat["team_id"] != ana["team_id"]
    assert "email" not in pat["profile"]
    assert len((await client.users_list())["members"]) == 6


async def test_groups_team_and_bot(client: AsyncWebClient) -> None:
    """User groups, the team and the bot are as the workspace has them."""
    (group,) = (await client.usergroups_list(include_users=True))["usergroups"]
    members = await client.usergroups_users_list(usergroup=group["id"])
    assert members["users"] == group["users"]
    assert (await client.team_info())["team"]["domain"]
    assert (await client.bots_info())["bot"]["user_id"] == BOT.id


async def test_permalink_reaction_status(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """A message has an address, takes a reaction, and a status until the bot answers."""
    said = await slack.say("ana", "#general", "hello")
    where = {"channel": ids["general"], "message_ts": said.ts}
    assert said.ts.replace(".", "") in (await client.chat_getPermalink(**where))["permalink"]
    await client.reactions_add(channel=ids["general"], timestamp=said.ts, name="eyes")
    assert slack.messages("#general")[0]["reactions"][0]["name"] == "eyes"
    await client.assistant_threads_setStatus(
        channel_id=ids["general"], thread_ts=said.ts, status="is thinking"
    )
    assert slack.status("#general", said.ts) == "is thinking"
    await client.chat_postMessage(channel=ids["general"], thread_ts=said.ts, text="done")
    assert slack.status("#general", said.ts) == ""


async def test_views(slack: LocalSlack, client: AsyncWebClient) -> None:
    """A modal opens, is replaced under its hash, and takes another on top."""
    opened = (await client.views_open(trigger_id=trigger(slack), view=modal()))["view"]
    new = modal(title=plain("Again"))
    await client.views_update(view_id=opened["id"], view=new, hash=opened["hash"])
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_update(view_id=opened["id"], view=new, hash=opened["hash"])
    (shown,) = slack.modals("max")
    assert (shown["id"], shown["title"]["text"]) == (opened["id"], "Again")
    inside = slack.workspace.grants.trigger(MAX.id, now=slack.now, view_id=opened["id"])
    pushed = (await client.views_push(trigger_id=inside, view=modal()))["view"]
    assert pushed["previous_view_id"] == pushed["root_view_id"] == opened["id"]
    assert len(slack.modals("max")) == 2


async def test_views_pile_up_to_three(slack: LocalSlack, client: AsyncWebClient) -> None:
    """A fourth modal is refused, and so is an external id that is taken."""
    top = (await client.views_open(trigger_id=trigger(slack), view=modal(external_id="x")))["view"]

    def inside() -> str:
        return slack.workspace.grants.trigger(MAX.id, now=slack.now, view_id=top["id"])

    with pytest.raises(SlackApiError, match="duplicate_external_id"):
        await client.views_push(trigger_id=inside(), view=modal(external_id="x"))
    for _ in range(2):
        await client.views_push(trigger_id=inside(), view=modal())
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await client.views_push(trigger_id=inside(), view=modal())
    await client.views_update(external_id="x", view=modal(title=plain("Found")))
    assert slack.modals("max")[0]["title"]["text"] == "Found"


async def test_home(slack: LocalSlack, client: AsyncWebClient) -> None:
    """A Home is published, and replaced under its hash."""
    first = (await client.views_publish(user_id=MAX.id, view=home()))["view"]
    second = await client.views_publish(user_id=MAX.id, view=home("new"), hash=first["hash"])
    assert second["view"]["id"] == first["id"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_publish(user_id=MAX.id, view=home(), hash=first["hash"])
    shown = slack.home("max") or {}
    assert shown["blocks"][0]["text"]["text"] == "new"
    await client.views_update(view_id=shown["id"], view=home("newer"), hash=shown["hash"])
    newer = slack.home("max") or {}
    assert newer["blocks"][0]["text"]["text"] == "newer"
    assert slack.home("mia") is None


REFUSED: list[tuple[str, Call, str]] = [
    (
        "unknown channel",
        lambda client, ids: client.chat_postMessage(channel="C0NOWHERE", text="x"),
        "channel_not_found",
    ),
    (
        "not a member",
        lambda client, ids: client.chat_postMessage(channel=ids["random"], text="x"),
        "not_in_channel",
    ),
    (
        "no text",
        lambda client, ids: client.api_call("chat.postMessage", json={"channel": ids["general"]}),
        "no_text",
    ),
    (
        "unknown thread",
        lambda client, ids: client.chat_postMessage(
            channel=ids["general"], text="x", thread_ts="1.000001"
        ),
        "thread_not_found",
    ),
    (
        "bad blocks",
        lambda client, ids: client.chat_postMessage(
            channel=ids["general"], text="x", blocks=[{"type": "header", "text": plain("x" * 151)}]
        ),
        "invalid_blocks",
    ),
    (
        "blocks are no list",
        lambda client, ids: client.chat_postMessage(
            channel=ids["general"], text="x", blocks="not json"
        ),
        "invalid_blocks_format",
    ),
    (
        "markdown beside text",
        lambda client, ids: client.chat_postMessage(
            channel=ids["general"], text="x", markdown_text="y"
        ),
        "markdown_text_conflict",
    ),
    (
        "large metadata",
        lambda client, ids: client.chat_postMessage(
            channel=ids["general"],
            text="x",
            metadata={"event_type": "e", "event_payload": {"x": "x" * 20_000}},
        ),
        "metadata_too_large",
    ),
    (
        "update of nothing",
        lambda client, ids: client.chat_update(channel=ids["general"], ts="1.000001", text="x"),
        "message_not_found",
    ),
    (
        "reply to nothing",
        lambda client, ids: client.conversations_replies(channel=ids["general"], ts="1.000001"),
        "thread_not_found",
    ),
    (
        "whisper to somebody elsewhere",
        lambda client, ids: client.chat_postEphemeral(
            channel=ids["general"], user=PAT.id, text="x"
        ),
        "user_not_in_channel",
    ),
    (
        "unknown person",
        lambda client, ids: client.users_info(user="U0NOBODY"),
        "user_not_found",
    ),
    (
        "unknown address",
        lambda client, ids: client.users_lookupByEmail(email="nobody@example.com"),
        "users_not_found",
    ),
    (
        "unknown bot",
        lambda client, ids: client.bots_info(bot="B0NOBODY"),
        "bot_not_found",
    ),
    (
        "no cursor",
        lambda client, ids: client.users_list(cursor="next, please"),
        "invalid_cursor",
    ),
    (
        "no time",
        lambda client, ids: client.conversations_history(channel=ids["general"], oldest="now"),
        "invalid_ts_oldest",
    ),
    (
        "no view",
        lambda client, ids: client.views_publish(user_id=MAX.id, view="no JSON"),
        "invalid_arguments",
    ),
    (
        "unknown group",
        lambda client, ids: client.usergroups_users_list(usergroup="S0NOTHING"),
        "no_such_subteam",
    ),
    (
        "nobody to talk to",
        lambda client, ids: client.conversations_open(users=""),
        "users_list_not_supplied",
    ),
    (
        "private by force",
        lambda client, ids: client.conversations_join(channel=ids["approvals"]),
        "method_not_supported_for_channel_type",
    ),
    (
        "made-up trigger",
        lambda client, ids: client.views_open(trigger_id="9.NONE", view=modal()),
        "invalid_trigger_id",
    ),
    (
        "gone view",
        lambda client, ids: client.views_update(view_id="V0GONE", view=modal()),
        "not_found",
    ),
    (
        "title too long",
        lambda client, ids: client.views_publish(user_id=MAX.id, view=modal(title=plain("x" * 25))),
        "invalid_arguments",
    ),
    ("unknown method", lambda client, ids: client.api_call("chat.whisper"), "unknown_method"),
    (
        "missing argument",
        lambda client, ids: client.api_call("chat.update", json={"channel": ids["general"]}),
        "invalid_arguments",
    ),
    (
        "bot token for a socket",
        lambda client, ids: client.apps_connections_open(app_token="xoxb-local-workspace"),
        "not_allowed_token_type",
    ),
]


@pytest.mark.parametrize(
    ("call", "error"), [pytest.param(call, error, id=name) for name, call, error in REFUSED]
)
async def test_refused(client: AsyncWebClient, ids: dict[str, str], call: Call, error: str) -> None:
    """What Slack refuses is refused with Slack's code."""
    with pytest.raises(SlackApiError) as refused:
        await call(client, ids)
    assert refused.value.response["error"] == error


async def test_refused_states(
    slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]
) -> None:
    """Other people's messages, long updates and archived channels are refused too."""
    said = await slack.say("ana", "#general", "mine")
    posted = await client.chat_postMessage(channel=ids["general"], text="ours")
    with pytest.raises(SlackApiError, match="cant_update_message"):
        await client.chat_update(channel=ids["general"], ts=said.ts, text="x")
    with pytest.raises(SlackApiError, match="cant_delete_message"):
        await client.chat_delete(channel=ids["general"], ts=said.ts)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await client.chat_update(channel=ids["general"], ts=posted["ts"], text="x" * 4001)
    slack.workspace.channel("general").is_archived = True
    with pytest.raises(SlackApiError, match="is_archived"):
        await client.chat_postMessage(channel=ids["general"], text="x")


async def test_deactivated_person(slack: LocalSlack, client: AsyncWebClient) -> None:
    """Somebody who left has no DM and no time zone."""
    await slack.deactivate("ana")
    with pytest.raises(SlackApiError, match="user_disabled"):
        await client.conversations_open(users=ANA.id)
    user = (await client.users_info(user=ANA.id))["user"]
    assert user["deleted"]
    assert "tz" not in user


async def test_pointer_of_bad_blocks(client: AsyncWebClient, ids: dict[str, str]) -> None:
    """A refusal of blocks says where the fault is."""
    blocks = [{"type": "divider"}, {"type": "section", "text": {**plain("x" * 3001)}}]
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ids["general"], text="x", blocks=blocks)
    assert refused.value.response["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/1/text/text]"
    ]


@pytest.mark.parametrize(
    ("age", "uses", "error"),
    [
        pytest.param(3.1, 1, "expired_trigger_id", id="older than three seconds"),
        pytest.param(0.0, 2, "exchanged_trigger_id", id="twice"),
    ],
)
async def test_trigger(
    slack: LocalSlack, client: AsyncWebClient, age: float, uses: int, error: str
) -> None:
    """A trigger opens one view within three seconds."""
    trigger_id = trigger(slack, age=age)
    for _ in range(uses - 1):
        await client.views_open(trigger_id=trigger_id, view=modal())
    with pytest.raises(SlackApiError, match=error):
        await client.views_open(trigger_id=trigger_id, view=modal())


@pytest.mark.parametrize(
    ("token", "error"),
    [
        pytest.param("", "not_authed", id="none"),
        pytest.param("xoxb-wrong", "invalid_auth", id="wrong"),
        pytest.param("xapp-local-workspace", "not_allowed_token_type", id="app token"),
    ],
)
async def test_token(slack: LocalSlack, token: str, error: str) -> None:
    """Only the bot's own token is let in."""
    client = AsyncWebClient(token=token, base_url=slack.api_url)
    with pytest.raises(SlackApiError, match=error):
        await client.auth_test()


@pytest.mark.parametrize(
    "request_of",
    [
        pytest.param({"method": "GET", "params": {"user": ANA.id}}, id="query"),
        pytest.param({"method": "POST", "data": {"user": ANA.id}}, id="form"),
        pytest.param({"method": "POST", "json": {"user": ANA.id}}, id="json"),
        pytest.param({"method": "POST", "params": {"user": ANA.id}}, id="query of a post"),
    ],
)
async def test_encodings(slack: LocalSlack, request_of: dict[str, Any]) -> None:
    """Arguments are read wherever they stand."""
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.request(url=f"{slack.api_url}users.info", headers=headers, **request_of) as answer,
    ):
        assert (await answer.json())["user"]["id"] == ANA.id


async def test_basic_auth_and_bad_json(slack: LocalSlack) -> None:
    """Basic credentials become arguments; a body that is no JSON is refused."""
    async with aiohttp.ClientSession() as session:
        basic = {"Authorization": aiohttp.encode_basic_auth("id", "secret")}
        async with session.post(f"{slack.api_url}oauth.v2.access", headers=basic) as answer:
            assert (await answer.json())["error"] == "not_authed"
        headers = {"Content-Type": "application/json"}
        async with session.post(f"{slack.api_url}auth.test", data="{", headers=headers) as answer:
            assert (await answer.json())["error"] == "invalid_json"
    assert slack.calls("oauth.v2.access")[0].arguments["client_id"] == "id"


async def test_rate_limit(slack: LocalSlack, client: AsyncWebClient) -> None:
    """The SDK waits as told and goes on."""
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler())
    slack.fail("auth.test", "ratelimited", seconds=0)
    assert (await client.auth_test())["ok"]
    assert [call.status for call in slack.calls("auth.test")] == [429, 200]


async def test_rate_limit_says_how_long(slack: LocalSlack, client: AsyncWebClient) -> None:
    """429 comes with Retry-After."""
    slack.fail("auth.test", "ratelimited", seconds=7)
    with pytest.raises(SlackApiError) as refused:
        await client.auth_test()
    assert refused.value.response.headers["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("kind", "status"), [pytest.param("error", 500, id="500"), pytest.param("html", 503, id="html")]
)
async def test_outage(slack: LocalSlack, client: AsyncWebClient, kind: Any, status: int) -> None:
    """An outage is an error of the SDK's, for as many calls as asked."""
    slack.fail("auth.test", kind, times=2)
    for _ in range(2):
        with pytest.raises(SlackApiError) as refused:
            await client.auth_test()
        assert refused.value.response.status_code == status
    assert (await client.auth_test())["ok"]


async def test_refused_on_demand(slack: LocalSlack, client: AsyncWebClient) -> None:
    """Any of Slack's codes can be asked for."""
    slack.fail("auth.test", "refused", error="account_inactive")
    with pytest.raises(SlackApiError, match="account_inactive"):
        await client.auth_test()


async def test_lost_answer(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """The work is done although nobody hears of it."""
    client.retry_handlers.clear()
    slack.fail("chat.postMessage", "lost")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=ids["general"], text="did it arrive?")
    assert [each["text"] for each in slack.messages("#general")] == ["did it arrive?"]


async def test_slow_answer(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """A slow call does its work at once and answers late."""
    slack.fail("chat.postMessage", "slow", seconds=0.2)
    call = asyncio.ensure_future(client.chat_postMessage(channel=ids["general"], text="late"))
    await slack.wait_for(lambda: slack.messages("#general"))
    assert not call.done()
    assert (await call)["ok"]


async def test_journal(slack: LocalSlack, client: AsyncWebClient, ids: dict[str, str]) -> None:
    """Each call is kept with its arguments and its answer, without the token."""
    await client.chat_postMessage(channel=ids["general"], text="x")
    (call,) = slack.calls("chat.postMessage")
    assert call.arguments == {"channel": ids["general"], "text": "x"}
    assert call.answer["ok"]
