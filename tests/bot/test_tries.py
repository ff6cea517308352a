"""What could not be posted is tried again: how long it waits, and when it is given up."""

import asyncio
import time
from dataclasses import replace
from functools import partial

import pytest

from agents import FunctionTool, Post
from agents.runtime.slot.redis import connect
from agents.runtime.testing import ScriptedModel, call
from bot import outbox, tries
from bot.approvals import posts
from bot.index import Index
from bot.outbox import LOOK_AGAIN, MENDED_AGAIN, Outbox
from bot.playground import ANA, MAX
from bot.playground.messages import full_text
from bot.slack import endings, replies
from bot.turns import Thread, session_key, thread_of
from tests.bot.owing import Desk, answer, question
from tests.bot.river import River

OF_APP = [
    "account_inactive",
    "accesslimited",
    "invalid_auth",
    "not_authed",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
    "two_factor_setup_required",
]
OF_METHOD = [
    "deprecated_endpoint",
    "enterprise_is_restricted",
    "method_deprecated",
    "missing_scope",
    "not_allowed_token_type",
]
SAYING = ("chat.postMessage", "chat.update")
METHODS = (*SAYING, "conversations.open", "conversations.replies")


@pytest.mark.parametrize("code", [*OF_APP, *OF_METHOD])
@pytest.mark.parametrize("what", ["an answer", "a card", "a person's card", "a change"])
async def test_what_is_wrong_with_the_app_is_about_no_post(
    desk: Desk, code: str, what: str, caplog
):
    """While Slack takes nothing from this app all stays owed, and operators hear why."""
    place = MAX.id if what == "a person's card" else desk.slack.workspace.channel("approvals").id
    asked = question(desk, place)
    card = posts.card(asked, asked.copies[0])
    owed = {"an answer": answer(desk, 1, "one"), "a change": posts.updates(asked, mark=2)[0]}
    if what == "a change":
        await desk.owe(card, approvals=(asked,))
        await desk.pay()
    for method in METHODS if code in OF_APP else SAYING:
        desk.slack.fail(method, "refused", error=code, times=2)
    post = owed.get(what, card)
    await desk.owe(post, approvals=(asked,))
    first, second = await desk.pay(), await desk.pay()
    assert (first.waits.pause, second.waits.pause) == (MENDED_AGAIN, 2 * MENDED_AGAIN)
    assert [each.id for each in second.posts] == [post.id]
    told = [each for each in caplog.records if each.msg == "outbox.refused"]
    assert [(line.levelname, vars(line)["fields"]["code"]) for line in told] == [
        ("ERROR", code)
    ] * 2
    desk.slack.mend()
    assert (await desk.pay()).waits.pause is None
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert view
    assert post.id in view.places
    assert desk.slack.dms("ana") == []


@pytest.mark.parametrize("code", OF_METHOD)
@pytest.mark.parametrize("method", ["conversations.open", "conversations.replies"])
async def test_one_method_that_is_missing_stops_nothing_else(
    desk: Desk, code: str, method: str, caplog
):
    """Who may not open a DM asks in the thread, who may not look posts; operators hear of it."""
    asked = question(desk, MAX.id)
    desk.slack.fail(method, "refused", error=code, times=99)
    first = answer(desk, 1, "one")
    if method == "conversations.open":
        first = posts.card(asked, asked.copies[0])
    else:
        desk.slack.fail("chat.postMessage", "error")
    await desk.owe(first, approvals=(asked,))
    await desk.owe(answer(desk, 2, "two"))
    await desk.pay()
    assert (await desk.pay()).waits.pause is None
    assert desk.said()[-1] == "two"
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert view
    assert view.places[first.id].startswith(thread_of(desk.key).channel)
    told = [vars(each)["fields"] for each in caplog.records if each.msg == "outbox.refused"]
    assert {line["code"] for line in told} == {code}
    assert all(method in line["todo"] for line in told)


