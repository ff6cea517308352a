"""Groups, roles, thresholds and tiers: who may decide, and what changes when the company does."""

import json
import re
from typing import Annotated, Any

import pytest

from agents import Agent, AgentTool, ApprovalPolicy, FunctionTool, Secret
from agents.runtime.testing import ScriptedModel, call
from agents.time_off import time_off_agent
from bot.playground import ANA, BEN, MAX, MIA
from bot.playground.messages import full_text
from tests.stories.conftest import Opening
from tests.stories.office import Message, Office, buttons

TOOL = "reimbursement.reimburse"
HOTEL = "please reimburse 200 dollars for the hotel"
MANAGERS = "S0LOCALMGR1"


def policy(**written: Any) -> dict[str, Any]:
    """Settings with a policy for reimbursements."""
    return {"approval_policies": json.dumps({TOOL: written})}


async def test_a_group_decides_as_it_is_at_the_click(open_office: Opening):
    """Who left a user group after the question was put cannot decide it, who joined can."""
    office = await open_office(**policy(approvers=[MANAGERS]))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.set_group("managers", ["ben"])
    await office.slack.click("max", card, "approve")
    await office.note("max", "You cannot decide this")
    assert office.amounts() == []
    await office.slack.click("mia", card, "approve")
    await office.note("mia", "You cannot decide this")
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert thread


async def test_a_group_that_cannot_be_looked_up_decides_nothing(open_office: Opening):
    """While Slack does not say who is in a group, a click is told to come again."""
    office = await open_office(**policy(approvers=[MANAGERS]))
    await office.ask(HOTEL)
    card = await office.card("200")
    office.slack.fail("usergroups.users.list", "error", error="internal_error", times=50)
    await office.slack.set_group("managers", ["max", "mia"])
    await office.slack.click("max", card, "approve")
    await office.note("max", "could not check what you may decide")
    assert buttons(office.now(card)) == ["approve", "reject"]
    assert office.amounts() == []


async def test_nobody_to_write_to_is_asked_in_the_thread(open_office: Opening):
    """Without a channel for cards and with nobody to be told, the thread has the card."""
    office = await open_office(
        approvers_channel=None, **policy(approvers=[MAX.id, MIA.id], notify=[])
    )
    thread = await office.ask(HOTEL)
    card = await office.answer(thread, "If approved")
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


@pytest.mark.parametrize(
    ("asked", "heard"),
    [
        pytest.param((BEN.id,), ["ben"], id="one who is not in the channel"),
        pytest.param((MAX.id, BEN.id), ["ben"], id="one of two"),
        pytest.param((MAX.id, MIA.id), [], id="all are in it"),
    ],
)
async def test_whoever_is_not_in_the_channel_is_asked_in_a_dm(
    open_office: Opening, asked: tuple[str, ...], heard: list[str]
):
    """Nobody is told to be asked who never hears of it; a card in a DM is as good as another."""
    office = await open_office(**policy(approvers=list(asked)))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    dms = [await office.slack.wait_for(lambda who=who: office.slack.dms(who)) for who in heard]
    if heard:
        await office.slack.click("ben", dms[0][-1], "approve")
    else:
        await office.slack.click("max", card, "approve")
    await office.answer(thread, "Paid")
    await office.closed(card, "Approved")
    assert [who for who in ("ben", "max", "mia") if office.slack.dms(who)] == heard


