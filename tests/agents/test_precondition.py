"""What a call depends on: frozen when people are asked, found anew right before the start."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from agents import Agent, AgentTool, Event, FunctionTool, ToolContext, ToolError, UsageError
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts


class Market:
    """A price that moves, and what was bought."""

    def __init__(self) -> None:
        self.found: object = 10
        self.asked: list[str] = []
        self.bought: list[object] = []

    def price(self, item: str) -> object:
        """Say what an item costs now, if anybody can."""
        self.asked.append(item)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def later(self, item: str, tool_context: ToolContext) -> object:
        """The same, asynchronously."""
        assert tool_context.agent_name
        return self.price(item)

    def buy(self, item: str, tool_context: ToolContext) -> dict[str, str]:
        """Buy an item."""
        self.bought.append(tool_context.precondition)
        return {"bought": item}

    async def haggle(self, item: str, tool_context: ToolContext) -> dict[str, str]:
        """Buy an item, and ask."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Really?")
            return {"status": "asked"}
        return self.buy(item, tool_context)


def static(market: Market) -> list[object]:
    """The gate is at the tool."""
    return [FunctionTool(market.buy, require_confirmation=True, precondition=market.price)]


def predicate(market: Market) -> list[object]:
    """A predicate asks, and the precondition is async."""
    return [
        FunctionTool(
            market.buy, require_confirmation=lambda item: item != "", precondition=market.later
        )
    ]


def dynamic(market: Market) -> list[object]:
    """The body asks."""
    return [FunctionTool(market.haggle, name="buy", precondition=market.price)]


def nested(market: Market) -> list[object]:
    """The gate is in a nested agent."""
    return [AgentTool(Agent(name="buyer", tools=static(market)))]


WAYS = [static, predicate, dynamic, nested]


async def opened(market: Market, way: Callable[[Market], list[object]]) -> tuple[Desk, list[Event]]:
    """An agent that wants to buy a chair, and what it said to that."""
    replies: list[Any] = [call("buy", item="chair"), *["Done."] * 4]
    if way is nested:
        replies.insert(0, call("buyer", request="a chair"))
    desk = await Desk(Agent(name="root", tools=way(market)), replies).open()
    return desk, await desk.say()


def question(events: list[Event]) -> Any:
    """The newest question in events."""
    return [q for event in events for q in event.questions.values()][-1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("found", "frozen"),
    [
        pytest.param(10, {"price": 10}, id="a number"),
        pytest.param({"eur": 10, "stock": 3}, {"eur": 10, "stock": 3}, id="several"),
        pytest.param(["a", "b"], {"price": ["a", "b"]}, id="a list"),
        pytest.param(None, {"price": None}, id="nothing"),
    ],
)
async def test_the_same_answer_runs(way, found, frozen):
    """It is in the question, looked at once more before the start, and handed to the body."""
    market = Market()
    market.found = found
    desk, events = await opened(market, way)
    name = "later" if way is predicate else "price"
    frozen = {name if key == "price" else key: value for key, value in frozen.items()}
    assert question(events).precondition == frozen
    assert market.bought == []
    await desk.answer()
    assert market.bought == [frozen]
    assert market.asked == ["chair", "chair"]


@pytest.mark.parametrize("way", WAYS)
async def test_another_answer_asks_again(way):
    """It does not start: people are asked anew with what differs, and then it may."""
    market = Market()
    market.found = {"price": {"eur": 10, "fee": 1}, "stock": 3}
    desk, _ = await opened(market, way)
    market.found = {"price": {"eur": 12, "fee": 1}, "stock": 3}
    again = question(await desk.answer())
    assert market.bought == []
    assert again.changes == ("price.eur: was 10, is now 12",)
    await desk.answer()
    assert market.bought == [market.found]


@pytest.mark.parametrize("way", WAYS)
async def test_a_rejected_call_is_not_looked_at_again(way):
    """No means no, whatever is found now."""
    market = Market()
    desk, _ = await opened(market, way)
    market.found = 99
    events = await desk.answer(confirmed=False)
    assert (market.bought, market.asked) == ([], ["chair"])
    assert not any(event.questions for event in events)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(ValueError("down"), "did not run: what buy depends on failed", id="a fault"),
        pytest.param(ToolError("no such item"), "no such item", id="a sentence"),
    ],
)
@pytest.mark.parametrize("asked", [False, True], ids=["when asked", "before the start"])
async def test_what_cannot_be_found_out(way, error: Exception, told: str, asked: bool):
    """Nothing runs: nobody is asked, or the approval is of no use; the model reads why."""
    market = Market()
    if not asked:
        market.found = error
    desk, events = await opened(market, way)
    if asked:
        market.found = error
        events = await desk.answer()
    assert market.bought == []
    assert not any(event.questions for event in events)
    stored = results((await desk.session()).events)
    assert any(told in str(result.get("error")) for result in stored)
    assert texts(events)[-1] == "Done."


