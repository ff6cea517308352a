"""What people are asked to fill in, and what they typed."""

import datetime
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from agents.runtime.errors import PayloadError, UsageError
from agents.runtime.payload import check, schema_of


class Colour(Enum):
    """Two colours."""

    RED = "red"
    BLUE = "blue"


class Traveller(BaseModel):
    """Somebody who travels."""

    name: str = Field(min_length=2, max_length=5)
    age: int | None = None


class Trip(BaseModel):
    """A form with one of everything."""

    days: int = Field(ge=1, le=5)
    colour: Colour = Colour.RED
    start: datetime.date | None = None
    rate: float = Field(default=1.5, gt=0)
    note: str = ""
    who: list[Traveller] = Field(default=[], max_length=2)
    grade: Literal[1, 2] | None = None


def sentence_of(schema: dict[str, Any], value: object) -> str:
    """What a person reads who gives this value for the only field, empty if it is taken."""
    try:
        check({"type": "object", "properties": {"it": schema}, "required": ["it"]}, {"it": value})
    except PayloadError as error:
        return error.problems["it"]
    return ""


INT = {"type": "integer"}
RATED = {"type": "integer", "minimum": 1, "maximum": 5}
DATE = {"type": "string", "format": "date"}
TIME = {"type": "string", "format": "time"}
MOMENT = {"type": "string", "format": "date-time"}
TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
OPEN = {"type": "object", "additionalProperties": True}
UNWRITABLE = "must have only numbers and characters that can be written down"
LIST = {"type": "array", "minItems": 1}


@pytest.mark.parametrize(
    ("payload", "properties", "initial"),
    [
        pytest.param({"n": 0}, {"n": INT}, {}, id="0 is an empty whole number"),
        pytest.param({"n": 3}, {"n": INT}, {"n": 3}, id="3 is what it begins with"),
        pytest.param({"n": 0.0}, {"n": NUMBER}, {}, id="0.0 is an empty number"),
        pytest.param({"n": ""}, {"n": TEXT}, {}, id="no text is empty text"),
        pytest.param({"n": None}, {"n": TEXT}, {}, id="None asks for text"),
        pytest.param({"n": False}, {"n": FLAG}, {"n": False}, id="a bool keeps its value"),
        pytest.param({"n": True}, {"n": FLAG}, {"n": True}, id="yes begins with yes"),
        pytest.param({"n": [1]}, {"n": {**LIST, "items": INT}}, {"n": [1]}, id="a list"),
        pytest.param({"n": []}, {"n": {**LIST, "items": {}}}, {}, id="an empty list"),
        pytest.param(
            {"n": datetime.date(2026, 1, 2)}, {"n": DATE}, {"n": "2026-01-02"}, id="a date"
        ),
    ],
)
def test_schema_of_a_dict(
    payload: dict[str, Any], properties: dict[str, Any], initial: dict[str, Any]
):
    """A dict asks for its keys, all of them, typed by its values."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    assert schema_of(payload) == (schema, initial)


def test_schema_of_a_nested_dict():
    """A dict in a dict is a part of the form with the same rules."""
    schema, initial = schema_of({"to": {"city": "Rome", "zip": ""}})
    assert initial == {"to": {"city": "Rome"}}
    with pytest.raises(PayloadError) as caught:
        check(schema, {"to": {"city": "Rome", "street": "x"}})
    assert caught.value.problems == {"to.zip": "is required", "to.street": "is not asked for"}


def test_schema_of_a_model():
    """A model asks with its own limits, closed at every level, and begins with its defaults."""
    schema, initial = schema_of(Trip)
    assert schema["required"] == ["days"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Traveller"]["additionalProperties"] is False
    assert schema["properties"]["days"] == {
        "minimum": 1,
        "maximum": 5,
        "title": "Days",
        "type": "integer",
    }
    assert initial == {"colour": "red", "rate": 1.5, "note": "", "who": []}


def test_schema_of_an_instance():
    """An instance begins with its values."""
    assert schema_of(Trip(days=3, start=datetime.date(2026, 1, 2)))[1] == {
        "days": 3,
        "colour": "red",
        "start": "2026-01-02",
        "rate": 1.5,
        "note": "",
        "who": [],
        "grade": None,
    }


class Open(BaseModel):
    """A form that takes other keys, too."""

    model_config = ConfigDict(extra="allow")


class Odd(BaseModel):
    """A form nobody can fill in."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    call: Annotated[object, Field()] = None
    thing: type[Colour]
    it: Any = None
    other: UsageError


