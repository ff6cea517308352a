"""What a closed question says of its call: never that it did not run, when it may have."""

from typing import Any

import pytest

from bot.approvals.request import Approval
from bot.approvals.terms import OPERATOR, Vote
from bot.slack import blocks
from bot.slack.blocks.outcome import outcome
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
        pytest.param(ended("cancelled", "nobody"), "nobody may decide this", id="nobody"),
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
