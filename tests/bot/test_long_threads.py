"""What a turn reads of a thread that has seen many decisions."""

from collections.abc import Sequence

from google.genai import types

from agents import Agent, Companions, Event, FunctionTool, Record
from agents.runtime.slot.port import Begun, Commit
from agents.runtime.slot.redis import Client
from agents.runtime.testing import ScriptedModel, call
from bot.outbox import Outbox
from tests.bot.approvals.samples import approval
from tests.bot.river import River

DECIDED, TALK = 500, 400
READ_AT_MOST = 64 * 1024
WORDS = types.Content(role="model", parts=[types.Part(text="x" * 400)])


def pay(amount: int) -> str:
    """Pay."""
    return "paid"


async def _put(river: River, records: Sequence[Record], events: Sequence[Event] = ()) -> None:
    """Write approvals and events into the thread's session."""
    begun = await river.slot.begin(river.key, owner="test", lease=5000)
    assert isinstance(begun, Begun)
    commit = Commit(
        id=records[0].id,
        fence=begun.fence,
        version=begun.version,
        events=events,
        companions=Companions(approvals=records),
    )
    await river.slot.commit(river.key, commit)
    await river.slot.release(river.key, begun.fence)


async def test_decided_requests_are_not_read_by_a_turn(river: River, store: Client):
    """Beside an open question five hundred decided ones cost a turn nothing."""
    told = {"session": str(river.key), "args": {"amount": 5, "why": "y" * 300}}
    old = [approval(id=f"old-{n}", status="done", **told).record() for n in range(DECIDED)]
    talk = [
        Event(author=author, user_id="U", invocation_id=f"i{n}", content=WORDS)
        for n in range(TALK // 2)
        for author in ("user", "helper")
    ]
    await river.slot.apply(river.key, state={}, create=True)
    await _put(river, old, talk)
    tool = FunctionTool(pay, require_confirmation=True)
    agent = Agent(name="helper", model=ScriptedModel([call("pay", amount=5)]), tools=[tool])
    await river.ask("pay")
    events = [event async for event in river.runner(agent).serve(river.key, owner="test")]
    [request] = [name for event in events for name in event.questions]
    await _put(river, [approval(id=request, **told).record()])

    outbox = Outbox(slot=river.slot, replies=river.replies, owner="worker")
    before = (await store.info("stats"))["total_net_output_bytes"]
    async with river.runner(agent).hold(river.key, owner="worker") as held:
        debt = await outbox.debt(held)
    read = (await store.info("stats"))["total_net_output_bytes"] - before
    assert debt.approvals.keys() == {request}
    assert READ_AT_MOST / 2 < read <= READ_AT_MOST