def test_an_open_model_stays_open():
    """A model that allows other keys takes them."""
    assert check(schema_of(Open)[0], {"x": 1}) == {"x": 1}


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"n": object()}, id="an object"),
        pytest.param({"n": {"m": b""}}, id="bytes inside"),
        pytest.param(Odd, id="a model without schema"),
    ],
)
def test_what_cannot_be_asked_for(payload: Any):
    """A payload without a form is the developer's mistake."""
    with pytest.raises(UsageError):
        schema_of(payload)


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        pytest.param(INT, "3", 3, id="whole number as text"),
        pytest.param(INT, " 3 ", 3, id="with blanks"),
        pytest.param(INT, "３", 3, id="full width"),
        pytest.param(INT, "-7", -7, id="negative"),
        pytest.param(INT, "3.0", 3, id="with a needless decimal"),
        pytest.param(INT, 3.0, 3, id="a whole float"),
        pytest.param(INT, "9007199254740993", 9007199254740993, id="beyond what a float holds"),
        pytest.param(NUMBER, "3", 3.0, id="a number"),
        pytest.param(NUMBER, ".5", 0.5, id="a number without a leading zero"),
        pytest.param(NUMBER, 2, 2.0, id="a whole number for a number"),
        pytest.param(FLAG, "yes", True, id="yes"),
        pytest.param(FLAG, " NO ", False, id="no, loudly"),
        pytest.param(FLAG, False, False, id="false"),
        pytest.param(DATE, "2026-12-24", "2026-12-24", id="date"),
        pytest.param(DATE, "20261224", "2026-12-24", id="date without dashes"),
        pytest.param(TIME, "09:30", "09:30:00", id="time"),
        pytest.param(MOMENT, "2026-12-24T09:30Z", "2026-12-24T09:30:00+00:00", id="moment"),
        pytest.param(MOMENT, 0, "1970-01-01T00:00:00+00:00", id="moment from a picker"),
        pytest.param({"enum": ["red", "blue"]}, "blue", "blue", id="a choice"),
        pytest.param({"enum": [1, 2]}, "2", 2, id="a choice by its text"),
        pytest.param({"const": "x"}, "x", "x", id="the only choice"),
        pytest.param({"anyOf": [INT, {"type": "null"}]}, "4", 4, id="optional, given"),
        pytest.param({"anyOf": [INT, {"type": "null"}]}, " ", None, id="optional, left empty"),
        pytest.param({"anyOf": [INT, {"type": "string"}]}, "4", "4", id="text stays text"),
        pytest.param({"anyOf": [INT, TEXT]}, 4, 4, id="a number stays a number"),
        pytest.param({"type": "string"}, "", "", id="no text where that is allowed"),
        pytest.param({"type": "array", "items": INT}, ["1", 2], [1, 2], id="a list"),
        pytest.param({}, [1, "x"], [1, "x"], id="anything"),
        pytest.param({}, "1e999", "1e999", id="no number, so a text"),
        pytest.param({}, '"\\ud800"', '"\\ud800"', id="no character, so as it was typed"),
        pytest.param(
            {"type": "array", "prefixItems": [INT, FLAG]}, ["1", "on"], [1, True], id="a pair"
        ),
    ],
)
def test_what_is_taken(schema: dict[str, Any], typed: Any, value: Any):
    """What people type arrives as what the schema says, and passes a second time as it is."""
    form = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    taken = check(form, {"it": typed})
    assert taken == {"it": value}
    assert type(taken["it"]) is type(value)
    assert check(form, taken) == taken


