"""Where a rehearsal plays: a workspace on this machine, a store, a bot and its clock.

What people do and see goes through here, each step checked and told as a line.
"""

import asyncio
import html
import json
import re
import tempfile
import textwrap
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agents import Ticket
from bot.embedded import EmbeddedStore
from bot.playground.local_slack import LocalSlack
from bot.playground.messages import asks, full_text
from bot.playground.people import BOT
from bot.playground.run import BotProcess, environment, free_port
from bot.slack.validate import JsonObject
from bot.tickets.local import LocalTickets

OpenTickets = Callable[[str], AbstractAsyncContextManager[LocalTickets]]
"""Opens the ticket system in the store at an address."""

WIDTH = 100


class WentWrong(Exception):
    """A step of a story came out differently: what was expected, and what was there."""


@dataclass(slots=True)
class Stage:
    """Where the stories play: the workspace, the bot and its clock, the ledger, the tickets."""

    slack: LocalSlack
    bot: BotProcess
    clock: BotProcess
    ledger: Path
    tickets: LocalTickets
    tell: Callable[[str], None] = print
    told: set[str] = field(default_factory=set[str])

    async def says(self, who: str, where: str, text: str) -> str:
        """A person mentions the bot in a channel; returns the thread."""
        self.line(who, f"@{BOT.name} {text}", where=where)
        said = await self.slack.mention(who, where, text)
        self.check("Slack hears 200", [200], sorted({each.status for each in said.deliveries}))
        return said.ts

    async def writes(self, who: str, text: str) -> None:
        """A person writes to the bot directly."""
        self.line(who, text, where="to the bot")
        said = await self.slack.dm(who, text)
        self.check("Slack hears 200", [200], sorted({each.status for each in said.deliveries}))

    async def reads(self, who: str, words: str) -> None:
        """The bot answers a person directly, with these words."""
        message = await self.seen(
            f"an answer with {words!r}", lambda: self._by_bot(self.slack.dms(who), words)
        )
        self.line(BOT.real_name, message["text"], where=f"to {who.capitalize()}")

    async def answer(self, where: str, thread: str, words: str) -> None:
        """The bot says something with these words in a thread."""
        message = await self.seen(
            f"an answer with {words!r}",
            lambda: self._by_bot(self.slack.thread(where, thread), words),
        )
        self.line(BOT.real_name, message["text"], where=where)

    async def card(self, words: str) -> JsonObject:
        """The open card with these words, in the channel for approvals."""
        message = await self.seen(
            f"a card with {words!r}",
            lambda: self._by_bot(self.slack.messages("approvals"), words, buttons=True),
        )
        self.line(BOT.real_name, f"{message['text']} [Approve] [Reject]", where="approvals")
        return message

    async def closed(self, card: JsonObject, words: str) -> None:
        """A card has lost its buttons and says what became of it."""

        def found() -> JsonObject | None:
            newest = self.slack.workspace.channels[card["channel"]].messages[card["ts"]]
            return newest if words in full_text(newest) and not asks(newest) else None

        message = await self.seen(f"the card says {words!r} and has no buttons", found)
        self.line("card", _ending(message), where="approvals")

    async def ticket(self, thread: str) -> tuple[Ticket, JsonObject]:
        """The newest ticket, and the line about it in its thread."""
        [ticket] = await self.tickets.newest(1)
        look = partial(self.standing, thread, ticket, "open")
        return ticket, await self.seen("a line about the ticket", look)

    async def moves(self, ticket: Ticket, status: str, **more: Any) -> None:
        """Somebody who works on tickets moves one along."""
        progress = f", {more['progress']} %" if "progress" in more else ""
        note = f": “{more['note']}”" if "note" in more else ""
        self.line("support", f"sets {ticket.id} to {status.replace('_', ' ')}{progress}{note}")
        await self.tickets.move(ticket.id, status=status, **more)

    async def stands(self, thread: str, ticket: Ticket, words: str) -> None:
        """The one line about a ticket says so now."""
        look = partial(self.standing, thread, ticket, words)
        line = await self.seen(f"the line about {ticket.id} says {words!r}", look)
        self.line("line", line["text"], where="support")

    def standing(self, thread: str, ticket: Ticket, words: str) -> JsonObject | None:
        """The line about a ticket, if it says so; there is never more than one."""
        begin = f"Ticket {ticket.id}: "
        lines = [m for m in self.slack.thread("support", thread) if m["text"].startswith(begin)]
        self.check("lines about the ticket", 1, max(len(lines), 1))
        return next((line for line in lines if words in line["text"]), None)

    async def clicks(
        self, who: str, card: JsonObject, action: str, *, values: dict[str, str] | None = None
    ) -> None:
        """A person presses a button, after filling in what is asked for."""
        for name, value in (values or {}).items():
            self.line(who, f"fills in {name.replace('_', ' ')}: {value}")
        self.line(who, f"presses {action.capitalize()}")
        pressed = await self.slack.click(who, card, action, values=values)
        self.check("the click is taken", "", pressed.warning)

    async def seen(self, what: str, look: Callable[[], JsonObject | None]) -> JsonObject:
        """Wait for something to be there."""
        try:
            return await self.slack.wait_for(look)
        except TimeoutError as error:
            raise WentWrong(f"expected: {what}\nseen: {error}") from None

    def paid(self, *amounts: float, purpose: str) -> None:
        """The ledger has exactly these payments for a purpose."""
        lines = self.ledger.read_text().splitlines() if self.ledger.exists() else []
        payments = [json.loads(line) for line in lines]
        seen = [each["amount"] for each in payments if each["purpose"] == purpose]
        self.check(f"payments for {purpose}", list(amounts), seen)
        told = ", ".join(f"{amount:g}, once" for amount in seen) or "nothing was paid"
        self.line("ledger", f"{purpose}: {told}")

    @property
    def channels(self) -> set[str]:
        """The names of the workspace's channels."""
        return {channel.name for channel in self.slack.workspace.channels.values()}

    def check(self, what: str, expected: object, seen: object) -> None:
        """Compare what must be with what is."""
        if expected != seen:
            raise WentWrong(f"expected: {what}: {expected}\nseen: {seen}")

    def line(self, who: str, text: str, *, where: str = "") -> None:
        """One line of the transcript, wrapped under its own beginning."""
        place = f"#{where}" if where in self.channels else where
        begin = f"   {who[:1].upper() + who[1:]:<12}{place:<12}"
        self.tell(
            textwrap.fill(
                self._readable(text),
                WIDTH,
                initial_indent=begin,
                subsequent_indent=" " * len(begin),
                break_on_hyphens=False,
            )
        )

    def _readable(self, text: str) -> str:
        """Slack's text as a person sees it: names for ids, dates written out, nothing escaped."""
        for person in self.slack.workspace.people.values():
            text = text.replace(f"<@{person.id}>", f"@{person.name}")
        text = re.sub(r"<!date\^[^|]*\|([^>]*)>", r"\1", text)
        return html.unescape(re.sub(r"\*(\w[^*]*)\*", r"\1", text))

    def _by_bot(
        self, messages: Sequence[JsonObject], words: str, *, buttons: bool = False
    ) -> JsonObject | None:
        """The newest message of the bot that has these words and was not told yet."""
        for message in reversed(messages):
            by_bot = message["user"] == BOT.id and message["ts"] not in self.told
            if by_bot and words in full_text(message) and (not buttons or asks(message)):
                self.told.add(message["ts"])
                return message
        return None


@asynccontextmanager
async def stage(open_tickets: OpenTickets) -> AsyncGenerator[Stage]:
    """A workspace, a store, a bot and its clock in processes of their own; ended at the end."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="countersign-")))
        slack = await stack.enter_async_context(LocalSlack(retry_after=(0.2, 1.0, 3.0)))
        store = await stack.enter_async_context(EmbeddedStore(folder / "store"))
        ledger, port = folder / "ledger.jsonl", free_port()
        given = environment(slack, store=store.url, ledger=ledger, port=port)
        bot = BotProcess(environment={**given, "ROLES": "web,worker"}, folder=folder)
        clock = BotProcess("clock", environment=given, folder=folder)
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        for process in (bot, clock):
            stack.push_async_callback(process.stop)
        await asyncio.gather(bot.start(), clock.start())
        tickets = await stack.enter_async_context(open_tickets(store.url))
        yield Stage(slack, bot, clock, ledger, tickets)


def _ending(message: JsonObject) -> str:
    """What a closed card says at its end."""
    text: str = message["text"]
    return text[text.index("*") :] if "*" in text else text
