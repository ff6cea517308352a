"""A card that lives in somebody's thread: what is said under it is said in that thread."""

import json
from typing import Any

import pytest

from agents.runtime.testing import call
from bot.playground import MAX, MIA
from bot.playground.messages import full_text
from bot.slack.blocks.line import EDITED
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons
from tests.stories.scripts import gated, scripted

HOTEL = "please reimburse 200 dollars for the hotel"
REMINDED = {"reminders": [0.02], "expires": "50s"}
ESCALATED = {"reminders": [], "escalate": {"0.02": [MIA.id]}, "expires": "50s"}


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


async def test_that_the_message_was_changed_is_said_in_the_thread_too(open_office: Opening):
    """New messages are read there by themselves, and so nothing is said of them; an edit is not."""
    office = await _opened(open_office, {}, where="nobody is notified")
    thread = await office.ask(HOTEL)
    await office.answer(thread, "200")
    message = {**office.slack.thread("expenses", thread)[0]}
    message["channel"] = office.slack.workspace.channel("expenses").id
    await office.slack.edit("ana", message, "please reimburse 20 dollars")
    await office.answer(thread, EDITED)
    told = "".join(full_text(each) for each in office.slack.thread("expenses", thread))
    assert "wrote in the conversation" not in told


@pytest.mark.parametrize("how", ["archived", "renamed", "deleted"])
async def test_the_bot_starts_without_the_channel(open_office: Opening, slack, how):
    """The settings name it still: the whole card comes into the thread, and is decided there."""
    channel = slack.workspace.channel("approvals")
    channel.is_archived, channel.name = how == "archived", "approvals" * (how == "archived")
    if how == "deleted":
        del slack.workspace.channels[channel.id]
    office = await open_office()
    thread = await office.ask(HOTEL)
    await office.answer(thread, "I could not ask in the channel for approvals")
    card = await office.slack.wait_for(lambda: _live(office, thread))
    assert "approve" in buttons(card)
    assert "200" in full_text(card)
    await office.slack.click("max", card, "approve")
    await office.closed(card, "It is done")
    assert office.amounts() == [200]


async def test_who_writes_there_sees_it(open_office: Opening):
    """That somebody wrote in the conversation is not told to that conversation."""
    office = await _opened(open_office, REMINDED, where="archived")
    thread = await office.ask(HOTEL)
    await office.answer(thread, "I ask here")
    await office.slack.say("ana", "expenses", "hello?", thread_ts=thread)
    await office.answer(thread, "still waits for a decision")
    told = [full_text(each) for each in office.slack.thread("expenses", thread)]
    assert not any("wrote in the conversation" in each for each in told)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        pytest.param(REMINDED, "still waits for a decision", id="reminder"),
        pytest.param(ESCALATED, "may decide this as well now", id="escalation"),
        pytest.param({"expires": "5s"}, "wrote in the conversation", id="somebody writes"),
    ],
)
async def test_the_channel_is_archived_later(open_office: Opening, policy, words):
    """The card comes into the thread as well: it is decided there, and loses its buttons."""
    office = await open_office(**asking(**{**policy, "notify": None}))
    thread = await office.ask(HOTEL)
    await office.card("200")
    office.slack.workspace.channel("approvals").is_archived = True
    if words == "wrote in the conversation":
        await office.slack.say("ana", "expenses", "hello?", thread_ts=thread)
    await office.answer(thread, "I could not ask in the channel for approvals: That channel is")
    await office.answer(thread, words)
    card = await office.slack.wait_for(lambda: _live(office, thread))
    await office.slack.click("max", card, "approve")
    await office.closed(card, "It is done")
    told = [full_text(each) for each in office.slack.thread("expenses", thread)]
    assert sum("I ask here" in each for each in told) == 1
    assert office.amounts() == [200]


async def test_one_card_at_home_is_enough(open_office: Opening):
    """A second reminder is not told that it could not be given: the card in the thread has it."""
    policy = {"reminders": [0.05, 0.1], "expires": "60s", "notify": None}
    office = await open_office(**asking(**policy))
    thread = await office.ask(HOTEL)
    await office.card("200")
    office.slack.workspace.channel("approvals").is_archived = True
    await office.slack.wait_for(lambda: len(_reminders(office, thread)) == 2 or None)
    told = [full_text(each) for each in office.slack.thread("expenses", thread)]
    assert sum("I ask here" in each for each in told) == 1
    assert sum("Approve" in each for each in told) == 1


@pytest.mark.parametrize("archived", [False, True])
async def test_whose_approval_counts_no_more_is_told(open_office: Opening, archived):
    """Who approved one of two, and is asked again by a newer request, hears of it by name."""

    def pay(n: int) -> dict[str, Any]:
        """Pay."""
        return {"paid": n}

    agents = scripted(gated(pay), replies=[call("pay", n=5), call("pay", n=5), *["Well."] * 3])
    policy = {"approvers": [MAX.id, MIA.id], "quorum": 2}
    settings = {"approval_policies": json.dumps({"reimbursement.pay": policy})}
    office = await open_office(agents=agents, **settings)
    thread = await office.ask("pay")
    card = await office.card("Pay")
    await office.slack.click("max", card, "approve")
    await office.note("max", "1 of 2")
    office.slack.workspace.channel("approvals").is_archived = archived
    await office.slack.say("ana", "expenses", "please", thread_ts=thread)
    place, under = ("expenses", thread) if archived else ("approvals", card["ts"])
    told = await office.answer(under, "what you said here is not counted there", where=place)
    assert f"<@{MAX.id}>" in full_text(told)
    assert MIA.id not in full_text(told)


def _live(office: Office, thread: str) -> Any:
    """The card with buttons that is in a thread."""
    found = office.slack.thread("expenses", thread)
    return next((each for each in found if "approve" in buttons(each)), None)


def _reminders(office: Office, thread: str) -> list[str]:
    """What is said in a thread about its still waiting."""
    told = [full_text(each) for each in office.slack.thread("expenses", thread)]
    return [each for each in told if "still waits" in each]
