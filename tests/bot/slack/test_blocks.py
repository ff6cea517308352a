"""What people see: cards, lines, answers and modals, each as Slack would take it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from bot.approvals.board import Inbox
from bot.approvals.button import encode
from bot.approvals.kin import Difference, Kin, kin
from bot.approvals.request import Approval
from bot.approvals.terms import Policy, Quota, Vote
from bot.slack import blocks
from bot.slack.blocks import Rendered, views
from bot.slack.blocks.arguments import arguments, values
from bot.slack.blocks.inputs import inputs
from bot.slack.blocks.lists import home_view, inbox_message
from bot.slack.payloads import Click, Clicker, Place, state_values
from bot.slack.validate import message_problems, view_problems
from bot.turns import Thread
from tests.bot.slack.samples import ANA, MAX, MIA, NOW, approval

CLICK = Click(
    action="reject",
    button=None,
    value=encode(approval()),
    by=Clicker(id=MAX, team="T1"),
    place=Place(thread=Thread("C1", "1.2")),
    trigger="t",
)
ENDS = (
    "approved",
    "rejected",
    "expired",
    "cancelled",
    "void",
    "started",
    "done",
    "failed",
    "unknown",
)


def strings(value: Any, *, kind: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a message, with the kind of object it stands in."""
    match value:
        case dict():
            for each in value.values():
                if isinstance(each, str):
                    yield str(value.get("type", kind)), each
                else:
                    yield from strings(each, kind=str(value.get("type", kind)))
        case list():
            for each in value:
                yield from strings(each, kind=kind)
        case _:
            return


def shown(message: Rendered) -> str:
    """All that one can read in the blocks."""
    return "\n".join(text for _, text in strings(list(message.blocks)))


def actions(message: Rendered) -> list[str]:
    """The action ids of the buttons, in order."""
    rows = [block["elements"] for block in message.blocks if block["type"] == "actions"]
    return [button["action_id"] for row in rows for button in row]


def preformatted(view: Any) -> Iterator[Any]:
    """The boxes of a view, in order."""
    for block in view["blocks"]:
        for part in block["elements"] if block["type"] == "rich_text" else ():
            if part["type"] == "rich_text_preformatted":
                yield part


def problems(message: Rendered) -> list[Any]:
    """What Slack would refuse in a message."""
    assert len(message.text) <= 4000
    return message_problems({"text": message.text, "blocks": list(message.blocks)}, update=True)


def closed(status: str, **given: Any) -> Approval:
    """An approval that Max has decided."""
    vote = Vote(
        person=MAX, confirmed=status != "rejected", at=NOW, reason=given.pop("reason", None)
    )
    votes = () if status in ("expired", "cancelled") else (vote,)
    decided: dict[str, Any] = {"decided_by": MAX, "decided_at": NOW} if votes else {}
    return approval(**{"status": status, "votes": votes, **decided, **given})


def test_an_open_card_says_all_a_decision_needs() -> None:
    """Who asks, through which agent, the very call, until when, who is asked, and the buttons."""
    card = blocks.card(approval(), now=NOW)
    text = shown(card)
    for told in (
        ANA,
        "reimbursement",
        "reimburse",
        "Pay 900 dollars?",
        "Amount: ",
        "900",
        "a new chair",
        f"<@{MAX}> and <@{MIA}>",
        "<!date^1796086400^",
    ):
        assert told in text
    assert actions(card) == ["approve", "reject"]
    assert {value for kind, value in strings(list(card.blocks)) if value.startswith("v1|")} == {
        encode(approval())
    }
    assert "900" in card.text
    assert "Amount" in card.text
    assert problems(card) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({"deadline": None}, "no deadline", id="no deadline"),
        pytest.param(
            {"policy": Policy(approvers=(MAX, MIA), quorum=2)},
            "2 have to approve, so far none",
            id="two of two, none yet",
        ),
        pytest.param(
            {
                "policy": Policy(approvers=(MAX, MIA), quorum=2),
                "votes": (Vote(person=MAX, confirmed=True, at=NOW),),
            },
            f"2 have to approve, so far 1: <@{MAX}>",
            id="two of two, one so far",
        ),
        pytest.param(
            {"policy": Policy(approvers=(ANA,), self_approval=True)},
            f"<@{ANA}> may approve this too",
            id="self approval is visible",
        ),
        pytest.param(
            {"policy": Policy(approvers=(MAX, MIA), notified=(MIA,))},
            f"Asked: <@{MIA}> and 1 more who is not notified · until",
            id="one is not notified",
        ),
        pytest.param(
            {"policy": Policy(approvers=(MAX, MIA), notified=(ANA,))},
            f"Asked: 2 who are not notified · notified: <@{ANA}> · until",
            id="somebody else is notified",
        ),
        pytest.param(
            {
                "policy": Policy(
                    approvers=(MAX, MIA),
                    rules=((Quota(names=("cfo",)), Quota(names=(MAX, MIA), count=2)),),
                    notified=(MIA,),
                )
            },
            f"it takes 1 from cfo or all of (<@{MIA}>, 1 more who is not notified)",
            id="nor in the rules",
        ),
        pytest.param({"args": {}}, "It takes no arguments.", id="no arguments"),
        pytest.param({"args": {"note": ""}}, "\nempty\n", id="an empty text is called so"),
    ],
)
def test_terms(given: dict[str, Any], told: str) -> None:
    """The terms of a question stand on its card."""
    card = blocks.card(approval(**given), now=NOW)
    assert told in shown(card)
    assert problems(card) == []
    record = approval(**given)
    if record.policy.notified is not None:
        everything = card.text + shown(card) + blocks.asked(record, now=NOW).text
        assert f"<@{MAX}>" not in everything