async def test_one_of_these_or_two_of_those(open_office: Opening):
    """One CFO or two of finance: the first of finance is counted, the second decides."""
    office = await open_office(
        approver_roles=json.dumps({"cfo": [BEN.id], "finance": [MAX.id, MIA.id]}),
        **policy(any_of={"cfo": 1, "finance": 2}),
    )
    thread = await office.ask(HOTEL)
    card = await office.card("it takes 1 from cfo or 2 from finance")
    await office.slack.click("max", card, "approve")
    await office.slack.wait_for(lambda: "so far 1" in full_text(office.now(card)))
    assert office.amounts() == []
    await office.slack.click("mia", card, "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_a_tier_is_crossed(open_office: Opening):
    """Above a sum somebody else has to agree; below it the usual people do."""
    tiers = {"amount > 1000": {"approvers": [MIA.id]}}
    office = await open_office(**policy(approvers=[MAX.id, MIA.id], tiers=tiers))
    await office.ask(HOTEL)
    small = await office.card("200")
    assert f"Asked: <@{MAX.id}> and <@{MIA.id}>" in full_text(small)
    await office.ask("please reimburse 1500 dollars for the flight")
    big = await office.card("1500")
    assert f"Asked: <@{MIA.id}> ·" in full_text(big)
    await office.slack.click("max", big, "approve")
    await office.note("max", "You cannot decide this")
    assert office.amounts() == []


async def test_nobody_left_is_told_at_once(open_office: Opening):
    """When the only approver is deactivated or the requester, the requester hears it at once."""
    office = await open_office(**policy(approvers=[ANA.id]))
    thread = await office.ask(HOTEL)
    await office.answer(thread, "Nobody may approve reimburse here")
    assert office.amounts() == []


async def test_a_deactivated_approver_is_nobody(open_office: Opening):
    """Whoever left the company is not asked, and not counted among those who could decide."""
    office = await open_office(**policy(approvers=[MAX.id]))
    await office.slack.deactivate("max")
    thread = await office.ask(HOTEL)
    await office.answer(thread, "Nobody may approve reimburse here")


async def test_who_has_just_left_is_not_asked(open_office: Opening):
    """Who was asked a moment ago and has left since is not among those of the next request."""
    office = await open_office(**policy(approvers=[MAX.id, MIA.id]))
    await office.ask(HOTEL)
    assert f"Asked: <@{MAX.id}> and <@{MIA.id}>" in full_text(await office.card("200"))
    await office.slack.deactivate("max")
    await office.ask("please reimburse 300 dollars for the train")
    assert f"Asked: <@{MIA.id}> ·" in full_text(await office.card("300"))


async def test_a_required_reason(open_office: Opening):
    """Where a rejection needs a reason, an empty one keeps the form open with the error."""
    office = await open_office(**policy(reason_required=True))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.click("mia", card, "reject")
    await office.slack.wait_for(lambda: office.slack.modals("mia"))
    refused = await office.slack.submit("mia", {"reason": "  "})
    assert "needs a reason" in json.dumps(refused.errors)
    await office.slack.submit("mia", {"reason": "too dear"})
    await office.answer(thread, "too dear")


async def test_a_reminder_before_it_expires(open_office: Opening):
    """People are reminded under the card, which itself stays as it is."""
    office = await open_office(**policy(expires="50s", reminders=[0.02]))
    await office.ask(HOTEL)
    card = await office.card("200")
    before = office.now(card)
    line = await office.answer(card["ts"], "still waits for a decision", where="approvals")
    assert f"<@{MAX.id}> and <@{MIA.id}>" in line["text"]
    assert office.now(card)["blocks"] == before["blocks"]


async def test_a_reminder_and_still_nobody_decides(open_office: Opening):
    """It expires as if nobody had been reminded."""
    office = await open_office(**policy(expires="4s", reminders=[0.3]))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.answer(card["ts"], "still waits for a decision", where="approvals")
    await office.answer(thread, "nobody answered in time")
    await office.closed(card, "Expired")


async def test_others_take_over(open_office: Opening):
    """After a part of the time others may decide as well; before it they may not."""
    office = await open_office(
        **policy(approvers=[MAX.id], expires="40s", reminders=[], escalate={"0.1": [MIA.id]})
    )
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.click("mia", card, "approve")
    await office.note("mia", "You cannot decide this")
    await office.answer(card["ts"], f"<@{MIA.id}> may decide this as well now", where="approvals")
    await office.slack.click("mia", card, "approve")
    await office.answer(thread, "Paid")


@pytest.mark.parametrize("why", ["they have left", "they ask themselves"])
async def test_others_take_over_at_once(open_office: Opening, why: str):
    """Where the only approver cannot decide, nobody waits for the moment of the escalation."""
    rules = policy(approvers=[MAX.id], escalate={"0.9": [MIA.id]})
    office = await open_office(approvers=[], **rules)
    if why == "they ask themselves":
        thread = await office.ask(HOTEL, who="max")
        card = await office.card("200")
    else:
        thread = await office.ask(HOTEL)
        card = await office.card("200")
        await office.slack.deactivate("max")
        joined = f"<@{MIA.id}> may decide this as well now"
        await office.answer(card["ts"], joined, where="approvals")
    await office.slack.wait_for(lambda: f"Asked: <@{MIA.id}> ·" in full_text(office.now(card)))
    await office.slack.wait_for(lambda: office.heard(thread, "Asked Mia"))
    await office.slack.click("mia", office.now(card), "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_home_shows_what_concerns_me(office: Office):
    """Home: what waits for me, what I asked for, and what was decided; it is decided from there."""
    await office.ask(HOTEL)
    card = await office.card("200")
    for who, title in (("max", "Waits for you"), ("ana", "Asked by you")):
        await office.slack.open_home(who)
        home = await office.slack.wait_for(lambda who=who: office.slack.home(who))
        assert "Reimburse" in json.dumps(home).partition(title)[2].partition("header")[0]
    home = await office.slack.wait_for(lambda: office.slack.home("max"))
    await office.slack.click("max", home, "show")
    view = await office.slack.wait_for(lambda: office.slack.modals("max"))
    assert "hotel" in json.dumps(view)
    await office.slack.submit("max")
    for who in ("max", "ana"):
        await office.slack.wait_for(
            lambda who=who: "Approved" in json.dumps(office.slack.home(who)).partition("Decided")[2]
        )
    await office.closed(card, "Approved")
    assert office.slack.modals("max") == []


async def test_a_click_in_home_is_answered(office: Office):
    """Whoever presses a button of a Home that is not true any more hears it from the bot."""
    await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.open_home("ana")
    seen = await office.slack.wait_for(lambda: office.slack.home("ana"))
    await office.slack.click("max", card, "approve")
    await office.slack.click("ana", seen, "withdraw")
    await office.slack.wait_for(
        lambda: any("already approved" in full_text(each) for each in office.slack.dms("ana"))
    )


def _notes(office: Office, who: str, words: str) -> list[Message]:
    """What only this person sees in #expenses."""
    seen = office.slack.visible(who, "expenses")
    return [each for each in seen if each.get("is_ephemeral") and words in full_text(each)]


async def test_the_command_lists_shows_and_withdraws(office: Office):
    """`/approvals` tells what waits, shows one, and withdraws what is mine."""
    await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.command("ana", "expenses", "/approvals")
    listed = await office.note("ana", "Asked by you", where="expenses")
    number = full_text(listed).split("`")[1]
    await office.slack.command("ben", "expenses", f"/approvals show {number}")
    await office.note("ben", "no such approval", where="expenses")
    await office.slack.command("ben", "expenses", f"/approvals withdraw {number}")
    await office.slack.wait_for(lambda: len(_notes(office, "ben", "no such approval")) == 2)
    await office.slack.command("max", "expenses", f"/approvals show {number.upper()}")
    shown = await office.note("max", "200", where="expenses")
    assert buttons(shown) == ["show", "reject"]
    await office.slack.command("max", "expenses", f"/approvals withdraw {number}")
    await office.note("max", "Only the person who asked", where="expenses")
    await office.slack.command("ana", "expenses", f"/approvals withdraw {number}")
    await office.note("ana", "withdrawn", where="expenses")
    await office.closed(card, "Withdrawn")
    await office.slack.command("ana", "expenses", "/approvals nonsense")
    await office.note("ana", "Type `/approvals`", where="expenses")


async def test_other_companies_see_no_details(open_office: Opening):
    """In a channel shared with another company a card says nothing; who may, opens it."""
    office = await open_office(approvers_channel="#partners")
    thread = await office.ask(HOTEL)
    card = await office.card("asks for approval", where="partners")
    told = json.dumps(card)
    assert "hotel" not in told
    assert not re.search(r"\b200\b", told)
    await office.slack.click("pat", card, "show")
    await office.note("pat", "Only people of this workspace", where="partners")
    assert office.slack.modals("pat") == []
    await office.slack.click("max", card, "show")
    view = await office.slack.wait_for(lambda: office.slack.modals("max"))
    assert "hotel" in json.dumps(view)
    await office.slack.submit("max")
    await office.answer(thread, "Paid")
    closed = await office.closed(card, "Approved")
    assert "hotel" not in json.dumps(closed)


async def test_the_line_tells_other_companies_nothing(open_office: Opening):
    """Asked in a channel shared with another company, the line in the thread has no details."""
    office = await open_office(routes={"#partners": "reimbursement"})
    thread = await office.ask(HOTEL, where="partners")
    line = await office.answer(thread, "Asked", where="partners")
    assert "hotel" not in json.dumps(line)
    await office.slack.click("max", await office.card("200"), "approve")
    await office.slack.wait_for(lambda: "Approved" in full_text(office.now(line)))
    assert "hotel" not in json.dumps(office.now(line))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        pytest.param(Annotated[str, Secret], "tok-777", id="a text"),
        pytest.param(Annotated[str, Secret] | None, "tok-777", id="an optional text"),
        pytest.param(list[Annotated[str, Secret()]], ["tok-777"], id="in a list"),
        pytest.param(dict[str, list[Annotated[str, Secret]]], {"a": ["tok-777"]}, id="in a dict"),
    ],
)
async def test_a_secret_argument_is_shown_to_nobody(open_office: Opening, kind: Any, given: Any):
    """A secret is dots on the card and behind "Show everything"; the body gets the real one."""
    got: list[Any] = []

    def connect(host: str, token: Any) -> dict[str, Any]:
        """Connect to a host with a token."""
        got.append(token)
        return {"connected": host, "with": token}

    connect.__annotations__["token"] = kind
    tool = FunctionTool(connect, require_confirmation=True)
    model = ScriptedModel([call("connect", host="h1", token=given), "Connected with tok-777."])
    agent = Agent(name="reimbursement", description="Connects.", tools=[tool], model=model)
    office = await open_office(agents=[agent, time_off_agent()])
    thread = await office.ask("connect h1")
    card = await office.card("h1")
    assert "tok-777" not in json.dumps(card)
    assert "••••••" in full_text(card)
    await office.slack.click("max", card, "approve")
    echo = await office.answer(thread, "Connected")
    assert "tok-777" not in json.dumps(echo)
    told = await office.closed(card, "Result")
    assert "tok-777" not in json.dumps(told)
    assert got == [given]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param((), id="one process"),
        pytest.param((["worker", "clock"], ["clock"]), id="several processes"),
    ],
)
async def test_an_approver_leaves_while_a_request_is_open(open_office: Opening, others):
    """Default approvers are asked, the requester reads it once, and what they approve runs."""
    told = {"approvers": [MIA.id], **policy(approvers=[MAX.id])}
    for roles in others:
        await open_office(roles=roles, **told)
    office = await open_office(**told)
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.deactivate("max")
    await office.answer(thread, "the default approvers are asked as well")
    under = office.slack.thread("approvals", card["ts"])[1:]
    assert any(f"<@{MIA.id}> may decide this as well now" in full_text(line) for line in under)
    card = office.now(card)
    assert f"Asked: <@{MIA.id}> ·" in full_text(card)
    await office.slack.click("mia", card, "approve")
    await office.closed(card, "It is done")
    assert office.amounts() == [200]
    said = [full_text(each) for each in office.slack.thread("expenses", thread)]
    assert sum("the default approvers are asked as well" in each for each in said) == 1


