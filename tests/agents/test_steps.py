"""What comes next, as a table: every state of a batch, of a strand and of nested agents."""

import pytest

from agents import Agent, AgentTool, FunctionTool, LongRunningFunctionTool
from agents.runtime.steps import CallModel, Done, RunTools, Step, Wait, floor, next_step
from tests.agents.samples import answered, answers, asks, news, response, said, spoke, story


def pay() -> None:
    """Pay."""


def ticket() -> None:
    """Open a ticket."""


helper = Agent(name="helper", tools=[FunctionTool(pay)])
child = Agent(name="child", tools=[FunctionTool(pay)])
loner = Agent(name="loner", disallow_transfer_to_parent=True)
root = Agent(
    name="root",
    tools=[
        FunctionTool(pay),
        FunctionTool(pay, name="wire"),
        LongRunningFunctionTool(ticket),
        LongRunningFunctionTool(ticket, name="chatty", wake_on_progress=True),
        AgentTool(helper),
    ],
    sub_agents=[child, loner],
)


def told(step: Step) -> str:
    """A step in a few words."""
    match step:
        case CallModel():
            place = f" in {step.branch}" if step.branch else ""
            return f"ask {step.agent.name} for {step.invocation}{place}"
        case RunTools():
            return f"run {' '.join(c.id for c in step.calls)} of {step.agent.name}"
        case Wait():
            return f"wait for {' '.join(call.id for call in step.calls)}"
        case Done():
            return "done"


