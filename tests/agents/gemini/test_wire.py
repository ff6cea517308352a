"""What goes over the wire: what the bare client would send, with signatures as they came."""

from base64 import b64decode, b64encode
from contextlib import aclosing
from typing import Any

import pytest
from google import genai
from google.genai import types
from pydantic.alias_generators import to_camel

from agents import LlmRequest
from agents.runtime.gemini import Gemini, GeminiOptions, wire
from tests.agents.gemini.server import KEY, GeminiServer, Reply, call, says

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIGNATURE = "+vv8/f7/+vv8"
CALL = types.Part(
    function_call=types.FunctionCall(id="c1", name="pay", args={"amount": 5, "note": None}),
    thought_signature=b64decode(SIGNATURE),
)
RESPONSE = types.FunctionResponse(id="c1", name="pay", response={"status": "ok"})
PAY = types.FunctionDeclaration(
    name="pay",
    description="Pay.",
    parameters_json_schema={"type": "object", "properties": {"amount": {"type": "number"}}},
)
REQUEST = LlmRequest(
    contents=[
        types.Content(role="user", parts=[types.Part(text="Zahl 5 – ünd 円")]),
        types.Content(role="model", parts=[types.Part(text="hm", thought=True), CALL]),
        types.Content(role="user", parts=[types.Part(function_response=RESPONSE)]),
        types.Content(
            role="user",
            parts=[types.Part(inline_data=types.Blob(data=b"\xfb\xff", mime_type="image/png"))],
        ),
    ],
    system_instruction="Pay what is asked for.",
    tools=[PAY],
    config=types.GenerateContentConfig(temperature=0.5, max_output_tokens=1000),
)


def plain(value: Any) -> Any:
    """A body with bytes in one alphabet and all names in camel case: the server takes both."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {to_camel(name): plain(each) for name, each in value.items()}
    return value.replace("-", "+").replace("_", "/") if isinstance(value, str) else value


async def bare(server: GeminiServer, **options: Any) -> dict[str, Any]:
    """The body that google-genai makes of the same request by itself."""
    http = types.HttpOptions(base_url=server.url)
    client = genai.Client(api_key=KEY, http_options=http, **options)
    config = REQUEST.config.model_copy(
        update={
            "system_instruction": REQUEST.system_instruction,
            "tools": [types.Tool(function_declarations=list(REQUEST.tools))],
        }
    )
    async with aclosing(client.aio):
        await client.aio.models.generate_content(
            model="gemini-test", contents=list(REQUEST.contents), config=config
        )
    return server.requests[-1]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("vertexai", [False, True], ids=["gemini", "vertex"])
async def test_the_body_is_that_of_the_bare_client(stream: bool, vertexai: bool):
    """Nothing is lost or added by handing over the body as it is."""
    async with GeminiServer([says("ok")] * 2) as server:
        server.signed[b64decode(SIGNATURE)] = wire.content(REQUEST.contents[1])["parts"][1][
            "functionCall"
        ]
        options = GeminiOptions(api_key=KEY, base_url=server.url, vertexai=vertexai)
        async with Gemini("gemini-test", options) as gemini:
            [*_, _] = [r async for r in gemini.generate_content_async(REQUEST, stream=stream)]
        ours = server.requests[0]
        assert plain(await bare(server, vertexai=vertexai)) == plain(ours)
        assert server.refused == []
        assert ours["contents"][1]["parts"][1]["thoughtSignature"] == SIGNATURE


async def test_no_function_is_handed_to_the_client():
    """Tools are declarations: the client has nothing it could call."""
    async with GeminiServer([Reply(parts=[call("pay", amount=5)])]) as server:
        options = GeminiOptions(api_key=KEY, base_url=server.url)
        async with Gemini("gemini-test", options) as gemini:
            contents = REQUEST.contents[:1]
            request = LlmRequest(contents=contents, tools=[PAY])
            [response] = [r async for r in gemini.generate_content_async(request)]
        assert response.content.parts[0].function_call.name == "pay"
        assert len(server.requests) == 1
        assert server.requests[0]["tools"] == [
            {"functionDeclarations": [PAY.model_dump(by_alias=True, exclude_none=True)]}
        ]


@pytest.mark.parametrize(
    ("options", "path"),
    [
        pytest.param({}, "/v1/models/gemini-test:generateContent", id="as the client does"),
        pytest.param(
            {"api_version": "v1beta"}, "/v1beta/models/gemini-test:generateContent", id="v1beta"
        ),
        pytest.param(
            {"vertexai": True},
            "/v1beta1/publishers/google/models/gemini-test:generateContent",
            id="vertex",
        ),
        pytest.param(
            {"vertexai": True, "api_version": "v1"},
            "/v1/publishers/google/models/gemini-test:generateContent",
            id="vertex v1",
        ),
    ],
)
async def test_the_address_is_as_set(options: dict[str, Any], path: str):
    """Base URL, API version and Vertex AI are settings."""
    async with GeminiServer([says("ok")]) as server:
        told = GeminiOptions(api_key=KEY, base_url=server.url, **options)
        async with Gemini("gemini-test", told) as gemini:
            request = LlmRequest(contents=REQUEST.contents[:1])
            responses = [r async for r in gemini.generate_content_async(request)]
        assert len(responses) == 1
        assert server.paths == [path]


async def test_what_the_model_said_in_a_row_is_one_turn():
    """Words and then a call are one content, for a call must come after a user's turn."""
    said = types.Content(role="model", parts=[types.Part(text="One moment.")])
    body = wire.body(LlmRequest(contents=[REQUEST.contents[0], said, REQUEST.contents[1]]))
    assert [len(content["parts"]) for content in body["contents"]] == [1, 3]


async def test_a_schema_is_for_replies_that_call_nothing():
    """With tools the schema is left out; without it goes to the model."""
    schema = {"type": "object", "properties": {"days": {"type": "integer"}}}
    async with GeminiServer([says("{}"), says("{}")]) as server:
        options = GeminiOptions(api_key=KEY, base_url=server.url)
        async with Gemini("gemini-test", options) as gemini:
            for tools in ([], [PAY]):
                request = LlmRequest(
                    contents=REQUEST.contents[:1], response_schema=schema, tools=tools
                )
                [_] = [r async for r in gemini.generate_content_async(request)]
    wanted, unwanted = server.requests
    assert wanted["generationConfig"]["responseJsonSchema"] == schema
    assert wanted["generationConfig"]["responseMimeType"] == "application/json"
    assert not unwanted["generationConfig"]


async def test_a_signature_in_a_stream_keeps_its_part():
    """Pieces of text become one part; one with a signature, even without text, stays apart."""
    pieces = [{"text": "It is"}, {"text": " so."}, {"text": "", "thoughtSignature": SIGNATURE}]
    async with GeminiServer([Reply(parts=pieces)]) as server:
        options = GeminiOptions(api_key=KEY, base_url=server.url)
        async with Gemini("gemini-test", options) as gemini:
            request = LlmRequest(contents=REQUEST.contents[:1])
            *_, last = [r async for r in gemini.generate_content_async(request, stream=True)]
    assert wire.content(last.content)["parts"] == [{"text": "It is so."}, pieces[-1]]


async def test_signatures_are_kept_byte_by_byte():
    """Any bytes come back in the standard alphabet."""
    for signature in (bytes(range(256)), b"", b"\xff" * 3):
        part = types.Part(text="x", thought_signature=signature)
        written = wire.content(types.Content(role="model", parts=[part]))
        assert written["parts"][0]["thoughtSignature"] == b64encode(signature).decode()
