"""Runs: read or not, together, cut off, given up; on both stores."""

import asyncio
from collections.abc import Sequence

import pytest
from google.genai import types

from agents import (
    Agent,
    AgentTool,
    AnswerError,
    Companions,
    Entry,
    Event,
    FunctionTool,
    InMemorySessionService,
    LongRunningFunctionTool,
    ModelUnavailable,
    Record,
    RunConfig,
    Runner,
    SessionConflict,
    SessionKey,
    SessionNotFoundError,
    SessionService,
    StoreUnavailable,
    Story,
    UsageError,
)
from agents.runtime.budget import Budget
from agents.runtime.errors import LlmCallsLimitExceededError
from agents.runtime.reading import Reading, Turns
from agents.runtime.runner import MAX_DEATHS
from agents.runtime.testing import ScriptedModel, call
from tests.agents.desk import Desk, results, texts

QUICK = RunConfig(max_retries=0)


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


GATED = FunctionTool(pay, require_confirmation=True)
KEY = SessionKey("root", "ann", "s")


async def desk(replies, *tools: object, **options: object) -> Desk:
    """A session of an agent with these tools."""
    return await Desk(Agent(name="root", tools=tools), replies, **options).open()


async def test_two_runs_at_once(service: SessionService):
    """They take turns: each has its own answer, and no event of one is among the other's."""
    ran: list[int] = []

    async def slow(n: int) -> int:
        """Take a moment."""
        await asyncio.sleep(0.02)
        ran.append(n)
        return n

    replies = [call("slow", n=1), "One.", call("slow", n=2), "Two."]
    at = await desk(replies, slow, service=service)
    first, second = await asyncio.gather(at.say("first"), at.say("second"))
    assert sorted([texts(first), texts(second)]) == [["One."], ["Two."]]
    events = (await at.session()).events
    assert [e.invocation_id for e in events] == ["inv-1"] * 4 + ["inv-5"] * 4
    assert ran == [1, 2]


async def test_the_same_answer_twice_at_once(service: SessionService):
    """One approval, clicked twice, runs its call once."""
    ran: list[int] = []

    async def wire(amount: int) -> dict[str, int]:
        """Wire."""
        await asyncio.sleep(0.01)
        ran.append(amount)
        return {"paid": amount}

    gated = FunctionTool(wire, require_confirmation=True)
    at = await desk([call("wire", amount=5), "Paid."], gated, service=service)
    await at.say()
    found = await asyncio.gather(at.answer(), at.answer())
    assert ran == [5]
    assert sorted(map(len, found)) == [0, 2]


async def test_runners_in_two_places(service: SessionService):
    """Another Runner on the same store goes on where the first one stopped."""
    at = await desk([call("pay", amount=5)], GATED, service=service)
    await at.say()
    there = Desk(at.agent, ["Paid."], service=service)
    there.asked = at.asked
    events = await there.answer()
    assert (results(events), texts(events)) == ([{"paid": 5}], ["Paid."])


async def test_nobody_reads():
    """A run goes to its end though its reader stops; every event was stored before it was read."""
    at = await desk([call("pay", amount=1), "Paid."], pay)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in at.runner.run_async(**at.where, new_message=message):
        assert len((await at.session()).events) >= 2
        break
    await at.runner.join()
    assert texts((await at.session()).events)[-1] == "Paid."


async def test_without_a_session():
    """A missing session is an error, or made if that is wanted."""
    at = Desk(Agent(name="root"), ["Hi."])
    with pytest.raises(SessionNotFoundError):
        await at.say()
    made = Desk(Agent(name="root"), ["Hi."], auto_create_session=True)
    assert texts(await made.say()) == ["Hi."]


async def test_state_of_a_message():
    """A message may bring state; its `temp:` lasts for its run."""
    at = await desk(["Hi."])
    await at.say(state_delta={"lang": "it", "temp:x": 1})
    session = await at.session()
    assert (session.state, session.events[0].actions.state_delta) == ({"lang": "it"},) * 2


async def test_streaming():
    """Pieces of text are shown on their way; what is stored is the whole."""
    at = await desk(["A long answer."])
    events = await at.say(config=RunConfig(streaming=True))
    assert [e.partial for e in events] == [True, True, True, None]
    assert texts((await at.session()).events) == ["go", "A long answer."]


async def test_ids_while_streaming():
    """A call has one id, from the first time it is seen."""
    at = await desk([call("pay", amount=1), "Paid."], pay)
    events = await at.say(config=RunConfig(streaming=True))
    assert {made.id for e in events for made in e.get_function_calls()} == {"2-0"}


async def test_too_many_calls_of_the_model():
    """A run that asks its model too often ends with an error; the session stays usable."""
    at = await desk([call("pay", amount=1), "Hello."], pay)
    with pytest.raises(LlmCallsLimitExceededError):
        await at.say(config=RunConfig(max_llm_calls=1))
    assert texts(await at.say("hi")) == ["Hello."]


async def test_a_model_that_is_away():
    """What was said is not lost: it is answered later, or given up after so many tries."""
    away = [ModelUnavailable("503")] * 2
    at = await desk([*away, "Hi."], max_attempts=3)
    for _ in away:
        with pytest.raises(ModelUnavailable):
            await at.send(config=QUICK) if at.model.requests else await at.say(config=QUICK)
    assert texts(await at.send()) == ["Hi."]
    given_up = await desk([ModelUnavailable("503")], max_attempts=1)
    with pytest.raises(ModelUnavailable):
        await given_up.say(config=QUICK)
    assert [e.error_code for e in (await given_up.session()).events] == [None, "ModelUnavailable"]


