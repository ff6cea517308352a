"""Windows: what a model reads of a long session, and the summary of the rest."""

from collections.abc import AsyncIterator, Sequence
from itertools import count

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import (
    Agent,
    Event,
    InMemorySessionService,
    LlmRequest,
    LlmResponse,
    LongRunningFunctionTool,
    ModelUnavailable,
    RunConfig,
    Runner,
    Story,
)
from agents.runtime.compaction import EVENTS, INSTRUCTION, SO_FAR, due, readable, transcript, weight
from agents.runtime.events import Compaction, EventActions
from agents.runtime.gemini import wire
from agents.runtime.history import contents
from agents.runtime.testing import ScriptedModel, call
from tests.agents.gemini.strict import Json, refused

LONG = "x" * 400
"""A text of 101 tokens."""


def said(version: int, text: str = LONG) -> Event:
    """A person's words, which begin an invocation."""
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(version=version, invocation_id=f"inv-{version}", author="user", content=content)


def told(version: int, of: int, *parts: types.Part) -> Event:
    """The agent's part in the invocation that began at `of`."""
    content = types.Content(role="model", parts=list(parts) or [types.Part(text=LONG)])
    return Event(version=version, invocation_id=f"inv-{of}", author="root", content=content)


def asks(version: int, of: int) -> Event:
    """A call of the agent."""
    made = types.FunctionCall(id=f"{version}-0", name="look", args={})
    return told(version, of, types.Part(function_call=made))


def answers(version: int, of: int, cid: str) -> Event:
    """The response to a call."""
    response = types.FunctionResponse(id=cid, name="look", response={"result": LONG})
    content = types.Content(role="user", parts=[types.Part(function_response=response)])
    return Event(version=version, invocation_id=f"inv-{of}", author="root", content=content)


def compacted(version: int, of: int, until: int) -> Event:
    """A summary of all before a version."""
    actions = EventActions(compaction=Compaction(until=until, summary="They met."))
    return Event(version=version, invocation_id=f"inv-{of}", author="root", actions=actions)


TALK = [said(1), told(2, 1), said(3), told(4, 3), said(5), told(6, 5), said(7)]
OPEN = [said(1), asks(2, 1), said(3), told(4, 3), said(5), told(6, 5), said(7)]
CLOSED = [said(1), asks(2, 1), answers(3, 1, "2-0"), told(4, 1), said(5), told(6, 5), said(7)]
ACROSS = [said(1), asks(2, 1), said(3), told(4, 3), said(5), answers(6, 1, "2-0"), said(7)]


@pytest.mark.parametrize(
    ("events", "window", "kept"),
    [
        pytest.param(TALK, 0, [1, 2, 3, 4, 5, 6, 7], id="no window"),
        pytest.param(TALK, 1000, [1, 2, 3, 4, 5, 6, 7], id="all of it fits"),
        pytest.param(TALK, 550, [3, 4, 5, 6, 7], id="cut where a turn starts"),
        pytest.param(TALK, 450, [5, 6, 7], id="never in the middle of a turn"),
        pytest.param(TALK, 10, [7], id="the last turn stays whatever it weighs"),
        pytest.param(OPEN, 320, [1, 2, 5, 6, 7], id="a turn with an open call stays"),
        pytest.param(CLOSED, 320, [5, 6, 7], id="a turn whose calls are closed goes"),
        pytest.param(ACROSS, 320, [1, 2, 5, 6, 7], id="a turn that goes on in the window stays"),
        pytest.param([*TALK, compacted(8, 7, 5)], 1000, [5, 6, 7, 8], id="after a summary"),
        pytest.param([*TALK, compacted(8, 7, 5)], 150, [7, 8], id="a window after a summary"),
        pytest.param(
            [*OPEN, compacted(8, 7, 5)], 1000, [1, 2, 5, 6, 7, 8], id="an open call before it"
        ),
    ],
)
def test_what_is_read(events: list[Event], window: int, kept: list[int]):
    """The newest turns that fit, whole, and older ones that are not over."""
    story = Story(events)
    assert [e.version for e in readable(story, story.branch(None), window=window)] == kept


