"""A body that was started and left no result: it starts once, whatever a later build says."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from agents import (
    Agent,
    Entry,
    Event,
    FunctionTool,
    SessionConflict,
    SessionKey,
    SessionService,
    StoreUnavailable,
    ToolConfirmation,
    ToolContext,
)
from agents.runtime import calling
from agents.runtime.confirmation import Question
from agents.runtime.errors import Unsettled
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.testing import call
from tests.agents.desk import Desk, results

Reply = dict[str, object]
PAID: Reply = {"status": "paid"}
KEY = SessionKey("root", "ann", "s")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch):
    """What left no trace is looked for again in a moment."""
    monkeypatch.setattr(calling, "SETTLE", 0.01)


class Dying(MemorySlot):
    """A store that is lost when a body has ended: what it brought about is not stored."""

    dying = False
    early = False
    """Whether what the first bodies of a batch brought about is lost as well."""

    async def commit(self, key, commit):
        """Refuse while dying."""
        kept = commit.results if self.early else ()
        if self.dying and (kept or any(e.get_function_responses() for e in commit.events)):
            raise StoreUnavailable("lost")
        return await super().commit(key, commit)


async def interrupted(tool: FunctionTool, replies: list, *, answers: int = 0) -> Desk:
    """A session whose call was started after so many answers, and whose result was lost."""
    slot = Dying()
    at = await Desk(Agent(name="root", tools=[tool]), replies, service=SessionService(slot)).open()
    for step in range(answers + 1):
        slot.dying = step == answers
        if not slot.dying:
            await (at.answer() if step else at.say())
            continue
        with pytest.raises(StoreUnavailable):
            await (at.answer() if step else at.say())
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
    ("traces", "runs", "expected"),
    [
        pytest.param([PAID], 1, PAID, id="it happened"),
        pytest.param([None, PAID], 1, PAID, id="it was still on its way"),
        pytest.param([None, None], 2, {"paid": 2}, id="it did not"),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
async def test_reconciled(traces, runs, expected, waits):
    """A tool that can find out is asked, with the call's key, and again before it runs again."""
    asked: list[str] = []
    ran: list[int] = []

    def look(key: str) -> object:
        asked.append(key)
        return traces[len(asked) - 1]

    async def look_later(key: str) -> object:
        return look(key)

    def act() -> dict[str, int]:
        """Act."""
        ran.append(1)
        return {"paid": len(ran)}

    tool = FunctionTool(act, reconcile=look_later if waits else look)
    at = await interrupted(tool, [call("act"), "Well."])
    assert results(await at.send()) == [expected]
    assert (len(ran), len(asked), len(set(asked))) == (runs, len(traces), 1)


@pytest.mark.parametrize(
    "answer",
    [False, True, 0, 0.0, "", b"", [], (), {}, ValueError("no"), NotImplemented, ...],
    ids=repr,
)
async def test_what_says_nothing_of_a_call_is_left_to_a_person(answer: object):
    """It is not what came of the call: neither does that run again, nor is it said to be done."""
    ran: list[int] = []

    def act() -> dict[str, int]:
        """Act."""
        ran.append(1)
        return {"paid": len(ran)}

    at = await interrupted(FunctionTool(act, reconcile=lambda _: answer), [call("act"), "Well."])
    [found] = results(await at.send())
    assert (len(ran), found["status"]) == (1, "unknown")


async def served(at: Desk, owner: str) -> list[Reply]:
    """What comes of calls while this worker has the session."""
    return results([event async for event in at.runner.serve(KEY, owner=owner)])


