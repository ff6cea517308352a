"""What a call brought, in words on its card: nothing is said of what is not there."""

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from agents import Event
from bot.slack import blocks
from bot.slack.validate import message_problems
from tests.bot.slack.samples import NOW
from tests.bot.slack.test_blocks import closed, shown

TOKEN = "xoxb-" + "123456789012"


def told(response: Any, **given: Any) -> str:
    """What is told of a response to the call of an approval."""
    answer = types.FunctionResponse(id="2-0", name="reimburse", response=response)
    content = types.Content(role="user", parts=[types.Part(function_response=answer)])
    return blocks.brought([Event(content=content)], closed("done", **given))


@pytest.mark.parametrize(
    ("response", "words"),
    [
        pytest.param({"hotel": "Ritz", "note": None}, "Hotel: Ritz", id="nothing beside a text"),
        pytest.param({"hotel": "Ritz", "note": " "}, "Hotel: Ritz", id="an empty text"),
        pytest.param({"result": None}, "", id="a function without a result"),
        pytest.param({"note": None, "also": ""}, "", id="only nothing"),
        pytest.param({}, "", id="an empty result"),
        pytest.param({"lines": []}, "Lines: none", id="an empty list"),
        pytest.param({"found": {}}, "Found: none", id="an empty object"),
        pytest.param({"lines": [None, None]}, "", id="a list of nothing"),
        pytest.param({"a": {"b": {"c": None}}}, "", id="nothing, deep inside"),
        pytest.param({"lines": ["a", None]}, "Lines: a and nothing", id="nothing in a list"),
        pytest.param({"lines": ["a", "b", 3]}, "Lines: a, b and 3", id="a list"),
        pytest.param(
            {"order": {"unit_price": 5.0, "note": None}}, "Order: (unit price: 5)", id="an object"
        ),
        pytest.param(
            {"lines": [{"sku": "x", "n": 1}, {"sku": "y", "n": None}]},
            "Lines: (sku: x, n: 1) and (sku: y)",
            id="objects in a list",
        ),
        pytest.param({"lines": [[1, 2], []]}, "Lines: 1 and 2 and none", id="lists in a list"),
        pytest.param({"paid": True, "late": False}, "Paid: Yes, Late: No", id="yes and no"),
        pytest.param({"result": True}, "Yes", id="a bare yes"),
        pytest.param({"result": "paid"}, "paid", id="a bare text"),
        pytest.param({"result": [1.0, 2.5]}, "1 and 2.5", id="a bare list"),
        pytest.param({"result": "paid", "by": "x"}, "Result: paid, By: x", id="one of two names"),
        pytest.param({"n": 0, "m": 0.0}, "N: 0, M: 0", id="zero is something"),
        pytest.param({"n": 1e300}, "N: 1e+300", id="a number without an end"),
        pytest.param({"n": 12345678}, "N: 12345678", id="an identifier"),
        pytest.param({"at": "2026-07-03T09:00:00Z"}, "At: 2026-07-03 09:00 UTC", id="a moment"),
        pytest.param(
            {"at": "2026-07-03T09:00:07.123456+00:00"}, "At: 2026-07-03 09:00:07 UTC", id="seconds"
        ),
        pytest.param(
            {"at": "2026-07-03T09:00:00+02:00"}, "At: 2026-07-03 09:00 +02:00", id="a zone"
        ),
        pytest.param({"at": "2026-07-03T09:00"}, "At: 2026-07-03 09:00", id="a moment, no zone"),
        pytest.param({"on": "2026-07-03"}, "On: 2026-07-03", id="a date"),
        pytest.param({"at": "2026-99-03T09:00Z"}, "At: 2026-99-03T09:00Z", id="no moment"),
        pytest.param({"text": "one\n\ntwo  three"}, "Text: one two three", id="several lines"),
        pytest.param({"text": "null"}, "Text: null", id="the word null"),
        pytest.param({"error": "no such account"}, "Error: no such account", id="a failure"),
        pytest.param(
            {"text": "x" * 5_000, "ticket": 7},
            "Text: " + "x" * 273 + "… (5,000 characters in all), Ticket: 7",
            id="a long text hides nothing after it",
        ),
        pytest.param(
            {"lines": list(range(25))},
            "Lines: " + ", ".join(map(str, range(20))) + " and 5 more",
            id="a long list",
        ),
    ],
)
def test_what_a_call_brought(response: Any, words: str):
    """Each value is told as a person would, and of what is not there nothing is told."""
    assert told(response) == words


def test_many_values_are_counted():
    """A response with more than fits says how many values are not told."""
    line = told({f"n{n}": "x" * 100 for n in range(40)})
    assert len(line) < 950
    assert line.endswith(" … and 32 more")


@pytest.mark.parametrize(
    "response",
    [
        pytest.param({"by": "hunter2"}, id="word for word"),
        pytest.param({"by": "y" * 270 + " hunter2" + " z" * 50}, id="where the text is cut"),
        pytest.param({"by": {"deep": ["hunter2"]}}, id="inside others"),
        pytest.param({"hunter2": 1, "in": {"hunter2": 2}}, id="as a name"),
        pytest.param({"at": "2026-07-03T09:00:00Z"}, id="a moment"),
        pytest.param({"pin": 4711, "too": 4711.0}, id="a number"),
        pytest.param({"text": "a  b\nsecret"}, id="several lines"),
        pytest.param({"used": '{"p": "hunt\\"er2"}'}, id="as JSON in a text"),
        pytest.param({"note": TOKEN, "in": [{"note": TOKEN}]}, id="a token"),
        pytest.param({"api_key": "plain", "in": {"api_key": "plain"}}, id="by its name"),
    ],
)
def test_what_is_secret_is_not_told(response: Any):
    """The values of secret arguments, and what looks like one, are gone before anything is cut."""
    kept = {
        "a": "hunter2",
        "b": "2026-07-03T09:00:00Z",
        "c": 4711.0,
        "d": "a  b\nsecret",
        "e": 'hunt"er2',
    }
    line = told(response, args=kept, secrets=tuple(kept))
    for secret in ("hunt", "2026-07", "4711", "secret", TOKEN, "plain"):
        assert secret not in line
    assert "•••" in line


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
        ),
    )
)
def test_any_response_fits_its_card(response: Any):
    """Whatever a call brought, its card goes through Slack."""
    card = blocks.card(closed("done"), now=NOW, result=told(response))
    assert "It is done." in shown(card)
    assert message_problems({"text": card.text, "blocks": list(card.blocks)}, update=True) == []


@pytest.mark.parametrize("response", [{}, {"result": None}, {"note": ""}])
def test_a_card_without_a_result_has_no_line_for_it(response: Any):
    """Of a call that brought nothing the card says that it is done, and no more."""
    assert "Result" not in shown(blocks.card(closed("done"), now=NOW, result=told(response)))
