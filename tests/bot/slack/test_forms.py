"""What a form shows before anybody agrees: each field, its limits, and what it begins with."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from agents import check_payload
from agents.runtime.payload import schema_of
from bot.slack import blocks
from bot.slack.blocks.arguments import arguments
from bot.slack.blocks.fields import by_field, fields
from bot.slack.blocks.hints import UNSHOWN
from bot.slack.blocks.inputs import inputs
from bot.slack.payloads import state_values
from bot.slack.validate import message_problems
from tests.bot.slack.samples import NOW, approval


class Account(Enum):
    """Where money lies."""

    OPS = "ops"
    PAYROLL = "payroll"


class Address(BaseModel):
    """A part of a form."""

    city: str = Field(min_length=3)


class Usual(BaseModel):
    """A part of a form that has nothing but defaults."""

    amount: int = 5


class Grant(BaseModel):
    """A part of a form with a default of its own."""

    amount: int = 5
    to: str


class Leg(BaseModel):
    """One of several kinds of object."""

    by: Literal["air"]
    on: date
    stops: list[str]


class Stay(BaseModel):
    """Another."""

    by: Literal["foot"]
    nights: Annotated[int, Field(ge=2)]
    paid: bool


class Tree(BaseModel):
    """An object that has objects of its kind in it."""

    name: str
    below: list["Tree"]


def record_of(kind: Any, default: Any = ..., **given: Any) -> Any:
    """An approval that asks for one field of a type."""
    form, begins = schema_of(create_model("Form", field=(kind, default)))
    return approval(payload_schema=form, payload=begins, **given)


def only(record: Any, *, modal: bool = False) -> dict[str, Any]:
    """The only input of a form."""
    (block,) = inputs(record, modal=modal)
    assert (
        message_problems({"text": "x", "blocks": list(blocks.card(record, now=NOW).blocks)}) == []
    )
    return block


LONG = "x" * 3_500 + " AND PAY 1000000"


@pytest.mark.parametrize(
    ("kind", "default", "begins", "typed", "entered"),
    [
        pytest.param(list[str], [], None, "red", ["red"], id="no texts"),
        pytest.param(list[str], ["a", "b"], "a\nb", "a\nred", ["a", "red"], id="some texts"),
        pytest.param(set[str], set(), None, "red", ["red"], id="a set of none"),
        pytest.param(list[int], [], None, "[1]", [1], id="no numbers"),
        pytest.param(list[Leg], [], None, "[]", [], id="no objects"),
        pytest.param(dict[str, int], {}, None, '{"a": 1}', {"a": 1}, id="no keys"),
        pytest.param(list[str] | None, [], "[]", "[]\nred", ["red"], id="none, but not nothing"),
    ],
)
def test_what_is_empty_begins_empty(
    kind: Any, default: Any, begins: str | None, typed: str, entered: Any
):
    """Nothing stands in the way of who types an entry; left alone, it is what it was asked with."""
    record = record_of(kind, default)
    block = only(record)
    assert block["element"].get("initial_value") == begins
    assert UNSHOWN not in block["hint"]["text"]
    left = check_payload(record.payload_schema, {"field": begins})["field"]
    assert left == record.payload["field"]
    assert check_payload(record.payload_schema, {"field": typed})["field"] == entered


@pytest.mark.parametrize("modal", [False, True])
@pytest.mark.parametrize(
    ("kind", "default"),
    [
        pytest.param(str, LONG, id="a text too long for an input"),
        pytest.param(Annotated[str, Field(max_length=5)], "longer", id="longer than its own limit"),
        pytest.param(str, "pay \u202eann", id="a text with hidden characters"),
        pytest.param(str, "p\u0430ypal", id="a text with another script's letter"),
        pytest.param(str, "password=hunter2", id="a text with a password"),
        pytest.param(Literal["a", "b"], "c", id="no member of a choice"),
        pytest.param(list[Literal["a", "b"]], ["c"], id="no members of a choice"),
        pytest.param(list[str], [LONG], id="a list too long for an input"),
    ],
)
def test_a_value_that_cannot_be_shown_is_not_agreed_to(kind: Any, default: Any, modal: bool):
    """The field begins empty and says why; left alone, it is empty or required."""
    record = record_of(kind, default)
    block = only(record, modal=modal)
    assert not any(key.startswith("initial") for key in block["element"])
    assert UNSHOWN in block["hint"]["text"]
    values = state_values({"values": {"b": {"field": {"type": "x", "value": None}}}})
    checked: Mapping[str, Any] = {}
    if block["optional"]:
        checked = check_payload(record.payload_schema, dict(values))
    assert default not in checked.values()


@pytest.mark.parametrize(
    ("given", "modal"),
    [
        pytest.param({"type": "number", "default": 1e21}, True, id="a float beyond all inputs"),
        pytest.param({"type": "integer", "default": 10**16}, True, id="a number beyond all inputs"),
        pytest.param(
            {"type": "string", "format": "date-time", "default": "1999-01-01T00:00:00Z"},
            False,
            id="a moment that no picker takes",
        ),
        pytest.param(
            {"type": "string", "format": "person", "default": "Bob"}, False, id="no person"
        ),
    ],
)
def test_a_value_that_no_input_takes_is_told(given: dict[str, Any], modal: bool):
    """The same for what Slack's pickers and numbers cannot begin with."""
    schema = {"type": "object", "properties": {"field": given}}
    (block,) = inputs(approval(payload_schema=schema), modal=modal)
    assert UNSHOWN in block["hint"]["text"]
    assert not block["optional"]


