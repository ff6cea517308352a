"""What a question to Gemini costs: ours, the bare google-genai client, a bare aiohttp POST.

All three ask the same server the same thing in turns; it answers from a process of its own, so the
CPU time is the client's alone.
"""

import asyncio
import json
import math
import warnings
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import aiohttp
from google import genai
from google.genai import types

from agents.runtime.gemini import Gemini, GeminiOptions, wire
from agents.runtime.model import LlmRequest
from tests.benchmarks.canned import CHUNKS, serving
from tests.benchmarks.timing import Work, interleaved

HISTORIES = (1, 40)
INSTRUCTION = "You deploy services, and ask when something is not clear."
SAID = "Please bring version 4.2.0 of the billing service into production. " * 3
DEPLOY = types.FunctionDeclaration(
    name="deploy",
    description="Deploy a service.",
    parameters_json_schema={
        "type": "object",
        "properties": {"service": {"type": "string"}, "version": {"type": "string"}},
        "required": ["service", "version"],
    },
)
NO_GOAL = math.inf
MODEL = "gemini-test"
HEADERS = {"x-goog-api-key": "key", "Content-Type": "application/json"}

Figures = dict[str, tuple[float, float, str]]
Ask = Callable[[LlmRequest, bool], Awaitable[object]]


def request(history: int) -> LlmRequest:
    """A question after so many contents."""
    contents = [
        types.Content(role="model" if n % 2 else "user", parts=[types.Part(text=SAID)])
        for n in range(history)
    ]
    return LlmRequest(contents=contents, system_instruction=INSTRUCTION, tools=[DEPLOY])


async def ours(gemini: Gemini, asked: LlmRequest, *, stream: bool) -> None:
    """Our client."""
    responses = [r async for r in gemini.generate_content_async(asked, stream=stream)]
    assert len(responses) == (CHUNKS + 1 if stream else 1)


async def bare(client: genai.Client, asked: LlmRequest, *, stream: bool) -> None:
    """google-genai alone, put to its best use."""
    told = {
        "model": MODEL,
        "contents": list(asked.contents),
        "config": types.GenerateContentConfig(
            system_instruction=asked.system_instruction,
            tools=[types.Tool(function_declarations=list(asked.tools))],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        ),
    }
    if not stream:
        answer = await client.aio.models.generate_content(**told)
        assert answer.function_calls
        return
    chunks = [c.text async for c in await client.aio.models.generate_content_stream(**told)]
    assert len(chunks) == CHUNKS


async def post(
    session: aiohttp.ClientSession, url: str, asked: LlmRequest, *, stream: bool
) -> None:
    """aiohttp alone: the body written, the answer read as JSON."""
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    data = json.dumps(wire.body(asked))
    async with session.post(f"{url}/v1/models/{MODEL}:{method}", data=data, headers=HEADERS) as got:
        if not stream:
            assert (await got.json())["candidates"]
            return
        lines = [json.loads(line[6:]) async for line in got.content if line.startswith(b"data: ")]
        assert len(lines) == CHUNKS


async def _measured(url: str) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        options = GeminiOptions(api_key="key", base_url=url)
        gemini = await stack.enter_async_context(Gemini(MODEL, options))
        client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url))
        stack.push_async_callback(client.aio.aclose)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        works: dict[str, Work] = {}
        for history in HISTORIES:
            for stream in (False, True):
                asked, place = request(history), f"{'stream' if stream else 'call'}, {history}"
                works[f"{place}: ours"] = lambda a=asked, s=stream: ours(gemini, a, stream=s)
                works[f"{place}: bare"] = lambda a=asked, s=stream: bare(client, a, stream=s)
                works[f"{place}: post"] = lambda a=asked, s=stream: post(session, url, a, stream=s)
        return await interleaved(works, rounds=11, times=12)


def measure() -> Figures:
    """CPU per call and per stream of 20 chunks, at a history of 1 and of 40 contents."""
    with serving() as url, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cost = asyncio.run(_measured(url))
    figures: Figures = {}
    for name, microseconds in cost.items():
        figures[name] = (microseconds / 1000, NO_GOAL, "ms")
    for history in HISTORIES:
        for kind in ("call", "stream"):
            place = f"{kind}, {history}"
            ratio = cost[f"{place}: ours"] / cost[f"{place}: bare"]
            goal = 0.3 if (kind, history) == ("call", 40) else 1.1
            figures[f"{place}: ours / bare"] = (ratio, goal, "x")
    return figures
