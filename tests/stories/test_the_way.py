"""The way from Slack's request to a tool's first line stays short enough to be read."""

from google.genai import types

from agents import Agent, InMemorySessionService, Runner
from agents.runtime.slot.redis import RedisSlot
from agents.runtime.testing import ScriptedModel, call
from tests.hops import Hops
from tests.stories.conftest import Opening

FUNCTIONS, FILES = 45, 22
RUN_FUNCTIONS, RUN_FILES = 25, 12


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


async def test_the_way_of_one_run():
    """In the runtime alone, from a message to the tool, at most 25 functions in 12 files."""

    async def price(ticker: str) -> str:
        """The price of a share."""
        hops.mark()
        return f"{ticker}: 12"

    model = ScriptedModel([call("price", ticker="ACME"), "It is 12."] * 2)
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="shares", user_id="ana", session_id="s")
    runner = Runner(
        agent=Agent(name="shares", tools=[price]),
        app_name="shares",
        session_service=sessions,
        models=model,
    )
    message = types.Content(role="user", parts=[types.Part(text="what is ACME?")])
    with Hops("/agents/") as hops:
        async for event in runner.run_async(user_id="ana", session_id="s", new_message=message):
            said = event
    functions, files = hops.at_mark
    assert said.texts()
    assert functions <= RUN_FUNCTIONS, hops.way()
    assert files <= RUN_FILES, hops.way()
