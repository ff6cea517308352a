"""What comes from outside can be stored and read back, or says at once why it cannot be."""

import datetime
from collections.abc import AsyncIterator
from typing import Any

import pytest
from google.genai import types

from agents import (
    Agent,
    Companions,
    Entry,
    Event,
    LlmResponse,
    Runner,
    SessionKey,
    SessionService,
    ToolContext,
)
from agents.runtime.parts import storable
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Slot
from agents.runtime.slot.redis import RedisSlot, connect
from agents.runtime.slot.wire import written
from agents.runtime.testing import ScriptedModel, call

HALF = "half \ud83d"
KEY = SessionKey("a", "u", "s")


@pytest.fixture(params=["memory", "redis"])
async def slot(request: pytest.FixtureRequest, store_url: str) -> AsyncIterator[Slot]:
    """A slot of either kind."""
    client = connect(store_url)
    yield MemorySlot() if request.param == "memory" else RedisSlot(client)
    await client.aclose()


def deep(levels: int) -> Any:
    """A list in a list in a list …"""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


async def said(
    slot: Slot, agent: Agent, script: list, text: str = "go", **told: Any
) -> list[Event]:
    """What comes of two messages; afterwards everything stored is read back."""
    sessions = SessionService(slot)
    if not await sessions.get_session(app_name="a", user_id="u", session_id="s"):
        await sessions.create_session(app_name="a", user_id="u", session_id="s")
    runner = Runner(
        agent=agent, app_name="a", session_service=sessions, models=ScriptedModel([*script, "then"])
    )
    events: list[Event] = []
    for each in (text, "and?"):
        message = types.Content(role="user", parts=[types.Part(text=each)])
        run = runner.run_async(user_id="u", session_id="s", new_message=message, **told)
        events += [event async for event in run]
        told = {}
    assert [*events[-1].texts()] == ["then"]
    return await stored(slot)


async def stored(slot: Slot) -> list[Event]:
    """The events of the session, as a store would give them back."""
    view = await slot.read(KEY)
    return [Event.model_validate_json(written(event)) for event in view.events]


def parrot(x: Any) -> Any:
    """Say it again."""
    return x


REPLIES = [
    pytest.param(HALF, {"result": "half ?"}, id="half an emoji"),
    pytest.param({HALF: HALF}, {"half ?": "half ?"}, id="half an emoji as a key"),
    pytest.param(float("nan"), {"result": "NaN"}, id="NaN"),
    pytest.param("a\0b", {"result": "a\0b"}, id="NUL"),
    pytest.param(10**400, {"result": 10**400}, id="a huge number"),
    pytest.param(deep(60), {"result": deep(60)}, id="deep"),
    *(pytest.param(deep(n), None, id=f"{n} deep") for n in (70, 190, 250, 300, 1100)),
]


@pytest.mark.parametrize(("value", "response"), REPLIES)
async def test_whatever_a_model_puts_into_a_call_can_be_stored(slot, value, response) -> None:
    """Half characters are replaced; what is too deep for a tool is an error the model reads."""
    events = await said(slot, Agent(name="w", tools=[parrot]), [call("parrot", x=value), "done"])
    [answer] = [r.response for event in events for r in event.get_function_responses()]
    if response is None:
        assert "nested" in answer["error"]
    else:
        assert answer == response


ODD_REPLIES = [
    pytest.param(types.Part(text=HALF), id="text"),
    pytest.param(types.Part(text=HALF, thought=True, thought_signature=b"\xff"), id="a thought"),
    pytest.param(
        types.Part(inline_data=types.Blob(data=b"\xff", mime_type="image/png", display_name=HALF)),
        id="media",
    ),
    pytest.param(types.Part(function_call=types.FunctionCall(id=HALF, name=HALF)), id="a call"),
]


@pytest.mark.parametrize("part", ODD_REPLIES)
async def test_whatever_a_model_says_can_be_stored(slot, part) -> None:
    """Bytes stay what they are."""
    reply = LlmResponse(content=types.Content(role="model", parts=[part]))
    more = ["done"] if part.function_call else []
    events = await said(slot, Agent(name="w"), [reply, *more])
    [kept] = [e for e in events if e.author == "w"][:1]
    assert HALF not in repr(kept)
    found = kept.parts[0]
    assert found.thought_signature == part.thought_signature
    assert (found.inline_data or part).model_dump().get("data") == (
        part.inline_data or part
    ).model_dump().get("data")


async def test_half_an_emoji_in_a_message_is_answered(slot) -> None:
    """A person's words are kept but for the half that is none."""
    events = await said(slot, Agent(name="w"), ["hello"], text=HALF)
    assert [*events[0].texts()] == ["half ?"]


def _hint(context: ToolContext) -> None:
    context.request_confirmation(hint=HALF)


def _payload(context: ToolContext) -> None:
    context.request_confirmation(payload={HALF: HALF})