@pytest.mark.parametrize("how", ["deactivated", "out of the group"])
async def test_who_approved_leaves_while_it_is_open(open_office: Opening, how: str):
    """Their approval is not counted any more, the card says so, and it takes somebody else."""
    told = policy(approvers=["S0LOCALMGR1", BEN.id], quorum=2)
    office = await open_office(approvers_channel="#general", **told)
    thread = await office.ask(HOTEL)
    card = await office.card("200", where="general")
    await office.slack.click("max", card, "approve")
    await office.note("max", "1 of at least 2", where="general")
    if how == "deactivated":
        await office.slack.deactivate("max")
    else:
        await office.slack.set_group("managers", ["mia"])
    words = f"not counted, since they may not decide any more: <@{MAX.id}>"
    await office.slack.wait_for(lambda: words in full_text(office.now(card)))
    await office.slack.click("mia", office.now(card), "approve")
    await office.note("mia", "1 of at least 2", where="general")
    assert office.amounts() == []
    await office.slack.click("ben", office.now(card), "approve")
    told_now = full_text(await office.closed(card, "It is done"))
    assert f"*Approved* by <@{MIA.id}> and <@{BEN.id}>" in told_now
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_new_approvers_get_a_card_of_their_own(open_office: Opening):
    """Where cards go to people, the default approvers get theirs; the other one has no buttons."""
    told = policy(approvers=["S0LOCALMGR1"], quorum=2)
    office = await open_office(approvers=[BEN.id], approvers_channel=None, **told)
    thread = await office.ask(HOTEL)
    dms = [office.slack.workspace.dm(each).id for each in (MAX, MIA)]
    await office.slack.wait_for(lambda: all(office.slack.messages(dm) for dm in dms))
    await office.slack.set_group("managers", ["mia"])
    await office.answer(thread, "the default approvers are asked as well")
    own = office.slack.workspace.dm(BEN).id
    card = await office.card("200", where=own)
    await office.slack.click("ben", card, "approve")
    [theirs] = [m for m in office.slack.messages(dms[1]) if "approve" in buttons(m)]
    await office.slack.click("mia", {**theirs, "channel": dms[1]}, "approve")
    await office.answer(thread, "Paid")
    assert office.amounts() == [200]


