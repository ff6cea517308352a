"""What Slack tells us, in our own terms: what people write, and what changes about them; pure.

What is not for us is None, empty, or an `Ignored` with a reason, never an exception: events change.
"""

from dataclasses import dataclass

from bot.routing import Choice, Message
from bot.slack.payloads import Clicker, Ignored, Payload, Place, items, mapping, string
from bot.slack.text import unescaped, without_mention
from bot.turns import Thread, Turn, session_key

NO_WORDS = "(They only mentioned you.)"
"""What an agent reads in place of an empty message, which no model takes."""

_BY_PEOPLE = frozenset({"", "file_share", "thread_broadcast", "me_message"})
_DIRECT = frozenset({"im", "app_home"})

OTHER_COMPANY = Ignored("other company")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """A message that its author deleted, or gave other words.

    `thread` is the ts of its thread's first message, which it may be itself; `turn` is the id that
    its turn has, `at` the ts of the change.
    """

    channel: str
    thread: str
    author: str
    turn: str
    deleted: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """We were added to a channel at `ts`, by `inviter` if Slack says so."""

    team: str
    channel: str
    inviter: str
    ts: str


def event(body: Payload, *, team: str, bot_user: str) -> Message | Joined | Ignored:
    """What an Events API body is to us; `team` and `bot_user` are ours."""
    inner = mapping(body.get("event"))
    kind = string(inner.get("type"))
    if string(body.get("team_id")) != team:
        return Ignored("other workspace")
    if kind == "member_joined_channel":
        return _joined(inner, team=team, bot_user=bot_user)
    if kind in ("message", "app_mention"):
        if _outside(inner, team, shared=body.get("is_ext_shared_channel") is not False):
            return OTHER_COMPANY
        return _message(inner, team=team, bot_user=bot_user)
    return Ignored(f"event {kind}" if kind else "no event")


def stranger(body: Payload, *, team: str, bot_user: str) -> tuple[Clicker, Place] | None:
    """Who of another company spoke to us, in a DM or by our name, and where; None if nobody did."""
    if event(body, team=team, bot_user=bot_user) != OTHER_COMPANY:
        return None
    said = _message(mapping(body.get("event")), team=team, bot_user=bot_user)
    if isinstance(said, Ignored) or not (said.mention or said.direct):
        return None
    place = Place(thread=Thread(said.channel, said.thread_ts))
    return Clicker(id=said.author, team=""), place


def retracted(body: Payload, *, team: str) -> Retracted | None:
    """The message of a person that an event says is deleted, or says something else now."""
    inner = mapping(body.get("event"))
    kind = string(inner.get("subtype")) if inner.get("type") == "message" else ""
    if kind not in ("message_deleted", "message_changed") or string(body.get("team_id")) != team:
        return None
    before, after = mapping(inner.get("previous_message")), mapping(inner.get("message"))
    tombstone = after.get("subtype") == "tombstone"
    same = not tombstone and string(before.get("text")) == string(after.get("text"))
    author, channel = string(before.get("user")), string(inner.get("channel"))
    ts = string(before.get("ts"))
    if not (author and channel and ts) or (same and kind == "message_changed"):
        return None
    return Retracted(
        channel=channel,
        thread=string(before.get("thread_ts")) or ts,
        author=author,
        turn=delivery(channel, ts),
        deleted=kind == "message_deleted" or tombstone,
        at=string(inner.get("event_ts")),
    )


def delivery(channel: str, ts: str) -> str:
    """The id of the turn of a message."""
    return f"m:{channel}:{ts}"


def changed_person(body: Payload) -> str:
    """The id of the person whose account changed, if that is what the event says."""
    inner = mapping(body.get("event"))
    if inner.get("type") != "user_change":
        return ""
    return string(mapping(inner.get("user")).get("id"))


def changed_group(body: Payload) -> str:
    """The id of the user group whose members changed, if that is what the event says."""
    inner = mapping(body.get("event"))
    match inner.get("type"):
        case "subteam_members_changed":
            return string(inner.get("subteam_id"))
        case "subteam_updated":
            return string(mapping(inner.get("subteam")).get("id"))
        case _:
            return ""


def home_opened(body: Payload) -> str:
    """The id of the person who opened their Home, if that is what the event says."""
    inner = mapping(body.get("event"))
    if inner.get("type") != "app_home_opened" or inner.get("tab") != "home":
        return ""
    return string(inner.get("user"))


def turn(message: Message, choice: Choice) -> Turn:
    """The turn of a message: the same post, delivered twice or under two event names, is one."""
    key = session_key(
        team=message.team, agent=choice.agent, thread=Thread(message.channel, choice.ts)
    )
    text = choice.text.strip() or NO_WORDS
    named = delivery(message.channel, message.ts)
    return Turn(id=named, session=key, author=message.author, text=text)


def greeting(joined: Joined, *, agent: str) -> Turn:
    """The turn in which an agent introduces itself to a channel."""
    key = session_key(team=joined.team, agent=agent, thread=Thread(joined.channel))
    named = f"j:{joined.channel}:{joined.ts}"
    return Turn(id=named, session=key, author=joined.inviter, text="Who is here?")


def _message(inner: Payload, *, team: str, bot_user: str) -> Message | Ignored:
    author = string(inner.get("user"))
    subtype = inner.get("subtype")
    if subtype is not None and not (isinstance(subtype, str) and subtype in _BY_PEOPLE):
        return Ignored(f"message {subtype}")
    if inner.get("bot_id") or inner.get("bot_profile") or author == bot_user:
        return Ignored("a bot")
    if not author:
        return Ignored("nobody")
    channel, ts = string(inner.get("channel")), string(inner.get("ts"))
    raw, mention = without_mention(string(inner.get("text")), bot_user)
    text = (unescaped(raw) + _files(inner)).strip()
    if not (channel and ts):
        return Ignored("no place")
    thread_ts = string(inner.get("thread_ts"))
    return Message(
        team=team,
        channel=channel,
        ts=ts,
        author=author,
        text=text,
        thread_ts="" if thread_ts == ts else thread_ts,
        mention=mention or inner.get("type") == "app_mention",
        direct=string(inner.get("channel_type")) in _DIRECT or channel.startswith("D"),
    )


def _joined(inner: Payload, *, team: str, bot_user: str) -> Joined | Ignored:
    channel, ts = string(inner.get("channel")), string(inner.get("event_ts"))
    if string(inner.get("user")) != bot_user or not channel:
        return Ignored("somebody joined")
    inviter = string(inner.get("inviter")) or bot_user
    return Joined(team=team, channel=channel, inviter=inviter, ts=ts)


def _outside(inner: Payload, team: str, *, shared: bool) -> bool:
    """Whether the author is from another company; in a shared channel also when nothing says so."""
    home = string(inner.get("user_team")) or string(inner.get("team"))
    return home != team if home else shared and bool(inner.get("user"))


def _files(inner: Payload) -> str:
    """A line that names the attached files: an agent should know they are there."""
    names = [string(mapping(each).get("name")) or "a file" for each in items(inner.get("files"))]
    if not names:
        return ""
    return f"\n[attached: {', '.join(names)}]"
