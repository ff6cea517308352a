"""What is on each person's screen; pure."""

from copy import deepcopy
from dataclasses import dataclass

from bot.playground import inputs
from bot.playground.channels import Channel
from bot.playground.inputs import CannotDo
from bot.playground.messages import full_text
from bot.playground.people import Person, user_object
from bot.playground.workspace import Workspace, message_place
from bot.slack.checks import JsonObject


@dataclass(frozen=True)
class Surface:
    """A message or a view somebody acts on: where its unsent input is kept, and its blocks."""

    place: str
    blocks: list[JsonObject]
    channel: Channel | None = None
    message: JsonObject | None = None
    view: JsonObject | None = None


def seen(channel: Channel, message: JsonObject) -> JsonObject:
    """A copy of a message that also says its channel."""
    return {**deepcopy(message), "channel": channel.id}


def visible(workspace: Workspace, person: Person, channel: Channel) -> list[JsonObject]:
    """What a person sees in a channel, threads and their own ephemerals included, in order."""
    there = sorted(_shown(workspace, person, channel), key=lambda message: float(message["ts"]))
    return [seen(channel, message) for message in there]


def surface(workspace: Workspace, person: Person, shown: JsonObject) -> Surface:
    """The message or view a person acts on, as they saw it; CannotDo when it is not theirs."""
    if "hash" in shown:
        mine = [*workspace.views.stacks.get(person.id, []), workspace.views.homes.get(person.id)]
        if not any(view and view["id"] == shown["id"] for view in mine):
            raise CannotDo(f"{person.name} does not have this view open")
        return Surface(shown["id"], shown["blocks"], view=workspace.views.find(view_id=shown["id"]))
    channel = workspace.channels[shown["channel"]]
    for message in _shown(workspace, person, channel):
        if message["ts"] == shown["ts"]:
            place = message_place(channel.id, message["ts"])
            return Surface(place, shown.get("blocks", []), channel, seen(channel, message))
    raise CannotDo(f"{person.name} does not see this message")


def snapshot(workspace: Workspace, person: Person, *, now: float) -> JsonObject:
    """All a person sees, as plain JSON: person, people, channels, modals, home.

    A message or view with inputs has `state`: what stands in them for this person.
    """
    rooms = [each for each in workspace.channels.values() if person.id in each.members]
    return {
        "person": user_object(person, now=now),
        "people": [user_object(each, now=now) for each in workspace.people.values()],
        "channels": [_room(workspace, person, each, now=now) for each in rooms],
        "modals": modals(workspace, person),
        "home": home(workspace, person),
    }


def modals(workspace: Workspace, person: Person) -> list[JsonObject]:
    """A person's open modals, lowest first, with what they entered."""
    stack = workspace.views.stacks.get(person.id, [])
    return [deepcopy(workspace.view_with_state(person, view)) for view in stack]


def home(workspace: Workspace, person: Person) -> JsonObject | None:
    """The Home the bot published for a person."""
    view = workspace.views.homes.get(person.id)
    return deepcopy(workspace.view_with_state(person, view)) if view else None


def summary(workspace: Workspace) -> str:
    """Everything there is, one line each: for the message of a failed wait."""
    lines: list[str] = []
    for channel in workspace.channels.values():
        lines += [f"#{channel.name} {_line(each)}" for each in channel.messages.values()]
        lines += [
            f"#{channel.name} only {workspace.people[owner].name}: {_line(message)}"
            for owner, message in channel.whispers
        ]
    for person_id, stack in workspace.views.stacks.items():
        name = workspace.people[person_id].name
        lines += [f"modal of {name}: {_short(full_text(view))}" for view in stack]
    return "\n".join(lines) or "nothing was said"


def _shown(workspace: Workspace, person: Person, channel: Channel) -> list[JsonObject]:
    """The messages a person sees in a channel, themselves and in no order."""
    if not workspace.sees(person, channel):
        return []
    own = [message for owner, message in channel.whispers if owner == person.id]
    return [*channel.messages.values(), *own]


def _room(workspace: Workspace, person: Person, channel: Channel, *, now: float) -> JsonObject:
    said = [
        each | _state(workspace, person, channel, message=each)
        for each in visible(workspace, person, channel)
    ]
    statuses = {
        ts: workspace.status(channel, ts, now=now)
        for place, ts in workspace.statuses
        if place == channel.id
    }
    return {
        **channel.as_object(),
        "name": channel.name,
        "members": sorted(channel.members),
        "messages": said,
        "statuses": {ts: status for ts, status in statuses.items() if status},
    }


def _state(
    workspace: Workspace, person: Person, channel: Channel, *, message: JsonObject
) -> JsonObject:
    draft = workspace.draft(person, message_place(channel.id, message["ts"]))
    state = inputs.values(message.get("blocks", []), draft)
    return {"state": {"values": state}} if state else {}


def _line(message: JsonObject) -> str:
    indent = "  > " if message.get("thread_ts", message["ts"]) != message["ts"] else ""
    return f"{message['ts']} {indent}{message['user']}: {_short(full_text(message))}"


def _short(text: str) -> str:
    line = text.replace("\n", " / ")
    return line if len(line) <= 160 else f"{line[:157]}..."
