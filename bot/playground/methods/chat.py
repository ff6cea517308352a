"""chat.*, reactions.* and the status under a thread; pure."""

from bot.playground.channels import Channel
from bot.playground.grants import Refused, require
from bot.playground.messages import complete, posted
from bot.playground.methods.call import Call, refuse
from bot.playground.people import BOT, TEAM_DOMAINS, TEAM_ID
from bot.playground.workspace import fitting
from bot.slack.validate import JsonObject, message_problems

UPDATE_TEXT_LIMIT = 4000
METADATA_LIMIT = 16_000


def post_message(call: Call) -> JsonObject:
    """chat.postMessage; a person's id as channel opens their DM."""
    channel = _target(call)
    fields = _content(call)
    if "metadata" in call.arguments:
        fields |= {"metadata": _metadata(call)}
    message = call.workspace.post(
        channel, fields, now=call.now, thread_ts=call.text("thread_ts") or None
    )
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def update(call: Call) -> JsonObject:
    """chat.update; left-out blocks and metadata stay as they are, empty ones go."""
    channel = call.channel()
    message = channel.message(call.text("ts"))
    require(message["user"] == BOT.id, "cant_update_message")
    require(len(call.text("text")) <= UPDATE_TEXT_LIMIT, "msg_too_long")
    changes: JsonObject = {}
    content = _content(call)
    if call.text("text") or "markdown_text" in call.arguments:
        changes["text"] = content["text"]
    if call.json("blocks") is not None or "markdown_text" in call.arguments:
        changes["blocks"] = content.get("blocks")
    if "metadata" in call.arguments:
        changes["metadata"] = _metadata(call)
    new = call.workspace.edit(channel, message["ts"], changes, now=call.now)
    return {"channel": channel.id, "ts": new["ts"], "text": new["text"], "message": new}


def delete(call: Call) -> JsonObject:
    """chat.delete, of our own messages only."""
    channel = call.channel()
    message = channel.message(call.text("ts"))
    require(message["user"] == BOT.id, "cant_delete_message")
    call.workspace.delete(channel, message["ts"], now=call.now)
    return {"channel": channel.id, "ts": message["ts"]}


def post_ephemeral(call: Call) -> JsonObject:
    """chat.postEphemeral: what only one member of the channel sees."""
    channel = call.channel(member=True)
    require(not channel.is_archived, "is_archived")
    person = call.workspace.people.get(call.text("user"))
    if person is None or person.id not in channel.members:
        raise Refused("user_not_in_channel")
    fields = _content(call)
    thread_ts = call.text("thread_ts")
    if thread_ts:
        require(thread_ts in channel.messages, "thread_not_found")
        fields |= {"thread_ts": thread_ts}
    message = call.workspace.whisper(channel, person, fields, now=call.now)
    return {"message_ts": message["ts"]}


def get_permalink(call: Call) -> JsonObject:
    """chat.getPermalink: the address of a message in the browser."""
    channel = call.channel()
    ts: str = channel.message(call.text("message_ts"))["ts"]
    host = f"https://{TEAM_DOMAINS[TEAM_ID]}.slack.com"
    link = f"{host}/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": link}


def add_reaction(call: Call) -> JsonObject:
    """reactions.add: once per message and name."""
    channel = call.channel()
    require(
        call.text("name").strip(":").replace("_", "").replace("-", "").isalnum(), "invalid_name"
    )
    call.workspace.react(channel, call.text("timestamp"), call.text("name").strip(":"))
    return {}


def set_status(call: Call) -> JsonObject:
    """assistant.threads.setStatus: what the bot is doing, under a message."""
    channel = call.channel("channel_id")
    require(call.text("thread_ts") in channel.messages, "invalid_thread_ts")
    call.workspace.set_status(channel, call.text("thread_ts"), call.text("status"), now=call.now)
    return {}


def _target(call: Call) -> Channel:
    person = call.workspace.people.get(call.text("channel"))
    if person is not None:
        require(not person.is_bot, "channel_not_found")
        require(not person.deleted, "user_disabled")
        return call.workspace.dm(person)
    named = [
        each
        for each in call.workspace.channels.values()
        if each.name == call.text("channel").removeprefix("#") and each.kind in ("channel", "group")
    ]
    arguments = call.arguments | ({"channel": named[0].id} if named else {})
    return Call(call.workspace, arguments, call.now).channel(member=True)


def _content(call: Call) -> JsonObject:
    """The checked fields of a message of the bot."""
    text, markdown = call.text("text"), call.text("markdown_text")
    blocks = call.json("blocks", otherwise="invalid_blocks_format")
    if markdown:
        require(not text and not blocks, "markdown_text_conflict")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    require(text or blocks or call.json("attachments"), "no_text")
    if blocks:
        require(isinstance(blocks, list), "invalid_blocks_format")
        refuse(message_problems({"blocks": blocks}))
        blocks = complete(blocks, lambda: call.workspace.new_id("b"))
    return posted(fitting(text), blocks)


def _metadata(call: Call) -> JsonObject | None:
    metadata = call.json("metadata", otherwise="invalid_metadata_format")
    if not metadata:
        return None
    require(isinstance(metadata, dict), "invalid_metadata_format")
    require({"event_type", "event_payload"} <= set(metadata), "invalid_metadata_format")
    require(len(str(metadata)) <= METADATA_LIMIT, "metadata_too_large")
    return metadata
