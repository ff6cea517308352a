"""What happens between a call that needs a person and what comes of it."""

import re

from bot.playground import ANA, BEN, MAX, MIA
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons


async def asked(
    office: Office, text: str = "please reimburse 200 dollars for the hotel", *, who: str = "ana"
) -> tuple[str, Message]:
    """Somebody asks for what a person must agree to: the thread, and the card."""
    thread = await office.ask(text, who=who)
    await office.answer(thread, "Asked")
    return thread, await office.card()


async def days_asked(office: Office) -> tuple[str, Message]:
    """Five days off are asked for: the thread, and the card."""
    thread = await office.ask("I'd like to take five days off from 2026-12-24", where="time-off")
    return thread, await office.card("5 days off")


async def test_the_card_goes_to_the_approvers(office: Office):
    """The channel for approvals gets the call with its arguments, and mentions who may decide."""
    _, card = await asked(office)
    assert f"<@{MAX.id}>" in full_text(card)
    assert f"<@{MIA.id}>" in full_text(card)
    assert "200" in full_text(card)
    assert buttons(card) == ["approve", "reject"]
    assert office.amounts() == []


async def test_the_thread_says_who_was_asked(office: Office):
    """Whoever asked reads who decides, and until when; the card has pinged these already."""
    thread, _ = await asked(office)
    line = await office.answer(thread, "Asked")
    assert f"{MAX.real_name} and {MIA.real_name}, until <!date^" in line["text"]
    assert not {MAX.id, MIA.id} & set(re.findall(r"\w+", full_text(line)))


async def test_approved_the_call_runs(office: Office):
    """Approve: the money is paid once, and the thread hears it."""
    thread, card = await asked(office)
    clicked = await office.slack.click("max", card, "approve")
    assert clicked.ok
    await office.answer(thread, "Paid 200 for hotel")
    assert office.amounts() == [200]
    assert "Amount: 200, Purpose: hotel" in full_text(await office.closed(card, "Result"))


async def test_rejected_the_call_never_runs_and_the_reason_arrives(office: Office):
    """Reject: a form takes a reason, and what was typed reaches the agent word for word."""
    thread, card = await asked(office)
    await office.slack.click("mia", card, "reject")
    await office.slack.wait_for(lambda: office.slack.modals("mia"))
    sent = await office.slack.submit("mia", {"reason": "use cost centre 12"})
    assert sent.ok
    await office.answer(thread, "use cost centre 12")
    closed = await office.closed(card, "Rejected")
    assert "use cost centre 12" in full_text(closed)
    assert office.amounts() == []


async def test_a_reason_is_optional(office: Office):
    """A rejection without a reason is one, too."""
    thread, card = await asked(office)
    await office.slack.click("mia", card, "reject")
    await office.slack.wait_for(lambda: office.slack.modals("mia"))
    await office.slack.submit("mia")
    await office.closed(card, "Rejected")
    await office.slack.wait_for(lambda: len(office.slack.thread("expenses", thread)) == 3)
    assert office.amounts() == []


async def test_what_was_filled_in_is_what_the_agent_gets(office: Office):
    """Five days are asked for and three approved: the agent goes on with three."""
    thread, card = await days_asked(office)
    await office.slack.click("max", card, "approve", values={"approved_days": "3"})
    answer = await office.answer(thread, "days are approved", where="time-off")
    assert "3 of 5" in answer["text"]
    assert "3" in full_text(await office.closed(card, "Approved"))


async def test_a_wrong_value_is_told_at_the_click(office: Office):
    """More days than were asked for: the person reads why, and can try again."""
    thread, card = await days_asked(office)
    await office.slack.click("max", card, "approve", values={"approved_days": "9"})
    note = await office.note("max", "Approved days")
    assert "5" in note["text"]
    assert buttons(office.now(card)) == ["approve", "reject"]
    await office.slack.click("max", card, "approve", values={"approved_days": "5"})
    await office.answer(thread, "5 days are approved", where="time-off")


async def test_a_missing_value_is_told_at_the_click(office: Office):
    """Approve with nothing filled in decides nothing, and says so."""
    _, card = await days_asked(office)
    clicked = await office.slack.click("max", card, "approve")
    assert clicked.status == 200
    await office.note("max", "Approved days")
    assert buttons(office.now(card)) == ["approve", "reject"]


async def test_a_click_decides_at_once(open_office: Opening):
    """The decision stands when Slack hears 200, though no worker is there to go on."""
    office = await open_office()
    _, card = await asked(office)
    await open_office(roles=["web"])
    await office.slack.click("max", card, "approve")
    clicked = await office.slack.click("mia", card, "approve")
    assert clicked.ok
    await office.note("mia", f"already approved by <@{MAX.id}>")


