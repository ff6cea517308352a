"""What those said who voted is on the card for whoever decides next, and in what is told of it."""

from typing import Any

import pytest

from bot.approvals.board import Inbox
from bot.approvals.decision import told, weigh
from bot.approvals.kin import ALONE
from bot.approvals.life import resume, voted
from bot.approvals.policy import Person
from bot.approvals.request import Approval, Escalation
from bot.approvals.terms import Policy, Quota, Vote
from bot.slack import blocks
from bot.slack.blocks import views
from bot.slack.blocks.card import DIFFER, around
from bot.slack.blocks.lists import home_view
from bot.slack.blocks.takes import ENOUGH
from bot.slack.validate import message_problems
from tests.bot.approvals.samples import click
from tests.bot.slack.samples import ANA, MAX, MIA, NOW, TEAM, approval
from tests.bot.slack.test_blocks import CLICK, shown

BEN = "U0BEN"
DAYS = {"properties": {"days": {"type": "integer"}}, "required": ["days"]}
THREE = Policy(approvers=(MAX, MIA, BEN), quorum=2, rejections=2)


def no(person: str, reason: str | None = None) -> Vote:
    """A vote against."""
    return Vote(person=person, confirmed=False, at=NOW, reason=reason)


def yes(person: str, **payload: Any) -> Vote:
    """A vote in favour, with what was entered."""
    return Vote(person=person, confirmed=True, at=NOW, payload=payload or None)


def after(*votes: Vote, policy: Policy = THREE, **given: Any) -> Approval:
    """The approval after these votes."""
    record = approval(policy=policy, **given)
    for vote in votes:
        record = voted(record, vote, run_for=None)
    return record


def entering(*votes: Vote) -> Approval:
    """The approval with a form after these votes."""
    return after(*votes, payload_schema=DAYS, form=("days",))


def test_a_first_reason_is_read_by_the_next():
    """Before it is decided, the card says who is against it and why, as plain words."""
    record = after(no(MAX, "*paid* last week <!channel>"))
    card = blocks.card(record, now=NOW)
    (block,) = [b for b in card.blocks if "is against it" in str(b)]
    user, text = block["elements"][0]["elements"]
    assert user == {"type": "user", "user_id": MAX}
    assert text == {"type": "text", "text": " is against it: *paid* last week <!channel>"}
    assert block in around(record, ALONE)
    assert message_problems({"text": card.text, "blocks": list(card.blocks)}, update=False) == []


@pytest.mark.parametrize(
    ("votes", "status", "words", "reason"),
    [
        pytest.param(
            (no(MAX, "cost centre 12"), no(MIA, "too late")),
            "rejected",
            (f"*Rejected* by <@{MAX}> and <@{MIA}>", "cost centre 12", "too late"),
            "cost centre 12\ntoo late",
            id="two against it",
        ),
        pytest.param(
            (no(MAX, "cost centre 12"), no(MIA)),
            "rejected",
            (f"by <@{MAX}> and <@{MIA}>", "cost centre 12"),
            "cost centre 12",
            id="only the first says why",
        ),
        pytest.param(
            (no(MAX, "no"), no(MIA, "no")), "rejected", ("no",), "no", id="both say the same"
        ),
        pytest.param((no(ANA, "not needed"),), "rejected", ("Reason:",), "not needed", id="own"),
        pytest.param(
            (no(MAX, "paid already"), yes(MIA), yes(BEN)),
            "approved",
            ("*Approved*", "is against it: paid already"),
            None,
            id="approved all the same",
        ),
        pytest.param(
            (no(MAX, "paid already"), yes(MAX), yes(BEN)),
            "approved",
            (f"*Approved* by <@{MAX}>",),
            None,
            id="who changed their mind is not against it",
        ),
    ],
)
def test_every_reason_is_kept(votes, status, words, reason):
    """The closed card has the words of all who were against it; the model reads those of a no."""
    record = after(*votes)
    assert record.status == status
    card = shown(blocks.card(record, now=NOW))
    assert all(each in card for each in words)
    assert "against it" in card or "is against it" not in "".join(words)
    (part,) = resume(record).body["content"]["parts"]
    assert part["function_response"]["response"].get("reason") == reason


def test_others_values_are_there_to_agree_with():
    """Who decides next sees what was entered, in the same words as afterwards."""
    record = entering(yes(MAX, days=3))
    card = shown(blocks.card(record, now=NOW))
    assert " entered: " in card
    assert DIFFER not in card
    assert told(record).sentence == "Your approval is counted: 1 of 2."


def test_values_that_differ_are_called_so():
    """The card, the note, the line in the thread and the reminder say that they differ."""
    record = entering(yes(MAX, days=3), yes(MIA, days=4))
    assert record.status == "pending"
    card = blocks.card(record, now=NOW)
    assert DIFFER in shown(card)
    assert [b["elements"][0]["elements"][0] for b in card.blocks if " entered: " in str(b)] == [
        {"type": "user", "user_id": person} for person in (MAX, MIA)
    ]
    assert "1 of 2. Others entered different values" in told(record).sentence
    line = blocks.asked(record, now=NOW).text
    assert "1 of 2 have approved with the same values, others with others" in line
    reminder = blocks.prompt(record, kind="reminder").text
    assert f"<@{MAX}>, <@{MIA}> and <@{BEN}>: the values that were entered differ" in reminder
    assert "2 have to enter the same" in reminder
    agreed = voted(record, yes(MIA, days=3), run_for=None)
    assert (agreed.status, agreed.payload) == ("approved", {"days": 3})


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        pytest.param("ok", "approved", id="the same"),
        pytest.param(" ok\n", "approved", id="blanks nobody sees"),
        pytest.param("o k", "pending", id="blanks inside"),
        pytest.param("OK", "pending", id="other letters"),
    ],
)
def test_blanks_at_an_end_make_no_other_value(typed: str, status: str):
    """Two who see the same on the card have entered the same: what the first one did."""
    schema = {"properties": {"note": {"type": "string"}}, "required": ["note"]}
    record = after(yes(MAX, note="ok"), payload_schema=schema, form=("note",))
    decision = click(record, Person(id=MIA, team=TEAM), values={"note": typed})
    found = weigh(record, decision, now=NOW, run_for=None)
    assert isinstance(found, Approval)
    assert found.status == status
    assert (found.payload == {"note": "ok"}) == (status == "approved")


