"""conversations.*; pure."""

from collections.abc import Iterable

from bot.playground.channels import Channel
from bot.playground.grants import Refused, require
from bot.playground.methods.call import Call, known_person
from bot.playground.people import BOT
from bot.slack.checks import JsonObject

_TYPES = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}


def open_dm(call: Call) -> JsonObject:
    """conversations.open: the DM with one person or several, or one known by id."""
    if call.text("channel"):
        return {"channel": _opened(call, call.channel())}
    ids = [each for each in call.text("users").split(",") if each]
    require(ids, "users_list_not_supplied")
    require(len(ids) <= 8, "too_many_users")
    people = [known_person(call.workspace, each) for each in ids]
    require(all(not each.deleted for each in people), "user_disabled")
    require(all(not each.is_bot for each in people), "invalid_user_combination")
    known = len(call.workspace.channels)
    channel = call.workspace.group_dm(set(ids))
    was_there = len(call.workspace.channels) == known
    extra = {"no_op": True, "already_open": True} if was_there else {}
    return {"channel": _opened(call, channel)} | extra


def list_all(call: Call) -> JsonObject:
    """conversations.list: public channels unless `types` asks for others."""
    wanted = (call.text("types") or "public_channel").split(",")
    require(set(wanted) <= set(_TYPES), "invalid_types")
    kinds = {_TYPES[each] for each in wanted}
    skip_archived = call.flag("exclude_archived")
    there = [
        each.as_object()
        for each in call.workspace.channels.values()
        if each.kind in kinds
        and (each.kind == "channel" or BOT.id in each.members)
        and not (skip_archived and each.is_archived)
    ]
    return call.page("channels", there, default=100)


def info(call: Call) -> JsonObject:
    """conversations.info, with the number of members when asked."""
    channel = call.channel()
    count = {"num_members": len(channel.members)} if call.flag("include_num_members") else {}
    return {"channel": channel.as_object() | count}


def history(call: Call) -> JsonObject:
    """conversations.history: newest first, replies left out."""
    channel = call.channel(member=True)
    found = _between(call, reversed(channel.top_level()))
    page = call.page("messages", _shown(call, found), default=100)
    return page | {"has_more": bool(page["response_metadata"]["next_cursor"])}


def replies(call: Call) -> JsonObject:
    """conversations.replies: the first message of a thread and its replies, oldest first."""
    channel = call.channel(member=True)
    parent, *rest = channel.thread(call.text("ts"))
    found = [parent, *_between(call, rest)]
    page = call.page("messages", _shown(call, found), default=1000)
    return page | {"has_more": bool(page["response_metadata"]["next_cursor"])}


def members(call: Call) -> JsonObject:
    """conversations.members: the ids of who is in a channel."""
    return call.page("members", sorted(call.channel().members), default=100)


def join(call: Call) -> JsonObject:
    """conversations.join: the bot enters a public channel."""
    channel = call.channel()
    require(channel.kind == "channel", "method_not_supported_for_channel_type")
    require(not channel.is_archived, "is_archived")
    joined = call.workspace.join(channel, BOT, now=call.now)
    return {"channel": channel.as_object()} | ({} if joined else {"warning": "already_in_channel"})


def _opened(call: Call, channel: Channel) -> JsonObject:
    return channel.as_object() if call.flag("return_im") else {"id": channel.id}


def _between(call: Call, messages: Iterable[JsonObject]) -> list[JsonObject]:
    try:
        oldest = float(call.text("oldest") or 0)
        latest = float(call.text("latest") or "inf")
    except ValueError as error:
        raise Refused("invalid_ts_oldest") from error
    edges = call.flag("inclusive")
    return [
        each
        for each in messages
        if oldest < float(each["ts"]) < latest or (edges and float(each["ts"]) in (oldest, latest))
    ]


def _shown(call: Call, messages: list[JsonObject]) -> list[JsonObject]:
    """Metadata is only shown to who asks for it, as in Slack."""
    if call.flag("include_all_metadata"):
        return messages
    return [{key: each[key] for key in each if key != "metadata"} for each in messages]
