"""Every state that a request can come into by any order of acts, and what must hold in each."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Begun, Commit, Companions, OpenCall, Settle, Start
from bot.approvals.decide import decide, settle
from bot.approvals.request import MOVES, Approval
from bot.approvals.terms import Policy
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import KEY, click

CALL = "2-0"
AGREED = ("approved", "started", "done", "failed", "unknown")
DEPTH = 8


@dataclass
class World:
    """One request of two approvers on a slot whose clock is ours."""

    slot: MemorySlot
    asked: Approval
    time: list[float]
    begun: Begun
    starts: int = 0

    async def status(self) -> str:
        """What the request is now."""
        return (await self.approval()).status

    async def approval(self) -> Approval:
        """The request as it is stored."""
        view = await self.slot.read(KEY, parts=("approvals",))
        return Approval.from_record(view.approvals["3-0"])

    async def press(self, who: str, act: str) -> None:
        """Somebody presses a button."""
        pressed = click(self.asked, who, act)
        await decide(self.slot, KEY, pressed, run_for=timedelta(seconds=90))

    async def wait(self, seconds: float) -> None:
        """Time passes."""
        self.time[0] += seconds

    async def lapse(self) -> None:
        """The clock sweeps."""
        await settle(self.slot, KEY, "3-0")

    async def start(self) -> None:
        """A worker wants to run the call."""
        before = await self.status()
        digest = self.asked.digest
        asked = Start(fence=self.begun.fence, cid=CALL, step=CALL, request="3-0", digest=digest)
        told = await self.slot.start_call(KEY, asked)
        fresh = told.kind == "go" and before != "started"
        assert not fresh or before == "approved"
        self.starts += fresh

    async def end(self, status: str) -> None:
        """The worker that runs the call stores what came of it, or asks what became of it."""
        if await self.status() != "started":
            return
        done = status == "done"
        anew = OpenCall(name="reimburse", kind="approval", version=2, request="5-0")
        commit = Commit(
            id="end",
            fence=self.begun.fence,
            version=self.begun.version,
            opened={} if done else {CALL: anew},
            closed=[CALL] if done else [],
            ended=[] if done else [CALL],
            companions=Companions(settles=[Settle(id="3-0", sources=("started",), status=status)]),
        )
        await self.slot.commit(KEY, commit)


Act = Callable[[World], Awaitable[None]]
ACTS: dict[str, Act] = {
    "one approves": lambda world: world.press("UBOSS", "approve"),
    "another approves": lambda world: world.press("UCFO", "approve"),
    "one rejects": lambda world: world.press("UBOSS", "reject"),
    "who asked approves": lambda world: world.press("UASK", "approve"),
    "who asked withdraws": lambda world: world.press("UASK", "withdraw"),
    "a minute passes": lambda world: world.wait(61),
    "the clock sweeps": lambda world: world.lapse(),
    "a worker starts it": lambda world: world.start(),
    "it is done": lambda world: world.end("done"),
    "it was interrupted": lambda world: world.end("unknown"),
}


async def played(path: tuple[str, ...]) -> tuple[World, list[str]]:
    """A world after these acts, and the statuses on the way."""
    time = [1_800_000_000.0]
    slot = MemorySlot(clock=lambda: time[0])
    asked = await put(slot, policy=Policy(approvers=("UBOSS", "UCFO"), quorum=2))
    begun = await slot.begin(KEY, owner="w", lease=10**9)
    assert isinstance(begun, Begun)
    call = OpenCall(name="reimburse", kind="approval", version=2, request="3-0")
    await slot.commit(
        KEY, Commit(id="o", fence=begun.fence, version=begun.version, opened={CALL: call})
    )
    world, seen = World(slot, asked, time, begun), ["pending"]
    for name in path:
        await ACTS[name](world)
        seen.append(await world.status())
    return world, seen


async def state_of(world: World) -> tuple[object, ...]:
    """What tells one state from another."""
    approval = await world.approval()
    votes = tuple((vote.person, vote.confirmed) for vote in approval.votes)
    return approval.status, approval.why, votes, world.starts, int(world.time[0]) % 1000


async def test_no_order_of_acts_breaks_a_promise():
    """Moves are those of the machine, one start at most, never without two approvals in time."""
    frontier: list[tuple[str, ...]] = [()]
    states: set[tuple[object, ...]] = set()
    for _ in range(DEPTH):
        reached: list[tuple[str, ...]] = []
        for path in frontier:
            for name in ACTS:
                world, seen = await played((*path, name))
                await holds(world, seen)
                state = await state_of(world)
                if state not in states and world.time[0] < 1_800_000_130:
                    states.add(state)
                    reached.append((*path, name))
        frontier = reached
    assert {state[0] for state in states} >= {*AGREED, "rejected", "expired", "cancelled"} - {
        "failed"
    }


async def holds(world: World, seen: list[str]) -> None:
    """What must be true in every state."""
    approval = await world.approval()
    for before, after in pairwise(seen):
        assert before == after or after in MOVES[before], seen
    assert world.starts <= 1
    assert world.starts == 0 or approval.status in ("started", "done", "unknown")
    yes = {vote.person for vote in approval.votes if vote.confirmed}
    if approval.status in AGREED:
        assert yes == {"UBOSS", "UCFO"}
        assert all(vote.at < approval.deadline for vote in approval.votes)
    view = await world.slot.read(KEY, parts=("audit",))
    ends = [entry for entry, _ in view.audit if "approval.decided" in entry.values()]
    assert len(ends) == (approval.status != "pending")
    assert (view.inbox == 1) == (approval.status != "pending")