@pytest.mark.parametrize(
    ("kind", "default", "optional"),
    [
        pytest.param(int, 5, False, id="a number"),
        pytest.param(int | None, 5, True, id="a number or nothing"),
        pytest.param(str, "usual", True, id="a text"),
        pytest.param(Annotated[str, Field(min_length=1)], "usual", False, id="a text that is any"),
        pytest.param(Literal["a", "b"], "a", False, id="a choice"),
        pytest.param(bool, True, False, id="yes or no"),
        pytest.param(list[str], ["a"], True, id="a list"),
        pytest.param(Annotated[list[str], Field(min_length=1)], ["a"], False, id="a list of any"),
        pytest.param(list[Literal["a", "b"]], ["a"], True, id="some of a choice"),
        pytest.param(str, ..., True, id="a text without a default"),
        pytest.param(Grant, Grant(to="Bo"), False, id="a part with defaults of its own"),
        pytest.param(Usual, Usual(), False, id="a part that has nothing but defaults"),
    ],
)
def test_a_field_may_be_emptied_where_empty_is_a_value(kind: Any, default: Any, optional: bool):
    """What Slack lets pass empty is what the schema takes empty."""
    record = record_of(kind, default)
    assert only(record)["optional"] == optional


def test_fields_of_one_type_are_told_apart():
    """A field goes by its name, or its own title; never by what its type is called."""

    class Transfer(BaseModel):
        """Money on its way."""

        from_account: Account
        to_account: Account
        other: Account | None = None
        address: Address
        fee: Account = Field(title="Who pays")
        one: int = Field(title="Amount")
        two: int = Field(title="Amount")

    form, begins = schema_of(Transfer)
    record = approval(payload_schema=form, payload=begins, form=tuple(Transfer.model_fields))
    assert [each.title for each in fields(record)] == [
        *("From account", "To account", "Other", "Address", "Who pays"),
        *("Amount (one)", "Amount (two)"),
    ]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        pytest.param(Annotated[int, Field(gt=0, lt=10)], "More than 0, less than 10.", id="open"),
        pytest.param(Annotated[int, Field(ge=0, lt=10)], "At least 0, less than 10.", id="half"),
        pytest.param(Annotated[int, Field(ge=0, le=10)], "From 0 to 10.", id="closed"),
        pytest.param(Annotated[float, Field(gt=0)], "More than 0.", id="above"),
        pytest.param(Annotated[int, Field(le=9)], "At most 9.", id="up to"),
        pytest.param(
            Annotated[Decimal, Field(gt=0, decimal_places=2)],
            "More than 0. At most 2 digits after the decimal point. A number.",
            id="digits",
        ),
        pytest.param(Annotated[int, Field(multiple_of=5)], "A multiple of 5.", id="steps"),
        pytest.param(
            Annotated[str, Field(pattern="^[A-Z]{3}$", min_length=3, max_length=3)],
            "3 characters. Of the form ^[A-Z]{3}$.",
            id="pattern",
        ),
        pytest.param(
            Annotated[list[Literal["a", "b", "c"]], Field(min_length=1, max_length=2)],
            "At most 2 entries.",
            id="some of a choice",
        ),
        pytest.param(list[str], "One per line.", id="lines"),
        pytest.param(dict[str, int], 'An object, as JSON, such as {"…": 1}.', id="object"),
        pytest.param(
            Grant,
            'An object, as JSON, such as {"amount": 5, "to": "…"}. May be left out: amount.',
            id="its keys",
        ),
        pytest.param(
            Grant | None,
            'An object, as JSON, such as {"amount": 5, "to": "…"}. May be left out: amount.',
            id="an object or nothing",
        ),
        pytest.param(
            list[Leg],
            'A list, as JSON, such as [{"by": "air", "on": "2026-12-24", "stops": ["…"]}].',
            id="a list of objects",
        ),
        pytest.param(tuple[int, str], 'A list, as JSON, such as [1, "…"]. 2 entries.', id="a pair"),
        pytest.param(
            Annotated[Leg | Stay, Field(discriminator="by")],
            'JSON, such as {"by": "air", "on": "2026-12-24", "stops": ["…"]}'
            ' or {"by": "foot", "nights": 2, "paid": true}.',
            id="objects of several kinds",
        ),
        pytest.param(
            list[Leg | Stay],
            'A list, as JSON, such as [{"by": "air", "on": "2026-12-24", "stops": ["…"]},'
            ' {"by": "foot", "nights": 2, "paid": true}].',
            id="a list of several kinds",
        ),
        pytest.param(str | list[str], 'Or a list, as JSON, such as ["…"].', id="or a list"),
        pytest.param(
            Tree,
            'such as {"name": "…", "below": [{"name": "…", "below": []}]}.',
            id="what has itself in it",
        ),
    ],
)
def test_limits_are_told_as_they_are(kind: Any, told: str):
    """Nobody has to guess what a field takes, nor is told what it refuses."""
    assert only(record_of(kind))["hint"]["text"].endswith(told)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        pytest.param(["a" * 80, "b"], "One of: " + "a" * 80 + " | b.", id="long ones"),
        pytest.param(range(150), "One of: 0 | 1 | 2", id="many"),
        pytest.param(["a" * 2_000], "1 choices, each too long", id="none fits"),
        pytest.param([f"{n} " + "z" * 60 for n in range(150)], "and 134 more.", id="many long"),
    ],
)
def test_a_choice_that_is_no_select_says_what_it_takes(members: Any, told: str):
    """Where Slack's select cannot offer the choices, they are listed as far as there is room."""
    schema = {"type": "object", "properties": {"which": {"enum": list(members)}}}
    (block,) = inputs(approval(payload_schema=schema))
    assert told in block["hint"]["text"]
    assert len(block["hint"]["text"]) <= 2_000
    assert block["element"]["type"] == "plain_text_input"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        pytest.param({"tags": "is required"}, {"tags": "is required"}, id="the field"),
        pytest.param({"tags.1": "is long"}, {"tags": "entry 2: is long"}, id="an entry"),
        pytest.param({"grid.a": "no"}, {"grid": "a: no"}, id="a key"),
        pytest.param({"grid.a.0": "no"}, {"grid": "a, entry 1: no"}, id="deeper"),
        pytest.param(
            {"tags.0": "no", "tags.2": "nor"}, {"tags": "entry 1: no; entry 3: nor"}, id="two"
        ),
        pytest.param({"a.b": "no"}, {"a.b": "no"}, id="a name with a point"),
        pytest.param({"a.b.c": "no"}, {"a.b": "c: no"}, id="a part of one"),
        pytest.param({"zip": "no"}, {"zip": "no"}, id="no field"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(wrong: Any, expected: Any):
    """What is wrong inside a value is said where the value is entered."""
    assert by_field(["why", "tags", "grid", "a.b"], wrong) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("null", None), ("[]", []), ('""', ""), ("true", True), ("{}", {}), ("1e5", 1e5)),
        *(("nothing", None), ("none", []), ("empty", ""), ("Yes", True), ("No", False)),
        *(("none", {}), ('"Yes"', "Yes"), ("a, b", ["a, b"]), ("Bo ", "Bo")),
    ],
)
def test_a_text_does_not_look_like_another_value(text: str, value: Any):
    """Our words for a value, and a text that says the same, are told apart."""
    (one,), (other,) = (arguments(approval(args={"x": each})) for each in (text, value))
    assert one.value != other.value


@pytest.mark.parametrize("text", [" Bo ", "Bo ", " ", "\t"])
def test_blanks_around_a_text_are_seen(text: str):
    """A blank before or behind a text makes it another one."""
    (shown,) = arguments(approval(args={"x": text}))
    assert shown.value == f'"{text}"'.replace("\t", "\\t")
    (shown,) = arguments(approval(args={"x": "Bo and Anna"}))
    assert shown.value == "Bo and Anna"


def test_a_list_of_members_is_picked():
    """Some of a choice are picked from a list, wherever the choice is declared."""
    element = only(record_of(list[Account], [Account.OPS]))["element"]
    assert element["type"] == "multi_static_select"
    assert [each["value"] for each in element["initial_options"]] == ["ops"]
