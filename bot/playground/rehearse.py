"""The stories, played by people in a local workspace with a bot in a process of its own.

Everything is real but the people and the model: Slack's Web API and signed deliveries, a server
that keeps the state, a process that is killed. Each step is checked against what people see and
against the ledger; the exit status is 0 only if all came out right.
"""

import asyncio
import html
import json
import re
import tempfile
import textwrap
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.embedded import EmbeddedStore
from bot.playground.inputs import CannotDo
from bot.playground.local_slack import LocalSlack
from bot.playground.messages import full_text
from bot.playground.people import BOT
from bot.playground.run import BotProcess, environment, free_port
from bot.slack.validate import JsonObject

PATIENCE = 5.0
"""Seconds for a thing to happen before the story counts as failed."""
WIDTH = 100


class WentWrong(Exception):
    """A step of a story came out differently: what was expected, and what was there."""


@dataclass(slots=True)
class Stage:
    """Where the stories play: the workspace, the bot, the ledger, and what is told of it."""

    slack: LocalSlack
    bot: BotProcess
    ledger: Path
    tell: Callable[[str], None] = print
    told: set[str] = field(default_factory=set[str])

    async def says(self, who: str, where: str, text: str) -> str:
        """A person mentions the bot in a channel; returns the thread."""
        self.line(who, f"@{BOT.name} {text}", where=where)
        said = await self.slack.mention(who, where, text)
        self.check("Slack hears 200", [200], sorted({each.status for each in said.deliveries}))
        return said.ts

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
            return newest if words in full_text(newest) and not _buttons(newest) else None

        message = await self.seen(f"the card says {words!r} and has no buttons", found)
        self.line("card", _ending(message), where="approvals")

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
            return await self.slack.wait_for(look, timeout=PATIENCE)
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

    def check(self, what: str, expected: object, seen: object) -> None:
        """Compare what must be with what is."""
        if expected != seen:
            raise WentWrong(f"expected: {what}: {expected}\nseen: {seen}")

    def line(self, who: str, text: str, *, where: str = "") -> None:
        """One line of the transcript, wrapped under its own beginning."""
        place = f"#{where}" if where else ""
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
            if by_bot and words in full_text(message) and (not buttons or _buttons(message)):
                self.told.add(message["ts"])
                return message
        return None


Story = Callable[[Stage], Awaitable[None]]


async def small(stage: Stage) -> None:
    """A small sum is paid at once."""
    thread = await stage.says("ana", "expenses", "please reimburse 50 dollars for lunch")
    await stage.answer("expenses", thread, "Paid")
    stage.paid(50, purpose="lunch")


async def approved(stage: Stage) -> None:
    """A larger sum waits for a person, who approves."""
    thread = await stage.says("ana", "expenses", "please reimburse 200 dollars for the hotel")
    await stage.answer("expenses", thread, "Asked")
    card = await stage.card("200")
    stage.paid(purpose="hotel")
    await stage.clicks("max", card, "approve")
    await stage.closed(card, "Approved")
    await stage.answer("expenses", thread, "Paid")
    stage.paid(200, purpose="hotel")


async def rejected(stage: Stage) -> None:
    """Somebody rejects, and the reason reaches the person who asked."""
    thread = await stage.says("ben", "expenses", "please reimburse 300 dollars for a chair")
    await stage.answer("expenses", thread, "Asked")
    card = await stage.card("300")
    await stage.clicks("mia", card, "reject")
    await stage.seen("the form for a reason", lambda: next(iter(stage.slack.modals("mia")), None))
    stage.line("mia", "writes: use cost centre 12")
    sent = await stage.slack.submit("mia", {"reason": "use cost centre 12"})
    stage.check("the form is taken", "", sent.warning or str(dict(sent.errors) or ""))
    await stage.closed(card, "Rejected")
    await stage.answer("expenses", thread, "use cost centre 12")
    stage.paid(purpose="chair")


async def fewer(stage: Stage) -> None:
    """A person answers with a number: five days are asked for, three approved."""
    thread = await stage.says("ana", "time-off", "I'd like to take five days off from 2026-12-24")
    await stage.answer("time-off", thread, "Asked")
    card = await stage.card("5 days off")
    await stage.clicks("max", card, "approve", values={"approved_days": "3"})
    await stage.closed(card, "Approved")
    await stage.answer("time-off", thread, "3")


async def killed(stage: Stage) -> None:
    """The bot is killed while a request waits; two people then press the old card at once."""
    thread = await stage.says("ben", "expenses", "please reimburse 210 dollars for the train")
    await stage.answer("expenses", thread, "Asked")
    card = await stage.card("210")
    process = stage.bot.pid
    await stage.bot.kill()
    stage.line("bot", f"process {process} is killed (SIGKILL)")
    await stage.bot.start()
    stage.line("bot", f"process {stage.bot.pid} is started")
    await asyncio.gather(*(stage.clicks(who, card, "approve") for who in ("max", "mia")))
    late = await stage.seen("a private note for the second one", lambda: _second(stage.slack))
    stage.line(BOT.real_name, f"{late['text']} (only one of them sees this)", where="approvals")
    await stage.closed(card, "Approved")
    await stage.answer("expenses", thread, "Paid")
    stage.paid(210, purpose="train")


STORIES: tuple[Story, ...] = (small, approved, rejected, fewer, killed)


async def play() -> int:
    """Play all stories and tell them; 0 when each step came out right, else 1."""
    began, failed = time.monotonic(), 0
    print(
        "A rehearsal: a bot in its own process, a Slack and a store on this machine,\n"
        "and a model without an LLM that picks a tool by the words of a message."
    )
    async with stage() as here:
        for number, story in enumerate(STORIES, start=1):
            print(f"\n{number}. {story.__doc__}")
            failed += not await _played(story, here)
    right = len(STORIES) - failed
    print(
        f"\n{right} of {len(STORIES)} stories came out right, in {time.monotonic() - began:.0f} s."
    )
    return 1 if failed else 0


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    """A workspace, a store, and a bot in a process of its own, for as long as the block lasts."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="countersign-")))
        slack = await stack.enter_async_context(LocalSlack(retry_after=(0.2, 1.0, 3.0)))
        store = await stack.enter_async_context(EmbeddedStore(folder / "store"))
        ledger, port = folder / "ledger.jsonl", free_port()
        given = environment(slack, store=store.url, ledger=ledger, port=port)
        bot = BotProcess(environment=given, folder=folder)
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await stack.enter_async_context(bot)
        yield Stage(slack, bot, ledger)


async def _played(story: Story, here: Stage) -> bool:
    try:
        await story(here)
    except (WentWrong, CannotDo) as wrong:
        print(f"   WENT WRONG\n   {str(wrong).replace(chr(10), chr(10) + '   ')}")
        print("   the bot's last lines:", *here.bot.lines[-5:], sep="\n     ")
        return False
    return True


def _second(slack: LocalSlack) -> JsonObject | None:
    """The note for whoever came second."""
    notes = (slack.find("already", slack.visible(who, "approvals")) for who in ("max", "mia"))
    return next((note for note in notes if note), None)


def _buttons(message: JsonObject) -> bool:
    return any(block["type"] == "actions" for block in message.get("blocks", []))


def _ending(message: JsonObject) -> str:
    """What a closed card says at its end."""
    text: str = message["text"]
    return text[text.index("*") :] if "*" in text else text
