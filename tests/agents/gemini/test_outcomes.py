"""Every way Gemini can answer, or fail to, has one outcome: the table, over HTTP."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from google.genai import types

from agents import LlmRequest, ModelError, ModelUnavailable
from agents.runtime.errors import RequestRefused
from agents.runtime.gemini.replies import ENDINGS, LONGEST
from tests.agents.gemini.server import (
    BAD_KEY,
    Hangup,
    Item,
    Raw,
    Reply,
    call,
    fault,
    retry_info,
    says,
    whole,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOTHING = "NOTHING"
QUESTION = [types.Content(role="user", parts=[types.Part(text="Pay 50 to Ann.")])]
PAY = types.FunctionDeclaration(name="pay", description="Pay.")
PARIS = says("It is Paris.")
PAYS = Reply(parts=[call("pay", amount=50)])


def ends(finish: str | None, *parts: dict[str, Any]) -> Reply:
    """A reply that ended so."""
    return Reply(parts=parts or None, finish=finish)


def args(value: object) -> Raw:
    """A call whose arguments are anything."""
    part = {"functionCall": {"name": "pay", "args": value}}
    content = {"role": "model", "parts": [part]}
    return whole({"candidates": [{"content": content, "finishReason": "STOP"}]})


def blocked(reason: str) -> Raw:
    """A prompt that is not read."""
    return whole({"promptFeedback": {"blockReason": reason}, "usageMetadata": {}})


TEXT = {"text": "It is"}
LONG = "a" * 2_000_000
BAD_LIST = Raw(body=json.dumps([{"error": {"code": 503}}]).encode(), status=503, events=False)
ANSWERS = [
    pytest.param([PARIS], "It is Paris.", id="text"),
    pytest.param([PAYS], "pay(50)", id="a call"),
    pytest.param([Reply(parts=[call("pay", "c1", amount=5)])], "pay(5)#c1", id="a call with an id"),
    pytest.param(
        [Reply(parts=[call("pay", amount=n) for n in (1, 2)])], "pay(1) pay(2)", id="two calls"
    ),
    pytest.param(
        [Reply(parts=[TEXT, call("pay", amount=1)])], "It is pay(1)", id="text and a call"
    ),
    pytest.param(
        [Reply(parts=[{"text": "hm", "thought": True}, call("pay", amount=1)])],
        "(hm) pay(1)",
        id="a thought and a call",
    ),
    pytest.param(
        [Reply(parts=[{"text": "hm", "thought": True}, TEXT])], "(hm) It is", id="a thought"
    ),
    pytest.param([ends("FINISH_REASON_UNSPECIFIED", TEXT)], "It is", id="no reason to end"),
    pytest.param(
        [Reply(parts=[call("nobody_has_it", amount=1)])],
        "nobody_has_it(1)",
        id="an unknown tool is for the runner to refuse",
    ),
    pytest.param(
        [Reply(parts=[call("pay", amount=n) for n in range(50)])],
        " ".join(f"pay({n})" for n in range(50)),
        id="50 calls",
    ),
    pytest.param([Reply(parts=[TEXT], usage=None)], "It is", id="no usage"),
    pytest.param(
        [
            whole(
                {
                    "candidates": [
                        {
                            "content": {"parts": [{"text": "It is", "newField": 1}], "newField": 2},
                            "finishReason": "STOP",
                        }
                    ],
                    "newField": 3,
                }
            )
        ],
        "It is",
        id="fields of a later version",
    ),
    pytest.param([ends("MAX_TOKENS", TEXT)], "It is MAX_TOKENS", id="cut off in text"),
    pytest.param([says(LONG)], "a" * LONGEST + " MAX_TOKENS", id="2 MB of text"),
]
NUDGED = [
    pytest.param(ends("STOP"), id="no content"),
    pytest.param(Reply(parts=[]), id="no parts"),
    pytest.param(Reply(parts=[{"text": ""}]), id="an empty text"),
    pytest.param(Reply(parts=[{"text": "  \n"}]), id="a blank text"),
    pytest.param(Reply(parts=[{"text": "hm", "thought": True}]), id="only a thought"),
    pytest.param(ends("MAX_TOKENS"), id="cut off before anything was said"),
    pytest.param(ends("MAX_TOKENS", call("pay", amount=1)), id="cut off in a call"),
    pytest.param(ends("CONTINUATION"), id="to be continued"),
    pytest.param(ends("MALFORMED_FUNCTION_CALL"), id="malformed call"),
    pytest.param(ends("MALFORMED_FUNCTION_CALL", TEXT), id="malformed call after text"),
    pytest.param(ends("MALFORMED_RESPONSE"), id="malformed response"),
    pytest.param(ends("UNEXPECTED_TOOL_CALL"), id="unexpected call"),
    pytest.param(ends("TOO_MANY_TOOL_CALLS"), id="too many calls"),
    pytest.param(ends("OTHER"), id="other"),
    pytest.param(ends("RECITATION"), id="recitation"),
    pytest.param(ends("LANGUAGE"), id="language"),
    pytest.param(ends("NO_IMAGE"), id="no image"),
    pytest.param(ends("IMAGE_OTHER"), id="no image for other reasons"),
    pytest.param(args("50 to Ann"), id="arguments that are text"),
    pytest.param(args([50, "Ann"]), id="arguments that are a list"),
    pytest.param(Reply(parts=[call("pay", amount=LONG)]), id="2 MB of arguments"),
    pytest.param(Reply(parts=[{"functionCall": {"args": {}}}]), id="a call without a name"),
    pytest.param(Reply(parts=[call("print('hi')")]), id="a call of what is no name"),
]
TOLD = [
    *(
        pytest.param([ends(reason, *parts)], reason, id=f"{reason}{' with text' * bool(parts)}")
        for reason, ending in ENDINGS.items()
        for parts in ((), (TEXT,))
        if ending.keeps == "nothing" and not ending.nudge
    ),
    *(
        pytest.param([blocked(reason)], "PROMPT_BLOCKED", id=f"prompt blocked: {reason}")
        for reason in ("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK")
    ),
]
EMPTY_BODIES = [
    pytest.param(whole({}), id="an empty object"),
    pytest.param(whole({"candidates": []}), id="no candidates"),
    pytest.param(whole({"candidates": [{}]}), id="an empty candidate"),
    pytest.param(whole({"candidates": [None]}), id="null for a candidate"),
    pytest.param(whole([]), id="a list"),
    pytest.param(Raw(body=b""), id="nothing"),
    pytest.param(whole({"error": {"code": 429}}), id="an error that says 200"),
]
UNAVAILABLE = [
    pytest.param(fault(429), None, id="429"),
    pytest.param(fault(429, details=[retry_info("37s")]), 37, id="429 with RetryInfo"),
    pytest.param(fault(429, details=[retry_info("0.5s")]), 0.5, id="429 with half a second"),
    pytest.param(fault(429, details=[retry_info("soon")]), None, id="429 with a bad RetryInfo"),
    pytest.param(fault(429, headers={"Retry-After": "12"}), 12, id="429 with Retry-After"),
    pytest.param(
        fault(503, headers={"Retry-After": "Fri, 01 Jan 2021 00:00:00 GMT"}), 0, id="a past date"
    ),
    pytest.param(fault(503, headers={"Retry-After": "soon"}), None, id="a bad Retry-After"),
    pytest.param(fault(408), None, id="408"),
    pytest.param(fault(499), None, id="499"),
    pytest.param(fault(500), None, id="500"),
    pytest.param(fault(502), None, id="502"),
    pytest.param(fault(503), None, id="503"),
    pytest.param(fault(504), None, id="504"),
    pytest.param(BAD_LIST, None, id="an error in a list"),
    pytest.param(
        Raw(body=b"<h1>502</h1>", status=502, content_type="text/html", events=False),
        None,
        id="a proxy's page",
    ),
    pytest.param(Raw(body=b"busy", status=503, events=False), None, id="an error that is no JSON"),
    pytest.param(
        Raw(body=b"<html>hello</html>", content_type="text/html"), None, id="a page that says 200"
    ),
    pytest.param(Raw(body=b'{"candidates": [{"conte'), None, id="cut JSON"),
    pytest.param(
        Raw(body=b"\xff\xfe{", content_type="application/json"), None, id="no text at all"
    ),
    pytest.param(Hangup(), None, id="reset before the answer"),
    pytest.param(Reply(parts=[TEXT], cut_at=0.5), None, id="reset in the middle of the answer"),
    pytest.param(
        Reply(parts=[call("pay", amount=50)], cut_at=0.5), None, id="reset in the middle of a call"
    ),
]
REFUSED = [
    pytest.param(BAD_KEY, "GEMINI_API_KEY", id="400 for a bad key"),
    pytest.param(fault(400), "tools", id="400"),
    pytest.param(
        fault(400, reason="FAILED_PRECONDITION"), "needs billing", id="400 for a place or billing"
    ),
    pytest.param(fault(401), "credentials", id="401"),
    pytest.param(fault(403), "API is enabled", id="403"),
    pytest.param(fault(404), "MODEL", id="404"),
    pytest.param(fault(413), "tools", id="413"),
]


def told(part: types.Part) -> str:
    """A part in few characters."""
    if part.function_call:
        call_id = f"#{part.function_call.id}" if part.function_call.id else ""
        return f"{part.function_call.name}({part.function_call.args['amount']}){call_id}"
    return f"({part.text})" if part.thought else part.text or ""


async def outcome(gemini: Any, *, stream: bool) -> str:
    """What came of a question: the parts, then the error code."""
    request = LlmRequest(contents=QUESTION, tools=[PAY])
    responses = [r async for r in gemini.generate_content_async(request, stream=stream)]
    assert [r.partial for r in responses] == [True] * (len(responses) - 1) + [False]
    last = responses[-1]
    parts = last.content.parts if last.content else []
    found = [*map(told, parts), *([last.error_code] if last.error_code else [])]
    return " ".join(found) or NOTHING


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("script", "expected"), ANSWERS)
async def test_an_answer_is_used(scripted, script: Sequence[Item], expected: str, stream: bool):
    """What can be used of a reply is, and it is asked for once."""
    server, gemini = scripted(script)
    assert await outcome(gemini, stream=stream) == expected
    assert len(server.requests) == 1
    assert not server.refused


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("reply", NUDGED)
async def test_a_reply_that_is_none_is_asked_for_once_more(scripted, reply: Item, stream: bool):
    """The model hears why and answers; when it fails again, there is one error with a code."""
    server, gemini = scripted([reply, PARIS, reply, reply, PARIS])
    assert await outcome(gemini, stream=stream) == "It is Paris."
    first, second = (request["contents"] for request in server.requests)
    assert second[:-1] == first
    assert second[-1]["role"] == "user"
    assert (await outcome(gemini, stream=stream)).isupper()
    assert len(server.requests) == 4
    assert not server.refused


@pytest.mark.parametrize("reply", EMPTY_BODIES)
async def test_a_body_without_a_reply_is_one_that_is_none(scripted, reply: Item):
    """An answer that says nothing at all is asked for once more."""
    server, gemini = scripted([reply, PARIS, reply, reply])
    assert await outcome(gemini, stream=False) == "It is Paris."
    assert await outcome(gemini, stream=False) == NOTHING
    assert len(server.requests) == 4


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("script", "expected"), TOLD)
async def test_a_refusal_of_the_model_is_told(scripted, script, expected: str, stream: bool):
    """What the model will not answer, or not read, is an error with its code, asked for once."""
    server, gemini = scripted(script)
    assert await outcome(gemini, stream=stream) == expected
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("item", "wait"), UNAVAILABLE)
async def test_a_fault_that_passes_says_so(scripted, item: Item, wait: float | None, stream: bool):
    """What may be over soon is ModelUnavailable, with the wait that was asked for."""
    server, gemini = scripted([item])
    with pytest.raises(ModelUnavailable) as raised:
        await outcome(gemini, stream=stream)
    assert raised.value.retry_after == wait
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_reply_that_takes_too_long_may_be_there_later(opened, stream: bool):
    """Who waits no longer hears of a model that is unavailable."""
    _, gemini = await opened([Reply(parts=[TEXT], delay=1)], timeout=0.1)
    with pytest.raises(ModelUnavailable) as raised:
        await outcome(gemini, stream=stream)
    assert raised.value.retry_after is None


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("item", "advice"), REFUSED)
async def test_a_fault_that_stays_says_what_to_change(scripted, item, advice: str, stream: bool):
    """What trying again does not help is ModelError, and its words are for an operator."""
    server, gemini = scripted([item])
    with pytest.raises(ModelError, match=advice) as raised:
        await outcome(gemini, stream=stream)
    assert not isinstance(raised.value, ModelUnavailable)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("item", "of_request"),
    [
        pytest.param(fault(400), True, id="400"),
        pytest.param(fault(413), True, id="413"),
        pytest.param(BAD_KEY, False, id="400 for a bad key"),
        pytest.param(fault(400, reason="FAILED_PRECONDITION"), False, id="400 for a place"),
        pytest.param(fault(403), False, id="403"),
        pytest.param(fault(404), False, id="404"),
    ],
)
async def test_a_fault_of_one_request_is_told_apart(scripted, item, of_request: bool):
    """Another request may do where neither the key, nor the place, nor the model is refused."""
    _, gemini = scripted([item])
    with pytest.raises(ModelError) as raised:
        await outcome(gemini, stream=False)
    assert isinstance(raised.value, RequestRefused) == of_request


async def test_nothing_a_person_wrote_is_quoted(scripted):
    """What a refusal quotes of the request does not get into the operator's log."""
    message = "Invalid value at 'contents[0]' (STRING), \"my secret wish\" of `mine`\nand more"
    _, gemini = scripted([fault(400, message=message)])
    with pytest.raises(ModelError, match="Invalid value at …") as raised:
        await outcome(gemini, stream=False)
    assert not {"secret", "mine", "more"} & set(re.findall(r"\w+", str(raised.value)))


async def test_a_stream_without_an_end_is_cut(scripted):
    """A stream that stops without saying why broke off, whatever it said before."""
    _, gemini = scripted([Reply(parts=[TEXT], finish=None)])
    with pytest.raises(ModelUnavailable, match="broke off"):
        await outcome(gemini, stream=True)


async def test_a_reason_nobody_knows_is_told(scripted):
    """A reason to end that a later version brings is an error with its name."""
    _, gemini = scripted([ends("BRAND_NEW", TEXT)])
    with pytest.warns(UserWarning, match="BRAND_NEW"):
        assert await outcome(gemini, stream=False) == "BRAND_NEW"


async def test_every_reason_to_end_has_its_outcome():
    """No finish reason that google-genai knows is missing in the table."""
    assert set(ENDINGS) == {reason.name for reason in types.FinishReason}
