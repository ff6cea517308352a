"""Slack does not say who is in a group while a question is put: they hear of it when it does."""

import json
from typing import Any

import pytest

from bot.playground import BEN, MAX
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons

HOTEL = "please reimburse 200 dollars for the hotel"
MANAGERS = "S0LOCALMGR1"


def cards(office: Office, person: str) -> list[str]:
    """The cards with buttons that somebody has in the DM with the bot."""
    return [full_text(each) for each in office.slack.dms(person) if buttons(each)]


@pytest.mark.parametrize("place", ["expenses", "a DM"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        pytest.param("error", {"approvers": [MANAGERS]}, id="an error, default approvers"),
        pytest.param("ratelimited", {"approvers": [MANAGERS]}, id="asked too often"),
        pytest.param("lost", {"approvers": [MANAGERS]}, id="no answer"),
        pytest.param(
            "error",
            {"approvers": ["bosses"], "approver_roles": json.dumps({"bosses": [MANAGERS]})},
            id="a group in a role",
        ),
        pytest.param("error", {"approvers": [BEN.id, MANAGERS]}, id="beside somebody"),
        pytest.param("error", {"policy": {"notify": [MANAGERS]}}, id="those to be told"),
    ],
)
async def test_a_group_is_told_once_it_is_known(
    open_office: Opening, place: str, kind: Any, settings: dict[str, Any]
):
    """Whoever is in it gets a card, and decides there, whichever the requester's own one is."""
    policy = settings.get("policy")
    told = {"approval_policies": json.dumps({"reimbursement.reimburse": policy})} if policy else {}
    given = {name: value for name, value in settings.items() if name != "policy"}
    office = await open_office(approvers_channel=None, **{"approvers": [MAX.id]} | given, **told)
    office.slack.fail("usergroups.users.list", kind, seconds=1, error="internal_error")
    if place == "expenses":
        await office.ask(HOTEL)
    else:
        await office.slack.dm("ana", HOTEL)
    await office.slack.wait_for(lambda: cards(office, "max") and cards(office, "mia"))
    assert len(cards(office, "max")) == len(cards(office, "mia")) == 1
    assert len(cards(office, "ben")) == (BEN.id in settings.get("approvers", ()))
    assert office.amounts() == []
    [card] = [each for each in office.slack.dms("max") if buttons(each)]
    await office.slack.click("max", card, "approve")
    await office.slack.wait_for(lambda: office.amounts() == [200])