async def test_every_copy_of_the_card_is_closed(open_office: Opening):
    """Without a channel each approver gets a card; one decides, and both cards say who."""
    office = await open_office(approvers_channel=None)
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    dms = [office.slack.workspace.dm(person).id for person in (MAX, MIA)]
    cards = [await office.card("200", where=dm) for dm in dms]
    await office.slack.click("mia", cards[1], "approve")
    for card in cards:
        assert f"<@{MIA.id}>" in full_text(await office.closed(card, "Approved"))
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_a_stranger_to_the_decision_is_told_privately(open_office: Opening):
    """Who may not decide hears who may, alone; the question stays open."""
    office = await open_office(approvers_channel="#general")
    await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card("200", where="general")
    clicked = await office.slack.click("ben", card, "approve")
    assert clicked.ok
    note = await office.note("ben", "You cannot decide this", where="general")
    assert f"<@{MAX.id}>" in note["text"]
    assert office.whispered("ana", where="general") is None
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


async def test_nobody_approves_their_own_request(open_office: Opening):
    """An approver who asks is asked for somebody else's agreement."""
    office = await open_office()
    _, card = await asked(office, who="max")
    await office.slack.click("max", card, "approve")
    await office.note("max", "somebody else has to decide")
    assert f"<@{MAX.id}>" not in card["text"].partition("Asked:")[2]
    await office.slack.click("mia", card, "approve")
    await office.closed(card, "Approved")


async def test_the_second_one_hears_who_was_first(office: Office):
    """Two people press the same card; the second is told who decided, privately."""
    thread, card = await asked(office)
    await office.slack.click("max", card, "approve")
    await office.slack.click("mia", card, "approve")
    await office.note("mia", f"already approved by <@{MAX.id}>")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_the_same_click_twice_is_one(office: Office):
    """A double click brings one payment and no warning."""
    thread, card = await asked(office)
    clicks = [await office.slack.click("max", card, "approve") for _ in range(2)]
    assert all(click.ok for click in clicks)
    await office.note("max", "You already approved this")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_nobody_answers_in_time(open_office: Opening):
    """An unanswered question expires: the card says so, the call never runs, a click is told."""
    office = await open_office(approval_ttl="4s")
    thread, card = await asked(office)
    await office.slack.wait_for(lambda: "Expired" in full_text(office.now(card)))
    await office.slack.click("max", card, "approve")
    await office.note("max", "expired")
    await office.answer(thread, "nobody answered in time")
    assert office.amounts() == []


async def test_the_requester_can_withdraw(office: Office):
    """Who asked can take it back in their thread; the card says so."""
    thread, card = await asked(office)
    line = await office.answer(thread, "Asked")
    withdrawn = await office.slack.click("ana", line, "withdraw")
    assert withdrawn.ok
    await office.closed(card, f"Withdrawn* by <@{ANA.id}>")
    assert office.amounts() == []


async def test_only_the_requester_can_withdraw(office: Office):
    """Others hear whose request it is."""
    thread, card = await asked(office)
    line = await office.answer(thread, "Asked")
    await office.slack.click("ben", line, "withdraw")
    note = await office.note("ben", "withdraw", where="expenses")
    assert f"<@{ANA.id}>" in note["text"]
    assert f"<@{BEN.id}>" not in note["text"]
    assert buttons(office.now(card)) == ["approve", "reject"]


async def test_the_state_of_a_request_can_be_asked_for(office: Office):
    """While it waits, the agent says so; what is asked twice is not asked of people twice."""
    thread, _ = await asked(office)
    await office.slack.say("ana", "expenses", "What about my request?", thread_ts=thread)
    told = full_text(await office.answer(thread, "waiting for approval"))
    assert f"by {MAX.real_name} and {MIA.real_name}" in told
    assert MAX.id not in told
    cards = [m for m in office.slack.messages("approvals") if buttons(m)]
    assert len(cards) == 1
    assert office.amounts() == []


async def test_nothing_says_that_an_answer_is_on_its_way_when_none_is(office: Office):
    """One of two requests of a message is approved: until the other is, nobody is "thinking"."""
    thread = await office.ask("reimburse 300 for lunch and 400 for the hotel")
    lunch, hotel = await office.card("lunch"), await office.card("hotel")
    await office.slack.click("mia", lunch, "approve")
    await office.closed(lunch, "It is done.")
    await office.slack.wait_for(lambda: not office.slack.status("expenses", thread))
    assert office.amounts() == [300]
    assert office.heard(thread, "Paid") is None
    await office.slack.click("mia", hotel, "approve")
    await office.answer(thread, "Paid 400")
