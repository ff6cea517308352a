"""Calls on their way to an outcome: hooks, gates, crashes, kinds of effects."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence

import pytest

from agents import (
    Agent,
    AgentTool,
    Companions,
    Entry,
    Event,
    FunctionTool,
    InMemorySessionService,
    LongRunningFunctionTool,
    Record,
    RunConfig,
    SessionKey,
    SessionService,
    Story,
    ToolContext,
    ToolError,
)
from agents.runtime import calling
from agents.runtime.calling import AT_ONCE
from agents.runtime.errors import TurnFailed
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Begun, Commit, Committed, Start, Started
from agents.runtime.testing import call
from tests.agents.desk import Desk, results, texts


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


def broken(amount: int) -> dict[str, int]:
    """Pay, badly."""
    raise ValueError("no money")


GATED = FunctionTool(pay, require_confirmation=True)


async def desk(*tools: object, replies=(), **fields) -> Desk:
    """A session of an agent with these tools."""
    return await Desk(Agent(name="root", tools=tools, **fields), replies).open()


async def test_five_sync_and_five_async_tools_overlap():
    """All bodies of a batch run at the same time: each waits until all ten have begun."""
    everybody = threading.Barrier(6, timeout=10)
    meeting = asyncio.Event()
    waiting = 0

    def sync(n: int) -> int:
        """Wait in a thread."""
        everybody.wait()
        return n

    async def other(n: int) -> int:
        """Wait in the loop."""
        nonlocal waiting
        waiting += 1
        if waiting == 5:
            await asyncio.to_thread(everybody.wait)
            meeting.set()
        await meeting.wait()
        return n

    made = [call("sync", n=n) for n in range(5)] + [call("other", n=n) for n in range(5, 10)]
    open_desk = await desk(sync, other, replies=[made, "All met."])
    events = await open_desk.say()
    assert [r["result"] for r in results(events)] == list(range(10))


@pytest.mark.parametrize(
    ("config", "raised"),
    [
        pytest.param(None, False, id="the model reads it"),
        pytest.param(RunConfig(raise_tool_errors=True), True, id="it is raised"),
    ],
)
async def test_a_body_that_raises(config, raised):
    """An exception becomes an error response; with the option the run then ends with it."""
    made = [call("broken", amount=1), call("pay", amount=2)]
    at = await desk(broken, pay, replies=[made, "It failed.", "Hello."])
    if raised:
        with pytest.raises(ValueError, match="no money"):
            await at.say(config=config)
    else:
        assert texts(await at.say(config=config)) == ["It failed."]
    stored = results((await at.session()).events)
    assert stored == [{"error": "broken failed: ValueError: no money"}, {"paid": 2}]


async def test_a_tool_error_is_a_sentence():
    """What a tool says with ToolError the model reads as it is."""

    def refuse() -> None:
        """Refuse."""
        raise ToolError("only 3 days are left")

    at = await desk(refuse, replies=[call("refuse"), "Three."])
    assert results(await at.say()) == [{"error": "only 3 days are left"}]


@pytest.mark.parametrize(
    "kind", ["before_tool_callback", "after_tool_callback", "on_tool_error_callback"]
)
async def test_a_hook_that_raises(kind: str):
    """A hook that fails is heard of by the model; the run goes on."""

    def hook(**_told: object) -> None:
        raise KeyError("oops")

    tool = broken if kind == "on_tool_error_callback" else pay
    replies = [call(tool.__name__, amount=1), "Oh."]
    at = await desk(tool, replies=replies, **{kind: hook})
    assert results(await at.say()) == [{"error": f"{tool.__name__} failed: KeyError: 'oops'"}]


@pytest.mark.parametrize("name", ["adk_request_confirmation", "x" * 1000])
async def test_a_tool_that_a_model_invented(name: str, caplog: pytest.LogCaptureFixture):
    """It is data: the model reads that there is no such tool, and operators see that it tried."""
    at = await desk(GATED, replies=[call(name, originalFunctionCall={"name": "pay"}), "Well."])
    events = await at.say()
    assert not any(event.questions for event in events)
    assert "There is no tool" in results(events)[0]["error"]
    [line] = [record for record in caplog.records if record.message == "tool.missing"]
    assert line.__dict__["tool"] == name[:100]


async def test_a_hook_stands_in_for_a_missing_tool():
    """An unknown tool is an error that a hook may answer."""
    at = await desk(
        replies=[call("nope"), "Fine."], on_tool_error_callback=lambda **_: {"instead": True}
    )
    assert results(await at.say()) == [{"instead": True}]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"amount": 5}, "root", id="it asks"),
        pytest.param({}, "mandatory", id="with arguments that do not fit"),
    ],
)
async def test_a_hook_asks(args, expected):
    """A hook may ask a person, about arguments that fit only."""

    def hook(tool_context: ToolContext, **_told: object) -> dict[str, str]:
        tool_context.request_confirmation(hint="Sure?")
        return {"status": "asked"}

    at = await desk(pay, replies=[call("pay", **args), "Well."], before_tool_callback=hook)
    events = await at.say()
    assert bool(at.asked) == (expected == "root")
    assert expected in str(events)
    if at.asked:
        assert results(await at.answer()) == [{"paid": 5}]


def offer(tool_context: ToolContext) -> dict[str, str]:
    """Offer, once a person agrees."""
    if tool_context.tool_confirmation is None:
        tool_context.request_confirmation(hint="Offer it?")
    return {"status": "offered"}


@pytest.mark.parametrize("outcome", ["rejected", "expired", "cancelled"])
@pytest.mark.parametrize("tool", [offer, FunctionTool(offer, require_confirmation=True)])
async def test_what_never_began_did_not_run(tool, outcome: str):
    """Whoever asks, a body that only asked, or did nothing yet, is not said to have done more."""
    at = await desk(tool, replies=[call("offer"), "Well."])
    await at.say()
    [told] = results(await at.answer(False, outcome=outcome))
    assert "it did not run." in told["error"]
    assert "not known" not in told["error"]


async def test_two_identical_calls_of_one_batch():
    """They are two questions, and each goes its own way."""
    made = [call("pay", amount=5), call("pay", amount=5)]
    at = await desk(GATED, replies=[made, "One of two."])
    await at.say()
    assert len(at.asked) == 2
    await at.answer(at=0)
    events = await at.answer(False, at=1, reason="once is enough")
    assert texts(events) == ["One of two."]
    stored = results((await at.session()).events)
    done = [r for r in stored if "paid" in r or ("error" in r and "reason" in r)]
    assert done == [
        {"paid": 5},
        {
            "error": "A person rejected this call of pay; it did not run.",
            "outcome": "rejected",
            "reason": "once is enough",
        },
    ]


async def test_a_generator_of_a_long_running_tool():
    """Its yields are news on the way, what it returns is the result; None leaves it open."""

    def work(steps: int):
        """Work."""
        yield {"step": 1}
        yield {"step": 2}
        return {"done": True} if steps else None

    at = await desk(LongRunningFunctionTool(work), replies=[call("work", steps=2), "Done."])
    (_, response, _) = await at.say()
    told = [(dict(r.response), bool(r.will_continue)) for r in response.get_function_responses()]
    assert told == [({"step": 1}, True), ({"step": 2}, True), ({"done": True}, False)]
    assert at.read()[-1] == "user: work -> {'done': True}"


@pytest.mark.parametrize("wakes", [False, True])
async def test_progress(wakes: bool):
    """Intermediate news is stored, and read at once only if the tool says so."""

    async def work() -> None:
        """Work."""

    tool = LongRunningFunctionTool(work, wake_on_progress=wakes)
    at = await desk(tool, replies=[call("work"), *["Half."] * wakes, "Done."])
    (made,) = await at.say()
    call_id = next(iter(made.long_running_tool_ids))
    assert texts(await at.news(call_id, more=True, percent=50)) == ["Half."] * wakes
    assert texts(await at.news(call_id, status="done")) == ["Done."]
    assert at.read()[-1] == "user: work -> {'status': 'done'}"


async def test_an_initial_error_closes_a_long_running_call():
    """A dict that says `status: error` is final: nothing is waited for."""

    def work() -> dict[str, str]:
        """Work."""
        return {"status": "error", "reason": "no printer"}

    at = await desk(LongRunningFunctionTool(work), replies=[call("work"), "It failed."])
    await at.say()
    view = await at.service.slot.read(SessionKey("root", "ann", "s"))
    assert dict(view.open) == {}


def keeps(status: str | None) -> Callable[..., Companions]:
    """What opens an approval of that status with each question; None: what opens none."""

    def companion(_key: SessionKey, _story: Story, new: Sequence[Event], **_told) -> Companions:
        asked = [(name, q) for event in new for name, q in event.questions.items() if status]
        records = [
            Record(
                id=name,
                status=status or "",
                rev=1,
                digest=q.digest,
                deadline=None,
                run_by=None,
                body={},
            )
            for name, q in asked
        ]
        return Companions(approvals=records)

    return companion


async def leave(_key: SessionKey, _request: str) -> tuple[str, None]:
    """Nothing speaks against a start."""
    return "", None


@pytest.mark.parametrize(
    ("status", "permit", "expected"),
    [
        pytest.param("pending", None, "pending", id="not decided"),
        pytest.param("void", leave, "void", id="not valid any more"),
        pytest.param(None, leave, "No approval", id="none where they are kept"),
        pytest.param("approved", leave, "paid", id="approved"),
        pytest.param(None, None, "paid", id="none where none are kept"),
    ],
)
async def test_an_answer_alone(status, permit, expected):
    """It starts nothing where the store keeps approvals and this call has none that holds."""
    agent = Agent(name="root", tools=[GATED])
    replies = [call("pay", amount=5), "Well."]
    at = await Desk(agent, replies, companion=keeps(status), permit=permit).open()
    await at.say()
    events = await at.answer()
    assert expected in str(results(events))
    assert texts(events) == ["Well."]


class Torn(MemorySlot):
    """A store whose answers this release does not understand: to `start_call`, or to `commit`."""

    torn = ""

    async def start_call(self, key: SessionKey, start: Start) -> Started:
        """Raise instead, or have a result that is none."""
        if self.torn == "start_call":
            raise ValueError("not enough values to unpack")
        found = await super().start_call(key, start)
        return Started(kind="done", result={"parts": 5}) if self.torn == "result" else found

    async def commit(self, key: SessionKey, commit: Commit) -> Committed:
        """Raise instead where a body's result is stored."""
        if self.torn == "commit" and commit.results:
            raise ValueError("not enough values to unpack")
        return await super().commit(key, commit)


