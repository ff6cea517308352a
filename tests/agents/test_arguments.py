"""What the model sent, and what the function gets."""

import dataclasses
import datetime
import decimal
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, AliasPath, BaseModel, Field

from agents.runtime.arguments import Bound, Unfit, bind
from agents.runtime.context import ToolContext
from agents.runtime.declarations import signature_of


class Colour(Enum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    """Two levels."""

    LOW = 1
    HIGH = 2


class Item(BaseModel):
    """Something ordered."""

    sku: str
    qty: int = 1


class Cat(BaseModel):
    """It meows."""

    meow: str


class Dog(BaseModel):
    """It barks."""

    bark: str


@dataclasses.dataclass
class Point:
    """A place."""

    x: int
    y: str = "q"


def one(annotation: Any) -> Callable[..., Any]:
    """A function with one mandatory parameter `a` of this type."""

    def tool(a): ...

    tool.__annotations__["a"] = annotation
    return tool


def bound(func: Callable[..., Any], args: dict[str, Any]) -> Bound:
    """The call, which must fit."""
    found = bind(signature_of(func), args)
    assert isinstance(found, Bound), found
    return found


def refusal(func: Callable[..., Any], args: dict[str, Any]) -> str:
    """What the model reads about a call that must not fit."""
    found = bind(signature_of(func), args)
    assert isinstance(found, Unfit), found
    assert list(found.response) == ["error"]
    return str(found.response["error"])


WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("annotation", "sent", "value", "shown"),
    [
        pytest.param(int, "12", 12, 12, id="text for int"),
        pytest.param(int, 3.0, 3, 3, id="3.0 for int"),
        pytest.param(int, 10**30, 10**30, 10**30, id="huge int"),
        pytest.param(float, 3, 3.0, 3.0, id="int for float"),
        pytest.param(bool, "false", False, False, id="text for bool"),
        pytest.param(int | bool, True, True, True, id="bool where bool may be"),
        pytest.param(str, "e\u0301", "e\u0301", "e\u0301", id="text exactly as it is"),
        pytest.param(Colour, "blue", Colour.BLUE, "blue", id="enum"),
        pytest.param(Level, 2, Level.HIGH, 2, id="int enum"),
        pytest.param(Literal["x", "y"], "x", "x", "x", id="literal"),
        pytest.param(datetime.date, "2026-01-02", WHEN.date(), "2026-01-02", id="date"),
        pytest.param(
            datetime.datetime, "2026-01-02T03:04:05Z", WHEN, "2026-01-02T03:04:05Z", id="datetime"
        ),
        pytest.param(decimal.Decimal, "1.50", decimal.Decimal("1.50"), "1.50", id="decimal"),
        pytest.param(
            Item, {"sku": "s", "qty": "4"}, Item(sku="s", qty=4), {"sku": "s", "qty": 4}, id="model"
        ),
        pytest.param(Item | None, None, None, None, id="no model"),
        pytest.param(
            list[Item], [{"sku": "m"}], [Item(sku="m")], [{"sku": "m", "qty": 1}], id="models"
        ),
        pytest.param(
            dict[str, Item],
            {"k": {"sku": "m"}},
            {"k": Item(sku="m")},
            {"k": {"sku": "m", "qty": 1}},
            id="models by name",
        ),
        pytest.param(
            Cat | Dog, {"bark": "w"}, Dog(bark="w"), {"bark": "w"}, id="one of two models"
        ),
        pytest.param(
            Item | str, {"sku": "s"}, Item(sku="s"), {"sku": "s", "qty": 1}, id="model or text"
        ),
        pytest.param(Point, {"x": 1}, Point(1), {"x": 1, "y": "q"}, id="dataclass"),
        pytest.param(set[str], ["y", "x", "y"], {"x", "y"}, ["x", "y"], id="set, in a fixed order"),
        pytest.param(tuple[int, str], [1, "a"], (1, "a"), [1, "a"], id="tuple"),
        pytest.param(bytes, "ab", b"ab", "ab", id="bytes"),
        pytest.param(Any, {"a": [1, None]}, {"a": [1, None]}, {"a": [1, None]}, id="anything"),
    ],
)
def test_coercion(annotation: Any, sent: Any, value: Any, shown: Any):
    """The function gets what it declared; people see the same as JSON."""
    call = bound(one(annotation), {"a": sent})
    assert call.values == {"a": value}
    assert type(call.values["a"]) is type(value)
    assert call.as_json == {"a": shown}
    assert type(call.as_json["a"]) is type(shown)


