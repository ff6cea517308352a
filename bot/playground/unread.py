"""What a person has not read yet, and what of it is meant for them; pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.playground.channels import Channel, is_reply
from bot.playground.messages import asks
from bot.playground.people import Person
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject


@dataclass(frozen=True, slots=True)
class News:
    """What is new for one person in one channel: all of it, what is for them, a card perhaps."""

    new: int
    mine: int
    cards: int


def unread(workspace: Workspace, person: Person, read: Mapping[str, float]) -> dict[str, News]:
    """By channel id, where there is anything; `read` is the newest ts a person has seen."""
    found: dict[str, News] = {}
    for channel in workspace.channels.values():
        if person.id in channel.members:
            new = list(_new(channel, person, read.get(channel.id, 0.0)))
            mine = [each for each in new if _is_for(person, channel, each)]
            cards = [each for each in mine if not is_reply(each) and asks(each)]
            if new:
                found[channel.id] = News(len(new), len(mine), len(cards))
    return found


def _new(channel: Channel, person: Person, since: float) -> Iterator[JsonObject]:
    said = [each for each in channel.messages.values() if each["user"] != person.id]
    said += [message for owner, message in channel.whispers if owner == person.id]
    return (each for each in said if float(each["ts"]) > since and "subtype" not in each)


def _is_for(person: Person, channel: Channel, message: JsonObject) -> bool:
    """Whether Slack would count it: a DM, a mention, a private note, news of one's thread.

    Nobody hears of a mention that an edit brings, and a card that is closed asks nobody any more.
    """
    if channel.kind in ("im", "mpim") or message.get("is_ephemeral"):
        return True
    parent = channel.messages.get(message.get("thread_ts", ""), {})
    follows = person.id in (parent.get("user"), *parent.get("reply_users", []))
    mentioned = f"<@{person.id}>" in message["text"]
    return (follows and is_reply(message)) or (
        mentioned and ("edited" not in message or asks(message))
    )
