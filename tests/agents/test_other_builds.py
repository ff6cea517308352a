"""A body that asks for something else by now is not run on what people filled in before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal
from uuid import uuid4

import pytest
from pydantic import BaseModel, Field, create_model

from agents import (
    Agent,
    FunctionTool,
    Question,
    SessionService,
    StoreUnavailable,
    ToolContext,
)
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.testing import call
from tests.agents.desk import Desk, results

Body = Callable[..., Any]
ANA = call("leave", who="Ana")
FIVE: dict[str, Any] = {"days": 5}


def model(limit: int = 5, name: str = "days", kind: Any = int, **said: Any) -> type[BaseModel]:
    """A form with one field."""
    return create_model("Days", **{name: (kind, Field(ge=1, le=limit, **said))})


class Dying(MemorySlot):
    """A store that is lost once a body has run."""

    dying = False

    async def commit(self, key, commit):
        """Refuse while dying."""
        if self.dying and commit.events:
            raise StoreUnavailable("lost")
        return await super().commit(key, commit)


@dataclass
class Leave:
    """Days off in several builds; `notes` is what people filled in where a body ran."""

    notes: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(took=[], asked=0))

    @property
    def took(self) -> list[Any]:
        """What people filled in where a body ran."""
        return self.notes.took

    @property
    def asked(self) -> int:
        """How often a body has asked."""
        return self.notes.asked

    def asking(self, payload: Any, *, note: str = "x") -> Body:
        """A body that asks for `payload`."""
        notes = self.notes

        async def leave(who: str, tool_context: ToolContext) -> dict[str, Any]:
            """Leave."""
            if tool_context.tool_confirmation is None:
                notes.asked += 1
                tool_context.state["asked"] = note
                tool_context.request_confirmation(hint="How many?", payload=payload)
                return {"status": "asked"}
            notes.took.append(tool_context.tool_confirmation.payload)
            return {"left": who}

        return leave

    def plain(self) -> Body:
        """A body that asks nobody."""
        notes = self.notes

        def leave(who: str, tool_context: ToolContext) -> dict[str, Any]:
            """Leave."""
            said = tool_context.tool_confirmation
            notes.took.append(said and said.payload)
            return {"left": who}

        return leave

    def by(self, ask: Body) -> Body:
        """A body that has something of another package ask."""
        notes = self.notes

        def leave(who: str, tool_context: ToolContext) -> dict[str, Any]:
            """Leave."""
            if tool_context.tool_confirmation is None:
                ask(tool_context)
                return {}
            notes.took.append(tool_context.tool_confirmation.payload)
            return {"left": who}

        return leave

    def free(self) -> Body:
        """A body that asks about others only."""
        notes = self.notes

        def leave(who: str, tool_context: ToolContext) -> dict[str, Any]:
            """Leave."""
            if who != "Ana":
                tool_context.request_confirmation(hint="May they?")
            notes.took.append("unasked")
            return {"left": who}

        return leave


async def later(
    asked: Body, build: Body, *, filled: Any = FIVE, **options: Any
) -> tuple[Desk, list[Any]]:
    """What is asked by one build and agreed to under another."""
    at = await Desk(_agent(asked, **options), [call("leave", who="Ana"), "End."]).open()
    await at.say()
    desk = Desk(_agent(build, **options), ["End.", "End."], service=at.service)
    desk.asked = at.asked
    return desk, await desk.answer(payload=filled)


async def newest(desk: Desk) -> Question:
    """The question that was asked last."""
    return [q for e in (await desk.session()).events for q in e.questions.values()][-1]


def _agent(body: Body, **options: Any) -> Agent:
    return Agent(name="a", tools=[FunctionTool(body, name="leave", **options)])


LIMIT = "to fill in: days asked for a whole number, at least 1, at most 5, asks for a whole number,"
OTHERS: list[Any] = [
    pytest.param(model(3), [f"{LIMIT} at least 1, at most 3"], id="another limit"),
    pytest.param(
        model(5, "approved"),
        [
            "to fill in: days is not asked for any more",
            "to fill in: approved is asked for now",
        ],
        id="another name",
    ),
    pytest.param(
        model(5, "days", float),
        [
            "to fill in: days asked for a whole number, at least 1, at most 5, asks for a number,"
            " at least 1, at most 5"
        ],
        id="another type",
    ),
    pytest.param(
        create_model("Days", days=(Literal[4, 5], ...)),
        ["to fill in: days asked for a whole number, at least 1, at most 5, asks for one of 4, 5"],
        id="choices",
    ),
    pytest.param(
        create_model("Days", days=(int, Field(ge=1, le=5)), why=(str, ...)),
        ["to fill in: why is asked for now"],
        id="one more field",
    ),
    pytest.param({"days": 0}, None, id="a dict in place of a model"),
    pytest.param({"when": ""}, None, id="another dict"),
    pytest.param(None, ["to fill in: days is not asked for in this question"], id="only yes or no"),
]


@pytest.mark.parametrize("effects", ["once", "idempotent", "none"])
@pytest.mark.parametrize(("form", "changes"), OTHERS)
async def test_another_form_is_asked_anew(form: Any, changes: list[str] | None, effects: str):
    """It does not run on the old values: people are asked once more, with what differs."""
    leave = Leave()
    desk, _ = await later(leave.asking(model()), leave.asking(form), effects=effects)
    assert (leave.took, leave.asked, len(desk.asked)) == ([], 2, 2)
    question = await newest(desk)
    assert question.changes
    assert changes is None or list(question.changes) == changes
    assert (question.ended, question.returned) == (True, True)
    payload = {"days": 3, "approved": 3, "when": "today", "why": "rest"}
    names = question.payload_schema["properties"] if question.payload_schema else {}
    filled = {name: payload[name] for name in names} or None
    if "choices" in str(changes) or "one of" in str(changes):
        filled = {"days": 4}
    await desk.answer(payload=filled)
    assert (leave.took, leave.asked) == ([filled], 2)


@pytest.mark.parametrize(
    ("form", "note", "asked"),
    [
        pytest.param(model(), "x", 1, id="the same build"),
        pytest.param(model(), "y", 2, id="another build with the same form"),
        pytest.param(model(), f"{uuid4()}", 2, id="a value that each process makes for itself"),
        pytest.param(model(5, description="How many"), "x", 2, id="other words for readers"),
        pytest.param(model(5, title="Days off"), "x", 2, id="another title"),
    ],
)
@pytest.mark.parametrize("effects", ["once", "idempotent", "none"])
async def test_the_same_form_runs(form: Any, note: str, asked: int, *, effects: str):
    """What people filled in is what is asked for: it runs, once, and asking leaves no trace."""
    leave = Leave()
    body = leave.asking(form, note=note)
    desk, events = await later(leave.asking(model()), body, effects=effects)
    assert (leave.took, leave.asked) == ([{"days": 5}], asked)
    assert results(events) == [{"left": "Ana"}]
    assert (await desk.session()).state["asked"] == "x"


async def test_rolled_back_it_runs():
    """Where the build that asked is back before the start, it is not asked once more."""
    leave = Leave()
    at = await Desk(_agent(leave.asking(model())), [call("leave", who="Ana"), "End."]).open()
    await at.say()
    Desk(_agent(leave.asking(model(3))), ["End."], service=at.service)
    back = Desk(_agent(leave.asking(model())), ["End."], service=at.service)
    back.asked = at.asked
    await back.answer(payload={"days": 5})
    assert (leave.took, leave.asked) == ([{"days": 5}], 1)


async def test_a_body_that_asks_nobody_any_more():
    """What people filled in has no place in it: they are asked, and it runs once they agree."""
    leave = Leave()
    desk, _ = await later(leave.asking(model()), leave.plain())
    assert leave.took == []
    question = await newest(desk)
    assert question.changes == ("to fill in: days is not asked for in this question",)
    await desk.answer()
    assert leave.took == [None]


async def test_a_body_that_does_not_ask_about_this_call():
    """What a body does where it asks about other calls only is what comes of the call, once."""
    leave = Leave()
    _, events = await later(leave.asking(model()), leave.free())
    assert (leave.took, results(events)) == (["unasked"], [{"left": "Ana"}])


FORMS: list[Any] = [
    pytest.param(None, {"days": 0}, {"days": 2}, id="a form where there was none"),
    pytest.param(model(), None, None, id="none where there was a form"),
]


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize(("before", "after", "filled"), FORMS)
async def test_a_gate_in_place_of_a_question(before: Any, after: Any, filled: Any, *, gated: bool):
    """Whether the tool's gate asked or its body: what is to be filled in by now is asked for."""
    leave = Leave()
    asked = leave.asking(before)
    at = Desk(_agent(asked, require_confirmation=before is None and gated), [ANA, "End."])
    await (await at.open()).say()
    build = _agent(leave.asking(after), require_confirmation=after is None and gated)
    desk = Desk(build, ["End.", "End."], service=at.service)
    desk.asked = at.asked
    await desk.answer(payload={"days": 5} if before else None)
    assert leave.took == []
    (change,) = (await newest(desk)).changes
    assert change.startswith("to fill in: days is ")
    await desk.answer(payload=filled)
    assert leave.took == [filled]


