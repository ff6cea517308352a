"""Any Python value as JSON, the same way everywhere."""

import dataclasses
import datetime
import decimal
import json
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Mapping
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from agents.runtime.jsonable import to_json


class Colour(str, Enum):  # noqa: UP042 - the older way to write it
    """A colour that is text, too."""

    RED = "red"


class Level(IntEnum):
    """A level that is a number, too."""

    LOW = 1


class Item(BaseModel):
    """A model with another name for its field, and a secret."""

    sku: str = Field(alias="SKU")
    when: datetime.date | None = None
    key: SecretStr = SecretStr("hidden")


@dataclasses.dataclass
class Point:
    """A place with something in it."""

    x: int
    item: Any = None


class Handle:
    """Something without JSON form."""


class Named:
    """Something that says what it is."""

    def __repr__(self) -> str:
        return "Named(7)"


class Rude:
    """Something that cannot even be named."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def numbers() -> Iterator[int]:
    """A generator, which nobody may use up."""
    yield 1


Pair = namedtuple("Pair", "a b")
DAY = datetime.date(2026, 1, 2)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        pytest.param(None, None, id="None"),
        pytest.param(True, True, id="bool"),
        pytest.param(10**40, 10**40, id="huge int"),
        pytest.param(1.0, 1.0, id="float"),
        pytest.param("é", "é", id="text"),
        pytest.param(DAY, "2026-01-02", id="date"),
        pytest.param(datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00", id="datetime"),  # noqa: DTZ001
        pytest.param(datetime.timedelta(hours=1), "PT1H", id="duration"),
        pytest.param(decimal.Decimal("12.50"), "12.50", id="decimal keeps its digits"),
        pytest.param(uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001", id="uuid"),
        pytest.param(Path("/a/b"), "/a/b", id="path"),
        pytest.param(Colour.RED, "red", id="text enum"),
        pytest.param(Level.LOW, 1, id="int enum"),
        pytest.param((1, 2), [1, 2], id="tuple"),
        pytest.param(Pair(1, 2), [1, 2], id="named tuple"),
        pytest.param({"b", "a", "c"}, ["a", "b", "c"], id="set in order"),
        pytest.param(range(3), [0, 1, 2], id="range"),
        pytest.param(
            {1: "a", None: 2, DAY: 3, 1.5: 4},
            {"1": "a", "null": 2, "2026-01-02": 3, "1.5": 4},
            id="keys",
        ),
        pytest.param(OrderedDict(a=1), {"a": 1}, id="mapping"),
        pytest.param(Point(1, Point(2)), {"x": 1, "item": {"x": 2, "item": None}}, id="dataclass"),
        pytest.param(
            {"i": Item(SKU="s", when=DAY)},
            {"i": {"SKU": "s", "when": "2026-01-02", "key": "**********"}},
            id="model, its secret hidden",
        ),
    ],
)
def test_json_form(value: Any, plain: Any):
    """What has a JSON form gets it, with or without strictness."""
    assert to_json(value) == plain == to_json(value, strict=True)
    assert type(to_json(value)) is type(plain)


ROUND: list[Any] = []
ROUND.append(ROUND)
DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Handle(), "<Handle>", id="no address of it"),
        pytest.param(Named(), "Named(7)", id="what it says of itself"),
        pytest.param(Rude(), "<Rude>", id="what cannot speak"),
        pytest.param(numbers(), "<generator", id="a generator"),
        pytest.param(Handle, "<class ", id="a class"),
        pytest.param(float("nan"), "NaN", id="NaN"),
        pytest.param(float("-inf"), "-Infinity", id="infinity"),
        pytest.param(10**5000, "<int>", id="an int Python does not write"),
        pytest.param("\ud800", "?", id="half a character"),
        pytest.param(Item.model_construct(key=Handle()), "<Handle>", id="a model gone wrong"),
    ],
)
def test_visible_fallback(value: Any, text: str):
    """What has no JSON form is still seen, and refused where strictness is asked for."""
    assert text in json.dumps(to_json({"v": value}))
    with pytest.raises(ValueError, match=r"."):
        to_json({"v": value}, strict=True)


@pytest.mark.parametrize(
    "value", [pytest.param(ROUND, id="in itself"), pytest.param(DEEP, id="too deep")]
)
def test_circles_end(value: Any):
    """A value inside itself, or nested without end, comes to an end."""
    assert "<list>" in json.dumps(to_json(value))
    with pytest.raises(ValueError, match="too deeply"):
        to_json(value, strict=True)


def test_bytes():
    """Bytes are a data URL; strictly they are their text, which is how a model would send them."""
    assert to_json(b"ab") == "data:application/octet-stream;base64,YWI="
    assert to_json(b"ab", strict=True) == "ab"
    with pytest.raises(ValueError, match="decode"):
        to_json(b"\xff", strict=True)


def test_the_same_object_twice_is_no_circle():
    """Only a value inside itself is a circle."""
    item = [1]
    assert to_json([item, item], strict=True) == [[1], [1]]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@settings(max_examples=100)
@given(JSON)
def test_json_stays_as_it_is(value: Any):
    """JSON is its own JSON form, and a copy."""
    assert to_json(value, strict=True) == value


class Rows(Mapping[str, int]):
    """Rows whose cursor is closed by now."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __getitem__(self, key: str) -> int:
        raise OSError("the cursor is closed")


class Lines(list[int]):
    """A list that cannot be gone through."""

    def __iter__(self) -> Iterator[int]:
        raise OSError("closed")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        pytest.param(Rows(), "<Rows>", id="a mapping"),
        pytest.param({"fine": 1, "rows": Rows()}, {"fine": 1, "rows": "<Rows>"}, id="inside"),
        pytest.param(Lines(), "<Lines>", id="a list"),
        pytest.param(Point(1, Rows()), {"x": 1, "item": "<Rows>"}, id="a dataclass's field"),
    ],
)
def test_what_cannot_be_read_is_named(value, plain):
    """Nothing is raised, unless it has to be JSON."""
    assert to_json(value) == plain
    with pytest.raises(ValueError, match="cannot be read"):
        to_json(value, strict=True)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        pytest.param({1: "a", "1": "b"}, {"1": "a", "1 (str)": "b"}, id="a number and its text"),
        pytest.param({"1": "a", 1: "b"}, {"1": "a", "1 (int)": "b"}, id="the other way round"),
        pytest.param({None: 1, "null": 2}, {"null": 1, "null (str)": 2}, id="None"),
        pytest.param({True: 1, "true": 2}, {"true": 1, "true (str)": 2}, id="True"),
    ],
)
def test_two_keys_of_one_text_are_two_keys(value, plain):
    """Neither takes the other's place; where it has to be JSON it is refused."""
    assert to_json(value) == plain
    with pytest.raises(ValueError, match="two keys"):
        to_json(value, strict=True)
