"""Without a public address: Slack's events and clicks come over a websocket the bot opens."""

from bot.playground import LocalSlack
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons


async def connected(open_office: Opening, slack: LocalSlack, **given: object) -> Office:
    """An office whose bot is reached over its websocket alone."""
    office = await open_office(slack_app_token=slack.app_token, **given)
    slack.connect(None)
    assert slack.listening
    return office


async def test_a_request_is_asked_and_answered_over_a_websocket(
    open_office: Opening, slack: LocalSlack
):
    """The message, the click and the second click that comes too late all arrive."""
    office = await connected(open_office, slack, slack_signing_secret=None)
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card("200")
    assert (await slack.click("max", card, "approve")).ok
    await office.answer(thread, "Paid")
    closed = await office.closed(card, "Approved")
    assert (office.amounts(), buttons(closed)) == ([200], [])
    await slack.click("mia", card, "approve")
    await office.note("mia", "already")
    assert office.amounts() == [200]


async def test_a_modal_is_opened_and_sent_over_a_websocket(open_office: Opening, slack: LocalSlack):
    """A rejection's reason is asked for in a modal, and reaches the person who asked."""
    office = await connected(open_office, slack, slack_signing_secret=None)
    thread = await office.ask("please reimburse 300 dollars for a chair")
    card = await office.card("300")
    await slack.click("mia", card, "reject")
    await slack.wait_for(lambda: slack.modals("mia"))
    assert (await slack.submit("mia", {"reason": "use cost centre 12"})).ok
    await office.answer(thread, "use cost centre 12")
    await office.closed(card, "Rejected")
    assert office.paid() == []