async def test_whoever_takes_over_meanwhile_neither_looks_nor_waits_anew(
    monkeypatch: pytest.MonkeyPatch,
):
    """The second look comes a while after the first one; a body that then began waits anew."""
    looks: list[str] = []
    ran: list[int] = []

    def act() -> Reply:
        """Act."""
        ran.append(1)
        return PAID

    at = await interrupted(FunctionTool(act, reconcile=looks.append), [call("act"), "Well."])
    for times in (1, 2):
        monkeypatch.setattr(calling, "SETTLE", 60.0)
        waits: list[float] = []
        for owner in ("one", "another", "a third"):
            with pytest.raises(Unsettled) as told:
                await served(at, owner)
            waits.append(told.value.pause)
        assert waits == sorted(waits, reverse=True)
        assert (waits[0], len(looks), len(ran)) == (60.0, 2 * times - 1, times)
        monkeypatch.setattr(calling, "SETTLE", 0.0)
        at.service.slot.dying = times == 1
        if at.service.slot.dying:
            with pytest.raises(StoreUnavailable):
                await served(at, "a fourth")
            at.service.slot.dying = False
    assert await served(at, "a fourth") == [PAID]
    assert (len(looks), len(ran)) == (4, 3)
    begun = await at.service.slot.begin(KEY, owner="a fifth", lease=1)
    assert begun.invocations == {}


async def test_the_others_of_a_batch_do_not_wait(monkeypatch: pytest.MonkeyPatch):
    """What can go on does, and is stored, before a call of the same reply is looked for again."""
    monkeypatch.setattr(calling, "SETTLE", 60.0)

    def act() -> Reply:
        """Act."""
        return PAID

    def read() -> Reply:
        """Read."""
        return {"read": True}

    slot = Dying()
    tools = [FunctionTool(act, reconcile=lambda _: None), FunctionTool(read, effects="none")]
    agent, said = Agent(name="root", tools=tools), [call("act"), call("read")]
    at = await Desk(agent, [said, "Well."], service=SessionService(slot)).open()
    slot.dying = slot.early = True
    with pytest.raises(StoreUnavailable):
        await at.say()
    slot.dying = False
    with pytest.raises(Unsettled):
        await served(at, "worker")
    stored = (await at.session()).events
    assert (results(stored), len(at.model.requests)) == ([{"read": True}], 1)
    monkeypatch.setattr(calling, "SETTLE", 0.0)
    assert await served(at, "worker") == [PAID]
    assert len(at.model.requests) == 2


class Till:
    """Where every build of a tool pays."""

    def __init__(self) -> None:
        """Nothing is paid yet."""
        self.paid: list[str] = []

    def build(self, default: str = "JPY", **options: Any) -> FunctionTool:
        """A build with this default."""

        def pay(amount: float, currency: str = default) -> Reply:
            """Pay."""
            self.paid.append(currency)
            return {"paid": amount}

        return FunctionTool(pay, **options)

    def dynamic(self, hint: str = "Pay?") -> FunctionTool:
        """A build that asks for itself."""

        def pay(amount: float, tool_context: ToolContext, currency: str = "USD") -> Reply:
            """Pay."""
            if tool_context.tool_confirmation is None:
                tool_context.request_confirmation(hint=hint)
                return {"status": "asked"}
            self.paid.append(currency)
            return {"paid": amount}

        return FunctionTool(pay)

    def other(self) -> FunctionTool:
        """A build that does not take the same arguments."""

        def pay(amount: list[str]) -> Reply:
            """Pay."""
            self.paid.append(str(amount))
            return {}

        return FunctionTool(pay)


Build = Callable[[Till], FunctionTool]
GATE = {"require_confirmation": True}


def asks(tool_context: ToolContext, **_told: object) -> None:
    """A hook that asks a person."""
    tool_context.request_confirmation(hint="Sure?")


def says(**_told: object) -> Reply:
    """A hook that answers for a tool."""
    return {"instead": True}


def fails(**_told: object) -> None:
    """A hook that fails."""
    raise OSError("no hook today")


FREE: Build = lambda till: till.build()  # noqa: E731
GATED: Build = lambda till: till.build(**GATE)  # noqa: E731
EUROS: Build = lambda till: till.build("EUR", **GATE)  # noqa: E731


async def deployed(at: Desk, tool: FunctionTool | None, **options: Any) -> tuple[Desk, list[Reply]]:
    """The next build on the same session goes on; what came of the call."""
    agent = Agent(name="root", tools=[tool] if tool else [], **options)
    there = Desk(agent, ["Well."] * 9, service=at.service)
    return there, results(await there.send())


