"""What Slack sends, as ours: a person's message, a click, a submitted modal; pure.

Who acted is read from the verified payload's own `user`, never from what a library guesses. What
is not for us is None or an `Ignored` with a reason, never an exception: payloads change.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue

from bot.approvals.button import Button, decode
from bot.routing import Choice, Message
from bot.slack.actions import DECIDE, REASON, REJECT
from bot.slack.options import option_meaning
from bot.slack.text import unescaped, without_mention
from bot.turns import Spot, Thread, Turn, session_key

NO_WORDS = "(They only mentioned you.)"
"""What an agent reads of a message without a text: no model takes an empty one."""

Payload = Mapping[str, Any]
Values = dict[str, JsonValue]

PAGE_DIGITS = 6
_YEAR_10000 = 253_402_300_800
_BY_PEOPLE = frozenset({"", "file_share", "thread_broadcast", "me_message"})
_DIRECT = frozenset({"im", "app_home"})


@dataclass(frozen=True, slots=True)
class Ignored:
    """A payload nobody here has to answer, and why."""

    reason: str


OTHER_COMPANY = Ignored("other company")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """A message that its author deleted, or gave other words.

    `thread` is the ts of its thread's first message, which it may be itself; `turn` is the id that
    its turn has.
    """

    channel: str
    thread: str
    author: str
    turn: str
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """We were added to a channel at `ts`, by `inviter` if Slack says so."""

    team: str
    channel: str
    inviter: str
    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicker:
    """The person of an interaction, as signed by Slack; `team` is theirs, perhaps not ours."""

    id: str
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a private answer to an interaction can go."""

    thread: Thread
    response_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """Somebody pressed one of the buttons on a message or modal.

    `button` is None when its value is none of ours; `page` counts parts of a long call from 0.
    `values` is what stands in the inputs now, by the field's name. `view` is the modal's id (Home
    is none), `card` the `channel|ts` of the message.
    """

    action: str
    button: Button | None
    value: str
    by: Clicker
    place: Place
    trigger: str
    values: Values = field(default_factory=dict[str, JsonValue])
    page: int = 0
    view: str = ""
    card: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Somebody sent the modal in which they approve or reject.

    `blocks` maps the field's names to the ids of the blocks they stand in.
    """

    act: str
    button: Button | None
    by: Clicker
    place: Place
    values: Values
    reason: str | None
    blocks: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command: its name, the words behind it, who typed it and where."""

    name: str
    text: str
    by: Clicker
    place: Place


def event(body: Payload, *, team: str, bot_user: str) -> Message | Joined | Ignored:
    """What an Events API body is to us; `team` and `bot_user` are ours."""
    inner = _mapping(body.get("event"))
    kind = _text(inner.get("type"))
    if _text(body.get("team_id")) != team:
        return Ignored("other workspace")
    if kind == "member_joined_channel":
        return _joined(inner, team=team, bot_user=bot_user)
    if kind in ("message", "app_mention"):
        if _outside(inner, team, shared=body.get("is_ext_shared_channel") is not False):
            return OTHER_COMPANY
        return _message(inner, team=team, bot_user=bot_user)
    return Ignored(f"event {kind}" if kind else "no event")


def stranger(body: Payload, *, team: str, bot_user: str) -> tuple[Clicker, Place] | None:
    """Who of another company spoke to us, in a DM or by our name, and where; None: nobody did."""
    if event(body, team=team, bot_user=bot_user) != OTHER_COMPANY:
        return None
    said = _message(_mapping(body.get("event")), team=team, bot_user=bot_user)
    if isinstance(said, Ignored) or not (said.mention or said.direct):
        return None
    place = Place(thread=Thread(said.channel, said.thread_ts))
    return Clicker(id=said.author, team=""), place


def retracted(body: Payload, *, team: str) -> Retracted | None:
    """The message of a person that an event says is deleted, or says something else now."""
    inner = _mapping(body.get("event"))
    kind = _text(inner.get("subtype")) if inner.get("type") == "message" else ""
    if kind not in ("message_deleted", "message_changed") or _text(body.get("team_id")) != team:
        return None
    before, after = _mapping(inner.get("previous_message")), _mapping(inner.get("message"))
    tombstone = after.get("subtype") == "tombstone"
    same = not tombstone and _text(before.get("text")) == _text(after.get("text"))
    author, channel = _text(before.get("user")), _text(inner.get("channel"))
    ts = _text(before.get("ts"))
    if not (author and channel and ts) or (same and kind == "message_changed"):
        return None
    return Retracted(
        channel=channel,
        thread=_text(before.get("thread_ts")) or ts,
        author=author,
        turn=delivery(channel, ts),
        deleted=kind == "message_deleted" or tombstone,
    )


