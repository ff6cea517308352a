"""People talk, ask again, decide, withdraw and cancel at random: nothing is held open in vain.

What the runtime holds open is what people can decide, and what they approved has run.
"""

import asyncio
import random
from collections.abc import Sequence

import pytest

from agents import Story
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.testing import call
from bot.approvals.request import Approval
from bot.approvals.resolve import Defaults
from bot.approvals.ruling import Ruling, rule
from tests.bot.approvals.samples import KEY
from tests.bot.approvals.test_run import Desk

PEOPLE = ("UASK", "UASK", "UBEN", "UBEN", "UBOSS")
DECIDERS = ("UASK", "UBOSS", "UCFO", "UBEN")
ACTS = ("approve", "approve", "approve", "reject", "withdraw", "cancel")
CALLS = (
    *(("pay", {"amount": amount}) for amount in (1, 1, 2, 9500)),
    ("ask", {"days": 3}),
)
SEEDS = range(25)


def replies(chance: random.Random, *, nested: bool) -> list[object]:
    """What the model says: words, or one call and now and then several, some of them alike."""
    found: list[object] = []
    for _ in range(60):
        if nested and chance.random() < 0.5:
            found.append(call("helper", request="x"))
        calls = chance.choices(CALLS, k=chance.choice((1, 1, 1, 2, 3)))
        made = [call(name, **args) for name, args in calls]
        found.append(made if chance.random() < 0.45 else "words")
    return found


async def step(desk: Desk, chance: random.Random) -> None:
    """Somebody writes, or does something about one of the requests, open or not."""
    view = await desk.slot.read(KEY, parts=("approvals",))
    approvals = [Approval.from_record(each) for each in view.approvals.values()] if view else []
    if not approvals or chance.random() < 0.5:
        await desk.says("go", user=chance.choice(PEOPLE))
        return
    asked, act = chance.choice(approvals), chance.choice(ACTS)
    who = asked.requester if act == "withdraw" else chance.choice(DECIDERS)
    if act == "cancel":
        await rule(desk.slot, asked, Ruling(act="cancel", by="root"))
        await asyncio.sleep(0.002)
        await desk.serve()
        return
    values = {"values": {"approved": "2"}} if asked.payload_schema else {}
    await desk.decided(asked, who, act, **values)


@pytest.mark.parametrize("nested", [False, True], ids=["its own tools", "a nested agent's"])
@pytest.mark.parametrize("seed", SEEDS)
async def test_what_is_open_can_be_decided(seed: int, *, nested: bool):
    """After every step the open calls and the open requests are the same, and all else is over."""
    chance = random.Random(seed)
    few = {"defaults": Defaults(approvers=("UBOSS",))} if seed % 2 else {}
    desk = Desk(MemorySlot(), replies(chance, nested=nested), nested=nested, **few)
    for _ in range(chance.randint(3, 8)):
        await step(desk, chance)
        view = await desk.slot.read(KEY, parts=("events", "approvals"))
        assert view is not None
        kept = [Approval.from_record(record) for record in view.approvals.values()]
        held = {
            each.request for each in Story(view.events).calls.values() if each.status == "asked"
        }
        unasked = {each.id for each in kept if each.why == "nobody"}
        assert statuses(kept, "pending") == held - unasked
        assert statuses(kept, "approved") == set()


def statuses(kept: Sequence[Approval], status: str) -> set[str]:
    """The ids of the requests that are so."""
    return {each.id for each in kept if each.status == status}