@pytest.mark.parametrize(
    ("changes", "other", "told"),
    [
        pytest.param({"call_id": "2-1"}, {"call_id": "2-0"}, "(2 of 2 identical calls)", id="twin"),
        pytest.param(
            {"args": {"payee": "Trolha"}, "digest": "1"},
            {"args": {"payee": "trolha"}, "digest": "2"},
            "Nearly the same as a request that is still open: only payee differs, in letter case"
            " (Trolha / trolha).",
            id="nearly the same",
        ),
        pytest.param(
            {"args": {"key": "A"}, "digest": "1", "secrets": ("key",)},
            {"args": {"key": "a"}, "digest": "2", "secrets": ("key",)},
            "only key differs, in letter case.",
            id="nearly the same secret",
        ),
        pytest.param(
            {"args": {"a": "X", "b": "Y", "c": 1}, "digest": "1"},
            {"args": {"a": "x", "b": " Y", "c": 1}, "digest": "2"},
            'only a, b differ, in letter case and blanks (X / x, Y / " Y").',
            id="two arguments",
        ),
        pytest.param(
            {"precondition": {"price": 2}, "digest": "1"},
            {"precondition": {"price": 1}, "digest": "2"},
            "The same as a request that is still open.",
            id="under other conditions",
        ),
        pytest.param(
            {}, {"status": "rejected", "decided_by": MAX}, f"decided by <@{MAX}>", id="rejected"
        ),
        pytest.param(
            {}, {"status": "done"}, "The same as a request that was approved and has run.", id="ran"
        ),
        pytest.param(
            {"args": {"team": "blue", "name": "x"}},
            {"args": {"team": "red", "name": "x"}, "status": "failed", "decided_by": MAX},
            "Attempt 2: changed: team.",
            id="another try",
        ),
        pytest.param({}, {"status": "failed"}, "Attempt 2: nothing changed.", id="the same try"),
    ],
)
def test_a_card_tells_how_it_stands_among_others(changes: Any, other: Any, told: str) -> None:
    """Equal calls are numbered; what looks the same or failed before is told with what differs."""
    older = approval(**({"id": "1-0", "call_id": "1-0", "asked_at": 0} | other))
    asked = approval(**({"asked_at": 1} | changes))
    assert told in shown(blocks.card(asked, now=NOW, kin=kin(asked, [asked, older])))


def test_a_card_tells_that_people_talked_on() -> None:
    """A card that is shown again says so while it is open; a closed one has no need to."""
    told = "People went on writing"
    assert told in shown(blocks.card(approval(), now=NOW, kin=Kin(moved_on=True)))
    assert told not in shown(blocks.card(closed("rejected"), now=NOW, kin=Kin(moved_on=True)))