@pytest.mark.parametrize(
    ("annotation", "sent", "words"),
    [
        pytest.param(int, 3.5, "a: Input should be a valid integer", id="a fraction for int"),
        pytest.param(int, True, "a: Input should be a number, not true", id="a bool for int"),
        pytest.param(float, False, "a: Input should be a number, not true", id="a bool for float"),
        pytest.param(Item, {"sku": "s", "qty": True}, "a.qty: Input should be a number", id="deep"),
        pytest.param(list[int], [1, True], "a.1: Input should be a number", id="in a list"),
        pytest.param(float, float("nan"), "a: not a finite number", id="NaN"),
        pytest.param(float, "inf", "a: not a finite number", id="infinity as text"),
        pytest.param(Any, [float("inf")], "a: not a finite number", id="infinity inside"),
        pytest.param(Any, "\ud800", "a: ", id="half a character"),
        pytest.param(str, None, "a: Input should be a valid string", id="null for text"),
        pytest.param(str, 5, "a: Input should be a valid string", id="a number for text"),
        pytest.param(Literal["x", "y"], "nope", "a: Input should be 'x' or 'y'", id="literal"),
        pytest.param(Colour, "pink", "a: Input should be 'red' or 'blue'", id="enum"),
        pytest.param(Annotated[int, Field(le=5)], 99, "a: Input should be less than", id="limit"),
        pytest.param(Item, "nonsense", "a: Input should be a valid dict", id="text for a model"),
        pytest.param(Item, {"qty": 1}, "a.sku: Field required", id="a model with a hole"),
        pytest.param(datetime.date, "soon", "a: Input should be a valid date", id="no date"),
    ],
)
def test_refusal(annotation: Any, sent: Any, words: str):
    """What does not fit comes back to the model with its place and the reason."""
    error = refusal(one(annotation), {"a": sent})
    assert "tool() was not called" in error
    assert words in error


def weather(city: str, unit: str, days: int = 1, bio: str | None = None, note: str = None): ...  # noqa: RUF013


def test_missing_arguments():
    """Missing arguments are named one per line in order, then a hint to try again."""
    assert refusal(weather, {"days": 2}).splitlines() == [
        "weather() was not called.",
        "These mandatory arguments are missing:",
        "city",
        "unit",
        "Call it again with every mandatory argument given and valid.",
    ]


def test_missing_and_invalid_arguments():
    """The model hears all that is wrong at once."""
    lines = refusal(weather, {"unit": 1, "days": "many"}).splitlines()
    assert lines[2] == "city"
    assert [line.split(":")[0] for line in lines[4:6]] == ["unit", "days"]


def test_defaults_and_unknown_arguments():
    """Defaults are filled in and named; what the function does not take is dropped."""
    call = bound(weather, {"city": "Rome", "unit": "C", "bio": None, "planet": "Mars"})
    assert call.as_json == {"city": "Rome", "unit": "C", "days": 1, "bio": None, "note": None}
    assert call.kwargs == call.values == call.as_json
    assert call.defaults == {"days", "note"}


def test_null_where_null_is_the_default():
    """A default of None may be given explicitly, whatever the annotation says."""
    assert bound(weather, {"city": "R", "unit": "C", "note": None}).values["note"] is None


def positional(a: str, b: int = 2, /, c: int = 3, *more: int, d: int = 4, **rest: str): ...


def test_positions():
    """Positional-only parameters are filled by position, variadic ones never."""
    call = bound(positional, {"a": "x", "c": 9, "more": [1], "rest": {"q": 1}, "q": 1})
    assert call.args == ("x", 2)
    assert call.kwargs == {"c": 9, "d": 4}


def with_context(a: str, tool_context: ToolContext): ...


def test_the_model_cannot_give_the_context():
    """An argument named like the context parameter is dropped as any unknown one."""
    call = bound(with_context, {"a": "x", "tool_context": {"user_id": "boss"}})
    assert call.kwargs == {"a": "x"}


def mutable(tags: list[str] = [], point: Point = Point(1)): ...  # noqa: B006, B008


def test_a_mutable_default_is_new_each_time():
    """What one call does to a default no other call sees."""
    call = bound(mutable, {})
    call.values["tags"].append("x")
    call.values["point"].x = 9
    assert bound(mutable, {}).as_json == {"tags": [], "point": {"x": 1, "y": "q"}}


def test_what_the_model_sent_is_left_alone():
    """Neither the function nor the form shown to people share anything with the model's call."""
    sent = {"a": {"deep": [1]}}
    call = bound(one(Any), sent)
    call.values["a"]["deep"].append(2)
    assert sent == {"a": {"deep": [1]}}
    assert call.as_json == {"a": {"deep": [1]}}


class Secretive(BaseModel):
    """A model that is written in another way than it is read."""

    name: str = Field(validation_alias=AliasPath("Names", 0))


