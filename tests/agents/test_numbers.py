"""Numbers as people type them in every country: one number each, or a question which one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.runtime.errors import PayloadError
from agents.runtime.fields import Refused, scalar
from agents.runtime.numbers import Unclear, digits, is_doubtful, unmistakable
from agents.runtime.payload import check, schema_of

READ = {
    "1500": "1500",
    " 1500 ": "1500",
    "+5": "5",
    "-5": "-5",
    "- 5": "-5",
    "\u22125": "-5",
    "\u20135": "-5",
    "1.5": "1.5",
    "1,5": "1.5",
    "1500.25": "1500.25",
    "1500,25": "1500.25",
    "1234.567": "1234.567",
    "1234,567": "1234.567",
    "0.500": "0.500",
    "0,500": "0.500",
    ".500": "0.500",
    ",5": "0.5",
    "5.": "5",
    "1.2340": "1.2340",
    "1,500.00": "1500.00",
    "1.500,00": "1500.00",
    "1,500.000": "1500.000",
    "1.500,000": "1500.000",
    "1,500,000": "1500000",
    "1.500.000": "1500000",
    "1,500,000.5": "1500000.5",
    "1.500.000,5": "1500000.5",
    "-1.500,00": "-1500.00",
    "1 500": "1500",
    "1 500,00": "1500.00",
    "1 500.00": "1500.00",
    "1\u00a0500": "1500",
    "1\u202f500\u202f000,5": "1500000.5",
    "1\u2009500": "1500",
    "1'500.00": "1500.00",
    "1\u2019500": "1500",
    "1,00,000": "100000",
    "12,34,567.50": "1234567.50",
    "\uff11\uff15\uff10\uff10": "1500",
    "\uff0d\uff11\uff0e\uff15": "-1.5",
    "\uff11\uff0c\uff15\uff10\uff10\uff0e\uff15": "1500.5",
    "\u0661\u0665\u0660\u0660": "1500",
    "\u0661\u066c\u0665\u0660\u0660\u066b\u0665": "1500.5",
    "\u0967\u0968": "12",
    "1e3": "1e3",
    "-1.5E-3": "-1.5E-3",
}
DOUBTFUL = {
    "1.000": ("1 or 1000",),
    "1,000": ("1 or 1000",),
    "1.500": ("1.5 or 1500",),
    "1,500": ("1.5 or 1500",),
    "-1.500": ("-1.5 or -1500",),
    "\u22122.125": ("-2.1250 or -2125",),
    "+ 12,345": ("12.3450 or 12345",),
    "999.999": ("999.9990 or 999999",),
    "1.230": ("1.23 or 1230",),
    "\uff11\uff0e\uff15\uff10\uff10": ("1.5 or 1500",),
}
UNITS = {
    "$5": "$",
    "5 €": "€",
    "1.500,00 €": "€",
    "€ 1 500": "€",
    "5 EUR": "EUR",
    "CHF 1'500.00": "CHF",
    "5%": "%",
    "5 ％": "%",
    "12,5 kg": "kg",
    "5 days": "days",
    "1e": "e",
    "\u20b9 1,00,000": "\u20b9",
}
NONE = [
    *("", " ", "-", ".", ",", "ten", "1.2.3", "24.12.2026", "2026-12-24", "1,2,3", "1 0", "12 34"),
    *(
        "1.50.000",
        "1,500.000.000",
        "1 500 00",
        "1,5,00",
        "0x10",
        "1_500",
        "--5",
        "5-",
        "(5)",
        "1/2",
    ),
    *("10\u00b2", "\u00b2", "\u2460", "\u2469", "\u00bd", "\u2167", "1\u0661", "1\uff11", "1'5"),
    *("NaN", "Infinity", "1..5", "5,", "1 500.00.00", "1, 500", "$", "€ %", "1" * 4_001),
]


@pytest.mark.parametrize(("text", "number"), READ.items())
def test_one_number_is_read(text: str, number: str):
    """The signs of any country are understood where they can mean one thing only."""
    assert digits(text) == number
    assert scalar({"type": "number"}, text) == float(number)
    decimal = scalar({"type": "string", "format": "decimal"}, text)
    assert float(str(decimal)) == float(number)


@pytest.mark.parametrize(("text", "told"), [(text, told) for text, (told,) in DOUBTFUL.items()])
@pytest.mark.parametrize("kind", ["integer", "number", "decimal"])
def test_a_number_that_may_be_two_is_asked_for_again(text: str, told: str, kind: str):
    """It is never silently a thousandth: whoever types it hears how to write either."""
    with pytest.raises(Unclear):
        digits(text)
    kinds = {"decimal": {"type": "string", "format": "decimal"}}
    with pytest.raises(Refused) as refused:
        scalar(kinds.get(kind, {"type": kind}), text)
    assert f"may mean {told}: please write one of these" in str(refused.value)
    for way in told.split(" or "):
        assert digits(way) == way


@pytest.mark.parametrize(("text", "unit"), UNITS.items())
def test_a_number_is_wanted_alone(text: str, unit: str):
    """Which money, or five of a hundred or of one, is not for the field to guess."""
    with pytest.raises(Refused, match="please write the number alone, without ") as refused:
        scalar({"type": "number"}, text)
    assert str(refused.value).endswith(f"without {unit}")


@pytest.mark.parametrize("text", NONE)
@pytest.mark.parametrize("kind", ["integer", "number", "decimal"])
def test_what_is_no_number_is_none(text: str, kind: str):
    """Small digits above the line, digits of two scripts, dates and odd groups make no number."""
    kinds = {"decimal": {"type": "string", "format": "decimal"}}
    with pytest.raises(Refused, match=r"^must be a (whole )?number$"):
        scalar(kinds.get(kind, {"type": kind}), text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("3.0", 3), ("3,00", 3), ("1.500,00", 1500), ("1 500", 1500), ("-1'000", -1000), ("5.", 5)],
)
def test_a_whole_number_may_have_needless_zeros(text: str, number: int):
    """A fraction of nothing is a whole number."""
    assert scalar({"type": "integer"}, text) == number


@pytest.mark.parametrize("text", ["3.5", "3,5", "1e3", "1500.25"])
def test_a_fraction_is_no_whole_number(text: str):
    """Nothing is rounded."""
    with pytest.raises(Refused, match="must be a whole number"):
        scalar({"type": "integer"}, text)


def test_a_form_tells_it_at_the_field():
    """Each field has its own sentence; the others are taken."""
    schema, _ = schema_of({"days": 0, "amount": 0.0, "note": ""})
    with pytest.raises(PayloadError) as refused:
        check(schema, {"days": "1.000", "amount": "1,500", "note": "1.000"})
    assert refused.value.problems == {
        "days": "must be a whole number; 1.000 may mean 1 or 1000: please write one of these",
        "amount": "must be a number; 1,500 may mean 1.5 or 1500: please write one of these",
    }


def test_where_anything_is_taken_it_stays_what_was_typed():
    """A field without a kind keeps what may be two numbers as a text."""
    schema = {"type": "object", "properties": {"x": {}}}
    assert check(schema, {"x": "1.500"}) == {"x": "1.500"}
    assert check(schema, {"x": "1.5"}) == {"x": 1.5}


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.integers())
def test_a_number_as_it_is_written_here_is_read_as_itself(number: object):
    """What a form begins with comes back as it was; a decimal that was taken is taken again."""
    text = unmistakable(str(number))
    assert not is_doubtful(text)
    assert float(digits(text) or "x") == float(str(number))
    schema = {"type": "string", "format": "decimal"}
    taken = scalar(schema, str(scalar(schema, text)))
    assert scalar(schema, taken) == taken


@given(st.text(alphabet="0123456789.,' -+e_%$", max_size=12))
def test_no_text_is_read_as_another_number(text: str):
    """Every digit of what was typed is in what is read, in their order, and nothing else is."""
    try:
        found = digits(text)
    except Unclear:
        return
    if found is not None:
        typed = "".join(char for char in text if char.isdigit())
        assert "".join(char for char in found if char.isdigit()).lstrip("0") == typed.lstrip("0")
