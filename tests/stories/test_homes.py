"""Homes: whoever looked at theirs sees what waits, whatever changed it and wherever it did."""

import json

import pytest

from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.board import Board
from bot.approvals.ruling import Ruling, rule
from bot.index import Index
from bot.playground import MAX, MIA
from bot.playground.people import TEAM_ID
from tests.stories.conftest import Opening
from tests.stories.office import Office

HOTEL = "please reimburse 200 dollars for the hotel"
LISTS = ("Waits for you", "Asked by you", "Decided")


def listed(office: Office, who: str) -> list[str]:
    """What stands in each of the three lists of a person's Home, as text."""
    rest, found = json.dumps(office.slack.home(who) or {}), list[str]()
    for title in reversed(LISTS):
        rest, _, told = rest.rpartition(title)
        found.insert(0, told)
    return found


async def shows(office: Office, who: str, *lists: str) -> None:
    """Wait until each list of somebody's Home has these words; "" means that it is empty."""
    await office.slack.wait_for(
        lambda: all(
            word in told and ("Reimburse" in told) == bool(word)
            for word, told in zip(lists, listed(office, who), strict=True)
        )
    )


async def looking(office: Office, *people: str) -> None:
    """These people have opened their Home, and found nothing in it."""
    for who in people:
        await office.slack.open_home(who)
        await shows(office, who, "", "", "")


async def test_a_home_follows_a_request(office: Office):
    """From the question over the decision to the result, nobody has to open it again."""
    await looking(office, "ana", "max", "mia")
    await office.ask(HOTEL)
    await shows(office, "max", "hotel", "", "")
    await shows(office, "ana", "", "hotel", "")
    await office.slack.click("max", await office.card("200"), "approve")
    await shows(office, "ana", "", "", "It is done.")
    await shows(office, "max", "", "", "It is done.")
    await shows(office, "mia", "", "", "")


async def test_a_home_after_the_time_is_up(open_office: Opening):
    """An expired request waits for nobody; who asked and who was asked read how it ended."""
    office = await open_office(approval_ttl="4s")
    await looking(office, "ana", "max")
    await office.ask(HOTEL)
    await shows(office, "max", "hotel", "", "")
    await shows(office, "ana", "", "", "Nobody decided in time")
    await shows(office, "max", "", "", "Nobody decided in time")


async def test_a_home_of_who_stands_in(open_office: Opening):
    """What default approvers are asked in place of who left is in their Homes as well."""
    told = {"reimbursement.reimburse": {"approvers": [MAX.id]}}
    office = await open_office(approvers=[MIA.id], approval_policies=json.dumps(told))
    await looking(office, "mia")
    await office.ask(HOTEL)
    await office.card("200")
    await office.slack.deactivate("max")
    await shows(office, "mia", "hotel", "", "")


async def test_a_home_after_an_operators_decision(office: Office, store_url: str):
    """What is closed at a console, by another process, is closed in the Homes as well."""
    await looking(office, "ana", "max")
    await office.ask(HOTEL)
    await shows(office, "max", "hotel", "", "")
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=TEAM_ID)
        board = Board(slot, recent=index.lists.recent, concerning=index.lists.concerning)
        [approval] = await board.approvals()
        [key], *_ = zip(*await index.lists.recent(9), strict=True)
        ruling = Ruling(act="reject", by="root", reason="not this year")
        assert (await rule(slot, approval, ruling, index=index.ring(key))).kind == "ruled"
    await shows(office, "ana", "", "", "by operator root")
    await shows(office, "max", "", "", "")


async def test_a_home_that_another_process_keeps(open_office: Opening):
    """It is opened where Slack is heard, and shown again where the card is: two processes."""
    await open_office(roles=["worker", "clock"])
    office = await open_office(roles=["web"])
    await looking(office, "ana", "max")
    await office.ask(HOTEL)
    await shows(office, "max", "hotel", "", "")
    await office.slack.click("ana", office.slack.home("ana") or {}, "withdraw")
    await shows(office, "ana", "", "", "Withdrawn")
    await shows(office, "max", "", "", "")


@pytest.mark.parametrize("error", ["internal_error", "not_enabled"])
async def test_a_home_that_cannot_be_shown(office: Office, error: str):
    """A view that Slack does not take is lost, and keeps nothing else from its way."""
    await looking(office, "max")
    office.slack.fail("views.publish", "refused", error=error, times=2)
    thread = await office.ask(HOTEL)
    await office.slack.click("max", await office.card("200"), "approve")
    await office.answer(thread, "Paid")
    await office.slack.open_home("max")
    await shows(office, "max", "", "", "It is done.")