def delivery(channel: str, ts: str) -> str:
    """The id of the turn of a message."""
    return f"m:{channel}:{ts}"


def changed_person(body: Payload) -> str:
    """The id of the person whose account changed, if that is what the event says."""
    inner = _mapping(body.get("event"))
    if inner.get("type") != "user_change":
        return ""
    return _text(_mapping(inner.get("user")).get("id"))


def changed_group(body: Payload) -> str:
    """The id of the user group whose members changed, if that is what the event says."""
    inner = _mapping(body.get("event"))
    match inner.get("type"):
        case "subteam_members_changed":
            return _text(inner.get("subteam_id"))
        case "subteam_updated":
            return _text(_mapping(inner.get("subteam")).get("id"))
        case _:
            return ""


def home_opened(body: Payload) -> str:
    """The id of the person who opened their Home, if that is what the event says."""
    inner = _mapping(body.get("event"))
    if inner.get("type") != "app_home_opened" or inner.get("tab") != "home":
        return ""
    return _text(inner.get("user"))


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
    delivery = f"j:{joined.channel}:{joined.ts}"
    return Turn(id=delivery, session=key, author=joined.inviter, text="Who is here?")


def click(body: Payload) -> Click | Ignored:
    """A pressed button; Ignored for a changed input, which only wants to be acknowledged."""
    actions = _list(body.get("actions"))
    action = _mapping(actions[0] if actions else None)
    if _text(action.get("type")) != "button":
        return Ignored("input changed")
    by = clicker(body)
    if by is None:
        return Ignored("nobody")
    value = _text(action.get("value"))
    plain, _, page = value.partition("#")
    return Click(
        action=_text(action.get("action_id")),
        button=decode(plain),
        value=plain,
        by=by,
        place=place(body),
        trigger=_text(body.get("trigger_id")),
        values=state_values(_mapping(body.get("state"))),
        page=int(page) if page.isdecimal() and len(page) < PAGE_DIGITS else 0,
        view=_modal(_mapping(body.get("view"))),
        card=_card(_mapping(body.get("container"))),
    )


def _modal(view: Payload) -> str:
    """The id of the modal that was clicked; Home is a view that only `publish` changes."""
    return _text(view.get("id")) if view.get("type") == "modal" else ""


def _card(container: Payload) -> str:
    """The place of the message that was clicked; what only one person sees has none."""
    channel, ts = _text(container.get("channel_id")), _text(container.get("message_ts"))
    return str(Spot(channel, ts)) if channel and ts and not container.get("is_ephemeral") else ""


def submission(body: Payload) -> Submission | Ignored:
    """A submitted modal; what it is about stands in its private metadata, `act` and button."""
    view = _mapping(body.get("view"))
    by = clicker(body)
    if by is None or _text(view.get("callback_id")) != DECIDE:
        return Ignored("other modal")
    told = _metadata(view)
    values = state_values(_mapping(view.get("state")))
    reason = values.pop(REASON, None) if told.get("act") == REJECT else None
    thread = Thread(_text(told.get("channel")), _text(told.get("thread")))
    return Submission(
        act=_text(told.get("act")),
        button=decode(told.get("button")),
        by=by,
        place=Place(thread=thread),
        values=values,
        reason=reason if isinstance(reason, str) and reason.strip() else None,
        blocks=_blocks_of(_mapping(view.get("state"))),
    )


def command(body: Payload) -> Command:
    """A slash command."""
    return Command(
        name=_text(body.get("command")),
        text=_text(body.get("text")),
        by=Clicker(id=_text(body.get("user_id")), team=_text(body.get("team_id"))),
        place=Place(
            thread=Thread(_text(body.get("channel_id"))),
            response_url=_text(body.get("response_url")),
        ),
    )


def clicker(body: Payload) -> Clicker | None:
    """The person of an interaction; None when the payload names nobody."""
    user = _mapping(body.get("user"))
    person = _text(user.get("id"))
    if not person:
        return None
    return Clicker(id=person, team=_text(user.get("team_id")))