GO = said()
ONE = (GO, spoke("2-0 pay"))
TWO = (GO, spoke("2-0 pay", "2-1 wire"))
ASKED = (*ONE, asks("3-0", "2-0 pay"), answered(response("2-0 pay"), asked=("2-0",), quiet=True))
BOTH = (
    *TWO,
    asks("3-0", "2-0 pay"),
    asks("4-0", "2-1 wire"),
    answered(response("2-0 pay"), response("2-1 wire"), asked=("2-0", "2-1"), quiet=True),
)
LASTING = (GO, spoke("2-0 ticket", lasting=("2-0",)))
OPEN = (*LASTING, answered(pending=("2-0",)))
CHATTY = (GO, spoke("2-0 chatty", lasting=("2-0",)), answered(pending=("2-0",)))
IN = "helper@2-0"
NESTED = (GO, spoke("2-0 helper"), said(branch=IN))
INSIDE = (*NESTED, spoke("4-0 pay", agent="helper", branch=IN))
NESTED_ASKED = (
    *INSIDE,
    asks("5-0", "4-0 pay", agent="helper", branch=IN),
    answered(response("4-0 pay"), agent="helper", asked=("4-0",), branch=IN),
)
TWINS = (
    GO,
    spoke("2-0 helper", "2-1 helper"),
    said(branch="helper@2-0"),
    said(branch="helper@2-1"),
)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param((), "done", id="nothing happened"),
        pytest.param((GO,), "ask root for i1", id="somebody spoke"),
        pytest.param((GO, spoke(text="Hi.")), "done", id="the model answered"),
        pytest.param((GO, spoke(text="Hi."), said(inv="i2")), "ask root for i2", id="and again"),
        pytest.param((GO, spoke()), "done", id="the model said nothing"),
        pytest.param(ONE, "run 2-0 of root", id="a call"),
        pytest.param(TWO, "run 2-0 2-1 of root", id="two calls run together"),
        pytest.param(
            (*TWO, answered(response("2-0 pay"))), "run 2-1 of root", id="one of two is answered"
        ),
        pytest.param(
            (*TWO, answered(response("2-0 pay")), said(inv="i2")),
            "run 2-1 of root",
            id="calls come before words",
        ),
        pytest.param(
            (*TWO, answered(response("2-0 pay"), response("2-1 wire"))),
            "ask root for i1",
            id="both are answered",
        ),
        pytest.param(
            (*ONE, answered(response("2-0 pay"), quiet=True)), "done", id="answered, quietly"
        ),
        pytest.param(
            (*ONE, answered(response("2-0 pay", error="kaput"))), "ask root for i1", id="it failed"
        ),
        pytest.param(ASKED, "wait for 2-0", id="a person is asked"),
        pytest.param(ASKED[:3], "wait for 2-0", id="asked, no placeholder stored"),
        pytest.param((*ASKED, said(inv="i2")), "ask root for i2", id="asked, and they talk"),
        pytest.param(
            (*ASKED, said(inv="i2"), spoke(text="Wait.", inv="i2")), "wait for 2-0", id="talked"
        ),
        pytest.param((*ASKED, answers("3-0", confirmed=True)), "run 2-0 of root", id="agreed"),
        pytest.param((*ASKED, answers("3-0", confirmed=False)), "run 2-0 of root", id="rejected"),
        pytest.param(
            (*ASKED, answers("3-0", confirmed=True), answered(response("2-0 pay"))),
            "ask root for i1",
            id="agreed and run",
        ),
        pytest.param(
            (*ASKED, asks("5-0", "2-0 pay"), answers("3-0", confirmed=True)),
            "wait for 2-0",
            id="an answer to an older question",
        ),
        pytest.param(
            (*ASKED, answers("3-0", confirmed=True), asks("6-0", "2-0 pay")),
            "wait for 2-0",
            id="asked again in the second run",
        ),
        pytest.param((*ASKED, answers("9-9", confirmed=True)), "wait for 2-0", id="no question"),
        pytest.param(BOTH, "wait for 2-0 2-1", id="two are asked about"),
        pytest.param(
            (*BOTH, answers("4-0", confirmed=True)), "run 2-1 of root", id="the second is decided"
        ),
        pytest.param(
            (*BOTH, answers("4-0", confirmed=True), answered(response("2-1 wire"))),
            "wait for 2-0",
            id="the model is not woken while one is open",
        ),
        pytest.param(
            (
                *BOTH,
                answers("4-0", confirmed=True),
                answered(response("2-1 wire")),
                answers("3-0", confirmed=False),
                answered(response("2-0 pay")),
            ),
            "ask root for i1",
            id="both are decided",
        ),
        pytest.param(LASTING, "run 2-0 of root", id="a long-running call"),
        pytest.param(OPEN, "wait for 2-0", id="it returned nothing"),
        pytest.param(
            (*LASTING, answered(response("2-0 ticket", status="pending"))),
            "ask root for i1",
            id="it returned something",
        ),
        pytest.param(
            (*OPEN, news(response("2-0 ticket", status="done"))), "ask root for i1", id="its news"
        ),
        pytest.param(
            (*OPEN, news(response("2-0 ticket", status="done"), quiet=True)), "done", id="quietly"
        ),
        pytest.param(
            (*OPEN, news(response("2-0 ticket", True, p=50))), "wait for 2-0", id="progress"
        ),
        pytest.param(
            (*CHATTY, news(response("2-0 chatty", True, p=50))),
            "ask root for i1",
            id="progress that wakes",
        ),
        pytest.param(
            (*CHATTY, news(response("2-0 chatty", True, p=50)), spoke(text="Half.")),
            "wait for 2-0",
            id="progress was told",
        ),
        pytest.param(
            (*OPEN, said(inv="i2"), spoke("5-0 pay", inv="i2")),
            "run 5-0 of root",
            id="a newer call while one is open",
        ),
        pytest.param((GO, spoke("2-0 helper")), "run 2-0 of root", id="an agent is called"),
        pytest.param(NESTED, f"ask helper for i1 in {IN}", id="it was spoken to"),
        pytest.param(INSIDE, "run 4-0 of helper", id="it calls"),
        pytest.param(NESTED_ASKED, "wait for 2-0", id="it asks a person"),
        pytest.param(
            (*NESTED_ASKED, answers("5-0", branch=IN, confirmed=True)),
            "run 4-0 of helper",
            id="they agreed",
        ),
        pytest.param(
            (*NESTED_ASKED, said(inv="i2")), "ask root for i2", id="the person talks meanwhile"
        ),
        pytest.param(
            (*NESTED, spoke(text="Done.", agent="helper", branch=IN)),
            "run 2-0 of root",
            id="it ended: its caller is answered",
        ),
        pytest.param(TWINS, "ask helper for i1 in helper@2-0", id="twins: the first goes on"),
        pytest.param(
            (
                *TWINS,
                spoke("5-0 pay", agent="helper", branch="helper@2-0"),
                asks("6-0", "5-0 pay", agent="helper", branch="helper@2-0"),
            ),
            "ask helper for i1 in helper@2-1",
            id="twins: the second goes on while the first waits",
        ),
        pytest.param(
            (
                *TWINS,
                spoke(text="One.", agent="helper", branch="helper@2-0"),
                spoke(text="Two.", agent="helper", branch="helper@2-1"),
            ),
            "run 2-0 2-1 of root",
            id="twins: both ended",
        ),
        pytest.param(
            (GO, spoke("2-0 hand"), answered(response("2-0 hand"), transfer="child")),
            "ask child for i1",
            id="handed over",
        ),
        pytest.param(
            (GO, spoke(text="Hi.", agent="child"), said(inv="i2")),
            "ask child for i2",
            id="who took over keeps the conversation",
        ),
        pytest.param(
            (GO, spoke(text="Hi.", agent="loner"), said(inv="i2")),
            "ask root for i2",
            id="unless it may not hand back",
        ),
        pytest.param(
            (GO, spoke(text="Hi.", agent="gone"), said(inv="i2")),
            "ask root for i2",
            id="an agent that is gone",
        ),
        pytest.param((GO, spoke("2-0 pay", agent="gone")), "run 2-0 of root", id="a call of it"),
        pytest.param(
            (GO, spoke("2-0 gone"), said(branch="gone@2-0")),
            "run 2-0 of root",
            id="a nested agent that is gone",
        ),
    ],
)
def test_next_step(events, expected):
    """The next step is a function of the events alone."""
    assert told(next_step(root, story(*events))) == expected


def test_the_floor():
    """Everybody on the way up must be able to hand back."""
    low = Agent(name="low")
    middle = Agent(name="middle", sub_agents=[low], disallow_transfer_to_parent=True)
    top = Agent(name="top", sub_agents=[middle])
    assert [floor(top, name).name for name in ("top", "low", "nobody", None)] == ["top"] * 4
