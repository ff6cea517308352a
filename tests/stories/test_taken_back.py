"""Whoever deletes or changes what they wrote: the request that it began, and who is asked."""

import asyncio

import pytest

from agents.runtime.testing import call
from bot.playground import ANA, BEN, BOT
from bot.playground.messages import full_text
from bot.slack.blocks.line import EDITED
from tests.stories.conftest import Opening
from tests.stories.office import Office, buttons
from tests.stories.scripts import Hosts, gated, scripted

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


async def mentioned(office: Office, words: str) -> tuple[str, dict]:
    """Ana's mention in a thread of Ben's, which stays when hers is deleted: the thread, and it."""
    root = await office.slack.say("ben", "expenses", "good morning")
    said = await office.slack.mention("ana", "expenses", words, thread_ts=root.ts)
    return root.ts, said.message


class Thinking:
    """A tool that is at work until somebody lets it go on."""

    def __init__(self) -> None:
        """It has not begun."""
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def think(self) -> str:
        """Think."""
        self.begun.set()
        await self.go_on.wait()
        return "thought"


@pytest.mark.parametrize("later", [0, 1], ids=["its first question", "its second question"])
async def test_a_message_deleted_before_anything_is_asked(open_office: Opening, later: int):
    """What its turn asks afterwards is withdrawn at once: nobody is bothered, nothing runs."""
    hosts, mind = Hosts(), Thinking()
    first = [call("ping", host=f"h{n}") for n in range(later)]
    replies = [
        *([each] for each in first),
        call("think"),
        call("ping", host="late"),
        "Well.",
        "Hm.",
    ]
    office = await open_office(agents=scripted(gated(hosts.ping), mind.think, replies=replies))
    thread, message = await mentioned(office, "ping it")
    if later:
        await office.slack.click("max", await office.card("h0"), "approve")
    await mind.begun.wait()
    await office.slack.delete("ana", message)
    mind.go_on.set()
    await office.answer(thread, "*Withdrawn*")
    await office.answer(thread, "Well.")
    late = [m for m in office.slack.messages("approvals") if "late" in full_text(m)]
    assert (late, hosts.ran) == ([], ["h0"] * later)


async def test_a_message_deleted_before_it_is_worked_on(open_office: Opening):
    """It was not even begun when its author deleted it: what it asks is withdrawn at once."""
    office = await open_office(roles=["web"])
    thread, message = await mentioned(office, HOTEL)
    await office.slack.delete("ana", message)
    office = await open_office()
    await office.answer(thread, "*Withdrawn*")
    assert office.slack.messages("approvals") == []
    assert office.amounts() == []


async def test_another_deleted_message_withdraws_nothing(open_office: Opening):
    """Who deletes what began nothing, while an agent thinks, is not who asks."""
    hosts, mind = Hosts(), Thinking()
    replies = [call("think"), call("ping", host="h1"), "?", "Done."]
    office = await open_office(agents=scripted(gated(hosts.ping), mind.think, replies=replies))
    thread = await office.ask("ping it")
    await mind.begun.wait()
    await office.slack.say("ben", "expenses", "really?", thread_ts=thread)
    theirs = next(m for m in office.slack.thread("expenses", thread) if m.get("user") == BEN.id)
    channel = office.slack.workspace.channel("expenses").id
    await office.slack.delete("ben", {**theirs, "channel": channel})
    mind.go_on.set()
    await office.slack.click("max", await office.card("h1"), "approve")
    await office.slack.wait_for(lambda: hosts.ran == ["h1"])


@pytest.mark.parametrize("words", ["please reimburse 20 dollars", "never mind"])
async def test_a_changed_message_is_told(open_office: Opening, words: str):
    """Those who are asked hear that the message was changed since; what they decide on was not."""
    office = await open_office()
    message, card = await asked(office)
    await office.slack.edit("ana", message, words)

    def told() -> bool:
        under = office.slack.thread("approvals", card["ts"])[1:]
        return any(f"<@{ANA.id}> {EDITED}" in full_text(line) for line in under)

    assert await office.slack.wait_for(told)
    assert "wrote in the conversation" not in str(office.slack.thread("approvals", card["ts"]))
    assert buttons(office.now(card)) == ["approve", "reject"]


async def test_what_happens_meanwhile_is_told_once(open_office: Opening):
    """However much people write, one line tells of it; each change of what was asked is another."""
    office = await open_office()
    message, card = await asked(office)

    def told(words: str) -> int:
        under = office.slack.thread("approvals", card["ts"])[1:]
        return sum(words in full_text(line) for line in under)

    thread = message["ts"]
    for n, words in enumerate(("hm", "well", "right"), 1):
        await office.slack.say("ben", "expenses", words, thread_ts=thread)
        await office.slack.wait_for(lambda n=n: len(replies(office, thread)) > n)
    for n, words in enumerate(("20 dollars, please", "30 dollars, please"), 1):
        await office.slack.edit("ana", message, words)
        await office.slack.wait_for(lambda n=n: told(EDITED) == n)
        message = {**message, "text": words}
    assert told("wrote in the conversation") == 1


def replies(office: Office, thread: str) -> list[dict]:
    """What the bot said in a thread."""
    return [m for m in office.slack.thread("expenses", thread) if m["user"] == BOT.id]


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
