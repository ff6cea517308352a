"""What people read on a card besides the call: its likes, earlier tries, what it rests on."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from agents import Agent, AgentTool, ToolContext, ToolError
from agents.runtime import questions
from agents.runtime.testing import call
from bot.cli import parser
from bot.playground import ANA, MAX, MIA
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons
from tests.stories.scripts import gated, scripted


def pay(payee: str, amount: int) -> dict[str, Any]:
    """Pay somebody."""
    return {"paid": amount, "to": payee}


def under(office: Office, card: Message, words: str) -> Message | None:
    """What the bot said under a card, with these words."""
    return office.heard(card["ts"], words, where="approvals")


class Order(BaseModel):
    """What is bought."""

    item: str
    express: bool = True
    price: float = 99.0


def buy(order: Order) -> str:
    """Buy something."""
    return f"{order.item} {order.express} {order.price}"


async def test_what_the_model_left_out_inside_an_argument(open_office: Opening):
    """Whoever approves reads which of the values are nobody's words, in the order declared."""
    replies = [call("buy", order={"item": "desk"}), "Done."]
    office = await open_office(agents=scripted(gated(buy), replies=replies))
    await office.ask("buy")
    read = full_text(await office.card("desk"))
    assert "Order (default: express, price)" in read
    assert read.index('"item"') < read.index('"express"') < read.index('"price"')


NEARLY = [
    pytest.param("Trolha", "trolha", "letter case", id="letter case"),
    pytest.param("Trolha", "Tro lha", "blanks", id="blanks"),
    pytest.param("Jos\u00e9", "Jose\u0301", "the form of its characters", id="Unicode form"),
    pytest.param("Acme 12", "Ａcme １２", "the form of its characters", id="full width"),
]


@pytest.mark.parametrize(("first", "second", "form"), NEARLY)
async def test_a_call_that_looks_the_same(open_office: Opening, first: str, second: str, form: str):
    """Asked again with other letters while it is open: the new card says so, both are decided."""
    replies = [call("pay", payee=first, amount=5), call("pay", payee=second, amount=5), "One."]
    office = await open_office(agents=scripted(gated(pay), replies=[*replies, "None."]))
    thread = await office.ask("pay")
    old = await office.card(first)
    await office.slack.say("ana", "expenses", "I said pay", thread_ts=thread)
    new = await office.card("Nearly the same as a request that is still open")
    assert f"only payee differs, in {form}" in full_text(new)
    assert all(buttons(office.now(card)) == ["approve", "reject"] for card in (old, new))
    await office.slack.click("max", new, "approve")
    await office.closed(new, "It is done")
    await office.slack.click("max", old, "reject")
    await office.slack.wait_for(lambda: office.slack.modals("max"))
    await office.slack.submit("max", {"reason": "once is enough"})
    await office.closed(old, "Rejected")


async def test_calls_of_one_turn_that_look_the_same(open_office: Opening):
    """Three cards for one wish in other letters: each names another one that is open."""
    replies = [[call("pay", payee=name, amount=5) for name in ("Bo", "BO", " bo")], "Paid."]
    office = await open_office(agents=scripted(gated(pay), replies=replies))
    await office.ask("pay")
    await office.slack.wait_for(lambda: len(office.slack.messages("approvals")) == 3)
    cards = office.slack.messages("approvals")
    assert all("Nearly the same as a request that is still open" in full_text(c) for c in cards)


async def test_what_has_run_already(open_office: Opening):
    """Asked for once more after it was paid: the card says that the same has run."""
    replies = [call("pay", payee="Bo", amount=5), "Paid.", call("pay", payee="BO", amount=5)]
    office = await open_office(agents=scripted(gated(pay), replies=[*replies, "Paid again."]))
    thread = await office.ask("pay")
    first = await office.card("Bo")
    await office.slack.click("max", first, "approve")
    await office.answer(thread, "Paid.")
    await office.slack.say("ana", "expenses", "pay", thread_ts=thread)
    told = full_text(
        await office.card("Nearly the same as a request that was approved and has run")
    )
    assert "only payee differs, in letter case (BO / Bo)" in told
    assert f"decided by <@{MAX.id}>" in told


