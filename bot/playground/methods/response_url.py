"""What a post to a response_url does; pure."""

from bot.playground.channels import Channel
from bot.playground.grants import Refused, Reply, require
from bot.playground.messages import complete, posted
from bot.playground.methods.call import Call, refuse
from bot.slack.checks import JsonObject
from bot.slack.validate import message_problems


def respond(call: Call, token: str) -> None:
    """Answer a click or a command: to the person alone unless told otherwise; or change its source.

    Works where the bot is no member, and is the only way to change an ephemeral message.
    """
    reply = call.workspace.grants.use_reply(token, now=call.now)
    channel = call.workspace.channels[reply.channel_id]
    if call.flag("delete_original"):
        _change(call, channel, reply, fields=None)
        return
    fields = _content(call)
    if call.flag("replace_original"):
        _change(call, channel, reply, fields={"blocks": None, **fields})
    elif call.text("response_type") == "in_channel":
        thread_ts = call.text("thread_ts") or None
        call.workspace.post(channel, fields, now=call.now, thread_ts=thread_ts)
    else:
        person = call.workspace.people[reply.person_id]
        call.workspace.whisper(channel, person, fields, now=call.now)


def _content(call: Call) -> JsonObject:
    blocks = call.json("blocks", otherwise="invalid_blocks_format")
    require(call.text("text") or blocks, "no_text")
    if blocks:
        refuse(message_problems({"blocks": blocks}))
        blocks = complete(blocks, lambda: call.workspace.new_id("b"))
    return posted(call.text("text"), blocks)


def _change(call: Call, channel: Channel, reply: Reply, *, fields: JsonObject | None) -> None:
    if reply.ts is None:
        raise Refused("message_not_found")
    if reply.ts not in channel.messages:
        call.workspace.change_whisper(channel, reply.ts, fields)
    elif fields is None:
        call.workspace.delete(channel, reply.ts, now=call.now)
    else:
        call.workspace.edit(channel, reply.ts, fields, now=call.now)
