"""A request that waits costs nothing and runs out of nothing but its own time."""

from itertools import permutations

import pytest

from agents import ApprovalPolicy
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.testing import ScriptedModel, call
from bot.approvals.decide import decide, settle
from bot.approvals.resolve import Defaults
from tests.bot.approvals.samples import KEY, click, rules
from tests.bot.approvals.test_again import Office

MINUTE, DAY = 60.0, 86_400.0
ENDLESS = rules(
    defaults=Defaults(approvers=("UBOSS", "UCFO"), ttl=None, run_for=None),
    policies={"pay": ApprovalPolicy(expires=None)},
)


class Hourglass:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        """Begin some day."""
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


@pytest.mark.parametrize(
    "waited",
    [
        pytest.param(61.0, id="a minute"),
        pytest.param(10 * MINUTE, id="ten minutes"),
        pytest.param(3 * DAY, id="a weekend"),
        pytest.param(400 * DAY, id="a year"),
    ],
)
@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_waiting_is_no_answer(waited: float, act: str):
    """However long nobody answers nothing runs by itself, and the answer counts when it comes."""
    clock = Hourglass()
    office = Office(MemorySlot(clock))
    office.rules = ENDLESS
    await office.says("pay 500 yen")
    for _ in range(5):
        clock.now += waited / 5
        await office.serve()
        (asked,) = await office.approvals()
        assert await settle(office.slot, KEY, asked.id) == asked
    assert (asked.status, office.payments.paid) == ("pending", [])
    await office.decides(act)
    await office.serve()
    assert office.payments.paid == ([(500, "JPY")] if act == "approve" else [])


async def test_at_its_time_it_has_expired_and_nobody_said_no():
    """To the millisecond: open before, expired at it; the model reads that nobody answered."""
    clock = Hourglass()
    office = Office(MemorySlot(clock))
    await office.says("pay 500 yen")
    (asked,) = await office.approvals()
    assert asked.deadline is not None
    clock.now = (asked.deadline - 1) / 1000
    reminded = await settle(office.slot, KEY, asked.id)
    assert (reminded and reminded.status) == "pending"
    clock.now = asked.deadline / 1000
    ended = await settle(office.slot, KEY, asked.id)
    assert ended is not None
    assert (ended.status, ended.decided_by, ended.votes) == ("expired", None, ())
    await office.serve()
    read = str(office.model.requests[-1].contents[-1])
    assert "Nobody answered in time" in read
    assert "rejected" not in read
    assert office.payments.paid == []


async def many(office: Office, count: int) -> None:
    """One reply of the model with so many calls, each of which asks."""
    calls = [call("pay", amount=n, currency="JPY") for n in range(count)]
    office.model = ScriptedModel([calls, "Done."])
    office.deploy(office.payments.old)
    await office.says("pay all of them")


async def test_two_hundred_calls_of_one_turn():
    """All are decided one by one, each runs once in one go, and the model is asked once."""
    office = Office(MemorySlot())
    await many(office, 200)
    asked = await office.approvals()
    for each in asked:
        assert (await decide(office.slot, KEY, click(each))).kind == "decided"
    await office.serve()
    assert sorted(office.payments.paid) == [(n, "JPY") for n in range(200)]
    assert len(office.model.requests) == 2
    assert {each.status for each in await office.approvals()} == {"done"}


@pytest.mark.parametrize("order", [*permutations(range(3))], ids=str)
async def test_in_any_order(order: tuple[int, ...]):
    """Three calls of one turn in any order: one changes no other, a no throws none away."""
    office = Office(MemorySlot())
    await many(office, 3)
    asked = sorted(await office.approvals(), key=lambda each: each.call_id)
    for done, place in enumerate(order, start=1):
        await decide(
            office.slot, KEY, click(asked[place], act="reject" if place == 1 else "approve")
        )
        await office.serve()
        still = [each for each in await office.approvals() if each.status == "pending"]
        assert len(still) == 3 - done
        assert len(office.model.requests) == (2 if done == 3 else 1)
    assert sorted(office.payments.paid) == [(0, "JPY"), (2, "JPY")]
