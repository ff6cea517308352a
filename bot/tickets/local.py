"""The bundled ticket system: tickets live in the bot's own store, one session each.

So every process that reaches the store sees the same tickets. They last as long as the slot keeps
untouched sessions, which has to be longer than anybody waits for a ticket.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agents import SessionKey, Slot, Ticket, ToolError

APP = "tickets"
ID_LENGTH = 8


class LocalTickets:
    """A TicketSystem in a slot's sessions; `move` is what the people who work on tickets do."""

    def __init__(self, slot: Slot, *, tenant: str) -> None:
        """Keep tickets of this tenant in `slot`."""
        self._slot = slot
        self._tenant = tenant

    async def create(self, *, subject: str, urgency: str, requester: str, key: str) -> Ticket:
        """Open a ticket, or find the one that was opened under this key."""
        ticket_id = _id(key)
        state: dict[str, JsonValue] = {
            "key": key,
            "subject": subject,
            "urgency": urgency,
            "requester": requester,
            "status": "open",
        }
        await self._slot.apply(self._session(ticket_id), state=state, create=True)
        stored = await self._state(ticket_id)
        if stored is None or stored.get("key") != key:
            raise ToolError("The ticket could not be opened; nothing was done. Try again.")
        return _ticket(ticket_id, stored)

    async def get(self, ticket_id: str) -> Ticket | None:
        """The ticket as it is now, deleted ones too; None where there never was one."""
        state = await self._state(ticket_id)
        return _ticket(ticket_id, state) if state else None

    async def newest(self, most: int = 100) -> Sequence[Ticket]:
        """The tickets that were touched last and are not deleted, the last one first."""
        keys = await self._slot.list(app=APP, tenant=self._tenant, most=most)
        found = [await self.get(key.id) for key in keys]
        return [ticket for ticket in found if ticket and ticket.status != "deleted"]

    async def move(
        self, ticket_id: str, *, status: str, progress: int | None = None, note: str = ""
    ) -> Ticket | None:
        """Set how a ticket stands; None when there is none of that id, or none any more.

        Of a deleted one stays that it is deleted, for whoever waits for it.

        Raises ValueError for a status or a progress that no ticket has.
        """
        ticket = await self.get(ticket_id)
        if ticket is None or ticket.status == "deleted":
            return None
        change: dict[str, JsonValue] = {"status": status, "progress": progress, "note": note}
        if status == "deleted":
            change |= {"subject": "", "urgency": "", "requester": ""}
        moved = Ticket.model_validate({**ticket.model_dump(), **change})
        await self._slot.apply(self._session(ticket_id), state=change)
        return moved

    def _session(self, ticket_id: str) -> SessionKey:
        return SessionKey(app=APP, user=APP, id=ticket_id, tenant=self._tenant)

    async def _state(self, ticket_id: str) -> Mapping[str, JsonValue] | None:
        view = await self._slot.read(self._session(ticket_id), parts=("state",))
        return view.state if view and view.state.get("key") else None


def _id(key: str) -> str:
    """A ticket's id, the same for the same key, short enough to be said."""
    digest = base64.b32encode(hashlib.sha256(key.encode()).digest()).decode()
    return f"T-{digest[:ID_LENGTH]}"


def _ticket(ticket_id: str, state: Mapping[str, JsonValue]) -> Ticket:
    known = {name: state[name] for name in Ticket.model_fields if state.get(name) is not None}
    return Ticket.model_validate({**known, "id": ticket_id})
