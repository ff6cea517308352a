"""What is owed to people: once, in order, until it is paid."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from agents.runtime.slot.port import (
    Commit,
    Companions,
    Decide,
    OpenCall,
    Post,
    SessionKey,
    Slot,
    View,
)
from tests.agents.slot.samples import approval, begin, open_session


async def _owe(slot: Slot, key: SessionKey, *posts: Post, name: str) -> None:
    begun = await begin(slot, key)
    companions = Companions(posts=posts)
    await slot.commit(
        key, Commit(id=name, fence=begun.fence, version=begun.version, companions=companions)
    )


async def test_posts_are_paid_in_any_order(slot: Slot, key: SessionKey) -> None:
    """What is not paid stays owed in order; what is paid is remembered with its place."""
    posts = [Post(id=f"p{n}", body={"n": n}, after="p0" if n else None) for n in range(3)]
    await open_session(slot, key)
    await _owe(slot, key, *posts, name="a")
    assert (await begin(slot, key)).posts == posts
    for _ in range(2):
        await slot.posted(key, {"p1": "C1|17.1", "p2": None, "never": "C1|17.2"})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert (view.posts, view.places) == ([posts[0]], {"p1": "C1|17.1"})


async def test_a_commit_tells_what_it_owes(slot: Slot, key: SessionKey) -> None:
    """Of its posts those that are owed now, also when it is repeated; what was paid once is not."""
    await open_session(slot, key)
    await _owe(slot, key, Post(id="paid", body={}), Post(id="owed", body={}), name="a")
    await slot.posted(key, {"paid": "C|1"})
    begun = await begin(slot, key)
    posts = [Post(id=name, body={}) for name in ("paid", "owed", "new")]
    commit = Commit(id="b", fence=begun.fence, version=0, companions=Companions(posts=posts))
    assert [(await slot.commit(key, commit)).owed for _ in range(2)] == [["owed", "new"]] * 2


@pytest.mark.parametrize(("late", "ours"), [(0, True), (1, False)], ids=["ours", "lost"])
async def test_giving_back_pays_as_well(
    slot: Slot, key: SessionKey, *, late: int, ours: bool
) -> None:
    """What was posted is struck off with the session's release, whoever has it by then."""
    await open_session(slot, key)
    await _owe(slot, key, Post(id="p", body={}), Post(id="q", body={}), name="a")
    begun = await begin(slot, key)
    released = await slot.release(key, begun.fence - late, paid={"p": "C1|17.1", "q": None})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert (released.ours, view.posts, view.places) == (ours, [], {"p": "C1|17.1"})
    assert view.owner == ("" if ours else "worker")


async def test_a_post_is_owed_once(slot: Slot, key: SessionKey) -> None:
    """Neither while it is owed nor after it was paid does the same id come again."""
    post = Post(id="p", body={"n": 1})
    await open_session(slot, key)
    await _owe(slot, key, post, Post(id="p", body={"n": 2}), name="a")
    assert (await begin(slot, key)).posts == [post]
    await slot.posted(key, {"p": "C1|17.1"})
    await _owe(slot, key, post, name="b")
    assert (await begin(slot, key)).posts == []


async def test_the_last_places_are_kept(slot: Slot, key: SessionKey) -> None:
    """Two hundred places are enough for cards that may still change."""
    await open_session(slot, key)
    await _owe(slot, key, *(Post(id=f"p{n}", body={}) for n in range(203)), name="a")
    await slot.posted(key, {f"p{n}": f"C|{n}" for n in range(203)})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert sorted(view.places, key=lambda name: int(name[1:])) == [f"p{n}" for n in range(3, 203)]


CARD = Post(id="card", body={"approval": "q"})
CHANGES = [Post(id=f"card@{n}", body={"approval": "q"}, after="card") for n in (1, 2)]
OTHERS = [Post(id=f"p{n}", body={"text": '"approval":"q"'}) for n in range(200)]
KEPT = [
    pytest.param("pending", ["card", *OTHERS], True, id="open"),
    pytest.param("pending", ["card", "card@1", *OTHERS], True, id="open and shown again"),
    pytest.param("approved", ["card", "card@1", *OTHERS], True, id="it may run yet"),
    pytest.param("started", ["card", "card@1", *OTHERS], True, id="it runs"),
    pytest.param("unknown", ["card", "card@1", *OTHERS], True, id="nobody knows whether it ran"),
    pytest.param("rejected", ["card", *OTHERS], True, id="over and not shown so yet"),
    pytest.param("rejected", ["card", "card@1", *OTHERS], True, id="its last change is owed"),
    pytest.param("rejected", ["card", "card@1", "card@2", *OTHERS], False, id="shown so"),
    pytest.param(
        "done", ["card", *OTHERS[:100], "card@1", "card@2", *OTHERS[100:]], True, id="new"
    ),
    pytest.param(None, ["card", *OTHERS], False, id="of an approval that is not there"),
]


