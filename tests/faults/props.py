"""What a crew works with: the ledger where effects are counted, and a model that obeys.

A message is a list of calls, `pay 200 a7; look 1 a7`: the name of a tool, a number, and a mark.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from google.genai import types

from agents import LlmRequest, LlmResponse, ModelUnavailable, ToolContext

NESTED = {"helper": "wire", "boss": "helper"}
"""Agents that are tools, and the tool that each of them calls in its turn."""
TOOLS = ("pay", "wire", "book", "share", "brief", "offer", "grant", "order", *NESTED)
CALL = re.compile(rf"\b({'|'.join((*TOOLS, 'look', 'die'))}) (\d+) (\w+)")


class Ledger:
    """The world outside, where effects are counted."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def act(self, context: ToolContext, tool: str, **args: Any) -> dict[str, Any]:
        """Leave a trace; raises when the ledger says something went wrong."""
        body = {"key": context.idempotency_key, "tool": tool, "args": args, "at": time.time()}
        timeout = aiohttp.ClientTimeout(total=10)
        async with self._session.post(self._url, json=body, timeout=timeout) as response:
            response.raise_for_status()
            return {"status": "done", **await response.json()}

    async def find(self, key: str) -> dict[str, Any] | None:
        """Whether something happened under a key."""
        async with self._session.get(self._url, params={"key": key}) as response:
            found = await response.json()
            return {"status": "done", "found": True} if found["effects"] else None


class Obedient:
    """A model that calls what the last message names, and then repeats what came of it.

    Every `moody`-th time it is unavailable. Without tools it is asked for a summary.
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
        await asyncio.sleep(0.01)
        parts = _answer(request) if request.tools else [types.Part(text="a lot was said")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def _answer(request: LlmRequest) -> list[types.Part]:
    last = request.contents[-1].parts or []
    calls = CALL.findall("".join(part.text or "" for part in last))
    if calls:
        return [
            types.Part(function_call=types.FunctionCall(name=name, args=_args(name, int(n), mark)))
            for name, n, mark in calls
        ]
    told = [part.function_response for part in last if part.function_response]
    words = [f"{each.name}: {each.response}" for each in told] or ["heard"]
    return [types.Part(text="; ".join(words))]


def _args(name: str, n: int, mark: str) -> dict[str, Any]:
    inner = NESTED.get(name)
    return {"request": f"{inner} {n} {mark}"} if inner else {"n": n, "mark": mark}