def test_a_card_shows_what_the_call_depends_on() -> None:
    """What a precondition found stands under the arguments, without the value of a secret one."""
    asked = approval(
        args={"account": "DE12 3456"},
        secrets=("account",),
        precondition={"balance_of": {"DE12 3456": 10}, "quote": 12.5},
    )
    told = shown(blocks.card(asked, now=NOW))
    assert "checked again right before it runs" in told
    assert "12.5" in told
    assert "DE12" not in told
    whole = [text for _, text in strings([views.everything_view(asked, CLICK)])]
    assert "12.5\n" in whole[whole.index("Quote: ") :]


@pytest.mark.parametrize(
    ("record", "told"),
    [
        pytest.param(closed("approved"), f"*Approved* by <@{MAX}>", id="approved"),
        pytest.param(closed("rejected"), f"*Rejected* by <@{MAX}>", id="rejected"),
        pytest.param(
            closed("rejected", reason="use cost centre 12"),
            "use cost centre 12",
            id="with a reason",
        ),
        pytest.param(closed("expired"), "*Expired*", id="expired"),
        pytest.param(
            closed("cancelled", why="withdrawn", decided_by=ANA, decided_at=NOW),
            f"*Withdrawn* by <@{ANA}>",
            id="withdrawn",
        ),
        pytest.param(closed("cancelled", why="superseded"), "asked again", id="superseded"),
        pytest.param(closed("cancelled", why="nobody"), "too few may decide", id="nobody"),
        pytest.param(closed("cancelled", why="x"), "it was cancelled", id="for another reason"),
        pytest.param(closed("void"), "It was not run on this approval", id="void"),
        pytest.param(closed("started"), "It is running.", id="started"),
        pytest.param(closed("done"), "It is done.", id="done"),
        pytest.param(closed("failed"), "It ran and failed.", id="failed"),
        pytest.param(closed("unknown"), "is not known", id="unknown"),
        pytest.param(approval(deadline=NOW - 1), "*Expired*", id="too late, not swept yet"),
        pytest.param(
            closed("approved", payload={"days": 2}, votes=[]),
            "Entered: \ntext\nDays: \ntext\n2",
            id="what was entered",
        ),
    ],
)
def test_a_closed_card_says_what_became_of_it(record: Approval, told: str) -> None:
    """A card that cannot be decided has no buttons for it, and claims what the store knows."""
    card = blocks.card(record, now=NOW)
    assert told in shown(card)
    assert not {"approve", "reject", "form"} & set(actions(card))
    assert problems(card) == []
    assert told.strip("*") in shown(blocks.asked(record, now=NOW)) or "cost centre" in told


def test_what_was_entered_is_told_wherever_it_is_said_to_be_approved() -> None:
    """Two of five days are not five: line and list say so, but not to other companies."""
    record = closed("approved", payload={"days": 2}, votes=[])
    entered = "Entered: \ntext\nDays: \ntext\n2"
    home = home_view(Inbox(waiting=(), asked=(), decided=(record,)))
    assert entered in shown(blocks.asked(record, now=NOW))
    assert entered in shown(Rendered("", home["blocks"]))
    assert "Entered" not in shown(blocks.asked(record, now=NOW, shared=True))
    rejected = record.model_copy(update={"status": "rejected"})
    assert "Entered" not in shown(blocks.asked(rejected, now=NOW))


def test_result_of_a_call() -> None:
    """Once the call ran, its card says what it brought."""
    card = blocks.card(closed("done"), now=NOW, result="paid")
    assert "Result: paid" in shown(card)


def test_the_line_in_the_thread_can_be_withdrawn() -> None:
    """While the question is open its requester can withdraw it from the thread."""
    line = blocks.asked(approval(), now=NOW)
    assert line.text.startswith(f"Asked <@{MAX}> and <@{MIA}> · until <!date^")
    assert actions(line) == ["withdraw"]
    assert actions(blocks.asked(closed("approved"), now=NOW)) == []
    assert problems(line) == []


EVIL = "`x` <!channel> <@U1> *b* <https://evil.test|ok> :tada: ```\nhttps://evil.test"


