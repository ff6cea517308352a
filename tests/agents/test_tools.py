"""A Python function as a tool: built, asked about, run."""

import asyncio
import contextvars
import functools
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from agents.runtime.approval import ApprovalPolicy
from agents.runtime.arguments import Bound
from agents.runtime.context import ToolContext
from agents.runtime.errors import DeclarationError, ToolError, UsageError
from agents.runtime.results import Yielded
from agents.runtime.tools import FunctionTool, LongRunningFunctionTool, Tool, as_tool

CONTEXT = ToolContext(function_call_id="1-0", user_id="ann")


class Order(BaseModel):
    """What is ordered."""

    total: int


def was_paid(key: str) -> bool:
    """Whether it was paid."""
    return bool(key)


def pay(amount: int, purpose: str = "x") -> str:
    """Pay an amount."""
    return f"{amount} for {purpose}"


async def pay_async(amount: int, purpose: str = "x", *, tool_context: ToolContext) -> str:
    """Pay an amount, later."""
    await asyncio.sleep(0)
    return f"{tool_context.user_id}: {amount} for {purpose}"


class Till:
    """A till that counts."""

    def __init__(self) -> None:
        self.sums: list[int] = []

    def take(self, amount: int) -> int:
        """Take money."""
        self.sums.append(amount)
        return sum(self.sums)

    async def __call__(self, amount: int, ctx: ToolContext) -> dict[str, Any]:
        """Call the till."""
        return {"amount": amount, "by": ctx.user_id}


