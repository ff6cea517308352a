"""The people at their keyboards: whatever a person does in Slack, and what they notice then."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.playground import envelopes, inputs, messages
from bot.playground.channels import Channel
from bot.playground.delivery import Delivered, Delivery
from bot.playground.inputs import CannotDo, Placed
from bot.playground.people import BOT, Person
from bot.playground.screens import Surface, surface
from bot.playground.workspace import Workspace
from bot.slack.shapes import JsonObject, as_object
from bot.slack.validate import view_problems

Who = str | Person

WARNING_TRIANGLE = "This action did not work."
TROUBLE_CONNECTING = "We had some trouble connecting. Try again?"
DISPATCH_FAILED = "The command failed with the error dispatch_failed."
TIMED_OUT = "The command failed with the error operation_timeout."


@dataclass(frozen=True)
class Noticed:
    """What an action brought: the message said, a warning, a form's errors by block id.

    `deliveries` are the first attempts to tell the bot, `status` the HTTP status of the last one.
    """

    message: JsonObject = field(default_factory=dict[str, Any])
    warning: str = ""
    errors: Mapping[str, str] = field(default_factory=dict[str, str])
    deliveries: tuple[Delivered, ...] = ()

    @property
    def ts(self) -> str:
        """The ts of the message said."""
        return self.message["ts"]

    @property
    def status(self) -> int:
        """The HTTP status of the last delivery; 0 when nothing was delivered or answered."""
        return self.deliveries[-1].status if self.deliveries else 0

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong that the person would see."""
        return not self.warning and not self.errors


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

    # Writing

    async def say(
        self, who: Who, where: str, text: str, *, thread_ts: str | None = None
    ) -> Noticed:
        """Write into a channel or thread; @name or <@U…> mentions somebody."""
        return await self._write(who, self.workspace.channel(where), text, thread_ts)

    async def mention(
        self, who: Who, where: str, text: str, *, thread_ts: str | None = None
    ) -> Noticed:
        """Write to the bot in a channel: its mention, then the text."""
        return await self.say(who, where, f"<@{BOT.id}> {text}", thread_ts=thread_ts)

    async def dm(self, who: Who, text: str, *, thread_ts: str | None = None) -> Noticed:
        """Write to the bot in its DM."""
        return await self._write(
            who, self.workspace.dm(self.workspace.person(who)), text, thread_ts
        )

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

    # Cards and forms

    async def enter(self, who: Who, shown: JsonObject, key: str, value: Any) -> Noticed:
        """Put something into an input of a message or view; `key` is its action or block id.

        Unsent until a button is clicked, unless the input tells of each change at once.
        """
        on = surface(self.workspace, self.workspace.person(who), shown)
        each = self._fill(self.workspace.person(who), on, key, value)
        told = each.tells_at_once
        return await self._act(self.workspace.person(who), on, each) if told else Noticed()

    async def click(
        self,
        who: Who,
        shown: JsonObject,
        action_id: str,
        values: Mapping[str, Any] | None = None,
        *,
        block_id: str | None = None,
    ) -> Noticed:
        """Press a button on a message or view as it was shown, after filling in `values`.

        A message read before it changed is what the person still has on the screen.
        """
        person = self.workspace.person(who)
        on = surface(self.workspace, person, shown)
        for key, value in (values or {}).items():
            self._fill(person, on, key, value)
        return await self._act(person, on, inputs.find(on.blocks, action_id, block_id=block_id))

    async def submit(self, who: Who, values: Mapping[str, Any] | None = None) -> Noticed:
        """Fill in and send the top modal; what its form refuses by itself is not sent."""
        person, view = self._top_modal(who)
        if not view["submit"]:
            raise CannotDo("this modal has no submit button")
        on = surface(self.workspace, person, view)
        for key, value in (values or {}).items():
            self._fill(person, on, key, value)
        errors = inputs.complaints(view["blocks"], self.workspace.draft(person, view["id"]))
        if errors:
            return Noticed(errors=errors)
        trigger_id = self.workspace.grants.trigger(person.id, now=self.now, view_id=view["id"])
        sent = self.workspace.view_with_state(person, view)
        payload = envelopes.view_submission(person, sent, trigger_id=trigger_id)
        delivered = await self.delivery.interaction(payload)
        return self._answered(person, view, delivered)

    async def close(self, who: Who, *, everything: bool = False) -> Noticed:
        """Close the top modal, or the whole stack; the bot hears it if it asked to."""
        person, view = self._top_modal(who)
        self.workspace.views.close(person.id, everything=everything)
        self.workspace.show_view(person.id, view)
        if not view["notify_on_close"]:
            return Noticed()
        payload = envelopes.view_closed(person, view, is_cleared=everything)
        return Noticed(deliveries=(await self.delivery.interaction(payload),))

    async def command(self, who: Who, where: str, command: str, text: str = "") -> Noticed:
        """Use a slash command; `where` is a channel, or "dm" for the bot's DM."""
        person = self.workspace.person(who)
        channel = self.workspace.dm(person) if where == "dm" else self.workspace.channel(where)
        self._must_see(person, channel)
        fields = envelopes.slash_command(
            person,
            command,
            text,
            channel={"id": channel.id, "name": channel.name},
            grants=self._grants(person, channel, None),
        )
        delivered = await self.delivery.command(fields)
        if not delivered.ok:
            warning = TIMED_OUT if "timeout" in delivered.answer.reason else DISPATCH_FAILED
            return Noticed(warning=warning, deliveries=(delivered,))
        self._show_answer(person, channel, delivered.answer.body)
        return Noticed(deliveries=(delivered,))

    async def open_home(self, who: Who) -> Noticed:
        """Look at the bot's Home."""
        self.workspace.open_home(self.workspace.person(who), now=self.now)
        return Noticed(deliveries=await self.tell())

    # Administration

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

    async def _write(self, who: Who, channel: Channel, text: str, thread_ts: str | None) -> Noticed:
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

    def _must_see(self, person: Person, channel: Channel) -> None:
        if not self.workspace.sees(person, channel):
            raise CannotDo(f"{person.name} does not see {channel.name}")

    def _fill(self, person: Person, on: Surface, key: str, value: Any) -> Placed:
        each = inputs.find(on.blocks, key)
        self.workspace.enter(person, on.place, each, value)
        return each

    async def _act(self, person: Person, on: Surface, each: Placed) -> Noticed:
        now, draft = self.now, self.workspace.draft(person, on.place)
        action = inputs.action(each, draft, action_ts=f"{now:.6f}")
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
            raise CannotDo("this is no message")
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

    def _answered(self, person: Person, view: JsonObject, delivered: Delivered) -> Noticed:
        """Do what the answer to a submission says; what makes no sense is trouble connecting."""
        trouble = Noticed(warning=TROUBLE_CONNECTING, deliveries=(delivered,))
        if not delivered.ok:
            return trouble
        answer = _json(delivered.answer.body)
        action = answer.get("response_action") if answer else "close"
        if action == "errors":
            ids = {each.block_id for each in inputs.placed(view["blocks"])}
            errors: dict[str, str] = answer.get("errors", {})
            known = bool(errors) and set(errors) <= ids
            return Noticed(errors=errors, deliveries=(delivered,)) if known else trouble
        if not self._view_answer(person, view, action, answer.get("view") or {}):
            return trouble
        self.workspace.show_view(person.id, view)
        return Noticed(deliveries=(delivered,))

    def _view_answer(
        self, person: Person, view: JsonObject, action: str | None, new: JsonObject
    ) -> bool:
        views, now = self.workspace.views, self.now
        if action in ("update", "push") and view_problems(new):
            return False
        match action:
            case "close":
                views.close(person.id)
            case "clear":
                views.close(person.id, everything=True)
            case "update":
                views.update(view, new, now=now)
            case "push":
                views.push(person.id, new, now=now)
            case _:
                return False
        return True

    def _show_answer(self, person: Person, channel: Channel, body: str) -> None:
        answer = _json(body) or {"text": body}
        if not answer.get("text") and not answer.get("blocks"):
            return
        blocks = messages.complete(answer.get("blocks", []), lambda: self.workspace.new_id("b"))
        message = messages.posted(answer.get("text", ""), blocks)
        if answer.get("response_type") == "in_channel":
            self.workspace.post(channel, message, now=self.now)
        else:
            self.workspace.whisper(channel, person, message, now=self.now)


def _json(body: str) -> JsonObject:
    try:
        return as_object(json.loads(body)) or {} if body else {}
    except ValueError:
        return {}