@pytest.mark.parametrize("same", [True, False])
async def test_a_gate_before_and_after(*, same: bool):
    """What a gate asked about runs once in another build that has the gate as well."""
    leave = Leave()
    build = leave.plain() if same else leave.asking(None)
    desk, events = await later(leave.plain(), build, filled=None, require_confirmation=True)
    assert len(desk.asked) == 1
    assert (leave.took, leave.asked, results(events)) == ([None], 0, [{"left": "Ana"}])


@pytest.mark.parametrize("gate", [True, False])
async def test_a_body_behind_a_gate(*, gate: bool):
    """A body that asks nobody is told what people said, though another build has no gate."""
    heard: list[bool] = []

    def body(note: str) -> Body:
        def leave(who: str, tool_context: ToolContext) -> str:
            """Leave."""
            heard.append(tool_context.tool_confirmation is not None)
            return note

        return leave

    at = Desk(_agent(body("a"), require_confirmation=True), [ANA, "End."])
    await (await at.open()).say()
    build = _agent(body("b"), require_confirmation=gate)
    desk = Desk(build, ["End."], service=at.service)
    desk.asked = at.asked
    await desk.answer()
    assert heard == [True]


async def test_a_body_that_asks_by_what_is_of_another_package():
    """It is not seen to ask: nothing is run on what people filled in before it has asked again."""
    leave = Leave()

    def ask(tool_context: ToolContext) -> None:
        tool_context.request_confirmation(hint="How many?", payload=model(3))

    ask.__module__ = "company"
    desk, _ = await later(leave.asking(model()), leave.by(ask))
    assert leave.took == []
    await desk.answer()
    assert (leave.took, (await newest(desk)).form) == ([], ("days",))
    await desk.answer(payload={"days": 2})
    assert leave.took == [{"days": 2}]