def wrapped(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that knows nothing of async."""

    @functools.wraps(func)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return inner


def positional(amount: int, to: str = "a", /, *, tool_context: ToolContext) -> list[Any]:
    """Pay by position."""
    return [amount, to, tool_context.user_id]


def counting(amount: int) -> Iterator[int]:
    """Count up to an amount."""
    yield from range(amount)


def returning(amount: int) -> Generator[int, None, str]:
    """Count, then say so."""
    yield from range(amount)
    return "done"


async def counting_async(amount: int) -> AsyncIterator[int]:
    """Count up to an amount, later."""
    for number in range(amount):
        yield number


def bound(tool: Tool, args: dict[str, Any]) -> Bound:
    """The call, which must fit."""
    call = tool.bind(args)
    assert isinstance(call, Bound)
    return call


@pytest.mark.parametrize(
    ("func", "result"),
    [
        pytest.param(pay, "3 for x", id="plain"),
        pytest.param(pay_async, "ann: 3 for x", id="async"),
        pytest.param(wrapped(pay), "3 for x", id="decorated"),
        pytest.param(wrapped(pay_async), "ann: 3 for x", id="async behind a plain decorator"),
        pytest.param(functools.partial(pay, purpose="y"), "3 for y", id="partial"),
        pytest.param(functools.partial(pay_async, purpose="y"), "ann: 3 for y", id="async partial"),
        pytest.param(Till().take, 3, id="method"),
        pytest.param(Till(), {"amount": 3, "by": "ann"}, id="callable object"),
        pytest.param(positional, [3, "a", "ann"], id="by position"),
        pytest.param(counting, Yielded(intermediate=[0, 1], result=2), id="generator"),
        pytest.param(returning, Yielded(intermediate=[0, 1, 2], result="done"), id="with a return"),
        pytest.param(counting_async, Yielded(intermediate=[0, 1], result=2), id="async generator"),
    ],
)
async def test_run(func: Callable[..., Any], result: Any):
    """A callable of any kind runs with its arguments and its context."""
    tool = as_tool(func)
    assert await tool.run_async(args=bound(tool, {"amount": "3"}), tool_context=CONTEXT) == result


async def test_an_empty_generator():
    """A generator that yields nothing has no result."""
    tool = as_tool(counting)
    assert await tool.run_async(args=bound(tool, {"amount": 0}), tool_context=CONTEXT) == Yielded()


place: contextvars.ContextVar[str] = contextvars.ContextVar("place")


def where() -> tuple[bool, str]:
    """Say where one is."""
    return threading.current_thread() is threading.main_thread(), place.get()


async def where_async() -> tuple[bool, str]:
    """Say where one is, later."""
    return where()


@pytest.mark.parametrize(
    ("func", "in_main"),
    [pytest.param(where, False, id="plain"), pytest.param(where_async, True, id="async")],
)
async def test_a_plain_function_runs_in_a_thread(func: Callable[..., Any], in_main: bool):
    """A plain function blocks nobody, and sees the context variables of its caller."""
    place.set("here")
    tool = as_tool(func)
    found = await tool.run_async(args=bound(tool, {}), tool_context=CONTEXT)
    assert found == (in_main, "here")


async def test_slow_plain_functions_do_not_hold_up_the_others():
    """Twenty bodies that wait keep neither another tool nor the look-up of a host waiting."""
    gate, begun = threading.Event(), threading.Semaphore(0)

    def wait() -> str:
        begun.release()
        gate.wait()
        return "waited"

    slow, quick = FunctionTool(wait), FunctionTool(threading.active_count)
    waiting = [
        asyncio.create_task(slow.run_async(args=bound(slow, {}), tool_context=CONTEXT))
        for _ in range(20)
    ]
    try:
        for _ in waiting:
            assert await asyncio.to_thread(begun.acquire, timeout=5)
        assert await quick.run_async(args=bound(quick, {}), tool_context=CONTEXT)
        assert await asyncio.get_running_loop().getaddrinfo("localhost", 80)
        assert not any(task.done() for task in waiting)
    finally:
        gate.set()
    assert await asyncio.gather(*waiting) == ["waited"] * 20


def failing(kind: str) -> None:
    """Fail in a way."""
    if kind == "stop":
        next(iter(()))
    raise ToolError(kind)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        pytest.param("no", ToolError, id="any"),
        pytest.param("stop", RuntimeError, id="StopIteration"),
    ],
)
async def test_what_a_body_raises(kind: str, error: type[Exception]):
    """What a body raises reaches the caller, even what a thread cannot hand over."""
    tool = as_tool(failing)
    with pytest.raises(error):
        await tool.run_async(args=bound(tool, {"kind": kind}), tool_context=CONTEXT)


def above(amount: int) -> bool:
    """The usual threshold."""
    return amount > 1000


async def above_async(amount: int, tool_context: ToolContext) -> bool:
    """A threshold by person."""
    return amount > 1000 and tool_context.user_id == "ann"


def by_annotation(who: ToolContext, amount: int, unheard_of: int = 1) -> bool:
    """A threshold that calls the context otherwise."""
    return who.user_id == "ann" and amount > unheard_of * 1000


def loose(amount, who=None) -> bool:
    """A threshold whose annotations lead nowhere."""
    return amount > 1000


loose.__annotations__["who"] = "Missing"


def raising(amount: int) -> bool:
    """A threshold that is broken."""
    raise KeyError(amount)


def reading(purpose: str) -> bool:
    """A threshold on a default."""
    return purpose != "x"


@pytest.mark.parametrize(
    ("gate", "amount", "asks"),
    [
        pytest.param(True, 1, True, id="always"),
        pytest.param(False, 1, False, id="never"),
        pytest.param(above, 1000, False, id="below the threshold"),
        pytest.param(above, 5000, True, id="above the threshold"),
        pytest.param(above_async, 5000, True, id="async, with the context the tool has not"),
        pytest.param(by_annotation, 5000, True, id="context by annotation"),
        pytest.param(by_annotation, 5, False, id="context by annotation, below"),
        pytest.param(loose, 5, False, id="annotated with what is not there"),
        pytest.param(reading, 5, False, id="sees defaults"),
        pytest.param(lambda: False, 5, False, id="needs no argument"),
        pytest.param(lambda amount: None, 1, True, id="forgets to answer"),
        pytest.param(lambda amount: 0, 1, True, id="0 is not False"),
        pytest.param(lambda amount: "no", 1, True, id="a text"),
        pytest.param(raising, 1, True, id="raises"),
    ],
)
async def test_needs_confirmation(gate: Any, amount: int, asks: bool):
    """Only False skips the question."""
    tool = FunctionTool(pay, require_confirmation=gate)
    assert await tool.needs_confirmation(bound(tool, {"amount": amount}), CONTEXT) is asks


def hiding(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that does not say whose place it takes."""

    def inner(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return inner


def everything(**told: Any) -> bool:
    """A threshold that takes whatever there is."""
    return told["amount"] > 1000 and told["purpose"] == "x"


async def everything_async(**told: Any) -> bool:
    """The same, later."""
    return everything(**told)


def the_rest(amount: int, **told: Any) -> bool:
    """A threshold that names some of it."""
    return amount > 1000 and told == {"purpose": "x"}


def with_context(tool_context: ToolContext, **told: Any) -> bool:
    """A threshold by person that takes whatever there is."""
    return tool_context.user_id == "ann" and everything(**told)


def limited(*, limit: int, **told: Any) -> bool:
    """A threshold that is told its limit."""
    return told["amount"] > limit


class Threshold:
    """A threshold that is an object."""

    def __call__(self, **told: Any) -> bool:
        """Look at whatever there is."""
        return everything(**told)

    def look(self, *_args: Any, **told: Any) -> bool:
        """Look at whatever there is, as a method."""
        return everything(**told)


UNSEEN = [
    pytest.param(everything, id="named by nobody"),
    pytest.param(everything_async, id="async"),
    pytest.param(the_rest, id="some of it named"),
    pytest.param(with_context, id="with the context the tool has not"),
    pytest.param(functools.partial(limited, limit=1000), id="partial"),
    pytest.param(functools.partial(everything_async), id="async partial"),
    pytest.param(hiding(everything), id="behind a decorator that hides it"),
    pytest.param(hiding(lambda amount, purpose: amount > 1000), id="behind one, named"),
    pytest.param(wrapped(everything), id="behind one that does not"),
    pytest.param(Threshold(), id="object"),
    pytest.param(Threshold().look, id="method"),
]


@pytest.mark.parametrize("func", UNSEEN)
async def test_what_names_no_argument_sees_them_all(func: Callable[..., Any]):
    """A predicate or a precondition with `**kwargs` is given every argument of the call."""
    tool = FunctionTool(pay, require_confirmation=func, precondition=func)
    for amount, expected in ((1, False), (5000, True)):
        call = bound(tool, {"amount": amount})
        assert await tool.needs_confirmation(call, CONTEXT) is expected
        assert list((await tool.precondition(call, CONTEXT)).values()) == [expected]


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        pytest.param(pay, {"amount", "purpose"}, id="none"),
        pytest.param(pay_async, {"amount", "purpose", "tool_context"}, id="by its usual name"),
        pytest.param(Till(), {"amount", "ctx"}, id="by another name"),
    ],
)
async def test_kwargs_get_the_context_that_the_tool_has(body: Callable[..., Any], seen: set[str]):
    """As in Google ADK a predicate with `**kwargs` has the context under the tool's name for it."""
    found: list[set[str]] = []
    tool = FunctionTool(body, require_confirmation=lambda **told: found.append(set(told)))
    assert await tool.needs_confirmation(bound(tool, {"amount": 1}), CONTEXT)
    assert found == [seen]