def asked(at: Desk, events: list) -> Question:
    """The newest question."""
    return [q for event in events for q in event.questions.values()][-1]


@pytest.mark.parametrize(
    ("before", "after", "options"),
    [
        pytest.param(GATED, GATED, {}, id="approved, the same build"),
        pytest.param(GATED, EUROS, {}, id="approved, another default"),
        pytest.param(GATED, FREE, {}, id="approved, the gate is gone"),
        pytest.param(GATED, Till.dynamic, {}, id="approved, it asks for itself now"),
        pytest.param(Till.dynamic, GATED, {}, id="it asked for itself, and does not now"),
        pytest.param(FREE, FREE, {}, id="ungated, the same build"),
        pytest.param(FREE, GATED, {}, id="ungated, gated now"),
        pytest.param(FREE, EUROS, {}, id="ungated, gated and another default"),
        pytest.param(FREE, Till.dynamic, {}, id="ungated, it asks for itself now"),
        pytest.param(FREE, FREE, {"before_tool_callback": asks}, id="ungated, a hook asks now"),
        pytest.param(FREE, FREE, {"before_tool_callback": says}, id="ungated, a hook answers now"),
    ],
)
@pytest.mark.parametrize("runs", [False, True], ids=["leave it", "it did not happen, run it"])
async def test_a_deploy_after_the_start(before: Build, after: Build, options, *, runs: bool):
    """People are asked whether it happened, and only their word starts it again, once."""
    till = Till()
    answers = 0 if before is FREE else 1
    at = await interrupted(before(till), [call("pay", amount=5.0)], answers=answers)
    there, _ = await deployed(at, after(till), **options)
    question = asked(there, (await there.session()).events)
    assert (question.unknown, question.ended, len(till.paid)) == (True, True, 1)
    await there.answer(runs)
    if runs and before is FREE and after is Till.dynamic:  # its own question comes first
        assert len(till.paid) == 1
        await there.answer()
    assert len(till.paid) == 1 + runs
    await there.send()
    assert len(till.paid) == 1 + runs


