"""What is owed is paid once and in order, whatever Slack answers."""

import time

import pytest

from agents import Post, Record, SessionConflict, SessionKey
from agents.runtime.slot.port import Decide
from agents.runtime.slot.redis import connect
from bot.approvals import posts
from bot.approvals.request import Approval
from bot.index import Index
from bot.outbox import LOOK_AGAIN, SAVE_AGAIN, Outbox
from bot.playground import MAX
from bot.playground.messages import full_text
from bot.playground.web_api import FaultKind
from bot.turns import Thread, session_key, thread_of
from tests.bot.owing import Desk, answer, question


async def test_what_is_owed_is_posted_and_struck_off(desk: Desk):
    """A post goes into its thread with its id as metadata, and its place is remembered."""
    await desk.owe(answer(desk, 1, "one"))
    debt = await desk.debt()
    await debt.pay()
    await debt.strike()
    view = await desk.slot.read(desk.key, parts=("posts",))
    (call,) = desk.slack.calls("chat.postMessage")
    assert desk.said() == ["one"]
    assert view
    assert (list(view.posts), list(view.places)) == ([], ["o:1:0"])
    assert '"id": "o:1:0 ' in str(call.arguments["metadata"]).replace("'", '"')


async def test_a_rate_limited_post_waits_and_keeps_its_place(desk: Desk):
    """Nothing overtakes a post that Slack wants later; the worker hears how long to wait."""
    await desk.owe(answer(desk, 1, "one"), answer(desk, 2, "two"))
    desk.slack.fail("chat.postMessage", "ratelimited", seconds=7)
    debt = await desk.debt()
    await debt.pay()
    assert (debt.waits.pause, desk.said()) == (7, [])
    await debt.pay()
    assert desk.said() == []
    await desk.pay()
    assert desk.said() == ["one", "two"]


@pytest.mark.parametrize("fault", ["lost", "error", "html"])
async def test_a_post_whose_fate_is_unknown_is_looked_for(desk: Desk, fault):
    """No answer, a 500 or a page of HTML: looked for later, made again only if it is not there."""
    debt = await desk.debt()
    await desk.owe(answer(desk, 1, "one"))
    desk.slack.fail("chat.postMessage", fault)
    await debt.pay(look=True)
    assert debt.waits.pause == LOOK_AGAIN
    await desk.pay()
    assert desk.said() == ["one"]
    assert len(desk.slack.calls("conversations.replies")) == 1


async def test_a_crash_after_the_post_does_not_repeat_it(desk: Desk):
    """What an earlier process posted and did not strike off is found by its id."""
    await desk.owe(answer(desk, 1, "one"), answer(desk, 2, "two"))
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert view
    await desk.pay()
    await desk.owe(*view.posts)
    await desk.pay()
    assert desk.said() == ["one", "two"]


async def test_a_post_that_is_told_of_late_is_not_repeated(desk: Desk):
    """One that was read and paid before whoever stored it says so is paid once."""
    debt, late = await desk.debt(), answer(desk, 1, "one")
    await desk.owe(late)
    await debt.pay(look=True)
    debt.owed[late.id] = late
    await debt.pay()
    assert desk.said() == ["one"]


async def test_posts_are_struck_off_one_by_one(desk: Desk):
    """Only the last one is left for who gives the session back; it is looked for if nobody does."""
    await desk.owe(answer(desk, 1, "one"), answer(desk, 2, "two"))
    debt = await desk.debt()
    await debt.pay()
    left = await desk.slot.read(desk.key, parts=("posts",))
    assert left
    assert ([post.id for post in left.posts], list(debt.paid)) == (["o:2:0"], ["o:2:0"])
    await debt.pay(look=True)
    assert debt.paid == {}
    assert desk.said() == ["one", "two"]


async def test_a_fresh_post_is_not_looked_for(desk: Desk):
    """What became owed while this process had the session cannot be there yet."""
    debt = await desk.debt()
    await desk.owe(answer(desk, 1, "one"))
    await debt.pay(look=True)
    assert desk.said() == ["one"]
    assert desk.slack.calls("conversations.replies") == []


async def test_a_long_answer_goes_on_where_it_was_interrupted(desk: Desk):
    """Of several messages, those that are there are not posted again."""
    text = "word " * 5_000
    await desk.owe(answer(desk, 1, text))
    debt = await desk.debt()
    whole = len(text) // 9_000 + 1
    desk.slack.fail("chat.postMessage", "slow", seconds=0)
    desk.slack.fail("chat.postMessage", "ratelimited", seconds=1)
    await debt.pay()
    assert (debt.waits.pause, len(desk.said())) == (1, 1)
    await desk.pay()
    assert len(desk.said()) == whole