@pytest.mark.parametrize(
    ("notified", "votes", "words"),
    [
        pytest.param(None, (), f"<@{MAX}>, <@{MIA}> and <@{BEN}>: this still", id="all"),
        pytest.param(None, (yes(MAX),), f"<@{MIA}> and <@{BEN}>: this still", id="one has voted"),
        pytest.param((), (), "This still waits", id="nobody is told"),
        pytest.param((MAX,), (yes(MAX),), "This still waits", id="who is told has voted"),
    ],
)
def test_a_reminder_is_to_somebody_or_to_all(notified, votes, words):
    """It never says that nobody is waited for."""
    policy = THREE.model_copy(update={"notified": notified})
    line = blocks.prompt(after(*votes, policy=policy), kind="reminder").text
    assert line.startswith(words)
    assert "nobody" not in line


EITHER = Policy(
    approvers=(MAX, MIA, BEN),
    rules=((Quota(names=("cfo",)), Quota(names=("finance",), count=2)),),
)
BOTH = Policy(approvers=(MAX, MIA), rules=((Quota(names=(MAX,)),), (Quota(names=(MIA,)),)))
ALIKE = Policy(approvers=(MAX, MIA), rules=((Quota(names=(MAX, MIA)),), (Quota(names=(MIA,)),)))
GROUPS = Policy(approvers=("a", "b"), rules=((Quota(names=("a",)),), (Quota(names=("b",)),)))


def standing(person: str, *names: str) -> Vote:
    """A vote of somebody who stands for groups or roles."""
    return Vote(person=person, confirmed=True, at=NOW, names=names)


@pytest.mark.parametrize(
    ("policy", "vote", "words"),
    [
        pytest.param(EITHER, standing(MAX, "finance"), "1 of at least 2", id="one of finance"),
        pytest.param(BOTH, standing(MAX), "1 of at least 2", id="one of two rules"),
        pytest.param(ALIKE, standing(MAX), "1 of at least 2", id="the other may do for both"),
        pytest.param(GROUPS, standing(MAX, "a"), "1 of at least 2", id="one of two groups"),
        pytest.param(THREE, standing(MAX), "1 of 2", id="one of a quorum"),
    ],
)
def test_what_is_pending_is_not_complete(policy, vote, words):
    """However the rules are, it takes more than there is as long as it is not decided."""
    record = after(vote, policy=policy)
    assert record.status == "pending"
    assert words in told(record).sentence
    assert f"{words} have approved" in blocks.asked(record, now=NOW).text


INSTEAD = EITHER.widened((MAX,), (MAX,))
FORMS: dict[str, Any] = {"payload_schema": DAYS, "form": ("days",)}


@pytest.mark.parametrize(
    ("policy", "votes", "told_so"),
    [
        pytest.param(INSTEAD, (standing(MAX, "finance"),), True, id="who stands in for others"),
        pytest.param(INSTEAD, (standing(MIA, "finance"),), False, id="somebody else"),
        pytest.param(
            INSTEAD, (yes(MIA, days=1), yes(MAX, days=2)), True, id="among values that differ"
        ),
        pytest.param(BOTH.widened((MIA,), (MIA,)), (yes(MIA),), True, id="now for both rules"),
    ],
)
def test_approvals_that_are_enough_by_now_are_asked_for_once_more(policy, votes, told_so: bool):
    """Who agreed when others had to as well decides alone by a click of then, everywhere alike."""
    record = approval(policy=policy, votes=votes, **FORMS)
    escalated = Escalation(at=NOW, names=(MAX,), people=(MAX,))
    widened = record.model_copy(
        update={"heirs": (MAX,), "escalations": (escalated,), "escalated": 1}
    )
    shown_to_all = [
        shown(blocks.card(record, now=NOW)),
        shown(blocks.asked(record, now=NOW)),
        *(blocks.prompt(widened, kind=k).text for k in ("reminder", "succession", "escalation")),
        str(home_view(Inbox(waiting=(record,)))),
        str(views.everything_view(record, CLICK, around=around(record, ALONE))),
    ]
    assert {ENOUGH in told for told in shown_to_all} == {told_so}


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        pytest.param((yes(MAX),), f"<@{MAX}>: this was asked again", id="one"),
        pytest.param((yes(MAX), no(MIA, "no")), f"<@{MAX}> and <@{MIA}>: this was", id="two"),
    ],
)
def test_who_voted_on_what_is_superseded_is_told(votes, words):
    """Their vote is not counted for the newer request, and nobody finds out by chance."""
    line = blocks.prompt(after(*votes), kind="superseded").text
    assert line.startswith(words)
    assert "is not counted there" in line


def test_a_rejection_of_several_says_how_far_it_is():
    """Whoever is against it hears how many it takes."""
    assert told(after(no(MAX))).sentence == "Your rejection is counted: 1 of 2 against."