def place(body: Payload) -> Place:
    """Where an interaction came from, as far as a private answer needs it."""
    container = _mapping(body.get("container"))
    channel = _text(container.get("channel_id")) or _text(_mapping(body.get("channel")).get("id"))
    thread = _text(container.get("thread_ts"))
    thread = thread or _text(_mapping(body.get("message")).get("thread_ts"))
    if not channel:
        told = _metadata(_mapping(body.get("view")))
        channel, thread = _text(told.get("channel")), _text(told.get("thread"))
    return Place(thread=Thread(channel, thread), response_url=_text(body.get("response_url")))


def state_values(state: Payload) -> Values:
    """What stands in the inputs of a message or modal, by action id; None or [] when empty."""
    return {
        name: _value(_mapping(element))
        for _, block in _mapping(state.get("values")).items()
        for name, element in _mapping(block).items()
    }


def _message(inner: Payload, *, team: str, bot_user: str) -> Message | Ignored:
    author = _text(inner.get("user"))
    subtype = inner.get("subtype")
    if subtype is not None and not (isinstance(subtype, str) and subtype in _BY_PEOPLE):
        return Ignored(f"message {subtype}")
    if inner.get("bot_id") or inner.get("bot_profile") or author == bot_user:
        return Ignored("a bot")
    if not author:
        return Ignored("nobody")
    channel, ts = _text(inner.get("channel")), _text(inner.get("ts"))
    raw, mention = without_mention(_text(inner.get("text")), bot_user)
    text = (unescaped(raw) + _files(inner)).strip()
    if not (channel and ts):
        return Ignored("no place")
    thread_ts = _text(inner.get("thread_ts"))
    return Message(
        team=team,
        channel=channel,
        ts=ts,
        author=author,
        text=text,
        thread_ts="" if thread_ts == ts else thread_ts,
        mention=mention or inner.get("type") == "app_mention",
        direct=_text(inner.get("channel_type")) in _DIRECT or channel.startswith("D"),
    )


def _joined(inner: Payload, *, team: str, bot_user: str) -> Joined | Ignored:
    channel, ts = _text(inner.get("channel")), _text(inner.get("event_ts"))
    if _text(inner.get("user")) != bot_user or not channel:
        return Ignored("somebody joined")
    inviter = _text(inner.get("inviter")) or bot_user
    return Joined(team=team, channel=channel, inviter=inviter, ts=ts)


def _outside(inner: Payload, team: str, *, shared: bool) -> bool:
    """Whether the author is of another company; in a shared channel also when nobody says."""
    home = _text(inner.get("user_team")) or _text(inner.get("team"))
    return home != team if home else shared and bool(inner.get("user"))


def _files(inner: Payload) -> str:
    """A line that names the attached files: an agent should know they are there."""
    names = [_text(_mapping(each).get("name")) or "a file" for each in _list(inner.get("files"))]
    if not names:
        return ""
    return f"\n[attached: {', '.join(names)}]"


def _metadata(view: Payload) -> Payload:
    try:
        return _mapping(json.loads(_text(view.get("private_metadata"))))
    except (ValueError, RecursionError):
        return {}


def _blocks_of(state: Payload) -> dict[str, str]:
    return {
        name: block_id
        for block_id, block in _mapping(state.get("values")).items()
        for name in _mapping(block)
    }


def _value(element: Payload) -> JsonValue:
    """The value of one input, whatever kind it is."""
    for key in ("selected_option", "selected_options"):
        if key in element:
            return _options(element[key])
    if "selected_date_time" in element:
        return _moment(element["selected_date_time"])
    for key, value in element.items():
        if key in ("value", "files") or key.endswith("_value") or key.startswith("selected_"):
            return value
    return None


def _options(chosen: object) -> JsonValue:
    several = [_option(each) for each in _list(chosen)]
    return several if isinstance(chosen, list) else _option(chosen)


def _option(chosen: object) -> JsonValue:
    if chosen is None:
        return None
    return option_meaning(_text(_mapping(chosen).get("value")))


def _moment(seconds: object) -> JsonValue:
    """A picked date and time as ISO 8601 in UTC; None for what is none."""
    if not isinstance(seconds, int) or not 0 <= seconds < _YEAR_10000:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
