"""Questions to people in the slot: decided once, started once, only as they were asked."""

from dataclasses import replace

import pytest

from agents.runtime.errors import SessionConflict
from agents.runtime.slot.port import (
    Commit,
    Companions,
    Decide,
    Decided,
    Entry,
    OpenCall,
    Post,
    Record,
    SessionKey,
    Settle,
    Slot,
    Start,
    Started,
)
from tests.agents.slot.samples import LONG, approval, ask, begin, called, open_session

HOUR = 3_600_000


def yes(record: Record, **changed: object) -> Record:
    """The record after an approval."""
    body = {**record.body, "votes": ["boss"]}
    fields: dict[str, object] = {"status": "approved", "rev": record.rev + 1, "body": body}
    return replace(record, **{**fields, **changed})  # pyright: ignore[reportArgumentType]


async def stored(slot: Slot, key: SessionKey, name: str = "q") -> Record:
    """An approval as it is."""
    view = await slot.read(key, parts=("approvals",))
    assert view is not None
    return view.approvals[name]


async def test_an_approval_is_opened_once(slot: Slot, key: SessionKey) -> None:
    """A commit opens an approval; a later one with the same id changes nothing."""
    record = approval(deadline=17, run_by=18)
    begun = await ask(slot, key, record)
    again = Companions(approvals=[replace(record, digest="other", rev=9)])
    await slot.commit(key, Commit(id="b", fence=begun.fence, version=1, companions=again))
    assert await stored(slot, key) == record


async def test_some_approvals_are_read(slot: Slot, key: SessionKey) -> None:
    """Of many approvals only those that are named are read, as they are among all."""
    opened = [approval(id=name, deadline=17) for name in ("q", "r 1", "s")]
    begun = await ask(slot, key, opened[0])
    more = Companions(approvals=opened[1:])
    await slot.commit(key, Commit(id="b", fence=begun.fence, version=1, companions=more))
    for only in (("r 1", "gone", "q"), ("s",), ()):
        view = await slot.read(key, parts=("approvals",), only=only)
        assert view is not None
        assert view.approvals == {one.id: one for one in opened if one.id in only}


async def test_pending_approvals_are_read(slot: Slot, key: SessionKey) -> None:
    """Besides those that are named, those that nobody decided yet are read on request."""
    opened = [approval(id="q"), approval(id="r 1"), approval(id="s", status="approved")]
    begun = await ask(slot, key, opened[0])
    more = Companions(approvals=[*opened[1:], approval(id="t", status="rejected")])
    await slot.commit(key, Commit(id="b", fence=begun.fence, version=1, companions=more))
    for only, expected in (((), {"q", "r 1"}), (("s", "q"), {"q", "r 1", "s"})):
        view = await slot.read(key, parts=("approvals",), only=only, pending=True)
        assert view is not None
        assert view.approvals == {one.id: one for one in opened if one.id in expected}


async def test_a_decision_brings_what_follows_from_it(slot: Slot, key: SessionKey) -> None:
    """Record, inbox entry, post and audit entry come together; a repeat changes nothing."""
    await ask(slot, key, approval())
    decide = Decide(
        record=yes(approval()),
        entry=Entry(id="decided:q", body={"confirmed": True}),
        posts=[Post(id="card", body={"text": "approved"}, after="asked")],
        audit=[{"what": "approved"}],
    )
    answers = [await slot.decide(key, decide) for _ in range(2)]
    view = await slot.read(key, parts=("posts", "audit", "approvals"))
    assert [(a.kind, a.record) for a in answers] == [("ok", decide.record)] * 2
    assert view is not None
    assert view.inbox == 1
    assert view.posts == list(decide.posts)
    assert [entry for entry, _ in view.audit] == [{"what": "asked"}, {"what": "approved"}]
    assert view.approvals == {"q": decide.record}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(None, yes(approval("other")), "missing", id="no such approval"),
        pytest.param(None, yes(approval(), rev=3), "moved", id="a revision too far"),
        pytest.param(None, yes(approval(), rev=1), "moved", id="a revision that is stored"),
        pytest.param(yes(approval()), yes(approval(), status="rejected"), "moved", id="decided"),
        pytest.param(
            yes(approval()),
            yes(approval(), status="rejected", rev=3),
            "moved",
            id="decided and read again",
        ),
        pytest.param(
            yes(approval(), status="pending"), yes(approval(), rev=3), "ok", id="a second vote"
        ),
    ],
)
async def test_only_the_next_record_is_written(
    slot: Slot, key: SessionKey, first: Record | None, second: Record, expected: str
) -> None:
    """The first terminal decision wins; everyone else reads it."""
    await ask(slot, key, approval())
    if first:
        assert (await slot.decide(key, Decide(record=first))).kind == "ok"
    before = await stored(slot, key)
    answer = await slot.decide(key, Decide(record=second, audit=[{"what": "tried"}]))
    assert answer.kind == expected
    assert answer.record == (
        second if expected == "ok" else {"missing": None}.get(expected, before)
    )


