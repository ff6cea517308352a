"""What is beside a body and never answers holds nobody up: it counts as failed."""

import asyncio
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from agents import Agent, FunctionTool, UsageError
from agents.runtime import calling
from agents.runtime.testing import call
from tests.agents.desk import Desk, results
from tests.agents.test_interrupted import interrupted

SOON = 0.5
Looks = Callable[..., Any]


@pytest.fixture
def looks() -> Generator[dict[str, Looks]]:
    """Functions that never answer, until the test is over."""
    over = threading.Event()

    async def forever(**_told: Any) -> None:
        await asyncio.Event().wait()

    def in_a_thread(**_told: Any) -> None:
        over.wait(10)

    async def step_by_step(**_told: Any):
        yield 1
        await asyncio.Event().wait()

    yield {"async": forever, "in a thread": in_a_thread, "a generator": step_by_step}
    over.set()


KINDS = ["async", "in a thread", "a generator"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_look_that_never_ends(
    looks: dict[str, Looks], kind: str, monkeypatch: pytest.MonkeyPatch
):
    """Nobody can tell whether an interrupted call happened, so a person is asked."""
    monkeypatch.setattr(calling, "SETTLE", 0.01)
    look, ran = looks[kind], list[int]()

    def act() -> None:
        """Act."""
        ran.append(1)

    tool = FunctionTool(act, reconcile=lambda key: look(key=key), patience=SOON)
    at = await interrupted(tool, [call("act"), "Well."])
    [found] = results(await at.send())
    assert (found["status"], ran) == ("unknown", [1])
    assert [question.unknown for question in await _asked(at)] == [True]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_precondition_that_never_ends(looks: dict[str, Looks], kind: str):
    """What the call depends on is not known: nobody is asked, and nothing runs."""
    ran: list[int] = []

    def act() -> None:
        """Act."""
        ran.append(1)

    tool = FunctionTool(
        act, require_confirmation=True, precondition=_bare(looks[kind]), patience=SOON
    )
    at = await Desk(Agent(name="a", tools=[tool]), [call("act"), "Well."]).open()
    [found] = results(await at.say())
    assert "act did not run" in found["error"]
    assert "no answer within 0.5 seconds" in found["error"]
    assert (await _asked(at), ran) == ([], [])


async def test_a_precondition_that_ends_no_more_when_people_have_agreed(looks: dict[str, Looks]):
    """Whether what people agreed to still stands is not known, so it does not start."""
    ran, found = list[int](), [{"price": 5}]

    async def price() -> dict[str, int]:
        return found.pop() if found else await looks["async"]()

    def act() -> None:
        """Act."""
        ran.append(1)

    tool = FunctionTool(act, require_confirmation=True, precondition=price, patience=SOON)
    at = await Desk(Agent(name="a", tools=[tool]), [call("act"), "Well."]).open()
    await at.say()
    [told] = results(await at.answer())
    assert ("act did not run" in told["error"], ran) == (True, [])


@pytest.mark.parametrize("kind", KINDS)
async def test_a_predicate_that_never_ends(looks: dict[str, Looks], kind: str):
    """Whether people must agree is not known, so they are asked."""

    def act() -> None:
        """Act."""

    tool = FunctionTool(act, require_confirmation=_bare(looks[kind]), patience=SOON)
    at = await Desk(Agent(name="a", tools=[tool]), [call("act"), "Well."]).open()
    await at.say()
    assert len(await _asked(at)) == 1


def _bare(look: Looks) -> Looks:
    """The function without parameters of its own."""
    if asyncio.iscoroutinefunction(look):

        async def later() -> Any:
            return await look()

        return later

    def now() -> Any:
        return look()

    return now


async def test_a_body_may_take_its_time():
    """Only what is beside a body has to answer soon."""

    async def act() -> str:
        """Act."""
        await asyncio.sleep(2 * SOON)
        return "done"

    agent = Agent(name="a", tools=[FunctionTool(act, patience=SOON)])
    at = await Desk(agent, [call("act"), "Well."]).open()
    assert results(await at.say()) == [{"result": "done"}]


@pytest.mark.parametrize("patience", [0, -1, True, "5", None, float("nan"), float("inf")], ids=repr)
def test_patience_is_a_span(patience: Any):
    """It is a number of seconds, which end."""

    def act() -> None:
        """Act."""

    with pytest.raises(UsageError, match="patience must be a number of seconds"):
        FunctionTool(act, patience=patience)


async def _asked(at: Desk) -> list[Any]:
    """The questions of a session."""
    return [q for event in (await at.session()).events for q in event.questions.values()]