async def test_another_call_does_not_look_the_same(open_office: Opening):
    """Another amount is another call, and its card says nothing about the first."""
    replies = [call("pay", payee="Bo", amount=5), call("pay", payee="Bo", amount=66)]
    office = await open_office(agents=scripted(gated(pay), replies=replies))
    thread = await office.ask("pay")
    await office.card("5")
    await office.slack.say("ana", "expenses", "and more", thread_ts=thread)
    assert "the same as" not in full_text(await office.card("66"))


async def test_another_try_after_a_failure(open_office: Opening):
    """The old card shows how it failed, the new one which attempt it is and what changed."""

    def create(name: str, team: str) -> dict[str, str]:
        """Create a project."""
        if team != "blue":
            raise ToolError(f"there is no team {team}")
        return {"created": name}

    replies = [call("create", name="x", team=team) for team in ("red", "red", "blue")]
    office = await open_office(agents=scripted(gated(create), replies=[*replies, "Created."]))
    thread = await office.ask("create a project")
    first = await office.card("red")
    assert "Attempt" not in full_text(first)
    await office.slack.click("max", first, "approve")
    assert "there is no team red" in full_text(await office.closed(first, "It ran and failed."))
    second = await office.card("Attempt 2: nothing changed.")
    assert f"approved by <@{MAX.id}>" in full_text(second)
    await office.slack.click("mia", second, "approve")
    await office.closed(second, "there is no team red")
    third = await office.card("Attempt 3: changed: team.")
    await office.slack.click("max", third, "approve")
    await office.answer(thread, "Created.")
    assert "It is done" in full_text(await office.closed(third, "Attempt 3"))


async def test_people_talk_on(open_office: Opening):
    """What is typed meanwhile is answered; the card stays as it is, and a line under it tells."""
    office = await open_office(approval_policies='{"*": {"quorum": 2}}')
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    card = await office.card("200")
    before = office.now(card)
    await office.slack.say(
        "ana", "expenses", "please reimburse 140 dollars for the taxi instead", thread_ts=thread
    )
    line = await office.slack.wait_for(lambda: under(office, card, "after this was asked"))
    assert f"<@{ANA.id}>" in line["text"]
    assert "140" not in full_text(line)
    assert office.now(card)["blocks"] == before["blocks"]
    await office.card("140")
    await office.slack.say("ben", "expenses", "and me?", thread_ts=thread)
    await office.slack.click("max", card, "approve")
    again = await office.slack.wait_for(
        lambda: office.now(card) if "People went on" in full_text(office.now(card)) else None
    )
    assert buttons(again) == ["approve", "reject"]
    said = [m for m in office.slack.thread("approvals", card["ts"]) if "after this" in m["text"]]
    assert len(said) == 1


async def test_what_somebody_is_typing_stays(open_office: Opening):
    """Neither talk nor another's approval takes away what stands in the inputs of a card."""
    office = await open_office(approval_policies='{"time_off.*": {"quorum": 2}}')
    thread = await office.ask("I'd like to take five days off from 2026-12-24", where="time-off")
    card = await office.card("5 days off")
    await office.slack.enter("mia", card, {"approved_days": "3"})
    await office.slack.say("ana", "time-off", "or from the 27th", thread_ts=thread)
    await office.slack.wait_for(lambda: under(office, card, "after this was asked"))
    await office.slack.click("max", card, "approve", values={"approved_days": "3"})
    again = await office.slack.wait_for(
        lambda: office.now(card) if "so far 1" in full_text(office.now(card)) else None
    )
    assert "People went on" in full_text(again)
    await office.slack.click("mia", again, "approve")
    closed = full_text(await office.closed(card, "Approved"))
    assert "3" in closed.partition("Entered")[2]


async def test_identical_calls_of_one_turn(open_office: Opening):
    """Each says which one of how many it is, and is decided by itself."""
    ran: list[str] = []

    def ping(host: str) -> str:
        """Ping a host."""
        ran.append(host)
        return "pong"

    replies = [[call("ping", host="a"), call("ping", host="a")], "Once."]
    office = await open_office(agents=scripted(gated(ping), replies=replies))
    thread = await office.ask("ping twice")
    first = await office.card("1 of 2 identical calls")
    second = await office.card("2 of 2 identical calls")
    await office.slack.click("max", first, "approve")
    await office.slack.click("max", second, "reject")
    await office.slack.wait_for(lambda: office.slack.modals("max"))
    await office.slack.submit("max", {"reason": ""})
    await office.answer(thread, "Once.")
    assert ran == ["a"]
    await office.closed(first, "It is done")
    await office.closed(second, "Rejected")


