"""How often a runner goes to the store, each trip with a reason of its own."""

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from agents import Agent, Entry, Event, FunctionTool, Runner, SessionKey, SessionService
from agents.runtime.hooks import Plugin
from agents.runtime.slot.redis import RedisSlot, connect
from agents.runtime.slot.scripts import SCRIPTS
from agents.runtime.testing import Reply, ScriptedModel, call
from tests.trips import trips

CALL = call("pay", amount=5)
READ, WRITE, START = 1, 1, 1


def pay(amount: int) -> dict[str, str]:
    """Pay."""
    return {"status": "paid"}


def _tool(*, gate: bool | Callable[..., Any], **more: Any) -> FunctionTool:
    return FunctionTool(pay, require_confirmation=gate, **more)


class Desk:
    """A session on a real server, and what a message to it costs."""

    def __init__(self, slot: RedisSlot, *replies: Reply, **options: Any) -> None:
        """An agent that says these things."""
        plugins = options.pop("plugins", ())
        agent = Agent(name="helper", model=ScriptedModel(replies), **options)
        self.key = SessionKey("helper", "ann", uuid.uuid4().hex)
        self.slot = slot
        self.runner = Runner(agent=agent, session_service=SessionService(slot), plugins=plugins)
        self.events: list[Event] = []

    async def hears(self, **part: Any) -> int:
        """Serve the session after somebody said this; how many trips that took."""
        body = {"content": {"role": "user", "parts": [part]}, "user_id": "ann"}
        await self.slot.ingest(self.key, Entry(id=uuid.uuid4().hex, body=body))
        return await trips(self._serve)

    async def _serve(self) -> None:
        self.events = [event async for event in self.runner.serve(self.key, owner="w")]


ASKS: Sequence[Any] = [
    pytest.param({"tools": [_tool(gate=True)]}, READ + WRITE, id="always asked about"),
    pytest.param(
        {"tools": [_tool(gate=lambda amount: amount > 1)]}, READ + 2 * WRITE, id="a predicate says"
    ),
    pytest.param(
        {"tools": [_tool(gate=True, precondition=lambda amount: amount)]},
        READ + 2 * WRITE,
        id="something is found out first",
    ),
    pytest.param(
        {"tools": [_tool(gate=True)], "before_tool_callback": lambda **_: None},
        READ + 2 * WRITE,
        id="a hook is asked first",
    ),
    pytest.param(
        {"tools": [_tool(gate=True)], "plugins": [Plugin()]},
        READ + 2 * WRITE,
        id="a plugin is asked first",
    ),
]


@pytest.fixture
async def kept(store_server: str) -> AsyncIterator[RedisSlot]:
    """A slot on a server that knows the scripts."""
    async with connect(store_server) as client:
        for script in SCRIPTS.values():
            await client.script_load(script.text)
        yield RedisSlot(client)


async def test_a_plain_turn(kept: RedisSlot) -> None:
    """It is read once and written once, and that gives the session back."""
    assert await Desk(kept, "hi").hears(text="hello") == READ + WRITE


@pytest.mark.parametrize(("options", "asking"), ASKS)
async def test_a_question_and_its_answer(
    kept: RedisSlot, options: dict[str, Any], asking: int
) -> None:
    """A call goes with its question unless somebody's code runs between; a start is asked for."""
    desk = Desk(kept, CALL, "paid", **options)
    assert await desk.hears(text="pay") == asking
    [request] = [name for event in desk.events for name in event.questions]
    answer = {"id": request, "name": "adk_request_confirmation", "response": {"confirmed": True}}
    assert await desk.hears(function_response=answer) == READ + START + 2 * WRITE
    assert desk.events[-1].parts[0].text == "paid"


async def test_a_session_that_is_given_back_is_free(kept: RedisSlot) -> None:
    """Nobody has it when the last event is heard; somebody has it as long as others follow."""
    desk = Desk(kept, CALL, "paid", tools=[_tool(gate=False)])
    owners: list[str] = []
    body = {"content": {"role": "user", "parts": [{"text": "pay"}]}, "user_id": "ann"}
    await kept.ingest(desk.key, Entry(id="m", body=body))
    async for _ in desk.runner.serve(desk.key, owner="w"):
        view = await kept.read(desk.key, parts=())
        owners.append(view.owner if view else "?")
    assert owners == ["w", "w", ""]