@pytest.mark.parametrize(
    ("schema", "typed", "sentence"),
    [
        pytest.param(RATED, "9999", "must be a whole number between 1 and 5", id="too much"),
        pytest.param(RATED, 3.5, "must be a whole number between 1 and 5", id="a fraction"),
        pytest.param(INT, "3,5", "must be a whole number", id="a decimal comma"),
        pytest.param(INT, "1_000", "must be a whole number", id="an underscore"),
        pytest.param(INT, "9" * 5000, "must be a whole number", id="endless digits"),
        pytest.param(INT, True, "must be a whole number", id="a bool is no number"),
        pytest.param(INT, "", "is required", id="left empty"),
        pytest.param(INT, None, "is required", id="null"),
        pytest.param(NUMBER, "nan", "must be a number", id="nan"),
        pytest.param(NUMBER, float("inf"), "must be a number", id="infinity"),
        pytest.param(NUMBER, "1e999", "must be a number", id="as good as infinity"),
        pytest.param(NUMBER, 10**400, "must be a number", id="too big for a float"),
        pytest.param(NUMBER, [1], "must be a number", id="a list"),
        pytest.param(NUMBER, True, "must be a number", id="a bool"),
        pytest.param(
            {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
            0.7,
            "must be a number, more than 0, a multiple of 0.5",
            id="not the right steps",
        ),
        pytest.param(
            {"type": "integer", "minimum": 1}, 0, "must be a whole number of at least 1", id="low"
        ),
        pytest.param(
            {"type": "integer", "exclusiveMaximum": 1},
            1,
            "must be a whole number, less than 1",
            id="high",
        ),
        pytest.param(FLAG, "maybe", "must be yes or no", id="maybe"),
        pytest.param(FLAG, 1, "must be yes or no", id="one is no yes"),
        pytest.param(TEXT, "  ", "is required", id="only blanks"),
        pytest.param(TEXT, 5, "must be text of at least 1 character", id="a number for text"),
        pytest.param({"type": "string"}, "x" * 10_001, "must be text", id="a huge text"),
        pytest.param({"type": "string"}, "\ud800", "must be text", id="half a character"),
        pytest.param(
            {"type": "string", "minLength": 2, "maxLength": 3},
            "abcd",
            "must be text of between 2 and 3 characters",
            id="too long",
        ),
        pytest.param(
            {"type": "string", "pattern": "^x"}, "y", "must be text, of the form ^x", id="pattern"
        ),
        pytest.param(DATE, "24.12.2026", "must be a date like 2026-12-24", id="no ISO date"),
        pytest.param(DATE, "2026-02-30", "must be a date like 2026-12-24", id="no such day"),
        pytest.param(TIME, "25:00", "must be a time like 09:30", id="no such hour"),
        pytest.param(
            MOMENT, 10**20, "must be a date and time like 2026-12-24T09:30", id="out of time"
        ),
        pytest.param({"enum": ["red", "blue"]}, "pink", "must be red or blue", id="no choice"),
        pytest.param({"enum": [1, 2]}, True, "must be 1 or 2", id="true is not 1"),
        pytest.param(
            {"anyOf": [RATED, {"type": "null"}]},
            9,
            "must be a whole number between 1 and 5",
            id="optional",
        ),
        pytest.param(
            {"anyOf": [INT, FLAG]}, "x", "must be a whole number or yes or no", id="either"
        ),
        pytest.param(
            {"type": "array", "items": INT}, "x", "must be a list, typed as JSON", id="no list"
        ),
        pytest.param(
            {"type": "array", "maxItems": 1},
            [1, 2],
            "must be a list of at most 1 choice",
            id="many",
        ),
        pytest.param(
            {"type": "array", "uniqueItems": True},
            [1, 1],
            "must not name anything twice",
            id="twice",
        ),
        pytest.param({"type": "object"}, "x", "must be an object, typed as JSON", id="no object"),
        pytest.param(
            {"type": "array", "minItems": 2, "maxItems": 2},
            [1],
            "must be a list of 2 choices",
            id="2",
        ),
        pytest.param(
            {
                "oneOf": [
                    {"type": "object", "properties": {"by": {"const": "post"}, "city": TEXT}},
                    {"type": "object", "properties": {"by": {"const": "hand"}}},
                ]
            },
            {"by": "air"},
            "must be an object with by post, city or an object with by hand",
            id="none of several objects",
        ),
        pytest.param({"type": "object"}, 3, "must be an object", id="a number for an object"),
        pytest.param({"type": "null"}, 1, "must be left empty", id="nothing"),
    ],
)
def test_what_is_refused(schema: dict[str, Any], typed: Any, sentence: str):
    """What does not fit is refused with one plain sentence."""
    assert sentence_of(schema, typed) == sentence


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        pytest.param({}, float("inf"), id="infinity"),
        pytest.param({}, [{"a": float("nan")}], id="in a list, what is no number"),
        pytest.param({}, "\ud800", id="half a character"),
        pytest.param(OPEN, '{"a": {"b": 1e999}}', id="infinity in an object"),
        pytest.param(OPEN, '{"a": "\\ud83d"}', id="half a character in an object"),
        pytest.param(OPEN, '{"\\ud83d": 1}', id="half a character in a key"),
    ],
)
def test_what_cannot_be_written_down(schema: dict[str, Any], typed: Any):
    """Where anything goes, what would be another value once it is stored is refused as well."""
    form = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    with pytest.raises(PayloadError) as caught:
        check(form, {"it": typed})
    assert [*caught.value.problems.values()] == [UNWRITABLE]


