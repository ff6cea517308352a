"""What cannot be said where it belongs is said elsewhere, and it is said why."""

from collections.abc import Sequence

import pytest

from agents import Decide
from bot.approvals import posts
from bot.approvals.life import closed
from bot.approvals.request import Approval
from bot.playground import MAX
from bot.playground.messages import full_text
from bot.slack import blocks
from bot.turns import Thread, thread_of
from tests.bot.owing import Desk, answer, question

ARCHIVED = "That channel is archived."


def archive(desk: Desk, *channels: str) -> None:
    """Have nobody post in these any more."""
    for channel in channels:
        desk.slack.workspace.channel(channel).is_archived = True


async def asked(desk: Desk, place: str) -> Approval:
    """Owe a question whose card goes to a place, and pay what of it can be paid."""
    approval = question(desk, place)
    card = posts.card(approval, approval.copies[0])
    await desk.owe(card, posts.asked(approval, thread_of(desk.key)), approvals=(approval,))
    await desk.pay()
    return approval


async def test_an_answer_elsewhere_says_where_it_belongs(desk: Desk):
    """In the DM one reads why it comes there, and to which thread it belongs."""
    archive(desk, "expenses")
    await desk.owe(answer(desk, 1, "<!channel> *one*"))
    await desk.pay()
    [message] = desk.slack.dms("ana")
    home = thread_of(desk.key)
    why = message["blocks"][0]
    where, reason = why["elements"]
    assert where["type"] == "mrkdwn"
    assert f"<#{home.channel}>" in where["text"]
    assert f"<!date^{home.ts.partition('.')[0]}^" in where["text"]
    assert reason == {"type": "plain_text", "text": ARCHIVED, "emoji": False}
    assert message["text"] == "&lt;!channel&gt; *one*"


@pytest.mark.parametrize(
    ("home", "told"),
    [
        pytest.param(Thread("C1", "17.5"), "<#C1>, in the thread of <!date^17^", id="a thread"),
        pytest.param(Thread("C1"), "<#C1>.", id="a channel"),
        pytest.param(Thread("D1"), "our conversation.", id="a DM"),
        pytest.param(Thread("C1><!here", "now"), "our conversation.", id="no id of a channel"),
    ],
)
def test_which_thread(home: Thread, told: str):
    """Only ids and times that Slack gave us are put into mrkdwn; the sentence never is."""
    pieces = blocks.answer("one") + blocks.answer("two")
    first, *rest = blocks.elsewhere(pieces, home, sentence="<!here>")
    why, *shown = first.blocks
    where, reason = why["elements"]
    assert (where["type"], reason["type"]) == ("mrkdwn", "plain_text")
    assert reason["text"] == "<!here>"
    assert told in where["text"]
    assert "<!here" not in where["text"]
    assert (first.text, shown, rest) == (pieces[0].text, pieces[0].blocks, pieces[1:])


LAST = [
    pytest.param("approvals", ("approvals", "expenses"), id="two channels that are archived"),
    pytest.param("expenses", ("expenses",), id="it was to be asked in the thread"),
    pytest.param("max", ("expenses",), id="a person whom nobody can write to"),
]


@pytest.mark.parametrize(("place", "archived"), LAST)
async def test_where_nobody_could_be_asked_the_requester_knows(
    desk: Desk, place: str, archived: Sequence[str]
):
    """A card that Slack takes nowhere is told to who asked, who can take the request back."""
    archive(desk, *archived)
    to = MAX.id if place == "max" else desk.slack.workspace.channel(place).id
    if place == "max":
        desk.slack.fail("conversations.open", "refused", error="user_disabled")
    approval = await asked(desk, to)
    told, line = desk.slack.dms("ana")
    assert "I could not ask" in full_text(told)
    assert "Nobody could be asked" in full_text(line)
    assert "Max" not in full_text(line)
    assert MAX.id not in full_text(line)
    assert line["blocks"][-1]["type"] == "actions"
    await desk.owe(*posts.updates(approval, mark=2))
    debt = await desk.pay()
    assert debt.waits.pause is None
    assert len(desk.slack.dms("ana")) == 2


@pytest.mark.parametrize(
    ("archived", "cards", "told"),
    [
        pytest.param((), {"approvals": 1}, "Asked", id="as usual"),
        pytest.param(("expenses",), {"approvals": 1}, "Asked", id="no place for the line"),
        pytest.param(("approvals",), {"expenses": 1}, "Asked", id="asked in the thread"),
    ],
)
async def test_who_was_asked_is_told_so(
    desk: Desk, archived: Sequence[str], cards: dict[str, int], told: str
):
    """Where a card is somewhere, the line names who was asked."""
    archive(desk, *archived)
    await asked(desk, desk.slack.workspace.channel("approvals").id)
    for channel, count in cards.items():
        found = [each for each in desk.slack.messages(channel) if "Approve" in full_text(each)]
        replies = desk.slack.thread("expenses", thread_of(desk.key).ts)
        found += [each for each in replies if "Approve" in full_text(each)]
        assert len(found) == count
    lines = [*desk.said(), *(full_text(each) for each in desk.slack.dms("ana"))]
    assert any(told in line and "Nobody" not in line for line in lines)


async def test_a_way_round_that_the_app_cannot_take_is_taken_later(desk: Desk):
    """While Slack takes nothing from this app, nobody is told that nobody could be asked."""
    archive(desk, "approvals")
    desk.slack.fail("chat.postMessage", "slow", seconds=0)
    desk.slack.fail("chat.postMessage", "refused", error="token_revoked", times=1)
    await asked(desk, desk.slack.workspace.channel("approvals").id)
    assert (desk.said(), desk.slack.dms("ana")) == ([], [])
    debt = await desk.pay()
    assert debt.waits.pause is None
    told, card, line = desk.said()
    assert "I ask here" in told
    assert "Asked:" in card
    assert "Nobody" not in line
    assert desk.slack.dms("ana") == []


async def test_what_is_over_is_said_and_not_asked(desk: Desk):
    """Nobody is asked anything by the news that an operator closed it."""
    before = await asked(desk, desk.slack.workspace.channel("approvals").id)
    archive(desk, "approvals")
    after = closed(before, "cancelled", now=before.asked_at, why="operator", by="operator jo")
    ruling = Decide(record=after.record(), posts=posts.ruled(after))
    assert (await desk.slot.decide(desk.key, ruling)).kind == "ok"
    await desk.pay()
    why, told = desk.said()[-2:]
    assert why == f"I could not write in the channel for approvals: {ARCHIVED} I say it here."
    assert "an operator cancelled it" in told