async def test_a_card_that_has_no_place_is_put_into_the_thread(desk: Desk):
    """An archived channel is told in the thread, and the question is asked there."""
    channel = desk.slack.workspace.channel("approvals")
    channel.is_archived = True
    approval = question(desk, channel.id)
    await desk.owe(posts.card(approval, approval.copies[0]), approvals=(approval,))
    await desk.pay()
    told, card = desk.said()
    assert "That channel is archived" in told
    assert "Asked:" in card


async def test_an_answer_that_has_no_place_goes_to_who_asked(desk: Desk):
    """When the thread's own channel is archived, the person gets the answer as a DM."""
    desk.slack.workspace.channel("expenses").is_archived = True
    await desk.owe(answer(desk, 1, "one"))
    await desk.pay()
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert [message["text"] for message in desk.slack.dms("ana")] == ["one"]
    assert view
    assert not view.posts


@pytest.mark.parametrize("by", [MAX.id, "operator:root"])
async def test_whoever_decided_is_not_who_asked(desk: Desk, by: str):
    """After a decision the answer still goes to whose words it answers, never to who decided."""
    desk.slack.workspace.channel("expenses").is_archived = True
    await desk.owe(answer(desk, 1, "one"), by=by)
    approval = question(desk, MAX.id)
    await desk.owe(posts.asked(approval, thread_of(desk.key)), approvals=(approval,), by=by)
    await desk.pay()
    first, line = desk.slack.dms("ana")
    assert first["text"] == "one"
    assert line["text"]
    assert desk.slack.dms("max") == []


UNSHOWN = [
    pytest.param({"kind": "ticket", "ticket": {"id": "7", "status": "no such"}}, id="a status"),
    pytest.param({"kind": "ticket"}, id="no ticket"),
    pytest.param({"kind": "ticket_update", "ticket": 7}, id="a change of a line"),
    pytest.param({"kind": "answer"}, id="no text"),
    pytest.param({"kind": "card", "approval": "3-0"}, id="a record"),
    pytest.param({"kind": "asked_update", "approval": "3-0"}, id="a record, shown again"),
]


@pytest.mark.parametrize("body", UNSHOWN)
async def test_what_cannot_be_shown_holds_nothing_up(desk: Desk, body, monkeypatch, caplog):
    """A post or record that this release cannot read is left to a newer one, and then given up.

    That is said in the thread and logged; what is owed behind it does not wait.
    """
    thread = thread_of(desk.key)
    place = {"channel": thread.channel, "thread_ts": thread.ts}
    approval = question(desk, thread.channel).model_construct(id="3-0")
    owed = (Post(id="bad", body={**place, **body}), answer(desk, 2, "two"))
    await desk.owe(*owed, approvals=(approval,))
    for _ in range(2):
        debt = await desk.pay()
        assert (desk.said(), debt.waits.pause, debt.waits.again is not None) == (
            ["two"],
            None,
            True,
        )
        await debt.pay(look=True)
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert [post.id for post in view.posts] == ["bad"]
    monkeypatch.setattr("bot.outbox.NEWER", 0.0)
    for _ in range(2):
        debt = await desk.pay()
    view = await desk.slot.read(desk.key, parts=("posts",))
    _, given_up = desk.said()
    assert "cannot be shown" in given_up
    assert (list(view.posts), debt.waits.again) == ([], None)
    [line] = [each for each in caplog.records if each.msg == "outbox.refused"]
    assert (line.fields["post"], line.fields["code"]) == ("bad", "unreadable")


async def test_what_can_be_shown_nowhere_is_given_up(desk: Desk, monkeypatch):
    """Where even the sentence about it has no place, a post that cannot be shown is struck off."""
    desk.slack.workspace.channel("expenses").is_archived = True
    monkeypatch.setattr("bot.outbox.NEWER", 0.0)
    await desk.owe(Post(id="bad", body={"kind": "answer"}), answer(desk, 2, "two"))
    for _ in range(2):
        await desk.pay()
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert [message["text"] for message in desk.slack.dms("ana")] == ["two"]
    assert not view.posts


@pytest.mark.parametrize("code", ["message_not_found", "cant_update_message", "not_in_channel"])
async def test_a_card_that_cannot_be_changed_does_not_loop(desk: Desk, code: str):
    """A change that Slack refuses for good is struck off."""
    channel = desk.slack.workspace.channel("approvals")
    approval = question(desk, channel.id)
    await desk.owe(posts.card(approval, approval.copies[0]), approvals=(approval,))
    await desk.pay()
    desk.slack.fail("chat.update", "refused", error=code)
    await desk.owe(*posts.updates(approval, mark=2)[:1])
    debt = await desk.debt()
    await debt.pay()
    await debt.look()
    assert (debt.posts, debt.waits.pause) == ([], None)
    assert len(desk.slack.calls("chat.update")) == 1


