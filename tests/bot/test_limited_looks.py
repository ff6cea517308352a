"""Slack lets some apps look at a page once in a while: what may be there is found all the same."""

import pytest

from bot.slack import replies
from bot.slack.replies import Replies
from bot.turns import thread_of
from tests.bot.owing import Desk, answer

BEHIND = 30
"""Messages in the thread besides the post that is looked for."""


@pytest.fixture
def looks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cursors of all looks; every other look is refused, and a page has five messages."""
    cursors, page = list[str](), Replies._page

    def rationed(self: Replies, thread, *, since: float, cursor: str):
        cursors.append(cursor)
        if len(cursors) % 2 == 0:
            desk.slack.fail("conversations.replies", "ratelimited")
        return page(self, thread, since=since, cursor=cursor)

    monkeypatch.setattr(replies, "PAGE", 5)
    monkeypatch.setattr(Replies, "_page", rationed)
    return cursors


async def fill(desk: Desk) -> None:
    """People talk on in the thread."""
    for number in range(BEHIND):
        await desk.slack.say("ana", "expenses", f"m{number}", thread_ts=thread_of(desk.key).ts)


@pytest.mark.parametrize("there", [True, False], ids=["it is there", "it is not there"])
async def test_it_is_looked_for_page_by_page(desk: Desk, looks: list[str], there: bool):
    """Each look goes on where the last one stopped, and then it is there once."""
    if there:
        desk.slack.fail("chat.postMessage", "lost")
        await desk.owe(answer(desk, 1, "one"))
        await (await desk.debt()).pay(look=True)
    await fill(desk)
    if not there:
        await desk.owe(answer(desk, 1, "one"))
    for _ in range(BEHIND // 5 + 2):
        debt = await desk.pay()
    assert (desk.said(), debt.waits.pause) == (["one"], None)
    assert len(looks) <= 2 * (BEHIND // 5 + 2)


async def test_others_begin_anew(desk: Desk, looks: list[str]):
    """What was read in part tells nothing any more once somebody else had the session."""
    await fill(desk)
    await desk.owe(answer(desk, 1, "one"))
    await desk.pay()
    assert looks[-1]
    begun = await desk.slot.begin(desk.key, owner="test", lease=1000)
    await desk.slot.release(desk.key, begun.fence)
    before = len(looks)
    await desk.pay()
    assert looks[before] == ""


async def test_a_cursor_that_is_no_more(desk: Desk, looks: list[str]):
    """A place that cannot be read on is read anew."""
    await fill(desk)
    await desk.owe(answer(desk, 1, "one"))
    await desk.pay()
    desk.slack.fail("conversations.replies", "refused", error="invalid_cursor")
    await desk.pay()
    before = len(looks)
    await desk.pay()
    assert looks[before] == ""