class Shop:
    """A price that moves, and what was bought at which one."""

    def __init__(self) -> None:
        self.price = 10
        self.bought: list[int] = []

    async def quote(self, item: str) -> dict[str, Any]:
        """What an item costs now."""
        if not self.price:
            raise ConnectionError("the shop is closed")
        return {"price": {item: self.price}, "currency": "EUR"}

    def buy(self, item: str, tool_context: ToolContext) -> dict[str, str]:
        """Buy an item."""
        self.bought.append(tool_context.precondition["price"][item])
        return {"bought": item}


@pytest.mark.parametrize("nested", [False, True], ids=["direct", "nested"])
async def test_what_a_call_rests_on(open_office: Opening, nested: bool):
    """A price is on the card; another one before the start asks again with the difference."""
    shop, replies = Shop(), [call("buy", item="chair"), "Bought.", "Bought."]
    tools: list[Any] = [gated(shop.buy, precondition=shop.quote)]
    if nested:
        tools = [AgentTool(Agent(name="buyer", tools=tools))]
        replies.insert(0, call("buyer", request="a chair"))
    office = await open_office(agents=scripted(*tools, replies=replies))
    thread = await office.ask("buy a chair")
    card = await office.card("checked again right before it runs")
    assert '"chair": 10' in full_text(card)
    shop.price = 12
    await office.slack.click("max", card, "approve")
    again = await office.card("price.chair: was 10, is now 12")
    assert "Result" not in full_text(await office.closed(card, "It was asked again as"))
    assert shop.bought == []
    await office.slack.click("mia", again, "approve")
    await office.answer(thread, "Bought.")
    assert shop.bought == [12]


async def test_what_a_call_rests_on_cannot_be_found_out(
    open_office: Opening, monkeypatch: pytest.MonkeyPatch
):
    """Tried in vain it does not run, the card says that it did not, and the model reads why."""
    monkeypatch.setattr(questions, "PATIENCE", 0.0)
    shop, replies = Shop(), [call("buy", item="chair"), "It did not work."]
    office = await open_office(
        agents=scripted(gated(shop.buy, precondition=shop.quote), replies=replies)
    )
    thread = await office.ask("buy a chair")
    card = await office.card("chair")
    shop.price = 0
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "It did not work.")
    told = full_text(await office.closed(card, "It was not run"))
    assert "It was not asked again." in told
    assert "the shop is closed" in told
    assert shop.bought == []


async def test_an_operator_decides_in_place_of_those_asked(
    open_office: Opening,
    store_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """At night with nobody there: it goes on, and the card, the thread and the audit are loud."""
    office = await open_office()
    thread = await office.ask("please reimburse 200 dollars for the hotel")
    card, line = await office.card("200"), await office.answer(thread, "Asked")
    for name, value in {
        "REDIS_URL": store_url,
        "SLACK_BOT_TOKEN": office.slack.bot_token,
        "SLACK_API_URL": office.slack.api_url,
    }.items():
        monkeypatch.setenv(name, value)
    number = await shown_number(office)
    typed = parser().parse_args(["approvals", "decide", number, "approve", "--reason", "on call"])
    assert await typed.run(typed) == 0
    await office.answer(thread, "Paid")
    loud = "Approved* from outside Slack, in place of those who were asked, by operator"
    await office.closed(card, loud)
    await office.slack.wait_for(lambda: loud in full_text(office.now(line)))
    told = await office.slack.wait_for(lambda: under(office, card, loud))
    assert f"<@{MAX.id}> and <@{MIA.id}>" in told["text"]
    capsys.readouterr()
    typed = parser().parse_args(["audit", "show", number])
    assert await typed.run(typed) == 0
    voted = [line for line in capsys.readouterr().out.splitlines() if "approval.voted" in line]
    assert [json.loads(line.partition(" ")[2])["person"][:9] for line in voted] == ["operator "]


async def shown_number(office: Office) -> str:
    """The number by which operators and people name the only open request."""
    await office.slack.command("max", "expenses", "/approvals")
    return full_text(await office.note("max", "Waits for you", where="expenses")).split("`")[1]