async def beside(desk: Desk, thread: Thread | None = None) -> Desk:
    """Another thread of Ana's, in the same channel unless it is named."""
    if thread is None:
        said = await desk.slack.say("ana", "expenses", "hello too")
        thread = Thread(said.message["channel"], said.ts)
    key = session_key(team="T0LOCALWORK", agent="reimbursement", thread=thread)
    await desk.slot.apply(key, state={}, create=True)
    return replace(desk, key=key, version=0)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses be short."""
    monkeypatch.setattr(endings, "WAIT", 0.05)
    monkeypatch.setattr(outbox, "LOOK_AGAIN", 0.05)
    monkeypatch.setattr(outbox, "MENDED_AGAIN", 0.05)


FAULTS = [
    pytest.param("ratelimited", "", id="limited"),
    pytest.param("lost", "", id="no answer"),
    pytest.param("error", "", id="a 500"),
    pytest.param("refused", "token_expired", id="wrong with the app"),
]


@pytest.mark.parametrize(("fault", "error"), FAULTS)
@pytest.mark.parametrize("begun", ["before", "meanwhile"])
@pytest.mark.usefixtures("hurry")
async def test_what_has_to_wait_waits_for_no_turn(desk: Desk, fault, error: str, begun: str):
    """While a turn goes on, a post goes out as soon as its wait is over, and what is behind it."""
    desk.slack.fail("chat.postMessage", fault, seconds=0, error=error, times=2)
    await desk.owe(answer(desk, 1, "one"), answer(desk, 2, "two"))
    debt = await desk.debt()
    if begun == "before":
        await debt.pay()
    async with debt.lasting():
        await debt.pay()
        assert debt.waits.left is not None
        await desk.slack.wait_for(lambda: desk.said() == ["one", "two"])
    await desk.pay()
    assert desk.said() == ["one", "two"]


@pytest.mark.usefixtures("hurry")
async def test_a_busy_session_says_what_it_owes(river: River):
    """A tool of the next turn that takes long holds up no answer that was limited for a moment."""
    river.slack.fail("chat.postMessage", "ratelimited", seconds=0)

    async def wait() -> dict[str, str]:
        """Wait until the first answer is there."""
        await river.hears("one")
        return {"status": "ok"}

    model = ScriptedModel(["one", call("wait"), "two"])
    async with river.worker(model, tools=[FunctionTool(wait, effects="none")]):
        await river.ask()
        await river.ask("once more")
        await river.hears("one", "two")
    assert len(river.slack.calls("chat.postMessage")) == 3


@pytest.mark.usefixtures("hurry")
async def test_a_turn_that_lost_its_session_says_nothing_late(desk: Desk):
    """What waits is let be when the session is in other hands by then; they owe it."""
    mine = Outbox(slot=desk.slot, replies=desk.outbox.replies, owner="test")
    desk.slack.fail("chat.postMessage", "ratelimited", seconds=0)
    await desk.owe(answer(desk, 1, "one"))
    debt = await desk.debt(mine, left=1.0)
    async with debt.lasting():
        await debt.pay()
        debt.is_ours(0.0, since=0.0)
        begun = await desk.slot.release(desk.key, 2**60)
        assert not begun.ours
        view = await desk.slot.read(desk.key)
        assert view
        await desk.slot.delete(desk.key)
        await asyncio.sleep(0.2)
    assert desk.said() == []


@pytest.mark.parametrize("limited", ["conversations.replies", "conversations.open"])
async def test_a_limit_belongs_to_its_method(desk: Desk, store_url: str, limited: str):
    """Who may not look for a post, or open a DM, waits; others post in that channel."""
    async with connect(store_url) as client:
        mine = Outbox(slot=desk.slot, replies=desk.outbox.replies, limits=Index(client))
        desk.slack.fail(limited, "ratelimited", seconds=40)
        asked = question(desk, MAX.id)
        by_dm = limited == "conversations.open"
        post = posts.card(asked, asked.copies[0]) if by_dm else answer(desk, 1, "one")
        await desk.owe(post, approvals=(asked,))
        for _ in range(2):
            debt = await desk.pay(mine)
            assert 30 < (debt.waits.pause or 0) <= 40
        other = await beside(desk)
        debt = await other.debt(mine)
        await other.owe(answer(other, 1, "two"))
        await debt.pay(look=True)
    assert other.said() == ["two"]
    assert len(desk.slack.calls(limited)) == 1


async def test_whatever_is_owed_may_be_there_already(desk: Desk):
    """Whoever had the session may have posted what a click has owed something ahead of since."""
    await desk.owe(*(answer(desk, n, f"{n}") for n in range(4)))
    await desk.pay()
    assert desk.said() == ["0", "1", "2", "3"]
    assert len(desk.slack.calls("conversations.replies")) == 1


@pytest.mark.usefixtures("hurry")
async def test_what_slack_wanted_later_is_not_there(desk: Desk):
    """A post that was put off was not made: the same turn looks for nothing."""
    debt = await desk.debt()
    await desk.owe(answer(desk, 1, "one"))
    desk.slack.fail("chat.postMessage", "ratelimited", seconds=0)
    await debt.pay(look=True)
    await asyncio.sleep(debt.waits.left or 0)
    await debt.pay()
    assert desk.said() == ["one"]
    assert desk.slack.calls("conversations.replies") == []


@pytest.mark.parametrize("others", [False, True])
async def test_the_next_turn_knows_what_was_not_taken(desk: Desk, *, others: bool):
    """What was put off is not looked for, unless somebody else had the session since."""
    await desk.owe(answer(desk, 1, "one"))
    debt = await desk.debt()
    debt.doubtful.clear()
    desk.slack.fail("chat.postMessage", "ratelimited")
    await debt.pay()
    if others:
        await desk.slot.begin(desk.key, owner="test", lease=1)
    assert (await desk.pay()).waits.pause is None
    assert desk.said() == ["one"]
    assert len(desk.slack.calls("conversations.replies")) == others


async def test_pauses_grow(desk: Desk):
    """A post that Slack neither takes nor refuses is tried less and less, once in five minutes."""
    desk.slack.fail("chat.postMessage", "error", times=20)
    await desk.owe(answer(desk, 1, "one"))
    waits = [(await desk.pay()).waits.pause for _ in range(9)]
    assert waits == [min(LOOK_AGAIN * 2**n, tries.LONGEST) for n in range(9)]
    desk.slack.mend()
    assert (await desk.pay()).waits.pause is None
    desk.slack.fail("chat.postMessage", "error")
    await desk.owe(answer(desk, 2, "two"))
    assert (await desk.pay()).waits.pause == LOOK_AGAIN


def enough(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hours pass."""
    monkeypatch.setattr(tries, "GIVE_UP", 0.0)
    desk.slack.fail("chat.postMessage", "error")


