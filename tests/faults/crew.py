"""What runs inside a forked bot: an agent that does as it is told, and tools that leave traces."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp

from agents import (
    Agent,
    AgentTool,
    ApprovalPolicy,
    FunctionTool,
    LongRunningFunctionTool,
    TicketSystem,
    ToolContext,
)
from agents.runtime import calling, patience, runner
from bot import app, clock, courier, crash, lines, outbox, roles, worker
from bot.crash import CrashPoint
from bot.index import due, lists
from bot.playground import BEN, MAX, MIA
from bot.playground.people import TEAM_ID
from bot.settings import Settings
from bot.slack import endings
from tests.faults import bugs, planted
from tests.faults.case import LIMIT
from tests.faults.plan import SETTLE
from tests.faults.props import Ledger, Obedient

AGENT = "crew"
MANAGERS = "managers"
"""Who may decide about offers, while they are in the user group."""
APPROVERS = (MAX.id, MIA.id, BEN.id)
OFTEN = {
    "ticket_poll": timedelta(seconds=0.2),
    "ticket_poll_limit": timedelta(seconds=0.4),
}
PACE, STALL = 0.1, 0.4
"""Seconds between two looks at the clock, and how late one of them may be."""
NOWHERE = "nowhere"
"""A crash point that no process passes: its ports are watched all the same."""


def play(order: Mapping[str, Any]) -> int:
    """Be the bot of an order until SIGTERM.

    An order has `name`, `settings`, `log` and `ledger`; it may have a `plant`, `skew` in seconds,
    `moody`, and `frozen`: where the process stands still instead of dying. Unless it `walks`, what
    nobody is woken for is found by nobody.
    """
    hurry()
    if not order.get("walks", True):
        bugs.nobody_walks()
    planted.plant(order.get("plant", ""))
    if order.get("skew"):
        now, skew = time.time, order["skew"]
        time.time = lambda: now() + skew
    _watch(frozen=order.get("frozen", False))
    settings = Settings(**order["settings"], **OFTEN)
    lines.set_up("INFO")
    for handler in logging.getLogger().handlers:
        handler.setFormatter(_Timed(order["name"]))
    asyncio.run(_play(settings, order))
    return 0


def hurry() -> None:
    """Let what takes seconds or minutes in life take fractions here."""
    worker.RETRIES, worker.AGAIN = (0.2, 0.4, 0.8, 1.0), 0.1
    outbox.LOOK_AGAIN = outbox.MENDED_AGAIN = 0.3
    courier.FRESH, courier.LOOKS = 0.4, (0.0, 0.3, 1.0)
    endings.WAIT = 0.2
    clock.EXPIRY = 0.2
    clock.TICKETS = 0.2
    clock.RECONCILE = 1.0
    roles.ANCHOR, lists.ANCHORING = 0.3, 4
    due.CLAIM_DUE = 1_500
    runner.MAX_DEATHS = 3
    calling.SETTLE = SETTLE
    patience.Patience.__init__.__defaults__ = (4, 1.0, 0.05)


def _watch(*, frozen: bool) -> None:
    """Write down each place when it is passed first; stand still there instead of dying."""
    passed, known = CrashPoint.passed, set()

    def noted(self: CrashPoint, place: str) -> None:
        if place not in known:
            known.add(place)
            sys.stdout.write(f"{time.time():.3f} place {place}\n")
        passed(self, place)

    CrashPoint.passed = noted
    if frozen:
        crash.signal = _Stopping


class _Stopping:
    """The signals as a process knows them that is to stand still."""

    SIGKILL = signal.SIGSTOP


class _Timed(lines.Line):
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
    pace = asyncio.create_task(keep_pace(_noted))
    async with _hired(settings, order) as agent, app.opened(settings, agents=[agent]) as bot:
        await bot.run(stopping)
    pace.cancel()


async def keep_pace(note: Callable[[str], None]) -> None:
    """Write down whenever this process stands still for too long to renew its leases."""
    while True:
        began = time.monotonic()
        await asyncio.sleep(PACE)
        if (late := time.monotonic() - began - PACE) > STALL:
            note(f"stall {late:.2f}")


def _noted(text: str) -> None:
    sys.stdout.write(f"{time.time():.3f} {text}\n")
    sys.stdout.flush()


@asynccontextmanager
async def _hired(settings: Settings, order: Mapping[str, Any]) -> AsyncGenerator[Agent]:
    """The agent with everything it works with."""
    point = CrashPoint(settings.crash_at)
    async with aiohttp.ClientSession() as session:
        url = settings.redis_url.get_secret_value() if settings.redis_url else ""
        async with app.local_tickets(url, tenant=TEAM_ID) as tickets:
            yield crew(
                Tools(
                    point.watched(Ledger(session, order["ledger"]), "ledger"),
                    point.watched(tickets, "tickets"),
                ),
                point.watched(Obedient(order.get("moody", 0)), "model"),
            )


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


@dataclass(frozen=True)
class Tools:
    """One tool of each kind: what people must agree to, and what may happen twice."""

    ledger: Ledger
    tickets: TicketSystem

    async def pay(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Pay, idempotent."""
        return await self.ledger.act(tool_context, "pay", n=n, mark=mark)

    async def wire(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Wire, which must happen once and cannot be looked up."""
        return await self.ledger.act(tool_context, "wire", n=n, mark=mark)

    async def book(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Book, which must happen once and can be looked up."""
        return await self.ledger.act(tool_context, "book", n=n, mark=mark)

    async def look(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Look, which changes nothing."""
        return {"seen": n, "mark": mark}

    async def share(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Share, which two people of three must agree to."""
        return await self.ledger.act(tool_context, "share", n=n, mark=mark)

    async def brief(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Brief, which hardly anybody agrees to in time."""
        return await self.ledger.act(tool_context, "brief", n=n, mark=mark)

    async def offer(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Offer, which asks by itself."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint=f"Offer {n}?")
            return {"status": "asking"}
        return await self.ledger.act(tool_context, "offer", n=n, mark=mark)

    async def grant(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Grant, which asks how much."""
        answer = tool_context.tool_confirmation
        if answer is None:
            tool_context.request_confirmation(hint=f"Grant {n}?", payload={"days": 0})
            return {"status": "asking"}
        days = dict(answer.payload or {}).get("days")
        return await self.ledger.act(tool_context, "grant", n=n, mark=mark, days=days)

    async def order(self, n: int, mark: str, tool_context: ToolContext) -> dict[str, Any]:
        """Order, which other people work on."""
        key = tool_context.idempotency_key
        ticket = await self.tickets.create(
            subject=mark, urgency="low", requester=tool_context.user_id, key=key
        )
        return {"status": "pending", "ticket_id": ticket.id}

    async def die(self, n: int, mark: str, tool_context: ToolContext) -> None:
        """Die, and whoever works on it with it."""
        os.kill(os.getpid(), signal.SIGKILL)


def crew(tools: Tools, model: Any) -> Agent:
    """The agent that has all of them, `wire` at two more depths."""

    def over(n: int) -> bool:
        return n > LIMIT

    wire = FunctionTool(tools.wire, require_confirmation=over)
    helper = Agent(name="helper", description="Wires.", model=model, tools=[wire])
    boss = Agent(name="boss", description="Has a helper.", model=model, tools=[AgentTool(helper)])
    two = ApprovalPolicy(quorum=2)
    soon = ApprovalPolicy(expires=timedelta(milliseconds=600))
    return Agent(
        name=AGENT,
        model=model,
        tools=[
            wire,
            FunctionTool(tools.pay, require_confirmation=over, effects="idempotent"),
            FunctionTool(tools.book, require_confirmation=over, reconcile=tools.ledger.find),
            FunctionTool(tools.look, effects="none"),
            FunctionTool(
                tools.share, require_confirmation=True, effects="idempotent", approval=two
            ),
            FunctionTool(tools.brief, require_confirmation=True, approval=soon),
            FunctionTool(tools.offer, approval=ApprovalPolicy(approvers=(MANAGERS,))),
            FunctionTool(tools.grant),
            LongRunningFunctionTool(tools.order, effects="idempotent"),
            FunctionTool(tools.die, effects="none"),
            AgentTool(helper),
            AgentTool(boss),
        ],
    )