@pytest.mark.parametrize(("status", "paid", "kept"), KEPT)
async def test_the_place_of_what_may_change_is_kept(
    slot: Slot, key: SessionKey, status: str | None, paid: list[Post | str], *, kept: bool
) -> None:
    """However much is posted after a card, it is found until it is shown how it ended."""
    begun = await open_session(slot, key)
    records = [] if status is None else [approval()]
    owed = Companions(posts=[CARD, *OTHERS], approvals=records)
    await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, companions=owed))
    for number, post in enumerate(paid):
        name = post if isinstance(post, str) else post.id
        if number == 1 and status:
            decided = approval(rev=2, status=status)
            await slot.decide(key, Decide(record=decided, posts=CHANGES))
        await slot.posted(key, {name: f"C|{number}"})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert ("card" in view.places) is kept


@pytest.mark.parametrize(
    ("closed", "shown", "kept"),
    [
        pytest.param(False, False, True, id="open"),
        pytest.param(True, False, True, id="closed and not shown so yet"),
        pytest.param(True, True, False, id="shown so"),
    ],
)
async def test_the_place_of_what_shows_an_open_call_is_kept(
    slot: Slot, key: SessionKey, *, closed: bool, shown: bool, kept: bool
) -> None:
    """However much is posted after the line of a ticket, it is found until its end stands there."""
    begun = await open_session(slot, key)
    line = Post(id="line", body={"call": "2-0"})
    last = Post(id="line@9", body={"call": "2-0"}, after="line")
    opened = {"2-0": OpenCall(name="order", kind="news", version=1)}
    commit = Commit(id="c", fence=begun.fence, version=0, opened=opened)
    await slot.commit(key, replace(commit, companions=Companions(posts=[line, *OTHERS])))
    await slot.posted(key, {"line": "C|1"})
    if closed:
        commit = Commit(id="d", fence=begun.fence, version=0, closed=["2-0"])
        await slot.commit(key, replace(commit, companions=Companions(posts=[last])))
    if shown:
        await slot.posted(key, {"line@9": None})
    await slot.posted(key, {post.id: "C|2" for post in OTHERS})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert ("line" in view.places) is kept


async def test_what_is_over_gives_its_place_up_last(slot: Slot, key: SessionKey) -> None:
    """After the change that ends it a card is found for as long as any other post."""
    begun = await open_session(slot, key)
    owed = Companions(posts=[CARD, CHANGES[0], *OTHERS], approvals=[approval(status="rejected")])
    await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, companions=owed))
    await slot.posted(key, {"card": "C|1", "card@1": None})
    await slot.posted(key, {f"p{n}": f"C|{n}" for n in range(199)})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert "card" in view.places
    await slot.posted(key, {"p199": "C|199"})
    view = await slot.read(key, parts=("posts",))
    assert view is not None
    assert "card" not in view.places


async def test_a_missing_session_owes_nothing(slot: Slot, key: SessionKey) -> None:
    """Paying for a session that is gone makes none."""
    await slot.posted(key, {"p": "C|1"})
    assert await slot.read(key) is None


HEADS = {
    "unknown to who decides": lambda _view: None,
    "as it was read": lambda view: view.audit_head,
    "no longer the last one": lambda view: view.audit[0][1],
    "not there when it was read": lambda _view: "",
}


@pytest.mark.parametrize("head", [pytest.param(head, id=name) for name, head in HEADS.items()])
async def test_the_audit_is_a_chain(
    slot: Slot, key: SessionKey, head: Callable[[View], str | None]
) -> None:
    """Each hash covers the one before it and its entry in canonical JSON, whoever made it."""
    entries = [{"what": "ä", "n": n, "list": [], "none": None, "f": 1.5} for n in range(6)]
    begun = await open_session(slot, key)
    for n, entry in enumerate(entries[:3]):
        opened = [approval()] if n == 0 else []
        companions = Companions(audit=[entry], approvals=opened)
        await slot.commit(
            key, Commit(id=f"c{n}", fence=begun.fence, version=0, companions=companions)
        )
    for rev, new in ((2, entries[3:5]), (3, entries[5:])):
        view = await slot.read(key, parts=("audit",))
        assert view is not None
        decide = Decide(record=approval(rev=rev), audit=new, audit_head=head(view))
        assert (await slot.decide(key, decide)).kind == "ok"
    view = await slot.read(key, parts=("audit",))
    previous, expected = "", []
    for entry in entries:
        body = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256((previous + body).encode()).hexdigest()
        expected.append((entry, previous))
    assert view is not None
    assert (view.audit, view.audit_head) == (expected, previous)


async def test_the_first_audit_entry(slot: Slot, key: SessionKey) -> None:
    """Before the first entry there is no last hash, and the first one stands on nothing."""
    begun = await open_session(slot, key)
    commit = Commit(
        id="c", fence=begun.fence, version=0, companions=Companions(approvals=[approval()])
    )
    await slot.commit(key, commit)
    before = await slot.read(key, parts=())
    assert before is not None
    assert before.audit_head == ""
    entry = {"what": "decided"}
    await slot.decide(key, Decide(record=approval(rev=2), audit=[entry], audit_head=""))
    view = await slot.read(key, parts=("audit",))
    assert view is not None
    assert view.audit == [(entry, hashlib.sha256(b'{"what":"decided"}').hexdigest())]