@pytest.mark.parametrize("taken", ["the sentence", "all", "nothing"])
@pytest.mark.parametrize("what", ["an answer", "a card"])
async def test_what_slack_never_takes_holds_nothing_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str, taken: str, caplog
):
    """After hours it is told and struck off, unless Slack takes nothing at all."""
    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    one = answer(desk, 1, "one") if what == "an answer" else posts.card(asked, asked.copies[0])
    desk.slack.fail("chat.postMessage", "error")
    await desk.owe(one, approvals=(asked,))
    await desk.pay()
    enough(desk, monkeypatch)
    if taken == "the sentence":
        desk.slack.fail("chat.postMessage", "slow", seconds=0)
    if taken != "all":
        desk.slack.fail("chat.postMessage", "error", times=1 if taken == "the sentence" else 9)
    await desk.owe(answer(desk, 2, "two"))
    debt = await desk.pay()
    told = [full_text(each) for each in desk.slack.dms("ana")] + desk.said()
    assert any("however often I tried" in each for each in told) is (taken != "nothing")
    assert (debt.waits.pause is None) is (taken != "nothing")
    assert ("two" in desk.said()) is (taken != "nothing")
    lines = [each for each in caplog.records if each.msg == "outbox.refused"]
    assert [line.levelname for line in lines] == ["ERROR"]
    desk.slack.mend()
    await desk.pay()
    assert desk.said()[-1] == "two"