@pytest.mark.parametrize(
    ("deadline", "late_ok", "expected"),
    [
        pytest.param(HOUR, False, "ok", id="in time"),
        pytest.param(0, False, "late", id="at the deadline"),
        pytest.param(-HOUR, False, "late", id="past the deadline"),
        pytest.param(-HOUR, True, "ok", id="the change that expires it"),
    ],
)
async def test_deadlines_are_the_stores(
    slot: Slot, key: SessionKey, deadline: int, late_ok: bool, expected: str
) -> None:
    """From the deadline on nothing is decided, whoever comes first."""
    now = (await open_session(slot, key)).now
    record = approval(deadline=now + deadline)
    begun = await begin(slot, key)
    asked = Companions(approvals=[record])
    await slot.commit(key, Commit(id="a", fence=begun.fence, version=0, companions=asked))
    answer = await slot.decide(key, Decide(record=yes(record), late_ok=late_ok))
    assert answer.kind == expected
    assert (await stored(slot, key)).status == ("approved" if expected == "ok" else "pending")


@pytest.mark.parametrize(
    ("cid", "kind", "request_", "expected"),
    [
        pytest.param("1-0", "approval", "q", "ok", id="it waits for this question"),
        pytest.param("1-0", "approval", "r", "moved", id="it waits for another question"),
        pytest.param("1-0", "tool", "q", "moved", id="it is about to run"),
        pytest.param("1-0", "news", "q", "moved", id="it waits for news"),
        pytest.param("9-0", "approval", "q", "moved", id="it is answered"),
        pytest.param(None, "news", "q", "ok", id="whatever it waits for"),
    ],
)
async def test_what_the_call_has_to_wait_for(
    slot: Slot, key: SessionKey, cid: str | None, kind: str, *, request_: str, expected: str
) -> None:
    """A decision about a call that waits for it no more is not stored."""
    asked = [approval(), approval("r")] if request_ == "q" else [approval("r"), approval()]
    await ask(slot, key, *asked, kind=kind)
    assert (await slot.decide(key, Decide(record=yes(approval()), cid=cid))).kind == expected


async def test_an_unknown_outcome_is_settled_by_a_person(slot: Slot, key: SessionKey) -> None:
    """A decision may leave another status than pending when it says which."""
    record = approval(status="unknown")
    await ask(slot, key, record)
    done = yes(record, status="done")
    assert (await slot.decide(key, Decide(record=done))).kind == "moved"
    assert (await slot.decide(key, Decide(record=done, source="unknown"))).kind == "ok"


async def test_a_decision_for_a_missing_session(slot: Slot, key: SessionKey) -> None:
    """There is nothing to decide."""
    answer = await slot.decide(key, Decide(record=yes(approval())))
    assert answer == Decided(kind="missing", record=None, now=answer.now)
    assert await slot.read(key) is None


