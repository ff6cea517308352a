"""The way from Slack's request to a tool's first line stays short enough to be read."""

from agents import Agent
from agents.runtime.slot.redis import RedisSlot
from agents.runtime.testing import ScriptedModel, call
from tests.hops import Hops
from tests.stories.conftest import Opening

FUNCTIONS, FILES = 45, 22


async def test_the_way_of_one_message(open_office: Opening):
    """From the listener to the tool there are at most 45 functions of ours in 22 files."""

    def price(ticker: str) -> str:
        """The price of a share."""
        hops.mark()
        return f"{ticker}: 12"

    model = ScriptedModel([call("price", ticker="ACME"), "It is 12."])
    agent = Agent(name="reimbursement", model=model, tools=[price])
    office = await open_office(agents=[agent], routes={"#expenses": "reimbursement"})
    with Hops("/agents/", "/bot/", marks=[RedisSlot.ingest]) as hops:
        thread = await office.ask("what is ACME?")
        await office.answer(thread, "It is 12.")
    functions, files = hops.at_mark
    assert functions <= FUNCTIONS, hops.way()
    assert files <= FILES, hops.way()
