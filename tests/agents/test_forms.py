"""Models as forms: every limit is in the schema that is stored, or the model is refused."""

import datetime as dt
import json
import re
import string
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import (
    UUID4,
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    HttpUrl,
    NaiveDatetime,
    PastDate,
    RootModel,
    SecretStr,
    StringConstraints,
    Tag,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

from agents.runtime.approval import Secret
from agents.runtime.errors import PayloadError, UsageError
from agents.runtime.payload import check, schema_of

DECEMBER = Field(ge=dt.date(2026, 12, 1), le=dt.date(2026, 12, 31))
NEW_YEAR = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


class Colour(Enum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


class Grade(IntEnum):
    """Two grades."""

    GOOD = 1
    BAD = 2


class Place(BaseModel):
    """Somewhere."""

    street: str = Field(min_length=1)
    zip: int = Field(ge=1)


class Cat(BaseModel):
    """One kind of pet."""

    kind: Literal["cat"]
    lives: int = Field(le=9)


class Dog(BaseModel):
    """Another kind of pet."""

    kind: Literal["dog"]


class Tags(TypedDict):
    """A dict with names."""

    tag: str
    weight: Annotated[int, Field(ge=0)]


@dataclass
class Point:
    """A place on paper."""

    x: Annotated[int, Field(ge=0)]
    y: int = 0


KINDS: dict[str, Any] = {
    "money": Annotated[Decimal, Field(gt=0, le=100, decimal_places=2)],
    "digits": Annotated[Decimal, Field(max_digits=4)],
    "cents": Annotated[Decimal, Field(multiple_of=Decimal("0.05"))],
    "decimal": Decimal,
    "float steps": Annotated[float, Field(multiple_of=0.01)],
    "float": Annotated[float, Field(gt=0, lt=1)],
    "whole": Annotated[int, Field(multiple_of=5, ge=-10, le=10)],
    "date": Annotated[dt.date, DECEMBER],
    "later date": Annotated[dt.date, Field(gt=dt.date(2026, 12, 1))],
    "moment": Annotated[dt.datetime, Field(ge=NEW_YEAR)],
    "aware": AwareDatetime,
    "time": Annotated[dt.time, Field(ge=dt.time(9), lt=dt.time(17))],
    "span": Annotated[dt.timedelta, Field(gt=dt.timedelta(0), le=dt.timedelta(days=1))],
    "link": HttpUrl,
    "uuid": UUID,
    "uuid 4": UUID4,
    "trimmed": Annotated[str, StringConstraints(strip_whitespace=True, min_length=3)],
    "small": Annotated[str, StringConstraints(to_lower=True, max_length=3)],
    "letters": Annotated[str, Field(pattern=r"^\p{L}+$")],
    "line": Annotated[str, Field(pattern=r"^\w+$", max_length=5)],
    "colour": Colour,
    "grade": Grade,
    "literal": Literal["a", 1],
    "texts": Annotated[list[str], Field(min_length=1, max_length=2)],
    "numbers": list[int],
    "places": list[Place],
    "place": Place,
    "map": dict[str, int],
    "small map": Annotated[dict[str, int], Field(max_length=1)],
    "set": set[int],
    "pair": tuple[int, str],
    "maybe": Annotated[int, Field(ge=1)] | None,
    "maybe a list": list[str] | None,
    "either": int | str,
    "pet": Annotated[Cat | Dog, Field(discriminator="kind")],
    "typed": Tags,
    "point": Point,
    "anything": Any,
    "flag": bool,
}
TYPED = [
    *("", " ", "-3", "0", "1", "3", "5", "7", "19.99", "99.99", "99999.999", "0.1", "0.10", "0.15"),
    *("1e2", "1E400", "NaN", "Infinity", "12345", "1234.5", "yes", "red", "RED", "a", "abc", "ABC"),
    *(" ab ", " abc ", "abc\n", "\u00e9t\u00e9", "abcdef", "not a url", "ftp://x.org/a"),
    *("https://example.com/a", "http://", "1999-01-01", "2026-12-01", "2026-12-24"),
    *("2027-01-01", "2026-12-24T09:30", "2026-12-24T09:30:00+01:00", "1999-12-24T09:30:00Z"),
    *("08:59", "09:00", "17:00", "16:59:59", "PT1H", "P2D", "-PT1H", "P1D", "01:30:00"),
    *("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "9f1b3c52-8d4e-4a5b-9c6d-7e8f9a0b1c2d"),
    *("a\nb", "a\nb\nc", "[]", '["a"]', "[1, 2]", "[1, 1]", '[1, "x"]', "{}", '{"a": 1}'),
    *('{"a": "x"}', '{"a": 1, "b": 2}', '{"street": "x", "zip": 1}', '{"street": "", "zip": 1}'),
    *('{"street": "x", "zip": 0}', '[{"street": "x", "zip": 1}]', '{"kind": "cat", "lives": 10}'),
    *('{"kind": "cat", "lives": 9}', '{"kind": "dog"}', '{"kind": "cow"}', '{"x": 1}'),
    *('{"x": -1, "y": 2}', '{"tag": "t", "weight": 1}', '{"tag": "t", "weight": -1}', "[" * 9999),
    *("null", "true", '{"a"', "[NaN]"),
]


FORMS = {name: create_model("Form", it=(kind, ...)) for name, kind in KINDS.items()}


def taken_by(schema: dict[str, Any], typed: str) -> dict[str, Any] | None:
    """What is taken of a text for the only field, None if it is refused with sentences."""
    try:
        return check(schema, {"it": typed})
    except PayloadError as error:
        return None if all(error.problems.values()) else {}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_form_takes_its_model_takes(kind: str):
    """Whatever somebody types for whichever kind of field: what passes the form fits the class."""
    model = FORMS[kind]
    schema, _ = schema_of(model)
    found = [taken for typed in TYPED if (taken := taken_by(schema, typed)) is not None]
    assert found
    for taken in found:
        assert model.model_validate_json(json.dumps(taken))
        assert check(schema, taken) == taken


@pytest.mark.parametrize(
    ("kind", "typed", "taken"),
    [
        pytest.param("money", "19.9", "19.9", id="money"),
        pytest.param("money", 5, "5", id="money as a number"),
        pytest.param("money", " 100 ", "100", id="money with blanks"),
        pytest.param("cents", "0.15", "0.15", id="a multiple"),
        pytest.param("float steps", "19.99", 19.99, id="a multiple in decimals"),
        pytest.param("date", "2026-12-24", "2026-12-24", id="a date"),
        pytest.param("moment", 1_798_000_000, "2026-12-23T04:26:40+00:00", id="a moment picked"),
        pytest.param("time", "09:30", "09:30:00", id="a time"),
        pytest.param("span", "PT90M", "PT1H30M", id="a span"),
        pytest.param("link", "https://example.com", "https://example.com/", id="a link"),
        pytest.param("trimmed", " abc ", "abc", id="a trimmed text"),
        pytest.param("small", "ABC", "abc", id="a text made small"),
        pytest.param("letters", "\u00e9t\u00e9", "\u00e9t\u00e9", id="letters of any script"),
        pytest.param("texts", "a\nb", ["a", "b"], id="texts, one a line"),
        pytest.param("texts", "a, b", ["a, b"], id="a comma is part of a text"),
        pytest.param("texts", '["a"]', ["a"], id="texts as JSON"),
        pytest.param("numbers", "[1, 2]", [1, 2], id="numbers as JSON"),
        pytest.param("numbers", "", [], id="no numbers"),
        pytest.param("place", '{"street": "x", "zip": "1"}', {"street": "x", "zip": 1}, id="parts"),
        pytest.param("map", '{"a": 1}', {"a": 1}, id="a map"),
        pytest.param("maybe a list", "", None, id="a list left empty"),
        pytest.param("either", "5", "5", id="a text stays a text"),
        pytest.param("anything", '{"a": [1]}', {"a": [1]}, id="anything as JSON"),
        pytest.param("anything", "words", "words", id="anything as text"),
        pytest.param("pet", '{"kind": "dog"}', {"kind": "dog"}, id="one of two kinds"),
    ],
)
def test_what_is_typed(kind: str, typed: Any, taken: Any):
    """People type values that have parts as JSON, lists of texts line by line."""
    schema, _ = schema_of(FORMS[kind])
    assert check(schema, {"it": typed}) == {"it": taken}


@pytest.mark.parametrize(
    ("kind", "typed", "sentence"),
    [
        pytest.param("money", "-3", "must be a number of at most 100, more than 0, with", id="low"),
        pytest.param("money", "99.999", "digits after the decimal point", id="too many places"),
        pytest.param("digits", "12345", "with at most 4 digits", id="too many digits"),
        pytest.param("date", "1999-01-01", "between 2026-12-01 and 2026-12-31", id="a date"),
        pytest.param("aware", "2026-12-24T09:30", "with its time zone", id="no zone"),
        pytest.param("link", "not a url", "a link like https://example.com", id="no link"),
        pytest.param("uuid 4", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "a UUID", id="another UUID"),
        pytest.param("place", "Rome", "must be an object, typed as JSON", id="no JSON"),
        pytest.param("places", "Rome", "must be a list, typed as JSON", id="no list"),
        pytest.param("map", '{"a"', "must be an object, typed as JSON", id="half an object"),
        pytest.param("small map", '{"a": 1, "b": 2}', "at most 1 key", id="too many keys"),
    ],
)
def test_the_sentence_beside_a_field(kind: str, typed: str, sentence: str):
    """What does not fit is said beside the field, with what is wanted."""
    schema, _ = schema_of(FORMS[kind])
    with pytest.raises(PayloadError) as caught:
        check(schema, {"it": typed})
    assert sentence in caught.value.problems["it"]


def test_the_sentence_about_a_part():
    """What is wrong inside a value that was typed as JSON is said with its place."""
    schema, _ = schema_of(create_model("Form", it=(Place, ...)))
    with pytest.raises(PayloadError) as caught:
        check(schema, {"it": '{"street": "x", "zip": 0, "city": "y"}'})
    assert caught.value.problems == {
        "it.zip": "must be a whole number of at least 1",
        "it.city": "is not asked for",
    }


def _even(value: int) -> int:
    return value


class Checked(BaseModel):
    """A model that checks a field by a function."""

    n: int

    @field_validator("n")
    @classmethod
    def is_even(cls, value: int) -> int:
        """Whatever."""
        return value


class Whole(BaseModel):
    """A model that checks itself by a function."""

    n: int

    @model_validator(mode="after")
    def fits(self) -> "Whole":
        """Whatever."""
        return self


class Made(BaseModel):
    """A model that checks itself when it is made."""

    n: int

    def model_post_init(self, context: Any, /) -> None:
        """Whatever."""


class Initialised(BaseModel):
    """A model with an __init__ of its own."""

    n: int

    def __init__(self, **given: Any) -> None:
        """Whatever."""
        super().__init__(**given)


class Trimming(BaseModel):
    """A model with limits for all of its texts."""

    model_config = ConfigDict(str_max_length=3)
    text: str


def _tag(value: Any) -> str:
    return "cat"


REFUSED: dict[str, Any] = {
    "a function after": Annotated[int, AfterValidator(_even)],
    "a function before": Annotated[int, BeforeValidator(_even)],
    "a function inside a list": list[Annotated[int, AfterValidator(_even)]],
    "a model's field": Checked,
    "a model as a whole": Whole,
    "a model inside a list": list[Whole],
    "a model that is made": Made,
    "a model with an __init__": Initialised,
    "limits in a configuration": Trimming,
    "a past date": PastDate,
    "no zone": NaiveDatetime,
    "limits without a zone": Annotated[dt.datetime, Field(ge=dt.datetime(2026, 1, 1))],  # noqa: DTZ001
    "a path": Path,
    "a secret": SecretStr,
    "bytes": bytes,
    "a function": Callable[[], int],
    "keys that are numbers": dict[int, int],
    "keys with limits": dict[Annotated[str, Field(min_length=2)], int],
    "a pattern of other letters": Annotated[
        str, StringConstraints(to_lower=True, pattern="^[A-Z]+$")
    ],
    "flags": Annotated[str, Field(pattern=re.compile("^a", re.IGNORECASE))],
    "a function that tells apart": Annotated[
        Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(_tag)
    ],
}


@pytest.mark.parametrize("kind", REFUSED.values(), ids=REFUSED)
def test_what_no_form_can_state_is_refused(kind: Any):
    """A limit that the stored schema cannot have is refused when it is asked for, by its name."""
    with pytest.raises(UsageError, match=r"Form cannot be asked for: .*it"):
        schema_of(create_model("Form", it=(kind, ...)))


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(RootModel[list[int]], id="a model that is a list"),
        pytest.param(Checked(n=1), id="an instance that is checked by a function"),
        pytest.param("approved_days", id="a text"),
        pytest.param(["approved_days"], id="a list"),
        pytest.param(int, id="a type"),
    ],
)
def test_what_is_no_form(payload: Any):
    """What is no dict and no model with fields is the developer's mistake, said as such."""
    with pytest.raises(UsageError):
        schema_of(payload)


class Login(BaseModel):
    """A model with a secret in it."""

    user: str
    token: Annotated[str, Secret]


@pytest.mark.parametrize("kind", [Login, list[Login], Annotated[str, Secret()] | None])
def test_what_people_enter_is_no_secret(kind: Any):
    """A form that asks for a secret is refused: what is entered stands in records and on cards."""
    with pytest.raises(UsageError, match="Secret"):
        schema_of(create_model("Form", it=(kind, ...)))


def test_a_pattern_nobody_can_read():
    """A pattern that neither pydantic nor Python can read is refused at the asking."""
    broken = create_model(
        "Form", it=(Annotated[str, Field(json_schema_extra={"pattern": "("})], ...)
    )
    with pytest.raises(UsageError, match="pattern"):
        schema_of(broken)


class Leave(BaseModel):
    """A form whose values are zero where people mean zero."""

    days: int = 5
    rate: float = 1.5
    notify: bool = True
    note: str = "x"
    tags: list[str] = ["a"]
    until: dt.date = Field(default_factory=lambda: dt.date(2026, 12, 24))
    by: str = Field(default="me", alias="from")


def test_an_instance_begins_with_what_it_has():
    """Zero, no and no text are values of an instance; a factory's default is asked for."""
    given = Leave.model_validate(
        {"days": 0, "rate": 0, "notify": False, "note": "", "tags": [], "from": "you"}
    )
    schema, initial = schema_of(given)
    assert initial == {
        "days": 0,
        "rate": 0.0,
        "notify": False,
        "note": "",
        "tags": [],
        "until": "2026-12-24",
        "from": "you",
    }
    assert schema_of(Leave)[1] == {
        "days": 5,
        "rate": 1.5,
        "notify": True,
        "note": "x",
        "tags": ["a"],
        "until": "2026-12-24",
        "from": "me",
    }
    assert schema["required"] == ["until"]
    assert check(schema, initial) == initial


def test_every_printable_text_is_answered():
    """No text that people type for any kind of field is more than a sentence."""
    form = create_model("Form", **{f"f{n}": (kind, ...) for n, kind in enumerate(KINDS.values())})
    schema, _ = schema_of(form)
    for text in (*string.printable, "\ud800", "9" * 5000, "1e999999999", "{" * 5000):
        with pytest.raises(PayloadError):
            check(schema, {f"f{n}": text for n in range(len(KINDS))})
