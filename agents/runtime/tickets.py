"""Tickets: work in other hands, opened by a tool's call and followed until it ends; pure."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, Protocol, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue

TicketStatus = Literal["open", "in_progress", "resolved", "rejected", "deleted", "timeout"]

_STATUSES: tuple[object, ...] = get_args(TicketStatus)
_FINAL = frozenset({"resolved", "rejected", "deleted", "timeout"})
_NAMES = ("ticket_id", "ticket-id")
"""What a response calls a ticket's id; the second is how Google's documents write it."""


class Ticket(BaseModel):
    """A ticket as it was last seen.

    `progress` is in percent; `note` is what the last person said about it. `timeout` is no status
    of a ticket system: nobody waits for the ticket any more.
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1, max_length=200)
    status: TicketStatus = "open"
    progress: int | None = Field(default=None, ge=0, le=100)
    note: str = ""
    subject: str = ""
    urgency: str = ""

    @property
    def final(self) -> bool:
        """Whether there will be no more news of it."""
        return self.status in _FINAL

    @property
    def mark(self) -> str:
        """A short text that differs when there is news: status, progress or note changed."""
        told = json.dumps([self.status, self.progress, self.note])
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    def response(self) -> dict[str, JsonValue]:
        """The answer to a call that waits for it."""
        answer: dict[str, JsonValue] = {"status": self.status, "ticket_id": self.id}
        if self.progress is not None:
            answer["progress"] = self.progress
        if self.note:
            answer["note"] = self.note
        return answer

    @classmethod
    def from_response(cls, response: Mapping[str, Any]) -> Self | None:
        """The ticket a response names by its `ticket_id`; None when it names none.

        A status no ticket has, such as `pending`, is read as open.
        """
        name = next((response[key] for key in _NAMES if response.get(key)), None)
        if not isinstance(name, str | int):
            return None
        status, progress = response.get("status"), response.get("progress")
        return cls.model_validate(
            {
                "id": str(name)[:200],
                "status": status if status in _STATUSES else "open",
                "progress": progress if progress in range(101) else None,
                "note": str(response.get("note") or ""),
            }
        )


class TicketSystem(Protocol):
    """Where tickets are opened and looked at.

    The bot has one, and looks there for each `ticket_id` that a long-running tool answers with. Of
    one that is not known there it waits for a report, as for a tool without a ticket.
    """

    async def create(self, *, subject: str, urgency: str, requester: str, key: str) -> Ticket:
        """Open a ticket, or find the one that was opened under this key.

        Raises ToolError with a sentence for the model.
        """
        ...

    async def get(self, ticket_id: str) -> Ticket | None:
        """The ticket as it is now; None where there is none of this id.

        One that was found before and then is not for a few looks counts as deleted. Whatever it
        raises means that nobody can tell now: it is asked again, until nobody waits.
        """
        ...
