"""A store that forgets: what people are told before, and after."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
import redis.asyncio

from bot import recall
from bot.playground.messages import full_text
from tests.agents.slot.servers import server
from tests.stories.conftest import Opening
from tests.stories.office import Office

UNSAVED = "not saved to disk"
GONE = "no longer on record"


@pytest.fixture
def kept() -> Iterator[str]:
    """A store that writes to disk."""
    with server("--appendonly", "yes") as url:
        yield url


async def asked(office: Office) -> dict:
    """A card that waits."""
    await office.ask("please reimburse 200 dollars for the hotel")
    return await office.card("200")


async def emptied(url: str) -> None:
    """Everything is gone, as after a restart of a store that writes nothing to disk."""
    async with redis.asyncio.Redis.from_url(url) as client:
        await client.flushall()


async def test_a_card_says_when_the_store_may_forget_it(office: Office):
    """While it can be decided the card says so; once it is closed there is nothing to lose."""
    card = await asked(office)
    assert UNSAVED in full_text(card)
    await office.slack.click("max", card, "approve")
    assert UNSAVED not in full_text(await office.closed(card, "Approved"))


async def test_a_card_of_a_store_that_keeps_everything_says_nothing(
    open_office: Opening, kept: str
):
    """Where an append-only file is written there is no such line."""
    office = await open_office(url=kept)
    assert UNSAVED not in full_text(await asked(office))


async def test_a_card_says_when_the_store_was_set_up_otherwise_since(
    open_office: Opening, kept: str, monkeypatch, caplog
):
    """What is asked while keys may be dropped says so and works; once that is over, it does not."""
    monkeypatch.setattr(recall, "LOOK", 0.05)
    caplog.set_level(logging.INFO, logger="countersign")
    office = await open_office(url=kept)
    async with redis.asyncio.Redis.from_url(kept) as client:
        for policy, noticed, amount in (
            ("allkeys-lru", "store.unsafe", 300),
            ("noeviction", "store.safe", 400),
        ):
            await client.config_set("maxmemory-policy", policy)
            while noticed not in caplog.messages:  # noqa: ASYNC110 - logs tell nobody
                await asyncio.sleep(0.01)
            thread = await office.ask(f"please reimburse {amount} dollars for the hotel")
            card = await office.card(str(amount))
            assert (UNSAVED in full_text(card)) is (policy != "noeviction")
            await office.slack.click("max", card, "approve")
            await office.answer(thread, "Paid")
    assert office.amounts() == [300, 400]


@pytest.mark.parametrize("action", ["approve", "reject"])
async def test_a_click_on_a_card_that_was_forgotten(
    office: Office, store_url: str, monkeypatch, action: str
):
    """The clicker hears that the store was emptied, the approvers' channel does, and once."""
    card = await asked(office)
    await emptied(store_url)
    assert (await office.slack.click("max", card, action)).ok
    await office.note("max", GONE)
    assert office.amounts() == []


async def test_the_approvers_hear_that_the_store_was_emptied(
    open_office: Opening, store_url: str, monkeypatch
):
    """Two processes notice it by themselves, and one of them says so."""
    monkeypatch.setattr(recall, "LOOK", 0.05)
    await open_office(roles=["worker"])
    office = await open_office()
    await asked(office)
    await emptied(store_url)

    def told() -> list[str]:
        return [t for m in office.slack.messages("approvals") if "emptied" in (t := full_text(m))]

    await office.slack.wait_for(told)
    thread = await office.ask("please reimburse 50 dollars for lunch")
    await office.answer(thread, "Paid")
    assert len(told()) == 1


async def test_a_bot_that_never_saw_the_store_before_says_so_too(
    open_office: Opening, store_url: str
):
    """All processes started anew together with the store: the card is older than its memory."""
    card = await asked(await open_office())
    await emptied(store_url)
    office = await open_office()
    assert (await office.slack.click("mia", card, "approve")).ok
    await office.note("mia", GONE)


async def test_a_store_that_was_not_emptied_is_not_blamed(office: Office, store_url: str):
    """A record that is gone for another reason is only not known."""
    card = await asked(office)
    async with redis.asyncio.Redis.from_url(store_url) as client:
        [slot] = {key async for key in client.scan_iter("b:*}:a")}
        await client.delete(slot)
    assert (await office.slack.click("max", card, "approve")).ok
    note = await office.note("max", "")
    assert GONE not in full_text(note)
