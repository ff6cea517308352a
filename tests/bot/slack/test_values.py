"""Values in words: whole and exact, and as people say them; no text passes for another value."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.approvals.terms import Policy, Vote
from bot.secrets import MASK
from bot.slack import blocks
from bot.slack.blocks.entered import filled
from bot.slack.blocks.values import argument, in_one_line, number, words
from bot.slack.validate import message_problems
from tests.bot.slack.samples import MAX, MIA, NOW, approval
from tests.bot.slack.test_blocks import closed, shown

WORDS = [
    pytest.param(1500, "1500", id="a whole number"),
    pytest.param(1500.0, "1500", id="a float without a fraction"),
    pytest.param(1234567, "1234567", id="no marks of thousands"),
    pytest.param(12345678.9, "12345678.9", id="nor in a large amount"),
    pytest.param(0.00001, "0.00001", id="a small number"),
    pytest.param(-2.5e-7, "-0.00000025", id="a smaller one below zero"),
    pytest.param(1e22, "1" + "0" * 22, id="a large number"),
    pytest.param(1e300, "1e+300", id="a number that nobody counts"),
    pytest.param(0.1 + 0.2, "0.3 (exactly 0.30000000000000004)", id="a computed number"),
    pytest.param(1.1 * 3, "3.3 (exactly 3.3000000000000003)", id="another one"),
    pytest.param(1 / 3, "0.3333333333333333", id="a third"),
    pytest.param(19.99, "19.99", id="a price"),
    pytest.param(-0.0, "-0.0", id="below zero by nothing"),
    pytest.param("1500.00", "1500.00", id="the digits of a Decimal"),
    pytest.param("0042", "0042", id="digits of an account"),
    pytest.param(True, "Yes", id="yes"),
    pytest.param(False, "No", id="no"),
    pytest.param("true", "true", id="a word of programs"),
    pytest.param("Yes", '"Yes"', id="one of our words"),
    pytest.param(None, "nothing", id="nothing"),
    pytest.param("nothing", '"nothing"', id="the word nothing"),
    pytest.param("", "empty", id="an empty text"),
    pytest.param([], "none", id="an empty list"),
    pytest.param({}, "none", id="an empty object"),
    pytest.param(["a", "b"], "a, b", id="a list of words"),
    pytest.param([1500.0, 2, None, True], "1500, 2, nothing, Yes", id="a list of others"),
    pytest.param(["a, b", "c"], '"a, b", c', id="a comma in a list"),
    pytest.param(["", " x"], 'empty, " x"', id="blanks in a list"),
    pytest.param(["word" * 9] * 3, '[\n  "' + "word" * 9, id="a long list"),
    pytest.param([[1], [2]], "[\n  [\n    1\n  ],", id="lists in a list"),
    pytest.param({"amount": 1500.0, "n": 1e-05}, '"amount": 1500,\n  "n": 0.00001', id="an object"),
    pytest.param({"to": "Łukasz", "ok": True}, '"to": "Łukasz",\n  "ok": true', id="an umlaut"),
    pytest.param("2026-12-24", "2026-12-24", id="a date"),
    pytest.param("2026-12-24T09:00:00+00:00", "2026-12-24 09:00 UTC", id="a moment"),
    pytest.param("2026-12-24T09:00:05+02:00", "2026-12-24 09:00:05 +02:00", id="to the second"),
    pytest.param("2026-12-24T09:00", "2026-12-24 09:00", id="a moment without a zone"),
    pytest.param("2026-12-24T09:00:00.5Z", "2026-12-24T09:00:00.5Z", id="finer than a second"),
    pytest.param("2026-99-24T09:00Z", "2026-99-24T09:00Z", id="no moment"),
]


@pytest.mark.parametrize(("value", "told"), WORDS)
def test_a_value_is_told_as_people_say_it(value: Any, told: str):
    """In the same words on the card, in the line and in what somebody entered."""
    assert words(value).startswith(told) or told in words(value)
    record = approval(args={"x": value}, order=("x",))
    assert words(value) in shown(blocks.card(record, now=NOW)) or "T09" in str(value)
    line = " ".join(words(value)[:100].split())
    assert line in blocks.asked(record, now=NOW).text.replace("&amp;", "&")
    [entered] = filled(closed("approved", payload={"x": value}), {"x": value})
    assert json.dumps(words(value), ensure_ascii=False)[1:-1] in json.dumps(
        entered, ensure_ascii=False
    ) or "T09" in str(value)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_number_is_what_is_read(value: float):
    """No digit of a number is lost or rounded, and nothing stands between its digits."""
    assert Decimal(number(value)) == Decimal(str(value))
    exact = re.search(r"\(exactly (.*)\)", words(value))
    assert Decimal(exact[1] if exact else words(value)) == Decimal(str(value))


@given(st.text(max_size=20), st.none() | st.booleans() | st.text(max_size=20))
def test_two_texts_are_never_told_alike(one: str, other: Any):
    """What is told of two values is the same only if they are."""
    assert (words(one) == words(other)) is (one == other and isinstance(other, str))


@pytest.mark.parametrize(
    ("value", "seconds", "form"),
    [
        pytest.param("2026-12-24T09:00:00+00:00", 1_798_102_800, "{time}", id="UTC"),
        pytest.param("2026-12-24T10:00:00+01:00", 1_798_102_800, "{time}", id="another zone"),
        pytest.param("2026-12-24T09:00:07Z", 1_798_102_807, "{time_secs}", id="to the second"),
    ],
)
def test_a_moment_is_read_in_the_readers_zone(value: str, seconds: int, form: str):
    """An argument, a condition and an entry with a zone are dates that Slack turns into theirs."""
    record = approval(args={"at": value}, order=("at",), precondition={"seen_at": value})
    entered = filled(closed("approved", payload={"when": value}), {"when": value})
    card = blocks.card(record, now=NOW)
    for found, count in ((list(card.blocks), 2), (entered, 1)):
        text = json.dumps(found)
        assert text.count(f'"timestamp": {seconds}') == count
        assert text.count(f'at {form}", "fallback"') == count
    assert message_problems({"text": card.text, "blocks": list(card.blocks)}, update=False) == []


@pytest.mark.parametrize(
    "value",
    ["2026-12-24T09:00:00", "2026-12-24", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "soon"],
)
def test_what_is_no_moment_stays_a_text(value: str):
    """Without a zone nobody knows when that is, and Slack counts from 1970 on."""
    assert argument("at", value).instead == () or value.startswith("9999")


FALSE = [
    pytest.param("fine; Ok: no; Amount: 4000", id="in a line"),
    pytest.param("fine\nAmount: 4000", id="over lines"),
    pytest.param("fine, Amount: 4000", id="after a comma"),
]


@pytest.mark.parametrize("text", FALSE)
def test_no_entry_passes_for_another_field(text: str):
    """Labels are bold and values never are; one of several lines stands in a box."""
    payload = {"amount": 40.0, "note": text}
    [block] = filled(closed("approved", payload=payload), payload, by=MAX)
    pieces = [piece for part in block["elements"] for piece in part["elements"]]
    bold = [each["text"] for each in pieces if each.get("style")]
    assert bold == ["Amount: ", "Note: "]
    assert [each["text"] for each in pieces if each.get("text", "").startswith("40")] == ["40\n"]
    boxes = [part for part in block["elements"] if part["type"] == "rich_text_preformatted"]
    assert len(boxes) == ("\n" in text)


@pytest.mark.parametrize("text", FALSE)
def test_no_value_passes_for_another_in_a_line(text: str):
    """In one line, where nothing is bold, such a value is quoted."""
    line = in_one_line([argument("note", text), argument("amount", 40)], 500)
    if "\n" in text:
        assert line == "Note: fine Amount: 4000, Amount: 40"
    else:
        assert line == f"Note: {json.dumps(text)}, Amount: 40"
    assert in_one_line([argument("to", "see https://x.example, or ask")], 99).endswith("or ask")


SECRETS = [
    pytest.param({"note": "xoxb-123456789012-abcdefgh"}, id="a token"),
    pytest.param({"password": "hunter2"}, id="by its name"),
    pytest.param({"p": "hunter2"}, id="by its label"),
    pytest.param({"several": ["a", 'x --password="hunter2"']}, id="in a list"),
]
FORM = {"properties": {"p": {"type": "string", "title": "Password"}, "note": {"type": "string"}}}


@pytest.mark.parametrize("payload", SECRETS)
def test_no_secret_that_was_entered_is_read(payload: dict[str, Any]):
    """Not by who decides next, nor in what is said afterwards."""
    vote = Vote(person=MAX, confirmed=True, at=NOW, payload=payload)
    two = Policy(approvers=(MAX, MIA), quorum=2)
    given = {"payload_schema": FORM, "votes": (vote,), "payload": payload}
    for record in (approval(policy=two, **given), closed("approved", **given)):
        told = shown(blocks.card(record, now=NOW)) + shown(blocks.asked(record, now=NOW))
        assert "hunter" not in told
        assert "xoxb" not in told
        assert MASK in told


@pytest.mark.parametrize("status", ["pending", "rejected"])
def test_no_secret_in_a_reason_is_read(status: str):
    """Why somebody is against it is told without what they pasted into it, or the call's own."""
    reason = "the token is xoxb-123456789012-abcdefgh, the pin 47114711\nAmount: 4000"
    vote = Vote(person=MAX, confirmed=False, at=NOW, reason=reason)
    policy = Policy(approvers=(MAX, MIA), quorum=1, rejections=2)
    given = {"args": {"pin": "47114711"}, "secrets": ("pin",), "votes": (vote,), "policy": policy}
    record = approval(status=status, decided_by=MAX, **given)
    told = shown(blocks.card(record, now=NOW))
    assert "The token is" in told or "the token is" in told
    assert "xoxb" not in told
    assert "4711" not in told
