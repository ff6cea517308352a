"""What an input begins with is what an approval without a change would enter, to the last digit."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from agents import check_payload
from agents.runtime.payload import schema_of
from bot.slack.blocks.hints import UNSHOWN
from bot.slack.blocks.inputs import inputs
from tests.bot.slack.samples import approval


class Line(BaseModel):
    """A part of a form."""

    price: float


def block(kind: Any, default: Any, *, modal: bool) -> tuple[dict[str, Any], Any, Any]:
    """The only input of a form, its schema, and what it begins with as JSON."""
    form, begins = schema_of(create_model("Form", field=(kind, default)))
    (found,) = inputs(approval(payload_schema=form, payload=begins), modal=modal)
    return found, form, begins["field"]


def initial(found: dict[str, Any]) -> Any:
    """What is in an input before anybody touches it; None where it is empty."""
    keys = [key for key in found["element"] if key.startswith("initial")]
    return found["element"][keys[0]] if keys else None


EAST = timezone(timedelta(hours=2))
SHOWN = [
    pytest.param(float, 0.5, "0.5", id="a fraction"),
    pytest.param(float, 1500.0, "1500", id="no fraction"),
    pytest.param(float, 1.234, "1.2340", id="what some read as thousands"),
    pytest.param(float, -12.345, "-12.3450", id="and below zero"),
    pytest.param(float, 0.001, "0.001", id="what nobody does"),
    pytest.param(int, 1_000, "1000", id="a whole number"),
    pytest.param(Decimal, Decimal("10.00"), "10.00", id="an amount"),
    pytest.param(Decimal, Decimal("1.500"), "1.5000", id="an amount to the thousandth"),
    pytest.param(
        Annotated[Decimal, Field(decimal_places=3)], Decimal("1.125"), "1.1250", id="its places"
    ),
    pytest.param(date, date(2026, 12, 24), "2026-12-24", id="a date"),
    pytest.param(time, time(17, 30), "17:30", id="a time"),
    pytest.param(datetime, datetime(2026, 12, 24, 9, tzinfo=UTC), 1_798_102_800, id="a moment"),
    pytest.param(datetime, datetime(2026, 12, 24, 11, tzinfo=EAST), 1_798_102_800, id="elsewhere"),
    pytest.param(list[float], [1.5, 2.0], "[1.5, 2.0]", id="a list"),
    pytest.param(int | str, "7", "7", id="a text of digits where both are taken"),
    pytest.param(str | list[str], "a", "a", id="a text where lists are taken as well"),
    pytest.param(str | list[str], ["a"], '["a"]', id="a list where texts are taken as well"),
    pytest.param(Any, "words", "words", id="a text where all is taken"),
    pytest.param(Any, 5, "5", id="a number where all is taken"),
    pytest.param(Any, {"a": [1]}, '{"a": [1]}', id="an object where all is taken"),
]


@pytest.mark.parametrize("modal", [False, True])
@pytest.mark.parametrize(("kind", "default", "shown"), SHOWN)
def test_an_input_begins_exactly(kind: Any, default: Any, shown: Any, modal: bool):
    """Approving without a touch enters the value that the form was asked with."""
    found, form, begins = block(kind, default, modal=modal)
    assert initial(found) == shown
    assert UNSHOWN not in str(found.get("hint"))
    entered = check_payload(form, {"field": shown})["field"]
    if isinstance(default, datetime):
        assert datetime.fromisoformat(str(entered)) == default
    elif isinstance(default, Decimal):
        assert Decimal(str(entered)) == default
    else:
        assert entered == begins


UNSHOWABLE = [
    pytest.param(bool | str, True, False, id="yes where texts are taken"),
    pytest.param(Any, "5", False, id="a text that would be a number"),
    pytest.param(Any, "true", False, id="a text that would be a flag"),
    pytest.param(str | list[str], '["a"]', False, id="a text that would be a list"),
    pytest.param(float, 0.1234567891, True, id="more digits than a number input takes"),
    pytest.param(float, 0.0000004, True, id="a number that would be nought"),
    pytest.param(float, 1e20, True, id="a number beyond it"),
    pytest.param(time, time(17, 30, 45), False, id="a time to the second"),
    pytest.param(time, time(17, 30, tzinfo=EAST), False, id="a time with a zone"),
    pytest.param(datetime, datetime(2026, 1, 1, 9, 0, 30, tzinfo=UTC), False, id="seconds"),
    pytest.param(datetime, datetime(2026, 1, 1, 9, 0, 0, 5, tzinfo=UTC), False, id="microseconds"),
    pytest.param(datetime, datetime(1926, 1, 1, tzinfo=UTC), False, id="before Slack counts"),
    pytest.param(int | str, 7, False, id="a number that would come back as a text"),
]


@pytest.mark.parametrize(("kind", "default", "only_modal"), UNSHOWABLE)
def test_what_an_input_cannot_show_exactly_is_not_begun_with(
    kind: Any, default: Any, only_modal: bool
):
    """Nobody agrees to a rounded value that they took for the real one: it begins empty."""
    found, _, _ = block(kind, default, modal=True)
    assert initial(found) is None
    assert found["hint"]["text"].endswith(UNSHOWN)
    on_the_card, _, _ = block(kind, default, modal=False)
    assert (initial(on_the_card) is None) is not only_modal


def test_a_limit_is_told_to_slack_exactly_or_not_at_all():
    """A rounded limit would refuse what is right, or let pass what is not."""
    kind = Annotated[float, Field(ge=0.25, le=0.12345678901 + 1)]
    found, _, _ = block(kind, 0.5, modal=True)
    assert found["element"]["min_value"] == "0.25"
    assert "max_value" not in found["element"]


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(), st.booleans())
def test_no_number_is_begun_with_rounded(value: float, modal: bool):
    """Whatever begins in an input is read again as the very number."""
    if value in (0, 0.0):
        return
    found, form, begins = block(type(value), value, modal=modal)
    if (text := initial(found)) is not None:
        assert check_payload(form, {"field": text})["field"] == begins
    else:
        assert UNSHOWN in found["hint"]["text"]


def test_what_no_answer_may_be_is_there_to_be_corrected():
    """A value beyond its own limits is shown; whoever sends it hears what is wanted."""
    found, _, _ = block(Annotated[int, Field(le=5)], 9, modal=False)
    assert initial(found) == "9"