@pytest.mark.parametrize("name", ["hint", "tool", "agent", "value", "name", "reason", "result"])
def test_nothing_untrusted_is_active(name: str) -> None:
    """Whatever a model or person wrote is plain text or rich text, never mrkdwn or a link."""
    record = closed("rejected", reason=EVIL if name == "reason" else None)
    if name in ("hint", "tool", "agent"):
        record = record.model_copy(update={name: EVIL})
    args = {"value": {"a": EVIL}, "name": {EVIL: 1}}.get(name, {"a": 1})
    record = record.model_copy(update={"args": args})
    for each in (record, record.model_copy(update={"status": "pending"})):
        card = blocks.card(each, now=NOW, result=EVIL if name == "result" else "")
        active = [text for kind, text in strings(list(card.blocks)) if kind == "mrkdwn"]
        assert not [text for text in active if "evil" in text or "<!channel>" in text]
        assert "<!channel>" not in card.text
        assert "<https" not in card.text
        assert problems(card) == []


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\U000e0100", "p\u0430y"])
@pytest.mark.parametrize("place", ["hint", "value", "name"])
def test_hidden_characters_are_spelled_out_with_a_warning(hidden: str, place: str) -> None:
    """A call that looks other than it is says so."""
    text = f"pay{hidden}me"
    given: dict[str, dict[str, Any]] = {
        "hint": {"hint": text},
        "value": {"args": {"a": [text]}},
        "name": {"args": {text: 1}},
    }
    card = blocks.card(approval(**given[place]), now=NOW)
    assert "\\u{" in shown(card)
    assert ":warning:" in shown(card)
    assert hidden not in shown(card) + card.text
    assert ":warning:" not in shown(blocks.card(approval(), now=NOW))


def test_a_secret_is_in_none_of_the_texts_about_a_call() -> None:
    """The hint of a call and its changes do not tell what its argument hides."""
    record = closed(
        "done",
        args={"user": "u", "login": {"password": 'hunter"2', "pin": 4711}},
        secrets=("login",),
        hint='May hunter"2 run?',
        changes=("the pin was 4711",),
    )
    told = shown(blocks.card(record, now=NOW))
    told += json.dumps(views.everything_view(record, CLICK), ensure_ascii=False)
    assert "hunter" not in told
    assert "4711" not in told


def test_the_line_in_a_shared_channel_does_not_say_what_the_call_is_about() -> None:
    """Where other companies read, the line says who was asked and what became of it only."""
    for record in (approval(), closed("done")):
        line = blocks.asked(record, now=NOW, shared=True)
        told = line.text + json.dumps(line.blocks[0])
        assert "900" not in told
        assert "eimburse" not in told


def test_secrets_are_masked() -> None:
    """A token among the arguments is not shown; what runs is the real one."""
    token = "xoxb-" + "1234567890-abcdef"
    record = approval(args={"header": f"Bearer {token}"})
    whole = json.dumps(views.everything_view(record, CLICK))
    assert token not in shown(blocks.card(record, now=NOW)) + whole


def test_a_line_claims_no_length_of_what_was_cut_twice() -> None:
    """The one number that is told of a cut argument is how long it is, or there is none."""
    record = approval(args={"text": "word " * 1_200, "more": "x"}, hint="")
    lines = (blocks.asked(record, now=NOW).text, json.dumps(views.reject_view(record, CLICK)))
    for line in (*lines, blocks.card(record, now=NOW).text):
        assert re.findall(r"([\d,]+) characters in all\)", line) == ["6,002"]


def test_long_arguments_are_cut_and_can_be_read_whole() -> None:
    """A card tells how much it leaves out, and a button shows all of it, page by page."""
    text = " ".join(str(number) for number in range(12_000))
    record = approval(args={"text": text, "more": "x" * 9000}, hint="")
    card = blocks.card(record, now=NOW)
    assert f"({len(text):,} characters in all)" in shown(card)
    assert actions(card) == ["show", "reject"]
    assert actions(blocks.card(record.model_copy(update={"status": "expired"}), now=NOW)) == [
        "show"
    ]
    assert problems(card) == []
    pages = [views.everything_view(record, replace(CLICK, page=page)) for page in range(4)]
    assert all(view_problems(page) == [] for page in pages)
    boxes = [box["elements"][0]["text"] for page in pages for box in preformatted(page)]
    assert "".join(boxes) == text + "x" * 9000
    assert len(json.dumps(pages[0])) < 250_000


def test_many_arguments() -> None:
    """A call with hundreds of arguments still fits its card, which counts the others."""
    record = approval(args={f"argument_{number}": "v" * 50 for number in range(300)})
    card = blocks.card(record, now=NOW)
    assert "more arguments" in shown(card)
    assert "show" in actions(card)
    assert problems(card) == []


TEXTS = {"type": "array", "items": {"type": "string"}}