async def test_the_context_by_the_name_that_the_tool_has_for_it():
    """A predicate needs no annotation to get the context as the tool calls it."""
    tool = FunctionTool(Till(), require_confirmation=lambda ctx: ctx.user_id != "ann")
    assert await tool.needs_confirmation(bound(tool, {"amount": 1}), CONTEXT) is False


@pytest.mark.parametrize("role", ["require_confirmation", "precondition"])
@pytest.mark.parametrize(
    ("func", "words"),
    [
        pytest.param(lambda sum_, why: True, "takes sum_, why, which it has not", id="unknown"),
        pytest.param(
            lambda sum_=0: sum_ > 1000,
            "takes sum_, which it has not, and sees none of its arguments",
            id="unknown with a default",
        ),
        pytest.param(
            lambda tool_context, sum_=0: sum_ > 1000, "sees none", id="the same with the context"
        ),
        pytest.param(lambda *args: args[0] > 1000, "by name: name those", id="only *args"),
        pytest.param(lambda amount, /: amount > 1000, "take amount by name", id="by place only"),
        pytest.param(Threshold, "give a function", id="class"),
        pytest.param(Threshold.look, "takes self, which it has not", id="method of no object"),
        pytest.param(print, "sees none", id="built in"),
        pytest.param(dict.get, "takes self", id="built in, of no object"),
        pytest.param(next, "signature cannot be read", id="without a signature"),
    ],
)
def test_what_would_see_no_argument_is_refused(role: str, func: Any, words: str):
    """Nothing decides about calls that it cannot see: it is refused when the tool is built."""
    with pytest.raises(UsageError, match=f"^pay: its pre(dicate|condition).*{words}"):
        FunctionTool(pay, **{role: func})


async def test_a_failing_predicate_is_logged(caplog: pytest.LogCaptureFixture):
    """A predicate that raises asks, and the log names the tool and the error, not its words."""
    tool = FunctionTool(pay, require_confirmation=raising)
    assert await tool.needs_confirmation(bound(tool, {"amount": 4711}), CONTEXT)
    assert [record.message for record in caplog.records] == ["tool.predicate_failed"]
    assert vars(caplog.records[0]) | {"tool": "pay", "error": "KeyError"} == vars(caplog.records[0])
    assert "4711" not in caplog.text


async def test_a_predicate_cannot_change_the_call():
    """What a predicate does to the arguments stays with the predicate."""

    def order(it: Order) -> None: ...

    def generous(it: Order) -> bool:
        it.total = 0
        return False

    tool = FunctionTool(order, require_confirmation=generous)
    call = bound(tool, {"it": {"total": 5}})
    assert await tool.needs_confirmation(call, CONTEXT) is False
    assert call.values["it"].total == 5


