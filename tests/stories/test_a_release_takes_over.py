"""Two releases at work at once: what the older one does not know is left to the newer one."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from agents import Agent, AgentTool, FunctionTool
from agents.runtime import calling
from agents.runtime.slot.redis import connect
from bot import worker
from bot.index import Index
from bot.playground.people import TEAM_ID
from tests.stories.conftest import office_settings, running
from tests.stories.office import Office

SENT: list[int] = []


async def send_parcel(number: int) -> dict[str, int]:
    """Send a parcel.

    Args:
        number: Which.
    """
    SENT.append(number)
    return {"sent": number}


def agent(name: str, *tools: FunctionTool) -> Agent:
    """An agent with these tools."""
    return Agent(name=name, description="Sends parcels.", tools=tools)


PARCEL = FunctionTool(send_parcel, require_confirmation=True)
NEWER = [agent("parcels", PARCEL)]
NESTED = Agent(name="front", description="Sends parcels.", tools=[AgentTool(NEWER[0])])
RELEASES = [
    pytest.param(NEWER, [agent("letters")], id="without the agent"),
    pytest.param(NEWER, [agent("parcels")], id="without the tool"),
    pytest.param([NESTED], [agent("front")], id="without the agent that is a tool"),
]


@pytest.fixture
def release(slack, store_url, tmp_path, monkeypatch):
    """Starts a release with these agents, in some roles; pauses are short."""
    SENT.clear()
    monkeypatch.setattr(worker, "AWAY_AGAIN", 0.2)
    monkeypatch.setattr(worker, "RETRIES", (0.2,))
    monkeypatch.setattr(worker, "GIVE_UP", 1_000)
    monkeypatch.setattr(calling, "ABSENT_AGAIN", 0.2)
    of_office = partial(office_settings, slack, store_url, tmp_path)

    def started(agents: list[Agent], *roles: str):
        routes = {"#support": agents[0].name}
        return running(of_office(routes=routes, roles=roles), agents=agents)

    return started


@pytest.fixture
def office(slack, tmp_path) -> Office:
    """An office whose bot is started by each test."""
    return Office(slack, tmp_path / "ledger.jsonl")


async def test_a_message_for_a_new_agent(release, slack, office):
    """It is not answered by a release without that agent, but asked about by the one with it."""
    async with release(NEWER, "web") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        thread = await office.ask("send parcel number 7", where="support")
    async with release([agent("letters")], "worker", "clock"):
        await asyncio.sleep(0.5)
    assert office.heard(thread, where="support") is None
    async with release(NEWER, "worker"):
        assert await office.card("parcel")


@pytest.mark.parametrize(("newer", "older"), RELEASES)
@pytest.mark.parametrize(
    "decided",
    [
        pytest.param(("approve", "It is done", [7]), id="approved"),
        pytest.param(("reject", "Rejected", []), id="rejected"),
    ],
)
async def test_a_decision_about_a_new_call(release, office, newer, older, decided):
    """A release that cannot run it leaves it to the one that can, as people decided."""
    slack, (button, words, sent) = office.slack, decided
    async with release(newer, "web", "worker") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        thread = await office.ask("send parcel number 7", where="support")
        card = await office.card("parcel")
        await office.answer(thread, where="support")
    async with release(newer, "web") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await slack.click("max", card, button)
        if button == "reject":
            await slack.wait_for(lambda: slack.modals("max"))
            await slack.submit("max")
    async with release(older, "worker", "clock"):
        await asyncio.sleep(0.5)
    assert SENT == []
    async with release(newer, "worker"):
        await office.closed(card, words)
        await slack.wait_for(lambda: sent == SENT)


async def kept(url: str, what: str = "status") -> str:
    """A field of the only approval's record."""
    async with connect(url) as client:
        [name] = [each async for each in client.scan_iter("b:*:a")]
        found = await client.hgetall(name)
        [told] = [said for field, said in found.items() if field.startswith(f"{what} ")]
        return str(told)


async def replaced(url: str, body: str) -> str:
    """Have the only approval's record say this; what it said before."""
    before = await kept(url, "body")
    async with connect(url) as client:
        [name] = [each async for each in client.scan_iter("b:*:a")]
        [field] = [each for each in await client.hkeys(name) if each.startswith("body ")]
        await client.hset(name, field, body)
    return before


async def rewritten(url: str, **changes: Any) -> dict[str, Any]:
    """Change what the only approval's record says; what it said before."""
    body = json.loads(await kept(url, "body"))
    await replaced(url, json.dumps({**body, **changes}))
    return {each: body[each] for each in changes}


@pytest.mark.parametrize(
    "newer",
    [
        pytest.param({"policy": {"rules": [{"unit": "v2"}]}}, id="a policy of another shape"),
        pytest.param({"votes": {"max": "yes"}}, id="votes of another shape"),
        pytest.param({"deadline": "tomorrow"}, id="a time of another kind"),
    ],
)
async def test_a_record_of_a_newer_release(release, slack, store_url, office, newer):
    """What was approved runs once a release can read it, and is answered by no other."""
    async with release(NEWER, "web", "worker") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        thread = await office.ask("send parcel number 7", where="support")
        card = await office.card("parcel")
        await office.answer(thread, where="support")
    async with release(NEWER, "web") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await slack.click("max", card, "approve")
    said = len(slack.thread("support", thread))
    before = await rewritten(store_url, **newer)
    async with release(NEWER, "worker", "clock"):
        await asyncio.sleep(0.5)
    assert (SENT, len(slack.thread("support", thread))) == ([], said)
    await rewritten(store_url, **before)
    async with release(NEWER, "worker"):
        await office.closed(card, "It is done")
    assert SENT == [7]


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(json.dumps({"votes": {"max": "yes"}}), id="another shape"),
        pytest.param("[]", id="no object"),
        pytest.param("{", id="no JSON"),
    ],
)
async def test_a_record_that_nobody_can_read_for_long(
    release, store_url, office, monkeypatch, spoilt: str
):
    """Who asked and operators hear of it, it is void for good, and what is said again is asked."""
    slack = office.slack
    async with release(NEWER, "web", "worker") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        thread = await office.ask("send parcel number 7", where="support")
        card = await office.card("parcel")
        await office.answer(thread, where="support")
    async with release(NEWER, "web") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await slack.click("max", card, "approve")
    before = await replaced(store_url, spoilt)
    monkeypatch.setattr(worker, "GIVE_UP", 2)
    async with release(NEWER, "worker", "clock"):
        await office.answer(thread, "Something went wrong", where="support")
    assert (SENT, await kept(store_url)) == ([], "void")
    await replaced(store_url, before)
    async with release(NEWER, "web", "worker", "clock") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await office.closed(card, "not run on this approval")
        async with connect(store_url) as client:
            [(dead, _)] = await Index(client, tenant=TEAM_ID).dead()
        assert dead.id.endswith(thread)
        await office.ask("send parcel number 7", where="support")
        again = await office.card("parcel")
        await slack.click("max", again, "approve")
        await office.closed(again, "It is done")
    assert SENT == [7]