async def raises(_key: SessionKey, _request: str) -> tuple[str, None]:
    """Whoever has to tell whether it may start does not understand what was stored."""
    raise ValueError("1 validation error for Approval")


@pytest.mark.parametrize(
    ("torn", "permit", "calls"),
    [
        pytest.param("", raises, 1, id="the permit"),
        pytest.param("start_call", leave, 1, id="leave to start"),
        pytest.param("result", leave, 1, id="a result that is stored"),
        pytest.param("commit", leave, 2, id="a result that is to be stored"),
    ],
)
async def test_what_fails_here_is_told_of_no_tool(torn, permit, calls):
    """The turn fails and is tried again: the call is not answered as if its body had failed."""
    slot = Torn()
    agent = Agent(name="root", tools=[GATED, broken])
    made = [call("pay", amount=5), *[call("broken", amount=n) for n in range(1, calls)]]
    told = {"companion": keeps("approved"), "permit": permit, "service": SessionService(slot)}
    at = await Desk(agent, [made, "Well."], **told).open()
    await at.say()
    slot.torn = torn
    with pytest.raises(TurnFailed):
        await at.answer()
    view = await slot.read(SessionKey("root", "ann", "s"))
    assert [each.name for each in view.open.values()] == ["pay"]


@pytest.mark.parametrize(
    ("status", "entered"),
    [
        pytest.param("approved", True, id="approved"),
        pytest.param("rejected", False, id="the store says no"),
        pytest.param(None, False, id="no approval is kept"),
    ],
)
async def test_a_nested_agent_that_was_asked_about(status, entered):
    """A nested agent is let in as a body is: by the approval in the store."""

    def hook(tool_context: ToolContext, **_told: object) -> None:
        tool_context.request_confirmation(hint="Ask the helper?")

    helper = Agent(name="helper")
    agent = Agent(name="root", tools=[AgentTool(helper)], before_tool_callback=hook)
    replies = [call("helper", request="go"), *["From inside."] * entered, "Well."]
    at = await Desk(agent, replies, companion=keeps(status), permit=leave).open()
    await at.say()
    events = await at.answer()
    assert texts(events) == ["Well."]
    assert ("From inside." in str(results(events))) is entered