def test_arguments_stand_in_the_functions_order() -> None:
    """A store sorts what it keeps; a card shows the arguments as the function has them."""
    args = {"account": "DE1", "amount": 5, "recipient": "Bob"}
    kept = approval(args=args, order=("recipient", "amount", "account"), secrets=("account",))
    record = Approval.from_record(kept.record())
    assert [each.name for each in arguments(record)] == ["recipient", "amount", "account"]
    assert list(values(record)) == ["recipient", "amount"]
    assert [each.name for each in arguments(approval(args=args))] == list(args)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (-0.0, "-0.0"), (5.0, "5"), (-5.0, "-5"), (1e300, "1e+300"), ([-0.0], "-0.0")],
)
def test_a_number_is_shown_as_it_is_agreed_to(value: Any, shown: str) -> None:
    """Minus zero is another value than zero, on the card as in the digest."""
    (found,) = arguments(approval(args={"n": value}))
    assert shown in found.value
    assert found.value.startswith(("-", "[")) == (str(value)[0] in "-[")


def schema(**properties: Any) -> dict[str, Any]:
    """A payload schema in which every field is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("about", "initial", "kind", "start"),
    [
        pytest.param({"type": "string"}, "x", "plain_text_input", "x", id="text"),
        pytest.param({"type": "string"}, "", "plain_text_input", None, id="text, empty"),
        pytest.param({"type": "integer"}, 3, "plain_text_input", "3", id="number"),
        pytest.param({"type": "integer"}, 0, "plain_text_input", "0", id="zero that was given"),
        pytest.param({"type": "boolean"}, None, "radio_buttons", None, id="bool, empty"),
        pytest.param({"type": "boolean"}, False, "radio_buttons", False, id="no that was given"),
        pytest.param(
            {"type": "boolean", "default": True}, False, "radio_buttons", False, id="no, not yes"
        ),
        pytest.param(
            {"type": "integer", "default": 5}, 0, "plain_text_input", "0", id="zero, not five"
        ),
        pytest.param({"enum": ["a", ""]}, "", "static_select", "", id="a member that is empty"),
        pytest.param({"type": "boolean"}, True, "radio_buttons", True, id="bool"),
        pytest.param({"enum": ["a", "b"]}, "b", "static_select", "b", id="enum"),
        pytest.param({"enum": [1, 2]}, 2, "static_select", 2, id="enum of numbers"),
        pytest.param({"const": "yes"}, "", "static_select", None, id="const"),
        pytest.param({"$ref": "#/$defs/Kind"}, "paid", "static_select", "paid", id="reference"),
        pytest.param(
            {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
            None,
            "static_select",
            None,
            id="optional reference",
        ),
        pytest.param(
            {"type": "array", "items": {"enum": ["a", "b"]}},
            ["a"],
            "multi_static_select",
            ["a"],
            id="several",
        ),
        pytest.param(
            {"type": "string", "format": "date"},
            "2026-12-07",
            "datepicker",
            "2026-12-07",
            id="date",
        ),
        pytest.param(
            {"type": "string", "format": "date"}, "soon", "datepicker", None, id="no date"
        ),
        pytest.param(
            {"type": "string", "format": "time"}, "09:30:00", "timepicker", "09:30", id="time"
        ),
        pytest.param(
            {"type": "string", "format": "date-time"},
            "2026-12-01T09:00:00Z",
            "datetimepicker",
            "2026-12-01T09:00:00Z",
            id="date and time",
        ),
        pytest.param({"enum": ["a" * 80]}, "", "plain_text_input", None, id="members too long"),
        pytest.param(
            {"enum": list(range(101))}, None, "plain_text_input", None, id="too many members"
        ),
        pytest.param({"type": "array"}, [1], "plain_text_input", "[1]", id="a list as JSON"),
        pytest.param(TEXTS, ["a", "b c"], "plain_text_input", "a\nb c", id="texts line by line"),
        pytest.param(TEXTS, [" a"], "plain_text_input", '[" a"]', id="texts with blanks"),
        pytest.param(TEXTS, ["[a]"], "plain_text_input", '["[a]"]', id="texts like JSON"),
        pytest.param(
            {"type": "object"}, {"a": {"b": 1}}, "plain_text_input", '{"a": {"b": 1}}', id="object"
        ),
    ],
)
def test_inputs(about: dict[str, Any], initial: JsonValue, kind: str, start: JsonValue) -> None:
    """Each kind of field has its kind of input, which starts with the question's value."""
    fields = schema(field=about) | {"$defs": {"Kind": {"enum": ["paid", "unpaid"]}}}
    record = approval(payload_schema=fields, payload={"field": initial})
    (block,) = inputs(record)
    element = block["element"]
    assert element["type"] == kind
    begun = [value for name, value in element.items() if name.startswith("initial_")]
    key = {"plain_text_input": "value", "radio_buttons": "selected_option"}.get(kind, "")
    key = (
        key
        or {
            "static_select": "selected_option",
            "multi_static_select": "selected_options",
            "datepicker": "selected_date",
            "timepicker": "selected_time",
            "datetimepicker": "selected_date_time",
        }[kind]
    )
    state = {"values": {"b": {"field": {"type": kind, key: begun[0] if begun else None}}}}
    assert state_values(state) == {"field": start}
    assert problems(blocks.card(record, now=NOW)) == []


