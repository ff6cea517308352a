"""What a closed question says of its call: never that it did not run, when it may have."""

import re
from typing import Any

import pytest

from bot.approvals.request import Again, Approval, asked_again
from bot.approvals.terms import OPERATOR, Policy, Vote
from bot.slack import blocks
from bot.slack.blocks.outcome import outcome
from bot.slack.validate import message_problems
from tests.bot.slack.samples import ANA, MAX, MIA, NOW, approval

DENIES = ("did not run", "not run again", "nothing ran")


def ended(status: str, why: str = "", *, by: str = MAX, **given: Any) -> Approval:
    """An approval that came to this end, by a vote where there was one."""
    told: dict[str, Any] = {"status": status, "why": why, **given}
    if status not in ("pending", "expired") and why != "superseded":
        told |= {"decided_by": by, "decided_at": NOW}
    if status not in ("pending", "expired") and not why:
        told["votes"] = (Vote(person=by, confirmed=status != "rejected", at=NOW),)
    return approval(**told)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        pytest.param(ended("cancelled"), "whether it happened is not known", id="left as it was"),
        pytest.param(
            ended("cancelled", unknown=True, begun=True, by=MIA),
            f"*It did not happen*, says <@{MIA}>",
            id="run again and interrupted again",
        ),
        pytest.param(
            ended("cancelled", unknown=True, begun=True),
            "It was started, and whether it happened is not known",
            id="the same, for the second run",
        ),
        pytest.param(ended("unknown"), "whether it happened is not known", id="nobody looked yet"),
        pytest.param(
            ended("unknown", unknown=True, begun=True), "is not known", id="a second time"
        ),
        pytest.param(
            ended("cancelled", "superseded"), "the newer request counts", id="asked again"
        ),
        pytest.param(ended("void"), "It was not run on this approval", id="run on a later one"),
        pytest.param(
            ended("void", unknown=True, begun=True),
            "It was started before, and what came of that is not known",
            id="its second run came too late",
        ),
        pytest.param(
            ended("void", begun=True),
            "It was started before, and what came of that is not known",
            id="asked by a body that had run, and too late",
        ),
        pytest.param(
            ended("rejected", begun=True),
            "It had been started before this was asked",
            id="asked by a body that had run, rejected",
        ),
        pytest.param(
            ended("expired", begun=True),
            "It had been started before this was asked",
            id="asked by a body that had run, expired",
        ),
        pytest.param(
            ended("cancelled", "withdrawn", begun=True, by=ANA),
            "It had been started before this was asked",
            id="asked by a body that had run, withdrawn",
        ),
        pytest.param(
            ended("cancelled", "happened", unknown=True, begun=True, by=MIA),
            f"*It happened*, says <@{MIA}>",
            id="somebody looked",
        ),
    ],
)
def test_what_may_have_run_is_never_denied(record: Approval, words: str):
    """The card, the line in the thread and Home tell what is known, and nothing more."""
    told = outcome(record)
    assert words in told
    assert not any(denied in told for denied in DENIES)
    assert words in str(blocks.card(record, now=NOW).blocks)
    assert words in str(blocks.asked(record, now=NOW).blocks)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        pytest.param(ended("expired"), "*Nobody looked.*", id="nobody looked"),
        pytest.param(ended("rejected"), f"*Left as it is* by <@{MAX}>", id="left"),
        pytest.param(ended("cancelled", "withdrawn"), f"*Withdrawn* by <@{MAX}>", id="withdrawn"),
        pytest.param(ended("cancelled", "operator"), "an operator cancelled it", id="operator"),
        pytest.param(ended("cancelled", "nobody"), "too few may decide this", id="nobody"),
    ],
)
def test_an_interrupted_call_nobody_vouched_for(record: Approval, words: str):
    """Whether it happened stays open; that it does not run again is said of what comes."""
    told = outcome(record.model_copy(update={"unknown": True, "begun": True}))
    assert words in told
    assert "Whether it happened is not known, and it does not run again." in told


