"""The state that calls share: everything that counts is kept, nothing of what failed."""

import asyncio
import datetime
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.genai import types

from agents import (
    Agent,
    Entry,
    FunctionTool,
    InMemorySessionService,
    Runner,
    SessionKey,
    SessionService,
    ToolContext,
)
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.state import Live, State
from agents.runtime.testing import ScriptedModel, call

Change = Callable[[State], Any]


def _both(stored: dict[str, Any], first: Sequence[Change], second: Sequence[Change]) -> dict:
    """What is live after two calls took turns, one change each at a time."""
    live = Live(stored)
    one, other = State(live), State(live)
    for mine, theirs in zip(first, second, strict=True):
        mine(one)
        theirs(other)
    return State(live).to_dict()


def _held(key: str, change: Callable[[Any], Any]) -> Sequence[Change]:
    """Read a container first, and change it a turn later."""
    kept: list[Any] = []
    return [lambda s: kept.append(s[key]), lambda s: change(kept[0])]


def _nothing(state: State) -> None:
    del state


@pytest.mark.parametrize(
    ("stored", "first", "second", "expected"),
    [
        pytest.param(
            {"l": []},
            [lambda s: s["l"].append("a")],
            [lambda s: s["l"].append("b")],
            {"l": ["a", "b"]},
            id="two append",
        ),
        pytest.param(
            {"l": []},
            _held("l", lambda v: v.append("a")),
            _held("l", lambda v: v.append("b")),
            {"l": ["a", "b"]},
            id="two append to what they had read before",
        ),
        pytest.param(
            {"l": [1, 2, 3]},
            _held("l", lambda v: v.pop(0)),
            _held("l", lambda v: v.append(4)),
            {"l": [2, 3, 4]},
            id="one takes and one gives",
        ),
        pytest.param(
            {"l": [1, 2, 3]},
            [lambda s: s["l"].pop(0)],
            [lambda s: s["l"].pop(0)],
            {"l": [3]},
            id="two take the first",
        ),
        pytest.param(
            {"d": {"n": 0}},
            [lambda s: s["d"].update(n=s["d"]["n"] + 1)],
            [lambda s: s["d"].update(n=s["d"]["n"] + 1)],
            {"d": {"n": 2}},
            id="two count",
        ),
        pytest.param(
            {"d": {}},
            _held("d", lambda v: v.update(a=1)),
            _held("d", lambda v: v.update(b=2)),
            {"d": {"a": 1, "b": 2}},
            id="two keys of a dict",
        ),
        pytest.param(
            {"d": {"x": {"l": [1]}, "y": 1}},
            _held("d", lambda v: v["x"]["l"].append(2)),
            _held("d", lambda v: v.pop("y")),
            {"d": {"x": {"l": [1, 2]}}},
            id="deep inside, and a key that goes",
        ),
        pytest.param(
            {},
            [lambda s: s.setdefault("l", []).append("a")],
            [lambda s: s.setdefault("l", []).append("b")],
            {"l": ["a", "b"]},
            id="one begins the list",
        ),
        pytest.param(
            {"l": [1]},
            [lambda s: s.update(l=["new"])],
            [lambda s: s["l"].append(2)],
            {"l": ["new", 2]},
            id="one sets, one appends to that",
        ),
        pytest.param(
            {"l": [1]},
            [lambda s: s["l"].append(2)],
            [lambda s: s.update(l=["new"])],
            {"l": ["new"]},
            id="setting is setting",
        ),
        pytest.param(
            {"l": [1]},
            [lambda s: s["l"].__setitem__(0, True)],
            [_nothing],
            {"l": [True]},
            id="True is another value than 1",
        ),
        pytest.param(
            {"l": [1], "d": {}},
            _held("d", lambda v: v.update(a=1)),
            [lambda s: s.update(d="text"), _nothing],
            {"l": [1], "d": {"a": 1}},
            id="a container where another has set a text",
        ),
    ],
)
def test_changes_of_several_calls_all_count(stored, first, second, expected) -> None:
    """In whatever order the calls take turns; and what was stored is not touched itself."""
    before = repr(stored)
    found = _both(stored, first, second)
    assert repr(found) == repr(expected)
    assert repr(stored) == before