@pytest.mark.parametrize(
    ("changed", "start", "expected"),
    [
        pytest.param({}, {}, ("go", ""), id="approved"),
        pytest.param({"run_by": HOUR}, {}, ("go", ""), id="before run_by"),
        pytest.param({"run_by": 0}, {}, ("refused", "late"), id="at run_by"),
        pytest.param({}, {"digest": "e"}, ("refused", "digest"), id="other arguments"),
        pytest.param({}, {"request": None}, ("refused", "request"), id="no question named"),
        pytest.param({}, {"request": "z"}, ("refused", "request"), id="another question"),
        pytest.param({}, {"cid": "9-0", "step": "9-0"}, ("closed", ""), id="no such call"),
        *(
            pytest.param({"status": status}, {}, ("refused", status), id=status)
            for status in ("pending", "rejected", "expired", "void", "started", "unknown")
        ),
    ],
)
async def test_the_gate(
    slot: Slot,
    key: SessionKey,
    changed: dict[str, object],
    start: dict[str, str],
    expected: tuple[str, str],
) -> None:
    """A body starts only when the approval of its own question says so, for these arguments."""
    now = (await open_session(slot, key)).now
    if isinstance(changed.get("run_by"), int):
        changed = {"run_by": now + changed["run_by"]}  # pyright: ignore[reportOperatorIssue]
    record = approval(**{"status": "approved", **changed})
    await slot.delete(key)
    begun = await ask(slot, key, record)
    asked = {"cid": "1-0", "step": "1-0", "request": "q", "digest": "d"}
    given = Start(fence=begun.fence, audit={"what": "started"}, **{**asked, **start})
    answer = await slot.start_call(key, given)
    after = await stored(slot, key)
    went = expected[0] == "go"
    assert (answer.kind, answer.why) == expected
    assert (after.status, after.rev) == (("started", 2) if went else (record.status, 1))
    view = await slot.read(key, parts=("audit",))
    assert view is not None
    assert len(view.audit) == (2 if went else 1)


@pytest.mark.parametrize(
    ("request_id", "recorded", "expected"),
    [
        pytest.param("free", False, Started(kind="go"), id="none are kept"),
        pytest.param("free", True, Started(kind="refused", why="missing"), id="they are kept"),
        pytest.param(None, True, Started(kind="go"), id="nobody was asked"),
    ],
)
async def test_without_an_approval(
    slot: Slot, key: SessionKey, *, request_id: str | None, recorded: bool, expected: Started
) -> None:
    """A runner that keeps no approvals starts on the answer alone; one that does needs its own."""
    begun = await ask(slot, key)
    start = Start(
        fence=begun.fence,
        cid="1-0",
        step="1-0",
        request=request_id,
        digest="x",
        recorded=recorded,
        audit={"what": "started"},
    )
    assert await slot.start_call(key, start) == expected
    view = await slot.read(key, parts=("audit",))
    assert view is not None
    assert len(view.audit) == (2 if expected.kind == "go" else 1)


async def test_a_body_starts_once(slot: Slot, key: SessionKey) -> None:
    """Who lost the answer may go; the next holder hears that it was started; then its result."""
    begun = await ask(slot, key, approval(status="approved"))
    start = Start(fence=begun.fence, cid="1-0", step="1-0", request="q", digest="d")
    assert [(await slot.start_call(key, start)).kind for _ in range(2)] == ["go", "go"]
    later = await begin(slot, key)
    newer = replace(start, fence=later.fence)
    with pytest.raises(SessionConflict):
        await slot.start_call(key, start)
    assert (await slot.start_call(key, newer)).kind == "again"
    result = Commit(id="r", fence=later.fence, version=1, results={"1-0": {"paid": []}})
    await slot.commit(key, result)
    assert await slot.start_call(key, newer) == Started(kind="done", result={"paid": []})
    await slot.commit(key, Commit(id="x", fence=later.fence, version=1, closed=["1-0"]))
    assert (await slot.start_call(key, newer)).kind == "closed"
    assert (await stored(slot, key)).rev == 2


@pytest.mark.parametrize(
    ("run_by", "expected"),
    [
        pytest.param(None, Started(kind="again"), id="no deadline"),
        pytest.param(LONG, Started(kind="again"), id="in time"),
        pytest.param(1, Started(kind="refused", why="late"), id="too late"),
    ],
)
async def test_what_was_started_starts_again_until_its_deadline(
    slot: Slot, key: SessionKey, run_by: int | None, expected: Started
) -> None:
    """A body that was interrupted is no reason to start after the execution deadline."""
    begun = await ask(slot, key, approval(status="approved", run_by=LONG * 10**9))
    start = Start(fence=begun.fence, cid="1-0", step="1-0", request="q", digest="d")
    assert (await slot.start_call(key, start)).kind == "go"
    limit = run_by and begun.now + run_by
    await slot.decide(
        key,
        Decide(record=approval(status="started", rev=3, run_by=limit), source="started"),
    )
    assert (await slot.start_call(key, start)).kind == "go"
    later = await begin(slot, key)
    while run_by == 1 and later.now < begun.now + 1:
        later = await begin(slot, key)
    assert await slot.start_call(key, replace(start, fence=later.fence)) == expected


