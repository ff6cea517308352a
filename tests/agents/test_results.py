"""What the model reads of a tool's outcome."""

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import ToolConfirmation
from agents.runtime.errors import ToolError
from agents.runtime.gate import given_up, looked, unknown
from agents.runtime.results import MAX_BYTES, Yielded, failure, fate, result_of, unknown_tool

PICTURE = types.Part.from_bytes(data=b"x", mime_type="image/png")
LINK = types.Part.from_uri(file_uri="gs://a/b.png", mime_type="image/png")
WORDS = types.Part.from_text(text="hi")


class Handle:
    """Something without JSON form."""


@pytest.mark.parametrize(
    ("returned", "response"),
    [
        pytest.param({"a": 1}, {"a": 1}, id="a dict is the response"),
        pytest.param({}, {}, id="an empty one, too"),
        pytest.param({1: (2,)}, {"1": [2]}, id="made JSON"),
        pytest.param(None, {"result": None}, id="None"),
        pytest.param(False, {"result": False}, id="False"),
        pytest.param("", {"result": ""}, id="no text"),
        pytest.param(123.0, {"result": 123.0}, id="a number"),
        pytest.param([{"a": 1}], {"result": [{"a": 1}]}, id="a list"),
        pytest.param({"h": Handle()}, {"h": "<Handle>"}, id="no JSON form"),
        pytest.param(Yielded(intermediate=[1], result={"a": 1}), {"a": 1}, id="a generator's"),
    ],
)
def test_result(returned: Any, response: dict[str, Any]):
    """A dict is the response, anything else its result."""
    assert result_of(returned).response == response


@pytest.mark.parametrize(
    ("returned", "media"),
    [
        pytest.param(PICTURE, (PICTURE,), id="one part"),
        pytest.param([PICTURE, LINK], (PICTURE, LINK), id="a list of parts"),
        pytest.param(WORDS, (), id="a part with text is no media"),
        pytest.param([], (), id="no parts"),
        pytest.param([PICTURE, 1], (), id="a mixed list is data"),
    ],
)
def test_media(returned: Any, media: tuple[types.Part, ...]):
    """Media stand beside the response, as they are."""
    result = result_of(returned)
    assert result.media == media
    assert ("attached" in str(result.response)) == bool(media)


def test_a_huge_result_is_cut():
    """A result beyond the limit is cut to its beginning, and says so."""
    result = result_of({"rows": ["é" * 1000] * 1000}).response
    assert str(result["result"]).startswith('{"rows": ["éé')
    assert len(str(result["result"]).encode()) <= MAX_BYTES
    assert "bytes" in str(result["truncated"])


CHARACTERS = {
    "a letter": "a",
    "two bytes": "é",
    "three bytes": "€",
    "four bytes": "😀",
    "a quote": '"',
    "the other quote": "'",
    "a backslash": "\\",
    "a new line": "\n",
    "an escape of six": "\x07",
    "a raw control": "\x7f",
    "a line of its own": "\u2028",
    "a private one": "\ue000",
    "nothing to see": "\U000e0001",
    "half a character": "\ud83d",
}


@pytest.mark.parametrize("character", CHARACTERS.values(), ids=CHARACTERS)
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(lambda text: {"t": text}, id="a text"),
        pytest.param(lambda text: {text: [text, None]}, id="a key"),
    ],
)
def test_the_very_limit(shape, character: str):
    """What fits to the byte is left whole, and one character more is too much."""

    def size(count: int) -> int:
        plain = character.encode("utf-8", "replace").decode()
        return len(json.dumps(shape(plain * count), ensure_ascii=False).encode())

    step = size(2) - size(1)
    most = (MAX_BYTES - size(0)) // step
    fits, more = (result_of(shape(character * count)).response for count in (most, most + 1))
    assert size(most) <= MAX_BYTES < size(most + 1)
    assert len(json.dumps(fits, ensure_ascii=False).encode()) == size(most)
    assert set(more) == {"result", "truncated"}
    assert len(str(more["result"]).encode()) <= MAX_BYTES


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ToolError("only 3 days are left"), "only 3 days are left", id="ToolError"),
        pytest.param(KeyError("x"), "pay failed: KeyError: 'x'", id="any other"),
        pytest.param(TimeoutError(), "pay failed: TimeoutError", id="without words"),
    ],
)
def test_failure(error: Exception, text: str):
    """A ToolError speaks for itself, any other error by its kind and text."""
    assert failure(error, tool="pay") == {"error": text}


def test_a_long_failure_is_cut():
    """No error message fills the model's window."""
    assert len(str(failure(ValueError("x" * 10_000), tool="pay")["error"])) == 2000


def test_unknown_tool():
    """The model hears which tools there are."""
    assert unknown_tool("nope", known=["b", "a"]) == {
        "error": "There is no tool called 'nope'. The tools are: a, b."
    }
    assert "none" in str(unknown_tool("nope", known=[])["error"])


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param({"paid": 7, "error": None}, "done", id="no error"),
        pytest.param({"paid": 7, "error": ""}, "done", id="an empty error"),
        pytest.param({"paid": 7, "error": False}, "done", id="an error that is not"),
        pytest.param({"ok": True, "errors": []}, "done", id="no errors"),
        pytest.param({"status": "unknown", "parcel": 7}, "done", id="a parcel's status"),
        pytest.param(
            {"status": "unknown", "error": None, "parcel": 7}, "done", id="a parcel without error"
        ),
        pytest.param({"status": "pending"}, "done", id="pending"),
        pytest.param({"result": {"error": "x"}}, "done", id="an error further in"),
        pytest.param({"ok": None, "success": 0}, "done", id="neither yes nor no"),
        pytest.param({}, "done", id="nothing"),
        pytest.param({"error": "no such account"}, "failed", id="an error"),
        pytest.param({"error": {"code": 5}}, "failed", id="an error of several parts"),
        pytest.param({"errors": ["no such account"]}, "failed", id="errors"),
        pytest.param({"imported": 99, "errors": ["row 3"]}, "done", id="errors of a part"),
        pytest.param({"status": "error", "code": 5}, "failed", id="the status"),
        pytest.param({"status": "failed"}, "failed", id="another status"),
        pytest.param({"ok": False}, "failed", id="not ok"),
        pytest.param({"success": False, "message": "no"}, "failed", id="no success"),
        pytest.param(unknown("pay"), "unknown", id="the runtime does not know"),
        pytest.param(given_up("pay", unsure=True), "unknown", id="it was given up"),
        pytest.param(given_up("pay", unsure=False), "failed", id="it was given up before"),
        pytest.param(
            looked("pay", ToolConfirmation(confirmed=False, outcome="rejected", reason="Why?")),
            "unknown",
            id="a person left it so, for a reason",
        ),
    ],
)
def test_what_became_of_a_call(response: dict[str, Any], expected: str):
    """An empty error is none, and that nobody knows is for the runtime to say."""
    assert fate(response) == expected


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.dates()
    | st.builds(Handle)
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.dates(), inner)
    ),
    max_leaves=10,
)


@settings(max_examples=100)
@given(ANY)
def test_whatever_is_returned_can_be_stored(value: Any):
    """Every value becomes JSON that reads back as it was shown."""
    response = result_of(value).response
    assert json.loads(json.dumps(response, allow_nan=False).encode()) == response