def _transfer(context: ToolContext) -> None:
    context.actions.transfer_to_agent = HALF


def _state(context: ToolContext) -> None:
    context.state[HALF] = {HALF}


def _raise(context: ToolContext) -> None:
    raise ValueError(HALF)


@pytest.mark.parametrize("what", [_hint, _payload, _transfer, _state, _raise])
async def test_whatever_a_tool_says_can_be_stored(slot, what) -> None:
    """Its questions and its actions like its result."""

    def tool(tool_context: ToolContext) -> str:
        """Do it."""
        what(tool_context)
        return HALF

    events = await said(slot, Agent(name="w", tools=[tool]), [call("tool"), "then", "then"])
    assert HALF not in repr(events)


VALUES = [
    pytest.param(datetime.date(2026, 1, 1), "2026-01-01", id="a date"),
    pytest.param(HALF, "half ?", id="half an emoji"),
    pytest.param({1}, [1], id="a set"),
    pytest.param(float("inf"), "Infinity", id="infinity"),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
@pytest.mark.parametrize("door", ["run_async", "create_session", "append_event"])
async def test_state_is_json_at_every_door(slot, door, value, expected) -> None:
    """The session goes on with it."""
    sessions, where = SessionService(slot), {"app_name": "a", "user_id": "u"}
    given = {"k": value} if door == "create_session" else None
    session = await sessions.create_session(session_id="s", state=given, **where)
    if door == "append_event":
        event = Event(author="system")
        event.actions.state_delta["k"] = value
        await sessions.append_event(session, event)
        assert session.state == {"k": expected}
    told = {"state_delta": {"k": value}} if door == "run_async" else {}
    await said(slot, Agent(name="w"), ["one"], **told)
    assert (await slot.read(KEY)).state == {"k": expected}


async def test_an_event_that_is_appended_can_be_stored(slot) -> None:
    """Its words like its state."""
    sessions = SessionService(slot)
    session = await sessions.create_session(app_name="a", user_id="u", session_id="s")
    words = types.Content(role="user", parts=[types.Part(text=HALF)])
    await sessions.append_event(session, Event(author="user", content=words))
    assert [*(await stored(slot))[0].texts()] == ["half ?"]


def test_what_is_fine_stays_the_very_same() -> None:
    """Nothing is made anew without need."""
    part = types.Part(text="fine", thought_signature=b"\xff")
    assert storable(part) is part


UNREADABLE = [
    pytest.param({"content": {"role": "user", "parts": "nonsense"}}, id="parts that are none"),
    pytest.param({"content": 5}, id="content that is none"),
    pytest.param({"content": {"parts": [{"text": {"deep": 1}}]}}, id="a text that is none"),
]


@pytest.mark.parametrize("body", UNREADABLE)
async def test_an_inbox_entry_that_nobody_can_read_is_given_up(slot, body) -> None:
    """Nothing of it is stored, it is said that something went wrong, and what is behind goes on."""
    await slot.apply(KEY, state={}, create=True)
    await slot.ingest(KEY, Entry(id="bad", body=body))
    sound = {"content": {"role": "user", "parts": [{"text": "hello"}]}}
    await slot.ingest(KEY, Entry(id="good", body=sound))
    agent = Agent(name="w", model=ScriptedModel(["hi"]))
    runner = Runner(agent=agent, app_name="a", session_service=SessionService(slot))
    with pytest.raises(ValueError, match="validation error"):
        await anext(runner.serve(KEY, owner="o"))
    await runner.give_up(KEY, owner="o")
    [heard] = [event async for event in runner.serve(KEY, owner="o")]
    assert [*heard.texts()] == ["hi"]
    gone, asked, answered = await stored(slot)
    assert (gone.author, gone.error_code, gone.content) == ("w", "GIVEN_UP", None)
    assert [[*event.texts()] for event in (asked, answered)] == [["hello"], ["hi"]]


async def test_a_message_behind_a_turn_that_cannot_end_is_not_thrown_away(slot) -> None:
    """Only what is itself the trouble is put aside."""
    broken = True

    def companion(*_told: object, **_new: object) -> Companions:
        if broken:
            raise TypeError("a bug")
        return Companions()

    await slot.apply(KEY, state={}, create=True)
    sound = {"content": {"role": "user", "parts": [{"text": "hello"}]}}
    await slot.ingest(KEY, Entry(id="good", body=sound))
    agent = Agent(name="w", model=ScriptedModel(["hi", "hi", "hi"]))
    sessions = SessionService(slot)
    runner = Runner(agent=agent, app_name="a", session_service=sessions, companion=companion)
    with pytest.raises(TypeError, match="a bug"):
        await runner.give_up(KEY, owner="o")
    broken = False
    assert [[*e.texts()] async for e in runner.serve(KEY, owner="o")] == [["hi"]]
