"""Whoever deletes or changes what they wrote: the request that it began, and who is asked."""

import pytest

from bot.playground import BEN
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons

HOTEL = "please reimburse 200 dollars for the hotel"


async def asked(office: Office) -> tuple[dict, dict]:
    """The message that asks, and the card that it brought."""
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    [message, *_] = office.slack.thread("expenses", thread)
    return {**message, "channel": office.slack.workspace.channel("expenses").id}, card


async def test_a_deleted_message_asks_for_nothing(open_office: Opening):
    """The request of a message that its author deletes is withdrawn; nothing is paid."""
    office = await open_office()
    message, card = await asked(office)
    await office.slack.delete("ana", message)
    assert "withdr" in full_text(await office.closed(card, "ithdr")).lower()
    await office.slack.click("max", card, "approve")
    await office.note("max", "withdrawn")
    assert office.amounts() == []


@pytest.mark.parametrize("words", ["please reimburse 20 dollars", "never mind"])
async def test_a_changed_message_is_told(open_office: Opening, words: str):
    """Those who are asked hear that the message was changed since; what they decide on was not."""
    office = await open_office()
    message, card = await asked(office)
    await office.slack.edit("ana", message, words)

    def told() -> bool:
        under = office.slack.thread("approvals", card["ts"])[1:]
        return any("wrote in the conversation" in full_text(line) for line in under)

    assert await office.slack.wait_for(told)
    assert buttons(office.now(card)) == ["approve", "reject"]


async def test_another_message_takes_nothing_back(open_office: Opening):
    """A deleted message that began nothing, in the same thread or by others, changes nothing."""
    office = await open_office()
    message, card = await asked(office)
    await office.slack.say("ben", "expenses", "really?", thread_ts=message["ts"])
    there = office.slack.thread("expenses", message["ts"])
    theirs = next(each for each in there if each.get("user") == BEN.id)
    await office.slack.delete("ben", {**theirs, "channel": message["channel"]})
    await office.slack.click("max", card, "approve")
    await office.closed(card, "Approved")
