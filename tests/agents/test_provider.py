"""The rules of a strict provider refuse what they should."""

import pytest
from google.genai import types

from tests.agents.provider import faults
from tests.agents.samples import content


def calls(*names: str, call_id: str | None = None) -> types.Content:
    """A model's calls."""
    made = [types.FunctionCall(id=call_id, name=name, args={}) for name in names]
    return types.Content(role="model", parts=[types.Part(function_call=call) for call in made])


def results(*names: str, call_id: str | None = None) -> types.Content:
    """The responses to them."""
    return content(*(types.FunctionResponse(id=call_id, name=name, response={}) for name in names))


SIGNED = types.Part(text="hm", thought_signature=b"s")


@pytest.mark.parametrize(
    ("contents", "fault"),
    [
        pytest.param([content("hi")], None, id="words"),
        pytest.param([content("hi"), calls("a", "b"), results("a", "b")], None, id="a batch"),
        pytest.param(
            [content("hi"), calls("a", call_id="m"), results("a", call_id="m")], None, id="with ids"
        ),
        pytest.param([], "begin", id="nothing"),
        pytest.param([content("hi", role="model")], "begin", id="the model begins"),
        pytest.param([content("hi"), content("yes", role="model")], "end", id="the model ends"),
        pytest.param([content("hi"), calls("a")], "no response", id="no response"),
        pytest.param([content("hi"), calls("a"), content("so?")], "1 calls, 0", id="words instead"),
        pytest.param([content("hi"), calls("a", "b"), results("a")], "2 calls, 1", id="too few"),
        pytest.param([content("hi"), calls("a"), results("a", "a")], "1 calls, 2", id="too many"),
        pytest.param([content("hi"), calls("a", "b"), results("b", "a")], "2 calls, 2", id="order"),
        pytest.param([content("hi"), results("a")], "0 calls, 1", id="no call"),
        pytest.param(
            [content("hi"), calls("a", call_id="x"), results("a", call_id="x")], "never", id="an id"
        ),
        pytest.param(
            [content("hi"), calls("adk_request_confirmation"), results("adk_request_confirmation")],
            "confirmation",
            id="a confirmation",
        ),
        pytest.param([content("hi"), content()], "no parts", id="no parts"),
        pytest.param([content("hi", types.Part())], "empty", id="an empty part"),
        pytest.param([content("hi", SIGNED)], "signature", id="a signature"),
        pytest.param(
            [content("hi"), content(types.Part(function_call=types.FunctionCall(name="a")))],
            "role",
            id="a call of the user",
        ),
    ],
)
def test_faults(contents, fault):
    """A fault is found, and a sound conversation has none."""
    found = faults(contents, ids={"m"}, signed=set())
    assert (not found) if fault is None else any(fault in each for each in found), found
