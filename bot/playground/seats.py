"""The people at their keyboards: whatever a person does in Slack."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from bot.playground import answers, envelopes, inputs, messages
from bot.playground.channels import Channel
from bot.playground.delivery import Delivered, Delivery
from bot.playground.inputs import CannotDo, Placed
from bot.playground.noticed import Noticed
from bot.playground.people import BOT, Person
from bot.playground.screens import Surface, surface
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject

Who = str | Person

WARNING_TRIANGLE = "This action did not work."
TROUBLE_CONNECTING = "We had some trouble connecting. Try again?"
DISPATCH_FAILED = "The command failed with the error dispatch_failed."
TIMED_OUT = "The command failed with the error operation_timeout."


class Seats:
    """What people do; `who` is a name, an id or a Person, `where` a channel's name or id."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        delivery: Delivery,
        clock: Callable[[], float],
        response_url: Callable[[str], str],
    ) -> None:
        self.workspace = workspace
        self.delivery = delivery
        self._clock = clock
        self._response_url = response_url

    @property
    def now(self) -> float:
        """The time in this workspace, in seconds."""
        return self._clock()

    async def say(
        self, who: Who, where: str, text: str, *, thread_ts: str | None = None
    ) -> Noticed:
        """Write into a channel or thread; @name or <@U…> mentions somebody."""
        return await self._write(who, self.workspace.channel(where), text, thread_ts=thread_ts)

    async def mention(
        self, who: Who, where: str, text: str, *, thread_ts: str | None = None
    ) -> Noticed:
        """Write to the bot in a channel: its mention, then the text."""
        return await self.say(who, where, f"<@{BOT.id}> {text}", thread_ts=thread_ts)

    async def dm(self, who: Who, text: str, *, thread_ts: str | None = None) -> Noticed:
        """Write to the bot in its DM."""
        channel = self.workspace.dm(self.workspace.person(who))
        return await self._write(who, channel, text, thread_ts=thread_ts)

    async def edit(self, who: Who, message: JsonObject, text: str) -> Noticed:
        """Change one's own message."""
        person, channel = self._own(who, message)
        new = messages.typed(
            person, self._with_mentions(text), client_msg_id="", block_id=self.workspace.new_id("b")
        )
        changes = {"text": new["text"], "blocks": new["blocks"]}
        edited = self.workspace.edit(channel, message["ts"], changes, now=self.now)
        return await self._told(edited, channel)

    async def delete(self, who: Who, message: JsonObject) -> Noticed:
        """Delete one's own message."""
        _, channel = self._own(who, message)
        self.workspace.delete(channel, message["ts"], now=self.now)
        return await self._told(message, channel)

    async def join(self, who: Who, where: str) -> Noticed:
        """Enter a channel, or bring the bot in."""
        channel, person = self.workspace.channel(where), self.workspace.person(who)
        self.workspace.join(channel, person, now=self.now)
        return await self._told({}, channel)

    async def enter(self, who: Who, shown: JsonObject, values: Mapping[str, Any]) -> Noticed:
        """Fill inputs of a message or view: action or block id -> text, option, date or ids.

        Unsent until a button is clicked, unless an input tells of each change at once.
        """
        person = self.workspace.person(who)
        on = surface(self.workspace, person, shown)
        told = [each for each in self._fill(person, on, values) if each.tells_at_once]
        noticed = [await self._act(person, on, each) for each in told]
        return Noticed(
            warning=next((each.warning for each in noticed if each.warning), ""),
            deliveries=tuple(each for one in noticed for each in one.deliveries),
        )

    async def click(
        self,
        who: Who,
        shown: JsonObject,
        action_id: str,
        *,
        values: Mapping[str, Any] | None = None,
        block_id: str | None = None,
        option: str | None = None,
    ) -> Noticed:
        """Press a button on a message or view as it was shown, after filling in `values`.

        `option` is what was chosen in an overflow menu. A message read before it changed is what
        the person still has on the screen.
        """
        person = self.workspace.person(who)
        on = surface(self.workspace, person, shown)
        self._fill(person, on, values or {})
        pressed = inputs.find(on.blocks, action_id, block_id=block_id)
        return await self._act(person, on, pressed, option=option)

    async def submit(self, who: Who, values: Mapping[str, Any] | None = None) -> Noticed:
        """Fill in and send the top modal; what its form refuses by itself is not sent."""
        person, view = self._top_modal(who)
        if not view["submit"]:
            raise CannotDo("this modal has no submit button")
        self._fill(person, surface(self.workspace, person, view), values or {})
        errors = inputs.complaints(view["blocks"], self.workspace.draft(person, view["id"]))
        if errors:
            return Noticed(errors=errors)
        trigger_id = self.workspace.grants.trigger(person.id, now=self.now, view_id=view["id"])
        sent = self.workspace.view_with_state(person, view)
        payload = envelopes.view_submission(person, sent, trigger_id=trigger_id)
        delivered = await self.delivery.interaction(payload)
        if not delivered.ok:
            return Noticed(warning=TROUBLE_CONNECTING, deliveries=(delivered,))
        answer = answers.to_form(self.workspace, view, delivered.answer.body, now=self.now)
        warning = "" if answer.understood else TROUBLE_CONNECTING
        return Noticed(warning=warning, errors=answer.errors, deliveries=(delivered,))

    async def close(self, who: Who, *, everything: bool = False) -> Noticed:
        """Close the top modal, or the whole stack; the bot hears it if it asked to."""
        person, view = self._top_modal(who)
        self.workspace.views.close(person.id, everything=everything)
        self.workspace.show_view(person.id, view)
        if not view["notify_on_close"]:
            return Noticed()
        payload = envelopes.view_closed(person, view, is_cleared=everything)
        return Noticed(deliveries=(await self.delivery.interaction(payload),))

    async def command(self, who: Who, where: str, line: str) -> Noticed:
        """Type a slash command and its text; `where` is a channel, or "dm" for the bot's DM."""
        person = self.workspace.person(who)
        channel = self.workspace.dm(person) if where == "dm" else self.workspace.channel(where)
        if not self.workspace.sees(person, channel):
            raise CannotDo(f"{person.name} does not see {channel.name}")
        fields = envelopes.slash_command(
            person,
            line,
            channel={"id": channel.id, "name": channel.name},
            grants=self._grants(person, channel, None),
        )
        delivered = await self.delivery.command(fields)
        if delivered.ok:
            answers.to_command(
                self.workspace, person, channel, body=delivered.answer.body, now=self.now
            )
            return Noticed(deliveries=(delivered,))
        warning = TIMED_OUT if "timeout" in delivered.answer.reason else DISPATCH_FAILED
        return Noticed(warning=warning, deliveries=(delivered,))

    async def open_home(self, who: Who) -> Noticed:
        """Look at the bot's Home."""
        self.workspace.open_home(self.workspace.person(who), now=self.now)
        return Noticed(deliveries=await self.tell())

    async def deactivate(self, who: Who) -> Noticed:
        """Close a person's account."""
        self.workspace.deactivate(self.workspace.person(who), now=self.now)
        return Noticed(deliveries=await self.tell())

    async def set_group(self, handle: str, members: list[Who]) -> Noticed:
        """Replace the members of a user group."""
        group = next(each for each in self.workspace.groups.values() if each.handle == handle)
        ids = tuple(self.workspace.person(each).id for each in members)
        self.workspace.set_group(group, ids, now=self.now)
        return Noticed(deliveries=await self.tell())

    async def tell(self) -> tuple[Delivered, ...]:
        """Deliver what the bot must hear, all at once; the first attempts are returned."""
        events = self.workspace.take_undelivered()
        return tuple(await asyncio.gather(*(self.delivery.event(event) for event in events)))

    async def _write(
        self, who: Who, channel: Channel, text: str, *, thread_ts: str | None
    ) -> Noticed:
        person = self.workspace.person(who)
        if person.id not in channel.members:
            raise CannotDo(f"{person.name} is not in {channel.name}")
        new_id = self.workspace.new_id
        message = messages.typed(
            person, self._with_mentions(text), client_msg_id=new_id("msg-"), block_id=new_id("b")
        )
        said = self.workspace.post(channel, message, now=self.now, thread_ts=thread_ts)
        return await self._told(said, channel)

    async def _told(self, message: JsonObject, channel: Channel) -> Noticed:
        return Noticed(message={**message, "channel": channel.id}, deliveries=await self.tell())

    def _with_mentions(self, text: str) -> str:
        ids = {person.name: person.id for person in self.workspace.people.values()}
        return messages.with_mentions(text, ids)

    def _own(self, who: Who, message: JsonObject) -> tuple[Person, Channel]:
        person = self.workspace.person(who)
        channel = self.workspace.channels[message["channel"]]
        if channel.message(message["ts"])["user"] != person.id:
            raise CannotDo(f"this message is not {person.name}'s")
        return person, channel

    def _fill(self, person: Person, on: Surface, values: Mapping[str, Any]) -> list[Placed]:
        filled = {key: inputs.find(on.blocks, key) for key in values}
        for key, each in filled.items():
            self.workspace.enter(person, on.place, each, value=values[key])
        return list(filled.values())

    async def _act(
        self, person: Person, on: Surface, each: Placed, *, option: str | None = None
    ) -> Noticed:
        now, draft = self.now, self.workspace.draft(person, on.place)
        action = inputs.action(each, draft, action_ts=f"{now:.6f}", option=option)
        if on.view is not None:
            view = self.workspace.view_with_state(person, on.view)
            trigger_id = self.workspace.grants.trigger(person.id, now=now, view_id=view["id"])
            payload = envelopes.view_actions(action, person, view, trigger_id=trigger_id)
        else:
            payload = self._message_actions(person, on, action)
        delivered = await self.delivery.interaction(payload)
        warning = "" if delivered.ok else WARNING_TRIANGLE
        return Noticed(warning=warning, deliveries=(delivered,))

    def _message_actions(self, person: Person, on: Surface, action: JsonObject) -> JsonObject:
        if on.channel is None or on.message is None:
            raise CannotDo("this is not a message")
        message = {key: each for key, each in on.message.items() if key != "channel"}
        draft = self.workspace.draft(person, on.place)
        state = {"values": inputs.values(message.get("blocks", []), draft)}
        is_ephemeral = bool(message.pop("is_ephemeral", False))
        channel = {"id": on.channel.id, "name": on.channel.name}
        return envelopes.message_actions(
            action,
            person,
            message,
            grants=self._grants(person, on.channel, message["ts"]) | {"state": state},
            place={"channel": channel, "is_ephemeral": is_ephemeral},
        )

    def _grants(self, person: Person, channel: Channel, ts: str | None) -> JsonObject:
        now, grants = self.now, self.workspace.grants
        token = grants.reply(person.id, channel_id=channel.id, ts=ts, now=now)
        return {
            "trigger_id": grants.trigger(person.id, now=now),
            "response_url": self._response_url(token),
        }

    def _top_modal(self, who: Who) -> tuple[Person, JsonObject]:
        person = self.workspace.person(who)
        stack = self.workspace.views.stacks.get(person.id)
        if not stack:
            raise CannotDo(f"{person.name} has no modal open")
        return person, stack[-1]