async def test_the_asking_run_is_a_step_of_its_own(slot: Slot, key: SessionKey) -> None:
    """A body that ran to ask has not run with permission."""
    begun = await ask(slot, key, kind="tool")
    asking = Start(fence=begun.fence, cid="1-0", step="1-0:ask")
    assert (await slot.start_call(key, asking)).kind == "go"
    later = await begin(slot, key)
    steps = [replace(asking, fence=later.fence, step=step) for step in ("1-0:ask", "1-0")]
    assert [(await slot.start_call(key, start)).kind for start in steps] == ["again", "go"]


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        pytest.param(["1-0"], "go", id="the run is over: the next one is its own"),
        pytest.param([], "again", id="nobody knows: it was started, and stays so"),
    ],
)
async def test_asking_anew(slot: Slot, key: SessionKey, ended: list[str], expected: str) -> None:
    """A new question alone is no leave for another start; a run that has ended makes room."""
    begun = await ask(slot, key, approval(status="approved"))
    first = Start(fence=begun.fence, cid="1-0", step="1-0", request="q", digest="d")
    assert (await slot.start_call(key, first)).kind == "go"
    anew = OpenCall(name="pay", kind="approval", version=1, request="q2")
    commit = Commit(id="anew", fence=begun.fence, version=1, opened={"1-0": anew}, ended=ended)
    await slot.commit(key, commit)
    later = await begin(slot, key)
    second = replace(first, fence=later.fence, request="q2")
    assert later.started == ({"1-0"} if expected == "again" else set())
    assert (await slot.start_call(key, second)).kind == expected


async def test_the_same_question_makes_no_other_start(slot: Slot, key: SessionKey) -> None:
    """A call that is only described anew was started, and stays so."""
    begun = await ask(slot, key, approval(status="approved"))
    first = Start(fence=begun.fence, cid="1-0", step="1-0", request="q", digest="d")
    assert (await slot.start_call(key, first)).kind == "go"
    same = OpenCall(name="pay", kind="approval", version=1, request="q", note={"n": 1})
    commit = Commit(id="same", fence=begun.fence, version=1, opened={"1-0": same})
    await slot.commit(key, commit)
    later = await begin(slot, key)
    second = replace(first, fence=later.fence)
    assert (await slot.start_call(key, second)).kind == "again"


async def test_a_result_answers_every_step(slot: Slot, key: SessionKey) -> None:
    """A call whose response is kept needs no asking run any more."""
    begun = await ask(slot, key, kind="tool")
    kept = Commit(id="r", fence=begun.fence, version=1, results={"1-0": "paid"})
    await slot.commit(key, kept)
    asking = Start(fence=begun.fence, cid="1-0", step="1-0:ask")
    assert await slot.start_call(key, asking) == Started(kind="done", result="paid")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param("started", ("done", 2), id="from a source"),
        pytest.param("unknown", ("done", 2), id="from the other source"),
        pytest.param("pending", ("pending", 1), id="from elsewhere it stays"),
    ],
)
async def test_settles(slot: Slot, key: SessionKey, status: str, expected: tuple[str, int]) -> None:
    """A commit moves approvals on that are where it expects them, and holds in any case."""
    begun = await ask(slot, key, approval(status=status))
    companions = Companions(
        settles=[
            Settle(id="q", sources=("started", "unknown"), status="done"),
            Settle(id="nobody", sources=("started",), status="done"),
        ]
    )
    commit = Commit(
        id="s", fence=begun.fence, version=1, events=[called("2-0")], companions=companions
    )
    done = await slot.commit(key, commit)
    after = await stored(slot, key)
    assert ((after.status, after.rev), done.version) == (expected, 2)


async def test_notes_of_open_calls(slot: Slot, key: SessionKey) -> None:
    """A commit may tell more about the waiting; calls that are not open have no note."""
    begun = await ask(slot, key, approval())
    notes = {"1-0": {"asked": ["boss"]}, "9-0": {"asked": []}}
    commit = Commit(id="n", fence=begun.fence, version=1, companions=Companions(notes=notes))
    await slot.commit(key, commit)
    begun = await begin(slot, key, lease=LONG)
    assert {cid: call.note for cid, call in begun.open.items()} == {"1-0": notes["1-0"]}
