"""Who is on call changes while a request waits: those who can decide now are asked."""

import json

import pytest

from bot.playground import BEN
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons
from tests.stories.test_who_decides import HOTEL, MANAGERS, policy

JOINED = f"<@{BEN.id}> may decide this as well now"


async def theirs(office: Office, person: str) -> Message:
    """The card that somebody can decide on in their DM with the bot, once it is there."""
    found: list[Message] = await office.slack.wait_for(
        lambda: [each for each in office.slack.dms(person) if "approve" in buttons(each)]
    )
    return found[-1]


@pytest.mark.parametrize("name", [MANAGERS, "bosses"], ids=["a group", "a group in a role"])
async def test_another_is_asked_in_the_channel(open_office: Opening, name: str):
    """The card, a line under it and the thread name them, and who left is told who can."""
    roles = json.dumps({"bosses": [MANAGERS]})
    office = await open_office(approver_roles=roles, **policy(approvers=[name]))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.set_group("managers", ["ben"])
    await office.answer(card["ts"], JOINED, where="approvals")
    await office.slack.wait_for(lambda: f"Asked: <@{BEN.id}> ·" in full_text(office.now(card)))
    await office.slack.wait_for(lambda: office.heard(thread, "Asked Ben"))
    await office.slack.click("max", card, "approve")
    told = full_text(await office.note("max", "You cannot decide this"))
    assert told.endswith(f"These people can: <@{BEN.id}>.")
    await office.slack.click("ben", await theirs(office, "ben"), "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_another_is_asked_in_a_dm(open_office: Opening):
    """Where cards are in DMs they get one as well, and whoever left hears no more of it."""
    office = await open_office(approvers_channel=None, **policy(approvers=[MANAGERS]))
    thread = await office.ask(HOTEL)
    await office.slack.wait_for(lambda: office.slack.dms("max") and office.slack.dms("mia"))
    await office.slack.set_group("managers", ["ben", "mia"])
    card = await theirs(office, "ben")
    await office.slack.wait_for(
        lambda: any(JOINED in full_text(each) for each in office.slack.dms("mia"))
    )
    await office.slack.click("ben", card, "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]
    assert len(office.slack.dms("max")) == 1