def doubled(a: Annotated[int, AfterValidator(lambda number: number * 2)]): ...


@pytest.mark.parametrize(
    ("func", "sent"),
    [
        pytest.param(one(Secretive), {"Names": ["x"]}, id="a name lost"),
        pytest.param(doubled, 2, id="a value that changes each time"),
    ],
)
def test_what_does_not_read_back(func: Callable[..., Any], sent: Any):
    """A call that would be another one when it is read back is no call."""
    assert "a: Input cannot be written down as it is" in refusal(func, {"a": sent})


class Word(str, Enum):  # noqa: UP042 - older code has both
    """Two words that are texts as well."""

    RED = "red"
    ONE = "1"


class Name(str):
    """A text of a class of its own."""


class Count(int):
    """A number of a class of its own."""


PLAIN_TYPES = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "int or bool": int | bool,
    "float or int": float | int,
    "bool or str": bool | str,
    "text or null": str | None,
    "anything": Any,
    "enum": Colour,
    "int enum": Level,
    "str enum": Word,
    "literals": Literal[1, "1", "x"],
    "a flag as literal": Literal[True, "x"],
    "decimal": decimal.Decimal,
    "date": datetime.date,
    "span": datetime.timedelta,
    "bytes": bytes,
    "without blanks": Annotated[str, AfterValidator(str.strip)],
    "without sign": Annotated[float, AfterValidator(abs)],
    "one more": Annotated[int, AfterValidator(lambda number: number + 1)],
    "not itself": Annotated[bool, AfterValidator(lambda flag: not flag)],
    "rounded": Annotated[float, AfterValidator(lambda number: round(number, 1))],
    "strict": Annotated[float, Field(strict=True)],
}
KINDS = (str, int, float, bool, type(None))
PLAIN_VALUES = [
    *(True, False, 0, 1, -1, 3, 2**53 + 1, 10**400, 10**5000),
    *(0.0, -0.0, 1.0, 1.5, 2.0**53, 1e300, float("nan"), float("-inf")),
    *("", "1", "1.0", "-0", "-0.0", "01", "1e3", "nan", "true", " x ", "x", "red", "é", "\ud800"),
    *("e\u0301", "2026-01-02", "P1D", "2026-01-02T00:00:00Z"),
    None,
]
ODD_VALUES = [Word.RED, Word.ONE, Name("x"), Name("1"), Count(1), Level.LOW]
"""What only a hook hands in: people see it as JSON."""


@pytest.mark.parametrize("annotation", PLAIN_TYPES.values(), ids=PLAIN_TYPES)
def test_a_plain_value_reads_back(annotation: Any):
    """Whatever is taken is the very same call when it is bound again, signs and kinds included."""
    signature = signature_of(one(annotation))
    wrong: list[object] = []
    for value in (*PLAIN_VALUES, *ODD_VALUES):
        found = bind(signature, {"a": value})
        if isinstance(found, Unfit):
            continue
        again, shown = bind(signature, found.as_json), found.as_json["a"]
        same = isinstance(again, Bound) and repr(again.as_json) == repr(found.as_json)
        if type(value) in KINDS:
            same = same and repr(again.values) == repr(found.values)
        number = isinstance(value, bool) and type(shown) in (int, float)
        if not same or number or type(shown) not in KINDS:
            wrong.append((value, found, again))
    assert wrong == []


def test_a_validator_that_changes_its_mind():
    """What it took at first is shown as it was taken; bound again it is seen to be another call."""
    answers = iter([5, 6, 6])

    def moody(a: Annotated[int, AfterValidator(lambda _: next(answers))]): ...

    first, second = bound(moody, {"a": 5}), bind(signature_of(moody), {"a": 5})
    assert (first.values, first.as_json) == ({"a": 5}, {"a": 5})
    assert not isinstance(second, Bound) or second.as_json != first.as_json


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def everything(
    *,
    a: int = 0,
    b: float = 0.5,
    c: Colour = Colour.RED,
    d: list[Item] = [],  # noqa: B006
    e: str | None = None,
    f: Any = None,
    g: bool | int = 1,
    h: float = 5,
    i: set[str] = frozenset(),
): ...


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from("abcdefghij"), JSON))
def test_a_call_as_shown_is_the_same_call(args: dict[str, Any]):
    """Whatever the model sends is refused, or shown in a form that binds to the very same call."""
    signature = signature_of(everything)
    found = bind(signature, args)
    shown = found.as_json if isinstance(found, Bound) else {}
    again = bind(signature, shown)
    assert isinstance(again, Bound)
    assert isinstance(found, Unfit) or (again.values, again.as_json) == (found.values, shown)