async def test_what_a_body_changes_before_it_asks():
    """It runs on what people agreed to, whatever it did to its arguments before it asked again."""
    took: list[Any] = []

    def body(note: str) -> Body:
        def pay(to: list[str], tool_context: ToolContext) -> dict[str, Any]:
            """Pay."""
            if tool_context.tool_confirmation is None:
                to.append(note)
                tool_context.precondition["rate"] = note
                tool_context.request_confirmation(hint="Pay?")
                return {}
            took.append((list(to), tool_context.precondition["rate"]))
            return {}

        return pay

    options: Any = {"precondition": lambda: {"rate": 1}}
    first, second = (_agent(body(note), **options) for note in ("a", "b"))
    at = await Desk(first, [call("leave", to=["Bo"]), "End."]).open()
    await at.say()
    desk = Desk(second, ["End."], service=at.service)
    desk.asked = at.asked
    await desk.answer()
    assert took == [(["Bo"], 1)]


async def test_a_no_is_a_no():
    """A rejection reaches the model whatever the body asks for by now."""
    leave = Leave()
    at = await Desk(_agent(leave.asking(model())), [call("leave", who="Ana"), "End."]).open()
    await at.say()
    desk = Desk(_agent(leave.asking(model(3))), ["End."], service=at.service)
    desk.asked = at.asked
    [told] = results(await desk.answer(False, reason="no"))
    assert (leave.took, leave.asked, told["reason"]) == ([], 1, "no")


async def test_calls_of_one_batch():
    """Each of two calls is asked anew by itself, and what came of one waits for the other."""
    leave = Leave()
    both = [call("leave", who="Ana"), call("leave", who="Bo")]
    at = await Desk(_agent(leave.asking(model())), [both, "End."]).open()
    await at.say()
    desk = Desk(_agent(leave.asking(model(3))), ["End.", "End."], service=at.service)
    desk.asked = at.asked
    for n in (0, 1):
        await desk.answer(at=n, payload={"days": 5})
    assert (leave.took, leave.asked, len(desk.asked)) == ([], 4, 4)
    for n in (2, 3):
        await desk.answer(at=n, payload={"days": 2})
    assert leave.took == [{"days": 2}, {"days": 2}]


@pytest.mark.parametrize(
    ("effects", "unknown"),
    [
        pytest.param("once", True, id="once: nobody knows what it did"),
        pytest.param("idempotent", False, id="idempotent: it asks again"),
        pytest.param("none", False, id="none: it asks again"),
    ],
)
async def test_a_process_that_dies_while_it_asks_once_more(effects: Any, *, unknown: bool):
    """What a body does before it asks may have an effect as well: a person looks, if so."""
    leave, slot = Leave(), Dying()
    first = _agent(leave.asking(model()), effects=effects)
    at = Desk(first, [call("leave", who="Ana"), "End."], service=SessionService(slot))
    await (await at.open()).say()
    build = _agent(leave.asking(model(3)), effects=effects)
    desk = Desk(build, ["End.", "End."], service=at.service)
    desk.asked = at.asked
    slot.dying = True
    with pytest.raises(StoreUnavailable):
        await desk.answer(payload={"days": 5})
    slot.dying = False
    await desk.send()
    question = await newest(desk)
    assert (leave.took, question.unknown) == ([], unknown)
    if unknown:
        assert question.build == first.tool("leave").build.mark
        await desk.answer(payload={"days": 5})
        question = await newest(desk)
    assert question.changes == (f"{LIMIT} at least 1, at most 3",)
    await desk.answer(payload={"days": 2})
    assert leave.took == [{"days": 2}]
