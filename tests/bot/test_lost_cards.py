"""A card or a line that is gone while its request is open: there is another one at once, once."""

import pytest

from agents import Decide
from bot.approvals import posts
from bot.approvals.life import closed
from bot.approvals.request import Approval
from bot.playground.messages import full_text
from bot.turns import Spot, thread_of
from tests.bot.owing import Desk, question
from tests.stories.office import buttons


async def asked(desk: Desk, *, at_home: bool = False) -> Approval:
    """A question whose card is in the approvers' channel, or in its own thread."""
    approval = question(desk, desk.slack.workspace.channel("approvals").id)
    if at_home:
        home = thread_of(desk.key)
        (copy,) = approval.copies
        put = copy.model_copy(update={"channel": home.channel, "thread_ts": home.ts})
        approval = approval.model_copy(update={"copies": (put,)})
    card = posts.card(approval, approval.copies[0])
    await desk.owe(card, posts.asked(approval, thread_of(desk.key)), approvals=(approval,))
    await desk.pay()
    return approval


async def take_away(desk: Desk, post: str) -> None:
    """Delete the message that a post became, as an admin or retention does."""
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert view is not None
    spot = Spot.parse(view.places[post])
    desk.slack.workspace.channels[spot.channel].messages.pop(spot.ts, None)


async def changed(desk: Desk, approval: Approval, mark: str) -> Approval:
    """Pay the updates of a change; the approval as it is stored then."""
    await desk.owe(*posts.updates(approval, mark=mark))
    await desk.pay()
    view = await desk.slot.read(desk.key, parts=("approvals",))
    assert view is not None
    return Approval.from_record(view.approvals[approval.id])


def open_cards(desk: Desk) -> list[str]:
    """What the messages in the thread say that have buttons to decide with."""
    home = thread_of(desk.key)
    thread = desk.slack.thread(home.channel, home.ts)
    return [full_text(each) for each in thread if "approve" in buttons(each)]


@pytest.mark.parametrize("at_home", [False, True], ids=["in the channel", "in its own thread"])
async def test_a_card_that_is_gone_comes_home_once(desk: Desk, *, at_home: bool):
    """Whoever is asked can decide at once again; the thread has no more than two cards ever."""
    approval = await asked(desk, at_home=at_home)
    await take_away(desk, approval.copies[0].post)
    assert open_cards(desk) == []
    after = await changed(desk, approval, "2")
    assert len(open_cards(desk)) == 1
    assert [each.thread_ts for each in after.copies][-1] == thread_of(desk.key).ts
    again = await changed(desk, after, "3")
    assert (len(open_cards(desk)), again.copies) == (1, after.copies)
    for mark in ("4", "5", "6"):
        await take_away(desk, again.copies[-1].post)
        again = await changed(desk, again, mark)
        assert len([each for each in again.copies if each.thread_ts]) == 2


@pytest.mark.parametrize(
    ("code", "new"),
    [
        pytest.param("message_not_found", 1, id="it is gone"),
        pytest.param("channel_not_found", 1, id="its channel is gone"),
        pytest.param("is_archived", 1, id="its channel is archived"),
        pytest.param("cant_update_message", 0, id="it stays as it is"),
        pytest.param("edit_window_closed", 0, id="it is too old to change"),
        pytest.param("restricted_action", 0, id="it may not be changed"),
    ],
)
async def test_which_refusal_means_that_nobody_sees_it(desk: Desk, code: str, new: int):
    """A card that is still there and cannot be changed can still be decided on."""
    approval = await asked(desk)
    desk.slack.fail("chat.update", "refused", error=code)
    await changed(desk, approval, "2")
    assert len(open_cards(desk)) == new


async def test_a_card_of_what_is_over_is_let_be(desk: Desk):
    """Nobody needs another card of a request that is closed."""
    approval = await asked(desk)
    await take_away(desk, approval.copies[0].post)
    over = closed(approval, "expired", now=2, why="")
    await desk.slot.decide(desk.key, Decide(record=over.record(), late_ok=True))
    assert (await changed(desk, over, "2")).copies == approval.copies
    assert open_cards(desk) == []


@pytest.mark.parametrize("lost", [True, False], ids=["it is gone", "it cannot be changed"])
async def test_a_line_is_said_anew_once(desk: Desk, *, lost: bool):
    """What is said in place of a line is what changes from then on."""
    approval = await asked(desk)
    if lost:
        await take_away(desk, approval.notice)
    else:
        desk.slack.fail("chat.update", "refused", error="cant_update_message", times=99)
    before = len(desk.said())
    for mark in ("2", "3", "4"):
        await changed(desk, approval, mark)
    assert len(desk.said()) == before + 1
