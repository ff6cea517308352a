"""The stories, played by people in a local workspace with a bot in a process of its own.

Everything is real but the people and the model: Slack's Web API and signed deliveries, a server
that keeps the state, a process that is killed. Each step is checked against what people see and
against the ledger; the exit status is 0 only if all came out right.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from bot.playground.inputs import CannotDo
from bot.playground.local_slack import LocalSlack
from bot.playground.people import BOT
from bot.playground.stage import OpenTickets, Stage, WentWrong, stage
from bot.slack.validate import JsonObject

LONG_TEXT = (
    "The move is put off to May. The lease ends in June, and the new rooms are ready in April."
    " Boxes come by post. Ana orders the van. Ben tells the landlord."
)

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


async def price(stage: Stage) -> None:
    """A share's price, asked for by the company's name, and a symbol that nobody knows."""
    await stage.writes("ana", "What is the stock price of Microsoft?")
    await stage.reads("ana", "478.90")
    await stage.writes("ana", "stock price of XYZQ")
    await stage.reads("ana", "There is no stock price for “XYZQ”")


async def summed_up(stage: Stage) -> None:
    """One agent hands a text to another, whose summary is the answer."""
    await stage.writes("ben", f"summary: {LONG_TEXT}")
    await stage.reads("ben", "The move is put off to May.")


async def followed(stage: Stage) -> None:
    """A ticket through three states: one line follows it, and its end is told."""
    text = "Open a high urgency ticket: the printer on floor two is on fire"
    thread = await stage.says("ana", "support", text)
    await stage.answer("support", thread, "under way")
    ticket, _ = await stage.ticket(thread)
    await stage.stands(thread, ticket, "open")
    await stage.moves(ticket, "in_progress", progress=30)
    await stage.stands(thread, ticket, "in progress, 30 %")
    await stage.moves(ticket, "resolved", note="a new fuser is in")
    await stage.answer("support", thread, "Resolved: ")
    await stage.stands(thread, ticket, "resolved")


async def clock_killed(stage: Stage) -> None:
    """The clock is killed while a ticket is open; the next one tells its end, once."""
    thread = await stage.says("ben", "support", "low urgency ticket: the chair in room 5 squeaks")
    await stage.answer("support", thread, "under way")
    ticket, _ = await stage.ticket(thread)
    process = stage.clock.pid
    await stage.clock.kill()
    stage.line("clock", f"process {process} is killed (SIGKILL)")
    await stage.moves(ticket, "resolved", note="oiled")
    await stage.clock.start()
    stage.line("clock", f"process {stage.clock.pid} is started")
    await stage.answer("support", thread, "Resolved: ")
    told = [m for m in stage.slack.thread("support", thread) if "Resolved: " in m["text"]]
    stage.check("how often the end is told", 1, len(told))


STORIES: tuple[Story, ...] = (
    small,
    approved,
    rejected,
    fewer,
    killed,
    price,
    summed_up,
    followed,
    clock_killed,
)


async def play(open_tickets: OpenTickets) -> int:
    """Play all stories and tell them; 0 when each step came out right, else 1."""
    began, failed = time.monotonic(), 0
    print(
        "A rehearsal: a bot in its own process, a Slack and a store on this machine,\n"
        "and a model without an LLM that picks a tool by the words of a message."
    )
    async with stage(open_tickets) as here:
        for number, story in enumerate(STORIES, start=1):
            print(f"\n{number}. {story.__doc__}")
            failed += not await _played(story, here)
    right = len(STORIES) - failed
    print(
        f"\n{right} of {len(STORIES)} stories came out right, in {time.monotonic() - began:.0f} s."
    )
    return 1 if failed else 0


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
