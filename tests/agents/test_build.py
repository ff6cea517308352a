"""One build of a function is told from another."""

import functools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from agents import ToolContext
from agents.runtime.build import build_of

LIMIT = 5


class Form(BaseModel):
    """What is asked for."""

    days: int


def _form() -> type[BaseModel]:
    return Form


class Office:
    """Tools as methods; each is what it names itself."""

    form: type[BaseModel] = Form

    def __init__(self, limit: int = 5, other: int = 1) -> None:
        self.limit = limit
        self.other = other

    def asks(self, tool_context: ToolContext) -> None:
        """Ask."""
        tool_context.request_confirmation(payload=self.made())

    def made(self) -> dict[str, Any]:
        """The form."""
        return {"days": self.limit}

    def runs(self) -> int:
        """Ask nobody."""
        return self.limit

    def __call__(self) -> dict[str, Any]:
        """As a tool itself."""
        return self.made()


def made(payload: Any = None, *, limit: int = 5, words: str = "x") -> Callable[..., Any]:
    """A body that asks for `payload`."""

    def body(tool_context: ToolContext) -> str:
        """Ask."""
        tool_context.request_confirmation(payload=payload or {"days": limit})
        return words

    return body


def named(tool_context: ToolContext) -> None:
    """Ask for what another function says."""
    tool_context.request_confirmation(payload=_form())


def constant(tool_context: ToolContext) -> None:
    """Ask for what a constant says."""
    tool_context.request_confirmation(payload={"days": LIMIT})


def nested(tool_context: ToolContext) -> list[Any]:
    """Ask for what an inner function says."""

    def ask() -> None:
        tool_context.request_confirmation(payload={"days": LIMIT})

    return [ask()]


def other(*fields: str) -> type[BaseModel]:
    """Another form."""
    return create_model("Form", **dict.fromkeys(fields, (int, ...)))


PAIRS: list[Any] = [
    pytest.param(made(), made(), True, id="the same function twice"),
    pytest.param(made(), made(limit=6), False, id="a value around it"),
    pytest.param(made(), made(words="y"), False, id="a word in it"),
    pytest.param(made(Form), made(Form), True, id="the same model"),
    pytest.param(made(Form), made(other("days")), False, id="another model"),
    pytest.param(made(other("days")), made(other("days")), True, id="equal models"),
    pytest.param(made(Form), made(Form(days=1)), False, id="an instance of it"),
    pytest.param(made({"a": [1]}), made({"a": [2]}), False, id="a value deep in a dict"),
    pytest.param(made({"a", "b"}), made({"b", "a"}), True, id="sets have no order"),
    pytest.param(named, constant, False, id="another function"),
    pytest.param(Office().asks, Office().asks, True, id="methods of equal objects"),
    pytest.param(Office().asks, Office(limit=6).asks, False, id="what a method's method names"),
    pytest.param(Office().asks, Office(other=2).asks, True, id="what no method names"),
    pytest.param(Office(), Office(), True, id="objects that are called"),
    pytest.param(Office(), Office(limit=6), False, id="objects that are called, with other values"),
    pytest.param(
        functools.partial(made, limit=1), functools.partial(made, limit=1), True, id="partials"
    ),
    pytest.param(
        functools.partial(made, limit=1), functools.partial(made, limit=2), False, id="other ones"
    ),
]


@pytest.mark.parametrize(("one", "two", "same"), PAIRS)
def test_marks(one: Callable[..., Any], two: Callable[..., Any], *, same: bool):
    """Builds are alike where code and what it names are."""
    assert (build_of(one).mark == build_of(two).mark) is same


@pytest.mark.parametrize(
    ("body", "name", "value"),
    [
        pytest.param(constant, "LIMIT", 6, id="a constant of its module"),
        pytest.param(nested, "LIMIT", 6, id="one that an inner function names"),
        pytest.param(named, "_form", made, id="a function of its module"),
        pytest.param(named, "Form", other("weeks"), id="a model that this names"),
    ],
)
def test_what_a_module_has(
    monkeypatch: pytest.MonkeyPatch, body: Callable[..., Any], name: str, *, value: Any
):
    """What the code names elsewhere in its package is a part of it."""
    before = build_of(body)
    monkeypatch.setattr(sys.modules[__name__], name, value)
    assert build_of(body).mark != before.mark


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        pytest.param(made(), True, id="it asks"),
        pytest.param(nested, True, id="an inner function asks"),
        pytest.param(Office().asks, True, id="a method asks"),
        pytest.param(Office().runs, False, id="another method asks"),
        pytest.param(other, False, id="it asks nobody"),
        pytest.param(print, False, id="a function without code"),
        pytest.param(functools.partial(constant), True, id="a partial"),
    ],
)
def test_asks(body: Callable[..., Any], *, asks: bool):
    """Whether it may ask people is told by its code."""
    assert build_of(body).asks is asks


class Strange:
    """Whatever is asked of it, it raises."""

    def __getattribute__(self, name: str) -> Any:
        """Raise."""
        raise RuntimeError(name)


DEEP: list[Any] = []
for _ in range(2000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Strange(), id="an object that raises"),
        pytest.param(DEEP, id="a list in a list in a list"),
        pytest.param(list(range(10**6)), id="a long table"),
        pytest.param({object()}, id="a set of anything"),
    ],
)
def test_whatever_is_around_it(value: Any):
    """Nothing that a body names keeps its tool from being made, or makes two builds of one."""
    one, two = (made(value) for _ in range(2))
    assert build_of(one) == build_of(two)
    assert build_of(one).asks


@pytest.mark.parametrize("seed", ["1", "2"])
def test_other_processes(seed: str):
    """The mark is the same in every process of a build."""
    program = (
        "from agents.runtime.build import build_of; from tests.agents.test_build import *;"
        "print(build_of(nested).mark, build_of(made({'a', 'b', 'c'})).mark)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [
        build_of(nested).mark,
        build_of(made({"a", "b", "c"})).mark,
    ]
