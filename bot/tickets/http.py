"""A ticket system behind two HTTP requests: POST opens a ticket, GET says how it stands."""

import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

import aiohttp
from pydantic import ValidationError

from agents import Ticket, ToolError
from bot.errors import TicketsUnavailable

TIMEOUT_S = 10.0
STATUSES: Mapping[str, str] = {
    **dict.fromkeys(("open", "new", "todo", "to_do", "queued", "pending", "reopened"), "open"),
    **dict.fromkeys(("resolved", "closed", "done", "completed", "fixed", "solved"), "resolved"),
    **dict.fromkeys(("rejected", "declined", "cancelled", "canceled", "wont_fix"), "rejected"),
    "deleted": "deleted",
}
"""What ticket systems call their states; any other word means that somebody works on it."""
UNKNOWN, GONE = 404, 410
UNSETTLED = (408, 409, 423, 425, 429)
"""Statuses that say nothing about a ticket: a request with the same key may be under way."""
LONGEST_NOTE = 2_000
"""Characters to which a note is cut, since a model reads it."""


class HttpTickets:
    """A TicketSystem at `url`.

    POST `url` with `{subject, urgency, requester, external_id}` and the header `Idempotency-Key`
    opens a ticket once for each key; GET `url/<id>` says how it stands, 410 that it is deleted, 404
    that there is none. Both answer `{id, status, progress?, note?}`; anything else, such as a login
    page, says nothing. The caller owns the session.
    """

    def __init__(
        self,
        url: str,
        *,
        session: aiohttp.ClientSession,
        token: str = "",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Keep where to ask; `token` goes into the header `Authorization: Bearer`."""
        self._url = url.rstrip("/")
        self._session = session
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def create(self, *, subject: str, urgency: str, requester: str, key: str) -> Ticket:
        """Open a ticket; raises ToolError when the system refuses or does not answer."""
        body = {
            "subject": subject,
            "urgency": urgency,
            "requester": requester,
            "external_id": key,
        }
        try:
            status, said = await self._ask("POST", self._url, json=body, key=key)
        except TicketsUnavailable as error:
            raise ToolError(
                "The ticket system does not answer; whether the ticket is open is not known."
            ) from error
        if status >= 400:
            why = said.get("error") or said.get("message") or f"status {status}"
            raise ToolError(f"The ticket system refused, so no ticket is open: {str(why)[:300]}")
        ticket = _ticket(said)
        if ticket is None:
            raise ToolError("The ticket system answered without the ticket's id.")
        return ticket

    async def get(self, ticket_id: str) -> Ticket | None:
        """How a ticket stands, None where there is none; raises TicketsUnavailable."""
        status, said = await self._ask("GET", f"{self._url}/{quote(ticket_id, safe='')}")
        if status == UNKNOWN:
            return None
        if status == GONE:
            return Ticket(id=ticket_id, status="deleted")
        told = status < 400 and not said.keys().isdisjoint(("id", "status"))
        ticket = _ticket({**said, "id": ticket_id}) if told else None
        if ticket is None:
            raise TicketsUnavailable(f"status {status} without a ticket")
        return ticket

    async def _ask(
        self, method: str, url: str, *, json: Any = None, key: str = ""
    ) -> tuple[int, Mapping[str, Any]]:
        headers = {**self._headers, **({"Idempotency-Key": key} if key else {})}
        try:
            async with self._session.request(
                method, url, json=json, headers=headers, timeout=self._timeout
            ) as response:
                if response.status in UNSETTLED or response.status >= 500:
                    raise TicketsUnavailable(
                        f"status {response.status}", after_s=_seconds(response.headers)
                    )
                return response.status, _object(await response.text(errors="replace"))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise TicketsUnavailable(type(error).__name__) from error


def _ticket(said: Mapping[str, Any]) -> Ticket | None:
    """The ticket in an answer of the system; None without an id."""
    status = str(said.get("status") or "open").strip().lower().replace(" ", "_").replace("-", "_")
    progress = said.get("progress")
    try:
        return Ticket.model_validate(
            {
                "id": str(said.get("id") or ""),
                "status": STATUSES.get(status, "in_progress"),
                "progress": progress if progress in range(101) else None,
                "note": str(said.get("note") or "")[:LONGEST_NOTE],
            }
        )
    except ValidationError:
        return None


def _object(text: str) -> Mapping[str, Any]:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else {}


def _seconds(headers: Mapping[str, str]) -> float | None:
    """What Retry-After says in seconds."""
    told = headers.get("Retry-After", "")
    return float(told) if told.isdecimal() else None
