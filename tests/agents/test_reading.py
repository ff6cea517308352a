"""Several callers of one session: each hears its own turn, its own error, and no more than it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from google.genai import types

from agents import (
    Agent,
    Entry,
    FunctionTool,
    LlmRequest,
    LlmResponse,
    ModelUnavailable,
    RunConfig,
    Runner,
    SessionKey,
    SessionService,
)
from agents.runtime.testing import ScriptedModel, call

KEY = SessionKey("a", "u", "s")
QUICK = RunConfig(max_retries=0)


class Slow:
    """A model that takes a moment, so that the callers meet."""

    def __init__(self, script: Sequence[Any]) -> None:
        self.script = ScriptedModel(script)
        self.asked = asyncio.Event()

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer by and by."""
        self.asked.set()
        await asyncio.sleep(0.02)
        async for response in self.script.generate_content_async(request, stream=stream):
            yield response


def runner(
    service: SessionService, model: Slow, *, tools: Sequence[Any] = (), **more: Any
) -> Runner:
    """A Runner on the service."""
    agent = Agent(name="w", tools=tools)
    return Runner(agent=agent, app_name="a", session_service=service, models=model, **more)


async def heard(at: Runner, text: str, config: RunConfig | None = None) -> list[str] | str:
    """The texts and errors a caller hears, or what is raised to it at the end."""
    message = types.Content(role="user", parts=[types.Part(text=text)])
    said: list[str] = []
    try:
        async for event in at.run_async(
            user_id="u", session_id="s", new_message=message, run_config=config
        ):
            said += [event.error_code] if event.error_code else event.texts()
    except Exception as error:  # noqa: BLE001 - the table says what it is
        return f"{said[-1:]} raised {type(error).__name__}"
    return said


def boom() -> str:
    """Break."""
    raise OSError("boom")


CASES = [
    pytest.param(["to a", "to b"], [{}, {}], (["to a"], ["to b"]), id="two answers"),
    pytest.param(
        ["to a", RuntimeError("x")],
        [{}, {}],
        (["to a"], "['RuntimeError'] raised RuntimeError"),
        id="the second one's model breaks",
    ),
    pytest.param(
        [RuntimeError("x"), "to b"],
        [{}, {}],
        ("['RuntimeError'] raised RuntimeError", ["to b"]),
        id="the first one's model breaks",
    ),
    pytest.param(
        ["to a", "to b"],
        [{"max_llm_calls": 1}, {}],
        (["to a"], ["to b"]),
        id="a limit for the first",
    ),
    pytest.param(
        ["to a", call("boom"), "to b"],
        [{}, {"max_llm_calls": 1}],
        (["to a"], "['LlmCallsLimitExceededError'] raised LlmCallsLimitExceededError"),
        id="a limit for the second",
    ),
    pytest.param(
        ["to a", call("boom")],
        [{}, {"raise_tool_errors": True}],
        (["to a"], "[] raised OSError"),
        id="the second one wants to hear of tools that break",
    ),
    pytest.param(
        [call("boom"), "to a", "to b"],
        [{"raise_tool_errors": True}, {}],
        ("[] raised OSError", ["to b"]),
        id="the first one wants to hear of tools that break",
    ),
]


@pytest.mark.parametrize("apart", [False, True], ids=["one Runner", "two Runners"])
@pytest.mark.parametrize(("script", "limits", "expected"), CASES)
async def test_each_caller_hears_its_own(
    service: SessionService, script, limits, expected, apart
) -> None:
    """Answers, errors and limits, in one process or in two."""
    model = Slow(script)
    await service.create_session(app_name="a", user_id="u", session_id="s")
    here = runner(service, model, tools=[boom])
    there = runner(service, model, tools=[boom]) if apart else here
    config = [RunConfig(max_retries=0, **given) for given in limits]
    a = asyncio.create_task(heard(here, "a", config[0]))
    await model.asked.wait()
    b = await heard(there, "b", config[1])
    assert (await a, b) == expected


async def test_a_model_that_is_away_is_told_to_whose_turn_it_is(service: SessionService) -> None:
    """The caller behind it tries on until that turn is given up, and then has its own answer."""
    model = Slow([ModelUnavailable("away")] * 2 + ["to b"])
    await service.create_session(app_name="a", user_id="u", session_id="s")
    at = runner(service, model, max_attempts=2)
    a = asyncio.create_task(heard(at, "a", QUICK))
    await model.asked.wait()
    b = await heard(at, "b", QUICK)
    assert (await a, b) == ("[] raised ModelUnavailable", ["to b"])


async def test_what_another_process_began_is_heard_from_its_beginning(
    service: SessionService,
) -> None:
    """One took the message and died; who goes on with it tells its caller all of the turn."""
    gone = asyncio.Event()

    async def look(n: int) -> int:
        """Look."""
        if n == 2 and not gone.is_set():
            gone.set()
            await asyncio.sleep(9)
        return n

    await service.create_session(app_name="a", user_id="u", session_id="s")
    model = Slow([call("look", n=1), call("look", n=2), "done"])
    tools = [FunctionTool(look, effects="none")]
    here = runner(service, model, tools=tools, new_id=lambda: "mine")
    there = runner(service, model, tools=tools)

    async def serve() -> None:
        async for _ in there.serve(KEY, owner="there"):
            pass

    said = {"role": "user", "parts": [{"text": "go"}]}
    await service.slot.ingest(KEY, Entry(id="mine", body={"content": said}))
    other = asyncio.create_task(serve())
    await gone.wait()
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)
    message = types.Content.model_validate(said)
    run = here.run_async(user_id="u", session_id="s", new_message=message)
    events = [event async for event in run]
    assert [event.version for event in events] == [2, 3, 4, 5, 6]
    assert [*events[-1].texts()] == ["done"]


async def test_a_run_leaves_what_is_behind_its_message_to_whoever_put_it(
    service: SessionService,
) -> None:
    """A caller waits for its own turn and those before it, not for others'."""
    await service.create_session(app_name="a", user_id="u", session_id="s")
    at = runner(service, Slow(["to the one before", "to me", "to the one behind"]))
    before, behind = (
        Entry(id=name, body={"content": {"role": "user", "parts": [{"text": name}]}})
        for name in ("before", "behind")
    )
    await service.slot.ingest(KEY, before)
    mine = asyncio.create_task(heard(at, "mine"))
    await at._models[id(at.agent)].asked.wait()
    await service.slot.ingest(KEY, behind)
    assert await mine == ["to me"]
    rest = at.run_async(user_id="u", session_id="s")
    assert [[*e.texts()] async for e in rest] == [["to the one behind"]]
