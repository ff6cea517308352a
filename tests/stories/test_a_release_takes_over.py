"""Two releases at work at once: what the older one does not know is left to the newer one."""

import asyncio
from functools import partial

import pytest

from agents import Agent, FunctionTool
from agents.runtime import calling
from bot import worker
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
OLDER = [
    pytest.param([agent("letters")], id="without the agent"),
    pytest.param([agent("parcels")], id="without the tool"),
]


@pytest.fixture
def release(slack, store_url, tmp_path, monkeypatch):
    """Starts a release with these agents, in some roles; pauses are short."""
    SENT.clear()
    monkeypatch.setattr(worker, "AWAY_AGAIN", 0.2)
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


@pytest.mark.parametrize("older", OLDER)
@pytest.mark.parametrize(
    "decided",
    [
        pytest.param(("approve", "It is done", [7]), id="approved"),
        pytest.param(("reject", "Rejected", []), id="rejected"),
    ],
)
async def test_a_decision_about_a_new_call(release, slack, office, older, decided):
    """A release that cannot run it leaves it to the one that can, as people decided."""
    button, words, sent = decided
    async with release(NEWER, "web", "worker") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        thread = await office.ask("send parcel number 7", where="support")
        card = await office.card("parcel")
        await office.answer(thread, where="support")
    async with release(NEWER, "web") as port:
        slack.connect(f"http://127.0.0.1:{port}/slack/events")
        await slack.click("max", card, button)
        if button == "reject":
            await slack.wait_for(lambda: slack.modals("max"))
            await slack.submit("max")
    async with release(older, "worker", "clock"):
        await asyncio.sleep(0.5)
    assert SENT == []
    async with release(NEWER, "worker"):
        await office.closed(card, words)
        await slack.wait_for(lambda: sent == SENT)
