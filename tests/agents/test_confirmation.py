"""Questions and answers: what may run, and what an answer looks like."""

import json

import pytest
from google.genai import types

from agents import AnswerError, ToolConfirmation
from agents.runtime.confirmation import read_answer, rejection, verdict
from agents.runtime.outcome import request_part

YES, NO = ToolConfirmation(confirmed=True), ToolConfirmation(confirmed=False)


@pytest.mark.parametrize(
    ("needed", "answer", "expected"),
    [
        (False, None, "run"),
        (True, None, "ask"),
        (True, YES, "run"),
        (True, NO, "reject"),
        (False, NO, "reject"),
        (False, YES, "run"),
    ],
)
def test_verdict(needed, answer, expected):
    """An answer decides, whatever the gate says now."""
    assert verdict(needed=needed, answer=answer) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param({"confirmed": True}, YES, id="yes"),
        pytest.param({"confirmed": "false"}, ToolConfirmation(outcome="rejected"), id="a text"),
        pytest.param(None, ToolConfirmation(outcome="rejected"), id="nothing"),
        pytest.param({"response": json.dumps({"confirmed": True})}, YES, id="wrapped"),
        pytest.param(
            {"confirmed": False, "outcome": "expired", "reason": "late"},
            ToolConfirmation(outcome="expired", reason="late"),
            id="expired",
        ),
    ],
)
def test_read_answer(response, expected):
    """An answer is read in each of its forms."""
    assert read_answer(response) == expected


@pytest.mark.parametrize(
    ("response", "error"),
    [
        pytest.param({"response": "{"}, "not JSON", id="no JSON"),
        pytest.param({"response": "[1]"}, "must be an object", id="no object"),
        pytest.param({"confirmed": "perhaps"}, "malformed: confirmed", id="no yes or no"),
        pytest.param({"outcome": "eaten"}, "malformed: outcome", id="no outcome"),
        *(
            pytest.param(
                {"confirmed": True, "outcome": outcome}, f"or {outcome}, not both", id=outcome
            )
            for outcome in ("rejected", "expired", "cancelled", "happened")
        ),
        pytest.param(
            {"response": json.dumps({"confirmed": True, "outcome": "rejected"})},
            "not both",
            id="yes and no, wrapped",
        ),
    ],
)
def test_a_malformed_answer(response, error):
    """What is wrong is named."""
    with pytest.raises(AnswerError, match=error):
        read_answer(response)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(ToolConfirmation(outcome="rejected", reason="no!"), "rejected", id="no"),
        pytest.param(ToolConfirmation(outcome="expired"), "in time", id="late"),
        pytest.param(ToolConfirmation(outcome="cancelled"), "withdrawn", id="withdrawn"),
        pytest.param(NO, "rejected", id="without an outcome"),
    ],
)
def test_rejection(answer, words):
    """The model reads what happened, and the person's own words."""
    told = rejection(answer, tool="pay")
    assert words in told["error"]
    assert (told["outcome"], told.get("reason")) == (answer.outcome or "rejected", answer.reason)


def test_the_wire():
    """A question is a call, its answer a response with the same id that repeats no hint."""
    call = types.FunctionCall(id="2-0", name="pay", args={"amount": 5})
    asked = request_part("3-0", call=call, question=ToolConfirmation(hint="?", payload={"n": 0}))
    assert asked.function_call.args == {
        "originalFunctionCall": {"id": "2-0", "name": "pay", "args": {"amount": 5}},
        "toolConfirmation": {"hint": "?", "confirmed": False, "payload": {"n": 0}},
    }
    answer = ToolConfirmation(hint="?", confirmed=True).response("3-0").function_response
    assert (answer.id, answer.response) == ("3-0", {"confirmed": True})
