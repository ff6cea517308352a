"""What a question says that the model left out: always of the call as it would run now."""

from collections.abc import Callable
from typing import Any

import pytest

from agents import Agent, FunctionTool, ToolContext
from agents.runtime.testing import call
from tests.agents.desk import Desk
from tests.agents.test_interrupted import interrupted


def pay(amount: int, note: str = "x", days: int = 3) -> str:
    """Pay."""
    return f"paid {amount} {note} {days}"


def another_default(amount: int, note: str = "y", days: int = 3) -> str:
    """Pay."""
    return f"paid {amount} {note} {days}"


def one_more(amount: int, note: str = "x", days: int = 3, cc: str = "") -> str:
    """Pay."""
    return f"paid {amount} {note} {days} {cc}"


def one_fewer(amount: int, note: str = "x") -> str:
    """Pay."""
    return f"paid {amount} {note}"


def required(amount: int, note: str, days: int = 3) -> str:
    """Pay."""
    return f"paid {amount} {note} {days}"


def for_all(amount: int = 5, note: str = "x", days: int = 3) -> str:
    """Pay."""
    return f"paid {amount} {note} {days}"


def gated(function: Callable[..., Any], **options: Any) -> FunctionTool:
    """The function as a tool that asks a person."""
    return FunctionTool(function, name="pay", require_confirmation=True, **options)


async def asked_again(tool: FunctionTool, **args: Any) -> Any:
    """The question that the next build asks, once the first one was answered with yes."""
    at = await Desk(Agent(name="a", tools=[gated(pay)]), [call("pay", **args)]).open()
    first = await at.say()
    later = Desk(Agent(name="a", tools=[tool]), ["End."], service=at.service)
    later.asked = at.asked
    events = [*first, *await later.answer()]
    return [q for event in events for q in event.questions.values()]


@pytest.mark.parametrize(
    ("function", "args", "before", "after"),
    [
        pytest.param(
            another_default, {"amount": 1}, ("days", "note"), ("days",), id="another default"
        ),
        pytest.param(
            another_default, {"amount": 1, "note": "y"}, ("days",), ("days",), id="given as it is"
        ),
        pytest.param(
            one_more,
            {"amount": 1},
            ("days", "note"),
            ("cc", "days", "note"),
            id="one parameter more",
        ),
        pytest.param(
            one_more, {"amount": 1, "note": "a", "days": 1}, (), ("cc",), id="the first left out"
        ),
        pytest.param(one_fewer, {"amount": 1}, ("days", "note"), ("note",), id="one fewer"),
        pytest.param(required, {"amount": 1}, ("days", "note"), (), id="it is required now"),
        pytest.param(
            required, {"amount": 1, "note": "x"}, ("days",), ("days",), id="the given is required"
        ),
        pytest.param(for_all, {"amount": 5}, ("days", "note"), ("days", "note"), id="given before"),
    ],
)
async def test_asked_again_after_a_deploy(function, args, before, after):
    """The marks are those of the tool of now: what is no default any more is not called one."""
    questions = await asked_again(gated(function), **args)
    assert [question.defaults for question in questions] == [before, after]
    assert set(after) <= questions[-1].args.keys()


async def test_asked_again_without_a_deploy():
    """What people are asked about again for its price has the marks of the first question."""
    prices = iter([1, 2])
    tool = gated(pay, precondition=lambda amount: next(prices, 2))
    at = await Desk(Agent(name="a", tools=[tool]), [call("pay", amount=1), "End."]).open()
    events = [*await at.say(), *await at.answer()]
    marks = [q.defaults for event in events for q in event.questions.values()]
    assert marks == [("days", "note"), ("days", "note")]


async def test_a_second_question_of_a_body():
    """A body that asks twice: the second question knows what the model left out, too."""

    def ask(amount: int, tool_context: ToolContext, note: str = "x") -> dict[str, Any]:
        """Pay."""
        answer = tool_context.tool_confirmation
        if answer is None or answer.payload != {"sure": True}:
            payload = {"sure": False} if answer else None
            tool_context.request_confirmation(hint="Sure?", payload=payload)
        return {"paid": amount, "note": note}

    at = await Desk(Agent(name="a", tools=[ask]), [call("ask", amount=1), "End."]).open()
    events = [*await at.say(), *await at.answer()]
    marks = [q.defaults for event in events for q in event.questions.values()]
    assert marks == [("note",), ("note",)]


@pytest.mark.parametrize(
    ("function", "answers", "marks"),
    [
        pytest.param(pay, 1, ("days", "note"), id="approved"),
        pytest.param(pay, 0, ("days", "note"), id="nobody was asked"),
        pytest.param(another_default, 1, ("days",), id="approved, another default"),
        pytest.param(another_default, 0, ("days", "note"), id="bound anew, nobody was asked"),
    ],
)
async def test_asked_whether_it_happened(function, answers: int, marks):
    """The card of an interrupted call has its marks as well."""
    tool = gated(pay) if answers else FunctionTool(pay, name="pay")
    at = await interrupted(tool, [call("pay", amount=1)], answers=answers)
    there = Desk(Agent(name="root", tools=[gated(function)]), ["Well."] * 9, service=at.service)
    events = await there.send()
    [question] = [q for event in events for q in event.questions.values()]
    assert (question.unknown, question.defaults) == (True, marks)
