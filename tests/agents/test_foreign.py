"""Whatever stops itself in an agent's own code stops neither the turn nor the process."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from google.genai import types

from agents import (
    Agent,
    Event,
    FunctionTool,
    InMemorySessionService,
    LlmRequest,
    LlmResponse,
    Model,
    RunConfig,
    Runner,
)
from agents.runtime.errors import SessionConflict, StoreUnavailable, TurnFailed
from agents.runtime.foreign import contained, ours
from agents.runtime.testing import ScriptedModel, call


class Odd(BaseException):
    """An exception that is no Exception."""


async def _cancelled() -> None:
    task = asyncio.ensure_future(asyncio.sleep(9))
    task.cancel()
    await task


async def _exits() -> None:
    sys.exit("bad path")


async def _closed() -> None:
    raise GeneratorExit


async def _odd() -> None:
    raise Odd("very")


async def _grouped() -> None:
    raise BaseExceptionGroup("several", [Odd("one"), ValueError("two")])


STOPS = [
    pytest.param(_cancelled, "CancelledError", id="waits for what was cancelled"),
    pytest.param(_exits, "SystemExit: bad path", id="sys.exit"),
    pytest.param(_closed, "GeneratorExit", id="GeneratorExit"),
    pytest.param(_odd, "Odd: very", id="a BaseException of its own"),
    pytest.param(_grouped, "BaseExceptionGroup: several (2 sub-exceptions)", id="a group"),
]


def _raises(error: BaseException) -> Callable[..., None]:
    def look() -> None:
        """Look."""
        raise error

    return look


async def _said(agent: Agent, model: Model, **config: Any) -> list[Event]:
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="a", user_id="u", session_id="s")
    runner = Runner(agent=agent, app_name="a", session_service=sessions, models=model)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    run = runner.run_async(
        user_id="u", session_id="s", new_message=message, run_config=RunConfig(**config)
    )
    return [event async for event in run]


def _response(events: list[Event]) -> dict[str, Any]:
    return next(r.response for e in events for r in e.get_function_responses() if r.response)


@pytest.mark.parametrize(("stop", "told"), STOPS)
async def test_a_body_that_stops_itself_is_a_failure_the_model_reads(stop, told) -> None:
    """The run goes on, alone and beside a sibling that is not touched."""

    async def look() -> None:
        """Look."""
        await stop()

    async def fine() -> str:
        """Be fine."""
        return "fine"

    agent = Agent(name="w", tools=[look, fine])
    alone = await _said(agent, ScriptedModel([call("look"), "done"]))
    assert told in _response(alone)["error"]
    assert [*alone[-1].texts()] == ["done"]
    both = await _said(agent, ScriptedModel([[call("look"), call("fine")], "done"]))
    one, other = both[1].get_function_responses()
    assert told in one.response["error"]
    assert other.response == {"result": "fine"}


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), Odd()],
    ids=lambda error: type(error).__name__,
)
async def test_a_plain_function_may_raise_anything_in_its_thread(error: BaseException) -> None:
    """In a thread not even a KeyboardInterrupt is somebody at the keyboard."""
    events = await _said(
        Agent(name="w", tools=[_raises(error)]), ScriptedModel([call("look"), "done"])
    )
    assert type(error).__name__ in _response(events)["error"]


@pytest.mark.parametrize(("stop", "told"), STOPS)
@pytest.mark.parametrize("hook", ["before_tool_callback", "after_tool_callback"])
async def test_a_tool_hook_that_stops_itself_is_a_failure_of_the_tool(hook, stop, told) -> None:
    """The model reads it."""

    async def hooked(**_told: Any) -> None:
        await stop()

    def look() -> str:
        """Look."""
        return "x"

    agent = Agent(name="w", tools=[look], **{hook: hooked})
    events = await _said(agent, ScriptedModel([call("look"), "done"]))
    assert told in _response(events)["error"]


@pytest.mark.parametrize(("stop", "told"), STOPS)
@pytest.mark.parametrize("hook", ["before_model_callback", "after_model_callback"])
async def test_a_model_hook_that_stops_itself_ends_the_turn_with_an_error(hook, stop, told) -> None:
    """The caller of the run gets it as an Exception."""

    async def hooked(**_told: Any) -> None:
        await stop()

    with pytest.raises(RuntimeError) as caught:
        await _said(Agent(name="w", **{hook: hooked}), ScriptedModel(["hello"]))
    assert told in str(caught.value)


@pytest.mark.parametrize(("stop", "told"), STOPS)
async def test_a_model_that_stops_itself_ends_the_turn_with_an_error(stop, told) -> None:
    """The caller of the run gets it as an Exception."""

    class Broken:
        async def generate_content_async(
            self, request: LlmRequest, *, stream: bool = False
        ) -> AsyncIterator[LlmResponse]:
            await stop()
            yield LlmResponse()

    with pytest.raises(RuntimeError) as caught:
        await _said(Agent(name="w"), Broken())
    assert told in str(caught.value)


@pytest.mark.parametrize(("stop", "told"), STOPS)
async def test_a_predicate_that_stops_itself_asks_a_person(stop, told) -> None:
    """Whatever happens in it, nothing runs unasked."""
    ran: list[str] = []

    async def predicate() -> bool:
        await stop()
        return False

    def pay() -> str:
        """Pay."""
        ran.append(told)
        return "paid"

    tool = FunctionTool(pay, require_confirmation=predicate)
    events = await _said(Agent(name="w", tools=[tool]), ScriptedModel([call("pay"), "done"]))
    asked = [c.name for event in events for c in event.get_function_calls()]
    assert asked == ["pay", "adk_request_confirmation"]
    assert not ran


@pytest.mark.parametrize(("stop", "told"), STOPS)
async def test_a_precondition_that_stops_itself_keeps_the_call_from_running(stop, told) -> None:
    """Nobody is asked about what nobody could find out."""

    async def balance() -> int:
        await stop()
        return 1

    def pay() -> str:
        """Pay."""
        return "paid"

    tool = FunctionTool(pay, require_confirmation=True, precondition=balance)
    events = await _said(Agent(name="w", tools=[tool]), ScriptedModel([call("pay"), "done"]))
    assert told in _response(events)["error"]


async def test_the_cancellation_of_this_task_goes_through() -> None:
    """A worker that stops really stops."""
    started = asyncio.Event()

    async def work() -> None:
        with contained():
            started.set()
            await asyncio.sleep(9)

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_ctrl_c_goes_through() -> None:
    """Somebody at the keyboard means the process."""
    with pytest.raises(KeyboardInterrupt), contained():
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        pytest.param(ValueError("1 error\nfor Approval"), TurnFailed, id="what nobody expects"),
        pytest.param(AttributeError("no get"), TurnFailed, id="a fault of this program"),
        pytest.param(SessionConflict("lost"), SessionConflict, id="the session is lost"),
        pytest.param(StoreUnavailable("away"), StoreUnavailable, id="the store is away"),
    ],
)
def test_what_is_ours_is_no_failure_of_a_tool(raised, seen):
    """It is raised as what no tool can raise, with what it was; what is known stays as it is."""
    with pytest.raises(seen, match=str(raised)), ours():
        raise raised
