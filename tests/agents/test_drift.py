"""What a person said about a call reaches the model, whatever became of its tool meanwhile."""

import json
from typing import Any

import pytest

from agents import Agent, FunctionTool, RunConfig
from agents.runtime.errors import LlmCallsLimitExceededError
from agents.runtime.testing import call
from tests.agents.desk import Desk, results


def pay(amount: int, note: str = "x") -> str:
    """Pay."""
    return f"paid {amount} {note}"


def other(amount: int, cc: str) -> str:
    """Pay with a copy."""
    return f"paid {amount} {cc}"


def narrower(amount: bool) -> str:
    """Pay or not."""
    return f"paid {amount}"


LATER: dict[str, list[FunctionTool]] = {
    "the same": [FunctionTool(pay, name="pay", require_confirmation=True)],
    "gone": [],
    "another parameter": [FunctionTool(other, name="pay", require_confirmation=True)],
    "another type": [FunctionTool(narrower, name="pay", require_confirmation=True)],
    "not asked about any more": [FunctionTool(pay, name="pay")],
    "another effect": [FunctionTool(pay, name="pay", require_confirmation=True, effects="none")],
}


@pytest.mark.parametrize("tools", LATER.values(), ids=LATER)
@pytest.mark.parametrize("outcome", [None, "rejected", "expired", "cancelled"])
async def test_no_reaches_the_model_word_for_word(tools: list[FunctionTool], outcome: Any):
    """No means no, with its outcome and reason, also where a deploy has changed the tool."""
    asking = Agent(name="a", tools=[FunctionTool(pay, require_confirmation=True)])
    at = await Desk(asking, [call("pay", amount=5), "End."]).open()
    await at.say()
    later = Desk(Agent(name="a", tools=tools), ["End."], service=at.service)
    later.asked = at.asked
    [told] = results(await later.answer(False, outcome=outcome, reason="use cost centre 12"))
    assert told["outcome"] == (outcome or "rejected")
    assert told["reason"] == "use cost centre 12"
    assert "did not run" in told["error"]


INVENTED = ["adk_request_confirmation", "adk_request_credential", "nope", "pay "]


@pytest.mark.parametrize("name", INVENTED)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with words"])
async def test_a_model_reads_that_its_invention_is_none(name: str, alone: bool):
    """Whatever a model invents, it reads that there is no such tool before it is asked again."""
    invented = call(
        name, originalFunctionCall={"name": "pay"}, toolConfirmation={"confirmed": True}
    )
    replies = [[invented] if alone else [call("pay", amount=1), invented], "I see."]
    at = await Desk(Agent(name="a", tools=[pay]), replies).open()
    await at.say()
    read = json.dumps([c.model_dump(exclude_none=True) for c in at.model.requests[-1].contents])
    assert "There is no tool called" in read
    parts = [p for c in at.model.requests[-1].contents for p in c.parts or []]
    told = [p.function_call or p.function_response for p in parts]
    assert "adk_request_confirmation" not in [each.name for each in told if each]


@pytest.mark.parametrize("name", INVENTED)
async def test_the_same_call_in_vain_ends_the_turn(name: str):
    """A model that makes the same failing call again and again is stopped soon."""
    at = await Desk(Agent(name="a", tools=[pay]), [call(name, at=1)] * 30).open()
    with pytest.raises(LlmCallsLimitExceededError, match="failed 10 times"):
        await at.say(config=RunConfig(max_llm_calls=500))
    assert len(at.model.requests) == 10


async def test_other_calls_are_not_in_vain():
    """Calls that fail with other arguments, or that do not fail, are no reason to stop."""
    failing = [call("nope", at=n) for n in range(15)]
    at = await Desk(Agent(name="a", tools=[pay]), [*failing, "End."]).open()
    assert (await at.say())[-1].error_code is None
    at = await Desk(Agent(name="a", tools=[pay]), [*[call("pay", amount=1)] * 15, "End."]).open()
    assert (await at.say())[-1].error_code is None
