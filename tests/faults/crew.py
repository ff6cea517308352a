"""What runs inside a forked bot: an agent that does as it is told, and tools that leave traces.

A message is a list of calls, `pay 200 a7; look 1 a7`: the name of a tool, a number, and a mark.
Every tool posts to the ledger, which counts, under the key of its call.
"""

import asyncio
import logging
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import aiohttp
from google.genai import types

from agents import (
    Agent,
    ApprovalPolicy,
    FunctionTool,
    LlmRequest,
    LlmResponse,
    ModelUnavailable,
    ToolContext,
)
from agents.runtime import patience
from bot import app, clock, index, logs, outbox, worker
from bot.crash import CrashPoint
from bot.playground import MAX, MIA
from bot.settings import Settings
from bot.slack import replies
from tests.faults import planted

AGENT = "crew"
LIMIT = 100
CALL = re.compile(r"\b(pay|wire|book|look|share|brief|offer) (\d+) (\w+)")


def play(order: Mapping[str, Any]) -> int:
    """Be the bot of an order until SIGTERM: settings, log, `plant`, `skew` in seconds, `moody`."""
    hurry()
    planted.plant(order.get("plant", ""))
    if order.get("skew"):
        now, skew = time.time, order["skew"]
        time.time = lambda: now() + skew
    settings = Settings(**order["settings"])
    logs.set_up("INFO")
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Timed(order["name"]))
    asyncio.run(_play(settings, order))
    return 0


def hurry() -> None:
    """Let what takes seconds or minutes in life take fractions here."""
    worker.RETRIES = (0.2, 0.4, 0.8, 1.0)
    outbox.LOOK_AGAIN = 0.3
    replies.WAIT = 0.2
    clock.EXPIRY = 0.2
    clock.RECONCILE = 1.0
    index.CLAIM_DUE = 1_500
    patience.Patience.__init__.__defaults__ = (4, 1.0, 0.05)


class _Timed(logs.Line):
    """Lines with their time and their process in front, to be merged with others'."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.created:.3f} {self._name} {super().format(record)}"


async def _play(settings: Settings, order: Mapping[str, Any]) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGUSR1, tell_where)
    async with aiohttp.ClientSession() as session:
        ledger = CrashPoint(settings.crash_at).watched(Ledger(session, order["ledger"]), "ledger")
        model = CrashPoint(settings.crash_at).watched(Obedient(order.get("moody", 0)), "model")
        async with app.opened(settings, agents=[crew(ledger, model)]) as bot:
            await bot.run(stopping)


def tell_where() -> None:
    """Where every task of this process stands, for whoever looks for the one that is stuck."""
    for task in asyncio.all_tasks():
        coroutine, way = task.get_coro(), []
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", getattr(coroutine, "ag_frame", None))
            if frame is not None:
                way.append(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}")
            coroutine = getattr(coroutine, "cr_await", getattr(coroutine, "ag_await", None))
        sys.stdout.write(f"{time.time():.3f} stands {' > '.join(way)}\n")
    sys.stdout.flush()


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

    Every `moody`-th time it is unavailable.
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
        last = request.contents[-1].parts or []
        calls = CALL.findall("".join(part.text or "" for part in last))
        parts = [
            types.Part(function_call=types.FunctionCall(name=name, args={"n": int(n), "mark": m}))
            for name, n, m in calls
        ]
        told = [part.function_response for part in last if part.function_response]
        if not parts:
            words = [f"{each.name}: {each.response}" for each in told] or ["heard"]
            parts = [types.Part(text="; ".join(words))]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def crew(ledger: Ledger, model: Any) -> Agent:
    """The agent with one tool of each kind."""

    async def pay(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Pay, idempotent."""
        return await ledger.act(tool_context, "pay", n=n, mark=mark)

    async def wire(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Wire, which must happen once and cannot be looked up."""
        return await ledger.act(tool_context, "wire", n=n, mark=mark)

    async def book(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Book, which must happen once and can be looked up."""
        return await ledger.act(tool_context, "book", n=n, mark=mark)

    async def look(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Look, which changes nothing."""
        return {"seen": n, "mark": mark}

    async def share(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Share, which two people must agree to."""
        return await ledger.act(tool_context, "share", n=n, mark=mark)

    async def brief(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Brief, which nobody agrees to in time."""
        return await ledger.act(tool_context, "brief", n=n, mark=mark)

    async def offer(n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Offer, which asks by itself."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint=f"Offer {n}?")
            return {"status": "asking"}
        return await ledger.act(tool_context, "offer", n=n, mark=mark)

    def over(n: int) -> bool:
        return n > LIMIT

    two = ApprovalPolicy(quorum=2)
    soon = ApprovalPolicy(expires=timedelta(milliseconds=600))
    return Agent(
        name=AGENT,
        model=model,
        tools=[
            FunctionTool(pay, require_confirmation=over, effects="idempotent"),
            FunctionTool(wire, require_confirmation=over),
            FunctionTool(book, require_confirmation=over, reconcile=ledger.find),
            FunctionTool(look, effects="none"),
            FunctionTool(share, require_confirmation=True, effects="idempotent", approval=two),
            FunctionTool(brief, require_confirmation=True, approval=soon),
            FunctionTool(offer),
        ],
    )


APPROVERS = (MAX.id, MIA.id)
