"""chat.*, reactions.* and the status under a thread; pure."""

from bot.playground.channels import Channel
from bot.playground.grants import Refused, require
from bot.playground.messages import complete, posted
from bot.playground.methods.call import Call, refuse
from bot.playground.people import BOT, TEAM_DOMAINS, TEAM_ID
from bot.playground.workspace import fitting
from bot.slack.checks import JsonObject
from bot.slack.validate import message_problems


def post_message(call: Call) -> JsonObject:
    """chat.postMessage; a person's id as channel opens their DM."""
    channel = _target(call)
    thread_ts = call.text("thread_ts") or None
    message = call.workspace.post(channel, _content(call), now=call.now, thread_ts=thread_ts)
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def update(call: Call) -> JsonObject:
    """chat.update; left-out blocks and metadata stay as they are, empty ones go."""
    channel = call.channel()
    message = channel.message(call.text("ts"))
    require(message["user"] == BOT.id, "cant_update_message")
    content = _content(call, update=True)
    given = {"text", "blocks", "metadata"} & set(call.arguments)
    if "markdown_text" in call.arguments:
        given |= {"text", "blocks"}
    changes = {name: content.get(name) for name in given}
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


def _content(call: Call, *, update: bool = False) -> JsonObject:
    """The checked fields of a message of the bot; metadata only if there is some."""
    text, markdown = call.text("text"), call.text("markdown_text")
    blocks = call.json("blocks", otherwise="invalid_blocks_format")
    metadata = call.json("metadata", otherwise="invalid_metadata_format")
    if markdown:
        require(not text and not blocks, "markdown_text_conflict")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    attachments = call.json("attachments")
    said = {"text": text, "blocks": blocks, "attachments": attachments, "metadata": metadata}
    refuse(message_problems(said, update=update))
    whole = complete(blocks, lambda: call.workspace.new_id("b")) if blocks else None
    return posted(fitting(text), whole) | ({"metadata": metadata} if metadata else {})
