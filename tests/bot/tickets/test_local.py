"""The bundled ticket system, in memory and on a real server."""

import asyncio

import pytest

from agents import Slot, Ticket, ToolError
from agents.runtime.slot.memory import MemorySlot
from bot.tickets import local
from bot.tickets.local import LocalTickets

PRINTER = {"subject": "printer", "urgency": "high", "requester": "UANA"}


async def test_one_key_is_one_ticket(slot: Slot):
    """However often it is asked, at the same time as well, a key opens one ticket."""
    tickets = LocalTickets(slot, tenant="T1")
    found = await asyncio.gather(*(tickets.create(**PRINTER, key="k1") for _ in range(5)))
    other = await tickets.create(**PRINTER, key="k2")
    assert len({ticket.id for ticket in found}) == 1
    assert other.id != found[0].id
    assert found[0] == Ticket(id=found[0].id, subject="printer", urgency="high")
    assert {ticket.id for ticket in await tickets.newest()} == {found[0].id, other.id}


async def test_a_moved_ticket_is_found_moved(slot: Slot):
    """Status, progress and note are those of the last move; asking for it again changes nothing."""
    tickets = LocalTickets(slot, tenant="T1")
    ticket = await tickets.create(**PRINTER, key="k1")
    await tickets.move(ticket.id, status="in_progress", progress=30, note="on my way")
    moved = await tickets.move(ticket.id, status="resolved")
    assert await tickets.get(ticket.id) == moved
    assert (moved.status, moved.progress, moved.note) == ("resolved", None, "")
    assert await tickets.create(**PRINTER, key="k1") == moved


async def test_a_deleted_ticket_stays_deleted(slot: Slot):
    """It is not listed, what it was about is forgotten, and neither key nor move brings it back."""
    tickets = LocalTickets(slot, tenant="T1")
    ticket = await tickets.create(**PRINTER, key="k1")
    deleted = await tickets.move(ticket.id, status="deleted", note="a double")
    assert deleted == Ticket(id=ticket.id, status="deleted", note="a double")
    assert await tickets.get(ticket.id) == deleted
    assert await tickets.create(**PRINTER, key="k1") == deleted
    assert await tickets.newest() == []
    assert await tickets.move(ticket.id, status="resolved") is None


async def test_tenants_see_their_own(slot: Slot):
    """A ticket of one workspace is nowhere to be found in another."""
    ticket = await LocalTickets(slot, tenant="T1").create(**PRINTER, key="k1")
    other = LocalTickets(slot, tenant="T2")
    assert await other.get(ticket.id) is None
    assert await other.newest() == []


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"status": "burnt"}, id="status"),
        pytest.param({"status": "in_progress", "progress": 101}, id="progress"),
    ],
)
async def test_what_no_ticket_can_be(slot: Slot, wrong: dict[str, object]):
    """A status or progress that no ticket has is refused, and nothing changes."""
    tickets = LocalTickets(slot, tenant="T1")
    ticket = await tickets.create(**PRINTER, key="k1")
    with pytest.raises(ValueError, match=next(reversed(wrong))):
        await tickets.move(ticket.id, **wrong)
    assert await tickets.get(ticket.id) == ticket


async def test_two_keys_with_one_id_open_no_ticket(monkeypatch: pytest.MonkeyPatch):
    """Should two keys ever give the same id, the second one opens nothing."""
    monkeypatch.setattr(local, "ID_LENGTH", 0)
    tickets = LocalTickets(MemorySlot(), tenant="T1")
    await tickets.create(**PRINTER, key="k1")
    with pytest.raises(ToolError, match="could not be opened"):
        await tickets.create(**PRINTER, key="k2")
