"""Whatever models and people do: nothing runs without its permission, or twice, or is lost."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import (
    Agent,
    AgentTool,
    Entry,
    Event,
    FunctionTool,
    LongRunningFunctionTool,
    Runner,
    SessionKey,
    SessionService,
    StoreUnavailable,
    Story,
    ToolConfirmation,
    ToolContext,
)
from agents.runtime.history import contents
from agents.runtime.messages import accepted
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.testing import call
from tests.agents.provider import StrictModel

KEY = SessionKey("root", "ann", "s")
PERMITTED = ("pay", "ask")


class Bodies:
    """The tools, and what their bodies did: (tool, call, whether a person agreed)."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str, bool]] = []

    def _note(self, name: str, context: ToolContext) -> bool:
        answer = context.tool_confirmation
        agreed = answer is not None and answer.confirmed
        self.ran.append((name, context.function_call_id, agreed))
        return agreed

    async def look(self, n: int, tool_context: ToolContext) -> dict[str, int]:
        """Look something up."""
        self._note("look", tool_context)
        if n == 3:
            raise OSError("no network")
        return {"n": n}

    async def pay(self, n: int, tool_context: ToolContext) -> dict[str, int]:
        """Pay."""
        self._note("pay", tool_context)
        return {"paid": n}

    async def ask(self, n: int, tool_context: ToolContext) -> dict[str, object]:
        """Ask in the middle."""
        if not self._note("ask", tool_context):
            tool_context.request_confirmation(hint="May I?")
            return {"status": "asked"}
        return {"done": n}

    async def ticket(self, n: int, tool_context: ToolContext) -> dict[str, object] | None:
        """Open a ticket."""
        self._note("ticket", tool_context)
        return {"status": "pending"} if n % 2 else None

    def agent(self) -> Agent:
        """A root with all of them, and a nested agent with some."""
        gated = FunctionTool(self.pay, require_confirmation=True)
        helper = Agent(name="helper", tools=[gated, self.ask, self.look])
        lasting = LongRunningFunctionTool(self.ticket)
        return Agent(name="root", tools=[self.look, gated, self.ask, lasting, AgentTool(helper)])


class Cutting(MemorySlot):
    """A store whose answers get lost: what it was asked is done, and the run dies."""

    cutting = False

    async def commit(self, key: Any, commit: Any) -> Any:
        """Commit, and say that nobody knows whether."""
        done = await super().commit(key, commit)
        if self.cutting:
            raise StoreUnavailable("cut")
        return done


calls = st.builds(
    lambda name, n: call(name, request="do it") if name == "helper" else call(name, n=n),
    st.sampled_from(["look", "pay", "pay", "ask", "ticket", "helper", "nobody"]),
    st.integers(0, 3),
)
replies = st.one_of(
    st.sampled_from(["Fine.", "So be it."]),
    st.lists(calls, min_size=1, max_size=3),
)
moves = st.tuples(
    st.sampled_from(["say", "say", "yes", "yes", "no", "news", "progress"]), st.integers(0, 5)
)


@dataclass
class Play:
    """One session, played move by move.

    With `cut` every run dies after every commit; with `kept` one Runner serves all of them.
    """

    script: list[Any]
    cut: bool = False
    kept: bool = False
    bodies: Bodies = field(default_factory=Bodies)
    slot: Cutting = field(default_factory=Cutting)

    def __post_init__(self) -> None:
        self.model = StrictModel(list(self.script))
        self.agent = self.bodies.agent()
        self.helper = self.agent.nested("helper")
        self.numbers = count()
        self.runner = self._runner()
        self.slot.cutting = self.cut

    async def play(self, moves: list[tuple[str, int]]) -> list[Event]:
        """Make the moves; the stored events."""
        service = SessionService(self.slot)
        await service.create_session(app_name="root", user_id="ann", session_id="s")
        await self._put(types.Part(text="go"))
        for kind, number in moves:
            part = self._move(kind, number, Story(await self._events()))
            if part is not None:
                await self._put(part)
        return await self._events()

    async def _events(self) -> list[Event]:
        view = await self.slot.read(KEY)
        return list(view.events) if view else []

    def _move(self, kind: str, number: int, story: Story) -> types.Part | None:
        if kind == "say":
            return types.Part(text="and?")
        if kind in ("yes", "no"):
            asked = [c.request for c in story.calls.values() if c.request]
            if not asked:
                return None
            answer = ToolConfirmation(confirmed=kind == "yes")
            return answer.response(asked[number % len(asked)] or "")
        lasting = [c for c in story.calls.values() if c.long_running and c.status != "new"]
        if not lasting:
            return None
        told = lasting[number % len(lasting)]
        response = types.FunctionResponse(
            id=told.id, name=told.name, response={"n": number}, will_continue=kind == "progress"
        )
        return types.Part(function_response=response)

    async def _put(self, part: types.Part) -> None:
        message = accepted(types.Content(role="user", parts=[part]), Story(await self._events()))
        body = {"content": message.model_dump(mode="json", exclude_none=True), "user_id": "ann"}
        await self.slot.ingest(KEY, Entry(id=f"e{next(self.numbers)}", body=body))
        while not await self._served():
            pass

    def _runner(self) -> Runner:
        service = SessionService(self.slot)
        return Runner(agent=self.agent, session_service=service, models=self.model)

    async def _served(self) -> bool:
        runner = self.runner if self.kept else self._runner()
        try:
            async for _ in runner.serve(KEY, owner="worker"):
                pass
        except StoreUnavailable:
            return False
        return True


def plain(event: Event) -> dict[str, Any]:
    """An event without its time."""
    return event.model_dump(mode="json", exclude={"timestamp"}, exclude_none=True)


@settings(max_examples=60)
@given(script=st.lists(replies, max_size=10), made=st.lists(moves, max_size=8))
def test_nothing_runs_without_permission_or_twice(script, made):
    """Each body starts once for each permission, after it, and only what was agreed to."""
    play = Play(script)
    events = asyncio.run(play.play(made))
    story = Story(events)
    ran = Counter(play.bodies.ran)
    assert all(times == 1 for times in ran.values()), ran
    for name, cid, agreed in play.bodies.ran:
        call = story.calls[cid]
        assert agreed or name != "pay"
        assert not agreed or (call.answer and call.answer.confirmed and call.decided_by == "ann")
    assert [event.version for event in events] == list(range(1, len(events) + 1))
    assert not any(event.error_code for event in events)


@settings(max_examples=40)
@given(script=st.lists(replies, max_size=8), made=st.lists(moves, max_size=6))
def test_a_cut_changes_nothing(script, made):
    """A run that dies after every commit and goes on from the stored events does the very same."""
    whole = Play(script, kept=True)
    expected = [plain(event) for event in asyncio.run(whole.play(made))]
    for other in (Play(script, cut=True), Play(script, cut=True, kept=True)):
        found = [plain(event) for event in asyncio.run(other.play(made))]
        assert (found, other.bodies.ran) == (expected, whole.bodies.ran)


@settings(max_examples=40)
@given(script=st.lists(replies, max_size=8), made=st.lists(moves, max_size=6))
def test_reading_on_is_reading_anew(script, made):
    """A story that grows event by event is shown like one that is folded at once."""
    play = Play(script)
    events = asyncio.run(play.play(made))
    grown = Story()
    for at, event in enumerate(events, start=1):
        grown.add(event)
        whole = Story(events[:at])
        for branch in whole.branches:
            for agent in (play.agent, play.helper):
                assert contents(agent, grown, branch=branch) == contents(
                    agent, whole, branch=branch
                )