async def test_nobody_is_left_to_decide(open_office: Opening):
    """Without anybody else the request is closed at once, and the agent goes on with that."""
    office = await open_office(approvers=[MAX.id])
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    await office.slack.deactivate("max")
    await office.answer(thread, "Too few are left who may decide about request")
    closed = await office.closed(card, "too few may decide this here")
    assert "It did not run" in full_text(closed)
    assert office.amounts() == []


@pytest.mark.parametrize("by", ["tool", "settings"])
async def test_a_tool_of_an_agent_that_another_calls(open_office: Opening, by: str):
    """Whoever its policy names decides, by whatever way the tool is reached, and nobody else."""

    def ping(host: str) -> dict[str, str]:
        """Ping."""
        return {"pong": host}

    own = ApprovalPolicy(approvers=(MIA.id,)) if by == "tool" else None
    tool = FunctionTool(ping, require_confirmation=True, approval=own)
    replies = [call("helper", request="x"), call("ping", host="h1"), "Pinged.", "Done."]
    agent = Agent(
        name="reimbursement",
        description="Pings.",
        model=ScriptedModel(replies),
        tools=[AgentTool(Agent(name="helper", description="Helps.", tools=[tool]))],
    )
    written = {} if by == "tool" else {"helper.ping": {"approvers": [MIA.id]}}
    office = await open_office(
        agents=[agent, time_off_agent()], approval_policies=json.dumps(written)
    )
    thread = await office.ask("go")
    card = await office.card("h1")
    await office.slack.click("max", card, "approve")
    await office.note("max", "You cannot decide this")
    assert buttons(office.now(card)) == ["approve", "reject"]
    await office.slack.click("mia", card, "approve")
    await office.answer(thread, "Done.")


async def test_a_word_of_somebody_else_does_not_make_two(open_office: Opening):
    """Who asked cannot approve it at another person's word either: the request stays as it is."""

    def ping(host: str) -> dict[str, str]:
        """Ping."""
        return {"pong": host}

    replies = [call("ping", host="h1"), call("ping", host="h1"), "It waits.", "Done."]
    agent = Agent(
        name="reimbursement",
        description="Pings.",
        model=ScriptedModel(replies),
        tools=[FunctionTool(ping, require_confirmation=True)],
    )
    office = await open_office(
        agents=[agent, time_off_agent()],
        approvers_channel="#general",
        approvers=[MAX.id, ANA.id],
    )
    thread = await office.ask("please ping h1")
    first = await office.card("h1", where="general")
    await office.slack.say("ben", "expenses", "sounds good", thread_ts=thread)
    await office.answer(thread, "It waits.")
    await office.slack.click("ana", office.now(first), "approve")
    await office.note("ana", "You asked for this", where="general")
    assert buttons(office.now(first)) == ["approve", "reject"]
    await office.slack.click("max", office.now(first), "approve")
    await office.answer(thread, "Done.")
