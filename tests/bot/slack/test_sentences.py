"""What a person reads after a click, and where the rest of a list is."""

import json
from dataclasses import replace

import pytest

from bot.approvals.board import Inbox
from bot.approvals.decision import UNKNOWN, UNSURE, Outcome, weigh
from bot.approvals.policy import Person
from bot.slack.blocks.lists import inbox_blocks
from bot.slack.blocks.rendered import moment
from bot.slack.clicks import note, sentence
from tests.bot.approvals.samples import click
from tests.bot.slack.samples import MAX, NOW, TEAM, approval

LATE = approval(deadline=NOW - 5)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(LATE, id="not swept yet"),
        pytest.param(LATE.model_copy(update={"status": "expired"}), id="expired"),
    ],
)
def test_a_deadline_is_told_in_the_readers_zone(record):
    """Slack shows it as the clock on the wall of whoever reads it."""
    late = weigh(record, click(record, Person(id=MAX, team=TEAM)), now=NOW, run_for=None)
    assert isinstance(late, Outcome)
    told = sentence(late)
    assert told.endswith(f"It could be decided until {moment(NOW - 5)}.")
    assert "UTC" not in late.sentence


@pytest.mark.parametrize(
    ("title", "words"),
    [
        pytest.param("waiting", "2 more, which are less urgent", id="waits"),
        pytest.param("counted", "2 more, which wait for others as well", id="voted on"),
        pytest.param("asked", "2 more, asked earlier", id="asked"),
        pytest.param("decided", "2 more, decided earlier", id="decided"),
    ],
)
def test_a_list_says_where_the_others_are(title: str, words: str):
    """What a Home has no room for is somewhere, and it says where."""
    many = tuple(approval(id=f"4-{n}") for n in range(12))
    blocks = json.dumps(inbox_blocks(Inbox(**{title: many})), ensure_ascii=False)
    assert f"… and {words}" in blocks
    told = json.dumps(inbox_blocks(Inbox(**{title: many}), where=" there"), ensure_ascii=False)
    assert "… and 2 more there." in told


@pytest.mark.parametrize(
    ("outcome", "named"),
    [
        pytest.param(UNKNOWN, False, id="it belongs to no request"),
        pytest.param(UNSURE, True, id="nobody knows who may decide"),
    ],
)
def test_a_note_names_the_request_that_it_is_about(outcome: Outcome, *, named: bool):
    """And none where it says that there is none."""
    told = note(replace(outcome, approval=approval()))
    assert told.endswith(outcome.sentence)
    assert (told != outcome.sentence) == named