@pytest.mark.parametrize(
    ("status", "why"),
    [("rejected", ""), ("expired", ""), ("cancelled", "withdrawn"), ("cancelled", "operator")],
)
def test_what_never_began_is_said_not_to_have_run(status: str, why: str):
    """A question that stood before the first run tells plainly that there was none."""
    assert outcome(ended(status, why)).endswith("It did not run.")


def test_an_operator_who_says_that_it_did_not_happen():
    """Is named as one from outside Slack."""
    by = f"{OPERATOR}jo"
    told = outcome(ended("done", unknown=True, begun=True, by=by))
    assert f"*It did not happen*, says {by}" in told
    assert "from outside Slack. It is done." in told


def asked_anew(**given: Any) -> Approval:
    """A newer request about the same call."""
    return approval(id="9-0", **given)


REF = asked_anew().reference
TOO_LATE = "or the call or its rules changed in the meantime."


@pytest.mark.parametrize(
    ("record", "newest", "words"),
    [
        pytest.param(
            ended("void"), None, f"{TOO_LATE} It was not asked again.", id="void, and that is all"
        ),
        pytest.param(
            ended("void"),
            asked_anew(),
            f"It was not run on this approval. It was asked again as `{REF}`, on a newer card.",
            id="void, and asked again",
        ),
        pytest.param(
            ended("void"),
            asked_anew(changes=("price: was 100, is now 140",)),
            f"It was asked again as `{REF}`, on a newer card, which says what has changed.",
            id="void, and asked again with a difference",
        ),
        pytest.param(
            ended("void", begun=True),
            asked_anew(),
            f"what came of that is not known. It was asked again as `{REF}`",
            id="void, of a call that had been started, and asked again",
        ),
        pytest.param(
            ended("void"),
            asked_anew(status="rejected"),
            f"It was asked again as `{REF}`",
            id="void, asked again and decided",
        ),
        pytest.param(
            ended("void", begun=True),
            None,
            "what came of that is not known. It was not asked again.",
            id="void, of a call that had been started",
        ),
        pytest.param(
            ended("unknown"),
            asked_anew(unknown=True),
            f"whether it happened is not known. That is asked as `{REF}`, on a newer card.",
            id="interrupted",
        ),
        pytest.param(
            ended("unknown"),
            asked_anew(begun=True, changes=("x",)),
            f"happened is not known. It was asked again as `{REF}`",
            id="interrupted, and changed since",
        ),
        pytest.param(
            ended("unknown"), None, "whether it happened is not known.", id="interrupted, unasked"
        ),
        pytest.param(
            ended("done"),
            asked_anew(),
            f"It ran, and asked again as `{REF}`, on a newer card.",
            id="a body that asks twice",
        ),
        pytest.param(ended("done"), asked_anew(unknown=True), "It is done.", id="it had happened"),
        pytest.param(ended("done"), None, "It is done.", id="done"),
        pytest.param(ended("failed"), None, "It ran and failed.", id="failed"),
        pytest.param(ended("rejected"), None, "It did not run.", id="rejected"),
    ],
)
def test_whether_and_where_it_was_asked_again(
    record: Approval, newest: Approval | None, words: str
):
    """Card, line, and the card that hides: what became of the call after this is said of it."""
    again = Again(newest)
    assert outcome(record, again=again).endswith(words) or words in outcome(record, again=again)
    line = blocks.asked(record, now=NOW, again=again)
    for told in (
        blocks.card(record, now=NOW, again=again),
        blocks.withheld(record, now=NOW, again=again),
        line,
    ):
        assert words in told.text
        assert words in str(told.blocks)
        assert message_problems({"text": told.text, "blocks": list(told.blocks)}, update=True) == []


@pytest.mark.parametrize("status", ["void", "unknown", "done"])
def test_where_nobody_looked_nothing_is_said_of_it(status: str):
    """Home lists requests of many conversations: it says neither that it was asked again, nor not.

    Whoever wants to know opens the card.
    """
    assert "asked again" not in outcome(ended(status))