@pytest.mark.parametrize(
    ("values", "problems"),
    [
        pytest.param(None, {"approved_days": "is required"}, id="nothing"),
        pytest.param({}, {"approved_days": "is required"}, id="no key"),
        pytest.param([], {"payload": "must be an object with the fields asked for"}, id="a list"),
        pytest.param(
            {"approved_days": 1, "x": 2}, {"x": "is not asked for"}, id="a key nobody asked for"
        ),
    ],
)
def test_the_form_as_a_whole(values: Any, problems: dict[str, str]):
    """Every key asked for must be there, and no other."""
    schema, _ = schema_of({"approved_days": 0})
    with pytest.raises(PayloadError) as caught:
        check(schema, values)
    assert caught.value.problems == problems


def test_a_models_answer():
    """An answer to a model's form is coerced all the way down, with defaults filled in."""
    schema, _ = schema_of(Trip)
    answer = {"days": "2", "start": "", "who": [{"name": "Ann", "age": "7"}], "grade": "1"}
    assert check(schema, answer) == {
        "days": 2,
        "colour": "red",
        "start": None,
        "rate": 1.5,
        "note": "",
        "who": [{"name": "Ann", "age": 7}],
        "grade": 1,
    }
    with pytest.raises(PayloadError) as caught:
        check(schema, {"days": 9, "who": [{"name": "A"}, {"name": "Bob", "age": "x"}]})
    assert caught.value.problems == {
        "days": "must be a whole number between 1 and 5",
        "who.0.name": "must be text of between 2 and 5 characters",
        "who.1.age": "must be a whole number",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def problems_of(schema: dict[str, Any], values: Any) -> dict[str, str]:
    """The sentences about these values; empty if they are taken."""
    try:
        check(schema, values)
    except PayloadError as error:
        return error.problems
    return {}


TYPED = JSON | st.sampled_from(["3", "red", "2026-01-02", "0.5", 1])
ANSWERS = st.fixed_dictionaries(
    {"days": st.sampled_from(["3", 1, 9])},
    optional=dict.fromkeys([*list(Trip.model_fields)[1:], "extra"], TYPED),
)


@settings(max_examples=100)
@given(ANSWERS)
def test_whatever_passes_is_valid_and_passes_again(values: dict[str, Any]):
    """Without the fields that were refused an answer passes: valid by the schema, and stable."""
    schema, _ = schema_of(Trip)
    refused = {path.partition(".")[0] for path in problems_of(schema, values)}
    taken = {name: value for name, value in values.items() if name not in refused}
    checked = check(schema, {"days": 1} | taken)
    jsonschema.validate(checked, schema)
    assert check(schema, checked) == checked
    assert Trip.model_validate(checked)


class Grant(BaseModel):
    """A form whose fields have defaults of their own."""

    amount: int = 5
    note: str = "usual"
    reason: str | None = "none"
    tags: list[str] = ["a"]
    code: Annotated[str, Field(min_length=2)] = "AB"
    day: datetime.date | None = None
    sure: bool = True
    kind: Literal["x", "y"] = "x"


@pytest.mark.parametrize("begun", [Grant, Grant(amount=100, note="special")])
@pytest.mark.parametrize(
    ("name", "emptied"),
    [
        pytest.param("amount", None, id="a number is required"),
        pytest.param("note", "", id="a text is empty"),
        pytest.param("reason", {None}, id="what may be nothing is nothing"),
        pytest.param("tags", [], id="a list is empty"),
        pytest.param("code", None, id="a text with a least length is required"),
        pytest.param("day", {None}, id="a date may be nothing"),
        pytest.param("sure", None, id="yes or no is required"),
        pytest.param("kind", None, id="a choice is required"),
    ],
)
def test_what_was_emptied_is_never_a_default(begun: Any, name: str, emptied: Any) -> None:
    """Nobody agrees to a value that they took out: it is empty, or the field is required."""
    form, begins = schema_of(begun)
    for nothing in (None, "", "  ") if name != "note" else (None, ""):
        values = begins | {name: nothing}
        if emptied is None:
            with pytest.raises(PayloadError) as raised:
                check(form, values)
            assert raised.value.problems == {name: "is required"}
        else:
            told = None if emptied == {None} else emptied
            expected = told if name != "reason" or nothing is None else nothing
            assert check(form, values)[name] == expected


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"": 1}, id="no name"),
        pytest.param({" ": 1}, id="a blank name"),
        pytest.param({"n" * 201: 1}, id="a name that is too long"),
        pytest.param({f"f{n}": 1 for n in range(91)}, id="too many fields"),
        pytest.param(create_model("Many", **{f"f{n}": (int, 1) for n in range(91)}), id="a model"),
    ],
)
def test_a_form_that_nobody_could_send_is_not_asked(asked: Any) -> None:
    """A form has so many fields, and names of such a length, as any surface can bring back."""
    with pytest.raises(UsageError):
        schema_of(asked)
    schema_of({f"f{n}": 1 for n in range(90)} | {})
    schema_of({"n" * 200: 1})


def test_of_many_choices_some_are_named() -> None:
    """Somebody who typed none of many choices is not sent all of them."""
    schema = {"enum": [f"option {n}" for n in range(1_000)]}
    with pytest.raises(PayloadError) as raised:
        check({"type": "object", "properties": {"which": schema}}, {"which": "x"})
    assert "option 1 or" in raised.value.problems["which"]
    told = raised.value.problems["which"]
    assert told.endswith(" more")
    assert len(told) < 600
    schema = {"enum": ["x" * 500]}
    with pytest.raises(PayloadError, match="one of 1 choices"):
        check({"type": "object", "properties": {"which": schema}}, {"which": "x"})
