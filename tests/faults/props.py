"""What a crew works with: the ledger where effects are counted, and a model that obeys.

A message is a list of calls, `pay 200 a7; look 1 a7`: the name of a tool, a number, and a mark.
"""

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import aiohttp
from google.genai import types

from agents import LlmRequest, LlmResponse, ModelUnavailable, ToolContext
from tests.agents.provider import faults

NESTED = {"helper": "wire", "boss": "helper"}
"""Agents that are tools, and the tool that each of them calls in its turn."""
TOOLS = ("pay", "wire", "book", "share", "brief", "offer", "grant", "order", *NESTED)
SCOPES = ("", "app:", "user:")
"""Where a tool writes down in the state what it did."""
CALL = re.compile(rf"\b({'|'.join((*TOOLS, 'look', 'die'))}) (\d+) (\w+)")


class Ledger:
    """The world outside, where effects are counted."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def act(self, context: ToolContext, tool: str, **args: Any) -> dict[str, Any]:
        """Leave a trace, here and in the state; raises when the ledger says it went wrong."""
        body = {"key": context.idempotency_key, "tool": tool, "args": args, "at": time.time()}
        body["pid"] = os.getpid()
        timeout = aiohttp.ClientTimeout(total=10)
        async with self._session.post(self._url, json=body, timeout=timeout) as response:
            response.raise_for_status()
            told = await response.json()
        for scope in (*SCOPES, "temp:"):
            context.state[f"{scope}{tool} {args['mark']}"] = args["n"]
        return {"status": "done", **told}

    async def find(self, key: str) -> dict[str, Any] | None:
        """Whether something happened under a key."""
        async with self._session.get(self._url, params={"key": key}) as response:
            found = await response.json()
            return {"status": "done", "found": True} if found["effects"] else None


class Obedient:
    """A model that calls what the last message names, and then repeats what came of it.

    Every `moody`-th time it is unavailable. Without tools it is asked for a summary. What is wrong
    with what it is asked stands in the log as `malformed`.
    """

    def __init__(self, moody: int) -> None:
        self._moody = moody
        self._asked = 0

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Calls for a message, a text for responses."""
        self._asked += 1
        if self._moody and self._asked % self._moody == 0:
            raise ModelUnavailable("the model is moody")
        for problem in _problems(request.contents):
            sys.stdout.write(f"{time.time():.3f} malformed {problem}\n")
        await asyncio.sleep(0.01)
        parts = _answer(request) if request.tools else [types.Part(text="a lot was said")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def _answer(request: LlmRequest) -> list[types.Part]:
    last = request.contents[-1].parts or []
    calls = CALL.findall("".join(part.text or "" for part in last))
    if calls:
        return [_part(name, _args(name, int(n), mark)) for name, n, mark in calls]
    told = [part.function_response for part in last if part.function_response]
    words = [f"{each.name}: {each.response}" for each in told] or ["heard"]
    return [types.Part(text="; ".join(words))]


def _problems(contents: Sequence[types.Content]) -> Iterator[str]:
    """What a strict provider would refuse; it wants its signature back with the first call."""
    parts = [content.parts or [] for content in contents]
    firsts = [next((part for part in each if part.function_call), None) for each in parts]
    made = [part for part in firsts if part and part.function_call]
    signed = {_signature(p.function_call) for each in parts for p in each if p.function_call}
    yield from faults(contents, ids=set(), signed=signed)
    for part in made:
        if part.thought_signature != _signature(part.function_call):
            yield f"{part.function_call.name} has lost its signature"


def _signature(call: types.FunctionCall) -> bytes:
    """What the model gives with a call."""
    return f"{call.name} {sorted((call.args or {}).items())}".encode()


def _part(name: str, args: dict[str, Any]) -> types.Part:
    call = types.FunctionCall(name=name, args=args)
    return types.Part(function_call=call, thought_signature=_signature(call))


def _args(name: str, n: int, mark: str) -> dict[str, Any]:
    inner = NESTED.get(name)
    return {"request": f"{inner} {n} {mark}"} if inner else {"n": n, "mark": mark}
