"""The local workspace: its state and every way it changes; pure, time is passed in.

What the bot must hear of a change is left in `undelivered`, what a screen must redraw goes to
`on_change`. Refused says no as Slack would; CannotDo marks what no person could do.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.playground import envelopes, inputs
from bot.playground.channels import Channel, default_channels
from bot.playground.grants import Grants, Refused, require
from bot.playground.inputs import CannotDo, Draft, Placed
from bot.playground.messages import complete
from bot.playground.people import BOT, GROUPS, PEOPLE, TEAM_ID, Person, UserGroup
from bot.playground.views import Views
from bot.slack.checks import JsonObject

STATUS_SECONDS = 120
TEXT_LIMIT = 40_000
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Workspace:
    """People, channels, messages, views, and what each person typed but has not sent."""

    def __init__(
        self,
        *,
        now: float,
        channels: Callable[[], list[Channel]] = default_channels,
    ) -> None:
        # Starting at the time, ids do not repeat when a bot outlives the workspace.
        self._serial = int(now * 1000)
        self.people = {person.id: person for person in PEOPLE}
        self.groups = {group.id: group for group in GROUPS}
        self.channels = {channel.id: channel for channel in channels()}
        self.views = Views(self.new_id, complete=complete)
        self.grants = Grants(self.new_id)
        self.drafts: dict[tuple[str, str], Draft] = {}
        self.statuses: dict[tuple[str, str], tuple[str, float]] = {}
        self.undelivered: list[JsonObject] = []
        self.on_change: Callable[[JsonObject], None] = lambda _: None

    def new_id(self, prefix: str) -> str:
        """The next id, in Slack's form."""
        self._serial += 1
        rest, text = self._serial, ""
        while rest:
            rest, digit = divmod(rest, 36)
            text = _DIGITS[digit] + text
        return prefix + text

    # Finding

    def person(self, who: str | Person) -> Person:
        """A person by id, by name (with or without @), or as known before."""
        key = who.id if isinstance(who, Person) else who.removeprefix("@").lower()
        for person in self.people.values():
            if key in (person.id, person.id.lower(), person.name):
                return person
        raise CannotDo(f"nobody here is called {key!r}")

    def channel(self, where: str) -> Channel:
        """A channel by id or by name, with or without #."""
        for channel in self.channels.values():
            if where.removeprefix("#") in (channel.id, channel.name):
                return channel
        raise CannotDo(f"there is no channel {where!r}")

    def dm(self, person: Person) -> Channel:
        """The DM of a person and the bot, opened when there was none."""
        return self.group_dm({person.id})

    def group_dm(self, person_ids: set[str]) -> Channel:
        """The conversation of some people and the bot, opened when there was none."""
        members = {*person_ids, BOT.id}
        for channel in self.channels.values():
            if channel.kind in ("im", "mpim") and channel.members == members:
                return channel
        if len(members) == 2:
            (person_id,) = person_ids
            channel = Channel(f"D{person_id[1:]}", "directmessage", members, kind="im")
        else:
            names = "--".join(sorted(self.people[each].name for each in person_ids))
            channel = Channel(self.new_id("C"), f"mpdm-{names}", members, kind="mpim")
        self.channels[channel.id] = channel
        self._changed("channel", channel=channel.id)
        return channel

    def sees(self, person: Person, channel: Channel) -> bool:
        """Whether a person can look into a channel: as member, or as colleague if it is public."""
        colleague = person.team_id == TEAM_ID and channel.kind == "channel"
        return not person.deleted and (colleague or person.id in channel.members)

    # Writing

    def post(
        self, channel: Channel, message: JsonObject, *, now: float, thread_ts: str | None = None
    ) -> JsonObject:
        """Put a message into a channel or a thread, and tell the bot."""
        require(not channel.is_archived, "is_archived")
        message = {**message, "ts": channel.next_ts(now)}
        channel.add(message, thread_ts=thread_ts)
        if message["user"] == BOT.id:
            self.statuses.pop((channel.id, thread_ts or ""), None)
        self._tell_of_message(channel, message, now)
        self._changed("message", channel=channel.id, ts=message["ts"])
        return message

    def edit(self, channel: Channel, ts: str, changes: JsonObject, *, now: float) -> JsonObject:
        """Change some fields of a message, in place, and tell the bot."""
        previous = channel.message(ts)
        edited_at = channel.next_ts(now)
        editor = previous.get("bot_id", previous["user"])
        edited = {"edited": {"user": editor, "ts": edited_at}}
        channel.messages[ts] = _changed_fields(previous, changes | edited)
        event = envelopes.changed_event(
            channel.messages[ts], previous, ts=edited_at, channel_id=channel.id, kind=channel.kind
        )
        self._tell(channel, event, now=now)
        self._changed("edit", channel=channel.id, ts=ts)
        return channel.messages[ts]

    def delete(self, channel: Channel, ts: str, *, now: float) -> None:
        """Delete a message, and tell the bot."""
        previous = channel.remove(ts)
        event = envelopes.deleted_event(
            previous, ts=channel.next_ts(now), channel_id=channel.id, kind=channel.kind
        )
        self._tell(channel, event, now=now)
        self._changed("delete", channel=channel.id, ts=ts)

    def whisper(
        self, channel: Channel, person: Person, message: JsonObject, *, now: float
    ) -> JsonObject:
        """Show a message to one person only; no event tells of it."""
        message = {**message, "ts": channel.next_ts(now), "is_ephemeral": True}
        channel.whispers.append((person.id, message))
        self._changed("ephemeral", channel=channel.id, ts=message["ts"], user=person.id)
        return message

    def change_whisper(self, channel: Channel, ts: str, changes: JsonObject | None) -> None:
        """Change an ephemeral message, or take it away (None)."""
        for index, (person_id, message) in enumerate(channel.whispers):
            if message["ts"] == ts:
                if changes is None:
                    del channel.whispers[index]
                else:
                    channel.whispers[index] = (person_id, _changed_fields(message, changes))
                self._changed("ephemeral", channel=channel.id, ts=ts, user=person_id)
                return
        raise Refused("message_not_found")

    def react(self, channel: Channel, ts: str, name: str) -> None:
        """Add the bot's reaction to a message."""
        reactions: list[JsonObject] = channel.message(ts).setdefault("reactions", [])
        require(all(each["name"] != name for each in reactions), "already_reacted")
        reactions.append({"name": name, "users": [BOT.id], "count": 1})
        self._changed("reaction", channel=channel.id, ts=ts)

    # People

    def join(self, channel: Channel, person: Person, *, now: float) -> bool:
        """Put a person or the bot into a channel; False when already there."""
        if person.id in channel.members:
            return False
        channel.members.add(person.id)
        ts = channel.next_ts(now)
        event = envelopes.joined_event(person, ts=ts, channel_id=channel.id, kind=channel.kind)
        self._tell(channel, event, now=now)
        notice = {
            "type": "message",
            "subtype": "channel_join",
            "user": person.id,
            "text": f"<@{person.id}> has joined the channel",
        }
        self.post(channel, notice, now=now)
        return True

    def deactivate(self, person: Person, *, now: float) -> None:
        """Close a person's account, and tell the bot."""
        gone = replace(person, deleted=True)
        self.people[person.id] = gone
        event = envelopes.user_change_event(gone, ts=f"{now:.6f}", now=now)
        self._tell(None, event, now=now)
        self._changed("person", user=person.id)

    def set_group(self, group: UserGroup, members: tuple[str, ...], *, now: float) -> None:
        """Replace the members of a user group, and tell the bot."""
        added = [each for each in members if each not in group.members]
        removed = [each for each in group.members if each not in members]
        self.groups[group.id] = replace(group, members=members)
        event = envelopes.group_change_event(
            group.id, added=added, removed=removed, ts=f"{now:.6f}"
        )
        self._tell(None, event, now=now)
        self._changed("group", group=group.id)

    def open_home(self, person: Person, *, now: float) -> None:
        """Tell the bot that a person looks at its Home."""
        channel = self.dm(person)
        view = self.views.homes.get(person.id)
        event = envelopes.home_event(
            person,
            channel_id=channel.id,
            view=self.view_with_state(person, view) if view else None,
            ts=channel.next_ts(now),
        )
        self._tell(None, event, now=now)

    # Unsent input

    def draft(self, person: Person, place: str) -> Draft:
        """What a person entered in a message or view; `place` is that of its Surface."""
        return self.drafts.setdefault((person.id, place), {})

    def enter(self, person: Person, place: str, each: Placed, *, value: Any) -> None:
        """Remember what a person put into an input, unsent."""
        entries = self.draft(person, place).setdefault(each.block_id, {})
        entries[each.action_id] = inputs.entered(each, value)
        self._changed("draft", user=person.id)

    def view_with_state(self, person: Person, view: JsonObject) -> JsonObject:
        """A view as a payload carries it, with what the person entered."""
        state = inputs.values(view["blocks"], self.draft(person, view["id"]))
        return view | {"state": {"values": state}}

    # Views and status

    def show_view(self, person_id: str, view: JsonObject) -> JsonObject:
        """Announce that a person's view was opened, changed or closed."""
        self._changed("home" if view["type"] == "home" else "view", user=person_id, view=view["id"])
        return view

    def set_status(self, channel: Channel, thread_ts: str, status: str, *, now: float) -> None:
        """Show what the bot is doing under a thread for two minutes; "" clears it."""
        self.statuses[channel.id, thread_ts] = (status, now + STATUS_SECONDS)
        self._changed("status", channel=channel.id, ts=thread_ts)

    def status(self, channel: Channel, thread_ts: str, *, now: float) -> str:
        """What the bot says it is doing in a thread, or ""."""
        status, until = self.statuses.get((channel.id, thread_ts), ("", 0.0))
        return status if now < until else ""

    # Telling

    def take_undelivered(self) -> list[JsonObject]:
        """What the bot must hear and was not handed over yet."""
        taken, self.undelivered = self.undelivered, []
        return taken

    def tell_anyway(self, event: JsonObject, *, now: float) -> None:
        """Leave any event for the bot."""
        self._tell(None, event, now=now)

    def _tell_of_message(self, channel: Channel, message: JsonObject, now: float) -> None:
        author = self.people[message["user"]]
        mentioned = f"<@{BOT.id}>" in message["text"] and "subtype" not in message
        if mentioned and author != BOT and channel.kind != "im":
            event = envelopes.mention_event(message, channel_id=channel.id, author=author)
            self._tell(channel, event, now=now)
        event = envelopes.message_event(
            message, channel_id=channel.id, kind=channel.kind, author=author
        )
        self._tell(channel, event, now=now)

    def _tell(self, channel: Channel | None, event: JsonObject, *, now: float) -> None:
        if channel is None or BOT.id in channel.members:
            envelope = envelopes.event_callback(
                event,
                event_id=self.new_id("Ev"),
                now=now,
                is_ext_shared=bool(channel and channel.is_ext_shared),
            )
            self.undelivered.append(envelope)

    def _changed(self, kind: str, **details: str) -> None:
        self.on_change({"kind": kind, **details})


def _changed_fields(message: JsonObject, changes: JsonObject) -> JsonObject:
    """None takes a field away."""
    return {key: each for key, each in (message | changes).items() if each is not None}


def message_place(channel_id: str, ts: str) -> str:
    """Where unsent input of a message is kept."""
    return f"{channel_id}:{ts}"


def fitting(text: str) -> str:
    """The text as Slack keeps it: cut above 40,000 characters."""
    return text[:TEXT_LIMIT]
