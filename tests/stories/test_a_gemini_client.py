"""The reimbursement with google-genai's real client, against a server that others wrote.

The server speaks Gemini's HTTP under /v1beta and answers from a script; what the client sends, and
how it reads the answers, is all real.
"""

from collections.abc import Iterator

import pytest
from llmock.scenarios import Fail, Reply, ToolCall
from llmock.testing import LLMockServer

from tests.stories.conftest import Opening

HOTEL = {"amount": 200.0, "purpose": "hotel"}


@pytest.fixture
def gemini() -> Iterator[LLMockServer]:
    """The server, in a thread."""
    with LLMockServer() as server:
        yield server


async def test_the_reimbursement_over_gemini(open_office: Opening, gemini: LLMockServer):
    """A call, a person's approval in between, and the answer; a hiccup on the way is waited out."""
    script = gemini.state.scenarios
    script.add(Reply(tool_calls=(ToolCall("reimburse", HOTEL),)))
    office = await open_office(
        model="gemini-2.5-flash",
        gemini_api_key="mock",
        gemini_base_url=gemini.base_url("gemini"),
        gemini_api_version="v1beta",
    )
    thread = await office.ask("Could I get my 200 dollars for the hotel back?")
    card = await office.card("200")
    assert office.paid() == []
    script.add(Fail(503))
    script.add(Reply(text="The 200 dollars for the hotel are paid."))
    await office.slack.click("max", card, "approve")
    await office.answer(thread, "The 200 dollars for the hotel are paid.")
    assert office.amounts() == [200]
    asked, failed, told = gemini.state.journal.records()
    assert [record.status for record in (asked, failed, told)] == [200, 503, 200]
    [tool] = asked.body["tools"][0]["functionDeclarations"]
    assert (tool["name"], len(asked.body["contents"])) == ("reimburse", 1)
    said, called, answered = told.body["contents"]
    assert [said["role"], called["role"], answered["role"]] == ["user", "model", "user"]
    assert called["parts"][0]["functionCall"]["args"] == HOTEL
    assert answered["parts"][0]["functionResponse"]["response"]["status"] == "paid"
