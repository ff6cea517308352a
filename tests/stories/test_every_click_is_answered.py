"""Clicks that are late, doubled, forged or on old cards: one effect, and an answer to each."""

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from agents.runtime.testing import call
from bot.cli import parser
from bot.playground import BEN, MAX, MIA, LocalSlack
from bot.playground.messages import full_text
from bot.playground.noticed import Noticed
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons
from tests.stories.scripts import Hosts, gated, scripted
from tests.stories.test_what_runs import rejects

HOTEL = "please reimburse 200 dollars for the hotel"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def sent(clicked: Noticed) -> dict[str, Any]:
    """What Slack sent about a click."""
    return json.loads(dict(parse_qsl(clicked.deliveries[-1].body))["payload"])


async def send(slack: LocalSlack, payload: dict[str, Any]) -> int:
    """Send a click once more, signed; the status of the answer."""
    body = urlencode({"payload": json.dumps(payload)})
    return (await slack.deliver_raw(body, {**slack.delivery.signed(body), **FORM})).status


def notes(office: Office, who: str, *, where: str = "general") -> list[str]:
    """All that only this person sees there."""
    return [m["text"] for m in office.slack.visible(who, where) if m.get("is_ephemeral")]


@pytest.fixture
async def office(open_office: Opening) -> Office:
    """Cards go where everybody sees them."""
    return await open_office(approvers_channel="#general")


async def test_five_clicks_of_several_people(office: Office):
    """Whoever clicks how often: one payment, one decision on the card, an answer to each person."""
    thread = await office.ask(HOTEL)
    card = await office.card("200", where="general")
    clicked = [
        await office.slack.click(who, card, "approve")
        for who in ("max", "max", "mia", "mia", "ben")
    ]
    assert all(each.ok for each in clicked)
    await office.answer(thread, "Paid")
    await office.closed(card, f"*Approved* by <@{MAX.id}>")
    await office.note("mia", f"already approved by <@{MAX.id}>", where="general")
    await office.note("ben", "already approved", where="general")
    assert office.amounts() == [200]


async def test_the_same_click_from_the_network_again(office: Office):
    """A click that Slack brings five times over is decided once, and pays once."""
    thread = await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("max", card, "approve"))
    assert [await send(office.slack, payload) for _ in range(4)] == [200] * 4
    await office.answer(thread, "Paid")
    await office.closed(card, "It is done")
    assert office.amounts() == [200]


async def test_a_refused_click_that_comes_again_is_told_once(office: Office):
    """However often Slack brings the very click, the person has one note about it."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("ben", card, "approve"))
    await office.note("ben", "You cannot decide this", where="general")
    assert [await send(office.slack, payload) for _ in range(3)] == [200] * 3
    await office.slack.click("ana", card, "approve")
    await office.note("ana", "somebody else has to decide", where="general")
    assert len(notes(office, "ben")) == 1
    await office.slack.click("ben", card, "approve")
    await office.slack.wait_for(lambda: len(notes(office, "ben")) == 2)


@pytest.mark.parametrize("action", ["always", "approve_all", "", "approve:1:2", "happened"])
async def test_an_action_that_was_not_offered(office: Office, action: str):
    """A choice that the card does not have decides nothing, and the person hears so."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("ben", card, "approve"))
    payload["user"]["id"] = MAX.id
    payload["actions"][0] |= {"action_id": action, "action_ts": "1"}
    payload["trigger_id"] = "1.2.3"
    await send(office.slack, payload)
    await office.slack.wait_for(lambda: notes(office, "max") or action == "approve:1:2")
    assert office.amounts() == []
    assert "*Approved*" not in full_text(office.now(card)) or action == "approve:1:2"


async def test_whom_a_body_names_is_not_who_clicked(office: Office):
    """Names beside the signed person's id count for nothing: it is that person who decided."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("ben", card, "approve"))
    named = {"decided_by": MAX.id, "person": MAX.id, "roles": ["cfo"], "self_approval": True}
    payload |= named
    payload["user"] |= {"username": "max", "name": "max", **named}
    payload["actions"][0] |= {"action_ts": "1", **named}
    payload["state"] = {"values": {"who": {"decided_by": {"type": "x", "value": MAX.id}}}}
    assert await send(office.slack, payload) == 200
    await office.note("ben", "You cannot decide this", where="general")
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


async def test_another_team_with_the_same_ids(office: Office):
    """In a Grid the same person's id in another workspace is somebody else."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("ben", card, "approve"))
    payload["user"] |= {"id": MAX.id, "team_id": "T0OTHERTEAM"}
    payload["team"] = {"id": "T0OTHERTEAM", "domain": "other"}
    payload["actions"][0]["action_ts"] = "1"
    await send(office.slack, payload)
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


