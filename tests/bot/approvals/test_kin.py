"""What people would take for the same call, and which try of it a request is."""

import unicodedata
from typing import Any

import pytest

from bot.approvals.kin import ALONE, Difference, differences, kin
from bot.approvals.looks import folded
from bot.approvals.request import Approval
from tests.bot.approvals.samples import ASKED, approval

SAME = [
    pytest.param("Trolha", "trolha", "letter case", id="capitals"),
    pytest.param("STRASSE", "straße", "letter case", id="sharp s"),
    pytest.param("new york", "newyork ", "blanks", id="blanks"),
    pytest.param("a\u00a0b", "a  b", "blanks", id="a blank that does not break"),
    pytest.param("a\tb\n", "a b", "blanks", id="lines"),
    pytest.param("caf\u00e9", "cafe\u0301", "the form of its characters", id="NFC and NFD"),
    pytest.param("ＡＢＣ１２", "ABC12", "the form of its characters", id="full width"),
    pytest.param("\ufb01ne", "fine", "the form of its characters", id="a ligature"),
    pytest.param("pay\u200bee", "payee", None, id="nothing between letters"),
    pytest.param("pay\u3164ee", "payee", None, id="a letter that shows nothing"),
    pytest.param("cost\u2013centre", "cost-centre", None, id="dashes"),
    pytest.param("\u201cx\u201d", '"x"', None, id="quotes"),
    pytest.param("Ｔrolha ", "trolha", None, id="several at once"),
    pytest.param(10, 10.0, "the form of what is in it", id="a whole number"),
    pytest.param(["A", "b"], ["a", "B "], "the form of what is in it", id="in a list"),
    pytest.param({"to": {"n": "A"}}, {"to": {"n": "a"}}, "the form of what is in it", id="inside"),
]
OTHERS = [
    pytest.param("Trolha", "Trolhas", id="a letter more"),
    pytest.param("1.5", "15", id="digits"),
    pytest.param("1,5", "1.5", id="signs in numbers"),
    pytest.param(10, "10", id="a text and a number"),
    pytest.param(True, 1, id="yes and one"),
    pytest.param(None, "", id="nothing and an empty text"),
    pytest.param(["a", "b"], ["b", "a"], id="another order"),
    pytest.param("a", "\u0430", id="another letter that looks like it"),
    pytest.param({"a": 1}, {"b": 1}, id="another key"),
]


@pytest.mark.parametrize(("one", "other", "form"), SAME)
def test_what_looks_the_same(one: Any, other: Any, form: str | None):
    """Letter case, blanks and the form of characters are not what a person means."""
    assert folded(one) == folded(other)
    first, second = approval(args={"x": one}), approval(args={"x": other})
    (told,) = differences(first, second)
    assert told.name == "x"
    assert told.form == (form or "letter case, blanks or the form of its characters")


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_what_does_not(one: Any, other: Any):
    """Everything else is another call."""
    first, second = approval(args={"x": one}), approval(args={"x": other})
    assert (folded(one), type(folded(one))) != (folded(other), type(folded(other)))
    assert differences(first, second) == (Difference("x"),)
    assert kin(second, [later(id="1", args={"x": one}, asked_at=ASKED - 1)]).alike is None


def test_every_form_of_a_letter():
    """Whatever form a text has in Unicode, it looks the same as in any other."""
    text = "Ångström Ⅻ ﷺ ĳ ｶﾞ"
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len({str(folded(each)) for each in forms}) == 1


def later(**changes: Any) -> Approval:
    """A request of a later reply of the model."""
    return approval(**{"id": "9-0", "call_id": "8-0", "asked_at": ASKED + 1000, **changes})


@pytest.mark.parametrize(
    ("older", "asked", "found"),
    [
        pytest.param({}, {"args": {"to": "A"}, "digest": "2"}, True, id="open"),
        pytest.param({"status": "rejected"}, {"digest": "2"}, True, id="rejected"),
        pytest.param({"status": "rejected"}, {}, True, id="the very same, rejected"),
        pytest.param({}, {}, False, id="the very same, which is superseded"),
        pytest.param({"status": "approved"}, {"digest": "2"}, True, id="approved"),
        pytest.param({"status": "done"}, {"digest": "2"}, True, id="done"),
        pytest.param({"status": "done"}, {}, True, id="the very same, done"),
        pytest.param({"status": "unknown"}, {}, True, id="the very same, which may have run"),
        pytest.param({"status": "unknown", "call_id": "8-0"}, {}, False, id="the same call"),
        pytest.param({"status": "failed"}, {"digest": "2"}, False, id="failed"),
        pytest.param({"status": "expired"}, {"digest": "2"}, False, id="expired"),
        pytest.param({"status": "void"}, {}, False, id="it did not run"),
        pytest.param({"tool": "refund"}, {"digest": "2"}, False, id="another tool"),
        pytest.param({"args": {"to": "b"}}, {"digest": "2"}, False, id="another argument"),
        pytest.param({"args": {"to": "a", "x": 1}}, {"digest": "2"}, False, id="one more"),
        pytest.param({"asked_at": ASKED + 2000}, {"digest": "2"}, False, id="asked later"),
        pytest.param(
            {"call_id": "8-1", "asked_at": ASKED + 1000}, {"digest": "2"}, True, id="beside"
        ),
    ],
)
def test_a_request_that_looks_the_same(older: Any, asked: Any, found: bool):
    """One that is open, was rejected, or ran is told: the same should not be done twice."""
    before = approval(**{"args": {"to": "a"}, **older})
    now = later(**{"args": {"to": "a"}, **asked})
    assert kin(now, [before, now]).alike == (before if found else None)


