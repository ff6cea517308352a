"""A card that lives in somebody's thread: what is said under it is said in that thread."""

import json
from typing import Any

import pytest

from bot.playground import MAX, MIA
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons

HOTEL = "please reimburse 200 dollars for the hotel"
REMINDED = {"reminders": [0.2], "expires": "5s"}
ESCALATED = {"reminders": [], "escalate": {"0.2": [MIA.id]}, "expires": "5s"}


def asking(**policy: Any) -> dict[str, Any]:
    """Settings by which Max is asked, and nobody notified."""
    told = {"approvers": [MAX.id], "notify": [], **policy}
    return {"approval_policies": json.dumps({"reimbursement.reimburse": told})}


async def _opened(open_office: Opening, policy: dict[str, Any], *, where: str) -> Office:
    """An office in which the card of the next request comes into the thread of the request."""
    if where == "archived":
        office = await open_office(**asking(**{**policy, "notify": None}))
        office.slack.workspace.channel("approvals").is_archived = True
        return office
    routes = {"#partners" if where == "shared" else "#expenses": "reimbursement"}
    return await open_office(approvers_channel=None, routes=routes, **asking(**policy))


@pytest.mark.parametrize("where", ["nobody is notified", "archived", "shared"])
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param(REMINDED, "still waits for a decision", id="reminder"),
        pytest.param(ESCALATED, "may decide this as well now", id="escalation"),
    ],
)
async def test_what_is_said_under_it_comes_into_the_thread(
    open_office: Opening, policy, words, *, where
):
    """Slack takes it, so nobody is told that Slack refused, and there is no second card."""
    office = await _opened(open_office, policy, where=where)
    place = "partners" if where == "shared" else "expenses"
    thread = await office.ask(HOTEL, where=place)
    said = await office.answer(thread, words, where=place)
    assert said["thread_ts"] == thread
    told = [full_text(each) for each in office.slack.thread(place, thread)]
    assert not any("Slack refused" in each for each in told)
    assert sum("I could not ask" in each for each in told) == (where == "archived")
    live = [m for m in office.slack.thread(place, thread) if {"approve", "show"} & {*buttons(m)}]
    assert len(live) == 1


async def test_who_writes_there_sees_it(open_office: Opening):
    """That somebody wrote in the conversation is not told to that conversation."""
    office = await _opened(open_office, REMINDED, where="archived")
    thread = await office.ask(HOTEL)
    await office.answer(thread, "I ask here")
    await office.slack.say("ana", "expenses", "hello?", thread_ts=thread)
    await office.answer(thread, "still waits for a decision")
    told = [full_text(each) for each in office.slack.thread("expenses", thread)]
    assert not any("wrote in the conversation" in each for each in told)
