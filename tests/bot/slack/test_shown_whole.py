"""Where a card has no room, "Show everything" tells all that it does, and more."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.approvals.kin import ALONE, Difference, Kin
from bot.approvals.request import Approval
from bot.approvals.terms import Vote
from bot.secrets import MASK
from bot.slack import blocks
from bot.slack.blocks import arguments, views
from bot.slack.blocks.card import around
from bot.slack.blocks.concealed import concealed, retold
from bot.slack.validate import view_problems
from tests.bot.slack.samples import ANA, MAX, NOW, approval
from tests.bot.slack.test_blocks import CLICK, actions, shown, strings

LONG = "y" * 5_000


def pages(record: Approval, kin: Kin = ALONE) -> list[dict[str, Any]]:
    """All pages of a whole call."""
    more = around(record, kin)
    found = [views.everything_view(record, CLICK, around=more)]
    while any(each["text"]["text"] == "Later" for each in turns(found[-1])):
        click = replace(CLICK, page=len(found))
        found.append(views.everything_view(record, click, around=more))
    assert all(view_problems(page) == [] for page in found)
    assert all(len(json.dumps(page)) < 250_000 for page in found)
    return found


def turns(view: dict[str, Any]) -> list[dict[str, Any]]:
    """The buttons of a view."""
    return [e for block in view["blocks"] if block["type"] == "actions" for e in block["elements"]]


def read(found: list[dict[str, Any]]) -> str:
    """All that one can read on some pages."""
    return "\n".join(text for _, text in strings(found))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"hint": "Delete these? " + LONG + " AND THE LAST"}, id="the tool's question"),
        pytest.param({"changes": ("a: was 1, is now 2",) * 99 + ("AND THE LAST",)}, id="changes"),
        pytest.param({"args": {"text": LONG + "AND THE LAST"}}, id="an argument"),
        pytest.param({"args": {"n" * 300 + " AND THE LAST": 1}}, id="an argument's name"),
        pytest.param({"args": {f"a{n}": n for n in range(99)} | {"AND_THE_LAST": 1}}, id="many"),
        pytest.param({"precondition": {"rate": LONG + "AND THE LAST"}}, id="a condition"),
        pytest.param({"hint": LONG * 30 + "AND THE LAST"}, id="a question of several pages"),
        pytest.param({"changes": (LONG,) * 30 + ("AND THE LAST",)}, id="changes of several pages"),
    ],
)
def test_what_is_cut_is_approved_where_it_is_whole(given: dict[str, Any]) -> None:
    """Nobody approves from a card on which anything they decide about was cut."""
    record = approval(**given)
    assert actions(blocks.card(record, now=NOW)) == ["show", "reject"]
    assert not blocks.shows_all(record)
    found = pages(record)
    assert "AND THE LAST" in read(found).replace("_", " ")
    assert ["submit" in page for page in found] == [False] * (len(found) - 1) + [True]


TOLD = {
    "who asked": ({}, ANA),
    "through which agent": ({"agent": "travel"}, "travel"),
    "what was left out": ({"defaults": ("text",)}, "Text (default)"),
    "hidden characters": ({"hint": "p\u0430y"}, "imitate others"),
    "hidden characters of a difference": ({"changes": ("to: p\u0430y",)}, "imitate others"),
    "what is masked": ({"hint": "password=hunter2"}, "It runs with the real one"),
    "the difference": ({"changes": ("amount: was 9, is now 900",)}, "was 9, is now 900"),
    "the question": ({"hint": "Really?"}, "Really?"),
    "the deadline": ({}, "until <!date"),
    "who was asked": ({}, MAX),
    "a store that forgets": ({"unsaved": True}, "may forget this request"),
    "an interrupted call": ({"unknown": True}, "started and interrupted"),
}


@pytest.mark.parametrize(("given", "told"), TOLD.values(), ids=TOLD)
def test_everything_tells_what_the_card_tells(given: dict[str, Any], told: str) -> None:
    """Where a long call or a shared channel leaves no other way, nothing of the card is missing."""
    record = approval(**{"args": {"text": "short"}, **given})
    assert told in shown(blocks.card(record, now=NOW)) or told == "travel"
    for args in ({"text": "short"}, {"text": LONG}, {"text": LONG * 20}):
        assert told in read(pages(record.model_copy(update={"args": args})))


def test_everything_tells_how_it_stands_among_others() -> None:
    """A twin, an earlier try and what people wrote since are told there as well."""
    twin = approval(id="adk-0", status="rejected", args={"text": LONG + "x"})
    kin = Kin(
        alike=twin,
        apart=[Difference("text", "letter case")],
        attempt=2,
        failed=twin,
        corrected=["text"],
        moved_on=True,
    )
    told = read(pages(approval(args={"text": LONG}), kin))
    assert "Nearly the same as a request that was rejected" in told
    assert "Attempt 2: changed: text." in told
    assert "People went on writing" in told


FALSE = "x" * 700 + "\n\namount:\n5\n\npayee:\nAnna\n\nAmount: 5\nPayee: Anna"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"args": {"amount": 1, "payee": "M", "note": FALSE}}, id="a value"),
        pytest.param({"args": {"amount": 1, "payee": "M", "note": [FALSE]}}, id="inside a value"),
        pytest.param({"args": {"amount": 1, "payee": "M"}, "hint": FALSE}, id="the question"),
        pytest.param(
            {"args": {"amount": 1, "payee": "M"}, "changes": (FALSE,)}, id="the difference"
        ),
        pytest.param(
            {"args": {"amount": 1, "payee": "M"}, "precondition": {"x": FALSE}}, id="a condition"
        ),
        pytest.param({"args": {"amount": 1, "payee": "M", "note": FALSE * 60}}, id="many pages"),
    ],
)
def test_no_text_passes_for_an_argument(given: dict[str, Any]) -> None:
    """The names of arguments are bold, and the text of people and models never is."""
    record = approval(**given)
    for found in (list(blocks.card(record, now=NOW).blocks), pages(record)):
        names = [piece["text"] for piece in _bold(found) if piece["text"].strip().endswith(":")]
        assert sum(name.startswith("Amount") for name in names) == 1
        assert sum(name.startswith("Payee") for name in names) == 1
        assert not any("Anna" in piece["text"] for piece in _bold(found))


def _bold(value: Any) -> list[dict[str, Any]]:
    """Every bold piece of text."""
    if isinstance(value, list):
        return [piece for each in value for piece in _bold(each)]
    if not isinstance(value, dict):
        return []
    if value.get("style") == {"bold": True}:
        return [value]
    return [piece for each in value.values() for piece in _bold(each)]


@pytest.mark.parametrize("size", [0, 100, 10_000, 17_000, 17_999, 40_000])
@pytest.mark.parametrize("count", [70, 78, 79, 80, 85, 90])
def test_a_form_that_has_no_room_left_gets_a_page(size: int, count: int) -> None:
    """No field is dropped, however much is shown before it, and whatever others have said."""
    fields = {f"f{n}": {"type": "string"} for n in range(count)}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    people = [f"U{n:04}" for n in range(8)]
    votes = [Vote(person=each, confirmed=False, at=NOW, reason="no") for each in people[:4]]
    votes += [
        Vote(person=each, confirmed=True, at=NOW, payload={"f1": each}) for each in people[4:]
    ]
    record = approval(args={"text": "y" * size}, payload_schema=schema, votes=tuple(votes))
    found = pages(record, Kin(moved_on=True))
    assert sum(block["type"] == "input" for page in found for block in page["blocks"]) == count


@pytest.mark.parametrize("secret", ["sk-" + "a1" * 12, "xoxb-1-abc", "Bearer abc123def456"])
def test_what_is_masked_says_so(secret: str) -> None:
    """A payee that looks like a key is not hidden unseen."""
    record = approval(args={"to": secret})
    for told in (shown(blocks.card(record, now=NOW)), read(pages(record))):
        assert MASK in told
        assert "It runs with the real one" in told
    assert "masked" not in shown(blocks.card(approval(), now=NOW))


@pytest.mark.parametrize(
    ("secret", "text", "told"),
    [
        pytest.param(1, "Pay 1100 dollars to 1112, pin 1", None, id="a digit"),
        pytest.param(12, "Pay 1200 dollars, pin 12", None, id="two digits"),
        pytest.param(123, "Pay 1123 dollars, 123?", "Pay 1123 dollars, ••••••?", id="three"),
        pytest.param("1234", "Pay 12345, 1234", "Pay 12345, ••••••", id="a pin"),
        pytest.param("hunter2!", "xhunter2!x", "x••••••x", id="a long one, inside a word"),
        pytest.param('a"b c d e', 'x a\\"b c d e', "x ••••••", id="as JSON has it"),
        pytest.param(True, "It is True, true", None, id="yes or no"),
        pytest.param({"k": ["abcd"]}, "say abcd", "say ••••••", id="inside a value"),
        pytest.param("a.c", "abc a.c", "abc ••••••", id="no pattern"),
    ],
)
def test_a_secret_does_not_garble_what_is_beside_it(secret: Any, text: str, told: str | None):
    """A short secret hides itself, and no part of an amount or of an account."""
    record = approval(args={"pin": secret}, secrets=("pin",), hint=text)
    assert concealed(record, text) == (told or text)
    assert retold([approval(), record], text) == (told or text)


def test_an_answer_tells_no_secret():
    """What looks like a key is masked in what an agent says as well."""
    assert retold((), "I used xoxb-123-abc.") == f"I used {MASK}."


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ('order_no: was 9, is now "a: b"', '• Order no: was 9, is now "a: b"'),
        ("price.chair: was 10, is now 12", "• price.chair: was 10, is now 12"),
        ("default of memo: was 1, is now 2", "• default of memo: was 1, is now 2"),
        ("the tool pay has changed since", "• the tool pay has changed since"),
    ],
    ids=["a field", "inside one", "a default", "the tool"],
)
def test_a_difference_has_the_name_of_its_field(change: str, text: str):
    """What changed is called as the field further down the card."""
    assert arguments.told(approval(changes=(change,))).changes == text
