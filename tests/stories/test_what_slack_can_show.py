"""Whatever a call, a form or a channel is like: the question reaches people and can be decided."""

import json
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, create_model

from agents import ApprovalPolicy, ToolContext
from agents.runtime.testing import call
from bot.playground import ANA, BEN, MAX, MIA
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons
from tests.stories.scripts import Hosts, gated, scripted

HOTEL = "please reimburse 200 dollars for the hotel"
CHOICES = tuple(f"choice {chr(65 + n)}" for n in range(26))
MANY = Enum("MANY", {f"m{n}": f"option {n}" for n in range(101)})


class Chosen(BaseModel):
    """One of 26."""

    value: Literal[CHOICES]  # pyright: ignore[reportInvalidTypeForm] - 26 are written shorter


class Trip(BaseModel):
    """Fields whose order is no alphabet's."""

    where: str | None = None
    until: str = "Friday"
    by: Literal["train", "plane"]
    alone: bool = True


ChosenOfMany = create_model("ChosenOfMany", value=(MANY, ...))


def elements(message: Message) -> dict[str, str]:
    """The kind of each input's element by its id."""
    found = [b["element"] for b in message["blocks"] if b["type"] == "input"]
    return {each["action_id"]: each["type"] for each in found}


@pytest.mark.parametrize(
    ("form", "kind", "given"),
    [
        pytest.param(Chosen, "static_select", "choice Z", id="26 choices"),
        pytest.param(ChosenOfMany, "plain_text_input", "option 100", id="101 choices"),
    ],
)
async def test_a_choice_among_many(
    open_office: Opening, form: type[BaseModel], kind: str, given: str
):
    """Many choices are one select, or a text where Slack takes no more; never rows of buttons."""
    chosen: list[Any] = []

    def choose(tool_context: ToolContext) -> dict[str, str]:
        """Have somebody choose."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Which one?", payload=form)
            return {}
        chosen.append(tool_context.tool_confirmation.payload)
        return {"status": "chosen"}

    office = await open_office(agents=scripted(choose, replies=[call("choose"), "?", "Chosen."]))
    await office.ask("choose")
    card = await office.card("Which one?")
    assert elements(card) == {"value": kind}
    assert buttons(card) == ["approve", "reject"]
    await office.slack.click("max", card, "approve", values={"value": given})
    await office.closed(card, "It is done")
    assert chosen == [{"value": given}]


async def test_fields_stand_as_they_were_declared(open_office: Opening):
    """Optional fields keep their places among the others, on the card and in what was entered."""

    def travel(tool_context: ToolContext) -> dict[str, str]:
        """Travel."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Where to?", payload=Trip)
        return {"status": "on the way"}

    office = await open_office(agents=scripted(travel, replies=[call("travel"), "?", "Gone."]))
    await office.ask("travel")
    card = await office.card("Where to?")
    assert list(elements(card)) == ["where", "until", "by", "alone"]
    given = {"where": "Rome", "until": "Monday", "by": "train", "alone": "false"}
    await office.slack.click("max", card, "approve", values=given)
    told = full_text(await office.closed(card, "It is done"))
    places = [told.index(word) for word in ("Rome", "Monday", "train")]
    assert places == sorted(places)


async def test_more_requests_than_a_list_can_show(open_office: Opening):
    """Thirty open requests: the command shows some and says how many more; no row is long."""
    hosts = Hosts()
    replies = [[call("ping", host=f"h{n}") for n in range(30)], "Done."]
    office = await open_office(agents=scripted(gated(hosts.ping), replies=replies))
    await office.ask("ping all")
    await office.slack.wait_for(lambda: len(office.slack.messages("approvals")) == 30)
    await office.slack.command("max", "expenses", "/approvals")
    listed = full_text(await office.note("max", "Waits", where="expenses"))
    shown = listed.count("`") // 2
    assert f"… and {30 - shown} more" in listed
    rows = [
        b["elements"]
        for m in office.slack.messages("approvals")
        for b in m["blocks"]
        if b["type"] == "actions"
    ]
    assert max(map(len, rows)) == 2


COMMANDS = [
    "pwd",
    "rm -rf \"my files\" && echo 'done' | tee <x> `y`",
    "x" * 250,
    "line\nline\n" * 50,
    "ls # <!everyone> *bold* <https://evil.example|Approve here>",
    "\u202egnp.exe",
    "x" * 20_000,
]


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
async def test_whatever_the_argument(open_office: Opening, command: str):
    """A card with the same two decisions, nothing active in it, and an id on its buttons only."""
    ran: list[str] = []

    def shell(command: str) -> str:
        """Run a command."""
        ran.append(command)
        return "ok"

    office = await open_office(
        agents=scripted(gated(shell), replies=[call("shell", command=command), "Done."])
    )
    await office.ask("run it")
    card = await office.card("Shell")
    whole = len(command) > 600
    assert buttons(card) == ["show" if whole else "approve", "reject"]
    told = json.dumps(card)
    assert "<!everyone>" not in card["text"].replace("&lt;", "")
    assert '"url"' not in told
    assert not any(e.get("url") for b in card["blocks"] for e in b.get("elements", []))
    values = [e["value"] for b in card["blocks"] if b["type"] == "actions" for e in b["elements"]]
    assert all(len(value) < 300 and command[:40] not in value for value in values)
    if whole:
        await office.slack.click("max", card, "show")
        view = await office.slack.wait_for(lambda: office.slack.modals("max"))
        assert view
        return
    await office.slack.click("max", card, "approve")
    await office.closed(card, "It is done")
    assert ran == [command]


