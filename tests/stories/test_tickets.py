"""A ticket: opened by an agent, worked on by others, and heard of in the thread it came from."""

import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from agents import Agent, LongRunningFunctionTool, Ticket, ToolContext
from agents.runtime.slot.redis import RedisSlot, connect
from bot.playground.messages import full_text
from bot.playground.people import TEAM_ID
from bot.playground.run import BotProcess, environment
from bot.tickets.local import LocalTickets
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office

ASKED = "Open a high urgency ticket: the printer on floor two is on fire"
SOON = timedelta(milliseconds=20)


@pytest.fixture
async def tickets(store_url: str) -> AsyncIterator[LocalTickets]:
    """The ticket system in the bot's store, as the people who work on tickets see it."""
    async with connect(store_url) as client:
        yield LocalTickets(RedisSlot(client), tenant=TEAM_ID)


@pytest.fixture
async def office(open_office: Opening) -> Office:
    """An office with somebody for support, who looks at tickets often."""
    return await open_office(routes={"#support": "support"}, ticket_poll=SOON)


async def opened(office: Office, tickets: LocalTickets) -> tuple[str, Ticket, Message]:
    """A ticket that Ana asked for: the thread, the ticket, and the line about it."""
    thread = await office.ask(ASKED, where="support")
    await said(office, thread, "under way")
    [ticket] = await tickets.newest()
    return thread, ticket, await said(office, thread, f"Ticket {ticket.id}: open.")


async def said(office: Office, thread: str, words: str) -> Message:
    """The newest message of the bot with these words, once it is there."""
    look = partial(office.heard, thread, words, where="support")
    return await office.slack.wait_for(look)  # pyright: ignore[reportReturnType] - never None


async def reads(office: Office, line: Message, words: str) -> None:
    """Wait until a message reads so."""
    await office.slack.wait_for(lambda: words in office.now(line)["text"])


def heard(office: Office, thread: str, words: str) -> int:
    """How many messages of a thread have these words."""
    messages = office.slack.thread("support", thread)
    return sum(words in full_text(message) for message in messages)


async def test_a_ticket_through_three_states(office: Office, tickets: LocalTickets):
    """One line in the thread follows a ticket; its end is told by the agent, in its words."""
    thread, ticket, line = await opened(office, tickets)
    assert (ticket.subject, ticket.urgency) == ("printer on floor two is on fire", "high")
    await tickets.move(ticket.id, status="in_progress", progress=30)
    await reads(office, line, "in progress, 30 %")
    await tickets.move(ticket.id, status="resolved", note="A new fuser is in")
    last = await said(office, thread, "Resolved")
    assert "A new fuser is in" in last["text"]
    assert "resolved" in office.now(line)["text"]
    assert len(office.slack.thread("support", thread)) == 4


@pytest.mark.parametrize(
    ("status", "words"),
    [
        pytest.param("rejected", "Rejected", id="rejected"),
        pytest.param("deleted", "Deleted", id="deleted"),
    ],
)
async def test_a_ticket_that_nobody_will_do(
    office: Office, tickets: LocalTickets, status: str, words: str
):
    """A rejected ticket, and one that is gone, are the end as well."""
    thread, ticket, line = await opened(office, tickets)
    await tickets.move(ticket.id, status=status)
    await said(office, thread, words)
    assert status in office.now(line)["text"]


async def test_nobody_waits_for_ever(open_office: Opening, tickets: LocalTickets):
    """A ticket that is not done in time is not waited for any more, and the thread hears so."""
    office = await open_office(
        routes={"#support": "support"}, ticket_poll=SOON, ticket_ttl=timedelta(milliseconds=300)
    )
    thread, _, line = await opened(office, tickets)
    await said(office, thread, "Timeout")
    assert "no news in time" in office.now(line)["text"]


async def test_people_talk_on_while_a_ticket_is_open(office: Office, tickets: LocalTickets):
    """A second ticket in the same thread changes nothing about the first one's news."""
    thread, first, _ = await opened(office, tickets)
    await office.slack.mention(
        "ana", "support", "low urgency ticket: the chair squeaks", thread_ts=thread
    )
    await said(office, thread, "chair squeaks")
    for ticket in await tickets.newest():
        note = "Extinguished" if ticket.id == first.id else "Oiled"
        await tickets.move(ticket.id, status="resolved", note=note)
    for note in ("Extinguished", "Oiled"):
        told = await said(office, thread, f"{note}.")
        assert told["text"].startswith("Resolved: ")


async def test_a_ticket_that_a_person_must_agree_to(open_office: Opening, tickets: LocalTickets):
    """No ticket is open before somebody agrees; afterwards it is followed like any other."""

    async def order_desk(size: str, tool_context: ToolContext) -> dict[str, str]:
        """Order a desk.

        Args:
            size: How large, e.g. "180 x 80".
        """
        key = tool_context.idempotency_key
        ticket = await tickets.create(subject=size, urgency="low", requester="", key=key)
        return {"status": "pending", "ticket_id": ticket.id}

    tool = LongRunningFunctionTool(order_desk, require_confirmation=True, effects="idempotent")
    agent = Agent(name="desks", description="Orders desks.", tools=[tool])
    office = await open_office(agents=[agent], routes={"#support": "desks"}, ticket_poll=SOON)
    thread = await office.ask('order a desk of size "160 x 80"', where="support")
    card = await office.card("160 x 80")
    assert await tickets.newest() == []
    await office.slack.click("max", card, "approve")
    await office.closed(card, "Approved")
    line = await said(office, thread, ": open.")
    [ticket] = await tickets.newest()
    await tickets.move(ticket.id, status="resolved", note="It stands in room 5")
    await said(office, thread, "Resolved: ")
    await reads(office, line, "It stands in room 5")


@pytest.mark.parametrize("crash_at", ["slot.read.after", "slot.ingest.before", "slot.ingest.after"])
async def test_a_clock_that_dies_in_between(
    open_office: Opening, store_url: str, tmp_path: Path, tickets: LocalTickets, crash_at: str
):
    """Killed between a claim and its news, or right after: another clock tells it, once."""
    usual = {"routes": {"#support": "support"}, "ticket_poll": SOON}
    office = await open_office(roles=("web", "worker"), **usual)
    thread, ticket, line = await opened(office, tickets)
    await tickets.move(ticket.id, status="resolved", note="A new fuser is in")
    given = environment(office.slack, store=store_url, ledger=office.ledger, port=0)
    more = {"CRASH_AT": crash_at, "COUNTERSIGN_LEASE": "0.5"}
    async with BotProcess("clock", environment={**given, **more}, folder=tmp_path) as clock:
        assert await clock.ended() == -signal.SIGKILL
    await open_office(roles=("clock",), **usual)
    await reads(office, line, "resolved")
    await said(office, thread, "Resolved: ")
    assert heard(office, thread, "Resolved: ") == 1


async def test_two_clocks_tell_it_once(open_office: Opening, tickets: LocalTickets):
    """Two clocks look at the same tickets; each change is one change in the thread."""
    usual = {"routes": {"#support": "support"}, "ticket_poll": SOON}
    await open_office(roles=("clock",), **usual)
    office = await open_office(**usual)
    thread, ticket, line = await opened(office, tickets)
    for percent in (30, 80):
        await tickets.move(ticket.id, status="in_progress", progress=percent)
        await reads(office, line, f"{percent} %")
    await tickets.move(ticket.id, status="resolved")
    await reads(office, line, "resolved")
    await said(office, thread, "Resolved: ")
    assert len(office.slack.calls("chat.update")) == 3
    assert heard(office, thread, "Resolved: ") == 1
