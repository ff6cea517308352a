"""Conditions that can never be met or told stop the start: by what an argument may be."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from agents import Agent, ApprovalPolicy, FunctionTool
from bot.approvals.rules import Book, book, usable
from bot.errors import SettingsError
from bot.settings import Settings

MISFITS = {
    'span > "7 days"': "needs a number, a date",
    "span > 7": "a span such as P7D",
    'span > "2026-12-01"': "a span such as P7D",
    'day > "2026-12-01T00:00:00Z"': "a date such as",
    'day == "tomorrow"': "a date such as",
    "day > 5": "a date such as",
    'at > "2026-12-01"': "a moment such as",
    'hour > "PT1H"': "a time such as",
    'amount > "2026-12-01"': "it is a number",
    'amount == "much"': "it is a number",
    "amount == true": "it is a number",
    "price == [1]": "a number or a text",
    'env == "prdo"': 'one of ["prod", "staging"]',
    'env in ["prod", "live"]': 'with "live"',
    'env == "Prod"': 'one of ["prod", "staging"]',
    'level > "P1D"': "one of [1, 2]",
    "level == 3": "one of [1, 2]",
    'mode != "c"': 'one of ["a", "b"]',
    "dry > 1": "true or false",
    'dry == "yes"': "true or false",
    "dry == null": "true or false",
    'tags == "x"': "a list",
    "tags > 1": "a list",
    'to == "Berlin"': "an object",
    "to.town == 1": "is about to.town",
    "to.due > 5": "a date such as",
    'amount.deep == "x"': "is about amount.deep",
    'tags.first == "x"': "is about tags.first",
    'counts.x == "much"': "it is a number",
}
FITS = (
    'span > "P7D"', 'day > "2026-12-01"', 'at > "2026-12-01T00:00:00Z"', 'at > "2026-12-01T00:00"',
    'hour > "17:30"', "amount > 5", 'amount > "5"', "price > 1000", 'price > "1000"',
    'env == "prod"', 'env in ["prod", "staging"]', "level > 1", "level == 2", 'mode != "a"',
    "dry == true", "dry != false", 'tags == ["x"]', 'to == {"city": "Berlin"}', 'to.city == "Bonn"',
    'to.due > "2026-12-01"', "to.due == null", "counts.x > 3", 'note == "x"', "note > 5",
    'note > "P1D"', "extra > 5", 'extra.deep == "x"', "extra == null", "env in []",
)  # fmt: skip


class Env(Enum):
    """Where."""

    PROD = "prod"
    STAGING = "staging"


class Level(Enum):
    """How much."""

    LOW = 1
    HIGH = 2


class Address(BaseModel):
    """To whom."""

    city: str
    due: date | None = None


def ship(
    *,
    span: timedelta,
    day: date,
    at: datetime,
    hour: time,
    amount: int,
    price: Decimal,
    env: Env,
    level: Level,
    mode: Literal["a", "b"],
    dry: bool,
    tags: list[str],
    to: Address,
    counts: dict[str, int],
    note: str,
    extra: Any,
) -> str:
    """Ship."""
    return "shipped"


@pytest.mark.parametrize("where", ["tool", "settings", "a tier of a tier"])
@pytest.mark.parametrize(("when", "words"), MISFITS.items(), ids=MISFITS)
def test_a_condition_that_can_never_be_told(when: str, words: str, where: str):
    """What an argument can never be compared with stops the start, in a sentence."""
    told = _ship(when, where)
    with pytest.raises(SettingsError) as raised:
        usable(told)
    assert words in str(raised.value)


@pytest.mark.parametrize("where", ["tool", "settings", "a tier of a tier"])
@pytest.mark.parametrize("when", FITS)
def test_a_condition_that_can_be_told(when: str, where: str):
    """What an argument may be compared with is taken."""
    assert usable(_ship(when, where))


def _ship(when: str, where: str) -> Book:
    """The policies of a tool that ships, with a tier on this condition."""
    policy = ApprovalPolicy(tiers={when: ApprovalPolicy()})
    if where == "a tier of a tier":
        policy = ApprovalPolicy(tiers={"amount > 1": policy})
    own = FunctionTool(
        ship, require_confirmation=True, approval=policy if where != "settings" else None
    )
    written = {"desk.ship": {"tiers": {when: {}}}} if where == "settings" else {}
    settings = Settings.read(approval_policies=json.dumps(written), approvers=["U1A"])
    return book(settings, [Agent(name="desk", tools=[own])])