async def test_the_form_of_an_interrupted_call_keeps_its_order():
    """Who is asked whether it happened finds the fields where they were."""

    class Trip(BaseModel):
        where: str
        by: str = ""
        alone: bool = True

    def travel(tool_context: ToolContext) -> dict[str, str]:
        """Travel."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Where to?", payload=Trip)
        return {"status": "on the way"}

    slot = Dying()
    agent = Agent(name="root", tools=[FunctionTool(travel)])
    at = await Desk(agent, [call("travel"), "Well."], service=SessionService(slot)).open()
    first = asked(at, await at.say())
    slot.dying = True
    with pytest.raises(StoreUnavailable):
        await at.answer(payload={"where": "Rome"})
    slot.dying = False
    second = asked(at, await at.send())
    assert second.unknown
    assert first.form == second.form == ("where", "by", "alone")


@pytest.mark.parametrize(
    ("after", "options"),
    [
        pytest.param(None, {}, id="the tool is gone"),
        pytest.param(None, {"on_tool_error_callback": says}, id="a hook stands in for it"),
        pytest.param(Till.other, {}, id="its arguments do not fit"),
        pytest.param(FREE, {"before_tool_callback": fails}, id="a hook fails"),
    ],
)
async def test_what_cannot_run_again(after: Build | None, options):
    """The model never reads that an interrupted body did not run."""
    till = Till()
    at = await interrupted(till.build(), [call("pay", amount=5.0)])
    _, told = await deployed(at, after(till) if after else None, **options)
    assert [reply | {"status": "unknown"} for reply in told] == told
    assert "not known" in str(told)
    assert len(till.paid) == 1


@pytest.mark.parametrize("after", [None, Till.other], ids=["gone", "other arguments"])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(
            {"confirmed": False, "outcome": "happened"}, "does not run again", id="it happened"
        ),
        pytest.param({"confirmed": False}, "decided to leave it", id="leave it"),
        pytest.param({"confirmed": True}, "did not run", id="it did not"),
    ],
)
async def test_what_was_agreed_to_and_cannot_run_again(after: Build | None, answer, words):
    """Who agreed to it is asked whether it happened, and their word is what the model reads."""
    till = Till()
    at = await interrupted(till.build(**GATE), [call("pay", amount=5.0)], answers=1)
    there, _ = await deployed(at, after(till) if after else None)
    question = asked(there, (await there.session()).events)
    assert (question.unknown, len(question.changes)) == (True, 1)
    assert words in str(results(await there.answer(**answer)))
    assert len(till.paid) == 1


async def test_what_cannot_be_found_out():
    """Where a tool fails to say whether it happened, a person has to look."""

    def look(_key: str) -> None:
        raise OSError("no line")

    till = Till()
    at = await interrupted(till.build(reconcile=look), [call("pay", amount=5.0)])
    there, _ = await deployed(at, till.build(reconcile=look))
    assert asked(there, (await there.session()).events).unknown
    assert len(till.paid) == 1


@pytest.mark.parametrize(
    ("options", "paid"),
    [
        pytest.param({"effects": "idempotent"}, ["JPY", "JPY"], id="it may happen twice"),
        pytest.param({"reconcile": lambda _key: None}, ["JPY", "JPY"], id="it did not happen"),
    ],
)
async def test_a_gate_after_the_start(options, paid):
    """What may start again is asked about like any other call, and then starts under that leave."""
    till = Till()
    at = await interrupted(till.build(**options), [call("pay", amount=5.0)])
    there, _ = await deployed(at, till.build(**GATE, **options))
    question = asked(there, (await there.session()).events)
    assert (question.unknown, till.paid) == (False, ["JPY"])
    assert results(await there.answer()) == [{"paid": 5}]
    assert till.paid == paid


async def test_results_that_are_kept():
    """A body that ended before its batch is neither asked about nor run again by a later build."""
    till = Till()
    made = [call("pay", amount=5.0), call("pay", amount=6.0)]
    at = await interrupted(till.build(), [made])
    there, told = await deployed(at, till.build("EUR", **GATE))
    assert told == [{"paid": 5}, {"paid": 6}]
    assert (till.paid, there.asked) == (["JPY", "JPY"], [])


async def test_a_body_that_asks_twice():
    """A run with permission that asked once more is over: the next answer starts another one."""
    ran: list[object] = []

    def pay(tool_context: ToolContext) -> Reply:
        """Pay."""
        ran.append(tool_context.tool_confirmation)
        if len(ran) < 3:
            tool_context.request_confirmation(hint=f"Pay {len(ran)}?")
        return {"ran": len(ran)}

    at = await Desk(Agent(name="root", tools=[pay]), [call("pay"), "Paid."]).open()
    await at.say()
    await at.answer()
    assert results(await at.answer()) == [{"ran": 3}]
    assert len(ran) == 3


async def test_a_body_that_died_before_it_asked():
    """To let it run is no answer to what it asks: it asks, and runs with what a person enters."""
    told: list[object] = []

    def grant(tool_context: ToolContext) -> Reply:
        """Grant days."""
        said = tool_context.tool_confirmation
        told.append(said and said.payload)
        if said is None:
            tool_context.request_confirmation(hint="How many?", payload={"days": 0})
            return {"status": "asked"}
        return {"days": said.payload and said.payload["days"]}

    at = await interrupted(FunctionTool(grant), [call("grant"), "Well.", "Granted."])
    first = asked(at, await at.send())
    assert first.unknown
    second = asked(at, await at.answer())
    assert (second.unknown, second.dynamic) == (False, True)
    assert results(await at.answer(payload={"days": 3})) == [{"days": 3}]
    assert told == [None, None, {"days": 3}]


async def test_a_process_that_stood_still_before_the_body():
    """A body does not begin when the lease ran out meanwhile: others may have looked by now."""
    ran: list[int] = []

    class Standing(MemorySlot):
        async def start_call(self, key, start):
            """Give leave, and stand still for longer than the lease."""
            started = await super().start_call(key, start)
            time.sleep(0.2)  # noqa: ASYNC251 - as a process that is stopped does
            return started

    def act() -> Reply:
        """Act."""
        ran.append(1)
        return {}

    service = SessionService(Standing())
    at = await Desk(Agent(name="root", tools=[act]), [call("act")], service=service).open()
    said = types.Content(role="user", parts=[types.Part(text="go")]).model_dump(mode="json")
    await service.slot.ingest(KEY, Entry(id="m", body={"content": said}))
    with pytest.raises(SessionConflict, match="lease"):
        _ = [event async for event in at.runner.serve(KEY, owner="worker", lease=100)]
    assert ran == []


async def answered_at_once(at: Desk, questions: int) -> list[Event]:
    """A worker goes on, and hears yes to what it asks before it lets go of the session."""
    view = await at.service.slot.read(KEY)
    version = view.version + view.inbox + 1
    yes = [ToolConfirmation(confirmed=True).response(f"{version}-{n}") for n in range(questions)]
    said = types.Content(role="user", parts=yes).model_dump(mode="json", exclude_none=True)
    await at.service.slot.ingest(KEY, Entry(id="yes", body={"content": said}))
    return [event async for event in at.runner.serve(KEY, owner="worker")]


@pytest.mark.parametrize(
    ("build", "replies", "answers"),
    [
        pytest.param(GATED, [call("pay", amount=5.0)], 1, id="did it happen?"),
        pytest.param(Till.dynamic, [[call("pay", amount=5.0)] * 2], 0, id="bodies that asked"),
    ],
)
async def test_an_answer_under_the_same_lease(build: Build, replies, *, answers: int):
    """What was known of the run before is forgotten with the question that ends it."""
    till = Till()
    at = await interrupted(build(till), replies, answers=answers)
    there = Desk(Agent(name="root", tools=[build(till)]), ["Well."], service=at.service)
    events = await answered_at_once(there, 1 if answers else 2)
    assert sum(bool(event.questions) for event in events) == 1
    assert len(till.paid) == 2


GIVEN_UP = "act failed again and again and was given up; whether it took effect is not known."
NEVER_RUN = "act was not run: its turn failed again and again and was given up."
REFUSED = "A person rejected this call of act; it did not run."


@pytest.mark.parametrize(
    ("gated", "answer", "expected"),
    [
        pytest.param(True, None, GIVEN_UP, id="it was let run"),
        pytest.param(False, None, GIVEN_UP, id="nobody was asked"),
        pytest.param(True, True, NEVER_RUN, id="it was agreed to and never began"),
        pytest.param(True, False, REFUSED, id="it was rejected"),
    ],
)
async def test_given_up(gated: bool, answer: bool | None, expected: str):
    """Of a call whose turn is given up it is told whether its body may have begun, and any no.

    An answer is one that nobody has acted on yet; without one the body began.
    """

    def act() -> dict[str, str]:
        """Act."""
        return {"status": "ok"}

    tool = FunctionTool(act, effects="once", require_confirmation=gated)
    if answer is None:
        at = await interrupted(tool, [call("act")], answers=int(gated))
    else:
        slot = Dying()
        service = SessionService(slot)
        at = await Desk(Agent(name="root", tools=[tool]), [call("act")], service=service).open()
        await at.say()
        part = ToolConfirmation(confirmed=answer, reason="because").response(at.asked[-1])
        content = types.Content(role="user", parts=[part]).model_dump(exclude_none=True)
        await slot.ingest(KEY, Entry(id="d", body={"content": content, "user_id": "ann"}))
    await at.runner.give_up(KEY, owner="o")
    [told] = results((await at.session()).events[-2:])
    assert told["error"] == expected
    assert told.get("reason") == ("because" if expected == REFUSED else None)