def test_inputs_stay_when_a_tally_changes() -> None:
    """A card that is shown again keeps what somebody is typing: its inputs are the very same."""
    record = approval(payload_schema=schema(days={"type": "integer"}), payload={"days": 3})
    newer = record.model_copy(update={"rev": 2})
    assert inputs(record) == inputs(newer)


def test_label_and_hint() -> None:
    """A field says what it is and what it takes, in plain text."""
    about = {"type": "integer", "description": "Paid days.", "minimum": 0, "maximum": 30}
    (block,) = inputs(approval(payload_schema=schema(approved_days=about), payload=None))
    assert block["label"]["text"] == "Approved days"
    assert block["hint"]["text"] == "Paid days. From 0 to 30."
    assert not block["optional"]


def test_a_big_form_opens_in_a_modal() -> None:
    """More inputs than a message can hold are asked for when somebody approves."""
    record = approval(payload_schema=schema(**{f"f{n}": {"type": "string"} for n in range(60)}))
    card = blocks.card(record, now=NOW)
    assert actions(card) == ["form", "reject"]
    assert problems(card) == []
    view = views.form_view(record, CLICK)
    assert len(view["blocks"]) == 1 + 60
    assert view_problems(view) == []


def test_reject_modal() -> None:
    """The modal asks for a reason and remembers which button it came from."""
    view = views.reject_view(approval(), CLICK)
    assert view_problems(view) == []
    told = json.loads(view["private_metadata"])
    assert told == {"act": "reject", "button": CLICK.value, "channel": "C1", "thread": "1.2"}


def test_told_view() -> None:
    """A sentence in place of a modal."""
    assert view_problems(views.told_view("This was already approved by <@U1>.")) == []


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param(" \n", 0, id="blank"),
        pytest.param("hello", 1, id="short"),
        pytest.param("word " * 3000, 2, id="long"),
        pytest.param("x" * 40_000, 5, id="without a place to split"),
    ],
)
def test_answers(text: str, messages: int) -> None:
    """An answer is shown whole, in as many messages as it takes."""
    told = blocks.answer(text)
    assert len(told) == messages
    assert all(problems(message) == [] for message in told)
    if text.strip():
        pieces = [piece for message in told for kind, piece in strings(list(message.blocks))]
        assert (
            "".join(
                piece for piece in pieces if not piece.startswith("rich_text") and piece != "text"
            )
            == text
        )


