"""A session in hand: the lease, state by invocation, and what a client sees."""

import asyncio

import pytest

from agents import Agent, Companions, Entry, ModelUnavailable, SessionConflict, SessionKey
from agents.runtime.held import without_temp
from agents.runtime.lease import hold
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import OpenCall
from agents.runtime.testing import call
from tests.agents.desk import Desk, results
from tests.agents.samples import answered, content, response, spoke

KEY = SessionKey("root", "ann", "s")


async def opened() -> MemorySlot:
    """A store with a session."""
    slot = MemorySlot()
    await slot.apply(KEY, state={"a": 1}, create=True)
    return slot


async def test_the_lease_is_renewed():
    """A session is held for as long as the block lasts, whatever the lease is."""
    slot = await opened()
    async with hold(slot, KEY, owner="me", lease=60) as held:
        await asyncio.sleep(0.15)
        assert not held.lost
        await held.commit([spoke(text="Still here.")])
    assert (await slot.read(KEY)).version == 1


async def test_a_lost_session():
    """Who lost the session notices, and can store nothing."""
    slot = await opened()
    async with hold(slot, KEY, owner="me", lease=60) as held:
        await slot.begin(KEY, owner="me", lease=9000)
        while not held.lost:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        with pytest.raises(SessionConflict):
            await held.commit([spoke(text="Too late.")])


@pytest.mark.parametrize(
    ("raised", "attempt"),
    [
        pytest.param(ModelUnavailable("503"), 2, id="the model was away"),
        pytest.param(ValueError("a bug"), 1, id="a bug"),
        pytest.param(SessionConflict("lost"), 1, id="it was lost"),
        pytest.param(asyncio.CancelledError(), 1, id="the process was stopped"),
    ],
)
async def test_what_is_an_attempt(raised: BaseException, attempt: int):
    """Only a model that was away counts towards giving it up."""
    slot = await opened()
    await slot.ingest(KEY, Entry(id="e", body={}))
    with pytest.raises(type(raised)):
        async with hold(slot, KEY, owner="me", lease=9000):
            raise raised
    assert (await slot.begin(KEY, owner="you", lease=9000)).attempt == attempt


async def test_taking():
    """An entry is in the story before it is stored, and stored with what came of it."""
    slot = await opened()
    said = content("hi").model_dump(mode="json", exclude_none=True)
    await slot.ingest(KEY, Entry(id="e", body={"content": said, "user_id": "bo"}))
    async with hold(slot, KEY, owner="me", lease=9000) as held:
        assert (await held.take(), held.unstored, held.next_version) == (True, True, 2)
        shown = await held.commit([spoke(text="Hi.", inv="inv-1")])
        assert [event.author for event in shown] == ["root"]
        assert (await held.take(), held.unstored) == (False, False)
        assert (held.user("inv-1"), held.user("i9")) == ("bo", "ann")
    assert [event.author for event in (await slot.read(KEY)).events] == ["user", "root"]


async def test_temp_state_stays_with_its_invocation():
    """It is kept while a call of the invocation is open, apart from a nested agent's."""
    slot = await opened()
    made = spoke("1-0 work", lasting=("1-0",))
    async with hold(slot, KEY, owner="me", lease=9000) as held:
        made.actions.state_delta.update({"temp:x": 1, "b": 2})
        await held.commit([made])
        assert held.view("i1") == {"a": 1, "b": 2, "temp:x": 1}
        assert held.view("i1", "helper@1-0") == {"a": 1, "b": 2}
    async with hold(slot, KEY, owner="you", lease=9000) as held:
        assert held.view("i1")["temp:x"] == 1
        await held.commit([answered(response("1-0 work", status="error"))])
        await held.commit([spoke(text="Over.")])
        assert "temp:x" not in held.view("i1")
    assert without_temp(made).actions.state_delta == {"b": 2}
    assert (await slot.read(KEY)).events[0].actions.state_delta == {"b": 2}


async def test_open_calls():
    """The slot knows what each open call waits for, with what companions tell about it."""
    slot = await opened()

    def companion(_key, _story, new, **_told) -> Companions:
        return Companions(notes={"1-0": {"asked": ["boss"]}}) if new else Companions()

    async with hold(slot, KEY, owner="me", lease=9000, companion=companion) as held:
        made = spoke("1-0 pay", "1-1 work", lasting=("1-1",))
        await held.commit([made.model_copy(update={"version": 1})])
        await held.commit([answered(pending=("1-1",))])
        assert held.notes["1-0"] == {"asked": ["boss"]}
    assert (await slot.read(KEY)).open == {
        "1-0": OpenCall(name="pay", kind="tool", version=1, note={"asked": ["boss"]}),
        "1-1": OpenCall(name="work", kind="news", version=1),
    }


async def test_what_a_client_sees():
    """Neither its own words nor a nested agent's; state alone is news."""
    slot = await opened()
    nested = spoke(text="inner", agent="helper", branch="helper@1-0")
    asking = spoke("3-0 work", agent="helper", branch="helper@1-0", lasting=("3-0",))
    state = answered().model_copy(update={"content": None})
    delta = state.model_copy(
        update={"actions": state.actions.model_copy(update={"state_delta": {"k": 1}})}
    )
    async with hold(slot, KEY, owner="me", lease=9000) as held:
        shown = await held.commit([spoke(text="outer"), nested, asking, state, delta])
    assert [(e.author, e.branch, bool(e.content)) for e in shown] == [
        ("root", None, True),
        ("helper", "helper@1-0", True),
        ("root", None, False),
    ]


async def test_state_of_a_pause():
    """What a body left under `temp:` before it asked is there when it goes on."""

    def act(tool_context) -> dict:
        """Act."""
        if tool_context.tool_confirmation is None:
            tool_context.state.update({"temp:x": 1, "y": 2})
            tool_context.request_confirmation(hint="?")
            return {"status": "asked"}
        return {"temp": tool_context.state["temp:x"], "plain": tool_context.state["y"]}

    at = await Desk(Agent(name="root", tools=[act]), [call("act"), "Done."]).open()
    await at.say()
    assert results(await at.answer()) == [{"temp": 1, "plain": 2}]
    assert (await at.session()).state == {"y": 2}


async def test_stored_state_does_not_change():
    """What a later call changes in place is not changed in the events before it."""

    def add(item: str, tool_context) -> None:
        """Add."""
        tool_context.state["items"].append(item)

    made = [call("add", item="a"), call("add", item="b"), "Added."]
    at = await Desk(Agent(name="root", tools=[add]), made).open(items=[])
    await at.say()
    deltas = [event.actions.state_delta for event in (await at.session()).events]
    assert [delta["items"] for delta in deltas if delta] == [["a"], ["a", "b"]]
