"""What a condition says about an argument: by its kind, and never looser for its looks."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import TypeAdapter

from agents import ApprovalPolicy
from bot.approvals.conditions import condition, covers
from bot.approvals.resolve import chosen

STRICT, LOOSE = ApprovalPolicy(approvers=("UMIA",)), ApprovalPolicy(approvers=("UMAX",))


def _json(kind: Any, value: object) -> Any:
    """A value as it stands in a call."""
    return TypeAdapter(kind).dump_python(value, mode="json")


@pytest.mark.parametrize(
    ("kind", "value", "text", "met"),
    [
        pytest.param(timedelta, timedelta(days=30), '> "P7D"', True, id="30 days are more than 7"),
        pytest.param(timedelta, timedelta(days=1), '> "PT12H"', True, id="a day, and hours"),
        pytest.param(timedelta, timedelta(hours=12), '> "P1D"', False, id="hours, and a day"),
        pytest.param(timedelta, timedelta(days=-30), '> "P7D"', False, id="a span backwards"),
        pytest.param(timedelta, timedelta(days=1), '== "PT24H"', True, id="a day is 24 hours"),
        pytest.param(timedelta, timedelta(days=7), '<= "P1W"', True, id="a week is 7 days"),
        pytest.param(str, "30 days", '> "P7D"', None, id="a span in words"),
        pytest.param(str, "30 days", '== "P7D"', None, id="a span in words, the same or not"),
        pytest.param(str, "P9999999999D", '> "P7D"', None, id="a span beyond reason"),
        pytest.param(date, date(2026, 12, 24), '> "2026-12-01"', True, id="a later date"),
        pytest.param(str, "24 Dec 2026", '> "2026-12-01"', None, id="a date in words"),
        pytest.param(str, "24 Dec 2026", '!= "2026-12-01"', None, id="in words, another or not"),
        pytest.param(str, "2026-1-5", '< "2026-12-01"', None, id="a date without zeros"),
        pytest.param(str, "20270101", '< "2026-12-01"', None, id="a date without dashes"),
        pytest.param(time, time(18, 30), '> "18:00"', True, id="a later time"),
        pytest.param(str, "9:30", '> "18:00"', None, id="a time without a zero"),
        pytest.param(str, "19:00:00+09:00", '> "18:00"', None, id="a time of another zone"),
        pytest.param(
            datetime,
            datetime.fromisoformat("2026-12-01T08:00:00+09:00"),
            '< "2026-12-01T00:00:00Z"',
            True,
            id="moments of two zones",
        ),
        pytest.param(str, "2026-12-01T08:00:00", '< "2026-12-01T00:00:00Z"', None, id="no zone"),
        pytest.param(str, "2026-12-01T08:00:00", '> "2026-12-01"', None, id="part of it"),
        pytest.param(Decimal, Decimal(5000), '> "600"', True, id="a Decimal beside digits"),
        pytest.param(Decimal, Decimal("1E+3"), "> 600", True, id="a Decimal with an exponent"),
        pytest.param(Decimal, Decimal("600.0"), '== "600"', None, id="digits of two forms"),
        pytest.param(Enum("Level", {"LOW": 1, "HIGH": 10})(10), None, "> 9", True, id="an Enum"),
    ],
)
def test_by_kind(kind: Any, value: object, text: str, met: bool | None):
    """What has an order compares by what it is, and anything else is left to the stricter."""
    found = kind.value if value is None else _json(kind, value)
    assert condition(f"given {text}").met({"given": found}) is met


ALIKE = {
    "letter case": "Prod",
    "a blank behind": "prod ",
    "a line break before": "\nprod",
    "nothing between": "pr\u200bod",
    "a turn of direction": "\u202eprod",
    "wide letters": "ｐｒｏｄ",
    "a letter of another script": "рrod",
    "an accent": "pród",
    "a mark on a letter": "pro\u0336d",
    "a soft hyphen": "pro\u00add",
}
UNLIKE = ("staging", "production", "pro", "", "prod2")


@pytest.mark.parametrize("found", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize(
    ("text", "tier", "base"),
    [
        pytest.param('env == "prod"', STRICT, LOOSE, id="a tier that is stricter"),
        pytest.param('env == "prod"', LOOSE, STRICT, id="a tier that is looser"),
        pytest.param('env != "prod"', LOOSE, STRICT, id="looser for all others"),
        pytest.param('env != "prod"', STRICT, LOOSE, id="stricter for all others"),
        pytest.param('env in ["test", "prod"]', LOOSE, STRICT, id="looser for some"),
        pytest.param('env in ["live", "prod"]', STRICT, LOOSE, id="stricter for some"),
    ],
)
def test_a_text_that_looks_the_same(
    found: str, text: str, tier: ApprovalPolicy, base: ApprovalPolicy
):
    """Whoever gets it may take it for the same or not, so both policies have to be met."""
    policy = ApprovalPolicy(approvers=base.approvers, tiers={text: tier})
    policies = chosen([policy], {"env": found})
    assert {name for each in policies for name in each.approvers} == {"UMIA", "UMAX"}


@pytest.mark.parametrize("found", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("shape", ['["x", {}]', '{{"of": {}}}'], ids=["list", "object"])
def test_what_looks_the_same_inside(found: str, shape: str):
    """A list or an object is no other for a letter's case or what nobody sees."""
    value: Any = ["x", found] if shape.startswith("[") else {"of": found}
    assert condition("env == " + shape.format('"prod"')).met({"env": value}) is None


