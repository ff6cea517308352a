"""What people were just asked about is not put to them again, until somebody speaks."""

import json
from typing import Any

import pytest

from agents import ApprovalPolicy
from agents.runtime.testing import call
from bot.playground import MAX
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons
from tests.stories.scripts import gated, model_of, scripted


def pay(to: str) -> dict[str, Any]:
    """Pay."""
    return {"paid": to}


async def _withdrawn(office: Office, thread: str) -> None:
    line = await office.answer(thread, "Asked Max")
    await office.slack.click("ana", line, "withdraw")


async def _rejected(office: Office, _thread: str) -> None:
    await office.slack.click("max", await office.card("Pay"), "reject")
    await office.slack.wait_for(lambda: office.slack.modals("max"))
    await office.slack.submit("max", {"reason": ""})


async def _expired(_office: Office, _thread: str) -> None:
    """Nobody does anything."""


@pytest.mark.parametrize(
    ("closing", "words", "expires"),
    [
        pytest.param(_withdrawn, "withdrawn or closed", "1h", id="withdrawn"),
        pytest.param(_expired, "nobody answered in time", "1s", id="expired"),
        pytest.param(_rejected, "just rejected", "1h", id="rejected"),
    ],
)
async def test_a_model_that_goes_on_asking(open_office: Opening, closing, words, expires):
    """The same and nearly the same make no card; a person's words make one."""
    again = [call("pay", to=to) for to in ("Bo", "Bo", "bo ")]
    asked = scripted(gated(pay), replies=[*again, "I stop.", call("pay", to="Bo"), "Well."])
    policy = {"reimbursement.pay": {"approvers": [MAX.id], "expires": expires}}
    office = await open_office(agents=asked, approval_policies=json.dumps(policy))
    thread = await office.ask("pay Bo")
    await office.card("Pay")
    await closing(office, thread)
    await office.answer(thread, "I stop.")
    assert len(office.slack.messages("approvals")) == 1
    await office.slack.say("ana", "expenses", "please do", thread_ts=thread)
    card = await office.slack.wait_for(
        lambda: next((m for m in office.slack.messages("approvals")[1:] if buttons(m)), None)
    )
    assert "Bo" in full_text(card)
    told = [answer for request in model_of(asked).requests for answer in _errors(request)]
    assert any(words in error for error in told)


def _errors(request: Any) -> list[str]:
    """What the calls of a request to the model brought."""
    parts = [part for content in request.contents for part in content.parts]
    answers = [part.function_response.response for part in parts if part.function_response]
    return [str(answer.get("error")) for answer in answers]


async def test_a_word_of_the_approver(open_office: Opening):
    """What the only approver writes in the thread takes nothing out of their hands: it runs."""
    paying = gated(pay, approval=ApprovalPolicy(approvers=(MAX.id,)))
    again = [call("pay", to="Bo"), call("pay", to="Bo")]
    asked = scripted(paying, replies=[*again, "It waits for Max.", "Paid."])
    office = await open_office(agents=asked)
    thread = await office.ask("pay Bo")
    card = await office.card("Bo")
    await office.slack.say("max", "expenses", "fine, I will approve it", thread_ts=thread)
    await office.answer(thread, "It waits for Max.")
    assert len([m for m in office.slack.messages("approvals") if buttons(m)]) == 1
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid.")
    await office.slack.wait_for(lambda: "It is done." in full_text(office.now(card)))
    assert any("already" in each for each in _errors(model_of(asked).requests[2]))