def test_answer_is_inactive() -> None:
    """A model cannot ping a channel or disguise a link."""
    (told,) = blocks.answer("<!everyone> <https://evil.test|docs> *x*")
    assert {kind for kind, text in strings(list(told.blocks)) if "evil" in text} == {"text"}
    assert "<" not in told.text


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        pytest.param({}, True, id="a short call"),
        pytest.param({"args": {}}, True, id="no arguments"),
        pytest.param({"args": {"text": "x" * 600}}, True, id="a value that just fits"),
        pytest.param({"args": {"text": "x" * 601}}, False, id="a value that does not"),
        pytest.param({"args": {"text": "\u202e" * 100}}, False, id="too long once spelled out"),
        pytest.param({"args": {f"a{n}": "x" * 590 for n in range(7)}}, False, id="long together"),
        pytest.param({"args": {f"a{n}": n for n in range(40)}}, True, id="as many as fit"),
        pytest.param({"args": {f"a{n}": n for n in range(41)}}, False, id="one too many"),
        pytest.param({"precondition": {"rate": "x" * 601}}, False, id="a long condition"),
        pytest.param({"args": {"pin": "x" * 900}, "secrets": ("pin",)}, True, id="a secret"),
        pytest.param({"hint": "x" * 1000}, True, id="a hint that just fits"),
        pytest.param({"hint": "x" * 1001}, False, id="a hint that does not"),
        pytest.param({"hint": "\u202e" * 200}, False, id="a hint too long once spelled out"),
        pytest.param({"changes": ("x" * 1498,)}, True, id="a difference that just fits"),
        pytest.param({"changes": ("x" * 1499,)}, False, id="a difference that does not"),
        pytest.param({"changes": ("x: was 1, is now 2",) * 99}, False, id="many differences"),
        pytest.param({"args": {"n" * 100: 1}}, True, id="a name that just fits"),
        pytest.param({"args": {"n" * 101: 1}}, False, id="a name that does not"),
    ],
)
@pytest.mark.parametrize("unknown", [False, True], ids=["asked", "interrupted"])
def test_a_card_that_shows_all_can_be_approved_there(
    given: dict[str, Any], whole: bool, unknown: bool
) -> None:
    """The rule by which an approval counts on a card is that by which the card offers it."""
    record = approval(**given, unknown=unknown)
    assert blocks.shows_all(record) == whole
    assert ("approve" in actions(blocks.card(record, now=NOW))) == whole


def test_shortened() -> None:
    """What Slack cannot show keeps its text and buttons; it is approved where all of it is."""
    record = approval(payload_schema=schema(days={"type": "integer"}))
    short = blocks.shortened(blocks.card(record, now=NOW))
    assert actions(short) == ["show", "reject"]
    assert [block["type"] for block in short.blocks] == ["rich_text", "actions"]
    assert problems(short) == []


@pytest.mark.parametrize(
    "text",
    [
        ":white_check_mark: *Approved* by Max `code` _all_ ~of it~",
        "<@U0EVIL> &lt;!here&gt; <!channel> <http://evil.example|a bank>",
        "<!date^0^{date}|never> &amp; &copy; \\<",
    ],
    ids=["marks", "mentions", "dates and entities"],
)
def test_what_others_wrote_stays_letters_in_a_shortened_card(text: str) -> None:
    """It is told letter by letter; only whom and until when we say ourselves is more than that."""
    short = blocks.shortened(blocks.card(approval(args={"memo": text}, tool="pay"), now=NOW))
    [section] = short.blocks[0]["elements"]
    kinds = [each["type"] for each in section["elements"]]
    letters = "".join(each.get("text", "") for each in section["elements"])
    assert text in letters
    assert {"user", "text", "date"} == set(kinds)
    assert {each.get("user_id") for each in section["elements"]} <= {None, ANA, MAX, MIA}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=400),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=30), inner, max_size=4)
    ),
    max_leaves=12,
)
ABOUT = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean", "array", "object"]),
        "enum": st.lists(st.text(max_size=90) | st.integers(), max_size=120),
        "format": st.sampled_from(["date", "time", "date-time", "email"]),
        "title": st.text(max_size=300),
        "description": st.text(max_size=500),
        "maxLength": st.integers(-1, 5000),
    },
)


MANY = Policy(approvers=tuple(f"U{n:04}" for n in range(300)))
LONG = "Finance and Controlling of the whole of the group and all its parts "


@pytest.mark.parametrize(
    ("how", "policy"),
    [
        pytest.param({"args": {f"a{n}": "x" * 5000 for n in range(50)}}, MANY, id="long calls"),
        pytest.param({"payload": {"days": 3}}, MANY, id="something was entered"),
        pytest.param({"payload": {f"f{n}": "x" * 400 for n in range(9)}}, MANY, id="much of it"),
        pytest.param(
            {"votes": tuple(Vote(person=f"U{n:04}", confirmed=True, at=NOW) for n in range(300))},
            MANY.model_copy(update={"quorum": 300}),
            id="many votes",
        ),
        pytest.param(
            {"hint": "h" * 900},
            MANY.model_copy(
                update={"rules": ((Quota(names=(LONG,), count=2),),) * 20},
            ),
            id="long rules",
        ),
    ],
)
def test_slack_takes_the_largest_inbox(how: dict[str, Any], policy: Policy) -> None:
    """Home and the command's answer stay within Slack's limits, however much there is to list."""
    record = approval(**how, policy=policy)
    ended = record.model_copy(update={"status": "done", "decided_by": MAX})
    waiting, done = (
        tuple(each.model_copy(update={"id": f"{n}-0"}) for n in range(99))
        for each in (record, ended)
    )
    listed = Inbox(waiting=waiting, asked=waiting, decided=done)
    said = inbox_message(listed, where=" there")
    assert problems(Rendered("Your approvals", said)) == []
    titles = [each["text"]["text"] for each in said if each["type"] == "header"]
    assert titles == ["Waits for you", "Asked by you", "Decided"]
    assert view_problems(home_view(listed)) == []