@pytest.mark.parametrize(
    ("others", "newest"),
    [
        pytest.param([], None, id="no other"),
        pytest.param([approval(id="9-0", call_id="8-0")], None, id="another call"),
        pytest.param([approval(id="3-0")], None, id="an older one"),
        pytest.param([approval(id="9-0")], "9-0", id="a newer one"),
        pytest.param([approval(id="11-0"), approval(id="9-0")], "11-0", id="the newest of two"),
    ],
)
def test_what_counts_as_asked_again(others: list[Approval], newest: str | None):
    """A later question about the very call, by the number of the event that asks."""
    record = approval(id="4-0")
    found = asked_again(record, [record, *others]).newest
    assert (found and found.id) == newest


ROOT = f"{OPERATOR}root"
BOTH = Policy(approvers=(MAX, MIA), quorum=2, rejections=2)
YES, NO = (Vote(person=MAX, confirmed=said, at=NOW - 1) for said in (True, False))
RULED_YES, RULED_NO = (Vote(person=ROOT, confirmed=said, at=NOW) for said in (True, False))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(
            {"status": "approved", "votes": (YES, RULED_YES), "decided_by": ROOT},
            f"in place of those who were asked, by operator root, AT. <@{MAX}> had approved. It is",
            id="an operator, and one who had approved",
        ),
        pytest.param(
            {"status": "approved", "votes": (NO, RULED_YES), "decided_by": ROOT},
            f"by operator root, AT. <@{MAX}> had rejected. It is on its way.",
            id="an operator, against one who had rejected",
        ),
        pytest.param(
            {"status": "rejected", "votes": (NO, RULED_NO), "decided_by": ROOT},
            f"in place of those who were asked, by operator root, AT. <@{MAX}> had rejected.",
            id="an operator, and one who had rejected",
        ),
        pytest.param(
            {"status": "rejected", "votes": (RULED_NO,), "decided_by": ROOT},
            "by operator root, AT. It did not run.",
            id="an operator alone",
        ),
        pytest.param(
            {"status": "cancelled", "why": "operator", "votes": (YES,), "decided_by": ROOT},
            f"an operator cancelled it. <@{MAX}> had approved.",
            id="an operator closes it",
        ),
        pytest.param(
            {"status": "expired", "votes": (YES,)},
            f"Nobody decided in time. <@{MAX}> had approved. It did not run.",
            id="expired after one of two",
        ),
        pytest.param(
            {"status": "expired", "votes": (YES.model_copy(update={"counts": False}),)},
            "Nobody decided in time. It did not run.",
            id="one whose approval counts no more",
        ),
        pytest.param(
            {"status": "cancelled", "why": "withdrawn", "votes": (YES,), "decided_by": ANA},
            f"<@{ANA}>, AT. <@{MAX}> had approved. It did not run.",
            id="withdrawn after one of two",
        ),
        pytest.param(
            {
                "status": "rejected",
                "votes": (YES, Vote(person=MIA, confirmed=False, at=NOW)),
                "decided_by": MIA,
            },
            f"by <@{MIA}>, AT. <@{MAX}> had approved. It did not run.",
            id="rejected after one of two",
        ),
        pytest.param(
            {
                "status": "approved",
                "votes": (YES, Vote(person=MIA, confirmed=True, at=NOW)),
                "decided_by": MIA,
            },
            f"by <@{MAX}> and <@{MIA}>, AT. It is on its way.",
            id="all who approved are named once",
        ),
    ],
)
def test_who_decided_and_what_others_had_said(given: dict[str, Any], told: str):
    """Nobody is left out, and nobody is told to have done what another one did."""
    when = given.get("decided_by") and {"decided_at": NOW}
    found = outcome(approval(policy=BOTH, **given, **(when or {})))
    assert told in re.sub(r"<!date[^>]*>", "AT", found)
