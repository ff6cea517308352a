"""Bots in processes of their own: killed, started again, and two of them at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agents import Entry, SessionKey
from agents.runtime.slot.redis import RedisSlot, connect
from bot.index import Index
from bot.playground import LocalSlack
from bot.playground.run import BotProcess, environment
from tests.conftest import unused_port
from tests.stories.office import Message, Office, buttons

REQUESTS = 200
AT_ONCE = 20
PATIENCE = 240.0
CLICKS = 5


@asynccontextmanager
async def process(
    slack: LocalSlack, store: str, folder: Path, *, command: str = ""
) -> AsyncIterator[BotProcess]:
    """A bot in a process of its own, which plays all roles or the one of `command`."""
    port = unused_port()
    given = environment(slack, store=store, ledger=folder / "ledger.jsonl", port=port)
    roles = (command,) if command else ()
    async with BotProcess(*roles, environment=given, folder=folder) as bot:
        if command != "worker":
            slack.connect(f"http://127.0.0.1:{port}/slack/events")
        yield bot


async def test_a_killed_bot_goes_on_where_it_was(slack: LocalSlack, store_url: str, tmp_path: Path):
    """Killed while a card waits and started again: the old card works, and pays once."""
    office = Office(slack, tmp_path / "ledger.jsonl")
    async with process(slack, store_url, tmp_path) as bot:
        thread = await office.ask("please reimburse 200 dollars for the hotel")
        card = await office.card("200")
        await bot.kill()
        assert (await slack.click("max", card, "approve")).warning
        await bot.start()
        for who in ("max", "mia", "max"):
            assert (await slack.click(who, card, "approve")).ok
        await office.answer(thread, "Paid")
        await office.closed(card, "Approved")
        assert office.amounts() == [200]


async def test_what_was_asked_while_the_bot_was_down_is_answered(store_url: str, tmp_path: Path):
    """Slack brings a message again until the bot is back; it is answered once."""
    async with (
        LocalSlack(retry_after=(0.2, *[1.0] * 60), patience=30.0) as slack,
        process(slack, store_url, tmp_path) as bot,
    ):
        office = Office(slack, tmp_path / "ledger.jsonl")
        await bot.kill()
        said = await slack.mention("ana", "expenses", "please reimburse 50 dollars for lunch")
        assert said.status == 0
        await bot.start()
        await office.answer(said.ts, "Paid")
        assert office.amounts() == [50]


async def test_a_bot_that_is_told_to_stop_stops(slack: LocalSlack, store_url: str, tmp_path: Path):
    """SIGTERM ends the process soon and with status 0; what was stored is there for the next."""
    office = Office(slack, tmp_path / "ledger.jsonl")
    async with process(slack, store_url, tmp_path) as bot:
        thread = await office.ask("please reimburse 200 dollars for the hotel")
        card = await office.card("200")
        assert await bot.stop() == 0
        await bot.start()
        await slack.click("mia", card, "approve")
        await office.answer(thread, "Paid")
        assert office.amounts() == [200]


async def test_two_processes_and_two_clicks_at_the_same_instant(
    slack: LocalSlack, store_url: str, tmp_path: Path
):
    """200 requests, two workers, two people who press Approve at once: each is paid once."""
    office = Office(slack, tmp_path / "ledger.jsonl")
    async with (
        process(slack, store_url, tmp_path),
        process(slack, store_url, tmp_path, command="worker"),
    ):
        cards = await _asked(office)
        for first in range(0, REQUESTS, AT_ONCE):
            both = [(card, who) for card in cards[first:][:AT_ONCE] for who in ("max", "mia")]
            await asyncio.gather(*(_pressed(slack, who, card) for card, who in both))
        await _until(lambda: len(office.paid()) >= REQUESTS)
        await _until(lambda: not _open_cards(office))
    paid = Counter(payment["amount"] for payment in office.paid())
    assert paid == dict.fromkeys(range(200, 200 + REQUESTS), 1)


async def _pressed(slack: LocalSlack, who: str, card: Message) -> None:
    """Press Approve, and once more where Slack shows that it did not work, as a person would."""
    for _ in range(CLICKS):
        if (await slack.click(who, card, "approve")).ok:
            return
    raise AssertionError(f"{who} pressed Approve {CLICKS} times and Slack never heard 200")


async def _asked(office: Office) -> list[Message]:
    """Two hundred requests, each for another sum; their cards, once all are there."""
    asking = (
        office.slack.mention("ana", "expenses", f"please reimburse {amount} dollars for the hotel")
        for amount in range(200, 200 + REQUESTS)
    )
    await asyncio.gather(*asking)
    await _until(lambda: len(_open_cards(office)) == REQUESTS)
    return _open_cards(office)


def _open_cards(office: Office) -> list[Message]:
    return [card for card in office.slack.messages("approvals") if buttons(card)]


async def _until(holds: Callable[[], bool]) -> None:
    """Look now and then: at hundreds of sessions, looking at every change would be the work."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - nobody tells when it holds
            await asyncio.sleep(0.2)


async def test_another_tenant_in_the_same_store(office: Office, store_url: str):
    """Two bots share a store and a prefix: what one of them owes nobody else works or pays."""
    channel = office.slack.workspace.channel("expenses").id
    key = SessionKey("reimbursement", "thread", f"{channel}:", "TOTHER")
    words = {"role": "user", "parts": [{"text": "please reimburse 50 dollars for lunch"}]}
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant="TOTHER")
        asked = Entry(id="m1", body={"content": words, "user_id": "UOTHER"})
        await slot.ingest(key, asked, index=index.ring(key))
        thread = await office.ask("please reimburse 20 dollars for tea")
        await office.answer(thread, "20")
        view = await slot.read(key, parts=())
        assert (view.inbox, office.amounts()) == (1, [20])
        assert [claim.key for claim in await index.claim(9, lease=9)] == [key]
