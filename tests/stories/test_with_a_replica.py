"""A store with a replica: nothing is shown as decided, and nothing starts, before both have it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.playground import LocalSlack
from bot.playground.messages import full_text
from tests.agents.slot.pair import Pair, pair
from tests.stories.conftest import Opening, office_settings, running
from tests.stories.office import Message, Office, buttons

SAVING = "being saved"
SOON = {"store_replicas": 1, "store_replica_wait": 100, "lease": 0.6}


@pytest.fixture
def stores() -> Iterator[Pair]:
    """A primary and its replica."""
    with pair() as linked:
        yield linked


@pytest.fixture
async def office(open_office: Opening, stores: Pair) -> AsyncIterator[Office]:
    """An office whose bot waits for the replica."""
    yield await open_office(url=stores.url, **SOON)
    stores.thaw()


async def asked(office: Office, sum_: int = 200) -> tuple[str, Message]:
    """A thread and the card of its request."""
    thread = await office.ask(f"please reimburse {sum_} dollars for the hotel")
    return thread, await office.card()


async def told(office: Office, card: Message, words: str) -> Message:
    """The card once it says these words, open or not."""
    return await office.slack.wait_for(
        lambda: now if words in full_text(now := office.now(card)) else None
    )


async def test_with_both_servers_it_is_as_ever(office: Office):
    """The replica has it at once, so nobody hears of saving."""
    thread, card = await asked(office)
    assert (await office.slack.click("max", card, "approve")).ok
    await office.answer(thread, "Paid")
    await office.closed(card, "It is done")
    assert office.amounts() == [200]
    assert office.whispered("max") is None


async def test_a_replica_that_hears_nothing(office: Office, stores: Pair):
    """The card says that it is being saved and keeps its buttons, nothing starts; then all does."""
    thread, card = await asked(office)
    stores.freeze()
    assert (await office.slack.click("max", card, "approve")).ok
    await office.note("max", "not yet on the second server")
    assert buttons(await told(office, card, SAVING)) == ["approve", "reject"]
    assert (await office.slack.click("mia", card, "approve")).ok
    await office.note("mia", "not yet on the second server")
    assert "Approved" not in full_text(office.now(card))
    assert office.amounts() == []
    stores.thaw()
    await office.answer(thread, "Paid")
    closed = await office.closed(card, "It is done")
    assert SAVING not in full_text(closed)
    assert office.amounts() == [200]


async def test_what_was_shown_outlives_the_primary(
    slack: LocalSlack, open_office: Opening, stores: Pair, tmp_path
):
    """The replica takes over: what a card showed is so, what was being saved is asked again."""
    async with running(office_settings(slack, stores.url, tmp_path, **SOON)) as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        office = Office(slack, tmp_path / "ledger.jsonl")
        _, shown = await asked(office)
        await slack.click("max", shown, "reject")
        await slack.submit("max", {"reason": "too dear"})
        await office.closed(shown, "Rejected")
        thread, waiting = await asked(office, 300)
        stores.part()
        await slack.click("max", waiting, "approve")
        await told(office, waiting, SAVING)
    office = await open_office(url=stores.replica, lease=0.6)
    assert (await slack.click("mia", shown, "approve")).ok
    await office.note("mia", "already")
    assert "Rejected" in full_text(office.now(shown))
    assert office.amounts() == []
    assert (await slack.click("mia", waiting, "approve")).ok
    await office.answer(thread, "Paid")
    await office.closed(waiting, "It is done")
    assert office.amounts() == [300]


async def test_a_modal_says_that_it_is_being_saved(office: Office, stores: Pair):
    """Whoever rejects in a modal reads there that the card will follow."""
    _, card = await asked(office)
    await office.slack.click("max", card, "reject")
    stores.freeze()
    sent = await office.slack.submit("max", {"reason": "too dear"})
    assert sent.ok
    assert "not yet on the second server" in str(office.slack.modals("max"))
    stores.thaw()
    await office.closed(card, "Rejected")