@pytest.mark.parametrize(
    ("events", "window", "until"),
    [
        pytest.param([], 100, None, id="nothing"),
        pytest.param(TALK, 1000, None, id="all of it fits"),
        pytest.param(TALK, 650, 5, id="half the window is kept"),
        pytest.param(TALK, 10, 7, id="at least the last turn"),
        pytest.param([said(1), *[told(n, 1) for n in range(2, 9)]], 10, None, id="one turn"),
        pytest.param([*TALK, compacted(8, 7, 5)], 650, None, id="just summed up"),
        pytest.param([*TALK, compacted(8, 7, 5)], 250, 7, id="to sum up again"),
        pytest.param([*TALK, compacted(8, 7, 7)], 10, None, id="nothing left to sum up"),
        pytest.param(
            [said(n, "hi") for n in range(1, EVENTS + 3)], 10_000, 52, id="many small events"
        ),
    ],
)
def test_when_a_summary_is_due(events: list[Event], window: int, until: int | None):
    """When what is read has outgrown the window: up to a turn start, always further than before."""
    assert due(Story(events).branch(None), window=window) == until


def test_weights_are_about_tokens():
    """Four bytes a token, and something for what is no text."""
    image = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    assert [weight(e) for e in (said(1), said(1, "日本語" * 100), asks(1, 1))] == [101, 226, 8]
    assert weight(told(1, 1, image)) == 258


def test_a_summary_stands_before_what_is_read():
    """The model reads the summary as what a user told it, then the turns since."""
    story = Story([*TALK, compacted(8, 7, 7)])
    read = contents(Agent(name="root"), story, window=1000)
    assert [c.parts[0].text for c in read] == [f"{SO_FAR}They met.", LONG]
    assert [c.role for c in read] == ["user", "user"]


def test_a_summary_says_nothing_to_a_person():
    """It wakes no model, ends no turn and is no answer."""
    before, after = Story(TALK), Story([*TALK, compacted(8, 7, 5)])
    assert (before.wakes(None), after.wakes(None)) == (True, True)
    assert before.branch(None).floor == after.branch(None).floor
    assert list(after.events[-1].texts()) == []


def test_a_blocked_turn_is_not_read_again():
    """What a provider would not read is left out, with all of its turn, unless a call is open."""
    blocked = Event(version=4, invocation_id="inv-3", author="root", error_code="PROMPT_BLOCKED")
    story = Story([said(1), told(2, 1), said(3), blocked, said(5)])
    assert [e.version for e in readable(story, story.branch(None), window=0)] == [1, 2, 5]
    story = Story([said(1), told(2, 1), said(3), asks(4, 3), *[blocked], said(5)])
    assert len(readable(story, story.branch(None), window=0)) == 6


def test_a_transcript_has_no_calls():
    """Words, calls and results as lines of text; thoughts are left out."""
    thought = types.Part(text="hm", thought=True)
    made = types.Part(function_call=types.FunctionCall(name="pay", args={"amount": 5}))
    got = types.Part(function_response=types.FunctionResponse(name="pay", response={"ok": True}))
    lines = transcript(
        [
            types.Content(role="user", parts=[types.Part(text="Pay.")]),
            types.Content(role="model", parts=[thought, made]),
            types.Content(role="user", parts=[got]),
        ]
    )
    assert lines == 'user: Pay.\ncall of pay: {"amount": 5}\nresult of pay: {"ok": true}'


async def say(runner: Runner, text: str, config: RunConfig) -> list[str]:
    """What a person hears of a turn."""
    message = types.Content(role="user", parts=[types.Part(text=text)])
    run = runner.run_async(user_id="u", session_id="s", new_message=message, run_config=config)
    return [text async for event in run for text in event.texts()]