async def test_a_change_of_a_card_that_was_never_posted_is_let_be(desk: Desk):
    """There is nothing to change, so nothing is asked of Slack."""
    approval = question(desk, desk.slack.workspace.channel("approvals").id)
    await desk.owe(*posts.updates(approval, mark=2), approvals=(approval,))
    debt = await desk.debt()
    await debt.pay()
    assert desk.slack.calls("chat.update") == []
    await debt.look()
    assert debt.posts == []


async def test_a_card_of_another_session_is_not_taken_for_ours(desk: Desk):
    """Two sessions owe a post of the same id into one channel; each is made, though sought."""
    posts_owed = Post(
        id="card:3-0:0", body={"kind": "notice", "channel": "C0APPROVAL1", "text": "A"}
    )
    await desk.owe(posts_owed)
    await desk.pay()
    other = Desk(
        desk.slack,
        desk.slot,
        desk.outbox,
        session_key(team="T0LOCALWORK", agent="reimbursement", thread=Thread("C0EXPENSES1", "1.2")),
    )
    await desk.slot.apply(other.key, state={}, create=True)
    await other.owe(posts_owed)
    await other.pay()
    assert len(desk.slack.messages("approvals")) == 2


async def test_a_process_that_lost_the_session_posts_nothing(desk: Desk):
    """Whoever stood still past its lease finds out before it posts, and leaves it to the next."""
    outbox = Outbox(slot=desk.slot, replies=desk.outbox.replies, owner="we")
    await desk.owe(answer(desk, 1, "hello"))
    debt = await desk.debt(outbox)
    with pytest.raises(SessionConflict):
        await debt.pay()
    assert desk.said() == []


