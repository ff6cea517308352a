"""The state as a call sees it."""

import pytest

from agents import ToolContext
from agents.runtime.state import Live, State


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda s: None, {}, id="nothing"),
        pytest.param(lambda s: s.update(b=2), {"b": 2}, id="a new key"),
        pytest.param(lambda s: s["list"].append(2), {"list": [1, 2]}, id="a list in place"),
        pytest.param(lambda s: s["dict"].update(y=2), {"dict": {"x": 1, "y": 2}}, id="a dict"),
        pytest.param(lambda s: s["list"], {}, id="read only"),
        pytest.param(lambda s: s.pop("a"), {"a": None}, id="forgotten"),
        pytest.param(lambda s: s.setdefault("a", 5), {}, id="there already"),
    ],
)
def test_a_change_is_noticed(change, expected):
    """What was written, or changed in place, is the delta; the rest is not."""
    state = State({"a": 1, "list": [1], "dict": {"x": 1}})
    change(state)
    assert state.delta() == expected


def test_a_view():
    """A state is a mapping; its dict is a copy, and calls beside each other share what is live."""
    live = Live({"a": [1]})
    state, beside = State(live), State(live)
    state["b"] = 2
    assert (dict(beside), len(beside), "b" in beside) == ({"a": [1], "b": 2}, 2, True)
    state.to_dict()["a"].append(9)
    assert state["a"] == [1]
    assert beside.delta() == {}
    assert len(State()) == 0


def test_asking():
    """The newest question of a body counts."""
    context = ToolContext()
    context.request_confirmation(hint="once")
    context.request_confirmation(hint="twice", payload={"n": 0})
    assert (context.request.hint, context.request.payload) == ("twice", {"n": 0})
