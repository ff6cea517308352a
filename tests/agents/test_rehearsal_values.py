"""What the rehearsal model reads out of a text: numbers, dates, times, and values by their type."""

from datetime import date
from typing import Any

import pytest
from google.genai import types

from agents import LlmRequest
from agents.runtime.rehearsal.dates import dates, times
from agents.runtime.rehearsal.model import rehearsed
from agents.runtime.rehearsal.numbers import numbers
from agents.runtime.rehearsal.words import stem

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50", [50]),
        ("$50 and 50$", [50, 50]),
        ("1,200.50 or 1.200,50 or 1’200.50", [1200.5, 1200.5, 1200.5]),
        ("42,50 and 1,200 and 1.5", [42.5, 1200, 1.5]),
        ("2.5k", [2500]),
        ("-20, minus 3, $-5", [-20, -3, -5]),
        ("fifty bucks", [50]),
        ("twenty-five", [25]),
        ("two hundred and fifty", [250]),
        ("three thousand two hundred", [3200]),
        ("a dozen eggs", [12]),
        ("half an hour, a couple of days, a day", [0.5, 2, 1]),
        ("an hour and a half", [1.5]),
        ("USD 50, 60 EUR", [50, 60]),
        ("room 4b, T-12, #7, v1.2.3, 12:30, 3rd", []),
        ("9" * 40, []),
    ],
)
def test_numbers(text: str, expected: list[float]) -> None:
    """Numbers are read in digits of either notation and in words; parts of names are none."""
    assert [number.value for number in numbers(text)] == expected


@pytest.mark.parametrize(
    ("text", "units", "money"),
    [
        ("5 working days", ("work", "day"), False),
        ("30min", ("minut",), False),
        ("20%", ("percent",), False),
        ("50 dollars for two", ("dollar",), True),
        ("€50 for two", (), True),
        ("23.80 for two", (), True),
    ],
)
def test_what_a_number_counts(text: str, units: tuple[str, ...], money: bool) -> None:
    """The words right behind a number say what it counts; signs and cents say it is money."""
    first = numbers(text)[0]
    assert (first.units, first.money) == (units, money)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-24", ["2026-12-24"]),
        ("24.12.2026, 24.12.26 or 24.12.", ["2026-12-24"] * 3),
        ("December 24 or Dec 24th, 2027", ["2026-12-24", "2027-12-24"]),
        ("24th of December or 1 March", ["2026-12-24", "2027-03-01"]),
        ("12/24/2026 or 24/12/2026", ["2026-12-24", "2026-12-24"]),
        ("today, tomorrow, the day after tomorrow", ["2026-11-30", "2026-12-01", "2026-12-02"]),
        ("in 3 days or in two weeks", ["2026-12-03", "2026-12-14"]),
        ("monday, next friday", ["2026-12-07", "2026-12-04"]),
        ("31.02.2026, 2026-13-01, Feb 30, May I", []),
        ("I may take 5", []),
    ],
)
def test_dates(text: str, expected: list[str]) -> None:
    """Dates are read in the usual forms; without a year the next such day is meant."""
    assert [moment.value for moment in dates(text, today=MONDAY)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14:30", ["14:30:00"]),
        ("2pm, 12am, 11.", ["14:00:00", "00:00:00"]),
        ("noon or midnight", ["12:00:00", "00:00:00"]),
        ("25:00, 5 people", []),
    ],
)
def test_times(text: str, expected: list[str]) -> None:
    """Times of day need a colon, am or pm, or a name."""
    assert [moment.value for moment in times(text)] == expected


@pytest.mark.parametrize(
    "words",
    [
        "reimburse reimburses reimbursed reimbursing reimbursement",
        "summary summaries summarize summarise summarizing",
        "translate translates translating translation",
        "book books booked booking bookings",
        "urgent urgency",
        "approve approval approved",
        "stop stops stopped stopping",
    ],
)
def test_related_words_have_one_stem(words: str) -> None:
    """The forms of a word share a stem."""
    assert len({stem(word) for word in words.split()}) == 1


