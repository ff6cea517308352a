"""Looks at the tickets that are due and tells the waiting sessions what has changed.

Any number of clocks may look: a ticket is claimed before it is looked at, and what two of them
find is told once. A clock that dies in between loses nothing, for its claim runs out.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import timedelta

from agents import SessionKey, Slot, Ticket, TicketSystem
from bot import logs
from bot.errors import TicketsUnavailable
from bot.index import Index
from bot.tickets.news import Waiting, turn, until_next
from bot.turns import Command

AT_ONCE = 20
"""Tickets of one look, which are all asked about at the same time."""
MISSED = 4
"""Looks in a row that must not find a ticket that was there before it counts as deleted, each twice
as long after the last: a ticket system that is being deployed does not find it for a moment."""
UNKNOWN = "Nobody reported what came of this; the ticket was never found. It may have been done."


class Poll:
    """The sweep over tickets: `await Poll(…).look()` returns how many were due.

    `lease` is how long a look may take before another clock takes over; between two looks at a
    ticket are `pause` at least and `limit` at most, and never more than `longest`. Of a ticket that
    the system never knew others may report: for so long as `reports`. `chance` gives numbers from
    0 to 1.
    """

    def __init__(
        self,
        *,
        slot: Slot,
        index: Index,
        tickets: TicketSystem,
        lease: timedelta,
        pause: timedelta,
        limit: timedelta,
        reports: timedelta,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Keep the parts."""
        self._slot = slot
        self._index = index
        self._tickets = tickets
        self._lease = lease
        self._pause = pause
        self._limit = limit
        self._reports = reports
        self._chance = chance
        self.longest = max(lease, 2 * pause, 2 * limit)

    async def look(self) -> int:
        """Look at what is due, a share at a time, until nothing is."""
        looked = 0
        while due := await self._index.claim_tickets(AT_ONCE, lease=self._lease):
            ends = await asyncio.gather(
                *(self._look(key, call) for key, call in due), return_exceptions=True
            )
            for end in ends:
                if isinstance(end, BaseException):
                    logs.error("ticket.failed", error=end)
            again = [each for end in ends if not isinstance(end, BaseException) for each in end]
            await self._index.send(again)
            looked += len(due)
        return looked

    async def _look(self, key: SessionKey, cid: str) -> Sequence[Command]:
        """Look at one ticket and tell its news; returns the commands for its next look, if any."""
        view = await self._slot.read(key, parts=())
        call = view.open.get(cid) if view else None
        waiting = Waiting.of(call.note) if call else None
        if view is None or call is None or waiting is None:
            return self._index.ticket_over(key, cid)
        quiet = timedelta(milliseconds=view.now - waiting.since)
        pause = until_next(quiet, shortest=self._pause, longest=self._limit)
        later = pause * (0.8 + 0.4 * self._chance())
        noted: Sequence[Command] = ()
        if view.inbox:
            later = self._pause
        else:
            after, noted = await self._told(key, (cid, call.name), waiting, now=view.now)
            later = later if after is None else after
        left = timedelta(milliseconds=waiting.until - view.now)
        later = min(later, max(left, self._pause) if left > timedelta() else later)
        at = view.now + later // timedelta(milliseconds=1)
        return [*noted, *self._index.ticket_due(key, cid, at)]

    async def _told(
        self, key: SessionKey, call: tuple[str, str], waiting: Waiting, *, now: int
    ) -> tuple[timedelta | None, Sequence[Command]]:
        """Tell a session the news of its ticket; how long to wait, where that is not as usual.

        With the commands that note whether it was there.
        """
        after = ticket = None
        missed: int | None = 0
        noted: Sequence[Command] = ()
        try:
            ticket = await self._asked(waiting)
        except TicketsUnavailable as error:
            logs.warning("ticket.unavailable", session=str(key), error=error)
            after = self._bounded(error.after_s) if error.after_s else None
        else:
            missed = 0 if ticket else await self._missed(key, call[0])
            if missed is not None:
                noted = self._index.ticket_missed(key, call[0], missed)
            if missed:
                after = self._bounded(self._pause.total_seconds() * 2 ** (missed - 1))
            if missed and missed >= MISSED:
                ticket = Ticket(id=waiting.ticket, status="deleted")
        end = self._end(waiting, told=ticket is not None, known=missed is not None)
        if now >= end and not (ticket and ticket.final):
            why = UNKNOWN if missed is None else ""
            ticket = Ticket(id=waiting.ticket, status="timeout", note=why)
        news = turn(key, call, waiting, now=ticket) if ticket else None
        if news:
            await self._slot.ingest(
                key, news.entry(), only_existing=True, index=self._index.ring(key, behind=True)
            )
            logs.info("ticket.news", session=str(key), status=ticket and ticket.status)
        return after, noted

    async def _missed(self, key: SessionKey, cid: str) -> int | None:
        """How often in a row its ticket is not there, now included; None where it never was."""
        before = await self._index.missed(key, cid)
        return None if before is None else before + 1

    def _end(self, waiting: Waiting, *, told: bool, known: bool) -> int:
        """Until when it is waited (ms): a little longer where the system says nothing right then.

        What happened while nobody looked it may tell in a moment.
        """
        if not known:
            return max(waiting.until, waiting.since + self._reports // timedelta(milliseconds=1))
        more = timedelta() if told else self._limit
        return waiting.until + more // timedelta(milliseconds=1)

    def _bounded(self, seconds: float) -> timedelta:
        """A time to wait, kept between the shortest and the longest, whatever a system names."""
        longest = self._limit.total_seconds()
        return max(self._pause, timedelta(seconds=min(seconds, longest)))

    async def _asked(self, waiting: Waiting) -> Ticket | None:
        """How a ticket stands; None where it is not found.

        Raises TicketsUnavailable, whatever the ticket system raises or answers instead.
        """
        look = self._tickets.get(waiting.ticket)
        try:
            async with asyncio.timeout(self._lease.total_seconds() / 2):
                [found] = await asyncio.gather(look, return_exceptions=True)
        except TimeoutError as error:
            raise TicketsUnavailable("it takes too long") from error
        match found:
            case None | Ticket():
                return found
            case TicketsUnavailable():
                raise found
            case _:
                kind = type(found).__name__
                logs.error("ticket.failed", error=found if isinstance(found, Exception) else kind)
                raise TicketsUnavailable(f"no ticket came, but {kind}")
