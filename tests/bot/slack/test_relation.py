"""How a request stands among others: whom its line mentions, and where two values differ."""

from typing import Any

import pytest

from bot.approvals.kin import kin
from bot.approvals.terms import Policy
from bot.slack import blocks
from tests.bot.slack.samples import ANA, MAX, MIA, NOW, approval
from tests.bot.slack.test_blocks import problems, shown

OTHER = "somebody who is not mentioned here"


@pytest.mark.parametrize("status", ["done", "failed"])
@pytest.mark.parametrize(
    ("policy", "by", "told"),
    [
        pytest.param(Policy(approvers=(MAX,)), MAX, f"<@{MAX}>", id="who is asked"),
        pytest.param(Policy(approvers=(MAX,), notified=()), MAX, OTHER, id="who is told nothing"),
        pytest.param(
            Policy(approvers=(MAX, MIA), notified=(MIA,)), MAX, OTHER, id="others are told"
        ),
        pytest.param(
            Policy(approvers=(MAX,), notified=(MIA,)), MIA, f"<@{MIA}>", id="who is only told"
        ),
        pytest.param(Policy(approvers=(MAX,)), MIA, OTHER, id="who is not asked any more"),
        pytest.param(Policy(approvers=(MAX,)), ANA, OTHER, id="who asks"),
        pytest.param(Policy(approvers=(MAX,)), "operator bo", "operator bo", id="an operator"),
    ],
)
def test_nobody_is_pinged_for_what_they_decided(policy: Policy, by: str, told: str, status: str):
    """A new card mentions whom it tells, and not whoever decided a request like it."""
    older = approval(id="1-0", call_id="1-0", asked_at=0, status=status, decided_by=by)
    asked = approval(asked_at=1, policy=policy)
    card = blocks.card(asked, now=NOW, kin=kin(asked, [asked, older]))
    assert f"{'decided' if status == 'done' else 'approved'} by {told}" in shown(card)
    if told == OTHER:
        mentioned = shown(card).replace(f"asked by \nuser\n{ANA}", "")
        assert f"<@{by}>" not in mentioned
    assert problems(card) == []


LONG = "x" * 80
PAIRS = [
    pytest.param("Trolha", "trolha", "(Trolha / trolha)", id="short ones, whole"),
    pytest.param(
        f"{LONG}A", f"{LONG}a", f"(…{'x' * 20}A / …{'x' * 20}a)", id="where they begin to differ"
    ),
    pytest.param(f"A{LONG}", f"a{LONG}", f"(A{'x' * 59}… / a{'x' * 59}…)", id="at the beginning"),
    pytest.param(
        f"{LONG}A{LONG}", f"{LONG}a{LONG}", f"(…{'x' * 20}A{'x' * 39}… / …", id="in the middle"
    ),
    pytest.param("a  b", "a b", '("a  b" / "a b")', id="blanks"),
    pytest.param("a\nb", "a b", '("a\\nb" / "a b")', id="lines"),
    pytest.param(["A", "b"], ["a", "b"], "(A, b / a, b)", id="in a list"),
]


@pytest.mark.parametrize(("one", "other", "told"), PAIRS)
def test_two_values_are_told_where_they_differ(one: Any, other: Any, told: str):
    """However long two values are, what is read of them is not the same."""
    older = approval(id="1-0", call_id="1-0", asked_at=0, args={"note": other}, digest="1")
    asked = approval(asked_at=1, args={"note": one}, digest="2")
    card = blocks.card(asked, now=NOW, kin=kin(asked, [asked, older]))
    line = next(text for text in shown(card).splitlines() if "Nearly the same as" in text)
    assert told in line
    first, second = line.rpartition("(")[2].rstrip(").").split(" / ")
    assert first != second
    assert len(line) < 300
