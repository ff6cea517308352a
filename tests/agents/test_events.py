"""Events: what is in them, and which are final."""

import pytest
from google.genai import types

from agents import Event
from agents.runtime.events import EventActions
from tests.agents.samples import answered, asks, response, said, spoke


@pytest.mark.parametrize(
    ("event", "final"),
    [
        pytest.param(spoke(text="Hi."), True, id="words"),
        pytest.param(spoke(text="Hi.").model_copy(update={"partial": True}), False, id="a piece"),
        pytest.param(spoke("2-0 pay"), False, id="a call"),
        pytest.param(spoke("2-0 pay", lasting=("2-0",)), True, id="a long-running call"),
        pytest.param(asks("3-0", "2-0 pay"), True, id="a question"),
        pytest.param(answered(response("2-0 pay")), False, id="a result"),
        pytest.param(answered(response("2-0 pay"), quiet=True), True, id="the last word"),
        pytest.param(Event(error_code="SAFETY"), True, id="an error"),
        pytest.param(Event(actions=EventActions(state_delta={"a": 1})), True, id="state alone"),
    ],
)
def test_final(event, final):
    """A final event is the last a client hears until somebody speaks or answers."""
    assert event.is_final_response() == final


def test_an_event():
    """An id is the version; texts leave thoughts out."""
    thought = types.Part(text="hm", thought=True)
    event = Event(content=types.Content(parts=[thought, types.Part(text="Hi.")]))
    assert (event.id, list(event.texts())) == ("", ["Hi."])
    assert said().model_copy(update={"version": 3}).id == "3"
    assert Event().parts == []