@pytest.mark.parametrize(
    ("func", "options", "words"),
    [
        pytest.param(pay, {"effects": "twice"}, "once", id="effects"),
        pytest.param(pay, {"require_confirmation": "yes"}, "function", id="gate"),
        pytest.param(pay, {"approval": {"approvers": ["cfo"]}}, "an ApprovalPolicy", id="policy"),
        pytest.param(pay, {"reconcile": 1}, "reconcile", id="reconcile"),
        pytest.param(pay, {"reconcile": lambda: None}, "takes a key", id="reconcile of nothing"),
        pytest.param(
            pay, {"reconcile": lambda key, more: None}, "takes a key", id="reconcile of more"
        ),
        pytest.param(pay, {"reconcile": was_paid}, "no bool", id="reconcile says yes or no"),
        pytest.param(pay, {"name": "adk_request_confirmation"}, "adk_", id="reserved"),
        pytest.param(5, {}, "int", id="no function"),
        pytest.param(lambda x: x, {}, "name=", id="no name"),
    ],
)
def test_what_is_refused_when_built(func: Any, options: dict[str, Any], words: str):
    """A tool that was put together wrongly says so at once."""
    with pytest.raises(UsageError, match=words):
        FunctionTool(func, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("approvers", "U0AAA"),
        ("approvers", (1,)),
        ("quorum", "2"),
        ("quorum", 1.0),
        ("quorum", True),
        ("quorum", 0),
        ("any_of", ["cfo"]),
        ("any_of", {"cfo": "1"}),
        ("rejections", -1),
        ("self_approval", "maybe"),
        ("reason_required", None),
        ("notify", "U0AAA"),
        ("expires", 7),
        ("expires", "7d"),
        ("expires", timedelta(0)),
        ("expires", timedelta(-1)),
        ("expires", timedelta.max),
        ("run_within", timedelta(0)),
        ("run_within", "default"),
        ("working_hours", 1),
        ("reminders", 0.5),
        ("reminders", (2,)),
        ("reminders", (float("nan"),)),
        ("escalate", {0.5: "U0AAA"}),
        ("escalate", {2: ("U0AAA",)}),
        ("tiers", {"amount > 3": {"approvers": ["U0AAA"]}}),
        ("tiers", [ApprovalPolicy()]),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(name: str, value: Any):
    """A policy says with one sentence what is wrong with it, when it is written."""
    with pytest.raises(UsageError, match=f"the {name} of an ApprovalPolicy must be"):
        ApprovalPolicy(**{name: value})


def test_a_policy_names_people_in_one_way():
    """Names beside names with their numbers would be dropped, so they are refused."""
    with pytest.raises(UsageError, match="never both"):
        ApprovalPolicy(approvers=("U0AAA",), any_of={"U0BBB": 1})
    assert ApprovalPolicy(approvers=["U0AAA"]).approvers == ("U0AAA",)
    assert ApprovalPolicy(escalate={0.5: ["U0AAA"]}).escalate == {0.5: ("U0AAA",)}


def test_what_the_runner_knows():
    """A tool carries all the runner needs, and its contract covers its effects."""
    policy = ApprovalPolicy(quorum=2)
    tool = FunctionTool(pay, approval=policy, effects="idempotent", reconcile=print, name="refund")
    assert (tool.name, tool.declaration.name, tool.description) == (
        "refund",
        "refund",
        "Pay an amount.",
    )
    assert (tool.approval, tool.effects, tool.reconcile) == (policy, "idempotent", print)
    assert tool.contract != FunctionTool(pay, name="refund").contract
    assert as_tool(tool) is tool
    assert not isinstance(pay, Tool)


def test_long_running():
    """A long-running tool tells the model to wait; with no docstring that is all it says."""

    def silent(a: str): ...

    tool = LongRunningFunctionTool(pay, wake_on_progress=True, effects="none")
    assert tool.description.startswith("Pay an amount.\n\n")
    assert (tool.is_long_running, tool.wake_on_progress, tool.effects) == (True, True, "none")
    assert not FunctionTool(pay).is_long_running
    assert tool.description.endswith(LongRunningFunctionTool(silent).description)
    assert tool.contract == FunctionTool(pay, effects="none").contract


def test_declaration_errors_are_usage_errors():
    """What cannot be declared is refused as anything put together wrongly."""

    def odd(a: Till): ...

    with pytest.raises(DeclarationError, match="'a'"):
        FunctionTool(odd)