async def test_a_call_is_begun_well_before_the_lease_ends(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    """Late in a lease it is read again, so that who takes over finds what was posted before."""
    outbox = Outbox(slot=desk.slot, replies=desk.outbox.replies, owner="test")
    await desk.owe(answer(desk, 1, "hello"))
    debt = await desk.debt(outbox, left=30)
    reads: list[float] = []
    look, now = debt.look, time.monotonic()

    async def looking() -> None:
        reads.append(await look() or time.monotonic())

    monkeypatch.setattr(debt, "look", looking)
    monkeypatch.setattr("bot.outbox.time.monotonic", lambda: now + 15)
    assert now + 29 < await debt._until() <= now + 30
    assert reads == []
    monkeypatch.setattr("bot.outbox.time.monotonic", lambda: now + 25)
    assert await debt._until() > now + 50
    assert len(reads) == 1


async def test_only_the_newest_change_of_a_message_is_made(desk: Desk):
    """Two changes of one card that are owed at once are one call: it shows the record as it is."""
    card = Post(id="card", body={"kind": "notice", "channel": "C0APPROVAL1", "text": "A"})
    await desk.owe(card)
    await desk.pay()
    changes = [
        Post(id=f"card@{n}", body={"kind": "card_update", "approval": "3-0"}, after="card")
        for n in (1, 2, 3)
    ]
    await desk.owe(*changes, approvals=(question(desk, "C0APPROVAL1"),))
    await desk.pay()
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert len(desk.slack.calls("chat.update")) == 1
    assert view
    assert view.posts == []


async def test_paying_reads_only_what_posts_are_about(desk: Desk):
    """A card is shown from its own record; others of the session are not read again for it."""
    approvals = (
        question(desk, "C0LOCAL"),
        question(desk, "C0LOCAL").model_copy(update={"id": "4-0"}),
    )
    debt = await desk.debt()
    await debt.look()
    for each in approvals:
        await desk.owe(approvals=(each,))
    await desk.owe(posts.asked(approvals[1], thread_of(desk.key)))
    await debt.pay(look=True)
    assert list(debt.approvals) == ["4-0"]
    assert len(desk.said()) == 1


async def test_what_slack_wants_later_no_process_tries_sooner(desk: Desk, store_url: str):
    """One process is told to wait in a channel; another one does not even ask there."""
    async with connect(store_url) as client:
        outbox = Outbox(slot=desk.slot, replies=desk.outbox.replies, limits=Index(client))
        desk.slack.fail("chat.postMessage", "ratelimited", seconds=30)
        await desk.owe(answer(desk, 1, "hello"))
        first, second = await desk.debt(outbox), await desk.debt(outbox)
        await first.pay()
        await second.pay()
    assert len(desk.slack.calls("chat.postMessage")) == 1
    assert first.waits.pause == 30
    assert 20 < second.waits.pause <= 30


async def test_a_session_that_goes_away_owes_nothing_more(desk: Desk):
    """Deleted, or emptied with its store, while a worker has it in hand: there is no more to do."""
    await desk.owe(answer(desk, 1, "hello"))
    debt = await desk.debt()
    assert debt.posts
    await desk.slot.delete(desk.key)
    await debt.pay(look=True)
    assert (debt.posts, desk.said()) == ([], [])


@pytest.mark.parametrize("status", ["approved", "rejected", "cancelled"])
async def test_an_outcome_that_is_not_saved_is_put_off(desk: Desk, status: str):
    """What nobody else has is told to be on its way, once; it is shown when it is saved."""
    saved, proofs = False, list[Record | None]()

    async def is_saved(_key: SessionKey, record: Record | None = None) -> bool:
        proofs.append(record)
        return saved

    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    await desk.owe(*(posts.card(asked, copy) for copy in asked.copies), approvals=(asked,))
    outbox = Outbox(slot=desk.slot, replies=desk.outbox.replies, saved=is_saved)
    await desk.pay(outbox)
    decided = asked.model_copy(update={"status": status, "rev": 2, "decided_at": 1})
    shown = posts.updates(decided, mark=2)
    await desk.slot.decide(desk.key, Decide(record=decided.record(), posts=shown))
    for _ in range(2):
        debt = await desk.pay(outbox)
        assert (debt.waits.pause, len(desk.slack.calls("chat.update"))) == (SAVE_AGAIN, 1)
    [card] = desk.slack.messages("approvals")
    assert "being saved" in full_text(card)
    saved = True
    await desk.pay(outbox)
    [card] = desk.slack.messages("approvals")
    assert "being saved" not in full_text(card)
    assert not outbox.saving
    assert all(proof == decided.record() for proof in proofs[-3:])


@pytest.mark.parametrize(
    ("channel", "fault", "hidden"),
    [
        pytest.param("approvals", "", False, id="a card with everything"),
        pytest.param("partners", "", True, id="withheld from other companies"),
        pytest.param("approvals", "invalid_blocks", True, id="Slack takes only its text"),
        pytest.param("approvals", "msg_too_long", True, id="it is too long"),
    ],
)
async def test_what_a_card_does_not_show_is_written_down(
    desk: Desk, channel: str, fault: str, hidden: bool
):
    """Where a card could not show all of it, the request knows; shown again, it knows that too."""
    place = desk.slack.workspace.channel(channel).id
    asked = question(desk, place)
    if fault:
        desk.slack.fail("chat.postMessage", "refused", error=fault, times=1)
    await desk.owe(posts.card(asked, asked.copies[0]), approvals=(asked,))
    await desk.pay()
    assert (await stored(desk)).hidden == ((place,) if hidden else ())
    await desk.owe(*posts.updates(asked, mark="again"))
    await desk.pay()
    assert (await stored(desk)).hidden == ((place,) if channel == "partners" else ())


@pytest.mark.parametrize(
    ("kind", "error", "shows"),
    [
        pytest.param("ratelimited", "", True, id="asked too often"),
        pytest.param("refused", "invalid_auth", True, id="the token is replaced"),
        pytest.param("refused", "internal_error", True, id="Slack says it has a fault"),
        pytest.param("error", "", True, id="Slack has a fault"),
        pytest.param("html", "", True, id="Slack answers with a page"),
        pytest.param("refused", "missing_scope", False, id="this app may never ask"),
        pytest.param("refused", "channel_not_found", False, id="no such channel"),
    ],
)
async def test_a_card_waits_until_it_is_known_who_reads_it(
    desk: Desk, kind: FaultKind, error: str, shows: bool
):
    """Nothing is withheld, and nothing shown, for as long as Slack only has to be asked again."""
    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    desk.slack.fail("conversations.info", kind, seconds=1.0, error=error)
    await desk.owe(posts.card(asked, asked.copies[0]), approvals=(asked,))
    debt = await desk.pay()
    assert bool(desk.slack.messages("approvals")) == (not shows)
    assert (debt.waits.pause is not None) == shows
    await desk.pay()
    [card] = desk.slack.messages("approvals")
    assert ("Approve" in full_text(card)) == shows
    assert (await stored(desk)).hidden == (() if shows else (asked.copies[0].channel,))


async def stored(desk: Desk) -> Approval:
    """The approval as it is now."""
    view = await desk.slot.read(desk.key, parts=("approvals",))
    assert view
    return Approval.from_record(view.approvals["3-0"])
