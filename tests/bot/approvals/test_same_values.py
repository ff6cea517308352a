"""Two who approve agree when what they entered means the same, however each of them spelled it."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from agents.runtime.payload import schema_of
from bot.approvals.decision import Outcome, weigh
from bot.approvals.request import differ
from bot.approvals.terms import Policy
from tests.bot.approvals.samples import ASKED, approval, click

TWO = Policy(approvers=("UBOSS", "UCFO"), quorum=2)
Letters = Literal["a", "b", "c"]
Colleague = Annotated[str, Field(json_schema_extra={"format": "person"})]


class Order(BaseModel):
    """A part of a form."""

    price: Decimal
    note: str | None = None


def form(kind: Any, *default: Any) -> dict[str, Any]:
    """The schema of a form with the field `x`."""
    field = (kind, *(default or (...,)))
    return schema_of(create_model("Form", x=field))[0]


SAME: list[Any] = [
    pytest.param(form(Decimal), "10.00", "10", id="a decimal with zeros"),
    pytest.param(form(Decimal), "10", "1e1", id="a decimal with an exponent"),
    pytest.param(form(Decimal), "0.0", "-0", id="nothing, with a sign"),
    pytest.param(form(Decimal | None, None), "5.10", "5.1", id="a decimal that may be left empty"),
    pytest.param(form(float), "10", "10.0", id="a number"),
    pytest.param(form(list[Letters]), ["a", "b"], ["b", "a"], id="choices in another order"),
    pytest.param(form(set[Letters]), ["c", "a"], ["a", "c"], id="a set of choices"),
    pytest.param(form(list[Letters] | None, None), ["a", "b"], ["b", "a"], id="choices or nothing"),
    pytest.param(form(list[Letters | None]), ["a", "b"], ["b", "a"], id="choices, or null"),
    pytest.param(form(list[Colleague]), ["UANN", "UBOB"], ["UBOB", "UANN"], id="people"),
    pytest.param(form(list[Colleague | None]), ["UA", "UB"], ["UB", "UA"], id="people, or null"),
    pytest.param(form(list[bool]), [True, False], [False, True], id="yes and no"),
    pytest.param(form(Any), "1", "1.0", id="a number in what may be anything"),
    pytest.param(form(set[str]), "a\nb", "b\na", id="a set of texts"),
    pytest.param(form(set[Decimal]), '["1.0", "2"]', '["2", "1"]', id="a set of decimals"),
    pytest.param(form(str | None, None), None, "", id="nothing, and an empty text"),
    pytest.param(form(str | None, None), None, " \n ", id="nothing, and a blank"),
    pytest.param(form(str, ""), "", "  ", id="empty, and blank"),
    pytest.param(form(str), "a\nb", "a  \r\nb\n", id="ends of lines"),
    pytest.param(form(datetime), "2026-12-24T09:30Z", "2026-12-24T10:30+01:00", id="two zones"),
    pytest.param(form(time), "09:30", "09:30:00", id="a time with seconds"),
    pytest.param(form(timedelta), "PT90M", "01:30:00", id="a span"),
    pytest.param(form(date), "2026-12-24", " 2026-12-24 ", id="a date"),
    pytest.param(form(Order), '{"price": "1.0"}', '{"price": "1", "note": ""}', id="in a model"),
    pytest.param(form(list[Order]), '[{"price": "1"}]', '[{"price": "1.00"}]', id="in a list"),
    pytest.param(form(dict[str, Decimal]), '{"a": "1"}', '{"a": "1.0"}', id="in an object"),
]
OTHER: list[Any] = [
    pytest.param(form(Decimal), "10", "10.01", id="another decimal"),
    pytest.param(form(list[Letters]), ["a", "b"], ["a", "c"], id="other choices"),
    pytest.param(form(list[Letters]), ["a"], ["a", "b"], id="one choice more"),
    pytest.param(form(list[str]), "a\nb", "b\na", id="a list has an order"),
    pytest.param(form(bool | int), True, 1, id="yes and one"),
    pytest.param(form(bool | int), 0, False, id="zero and no"),
    pytest.param(form(Literal[True, 1, 2]), True, 1, id="choices that Python takes for the same"),
    pytest.param(form(Any), "true", "1", id="anything"),
    pytest.param(form(list[Any]), "[1, [true]]", "[1, [1]]", id="in a list of anything"),
    pytest.param(form(dict[str, Any]), '{"a": 0}', '{"a": false}', id="in an object of anything"),
    pytest.param(form(list[Colleague]), ["UANN"], ["UBOB"], id="other people"),
    pytest.param(form(tuple[Letters, Letters]), ["a", "b"], ["b", "a"], id="so has a pair"),
    pytest.param(form(str | None, None), None, "x", id="nothing, and something"),
    pytest.param(form(str), "a b", "ab", id="a blank inside"),
    pytest.param(form(str), "Bo", "bo", id="letter case"),
    pytest.param(form(str), "10", "10.0", id="digits in a text"),
    pytest.param(form(datetime), "2026-12-24T09:30Z", "2026-12-24T09:30", id="no zone"),
    pytest.param(form(Order), '{"price": "1"}', '{"price": "1", "note": "x"}', id="in a model"),
    pytest.param(form(Literal["10", "10.0"]), "10", "10.0", id="choices that look like numbers"),
]


def _both(schema: dict[str, Any], one: Any, other: Any):
    """What comes of two approvals with these values."""
    asked = approval(policy=TWO, payload_schema=schema, form=("x",))
    for who, value in (("UBOSS", one), ("UCFO", other)):
        came = weigh(asked, click(asked, who, values={"x": value}), now=ASKED + 1, run_for=None)
        assert not isinstance(came, Outcome), came.problems
        asked = came
    return asked


@pytest.mark.parametrize(("schema", "one", "other"), SAME)
@pytest.mark.parametrize("turned", [False, True], ids=["", "the other first"])
def test_the_same(schema: dict[str, Any], one: Any, other: Any, *, turned: bool):
    """It is approved, with what the first one entered."""
    came = _both(schema, *((other, one) if turned else (one, other)))
    assert (came.status, differ(came)) == ("approved", False)
    assert came.payload == came.votes[0].payload == came.votes[1].payload


@pytest.mark.parametrize(("schema", "one", "other"), OTHER)
def test_something_else(schema: dict[str, Any], one: Any, other: Any):
    """What people can tell apart is counted apart."""
    came = _both(schema, one, other)
    assert (came.status, differ(came)) == ("pending", True)
