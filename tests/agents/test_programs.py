"""The documents' programs do here what the documents say."""

import pytest

from agents import PayloadError, ToolConfirmation
from agents.runtime.testing import ScriptedModel, call
from tests.agents.programs import (
    between_tools,
    confirmation,
    create_ticket,
    human_in_the_loop,
    signatures,
    stock_price,
    summariser,
)


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        pytest.param(
            call("get_weather", city="Rome", unit="Celsius"),
            {"status": "success", "report": "The weather in Rome is sunny, in Celsius."},
            id="required",
        ),
        pytest.param(
            call("search_flights", destination="Rome", departure_date="2026-05-01"),
            {"status": "success", "report": "Flights to Rome on 2026-05-01."},
            id="default",
        ),
        pytest.param(
            call("create_user_profile", username="ann"),
            {"status": "success", "message": "Profile of ann created without a bio."},
            id="optional",
        ),
    ],
)
async def test_signatures(made, answer):
    """Parameters are required, have a default, or may be left out."""
    assert await signatures.main(ScriptedModel([made, "Done."]), "please") == [answer]


async def test_a_missing_argument():
    """A call without a mandatory argument is not made: the model is told, and corrects it."""
    right = call("get_weather", city="Rome", unit="Celsius")
    first, second = await signatures.main(
        ScriptedModel([call("get_weather", city="Rome"), right, "Sunny."]), "weather?"
    )
    assert "unit" in str(first["error"])
    assert second["status"] == "success"


async def test_between_tools():
    """What a tool leaves under `temp:` the next one finds; a later turn does not."""
    replies = [call("find_account", name="Bo"), call("read_balance"), "12."]
    model = ScriptedModel([*replies, call("read_balance"), "Whose?"])
    accounts, state = await between_tools.main(model, "Bo's balance?", "and now?")
    assert (accounts, state) == (["account of Bo", None], {})


async def test_stock_price():
    """A number is wrapped as the result, and the final response is the agent's text."""
    model = ScriptedModel([call("get_stock_price", symbol="GOOG"), "GOOG is at 123."])
    assert await stock_price.main(model, "stock price of GOOG") == "GOOG is at 123."
    assert model.requests[1].contents[-1].parts[0].function_response.response == {"result": 123.0}


async def test_human_in_the_loop():
    """A pending call is captured once, updated while it waits, and settled by the final answer."""
    ask = call("ask_for_approval", purpose="meals", amount=200)
    model = ScriptedModel(
        [ask, "I asked.", "In review.", call("reimburse", purpose="meals", amount=200), "Paid."]
    )
    updates = ({"status": "in review"}, {"status": "approved"})
    said = await human_in_the_loop.main(model, "Please reimburse 200$ for meals", *updates)
    assert said == ["I asked.", "In review.", "Paid."]


async def test_nobody_is_asked_below_the_limit():
    """A small amount is paid at once."""
    model = ScriptedModel([call("reimburse", purpose="meals", amount=50), "Paid."])
    assert await human_in_the_loop.main(model, "Please reimburse 50$ for meals") == ["Paid."]


async def test_create_ticket():
    """The run pauses on a ticket that nobody answered, and goes on with each answer."""
    model = ScriptedModel([call("create_ticket", urgency="high"), "T-1 is open.", "It is done."])
    assert await create_ticket.main(model) == [[], ["T-1 is open."], ["It is done."]]


async def test_summariser():
    """The nested agent's answer is final: the outer model is not asked again."""
    model = ScriptedModel([call("summary_agent", request="A long text"), "In short: a text."])
    assert await summariser.main(model, "A long text") == "In short: a text."
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("amount", "asked", "result"),
    [
        pytest.param(500, 0, {"status": "ok", "reimbursed": 500}, id="below"),
        pytest.param(5000, 1, {"status": "ok", "reimbursed": 5000}, id="above"),
    ],
)
async def test_threshold(amount, asked, result):
    """A person is asked above the threshold only, and the call runs once they agree."""
    model = ScriptedModel([call("reimburse", amount=amount), "Paid."])
    yes = ToolConfirmation(confirmed=True)
    hints, results = await confirmation.main(model, f"pay {amount}", yes)
    assert (len(hints), results[-1]) == (asked, result)


async def test_time_off():
    """The question says what to fill in, and what a person fills in reaches the tool."""
    model = ScriptedModel([call("request_time_off", days=5), "Three days."])
    answer = ToolConfirmation(confirmed=True, payload={"approved_days": 3})
    hints, results = await confirmation.main(model, "5 days off", answer)
    assert hints == ["Please approve or reject the time off."]
    assert results == [{"status": "ok", "approved": {"approved_days": 3}}]


async def test_time_off_without_days():
    """A yes that leaves out what was asked for is refused."""
    model = ScriptedModel([call("request_time_off", days=5)])
    with pytest.raises(PayloadError, match="approved_days"):
        await confirmation.main(model, "5 days off", ToolConfirmation(confirmed=True))


async def test_time_off_rejected():
    """A no is the end of it: the tool is not entered again, the model reads the reason."""
    model = ScriptedModel([call("request_time_off", days=5), "Your manager said no."])
    answer = ToolConfirmation(confirmed=False, reason="year end")
    _, results = await confirmation.main(model, "5 days off", answer)
    assert (results[-1]["outcome"], results[-1]["reason"]) == ("rejected", "year end")
