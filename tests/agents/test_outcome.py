"""The events that record what came of a batch."""

import pytest
from google.genai import types

from agents import Question, ToolConfirmation
from agents.runtime.events import EventActions
from agents.runtime.outcome import Ask, Outcome, Report, recorded, spoken
from tests.agents.samples import asks, content, said, spoke, story

CALLS = story(said(), spoke("2-0 pay", "2-1 wire", "2-2 work", lasting=("2-2",))).calls


def result(cid: str, **more: object) -> Outcome:
    """A call that was run."""
    actions = EventActions(**more)
    return Outcome(call=CALLS[cid], report=Report(response={"ok": cid}, actions=actions))


def asked(cid: str, *, dynamic: bool = False, superseded=()) -> Outcome:
    """A call a person is asked about."""
    call = CALLS[cid]
    question = Question(call_id=cid, tool=call.name, agent="root", dynamic=dynamic)
    ask = Ask(question=question, args={}, shown=ToolConfirmation(), placeholder={"wait": cid})
    return Outcome(call=call, report=Report(ask=ask), superseded=superseded)


def pending(cid: str) -> Outcome:
    """A call whose result comes later."""
    return Outcome(call=CALLS[cid])


def kinds(outcomes: list[Outcome]) -> list[str]:
    """The events of outcomes in a word each; `!` ends the run."""
    events = recorded(outcomes, version=3, now=1.0)
    assert [event.version for event in events] == list(range(3, 3 + len(events)))
    words = {True: "asks", False: "answers"}
    return [words[bool(e.questions)] + "!" * bool(e.actions.skip_summarization) for e in events]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        pytest.param([result("2-0"), result("2-1")], ["answers"], id="one event for all"),
        pytest.param([asked("2-0")], ["asks", "answers!"], id="asked: the question first"),
        pytest.param([asked("2-0", dynamic=True)], ["asks", "answers"], id="asked by the body"),
        pytest.param([asked("2-0"), asked("2-1")], ["asks", "answers!"], id="one question event"),
        pytest.param([result("2-0"), asked("2-1")], ["answers", "asks"], id="beside a result"),
        pytest.param([pending("2-2"), asked("2-1")], ["asks", "answers!"], id="beside open work"),
        pytest.param([pending("2-2")], ["answers"], id="open work"),
        pytest.param([result("2-0", skip_summarization=True), result("2-1")], ["answers!"], id="!"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_recorded(outcomes, expected):
    """What settled comes before a question, what waits comes after it."""
    assert kinds(outcomes) == expected


def test_the_order_of_responses():
    """Parts stand in the order of the calls, media beside their response."""
    picture = types.Part(inline_data=types.Blob(data=b"p", mime_type="image/png"))
    seen = Outcome(call=CALLS["2-0"], report=Report(response={"ok": 1}, parts=[picture]))
    (event,) = recorded([seen, result("2-1"), pending("2-2")], version=3, now=1.0)
    names = [part.function_response and part.function_response.name for part in event.parts]
    assert (names, event.pending) == (["pay", None, "wire"], ["2-2"])


def test_merged_actions():
    """State is merged in call order, dicts key by key; the last transfer wins."""
    (event,) = recorded(
        [
            result("2-0", state_delta={"a": {"x": {"p": 1}}, "b": [1], "c": 1}),
            result(
                "2-1",
                state_delta={"a": {"x": {"q": 2}, "y": 2}, "b": [2], "c": {"z": 1}},
                transfer_to_agent="peer",
            ),
        ],
        version=3,
        now=1.0,
    )
    merged = {"a": {"x": {"p": 1, "q": 2}, "y": 2}, "b": [2], "c": {"z": 1}}
    assert event.actions.state_delta == merged
    assert event.actions.transfer_to_agent == "peer"


def test_requests_have_ids():
    """Each part of a question event has an id by its place."""
    questions, _ = recorded([asked("2-0"), asked("2-1")], version=7, now=1.0)
    assert list(questions.questions) == ["7-0", "7-1"]
    assert questions.long_running_tool_ids == {"7-0", "7-1"}
    assert [call.id for call in questions.get_function_calls()] == ["7-0", "7-1"]


@pytest.mark.parametrize("branch", [None, "helper@1-0"])
def test_superseded(branch):
    """An older question is answered first, without waking anybody but a nested agent's model."""
    older = story(said(), spoke("2-0 pay", branch=branch), asks("3-0", "2-0 pay")).calls["2-0"]
    closing, *_ = recorded([asked("2-1", superseded=[older])], version=5, now=1.0)
    (told,) = closing.get_function_responses()
    assert (told.id, told.response["outcome"], closing.branch) == ("2-0", "cancelled", branch)
    assert bool(closing.actions.skip_summarization) == (branch is None)


def test_spoken():
    """A model's calls get our ids; its own are kept beside them."""
    call = types.Part(function_call=types.FunctionCall(id="m", name="pay"))
    bare = types.Part(function_call=types.FunctionCall(name="pay"))
    told, model_ids = spoken(content("hm", call, bare, role="model"), version=4)
    assert [part.function_call.id for part in told.parts[1:]] == ["4-1", "4-2"]
    assert model_ids == {"4-1": "m"}
    assert call.function_call.id == "m"
