"""What cards, lines and modals say in words, beyond what Slack takes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.approvals.board import Inbox
from bot.approvals.kin import ALONE
from bot.approvals.request import Approval
from bot.approvals.terms import Policy, Quota, Vote
from bot.slack import blocks
from bot.slack.blocks import views
from bot.slack.blocks.card import around
from bot.slack.blocks.fields import fields
from bot.slack.blocks.lists import home_view, inbox_blocks
from bot.slack.validate import message_problems, view_problems
from tests.bot.slack.samples import MAX, MIA, NOW, approval
from tests.bot.slack.test_blocks import CLICK, closed, shown

NAMES = {MAX: "Max", MIA: "Mia *M* <!channel>"}
BOTH = Policy(approvers=(MAX, MIA), quorum=2)
WIDENED = Policy(approvers=(MAX,)).widened((MIA,), (MIA,))


def called(person: str) -> str:
    """What somebody is called; the id of whom nobody knows."""
    return NAMES.get(person, person)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param({}, "Asked Max and Mia *M* <!channel>,", id="by name"),
        pytest.param({"policy": Policy(approvers=(MAX, "cfo"))}, "Asked Max and cfo", id="a role"),
        pytest.param({"policy": BOTH}, "0 of 2 have approved · until <!date^", id="two of them"),
        pytest.param(
            {"policy": BOTH, "votes": (Vote(person=MAX, confirmed=True, at=NOW),)},
            "1 of 2 have approved",
            id="one of two",
        ),
        pytest.param({"unknown": True}, "Asked whether it happened: Max and", id="interrupted"),
        pytest.param({"changes": ("x",)}, "Asked again, since the call has changed", id="again"),
    ],
)
def test_the_line_in_the_thread_names_people_without_a_ping(given: dict[str, Any], told: str):
    """Who has a card elsewhere is named in plain text, which is no mention and no markup."""
    line = blocks.asked(approval(**given), now=NOW, name=called)
    assert told in shown(line)
    assert "<@" not in shown(line) + line.text
    assert "<!channel>" not in line.text
    assert message_problems({"text": line.text, "blocks": list(line.blocks)}, update=False) == []


def test_who_is_not_known_by_name_is_mentioned():
    """A line without names would not say who was asked."""
    line = blocks.asked(approval(policy=Policy(approvers=(MAX, "U0NOBODY"))), now=NOW, name=called)
    assert f"Asked <@{MAX}> and <@U0NOBODY> · until" in shown(line)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        pytest.param(WIDENED, "", id="any of those who were asked later"),
        pytest.param(Policy(approvers=(MAX, MIA)), "", id="any of two"),
        pytest.param(BOTH, "2 have to approve", id="both"),
        pytest.param(BOTH.widened(("U0CFO",), ("U0CFO",)), "2 have to approve", id="two of three"),
        pytest.param(
            Policy(approvers=(MAX,), rules=((Quota(names=("cfo",)),),)),
            "it takes 1 from cfo",
            id="role",
        ),
    ],
)
def test_a_card_counts_only_where_one_does_not_do(policy: Policy, told: str):
    """How many have to agree is said where it is more than anybody of those asked."""
    card = shown(blocks.card(approval(policy=policy), now=NOW))
    assert told in card
    assert bool(told) == ("so far none" in card)


EITHER = Policy(
    approvers=(MAX, MIA),
    rules=((Quota(names=("cfo", MAX)), Quota(names=("finance",), count=2)), (Quota(names=(MIA,)),)),
)


@pytest.mark.parametrize(
    ("policy", "mentioned", "named"),
    [
        pytest.param(
            EITHER,
            f"it takes either any 1 of (cfo, <@{MAX}>) or 2 from finance; and also <@{MIA}>",
            "Asked Max and Mia *M* <!channel>; it takes either any 1 of (cfo, Max) or 2 from"
            " finance; and also Mia *M* <!channel>,",
            id="named thresholds",
        ),
        pytest.param(
            EITHER.model_copy(update={"rules": EITHER.rules[:1]}),
            f"it takes any 1 of (cfo, <@{MAX}>) or 2 from finance",
            "it takes any 1 of (cfo, Max) or 2 from finance,",
            id="one rule",
        ),
        pytest.param(BOTH, "2 have to approve", "0 of 2 have approved", id="a number"),
        pytest.param(
            Policy(approvers=(MAX, MIA), rules=((Quota(names=("S0GROUP001",)),),)),
            "it takes 1 from <!subteam^S0GROUP001>",
            "Asked Max and Mia *M* <!channel>,",
            id="a group that has no name",
        ),
    ],
)
def test_what_it_takes_is_said_alike_everywhere(policy: Policy, mentioned: str, named: str):
    """Card, modal and lists have the same words; the line has names, and pings nobody."""
    record = approval(policy=policy)
    whole = views.everything_view(record, CLICK, around=around(record, ALONE))
    lists = home_view(Inbox(waiting=(record,))), inbox_blocks(Inbox(waiting=(record,)))
    card = list(blocks.card(record, now=NOW).blocks)
    for told in (card, whole, *lists):
        assert mentioned in json.dumps(told, ensure_ascii=False)
    line = blocks.asked(record, now=NOW, name=called)
    assert named in shown(line)
    assert "<@" not in shown(line) + line.text
    assert "subteam" not in shown(line) + line.text


def test_an_interrupted_call_is_never_simply_approved():
    """What has it run again says so, on the card and in the modal; the other leaves it alone."""
    record = approval(unknown=True, call_id="2-0")
    assert "If it did not happen, reimbursement runs" in shown(blocks.card(record, now=NOW))
    whole = views.everything_view(record, CLICK)
    assert "started and interrupted" in json.dumps(whole)
    left = views.reject_view(record, CLICK)
    form = views.form_view(record, CLICK)
    submits = [view["submit"]["text"] for view in (whole, form, left)]
    assert submits == ["It did not, run it", "It did not, run it", "Leave it"]
    assert [view_problems(view) for view in (whole, form, left)] == [[], [], []]


@pytest.mark.parametrize("view", [views.reject_view, views.form_view])
def test_a_modal_says_what_it_is_about(view: Any):
    """Of several cards on a screen, the one that is decided is named."""
    assert "a new chair" in json.dumps(view(approval(), CLICK)["blocks"][0])


def test_a_page_says_where_it_is_approved():
    """Whoever reads the first page of a long call knows where the button is."""
    record = approval(args={"text": "word " * 9_000})
    pages = [views.everything_view(record, replace(CLICK, page=page)) for page in range(3)]
    heads = [page["blocks"][0]["text"]["text"] for page in pages]
    more = "It is approved on the last one."
    assert heads == [f"Page 1 of 3. {more}", f"Page 2 of 3. {more}", "Page 3 of 3."]
    old = views.everything_view(closed("rejected").model_copy(update={"args": record.args}), CLICK)
    assert old["blocks"][0]["text"]["text"] == "Page 1 of 3."


def test_what_waits_in_a_home_can_be_refused_there():
    """Beside Open there is a way to say no, under its own name for an interrupted call."""
    waiting = (approval(), approval(id="5-0", unknown=True))
    view = home_view(Inbox(waiting=waiting, asked=waiting))
    rows = [b["elements"] for b in view["blocks"] if b["type"] == "actions"]
    names = [[each["text"]["text"] for each in row] for row in rows]
    assert names == [["Open", "Reject"], ["Open", "Leave it"], ["Withdraw"], ["Withdraw"]]


@pytest.mark.parametrize(
    ("form", "required", "expected"),
    [
        pytest.param("dacb", "db", "dacb", id="as declared, whatever is required"),
        pytest.param("dcba", "", "dcba", id="all optional"),
        pytest.param("d", "b", "dbac", id="some are not named"),
        pytest.param("xdcba", "", "dcba", id="a name that is no field"),
        pytest.param("", ["d", "b", "gone"], "dbac", id="asked before there was an order"),
    ],
)
def test_fields_come_as_they_were_declared(form, required, expected):
    """The store sorts what a schema lists by name, so the order is kept beside it."""
    properties = {name: {"type": "string"} for name in "abcd"}
    schema = {"properties": properties, "required": list(required)}
    record = approval(payload_schema=schema, form=tuple(form))
    stored = Approval.from_record(record.record())
    assert [field.name for field in fields(stored)] == list(expected)


VALUES: dict[str, Any] = {
    "who": {"type": "string", "format": "person"},
    "when": {"type": "string", "format": "date-time"},
    "sure": {"type": "boolean", "title": "Are you sure"},
    "several": {"type": "array"},
    "table": {"type": "object"},
    "text": {"type": "string"},
}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        pytest.param("who", MIA, {"type": "user", "user_id": MIA}, id="a person"),
        pytest.param("who", "me", {"type": "text", "text": "me\n"}, id="nobody we know"),
        pytest.param("when", "soon", {"type": "text", "text": "soon\n"}, id="no moment"),
        pytest.param("when", "2026-12-24T15:00", "2026-12-24 15:00", id="a moment without a zone"),
        pytest.param("when", "2026-12-24T15:00+01:00", "2026-12-24 14:00 UTC", id="a moment"),
        pytest.param("sure", True, "Yes", id="yes"),
        pytest.param("sure", False, "No", id="no"),
        pytest.param("several", ["a", 2, True], "a, 2, Yes", id="several"),
        pytest.param("several", [], "none", id="none of several"),
        pytest.param("text", "", "empty", id="emptied"),
        pytest.param("several", None, "nothing", id="left out"),
        pytest.param("table", {"a": 1}, '\\"a\\": 1', id="something else"),
        pytest.param("text", "pay\u202eme", "\\\\u{202E}", id="hidden characters"),
        pytest.param("text", "x" * 5_000, "(5,000 characters in all)", id="a long text"),
        pytest.param("gone", "x", "Gone: ", id="a field that is not asked for any more"),
    ],
)
def test_what_was_entered_is_told_as_people_say_it(name: str, value: Any, told: Any):
    """People by a mention, times in the reader's zone, yes and no, lists without brackets."""
    record = closed("done").model_copy(
        update={"payload": {name: value}, "payload_schema": {"properties": VALUES}}
    )
    card = blocks.card(record, now=NOW)
    found = next(block for block in card.blocks if "Entered" in json.dumps(block))
    wanted = json.dumps(told) if isinstance(told, dict) else told
    assert wanted in json.dumps(found, ensure_ascii=False)
    assert message_problems({"text": card.text, "blocks": list(card.blocks)}, update=True) == []


def test_not_everything_entered_fits():
    """A form of many long answers is counted, and Slack takes the card."""
    payload = {f"f{n}": "x" * 400 for n in range(9)}
    card = blocks.card(closed("done").model_copy(update={"payload": payload}), now=NOW)
    assert "… and 5 more" in shown(card)
    assert message_problems({"text": card.text, "blocks": list(card.blocks)}, update=True) == []


def test_a_short_list_says_where_the_others_are():
    """What a command has no room for is on the Home tab."""
    waiting = tuple(approval(id=f"{n}-0") for n in range(7))
    told = json.dumps(inbox_blocks(Inbox(waiting=waiting), each=5, where=" there"))
    assert "and 2 more there." in told


@pytest.mark.parametrize("status", ["approved", "started", "done", "failed"])
def test_what_was_only_started_is_not_called_done(status: str):
    """The first response of a long-running tool says that something began."""
    lasting = shown(blocks.card(closed(status, lasting=True), now=NOW, result="Status: pending"))
    usual = shown(blocks.card(closed(status), now=NOW, result="Status: pending"))
    assert "It is done" not in lasting
    assert (lasting == usual) == (status != "done")
    assert ("what comes of it is told in the conversation" in lasting) == (status == "done")
