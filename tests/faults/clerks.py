"""Those who work on the tickets of a run: they move each a few times, and then to its end."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from agents import StoreUnavailable, Ticket
from bot.tickets.local import LocalTickets

ENDS = ("resolved", "resolved", "rejected", "deleted")


class Clerks:
    """Everybody who works on tickets; `moves` are the states of each, oldest first."""

    def __init__(
        self,
        tickets: LocalTickets,
        *,
        seed: int,
        note: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.moves: dict[str, list[Ticket]] = {}
        self._taken: set[str] = set()
        self._tickets = tickets
        self._seed = seed
        self._note = note
        self._spawn = spawn

    async def work(self) -> None:
        """Take every ticket that appears; one that is opened again was deleted in between."""
        while True:
            for ticket in await self._newest():
                if ticket.id not in self._taken and not ticket.final:
                    self._taken.add(ticket.id)
                    self.moves.setdefault(ticket.id, []).append(ticket)
                    self._spawn(self._work_on(ticket.id))
            await asyncio.sleep(0.05)

    async def _newest(self) -> list[Ticket]:
        try:
            return list(await self._tickets.newest())
        except StoreUnavailable:
            return []

    async def _work_on(self, ticket_id: str) -> None:
        """Tell of some progress, which may go back, now and then the same twice; then end it."""
        chance = random.Random(f"{self._seed} {ticket_id}")
        for number in range(chance.randint(0, 3)):
            await asyncio.sleep(chance.uniform(0.05, 0.5))
            progress, note = chance.randint(0, 100), f"step {number}"
            for _ in range(chance.randint(1, 2)):
                await self._move(ticket_id, status="in_progress", progress=progress, note=note)
        await asyncio.sleep(chance.uniform(0.05, 0.5))
        await self._move(ticket_id, status=chance.choice(ENDS), progress=None, note="")
        self._taken.discard(ticket_id)

    async def _move(self, ticket_id: str, **how: Any) -> None:
        """Move it; whoever does not hear whether it moved does it again."""
        for _ in range(100):
            try:
                await self._tickets.move(ticket_id, **how)
            except StoreUnavailable:
                await asyncio.sleep(0.1)
                continue
            moved = Ticket(id=ticket_id, **how)
            if moved.mark != self.moves[ticket_id][-1].mark:
                self.moves[ticket_id].append(moved)
            self._note(f"clerks {ticket_id} is {moved.status} {moved.progress} {moved.note}")
            return
        raise TimeoutError(f"{ticket_id} could not be moved")