def test_the_open_one_counts():
    """Of several that look the same an open one is told, else the newest that was decided."""
    shut = approval(id="1-0", status="rejected", asked_at=ASKED + 10)
    first, second = (
        approval(id="2-0", digest="2"),
        approval(id="3-0", digest="3", asked_at=ASKED + 5),
    )
    now = later(digest="9")
    assert kin(now, [shut, first, second]).alike == second
    assert kin(now, [shut]).alike == shut


@pytest.mark.parametrize(
    ("before", "asked", "attempt", "corrected"),
    [
        pytest.param([("failed", "red")], "blue", 2, ("team",), id="corrected"),
        pytest.param([("failed", "red")], "red", 2, (), id="nothing changed"),
        pytest.param([("failed", "red"), ("failed", "green")], "blue", 3, ("team",), id="third"),
        pytest.param([("failed", "red"), ("rejected", "green")], "blue", 2, ("team",), id="a no"),
        pytest.param([("failed", "red"), ("done", "green")], "blue", 1, (), id="done since"),
        pytest.param([("done", "red")], "blue", 1, (), id="never failed"),
        pytest.param([("unknown", "red")], "blue", 1, (), id="nobody knows"),
        pytest.param([("void", "red")], "blue", 1, (), id="it did not run"),
        pytest.param([], "blue", 1, (), id="the first"),
    ],
)
def test_another_try(before: Any, asked: str, attempt: int, corrected: tuple[str, ...]):
    """A call that ran and failed makes the next one another try, until one is done."""
    older = [
        approval(id=f"{n}-0", status=status, args={"team": team, "x": 1}, asked_at=ASKED + n)
        for n, (status, team) in enumerate(before)
    ]
    found = kin(later(args={"team": asked, "x": 1}), older)
    assert (found.attempt, tuple(found.corrected)) == (attempt, corrected)


@pytest.mark.parametrize(
    ("older", "asked", "attempt"),
    [
        pytest.param({}, {}, 2, id="the same run"),
        pytest.param({}, {"run": "i2"}, 1, id="another run with nothing in common"),
        pytest.param({}, {"run": "i2", "args": {"a": 1, "b": 9}}, 2, id="another run, half of it"),
        pytest.param({"args": {"a": 1}}, {"run": "i2", "args": {"a": 2}}, 2, id="one argument"),
        pytest.param({"requester": "UX1"}, {}, 1, id="another person's"),
        pytest.param({"tool": "refund"}, {}, 1, id="another tool"),
    ],
)
def test_what_is_another_try_of_the_same(older: Any, asked: Any, attempt: int):
    """In one run every call after a failed one is; later it has to share an argument."""
    failed = approval(**{"status": "failed", "run": "i1", "args": {"a": 1, "b": 1}, **older})
    now = later(**{"run": "i1", "args": {"a": 2, "b": 2}, **asked})
    assert kin(now, [failed]).attempt == attempt


def test_equal_calls_of_one_turn_are_counted():
    """Two equal calls of a turn are numbered; one of another turn does not count."""
    first, second = approval(call_id="2-0"), approval(id="4-0", call_id="2-10")
    other = approval(id="5-0", call_id="9-0")
    among = [other, second, first]
    places = [(each.place, each.of) for each in (kin(a, among) for a in (first, second, other))]
    assert places == [(1, 2), (2, 2), (1, 1)]


def test_a_second_question_about_a_call_is_no_second_call():
    """Whether an interrupted call happened, or may run after a change, is asked of the same one."""
    first = approval(status="unknown")
    second = approval(id="5-0", unknown=True, asked_at=ASKED + 1)
    assert [(each.place, each.of) for each in (kin(first, [second]), kin(second, [first]))] == [
        (1, 1),
        (1, 1),
    ]
    assert kin(first, []) == ALONE
