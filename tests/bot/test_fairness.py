"""Who waits for whom: many deadlines at the same moment beside what a person just said."""

import asyncio

from agents import SessionKey
from agents.runtime.slot.redis import Client
from agents.runtime.testing import ScriptedModel
from bot.clock import DUE, close_due
from tests.bot.approvals.conftest import put
from tests.bot.river import TEAM, River

MANY = 1_000
MOST = 60
"""Sessions that may be worked off before a message is answered; all of them would be too many."""
READY = "b:{due:local}:ready"


async def overdue(river: River) -> None:
    """A thousand approvals, each in a session of its own, whose time was up a moment ago."""

    async def one(number: int) -> None:
        key = SessionKey("helper", "thread", f"C1:{number}", TEAM)
        asked = await put(river.slot, key=key, left=-1, copies=())
        await river.index.send(river.index.approval_due(key, asked.id, 1))

    for first in range(0, MANY, 100):
        await asyncio.gather(*(one(number) for number in range(first, first + 100)))


async def test_a_message_does_not_wait_for_a_thousand_deadlines(river: River, store: Client):
    """All expire at once; what is said meanwhile in three threads is answered between them."""
    await overdue(river)
    threads = [await river.beside() for _ in range(3)]
    while await close_due(river.slot, river.index) == DUE:
        pass
    model = ScriptedModel(["hello"] * len(threads))
    async with river.worker(model, concurrency=1):
        for thread in threads:
            left = await store.zcard(READY)
            await thread.ask()
            await thread.hears("hello")
            assert left - await store.zcard(READY) < MOST
    assert await store.zcard(READY) > MANY - MOST * len(threads) - 100