@pytest.mark.parametrize(
    ("part", "value"),
    [
        pytest.param("api_app_id", "A0OTHERAPP1", id="another app"),
        pytest.param("team", {"id": "T0OTHERTEAM"}, id="another workspace"),
        pytest.param("enterprise", {"id": "E0OTHERORG1"}, id="another enterprise"),
        pytest.param("channel", {"id": "C0OTHERCHN1"}, id="another channel"),
        pytest.param("message", {"ts": "1700000000.000100"}, id="another message"),
    ],
)
async def test_a_click_from_elsewhere(office: Office, part: str, value: object):
    """What names another app, workspace, channel or message decides nothing; it is told once."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    payload = sent(await office.slack.click("ben", card, "approve"))
    payload["user"]["id"] = MAX.id
    payload["actions"][0]["action_ts"] = "1"
    payload[part] = value
    assert [await send(office.slack, payload) for _ in range(3)] == [200] * 3
    await office.note("max", "does not come from where I asked", where="general")
    assert len(notes(office, "max")) == 1
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


async def test_an_approval_where_nothing_is_shown(open_office: Opening):
    """In a channel that others see the card has no Approve; a forged one is told where to look."""
    office = await open_office(approvers_channel="#partners")
    thread = await office.ask(HOTEL)
    card = await office.card("asks for approval", where="partners")
    payload = sent(await office.slack.click("max", card, "show"))
    payload["actions"][0] |= {"action_id": "approve", "action_ts": "1"}
    assert await send(office.slack, payload) == 200
    await office.note("max", "There is more to this call", where="partners")
    assert buttons(office.now(card)) == ["show", "reject"]
    assert office.amounts() == []
    await office.slack.submit("max")
    await office.answer(thread, "Paid")


async def test_two_cards_of_one_thread_and_a_swapped_value(open_office: Opening):
    """Each button is about its own card: the value of one on the other decides neither."""
    hosts = Hosts()
    replies = [[call("ping", host="one"), call("ping", host="two")], "Done."]
    office = await open_office(
        approvers_channel="#general", agents=scripted(gated(hosts.ping), replies=replies)
    )
    await office.ask("ping both")
    one, two = [await office.card(each, where="general") for each in ("one", "two")]
    swapped = office.now(one)
    row, other = (card["blocks"][-1]["elements"] for card in (swapped, office.now(two)))
    row[0]["value"] = other[0]["value"]
    await office.slack.click("max", swapped, "approve")
    await office.note("max", "does not belong to any request", where="general")
    assert hosts.ran == []
    await office.slack.click("max", two, "approve")
    await office.closed(two, "It is done")
    assert hosts.ran == ["two"]
    assert buttons(office.now(one)) == ["approve", "reject"]


async def test_an_old_card_does_not_decide_the_new_request(open_office: Opening):
    """Rejected, asked again, pressed on the first card: told that it is over, the new one waits."""
    hosts = Hosts()
    ping = call("ping", host="h1")
    office = await open_office(
        agents=scripted(gated(hosts.ping), replies=[ping, "No.", ping, "Ok."])
    )
    thread = await office.ask("ping h1")
    old = await office.card("h1")
    await rejects(office, old)
    await office.answer(thread, "No.")
    await office.slack.say("ana", "expenses", "do it all the same", thread_ts=thread)
    new = await office.card("The same as a request that was rejected")
    await office.slack.click("mia", old, "approve")
    await office.note("mia", f"already rejected by <@{MAX.id}>")
    assert hosts.ran == []
    assert buttons(office.now(new)) == ["approve", "reject"]


async def test_a_click_on_what_was_withdrawn(office: Office):
    """The card says so at once, and whoever still presses it hears who took it back."""
    thread = await office.ask(HOTEL)
    card, line = await office.card("200", where="general"), await office.answer(thread, "Asked")
    await office.slack.click("ana", line, "withdraw")
    await office.closed(card, "Withdrawn")
    await office.slack.click("max", card, "approve")
    await office.note("max", "withdrawn by the person who asked", where="general")
    assert office.amounts() == []


@pytest.mark.parametrize("button", ["approve", "reject"])
async def test_a_card_that_kept_its_buttons(office: Office, button: str):
    """Slack refused to change it when it was decided: the next click is told, and mends it."""
    await office.ask(HOTEL)
    card = await office.card("200", where="general")
    office.slack.fail("chat.update", "refused", error="is_archived")
    await rejects(office, card)
    await office.slack.wait_for(lambda: len(office.slack.calls("chat.update")) > 1)
    assert buttons(office.now(card)) == ["approve", "reject"]
    await office.slack.click("mia", card, button)
    await office.note("mia", f"already rejected by <@{MAX.id}>", where="general")
    await office.closed(card, f"*Rejected* by <@{MAX.id}>")


async def test_a_long_card_that_kept_its_buttons(open_office: Opening):
    """Looked at whole after it is over, it has nothing to decide, and the card is mended."""
    hosts = Hosts()
    long = call("ping", host="h" * 5_000)
    office = await open_office(agents=scripted(gated(hosts.ping), replies=[long, "No."]))
    await office.ask("ping it")
    card = await office.card("hhhh")
    office.slack.fail("chat.update", "refused", error="is_archived")
    await rejects(office, card)
    await office.slack.wait_for(lambda: len(office.slack.calls("chat.update")) > 1)
    assert buttons(office.now(card)) == ["show", "reject"]
    await office.slack.click("mia", card, "show")
    [view] = await office.slack.wait_for(lambda: office.slack.modals("mia"))
    assert not view.get("submit")
    mended = await office.slack.wait_for(
        lambda: office.now(card) if "*Rejected*" in full_text(office.now(card)) else None
    )
    assert buttons(mended) == ["show"]


async def approved(office: Office, cards: list[Message]) -> None:
    """The third of them approves."""
    await office.slack.click("mia", cards[2], "approve")


async def rejected(office: Office, cards: list[Message]) -> None:
    """The first of them rejects."""
    await rejects(office, cards[0], who="ben")


async def withdrawn(office: Office, cards: list[Message]) -> None:
    """Who asked takes it back."""
    assert cards
    [thread] = [m["ts"] for m in office.slack.messages("expenses")]
    await office.slack.click("ana", await office.answer(thread, "Asked"), "withdraw")


async def lapsed(_office: Office, cards: list[Message]) -> None:
    """Nobody does anything."""
    assert cards


async def cancelled(office: Office, cards: list[Message]) -> None:
    """An operator closes it at the console."""
    assert cards
    await office.slack.command("ana", "expenses", "/approvals")
    listed = await office.note("ana", "Asked by you", where="expenses")
    typed = parser().parse_args(["approvals", "cancel", full_text(listed).split("`")[1]])
    assert await typed.run(typed) == 0


ENDS = [
    pytest.param(approved, "Approved", id="approved"),
    pytest.param(rejected, "Rejected", id="rejected"),
    pytest.param(withdrawn, "Withdrawn", id="withdrawn"),
    pytest.param(lapsed, "Expired", id="expired"),
    pytest.param(cancelled, "an operator cancelled it", id="by an operator"),
]


@pytest.mark.parametrize(("end", "words"), ENDS)
async def test_every_copy_loses_its_buttons(
    open_office: Opening,
    store_url: str,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[Office, list[Message]], Awaitable[None]],
    words: str,
):
    """Each approver has a card in a DM; however it ends, all say so and none can be pressed."""
    people = (BEN, MAX, MIA)
    office = await open_office(
        approvers=[each.id for each in people],
        approvers_channel=None,
        approval_ttl="5s" if end is lapsed else "7d",
    )
    told = {
        "REDIS_URL": store_url,
        "SLACK_API_URL": office.slack.api_url,
        "SLACK_BOT_TOKEN": office.slack.bot_token,
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    await office.ask(HOTEL)
    rooms = [office.slack.workspace.dm(person).id for person in people]
    cards = [await office.card("200", where=room) for room in rooms]
    await end(office, cards)
    for card in cards:
        await office.closed(card, words)