def desk(model: object) -> Runner:
    """An agent that only talks."""
    return Runner(agent=Agent(name="root", model=model), auto_create_session=True)


async def test_an_agent_that_reads_one_turn_needs_no_summary():
    """It reads the last turn whatever was before, so nothing is summed up for it."""
    model = ScriptedModel(["One.", "Two.", "Three."])
    agent = Agent(name="root", model=model, include_contents="none")
    runner = Runner(agent=agent, auto_create_session=True)
    for n in range(3):
        await say(runner, f"{n} {LONG}", RunConfig(window=50))
    assert [len(request.contents) for request in model.requests] == [1, 1, 1]


async def test_a_long_session_is_summed_up():
    """The summary is an event of its own, the events stay, and nobody hears of it."""
    model = ScriptedModel(["One.", "Two.", "They met.", "Three.", "Four."])
    runner, config = desk(model), RunConfig(window=250)
    heard = [await say(runner, f"{n} {LONG}", config) for n in range(4)]
    assert heard == [["One."], ["Two."], ["Three."], ["Four."]]
    session = await runner.session_service.get_session(app_name="root", user_id="u", session_id="s")
    [summary] = [e.actions.compaction for e in session.events if e.actions.compaction]
    assert (summary.summary, summary.until) == ("They met.", 5)
    assert len(session.events) == 9
    asked = model.requests[2]
    assert (asked.system_instruction, list(asked.tools)) == (INSTRUCTION, [])
    assert asked.contents[0].parts[0].text.startswith("user: 0 xxx")
    assert [c.parts[0].text[:8] for c in model.requests[3].contents] == [
        SO_FAR[:8],
        f"2 {LONG}"[:8],
    ]


@pytest.mark.parametrize(
    "failure",
    [ModelUnavailable("down", retry_after=60), LlmResponse(error_code="SAFETY"), "  "],
    ids=["unavailable", "refused", "blank"],
)
async def test_a_summary_that_fails_is_done_without(failure: object):
    """The turn goes on in the window; the next one tries again."""
    model = ScriptedModel(["One.", "Two.", failure, "Three.", "They met.", "Four."])
    runner, config = desk(model), RunConfig(window=250)
    heard = [await say(runner, f"{n} {LONG}", config) for n in range(4)]
    assert heard == [["One."], ["Two."], ["Three."], ["Four."]]
    assert [len(request.contents) for request in model.requests] == [1, 3, 1, 3, 1, 2]


def piece(text: str, *, partial: bool = False) -> LlmResponse:
    """Something a model says."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial)


class Odd:
    """A model that answers the request for a summary in a way of its own."""

    def __init__(self, *answers: LlmResponse | Exception) -> None:
        """Know what it says instead of a summary."""
        self.answers = answers

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """One word, or what it says for a summary."""
        del stream
        asks = request.system_instruction == INSTRUCTION
        for answer in self.answers if asks else (piece("Well."),):
            if isinstance(answer, Exception):
                raise answer
            yield answer


@pytest.mark.parametrize(
    ("answers", "summary"),
    [
        pytest.param((), None, id="nothing"),
        pytest.param((piece("Th", partial=True), piece("They met.")), "They met.", id="in pieces"),
        pytest.param((piece("Th", partial=True),), None, id="a piece alone"),
        pytest.param((piece("No."), piece("They met.")), "They met.", id="twice"),
        pytest.param((RuntimeError("no"),), None, id="it fails"),
        pytest.param((piece("Th", partial=True), KeyError("x")), None, id="it fails halfway"),
    ],
)
async def test_no_turn_ends_for_want_of_a_summary(
    answers: tuple[LlmResponse | Exception, ...], summary: str | None
):
    """However a model fails at it, people are answered."""
    runner, config = desk(Odd(*answers)), RunConfig(window=250)
    heard = [await say(runner, f"{n} {LONG}", config) for n in range(4)]
    assert heard == [["Well."]] * 4
    session = await runner.session_service.get_session(app_name="root", user_id="u", session_id="s")
    made = {e.actions.compaction.summary for e in session.events if e.actions.compaction}
    assert made == ({summary} if summary else set())


class Minutes:
    """A model that numbers its summaries and notes how each conversation began."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.summaries = 0
        self.began: list[str] = []

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """A summary where one is asked for, else a word."""
        del stream
        text = "Well."
        if request.system_instruction == INSTRUCTION:
            self.summaries += 1
            text = f"Summary {self.summaries}."
        else:
            self.began.append(request.contents[0].parts[0].text)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