async def test_calls_and_answers_are_logged_without_what_is_in_them(caplog):
    """Every body and every answer of a model has its lines; no argument or text is in any."""
    replies = [call("pay", amount=271828), call("broken", amount=31415), "Secret words."]
    with caplog.at_level(logging.INFO, logger="agents"):
        await (await desk(pay, broken, replies=replies)).say()
    lines = [record for record in caplog.records if record.name.startswith("agents")]
    assert [(line.msg, getattr(line, "tool", "")) for line in lines] == [
        ("model.called", ""),
        ("tool.started", "pay"),
        ("tool.finished", "pay"),
        ("model.called", ""),
        ("tool.started", "broken"),
        ("tool.failed", "broken"),
        ("model.called", ""),
    ]
    assert {line.agent for line in lines if line.msg == "model.called"} == {"root"}
    assert all(line.took_s >= 0 for line in lines if hasattr(line, "took_s"))
    told = " ".join(str(vars(line)) for line in lines)
    assert not any(secret in told for secret in ("271828", "31415", "no money", "Secret"))


@pytest.mark.parametrize("after", [0.0, 60.0], ids=["slow", "as usual"])
async def test_a_body_that_does_not_end_is_named_in_the_log(monkeypatch, caplog, after: float):
    """Once, while it is still under way: nobody else would know which tool it is."""
    monkeypatch.setattr(calling, "SLOW", after)

    async def wait() -> str:
        """Wait."""
        for _ in range(9):
            await asyncio.sleep(0)
        return "done"

    await (await desk(wait, replies=[call("wait"), "Well."])).say()
    told = [(each.msg, each.tool) for each in caplog.records if each.levelname == "WARNING"]
    assert told == [("tool.slow", "wait")] * (after == 0)


