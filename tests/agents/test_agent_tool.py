"""Agents as tools: what goes in, what comes out, and questions from any depth."""

import pytest
from pydantic import BaseModel

from agents import (
    Agent,
    AgentTool,
    FunctionTool,
    ModelError,
    SessionKey,
    ToolContext,
    UsageError,
)
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts


class Topic(BaseModel):
    """What to write about."""

    topic: str
    depth: int = 1


class Words(BaseModel):
    """How long it became."""

    words: int
    note: str | None = None


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


GATED = FunctionTool(pay, require_confirmation=True)


def nested(*tools: object, skip: bool = False, **fields: object) -> AgentTool:
    """A helper as a tool."""
    helper = Agent(name="helper", description="Helps.", tools=tools, **fields)
    return AgentTool(helper, skip_summarization=skip)


def outer(*tools: object) -> Agent:
    """An agent with these tools."""
    return Agent(name="root", tools=tools)


@pytest.mark.parametrize(
    ("fields", "args", "expected"),
    [
        pytest.param({}, {"request": "x"}, {"request": "x"}, id="a request"),
        pytest.param({}, {"request": "x", "more": 1}, {"request": "x"}, id="and more"),
        pytest.param({}, {"topic": "x"}, {"topic": "x"}, id="no request"),
        pytest.param(
            {"input_schema": Topic}, {"topic": "x"}, {"topic": "x", "depth": 1}, id="a schema"
        ),
        pytest.param({"input_schema": Topic}, {"depth": 1}, "topic: Field required", id="broken"),
    ],
)
def test_bind(fields, args, expected):
    """Arguments are checked against the schema; without one anything goes."""
    bound = nested(**fields).bind(args)
    if isinstance(expected, str):
        assert expected in bound.response["error"]
    else:
        assert bound.as_json == expected


async def test_it_is_not_run():
    """A Runner steps through it; nobody else runs it."""
    tool = nested()
    with pytest.raises(UsageError, match="steps through"):
        await tool.run_async(args=tool.bind({"request": "x"}), tool_context=ToolContext())
    assert await tool.needs_confirmation(tool.bind({}), ToolContext()) is False


@pytest.mark.parametrize(
    ("fields", "replies", "expected"),
    [
        pytest.param({}, ["Fine."], {"result": "Fine."}, id="its last words"),
        pytest.param({}, [call("pay", amount=1), "Paid."], {"result": "Paid."}, id="after a call"),
        pytest.param(
            {"output_schema": Words}, ['{"words": 3}'], {"words": 3}, id="in the schema's form"
        ),
        pytest.param({"output_schema": Words}, ["three"], "does not fit", id="in another form"),
        pytest.param({}, [ModelError("refused")], "refused", id="its model fails"),
    ],
)
async def test_what_comes_out(fields, replies, expected):
    """The outer model reads the answer, or an error; the run goes on."""
    made = [call("helper", request="x"), *replies, "Done."]
    at = await Desk(outer(nested(pay, **fields)), made).open()
    events = await at.say()
    (found,) = results(events)
    assert expected in found["error"] if isinstance(expected, str) else found == expected
    assert texts(events) == ["Done."]


async def test_its_answer_is_final():
    """With skip_summarization the outer model is not asked again."""
    at = await Desk(outer(nested(skip=True)), [call("helper", request="x"), "Fine."]).open()
    *_, last = await at.say()
    assert (last.is_final_response(), list(last.texts())) == (True, ["Fine."])


async def test_state():
    """It sees the outer state but `temp:`, and what it changes is kept, `temp:` aside."""

    def note(tool_context: ToolContext) -> dict[str, object]:
        """Note."""
        seen = dict(tool_context.state)
        tool_context.state.update({"b": 2, "user:c": 3, "temp:d": 4})
        return seen

    def prepare(tool_context: ToolContext) -> None:
        """Prepare."""
        tool_context.state["temp:x"] = 1

    made = [call("prepare"), call("helper", request="x"), call("note"), "Noted.", "Done."]
    at = await Desk(outer(prepare, nested(note)), made).open(a=1)
    await at.say()
    session = await at.session()
    assert session.state == {"a": 1, "b": 2, "user:c": 3}
    assert {"a": 1} in results(session.events)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("talked", [False, True], ids=["alone", "while somebody talked"])