def test_slack_takes_an_inbox_of_four_lists() -> None:
    """What waits for others has room as well, with values that were entered in each of the rest."""
    record = approval(args={f"a{n}": "x" * 5000 for n in range(50)}, policy=MANY)
    record = record.model_copy(update={"payload": {f"f{n}": "x" * 400 for n in range(9)}})
    ended = record.model_copy(update={"status": "done", "decided_by": MAX})
    waiting, done = (
        tuple(each.model_copy(update={"id": f"{n}-0"}) for n in range(99))
        for each in (record, ended)
    )
    listed = Inbox(waiting=waiting, counted=waiting, asked=waiting, decided=done)
    said = inbox_message(listed, where=" there")
    assert problems(Rendered("Your approvals", said)) == []
    titles = [each["text"]["text"] for each in said if each["type"] == "header"]
    assert titles == [
        "Waits for you",
        "You voted, and it waits for others",
        "Asked by you",
        "Decided",
    ]
    assert view_problems(home_view(listed)) == []


def _rules(names: list[str]) -> tuple[tuple[Quota, ...], ...]:
    """A rule over these names, as many quotas as there are."""
    return (tuple(Quota(names=(name,), count=2) for name in names),) if names else ()


PROMPTS = ("reminder", "moved_on", "edited", "ruling")


def _kin(record: Approval, *, apart: str) -> Kin:
    """As much as can be told about the rest of a conversation, in these words."""
    names = (*record.args, apart)
    return Kin(
        place=2,
        of=3,
        alike=record.model_copy(update={"status": "pending", "decided_by": apart}),
        apart=[Difference(name, "letter case") for name in names] * 3,
        attempt=7,
        failed=record.model_copy(update={"status": "failed", "decided_by": apart}),
        corrected=names * 3,
        moved_on=True,
    )


@settings(max_examples=100)
@given(
    args=st.dictionaries(st.text(max_size=120), JSON, max_size=8),
    text=st.text(max_size=6000),
    about=st.dictionaries(st.text(max_size=60), ABOUT, max_size=8),
    payload=st.dictionaries(st.text(max_size=60), JSON, max_size=4) | st.none(),
    status=st.sampled_from(("pending", *ENDS)),
    approvers=st.lists(st.sampled_from([MAX, MIA, "S0GROUP", "no *id*"]) | st.text(), max_size=40),
)
def test_slack_takes_every_card(  # noqa: PLR0917
    args: dict[str, Any],
    text: str,
    about: dict[str, Any],
    payload: dict[str, Any] | None,
    status: str,
    approvers: list[str],
) -> None:
    """Whatever a call, a hint, a form or a result looks like, Slack takes what we make of it."""
    record = closed(
        status,
        args=args,
        precondition=args,
        hint=text,
        tool=text[:50],
        requester=text[:20],
        reason=text,
        payload=payload,
        payload_schema=schema(**about),
        policy=Policy(approvers=tuple(approvers), rules=_rules(approvers)),
        changes=(text[:2000], text[:20]),
        unknown=len(text) % 2 == 1,
        secrets=tuple(args)[:1],
        defaults=tuple(args)[1:],
    )
    for message in (
        blocks.card(record, now=NOW, result=text),
        blocks.card(record, now=NOW, kin=_kin(record, apart=text)),
        blocks.withheld(record, now=NOW),
        *(blocks.prompt(record, kind=kind, by=text) for kind in PROMPTS),
        blocks.shortened(blocks.card(record, now=NOW)),
        blocks.asked(record, now=NOW),
        *blocks.answer(text),
    ):
        json.dumps({"text": message.text, "blocks": list(message.blocks)}).encode()
        assert problems(message) == []
    for view in (views.everything_view(record, CLICK), views.form_view(record, CLICK)):
        if view["blocks"]:
            assert view_problems(view) == []