async def test_a_long_wait():
    """A question out of hundreds of events ago is still answered."""
    at = await desk([call("pay", amount=5), *["Fine."] * 150, "Paid."], GATED)
    await at.say()
    for _ in range(150):
        await at.say("and?")
    assert texts(await at.answer()) == ["Paid."]
    with pytest.raises(AnswerError):
        await at.news("9999-0", status="done")


async def test_serving(service: SessionService):
    """A worker takes a session with its inbox; one that is lost meanwhile is left alone."""
    at = await desk([call("pay", amount=1), "Paid."], pay, service=service)
    stream = at.runner.serve(KEY, owner="worker")
    assert [event async for event in stream] == []

    async def thief(amount: int) -> int:
        """Take the session over."""
        await service.slot.begin(KEY, owner="me", lease=9000)
        return amount

    agent = Agent(name="root", tools=[thief])
    robbed = Desk(agent, [call("thief", amount=1)], service=service, new_id=lambda: "me")
    with pytest.raises(SessionConflict):
        await robbed.say()


async def test_the_session_is_lost_between_steps():
    """A run that sees its lease gone stops before the next step."""
    at = await desk(["Hi."])
    async with at.runner.hold(KEY, owner="me", lease=9000) as held:
        held.lost = True
        with pytest.raises(SessionConflict, match="lost"):
            async for _ in at.runner._steps(held, Turns(Reading(None, Budget()))):
                pass


def test_models():
    """A name is resolved once, a child takes its parent's, and a Model is taken as it is."""
    asked: list[str] = []
    own = ScriptedModel([])

    def models(name: str) -> ScriptedModel:
        asked.append(name)
        return ScriptedModel([])

    helper = Agent(name="helper")
    tree = Agent(
        name="root",
        model="big",
        tools=[AgentTool(helper)],
        sub_agents=[Agent(name="a"), Agent(name="b", model="small"), Agent(name="c", model=own)],
    )
    runner = Runner(agent=tree, models=models)
    assert asked == ["big", "small"]
    assert runner._models[id(helper)] is runner._models[id(tree)]
    assert runner._models[id(tree.sub_agents[2])] is own


def test_no_model_at_all(monkeypatch: pytest.MonkeyPatch):
    """Without a key for Gemini a Runner says so when it is built."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        Runner(agent=Agent(name="root"), session_service=InMemorySessionService())


@pytest.mark.parametrize(("quiet", "said"), [(True, []), (False, ["Done."])])
async def test_quiet_news(quiet: bool, said: list[str]):
    """A result may be stored without waking the model."""

    def work() -> None:
        """Work."""

    at = await desk([call("work"), "Done."], LongRunningFunctionTool(work))
    await at.say()
    told = types.FunctionResponse(id="2-0", name="work", response={"status": "done"})
    events = await at.send(types.Part(function_response=told), config=RunConfig(quiet=quiet))
    assert texts(events) == said
    assert results((await at.session()).events) == [{"status": "done"}]


@pytest.mark.parametrize(
    ("deaths", "expected"),
    [
        pytest.param(MAX_DEATHS - 1, "Paid.", id="once more"),
        pytest.param(MAX_DEATHS, "GIVEN_UP", id="too often"),
    ],
)
async def test_a_turn_that_takes_its_process_with_it(service: SessionService, deaths, expected):
    """After so many deaths in the same place the turn is given up, and the session says so."""
    at = await desk([call("pay", amount=5), "Paid."], pay, service=service)
    said = {"role": "user", "parts": [{"text": "go"}]}
    await service.slot.ingest(KEY, Entry(id="e", body={"content": said, "user_id": "ann"}))
    for _ in range(deaths):
        await service.slot.begin(KEY, owner="dead", lease=-1)
    events = [event async for event in at.runner.serve(KEY, owner="worker")]
    assert expected in [*texts(events), *(event.error_code for event in events)]


async def test_an_outage_is_no_death(service: SessionService):
    """An approved call waits until it can be looked up whether it may start, however often."""
    away = [StoreUnavailable("no answer")] * (MAX_DEATHS + 2)

    async def permit(*_told: object) -> tuple[str, None]:
        if away:
            raise away.pop()
        return "", None

    def companion(_key: SessionKey, _story: Story, new: Sequence[Event], **_told) -> Companions:
        asked = [(name, q.digest) for event in new for name, q in event.questions.items()]
        plain = {"status": "approved", "rev": 1, "deadline": None, "run_by": None, "body": {}}
        return Companions(
            approvals=[Record(id=name, digest=digest, **plain) for name, digest in asked]
        )

    replies = [call("pay", amount=5), "Paid."]
    at = await desk(replies, GATED, service=service, permit=permit, companion=companion)
    await at.say()
    with pytest.raises(StoreUnavailable):
        await at.answer()
    while away:
        with pytest.raises(StoreUnavailable):
            _ = [event async for event in at.runner.serve(KEY, owner="worker")]
    events = [event async for event in at.runner.serve(KEY, owner="worker")]
    assert (results(events), texts(events)) == ([{"paid": 5}], ["Paid."])