@pytest.mark.parametrize(
    ("stored", "failing", "beside", "expected"),
    [
        pytest.param({"l": []}, lambda s: s["l"].append("bad"), _nothing, {"l": []}, id="appended"),
        pytest.param(
            {"l": []},
            lambda s: s["l"].append("bad"),
            lambda s: s["l"].append("good"),
            {"l": ["good"]},
            id="appended before another did",
        ),
        pytest.param(
            {"l": [1, 2, 3]},
            lambda s: s["l"].pop(0),
            lambda s: s["l"].pop(0),
            {"l": [1, 3]},
            id="took what another took the next of",
        ),
        pytest.param({}, lambda s: s.update(a=1), _nothing, {}, id="a new key"),
        pytest.param({"a": 0}, lambda s: s.update(a=1), _nothing, {"a": 0}, id="a key set"),
        pytest.param(
            {"a": 0}, lambda s: s.update(a=1), lambda s: s.update(a=2), {"a": 2}, id="set twice"
        ),
        pytest.param({"a": 0}, lambda s: s.pop("a"), _nothing, {"a": 0}, id="a key forgotten"),
        pytest.param(
            {"d": {"x": {}}},
            lambda s: s["d"]["x"].update(bad=1),
            lambda s: s["d"]["x"].update(good=1),
            {"d": {"x": {"good": 1}}},
            id="deep inside",
        ),
    ],
)
def test_nothing_is_left_of_a_call_that_fails(stored, failing, beside, expected) -> None:
    """What others changed meanwhile stays."""
    live = Live(stored)
    one, other = State(live), State(live)
    failing(one)
    beside(other)
    one.forget()
    assert one.delta() == {}
    assert State(live).to_dict() == expected
    assert live.settled(other.delta()) == {
        key: value for key, value in expected.items() if key in other.delta()
    }


def test_threads_may_change_one_container() -> None:
    """Plain functions run in threads, and none of what they append is lost."""
    live = Live({"l": [], "d": {}})

    def work(name: int) -> None:
        state = State(live)
        for at in range(20):
            state["l"].append((name, at))
            state["d"][f"{name}-{at}"] = at

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    found = State(live).to_dict()
    assert len(set(found["l"])) == len(found["l"]) == len(found["d"]) == 80


class Conversation:
    """A session in memory, and what is said to it."""

    def __init__(self, agent: Agent, script: Sequence[Any], state: dict[str, Any]) -> None:
        self.sessions = InMemorySessionService()
        self.where = {"user_id": "u", "session_id": "s"}
        self.runner = Runner(
            agent=agent,
            app_name="a",
            session_service=self.sessions,
            models=ScriptedModel(script),
        )
        self.begun = state

    async def say(self, part: types.Part) -> list[types.FunctionCall]:
        """The requests for confirmation that come of it."""
        if not await self.sessions.get_session(app_name="a", **self.where):
            await self.sessions.create_session(app_name="a", state=self.begun, **self.where)
        message = types.Content(role="user", parts=[part])
        events = [e async for e in self.runner.run_async(new_message=message, **self.where)]
        calls = [c for e in events for c in e.get_function_calls()]
        return [c for c in calls if c.name == "adk_request_confirmation"]

    async def state(self) -> dict[str, Any]:
        """The stored state."""
        return (await self.sessions.get_session(app_name="a", **self.where)).state


GO = types.Part(text="go")


@pytest.mark.parametrize("order", [["slow", "fast"], ["fast", "slow"]], ids=" then ".join)
async def test_parallel_calls_may_append_to_one_list(order) -> None:
    """Whichever ends first, and whichever the model named first."""
    done = asyncio.Event()

    async def slow(tool_context: ToolContext) -> None:
        """Be slow."""
        await done.wait()
        tool_context.state["log"].append("slow")

    async def fast(tool_context: ToolContext) -> None:
        """Be fast."""
        tool_context.state["log"].append("fast")
        done.set()

    agent = Agent(name="w", tools=[slow, fast])
    talk = Conversation(agent, [[call(name) for name in order], "done"], {"log": []})
    await talk.say(GO)
    assert await talk.state() == {"log": ["fast", "slow"]}


@pytest.mark.parametrize("batches", [["bad", "good"], [["bad", "good"]]], ids=["apart", "together"])
async def test_what_a_failing_tool_appended_is_lost(batches) -> None:
    """The tool that appends after it, or beside it, does not store it."""

    async def bad(tool_context: ToolContext) -> None:
        """Be bad."""
        tool_context.state["l"].append("bad")
        tool_context.actions.state_delta["l2"] = "bad"
        raise ValueError("x")

    async def good(tool_context: ToolContext) -> None:
        """Be good."""
        tool_context.state["l"].append("good")

    script = [
        [call(n) for n in names] if isinstance(names, list) else call(names) for names in batches
    ]
    talk = Conversation(Agent(name="w", tools=[bad, good]), [*script, "done"], {"l": []})
    await talk.say(GO)
    assert await talk.state() == {"l": ["good"]}


