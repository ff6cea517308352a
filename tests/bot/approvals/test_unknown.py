"""A call that was started and interrupted: a person looks, and says what became of it."""

import pytest

from agents import Agent, FunctionTool, Runner, SessionKey, SessionService, Slot, StoreUnavailable
from agents.runtime.slot.port import Begun, Start
from agents.runtime.testing import ScriptedModel, call
from bot.approvals.decide import decide
from bot.approvals.request import Approval
from bot.approvals.secretary import Secretary
from bot.turns import Turn
from tests.bot.approvals.samples import KEY, TEAM, click, rules


class Interrupted:
    """An agent whose tool was started by a worker that died in it."""

    def __init__(self, slot: Slot, *, gated: bool) -> None:
        self.slot = slot
        self.paid: list[int] = []
        self.model = ScriptedModel([call("pay", amount=7), "I looked."])
        self.secretary = Secretary(
            slot=slot,
            rules=lambda _: rules(),
            ring=lambda _: (),
            nonces=(f"nonce{n}" for n in range(9)),
        )
        tool = FunctionTool(self.pay, require_confirmation=gated)
        self.runner = Runner(
            agent=Agent(name=KEY.app, tools=[tool]),
            session_service=SessionService(slot, tenant=TEAM),
            models=self.model,
            companion=self.secretary.companions,
            permit=self.secretary.permit,
            tenant=TEAM,
        )
        self.dies = True

    def pay(self, amount: int) -> dict:
        """Pay."""
        if self.dies:
            raise AssertionError("the worker is dead by now")
        self.paid.append(amount)
        return {"paid": amount}

    async def serve(self) -> None:
        """The agent does what it can."""
        approvals = {each.id: each for each in await self.approvals()}
        self.secretary.remember(KEY, approvals)
        async for _ in self.runner.serve(KEY, owner="test"):
            pass
        await self.secretary.settle(KEY)

    async def approvals(self) -> list[Approval]:
        """All approvals, oldest first."""
        view = await self.slot.read(KEY, parts=("approvals",))
        found = [Approval.from_record(record) for record in view.approvals.values()]
        return sorted(found, key=lambda each: int(each.id.partition("-")[0]))

    async def decides(self, act: str) -> None:
        """UBOSS decides about what is open."""
        (asked,) = [each for each in await self.approvals() if each.status == "pending"]
        await decide(self.slot, KEY, click(asked, act=act))

    async def told(self) -> dict:
        """What the model reads about the call."""
        request = self.model.requests[-1]
        parts = [part for content in request.contents for part in content.parts or ()]
        return [p.function_response.response or {} for p in parts if p.function_response][-1]


class Dying:
    """A slot that lets a body start and then loses its worker."""

    def __init__(self, slot: Slot) -> None:
        self._slot = slot

    def __getattr__(self, name: str):
        return getattr(self._slot, name)

    async def start_call(self, key: SessionKey, start: Start):
        """Start it, and die."""
        await self._slot.start_call(key, start)
        raise StoreUnavailable("the worker dies here")


@pytest.fixture(params=[False, True], ids=["ungated", "gated"])
async def office(request, slot: Slot) -> Interrupted:
    """A call of pay(7) whose worker died between its start and its result."""
    made = Interrupted(slot, gated=request.param)
    await slot.ingest(KEY, Turn(id="m1", session=KEY, author="UASK", text="pay 7").entry())
    if request.param:
        await made.serve()
        await made.decides("approve")
    dying = Runner(
        agent=made.runner.agent,
        session_service=SessionService(Dying(slot), tenant=TEAM),
        models=made.model,
        companion=made.secretary.companions,
        tenant=TEAM,
    )
    made.secretary.remember(KEY, {each.id: each for each in await made.approvals()})
    with pytest.raises(StoreUnavailable):
        async for _ in dying.serve(KEY, owner="dying"):
            pass
    await made.serve()
    return made


async def test_people_are_asked_to_look(office: Interrupted):
    """It did not run again by itself; the approval it ran with says that nobody knows."""
    *older, asked = await office.approvals()
    assert (asked.status, asked.unknown, office.paid) == ("pending", True, [])
    assert [each.status for each in older] == ["unknown"] * len(older)


@pytest.mark.parametrize(
    ("act", "paid", "status", "older", "words"),
    [
        pytest.param("happened", [], "cancelled", "done", "a person says", id="it happened"),
        pytest.param("approve", [7], "done", "done", "paid", id="it did not, run it"),
        pytest.param("reject", [], "rejected", "cancelled", "decided to leave it", id="leave it"),
    ],
)
async def test_three_honest_buttons(office: Interrupted, act, paid, status, *, older, words):
    """Each button answers the model with what a person found; it runs only when they say so."""
    office.dies = False
    await office.decides(act)
    await office.serve()
    *before, asked = await office.approvals()
    assert (office.paid, asked.status) == (paid, status)
    assert [each.status for each in before] == [older] * len(before)
    assert words in str(await office.told())
    await office.serve()
    assert office.paid == paid


async def test_only_an_unknown_call_can_have_happened(slot: Slot):
    """The button of one card does nothing on another."""
    made = Interrupted(slot, gated=True)
    await slot.ingest(KEY, Turn(id="m1", session=KEY, author="UASK", text="pay 7").entry())
    await made.serve()
    (asked,) = await made.approvals()
    outcome = await decide(slot, KEY, click(asked, act="happened"))
    assert outcome.kind == "unknown"
    assert (await made.approvals())[0].status == "pending"
    assert isinstance(await slot.begin(KEY, owner="look", lease=10), Begun)