@pytest.mark.parametrize("found", UNLIKE)
def test_another_text_is_another(found: str):
    """What nobody would take for the same is met by one policy alone."""
    assert condition('env == "prod"').met({"env": found}) is False
    assert condition('env in ["prod"]').met({"env": found}) is False
    assert condition('env != "prod"').met({"env": found}) is True


@pytest.mark.parametrize("text", ['name > "m"', 'name <= ""', 'at > "24:30"', 'day < "2026-02-30"'])
def test_texts_have_no_order(text: str):
    """A text that is no quantity is refused behind an order sign."""
    with pytest.raises(ValueError, match="a number, a date, a time or a span"):
        condition(text)


@pytest.mark.parametrize(
    ("earlier", "later", "covered"),
    [
        pytest.param("a > 1000", "a > 100", True, id="more than more"),
        pytest.param("a > 100", "a > 1000", False, id="in rising order"),
        pytest.param("a < 5", "a < 50", True, id="less than less"),
        pytest.param("a < 50", "a < 5", False, id="in falling order"),
        pytest.param("a > 100", "a >= 100", True, id="at the edge, inside"),
        pytest.param("a >= 100", "a > 100", False, id="at the edge, outside"),
        pytest.param("a >= 100", "a >= 100.0", True, id="the same, spelled otherwise"),
        pytest.param("a > 1000", "a < 5000", False, id="two directions"),
        pytest.param("a > 1000", "b > 100", False, id="two arguments"),
        pytest.param("x.a > 1000", "x.a > 100", True, id="inside an argument"),
        pytest.param("x.a > 1000", "y.a > 100", False, id="inside another"),
        pytest.param("a == 7", "a > 5", True, id="a value beyond"),
        pytest.param("a == 3", "a > 5", False, id="a value before"),
        pytest.param('a in ["x", "y"]', 'a != "z"', True, id="members, none of them excluded"),
        pytest.param('a in ["x", "z"]', 'a != "z"', False, id="members, one of them excluded"),
        pytest.param('a in ["x"]', 'a in ["y", "x"]', True, id="members of more members"),
        pytest.param('a in ["x", "w"]', 'a in ["y", "x"]', False, id="a member more"),
        pytest.param('a != "x"', 'a != "x"', False, id="nothing is told of what is excluded"),
        pytest.param('a > "P7D"', 'a > "PT1H"', True, id="spans"),
        pytest.param('a > "2026-12-01"', 'a > "2026-01-01"', True, id="dates"),
        pytest.param('a > "2026-12-01"', "a > 5", False, id="two kinds"),
    ],
)
def test_a_condition_may_cover_another(earlier: str, later: str, covered: bool):
    """Whatever meets the one surely meets the other, too; where nobody can tell, it does not."""
    assert covers(condition(later), condition(earlier)) == covered
