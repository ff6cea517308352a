"""What people press, send and type as a command, in our own terms; pure.

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
from bot.slack.actions import DECIDE, REASON, REJECT
from bot.slack.options import option_meaning
from bot.turns import Spot, Thread

Payload = Mapping[str, Any]
Values = dict[str, JsonValue]

PAGE_DIGITS = 6
_YEAR_10000 = 253_402_300_800


@dataclass(frozen=True, slots=True)
class Ignored:
    """A payload nobody here has to answer, and why."""

    reason: str


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
class SlashCommand:
    """A slash command: its name, the words behind it, who typed it and where."""

    name: str
    text: str
    by: Clicker
    place: Place


def click(body: Payload) -> Click | Ignored:
    """A pressed button; Ignored for a changed input, which only wants to be acknowledged."""
    actions = items(body.get("actions"))
    action = mapping(actions[0] if actions else None)
    if string(action.get("type")) != "button":
        return Ignored("input changed")
    by = clicker(body)
    if by is None:
        return Ignored("nobody")
    value = string(action.get("value"))
    plain, _, page = value.partition("#")
    return Click(
        action=string(action.get("action_id")),
        button=decode(plain),
        value=plain,
        by=by,
        place=place(body),
        trigger=string(body.get("trigger_id")),
        values=state_values(mapping(body.get("state"))),
        page=int(page) if page.isdecimal() and len(page) < PAGE_DIGITS else 0,
        view=_modal(mapping(body.get("view"))),
        card=_card(mapping(body.get("container"))),
    )


def _modal(view: Payload) -> str:
    """The id of the modal that was clicked; Home is a view that only `publish` changes."""
    return string(view.get("id")) if view.get("type") == "modal" else ""


def _card(container: Payload) -> str:
    """The place of the message that was clicked; one that only one person sees has none."""
    channel, ts = string(container.get("channel_id")), string(container.get("message_ts"))
    return str(Spot(channel, ts)) if channel and ts and not container.get("is_ephemeral") else ""


def submission(body: Payload) -> Submission | Ignored:
    """A submitted modal; what it is about stands in its private metadata, `act` and button."""
    view = mapping(body.get("view"))
    by = clicker(body)
    if by is None or string(view.get("callback_id")) != DECIDE:
        return Ignored("other modal")
    told = _metadata(view)
    values = state_values(mapping(view.get("state")))
    reason = values.pop(REASON, None) if told.get("act") == REJECT else None
    thread = Thread(string(told.get("channel")), string(told.get("thread")))
    return Submission(
        act=string(told.get("act")),
        button=decode(told.get("button")),
        by=by,
        place=Place(thread=thread),
        values=values,
        reason=reason if isinstance(reason, str) and reason.strip() else None,
        blocks=_blocks_of(mapping(view.get("state"))),
    )


def command(body: Payload) -> SlashCommand:
    """A slash command."""
    return SlashCommand(
        name=string(body.get("command")),
        text=string(body.get("text")),
        by=Clicker(id=string(body.get("user_id")), team=string(body.get("team_id"))),
        place=Place(
            thread=Thread(string(body.get("channel_id"))),
            response_url=string(body.get("response_url")),
        ),
    )


def clicker(body: Payload) -> Clicker | None:
    """The person of an interaction; None when the payload names nobody."""
    user = mapping(body.get("user"))
    person = string(user.get("id"))
    if not person:
        return None
    return Clicker(id=person, team=string(user.get("team_id")))


def place(body: Payload) -> Place:
    """Where an interaction came from, as far as a private answer needs it."""
    container = mapping(body.get("container"))
    channel = string(container.get("channel_id")) or string(mapping(body.get("channel")).get("id"))
    thread = string(container.get("thread_ts"))
    thread = thread or string(mapping(body.get("message")).get("thread_ts"))
    if not channel:
        told = _metadata(mapping(body.get("view")))
        channel, thread = string(told.get("channel")), string(told.get("thread"))
    return Place(thread=Thread(channel, thread), response_url=string(body.get("response_url")))


def state_values(state: Payload) -> Values:
    """What stands in the inputs of a message or modal, by action id; None or [] when empty."""
    return {
        name: _value(mapping(element))
        for _, block in mapping(state.get("values")).items()
        for name, element in mapping(block).items()
    }


def _metadata(view: Payload) -> Payload:
    try:
        return mapping(json.loads(string(view.get("private_metadata"))))
    except (ValueError, RecursionError):
        return {}


def _blocks_of(state: Payload) -> dict[str, str]:
    return {
        name: block_id
        for block_id, block in mapping(state.get("values")).items()
        for name in mapping(block)
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
    several = [_option(each) for each in items(chosen)]
    return several if isinstance(chosen, list) else _option(chosen)


def _option(chosen: object) -> JsonValue:
    if chosen is None:
        return None
    return option_meaning(string(mapping(chosen).get("value")))


def _moment(seconds: object) -> JsonValue:
    """A picked date and time as ISO 8601 in UTC; None for anything else."""
    if not isinstance(seconds, int) or not 0 <= seconds < _YEAR_10000:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def mapping(value: object) -> Mapping[str, Any]:
    """The JSON object, or an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The JSON array, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def string(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""