async def test_nowhere_to_post(open_office: Opening):
    """Slack takes no message at all: nothing runs, the request is kept and decided from Home."""
    office = await open_office()
    office.slack.fail("chat.postMessage", "refused", error="restricted_action", times=8)
    await office.ask(HOTEL)
    await office.slack.wait_for(lambda: office.slack.calls("chat.postMessage")[3:])
    assert office.amounts() == []
    await office.slack.open_home("max")
    home = await office.slack.wait_for(
        lambda: (h := office.slack.home("max")) and "hotel" in json.dumps(h) and h
    )
    await office.slack.click("max", home, "show")
    await office.slack.wait_for(lambda: office.slack.modals("max"))
    await office.slack.submit("max")
    await office.slack.wait_for(lambda: office.amounts() == [200])


async def test_slack_takes_it_later(open_office: Opening):
    """A card that Slack answered 500 and 429 is posted once when it can be."""
    office = await open_office()
    office.slack.fail("chat.postMessage", "error", error="internal_error", times=1)
    office.slack.fail("chat.postMessage", "ratelimited", seconds=1, times=1)
    thread = await office.ask(HOTEL)
    card = await office.slack.wait_for(
        lambda: next((m for m in office.slack.messages("approvals") if buttons(m)), None)
    )
    assert office.amounts() == []
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid")
    assert len(office.slack.messages("approvals")) == 1


def pinged(office: Office, person: str) -> list[Message]:
    """The messages of the bot in which Slack would tell this person."""
    everywhere = [m for where in ("approvals", "expenses") for m in every(office, where)]
    return [m for m in everywhere if m.get("bot_id") and f"<@{person}>" in json.dumps(m)]


def every(office: Office, where: str) -> list[Message]:
    """All messages of a channel, threads included."""
    return [
        each for m in office.slack.messages(where) for each in office.slack.thread(where, m["ts"])
    ]


async def test_who_may_decide_and_is_not_told(open_office: Opening):
    """Executives may approve, and nothing that is posted mentions them before they do."""
    policies = {"*": {"approvers": [MAX.id, MIA.id], "notify": [BEN.id]}}
    office = await open_office(approval_policies=json.dumps(policies))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.answer(thread, "Asked")
    assert f"notified: <@{BEN.id}>" in full_text(card)
    assert [*pinged(office, MAX.id), *pinged(office, MIA.id)] == []
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid")


async def test_a_small_team_may_approve_its_own(open_office: Opening):
    """Where the policy says so whoever asked may agree, and the card says that they may."""
    own = {"*": {"approvers": [ANA.id], "self_approval": True}}
    office = await open_office(approval_policies=json.dumps(own), approvers_channel="#general")
    thread = await office.ask(HOTEL)
    card = await office.card(f"<@{ANA.id}> may approve this too", where="general")
    await office.slack.click("ana", card, "approve")
    await office.answer(thread, "Paid")
    assert f"*Approved* by <@{ANA.id}>" in full_text(await office.closed(card, "It is done"))


async def test_nobody_approves_their_own_without_it(open_office: Opening):
    """By default it is somebody else's to decide, also where nobody else is."""
    office = await open_office(approval_policies=json.dumps({"*": {"approvers": [ANA.id]}}))
    await office.answer(await office.ask(HOTEL), "Nobody may approve")
    assert office.amounts() == []


async def test_an_approval_has_its_own_time(open_office: Opening):
    """Never told that it was rejected: it expired, with the moment, and nobody is named."""
    policy = ApprovalPolicy(expires=None)
    tool = gated(Hosts().ping, approval=policy)
    replies = [call("ping", host="h1"), "Over."]
    office = await open_office(agents=scripted(tool, replies=replies), approval_ttl="4s")
    thread = await office.ask("ping")
    card = await office.card("h1")
    await office.answer(thread, "Over.")
    closed = full_text(await office.closed(card, "Nobody decided in time"))
    assert "Rejected" not in closed
    await office.slack.click("max", card, "approve")
    note = await office.note(
        "max", "This expired before anybody decided. It could be decided until"
    )
    assert "UTC" in note["text"]
    assert MIA.id not in note["text"]