@pytest.mark.parametrize(
    ("words", "window", "summaries"),
    [
        pytest.param("Go on.", 8_000, 8, id="many small events"),
        pytest.param("Go on! " * 150, 8_000, 13, id="few large ones"),
    ],
)
async def test_a_summary_is_always_within_reach(words: str, window: int, summaries: int):
    """However long a session grows, a process that never saw it reads the newest summary."""
    model, service = Minutes(), InMemorySessionService()
    for _ in range(230):
        runner = Runner(
            agent=Agent(name="root", model=model),
            session_service=service,
            auto_create_session=True,
        )
        assert await say(runner, words, RunConfig(window=window)) == ["Well."]
        expected = f"{SO_FAR}Summary {model.summaries}." if model.summaries else words
        assert model.began[-1] == expected
    assert model.summaries == summaries


class Signing:
    """A model that signs its calls, answers from a script, and reads as Gemini does."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.script: list[list[types.Part]] = []
        self.signed: dict[bytes, Json] = {}
        self.numbers = count()

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """The next reply; whatever is asked must be in order."""
        del stream
        assert refused(wire.body(request), self.signed) is None
        parts = self.script.pop(0) if self.script and request.tools else [types.Part(text="Well.")]
        yield LlmResponse(content=types.Content(role="model", parts=[*self._signed(parts)]))

    def _signed(self, parts: Sequence[types.Part]) -> Sequence[types.Part]:
        place = next((n for n, p in enumerate(parts) if p.function_call), None)
        if place is None:
            return parts
        first = parts[place]
        signature = f"signed {next(self.numbers)}".encode()
        wanted = first.function_call.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.signed[signature] = wanted
        signed = first.model_copy(update={"thought_signature": signature})
        return [*parts[:place], signed, *parts[place + 1 :]]


def look() -> str:
    """Look something up."""
    return LONG


def wait() -> None:
    """Begin something that takes days."""


REPLY = st.lists(
    st.sampled_from([types.Part(text=LONG), call("look"), call("wait"), call("nobody")]),
    min_size=1,
    max_size=4,
)
TURN = st.one_of(st.lists(REPLY, max_size=3), st.just("news"), st.just("progress"))


@settings(max_examples=60)
@given(turns=st.lists(TURN, min_size=1, max_size=8), window=st.sampled_from([0, 60, 300, 900]))
async def test_any_window_of_any_session_is_in_order(turns: list[object], window: int):
    """Calls, late results and talk in any order: every request is one that Gemini takes."""
    model = Signing()
    agent = Agent(name="root", model=model, tools=[look, LongRunningFunctionTool(wait)])
    service = InMemorySessionService()
    runner = Runner(agent=agent, session_service=service, auto_create_session=True)
    config = RunConfig(window=window)
    for turn in turns:
        session = await service.get_session(app_name="root", user_id="u", session_id="s")
        open_calls = [*Story(session.events).open.values()] if session else []
        if isinstance(turn, list) or not open_calls:
            model.script = list(turn) if isinstance(turn, list) else []
            await say(runner, LONG, config)
            continue
        response = types.FunctionResponse(
            id=open_calls[0].id,
            name="wait",
            response={"done": LONG},
            will_continue=turn == "progress" or None,
        )
        message = types.Content(role="user", parts=[types.Part(function_response=response)])
        run = runner.run_async(user_id="u", session_id="s", new_message=message, run_config=config)
        assert not [event.error_code async for event in run if event.error_code]