@pytest.mark.parametrize(
    "precondition",
    [
        pytest.param(lambda item: item * 2, id="a lambda"),
        pytest.param(functools.partial(Market().price, item="x"), id="a partial"),
    ],
)
async def test_a_function_without_a_name(precondition: Callable[..., object]):
    """What it finds is called a precondition."""
    tool = FunctionTool(Market().buy, require_confirmation=True, precondition=precondition)
    desk = await Desk(Agent(name="root", tools=[tool]), [call("buy", item="chair"), "?"]).open()
    assert list(question(await desk.say()).precondition) == ["precondition"]


async def test_what_has_no_json_form():
    """What could not be compared later is refused."""
    market = Market()
    market.found = object()
    _, events = await opened(market, static)
    assert "did not run" in results(events)[0]["error"]


async def test_nobody_is_asked_without_need():
    """A call that asks nobody depends on nothing."""
    market = Market()
    tool = FunctionTool(market.buy, precondition=market.price)
    desk = await Desk(Agent(name="root", tools=[tool]), [call("buy", item="x"), "Done."]).open()
    await desk.say()
    assert (market.asked, market.bought) == ([], [{}])


async def test_the_body_acts_on_what_people_saw():
    """A preview of targets is what is acted on, though the arguments only say how to find them."""
    mails, deleted = ["m1", "m2"], []

    def targets(query: str) -> list[str]:
        """Find what would be deleted."""
        return [mail for mail in mails if query in mail]

    def delete(query: str, tool_context: ToolContext) -> int:
        """Delete what matches."""
        deleted.extend(tool_context.precondition["targets"])
        return len(deleted)

    tool = FunctionTool(delete, require_confirmation=True, precondition=targets)
    replies = [call("delete", query="m"), "Done."]
    desk = await Desk(Agent(name="root", tools=[tool]), replies).open()
    await desk.say()
    mails.append("m3")
    again = question(await desk.answer())
    assert (deleted, again.changes) == ([], ('targets: 1 more: "m3"',))
    await desk.answer()
    assert deleted == ["m1", "m2", "m3"]


@pytest.mark.parametrize(
    ("precondition", "words"),
    [
        pytest.param(1, "precondition must be a function", id="no function"),
        pytest.param(lambda colour: colour, "precondition takes", id="what the tool has not"),
    ],
)
def test_what_is_refused_when_built(precondition, words: str):
    """A precondition that could never be asked says so at once."""
    with pytest.raises(UsageError, match=words):
        FunctionTool(Market().buy, precondition=precondition)


class Quote:
    """What a body finds out before it asks."""

    def __init__(self) -> None:
        self.looked = 0
        self.told: list[object] = []

    async def buy(self, item: str, tool_context: ToolContext) -> dict[str, object]:
        """Buy an item for what it costs."""
        found = await tool_context.once("quote", self.look)
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint=f"{item} for {found}?")
            return {}
        self.told.append(found)
        return {"paid": found}

    def look(self) -> dict[str, int]:
        """Ask what it costs."""
        self.looked += 1
        return {"cents": 100 * self.looked}

    async def wait(self) -> dict[str, int]:
        """The same, asynchronously."""
        return self.look()


async def test_work_before_the_ask_is_done_once():
    """The run with permission has what the asking run found, on another process too."""
    quote = Quote()
    agent = Agent(name="root", tools=[quote.buy])
    desk = await Desk(agent, [call("buy", item="chair"), "Done."]).open()
    await desk.say()
    other = Desk(agent, desk.model, service=desk.service)
    other.asked = desk.asked
    events = await other.answer()
    assert (quote.looked, quote.told) == (1, [{"cents": 100}])
    assert results(events) == [{"paid": {"cents": 100}}]


@pytest.mark.parametrize("kind", ["look", "wait"])
async def test_once(kind: str):
    """A key is one value; what fails is not kept, and nobody changes what is."""
    context, quote = ToolContext(), Quote()

    def fails() -> None:
        raise ValueError("down")

    with pytest.raises(ValueError, match="down"):
        await context.once("quote", fails)
    found = await context.once("quote", getattr(quote, kind))
    assert isinstance(found, dict)
    found["cents"] = 1
    assert await context.once("quote", fails) == {"cents": 100}
    assert await context.once("other", quote.look) == {"cents": 200}


async def test_what_cannot_be_kept():
    """A value without a JSON form would be another one in the next run."""
    context = ToolContext()
    with pytest.raises(ValueError, match="JSON"):
        await context.once("quote", object)
    assert context.kept == {}