def _noted(tool: Any, args: dict[str, Any], tool_context: ToolContext) -> None:
    tool_context.state["noted"] = tool_context.state.get("noted", 0) + 1


def _pay(n: int) -> str:
    """Pay."""
    return "ok"


@pytest.mark.parametrize("answer", [None, True, False], ids=["nobody asked", "yes", "no"])
@pytest.mark.parametrize("n", [1, "x"], ids=["right arguments", "wrong arguments"])
async def test_what_a_hook_wrote_before_a_call_is_stored_once(answer, n) -> None:
    """Whether the call runs, is asked about, is refused or cannot run."""
    tool = FunctionTool(_pay, name="pay", require_confirmation=answer is not None)
    agent = Agent(name="w", tools=[tool], before_tool_callback=_noted)
    talk = Conversation(agent, [call("pay", n=n), "done", "done"], {})
    for asked in await talk.say(GO):
        said = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": answer})
        await talk.say(types.Part(function_response=said))
    assert await talk.state() == {"noted": 1}


VALUES = [
    pytest.param(datetime.date(2026, 1, 1), "2026-01-01", id="a date"),
    pytest.param({1, 2}, [1, 2], id="a set"),
    pytest.param(float("nan"), "NaN", id="not a number"),
    pytest.param("half \ud83d", "half ?", id="half an emoji"),
    pytest.param({1: b"x"}, {"1": "data:application/octet-stream;base64,eA=="}, id="bytes"),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
@pytest.mark.parametrize("where", ["state", "actions"])
async def test_what_is_no_json_is_written_down_as_json(where, value, expected) -> None:
    """Wherever a tool or a hook of the model puts it."""

    def put(context: ToolContext, key: str) -> None:
        target = context.state if where == "state" else context.actions.state_delta
        target[key] = value

    def tool(tool_context: ToolContext) -> None:
        """Put."""
        put(tool_context, "by tool")

    def hook(callback_context: ToolContext, llm_request: Any) -> None:
        put(callback_context, "by hook")

    agent = Agent(name="w", tools=[tool], before_model_callback=hook)
    talk = Conversation(agent, [call("tool"), "done"], {})
    await talk.say(GO)
    assert await talk.state() == {"by tool": expected, "by hook": expected}


async def test_actions_that_cannot_be_are_a_failure_where_they_are_set() -> None:
    """The model reads it, and the session goes on."""
    heard: list[str] = []

    def tool(tool_context: ToolContext) -> str:
        """Hand over to a number."""
        try:
            tool_context.actions.transfer_to_agent = 5
        except ValueError as error:
            heard.append(str(error))
            raise
        return "ok"

    talk = Conversation(Agent(name="w", tools=[tool]), [call("tool"), "done"], {})
    await talk.say(GO)
    assert "transfer_to_agent" in heard[0]


async def test_a_batch_that_was_interrupted_goes_on_with_what_its_calls_had_changed() -> None:
    """What an ended body appended is there for its sibling that runs again, and both count."""
    key, slot = SessionKey("a", "u", "s"), MemorySlot()
    hanging, released = asyncio.Event(), asyncio.Event()

    async def slow(tool_context: ToolContext) -> None:
        """Be slow."""
        hanging.set()
        await released.wait()
        tool_context.state["log"].append("slow")

    async def fast(tool_context: ToolContext) -> None:
        """Be fast."""
        tool_context.state["log"].append("fast")

    script = ScriptedModel([[call("slow"), call("fast")], "done"])
    tools = [FunctionTool(each, effects="none") for each in (slow, fast)]
    agent = Agent(name="w", tools=tools, model=script)
    runner = Runner(agent=agent, app_name="a", session_service=SessionService(slot))
    await slot.apply(key, state={"log": []}, create=True)
    await slot.ingest(
        key, Entry(id="e", body={"content": {"role": "user", "parts": [{"text": "go"}]}})
    )

    async def serve() -> None:
        async for _ in runner.serve(key, owner="o"):
            pass

    killed = asyncio.create_task(serve())
    await hanging.wait()
    while not slot._sessions[key].results:  # noqa: ASYNC110 - a store rings no bell
        await asyncio.sleep(0.001)
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    released.set()
    await serve()
    view = await slot.read(key)
    assert view.state == {"log": ["fast", "slow"]}