async def test_temp_state_goes_with_its_invocation(depth: int, talked: bool):
    """Nothing of what was left under `temp:` is kept once it is over, at whatever depth it was."""

    def act(tool_context: ToolContext) -> dict[str, int]:
        """Act."""
        tool_context.state["temp:x"] = 1
        return {"done": 1}

    agent = Agent(name="a0", tools=[act, GATED])
    for level in range(1, depth + 1):
        agent = Agent(name=f"a{level}", tools=[AgentTool(agent)])
    down = [call(f"a{level}", request="go") for level in reversed(range(depth))]
    batch = [call("act"), call("pay", amount=5)]
    up = [f"Up {level}." for level in range(depth + 1)]
    at = await Desk(agent, [*down, batch, *["Hi."] * talked, *up]).open()
    await at.say()
    if talked:
        await at.say("Are you there?")
    begun = await at.service.slot.begin(SessionKey(agent.name, "ann", "s"), owner="me", lease=1)
    assert len(begun.invocations) == 1
    await at.service.slot.release(SessionKey(agent.name, "ann", "s"), begun.fence)
    await at.answer()
    begun = await at.service.slot.begin(SessionKey(agent.name, "ann", "s"), owner="me", lease=1)
    assert (begun.open, begun.invocations) == ({}, {})


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("confirmed", [True, False])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "another process"])
async def test_a_question_from_any_depth(depth: int, confirmed: bool, elsewhere: bool):
    """A question surfaces, whatever is around it; the answer goes on inside, then outside."""
    agent = Agent(name="n0", tools=[GATED])
    for level in range(1, depth + 1):
        agent = Agent(name=f"n{level}", tools=[AgentTool(agent)])
    down = [call(f"n{level}", request="pay 5") for level in reversed(range(depth))]
    up = [f"Up {level}." for level in range(depth + 1)]
    at = await Desk(agent, [*down, call("pay", amount=5), *up]).open()
    await at.say()
    assert len(at.asked) == 1
    if elsewhere:
        asked, at = at.asked, Desk(agent, at.model, service=at.service)
        at.asked = asked
    assert texts(await at.answer(confirmed)) == [f"Up {depth}."]
    inner = [r for r in results((await at.session()).events) if "paid" in r]
    assert len(inner) == confirmed


async def test_parallel_agents():
    """While one waits for a person the other goes on; the outer model is asked once, at the end."""
    twins = [call("helper", request="pay 1"), call("other", request="pay 2")]
    replies = [twins, call("pay", amount=1), call("pay", amount=2), "Two.", "One.", "Both."]
    other = AgentTool(Agent(name="other", tools=[GATED]))
    at = await Desk(outer(nested(GATED), other), replies).open()
    await at.say()
    assert len(at.asked) == 2
    first = await at.answer(at=1)
    assert (results(first), texts(first)) == ([{"result": "Two."}], [])
    second = await at.answer(at=0)
    assert (results(second), texts(second)) == ([{"result": "One."}], ["Both."])
    answers = [part.function_response.response for part in at.model.requests[-1].contents[-1].parts]
    assert answers == [{"result": "One."}, {"result": "Two."}]


async def test_a_question_of_a_sub_agent_of_a_nested_agent():
    """An agent that took over inside a nested agent may ask as well."""
    payer = Agent(name="payer", tools=[GATED])
    helper = AgentTool(Agent(name="helper", sub_agents=[payer]))
    hand = call("transfer_to_agent", agent_name="payer")
    made = [call("helper", request="x"), hand, call("pay", amount=5), "Paid.", "Done."]
    at = await Desk(outer(helper), made).open()
    await at.say()
    assert texts(await at.answer()) == ["Done."]
