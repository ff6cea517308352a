"""Calls on their way to an outcome: hooks, gates, crashes, kinds of effects."""

import asyncio
import threading

import pytest

from agents import (
    Agent,
    Companions,
    FunctionTool,
    LongRunningFunctionTool,
    Record,
    RunConfig,
    SessionKey,
    SessionService,
    StoreUnavailable,
    ToolContext,
    ToolError,
)
from agents.runtime.slot.memory import MemorySlot
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


class Dying(MemorySlot):
    """A store that is lost when a body has ended: what it brought about is not stored."""

    dying = False

    async def commit(self, key, commit):
        """Refuse while dying."""
        if self.dying and any(event.get_function_responses() for event in commit.events):
            raise StoreUnavailable("lost")
        return await super().commit(key, commit)


async def interrupted(tool: FunctionTool, replies: list) -> Desk:
    """A session whose only call was started, and whose result was lost."""
    slot = Dying()
    at = await Desk(Agent(name="root", tools=[tool]), replies, service=SessionService(slot)).open()
    slot.dying = True
    with pytest.raises(StoreUnavailable):
        await at.say()
    slot.dying = False
    return at


@pytest.mark.parametrize(
    ("effects", "runs", "expected"),
    [
        pytest.param("none", 2, {"run": 2}, id="none: it runs again"),
        pytest.param("idempotent", 2, {"run": 2}, id="idempotent: it runs again"),
        pytest.param("once", 1, "unknown", id="once: nobody knows"),
    ],
)
async def test_interrupted(effects, runs, expected):
    """What a crash between effect and result leads to depends on the tool's class."""
    ran: list[str] = []

    def act(tool_context: ToolContext) -> dict[str, int]:
        """Act."""
        ran.append(tool_context.idempotency_key)
        return {"run": len(ran)}

    at = await interrupted(FunctionTool(act, effects=effects), [call("act"), "Well."])
    found = results(await at.send())
    assert len(ran) == runs
    assert len(set(ran)) == 1
    assert found[0].get("status", found[0]) == expected


@pytest.mark.parametrize(
    ("found", "runs", "expected"),
    [
        pytest.param({"status": "paid"}, 1, {"status": "paid"}, id="it happened"),
        pytest.param(None, 2, {"paid": 2}, id="it did not"),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
async def test_reconciled(found, runs, expected, waits):
    """A tool that can find out is asked, with the call's key."""
    asked: list[str] = []
    ran: list[int] = []

    def look(key: str) -> object:
        asked.append(key)
        return found

    async def look_later(key: str) -> object:
        return look(key)

    def act() -> dict[str, int]:
        """Act."""
        ran.append(1)
        return {"paid": len(ran)}

    tool = FunctionTool(act, reconcile=look_later if waits else look)
    at = await interrupted(tool, [call("act"), "Well."])
    assert results(await at.send()) == [expected]
    assert (len(ran), len(asked)) == (runs, 1)


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


@pytest.mark.parametrize("status", ["pending", "void"])
async def test_the_store_does_not_give_leave(status: str):
    """An answer alone starts nothing where the store keeps an approval that is not approved."""

    def companion(_key, story, new, **_told) -> Companions:
        asked = [(name, q) for event in new for name, q in event.questions.items()]
        records = [
            Record(
                id=name, status=status, rev=1, digest=q.digest, deadline=None, run_by=None, body={}
            )
            for name, q in asked
        ]
        return Companions(approvals=records)

    agent = Agent(name="root", tools=[GATED])
    at = await Desk(agent, [call("pay", amount=5), "Not yet."], companion=companion).open()
    await at.say()
    events = await at.answer()
    assert status in results(events)[0]["error"]
    assert texts(events) == ["Not yet."]
