"""What a client may say, and the events it becomes."""

import pytest
from google.genai import types

from agents import AnswerError, Entry, PayloadError
from agents.runtime.messages import accepted, heard
from tests.agents.samples import answered, answers, asks, content, response, said, spoke, story

SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}
STORY = story(
    said(),
    spoke("2-0 pay", "2-1 ticket", "2-2 off", "2-3 gated", lasting=("2-1", "2-3")),
    asks("3-0", "2-0 pay"),
    asks("4-0", "2-2 off", payload_schema=SCHEMA),
    asks("5-0", "2-3 gated"),
    answered(pending=("2-1",)),
    said(inv="i2"),
    spoke("8-0 ticket", inv="i2", lasting=("8-0",)),
)


def confirmation(request: str, name: str | None = "adk_request_confirmation", **answer: object):
    """An answer to a question."""
    return types.FunctionResponse(id=request, name=name, response=answer)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        pytest.param(content(), "empty", id="nothing"),
        pytest.param(
            content(types.Part(function_call=types.FunctionCall(name="pay"))),
            "must not contain function calls",
            id="a call",
        ),
        pytest.param(content("yes", confirmation("3-0")), "not be mixed", id="words beside it"),
        pytest.param(
            content(types.FunctionResponse(name="ticket", response={})), "without an id", id="no id"
        ),
        pytest.param(content(response("9-9 ticket")), "no call '9-9'", id="no such call"),
        pytest.param(content(response("2-0 pay", ok=1)), "request '3-0'", id="a gated call"),
        pytest.param(content(response("2-3 gated", ok=1)), "request '5-0'", id="a gated long one"),
        pytest.param(content(confirmation("2-1")), "takes nothing but", id="confirming a call"),
        pytest.param(
            content(response("2-1 ticket", a=1), response("8-0 ticket", b=1)),
            "apart",
            id="runs",
        ),
        pytest.param(content(confirmation("3-0", yes=True)), "malformed: yes", id="unknown key"),
        pytest.param(
            content(confirmation("3-0", confirmed=True, payload={"a": 1})),
            "nothing but yes or no",
            id="a payload nobody asked for",
        ),
        pytest.param(
            content(confirmation("4-0", confirmed=True, payload=[1])), "object", id="no object"
        ),
    ],
)
def test_refused(message, error):
    """Nothing of a message that fits nothing is stored."""
    with pytest.raises(AnswerError, match=error):
        accepted(message, STORY)


@pytest.mark.parametrize("payload", [None, {}, {"days": "many"}, {"days": 1, "more": 2}], ids=repr)
def test_a_bad_payload(payload):
    """What was asked for must be there and fit, and nothing else."""
    answer = confirmation("4-0", confirmed=True, payload=payload)
    with pytest.raises(PayloadError):
        accepted(content(answer), STORY)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(content("hi"), None, id="words"),
        pytest.param(content(confirmation("3-0", confirmed="true")), {"confirmed": True}, id="yes"),
        pytest.param(
            content(confirmation("3-0", name=None)),
            {"confirmed": False, "outcome": "rejected"},
            id="no name, empty",
        ),
        pytest.param(
            content(confirmation("4-0", confirmed=True, payload={"days": "3"}, hint="by boss")),
            {"confirmed": True, "payload": {"days": 3}},
            id="coerced",
        ),
        pytest.param(
            content(confirmation("4-0", confirmed=False, reason="no")),
            {"confirmed": False, "reason": "no", "outcome": "rejected"},
            id="a rejection needs no payload",
        ),
        pytest.param(content(response("2-1 ticket", id="T")), {"id": "T"}, id="news"),
    ],
)
def test_accepted(message, expected):
    """A message is stored in its plain form."""
    (part,) = accepted(message, STORY).parts
    told = part.function_response
    assert (dict(told.response) if told else None) == expected


def test_a_call_of_another_question():
    """A call whose tool became gated once more takes nothing but the answer to that."""
    again = story(*STORY.events[:3], answers("3-0", confirmed=True), asks("5-0", "2-0 pay"))
    with pytest.raises(AnswerError, match="5-0"):
        accepted(content(response("2-0 pay", ok=1)), again)


def entry(*values: object, **more: object) -> Entry:
    """A message in the inbox."""
    body = {"content": content(*values).model_dump(mode="json", exclude_none=True), **more}
    return Entry(id="e", body=body)


def test_heard():
    """Words begin an invocation with who said them and the state they bring."""
    (event,) = heard(entry("hi", user_id="ann", state_delta={"a": 1}), STORY, version=9, now=1.5)
    assert (event.invocation_id, event.user_id, event.timestamp) == ("inv-9", "ann", 1.5)
    assert event.actions.state_delta == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"role": "user", "parts": [{"text": "hi"}]}, id="a text"),
        pytest.param({"role": "user", "parts": [{"text": ""}]}, id="an empty one"),
        pytest.param({"role": "user", "parts": [{"text": "\u20ac \U0001f600\u0000"}]}, id="any"),
        pytest.param({"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}, id="two"),
        pytest.param({"role": "user", "parts": [{"text": "a", "thought": True}]}, id="a thought"),
        pytest.param({"role": "user", "parts": [{"text": "a", "thought": None}]}, id="null beside"),
        pytest.param(
            {"role": "user", "parts": [{"text": "a", "thought_signature": "c2ln"}]}, id="signed"
        ),
        pytest.param({"role": "model", "parts": [{"text": "a"}]}, id="another role"),
        pytest.param({"parts": [{"text": "a"}]}, id="no role"),
        pytest.param(
            {
                "role": "user",
                "parts": [{"inline_data": {"data": "eA==", "mime_type": "image/png"}}],
            },
            id="media",
        ),
    ],
)
def test_heard_as_it_was_said(body):
    """A text is read by its looks, anything else by its type: the part is the same."""
    (event,) = heard(Entry(id="e", body={"content": body}), STORY, version=9, now=1.5)
    assert event.content == types.Content(
        role="user", parts=types.Content.model_validate(body).parts
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"role": "user", "parts": [{"text": 5}]}, id="a number for a text"),
        pytest.param({"role": "user", "parts": [{"text": ["a"]}]}, id="a list for a text"),
        pytest.param({"role": "user", "parts": [{"words": "a"}]}, id="another name"),
        pytest.param({"role": "user", "parts": ["a"]}, id="a text for a part"),
        pytest.param({"role": "user", "parts": [{"text": "a"}], "x": 1}, id="one field more"),
    ],
)
def test_heard_what_nobody_can_read(body):
    """It is refused like by its type."""
    with pytest.raises(ValueError, match="Content"):
        heard(Entry(id="e", body={"content": body}), STORY, version=9, now=1.5)


def test_heard_in_strands():
    """Answers go to the strands of their calls, an event each; strangers are left out."""
    nested = story(
        said(),
        spoke("2-0 helper", "2-1 pay"),
        asks("3-0", "2-1 pay"),
        said(branch="helper@2-0"),
        spoke("5-0 pay", agent="helper", branch="helper@2-0"),
        asks("6-0", "5-0 pay", agent="helper", branch="helper@2-0"),
    )
    found = heard(
        entry(confirmation("6-0"), confirmation("3-0"), confirmation("9-0")),
        nested,
        version=7,
        now=0,
    )
    assert [(e.version, e.branch, e.invocation_id) for e in found] == [
        (7, "helper@2-0", "i1"),
        (8, None, "i1"),
    ]
