"""Whoever may decide sees a card, wherever Slack lets one be posted and somebody asked."""

import pytest

from bot.playground import ANA, BEN, BOT, MAX, MIA
from bot.playground.channels import Channel
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons
from tests.stories.test_who_decides import policy

ASK = "please reimburse 200 dollars for the hotel"
PRIVATE = "G0PRIVATE01"


def spoil(office: Office, how: str) -> None:
    """Take the channel for approvals away, one way or another."""
    channels = office.slack.workspace.channels
    channel = office.slack.workspace.channel("approvals")
    match how:
        case "archived":
            channel.is_archived = True
        case "removed":
            channel.members.discard(BOT.id)
        case "never invited":
            channel.kind = "channel"
            channel.members.discard(BOT.id)
        case _:
            del channels[channel.id]


async def decidable(office: Office, person: str) -> None:
    """Wait until somebody has a card in their DM that they can decide on."""
    await office.slack.wait_for(
        lambda: any("approve" in buttons(each) for each in office.slack.dms(person))
    )


@pytest.mark.parametrize("how", ["archived", "removed", "never invited", "deleted"])
@pytest.mark.parametrize("where", ["a DM", "a private channel"])
async def test_the_channel_for_approvals_is_of_no_use(open_office: Opening, how: str, where: str):
    """Those who may decide are asked in their DMs, and the requester's thread names them."""
    office = await open_office(routes={PRIVATE: "reimbursement"})
    people = {ANA.id, BEN.id, BOT.id}
    office.slack.workspace.channels[PRIVATE] = Channel(PRIVATE, "private", people, kind="group")
    spoil(office, how)
    if where == "a DM":
        await office.slack.dm("ana", f"reimbursement: {ASK}")
    else:
        await office.slack.mention("ana", PRIVATE, ASK)
    for person in ("max", "mia"):
        await decidable(office, person)


@pytest.mark.parametrize("told", [[], [BEN.id]], ids=["nobody is told", "another one is told"])
async def test_a_card_in_the_requesters_dm_is_seen_by_them_alone(open_office: Opening, told):
    """So those who may decide are asked, though only others were to hear of it."""
    rules = policy(approvers=[MAX.id, MIA.id], notify=told)
    office = await open_office(approvers_channel=None, **rules)
    await office.slack.dm("ana", f"reimbursement: {ASK}")
    for person in ("max", "mia"):
        await decidable(office, person)