async def test_a_change_that_slack_never_takes_is_struck_off(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    """What shows a record again is given up, too; what comes after it is said."""
    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    await desk.owe(posts.card(asked, asked.copies[0]), approvals=(asked,))
    await desk.pay()
    desk.slack.fail("chat.update", "error", times=2)
    await desk.owe(posts.updates(asked, mark=2)[0], answer(desk, 2, "two"))
    debt = await desk.pay()
    assert (desk.said(), debt.waits.pause, debt.waits.again is not None) == (["two"], None, True)
    monkeypatch.setattr(tries, "GIVE_UP", 0.0)
    debt = await desk.pay()
    assert (debt.waits.again, len(desk.slack.calls("chat.update"))) == (None, 2)


def test_what_others_paid_is_forgotten():
    """A post that this process tried in vain and never met again is forgotten after a day."""
    known, key = tries.Tries(), session_key(team="T", agent="a", thread=Thread("C", "1.2"))
    assert known.failed(key, "p", now=0.0).count == 1
    assert known.failed(key, "p", now=9.0).count == 2
    assert known.enough(key, "p", now=tries.GIVE_UP)
    assert not known.enough(key, "p", now=tries.GIVE_UP - 1)
    known.forget(tries.DAY)
    assert known.enough(key, "p", now=tries.DAY)
    known.forget(tries.DAY + 9.0)
    assert not known.enough(key, "p", now=tries.DAY)
    known.failed(key, "p", now=0.0)
    known.forget(9.0, after=10.0)
    assert known.times(key, "p") == 1
    known.forget(10.0, after=10.0)
    assert known.times(key, "p") == 0


def test_a_pause_stands_until_it_is_over():
    """A pause is of one thing of one session; what is over is forgotten."""
    pauses, key = tries.Pauses(), session_key(team="T", agent="a", thread=Thread("C", "1.2"))
    pauses.begin(key, "5", 30.0, now=100.0)
    assert [pauses.left(key, "5", now=now) for now in (100.0, 129.0, 130.0)] == [30.0, 1.0, 0.0]
    assert pauses.left(key, "6", now=100.0) == 0
    pauses.over(key, "5")
    assert pauses.left(key, "5", now=100.0) == 0


YESTERDAY = 24 * 3600


@pytest.mark.parametrize("what", ["an answer", "a notice", "a line", "a ticket"])
async def test_a_post_is_looked_for_where_a_thread_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str
):
    """However long a thread was before, what was posted and not answered is found at its end."""
    monkeypatch.setattr(replies, "PAGES", 1)
    workspace, now = desk.slack.workspace, time.time()
    channel = workspace.channel("general")
    say = partial(workspace.post, channel, now=now - YESTERDAY)
    first = say({"user": ANA.id, "text": "hello"})["ts"]
    for number in range(replies.PAGE):
        say({"user": ANA.id, "text": f"{number}"}, thread_ts=first)
    thread = Thread(channel.id, first)
    there = await beside(desk, thread)
    asked = question(desk, MAX.id).model_copy(update={"asked_at": int(now * 1000)})
    body = {"kind": "ticket", "channel": channel.id, "thread_ts": first, "ticket": {"id": "T-1"}}
    at = int(now * 1000)
    post = {
        "an answer": posts.answer("o:1:0", thread, text="one", asker=ANA.id, at=at),
        "a notice": posts.notice("o:1:1", thread, text="one", asker=ANA.id, at=at),
        "a line": posts.asked(asked, thread),
        "a ticket": Post(id="ticket:2-0", body={**body, "at": at}),
    }[what]
    desk.slack.fail("chat.postMessage", "lost")
    await there.owe(post, approvals=(asked,))
    assert (await there.pay()).waits.pause == LOOK_AGAIN
    assert (await there.pay()).waits.pause is None
    assert len(desk.slack.calls("chat.postMessage")) == 1