async def test_a_tool_may_say_that_it_escalates():
    """A client reads it on the event; of several calls one is enough."""

    def leave(tool_context: ToolContext) -> None:
        """Leave."""
        tool_context.actions.escalate = True

    at = await Desk(Agent(name="root", tools=[leave]), [[call("leave"), call("no")], "x"]).open()
    events = await at.say()
    assert [event.actions.escalate for event in events] == [None, True, None]


async def test_a_large_batch_of_slow_plain_tools_holds_up_nobody_else():
    """Fifteen sessions with more calls than there are threads: the sixteenth is answered."""
    gate, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> str:
        """Wait."""
        begun.release()
        gate.wait()
        return "waited"

    def look() -> str:
        """Look."""
        return "seen"

    batch = [call("wait")] * 3 * AT_ONCE
    service = InMemorySessionService()
    slow = [
        await Desk(Agent(name=f"slow{n}", tools=[wait]), [batch, "done"], service=service).open()
        for n in range(15)
    ]
    turns = [asyncio.create_task(desk.say()) for desk in slow]
    try:
        for _ in range(len(slow) * AT_ONCE):
            assert await asyncio.to_thread(begun.acquire, timeout=20)
        other = await Desk(Agent(name="quick", tools=[look]), [call("look"), "done"]).open()
        assert results(await asyncio.wait_for(other.say(), 20)) == [{"result": "seen"}]
        assert not begun.acquire(blocking=False)
    finally:
        gate.set()
    assert [len(results(await turn)) for turn in turns] == [len(batch)] * len(slow)


async def test_a_call_that_waits_for_its_place_was_not_started():
    """Interrupted, it runs as if nothing had been: only what was under way is in doubt."""
    begun = asyncio.Semaphore(0)

    async def wait() -> str:
        """Wait."""
        begun.release()
        await asyncio.Event().wait()
        return "never"

    at = await Desk(Agent(name="root", tools=[wait]), [[call("wait")] * (AT_ONCE + 9)]).open()
    key, slot = SessionKey("root", "ann", "s"), at.service.slot
    said = {"role": "user", "parts": [{"text": "go"}]}
    await slot.ingest(key, Entry(id="m", body={"content": said, "user_id": "ann"}))

    async def serve() -> None:
        async for _ in at.runner.serve(key, owner="first"):
            pass

    turn = asyncio.create_task(serve())
    for _ in range(AT_ONCE):
        await begun.acquire()
    turn.cancel()
    await asyncio.wait([turn])
    left = await slot.begin(key, owner="next", lease=1000)
    assert isinstance(left, Begun)
    assert (len(left.open), len(left.started)) == (AT_ONCE + 9, AT_ONCE)
