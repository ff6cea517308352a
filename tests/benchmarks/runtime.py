"""What the runtime costs: turns, pauses, resumes, long sessions, declarations, its import."""

import asyncio
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

from google.genai import types

from agents import Agent, FunctionTool, InMemorySessionService, LlmRequest, LlmResponse, Runner
from agents.runtime.confirmation import ToolConfirmation
from tests.benchmarks.floor import BareLoop
from tests.benchmarks.timing import interleaved

LONG, SHORT = 5_000, 10
IMPORT = """
import time
from google.genai import types
begun = time.process_time()
import agents
print(time.process_time() - begun)
"""


async def reimburse(amount: float, purpose: str = "misc") -> dict[str, Any]:
    """Pay money back to a person.

    Args:
        amount: How much, in dollars.
        purpose: What it was spent on.
    """
    return {"status": "ok", "amount": amount, "purpose": purpose}


def bare_reimburse(amount: float, purpose: str) -> dict[str, Any]:
    """Pay money back to a person."""
    return {"status": "ok", "amount": amount, "purpose": purpose}


def message(text: str) -> types.Content:
    """What a person says."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def reply(contents: Any) -> types.Content:
    """A call after words, words after a result."""
    if contents[-1].parts[0].function_response:
        return types.Content(role="model", parts=[types.Part(text="It is paid.")])
    call = types.FunctionCall(name="reimburse", args={"amount": 20.0, "purpose": "lunch"})
    return types.Content(role="model", parts=[types.Part(function_call=call)])


class Canned:
    """A model that costs next to nothing."""

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer as `reply` does."""
        yield LlmResponse(content=reply(request.contents))


async def bare_model(contents: list[types.Content], _declaration: Any) -> types.Content:
    """The same for the bare loop."""
    return reply(contents)


class Desk:
    """A runner with sessions."""

    def __init__(self, *, gated: bool = False) -> None:
        """One agent with one tool."""
        tool = FunctionTool(reimburse, require_confirmation=gated)
        agent = Agent(name="payer", instruction="Pay what is asked for.", tools=[tool])
        self.service = InMemorySessionService()
        self.runner = Runner(agent=agent, session_service=self.service, models=Canned())
        self.numbers = count()
        self.waiting: list[tuple[str, str]] = []

    async def session(self) -> str:
        """A new session."""
        made = await self.service.create_session(app_name="payer", user_id="u")
        return made.id

    async def say(self, session: str, content: types.Content) -> list[Any]:
        """Put a message to a session; the events that came."""
        where = {"user_id": "u", "session_id": session}
        return [event async for event in self.runner.run_async(**where, new_message=content)]

    async def turn(self) -> None:
        """One turn of a new session."""
        await self.say(await self.session(), message("20 dollars for lunch"))

    async def pause(self) -> None:
        """A turn that ends with a question."""
        session = await self.session()
        events = await self.say(session, message("20 dollars for lunch"))
        request = next(asked for event in events for asked in event.questions)
        self.waiting.append((session, request))

    async def resume(self) -> None:
        """The turn after a question was answered."""
        session, request = self.waiting.pop()
        answer = ToolConfirmation(confirmed=True).response(request)
        await self.say(session, types.Content(role="user", parts=[answer]))

    async def grown(self, events: int) -> str:
        """A session with that many events, four a turn."""
        session = await self.session()
        for _ in range(events // 4):
            await self.say(session, message("20 dollars for lunch"))
        return session


async def turns() -> dict[str, float]:
    """CPU of a turn, bare and ours."""
    bare = BareLoop(bare_reimburse, bare_model, amount=(float, ...), purpose=(str, "misc"))
    bare.tool.__name__ = "reimburse"
    desk, names = Desk(), count()
    works = {
        "bare": lambda: bare.run(f"s{next(names)}", message("20 dollars for lunch")),
        "turn": desk.turn,
    }
    return await interleaved(works, rounds=11, times=60, pick=min)


async def pauses() -> dict[str, float]:
    """CPU of a pause and of a resume."""
    desk = Desk(gated=True)
    return await interleaved(
        {"pause": desk.pause, "resume": desk.resume}, rounds=11, times=60, pick=min
    )


async def growth() -> dict[str, float]:
    """CPU of the next turn of a short and of a long session."""
    desk = Desk()
    sessions = {"short": await desk.grown(SHORT), "long": await desk.grown(LONG)}
    found: dict[str, list[float]] = {name: [] for name in sessions}
    for _ in range(9):
        short = await desk.grown(SHORT)
        works = {
            "short": lambda s=short: desk.say(s, message("one more")),
            "long": lambda: desk.say(sessions["long"], message("one more")),
        }
        once = await interleaved(works, rounds=3, times=2, warm=0, pick=min)
        for name, cost in once.items():
            found[name].append(cost)
    return {name: min(costs) for name, costs in found.items()}


async def declarations() -> dict[str, float]:
    """CPU of reading a function, google-genai's way and ours."""

    async def theirs() -> object:
        return types.FunctionDeclaration.from_callable_with_api_option(
            callable=reimburse, api_option="GEMINI_API"
        )

    async def ours() -> object:
        return FunctionTool(reimburse).declaration

    return await interleaved({"theirs": theirs, "ours": ours}, rounds=11, times=20, pick=min)


def imported() -> float:
    """CPU seconds of `import agents` after google.genai's types, the median of five processes."""
    run = [sys.executable, "-c", IMPORT]
    costs = [float(subprocess.run(run, capture_output=True, check=True).stdout) for _ in range(5)]
    return statistics.median(costs)


def measure() -> dict[str, tuple[float, float, str]]:
    """Each figure with its goal and its unit; smaller is better."""
    turn, asked = asyncio.run(turns()), asyncio.run(pauses())
    grown, declared = asyncio.run(growth()), asyncio.run(declarations())
    bare = turn["bare"]
    return {
        "turn": (turn["turn"] / bare, 5.0, "x the bare loop"),
        "pause": (asked["pause"] / bare, 5.0, "x the bare loop"),
        "resume": (asked["resume"] / bare, 6.0, "x the bare loop"),
        "next turn at 5,000 events": (grown["long"] / grown["short"], 1.3, "x at 10"),
        "declaration, cold": (declared["ours"] / declared["theirs"], 1.0, "x from_callable"),
        "import agents": (imported(), 0.2, "s CPU over google.genai.types"),
        "bare loop": (bare, float("inf"), "us CPU"),
    }