def _call(properties: dict[str, Any], said: str, *, defs: dict[str, Any] | None = None) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    tool = types.FunctionDeclaration(
        name="arrange_visit",
        description="Arrange a visit.",
        parameters_json_schema=schema | ({"$defs": defs} if defs else {}),
    )
    content = types.Content(role="user", parts=[types.Part(text=f"arrange a visit {said}")])
    answer = rehearsed(LlmRequest(contents=[content], tools=[tool]), today=MONDAY)
    part = (answer.parts or [types.Part()])[0]
    return part.function_call.args if part.function_call else part.text


TEXT: dict[str, Any] = {"type": "string"}
COLOUR = {"type": "string", "enum": ["red", "dark_blue"]}


@pytest.mark.parametrize(
    ("schema", "said", "expected"),
    [
        pytest.param(
            TEXT | {"format": "email"}, "for ana@example.com", "ana@example.com", id="mail"
        ),
        pytest.param(TEXT | {"format": "uri"}, "at https://x.y/z.", "https://x.y/z", id="link"),
        pytest.param(TEXT | {"format": "time"}, "at 2pm", "14:00:00", id="time"),
        pytest.param(
            TEXT | {"format": "date-time"}, "tomorrow 9:30", "2026-12-01T09:30:00", id="moment"
        ),
        pytest.param(
            TEXT | {"format": "date-time"}, "tomorrow or Friday 9:30", None, id="which of two days"
        ),
        pytest.param(TEXT | {"format": "time"}, "at 2pm or at 3pm", None, id="which of two times"),
        pytest.param(
            {"type": "array", "items": {"type": "integer"}}, "1, 2, 3", [1, 2, 3], id="ints"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "number"}}, "1.5 and 2", [1.5, 2], id="numbers"
        ),
        pytest.param(
            {"type": "array", "items": TEXT | {"format": "email"}},
            "for a@b.co and c@d.co",
            ["a@b.co", "c@d.co"],
            id="mails",
        ),
        pytest.param(
            {"type": "array", "items": COLOUR}, "red, dark blue", ["red", "dark_blue"], id="choices"
        ),
        pytest.param({"$ref": "#/$defs/Colour"}, "in dark blue", "dark_blue", id="a reference"),
        pytest.param({"const": "red"}, "in red", "red", id="the only choice"),
        pytest.param({"enum": [10, 20]}, "with 20", 20, id="a choice of numbers"),
        pytest.param({"type": ["boolean", "null"]}, "with no thing", False, id="not"),
        pytest.param({"type": "boolean"}, "with thing", True, id="with"),
        pytest.param({"type": "array", "items": TEXT}, "somehow", None, id="words are asked for"),
        pytest.param({"type": "object"}, "somehow", None, id="an object is asked for"),
    ],
)
def test_values_by_type(schema: dict[str, Any], said: str, expected: Any) -> None:
    """What a parameter's schema wants is found in the text, or asked for by its name."""
    found = _call({"thing": schema}, said, defs={"Colour": COLOUR})
    if expected is None:
        assert "thing" in found
        assert found.endswith("?")
    else:
        assert found == {"thing": expected}


@pytest.mark.parametrize(
    ("names", "said", "expected"),
    [
        pytest.param(
            ("start_date", "end_date"),
            "from Dec 1 to Dec 5",
            {"start_date": "2026-12-01", "end_date": "2026-12-05"},
            id="dates by their prepositions",
        ),
        pytest.param(
            ("origin", "destination"),
            "from Berlin to Paris",
            {"origin": "Berlin", "destination": "Paris"},
            id="places by theirs",
        ),
        pytest.param(
            ("guest_name", "city"),
            'for "Ana Lee" in Rome',
            {"guest_name": "Ana Lee", "city": "Rome"},
            id="a quotation and a place",
        ),
        pytest.param(
            ("order_id", "reason"),
            "#A-17 because it is late",
            {"order_id": "A-17", "reason": "it is late"},
            id="a number of a thing and a reason",
        ),
    ],
)
def test_several_texts(names: tuple[str, ...], said: str, expected: dict[str, str]) -> None:
    """Several values in one sentence go to the parameters their words lead to."""
    assert _call(dict.fromkeys(names, TEXT), said) == expected
