"""A session in hand: leases, fences, versions, and what a worker sees of it."""

from dataclasses import replace
from typing import Any

import pytest

from agents.runtime.errors import SessionConflict
from agents.runtime.events import Compaction, Event, EventActions
from agents.runtime.slot.port import Busy, Commit, Entry, OpenCall, SessionKey, Slot
from tests.agents.slot.samples import (
    LONG,
    answered,
    begin,
    called,
    open_session,
    replied,
    said,
    write,
)

MEANWHILE = 25_000
"""Milliseconds that pass between two words to a store at most."""


async def test_one_worker_at_a_time(slot: Slot, key: SessionKey) -> None:
    """Another worker is told until when; the same one takes it over from itself."""
    first = await open_session(slot, key)
    other = await slot.begin(key, owner="other", lease=LONG)
    again = await begin(slot, key)
    assert isinstance(other, Busy)
    assert first.now + LONG - 5 <= other.until <= other.now + LONG
    assert again.fence > first.fence


async def test_a_lease_ends(slot: Slot, key: SessionKey) -> None:
    """Without a lease left, another worker has the session, with a higher fence."""
    first = await open_session(slot, key)
    assert await slot.renew(key, first.fence, lease=-1)
    second = await slot.begin(key, owner="other", lease=LONG)
    assert not isinstance(second, Busy)
    assert second.fence > first.fence
    assert not await slot.renew(key, first.fence, lease=LONG)
    assert not (await slot.release(key, first.fence)).ours


@pytest.mark.parametrize(
    ("ahead", "cut"),
    [
        pytest.param(LONG // 2, False, id="within its length"),
        pytest.param(LONG, False, id="its length"),
        pytest.param(LONG + 3_600_000, True, id="the clock was an hour ahead"),
        pytest.param(LONG + 365 * 24 * 3_600_000, True, id="or a year"),
    ],
)
async def test_a_lease_from_the_future(slot: Slot, key: SessionKey, ahead: int, cut: bool) -> None:
    """It is cut to its length: who has the session renews it, and who is gone loses it."""
    first = await open_session(slot, key)
    assert await slot.renew(key, first.fence, lease=ahead)
    for _ in range(2):
        other = await slot.begin(key, owner="other", lease=10)
        assert isinstance(other, Busy)
        left = other.until - other.now
        assert left <= min(ahead, LONG)
        assert cut or left > ahead - MEANWHILE
    assert await slot.renew(key, first.fence, lease=LONG)
    view = await slot.read(key, parts=())
    assert view is not None
    assert view.lease > view.now + LONG - MEANWHILE


async def test_release(slot: Slot, key: SessionKey) -> None:
    """A session given back is free at once; giving it back again changes nothing."""
    first = await open_session(slot, key)
    assert [(await slot.release(key, first.fence)).ours for _ in range(2)] == [True, True]
    assert not await slot.renew(key, first.fence, lease=LONG)
    assert not isinstance(await slot.begin(key, owner="other", lease=LONG), Busy)


@pytest.mark.parametrize("waits", [pytest.param(n, id=f"{n} wait") for n in range(2)])
async def test_a_commit_that_gives_back(slot: Slot, key: SessionKey, waits: int) -> None:
    """Who wishes so lets go of a session with a commit, unless an entry waits in it."""
    begun = await open_session(slot, key)
    for n in range(waits):
        await slot.ingest(key, Entry(id=f"w{n}", body={}))
    commit = Commit(id="c", fence=begun.fence, version=0, events=[said()], pop="m1", release=True)
    done = await slot.commit(key, commit)
    other = await slot.begin(key, owner="other", lease=LONG)
    assert (done.version, done.released) == (1, not waits)
    assert isinstance(other, Busy) == bool(waits)
    again = await slot.commit(key, commit)
    assert (again.version, again.released) == (1, not waits)
    view = await slot.read(key)
    assert view is not None
    assert (len(view.events), view.owner) == (1, "worker" if waits else "other")


async def test_a_missing_session_begins_empty(slot: Slot, key: SessionKey) -> None:
    """Nothing is there, nothing is made, and every change of it is refused."""
    begun = await begin(slot, key)
    assert (begun.fence, begun.version, begun.head, begun.events) == (0, 0, None, [])
    with pytest.raises(SessionConflict):
        await slot.commit(key, Commit(id="c", fence=begun.fence, version=0))
    assert not await slot.renew(key, begun.fence, lease=LONG)
    assert not (await slot.release(key, begun.fence)).ours
    assert await slot.read(key) is None


async def test_events_come_back_as_they_were(slot: Slot, key: SessionKey) -> None:
    """Numbers are given at the commit; signatures, times and nulls survive."""
    events = [said("grüße 😀"), called("2-0"), answered("2-0"), replied()]
    await open_session(slot, key)
    await write(slot, key, *events)
    numbered = [event.model_copy(update={"version": n}) for n, event in enumerate(events, 1)]
    assert (await begin(slot, key)).events == numbered


async def test_a_repeated_commit_is_written_once(slot: Slot, key: SessionKey) -> None:
    """Who lost the answer asks again and gets the same one, even when the lease is gone."""
    begun = await open_session(slot, key)
    commit = Commit(id="c", fence=begun.fence, version=0, pop="m1", events=[said(), replied()])
    first = await slot.commit(key, commit)
    again = await slot.commit(key, commit)
    await begin(slot, key)
    late = await slot.commit(key, commit)
    view = await slot.read(key)
    assert {(done.version, done.head) for done in (first, again, late)} == {(2, None)}
    assert view is not None
    assert len(view.events) == 2


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        pytest.param({}, True, id="given back"),
        pytest.param({"release": False}, False, id="in hand"),
        pytest.param({"events": [said(), replied("no")]}, False, id="other events"),
        pytest.param({"events": [said()]}, False, id="fewer events"),
        pytest.param({"events": []}, False, id="no events"),
        pytest.param({"version": 1}, False, id="another version"),
        pytest.param({"version": 9}, False, id="a version of the future"),
    ],
)
async def test_a_last_commit_is_known_after_those_of_others(
    slot: Slot, key: SessionKey, changes: dict[str, Any], known: bool
) -> None:
    """Its answer was lost, and somebody else went on: what is stored is stored, and written once.

    Who has no session any more writes nothing, and only what is there counts as written.
    """
    begun = await open_session(slot, key)
    last = Commit(
        id="c", fence=begun.fence, version=0, pop="m1", events=[said(), replied()], release=True
    )
    assert (await slot.commit(key, last)).released
    other = await begin(slot, key)
    await slot.commit(key, Commit(id="d", fence=other.fence, version=2, events=[said("b")]))
    again = replace(last, **changes)
    if known:
        assert (await slot.commit(key, again)).released
    else:
        with pytest.raises(SessionConflict):
            await slot.commit(key, again)
    view = await slot.read(key)
    assert view is not None
    assert view.version == 3


@pytest.mark.parametrize(
    ("fence", "version"),
    [
        pytest.param(-1, 0, id="an older fence"),
        pytest.param(1, 0, id="a fence of the future"),
        pytest.param(0, 1, id="a version that is not there"),
        pytest.param(0, -1, id="a version that is past"),
    ],
)
async def test_who_is_not_the_newest_writes_nothing(
    slot: Slot, key: SessionKey, fence: int, version: int
) -> None:
    """Fence and version must be those of the store."""
    begun = await open_session(slot, key)
    commit = Commit(
        id="c",
        fence=begun.fence + fence,
        version=version,
        events=[said()],
        state={"a": 1},
        pop="m1",
    )
    with pytest.raises(SessionConflict):
        await slot.commit(key, commit)
    view = await slot.read(key)
    assert view is not None
    assert (view.version, view.state, view.inbox) == (0, {}, 1)


def _versions(events: object) -> list[int]:
    assert isinstance(events, list)
    return [event.version for event in events if isinstance(event, Event)]


def _long(invocation: str, length: int) -> list[Event]:
    """A turn of two events, each about `length` bytes more than its 200."""
    words = "é" * (length // 2)
    return [said(words, invocation=invocation), replied(words, invocation=invocation)]


@pytest.mark.parametrize(
    ("lengths", "size", "since", "expected"),
    [
        pytest.param([1000, 1000, 1000], 9000, 0, [1, 2, 3, 4, 5, 6], id="all of it fits"),
        pytest.param([1000, 1000, 1000], 5400, 0, [3, 4, 5, 6], id="from a turn start"),
        pytest.param([1000, 1000, 1000], 4000, 0, [5, 6], id="not in the middle of a turn"),
        pytest.param([1000, 1000, 1000], 10, 0, [5, 6], id="the newest turn whatever its size"),
        pytest.param([10, 9000, 10], 2000, 0, [5, 6], id="behind a long one"),
        pytest.param([1000, 1000, 1000], 2000, 5, [6], id="what the caller has is not counted"),
        pytest.param([1000, 1000, 1000], 2000, 2, [5, 6], id="too much of it is new"),
        pytest.param([1000, 1000, 1000], 2000, 6, [], id="the caller has it all"),
    ],
)
async def test_windows_of_bytes(
    slot: Slot, key: SessionKey, *, lengths: list[int], size: int, since: int, expected: list[int]
) -> None:
    """A window holds so many bytes, and is cut only where somebody starts to speak."""
    await open_session(slot, key)
    for n, length in enumerate(lengths):
        await write(slot, key, *_long(f"i{n}", length))
    begun = await begin(slot, key, size=size, since=since)
    assert _versions(begun.events) == expected


async def test_a_window_keeps_what_waits_whatever_its_size(slot: Slot, key: SessionKey) -> None:
    """An invocation with an open call is whole, and the newest summary is there."""
    await _open_call(slot, key)
    summary = EventActions(compaction=Compaction(until=4, summary="They met."))
    for n in range(2):
        await write(slot, key, *_long(f"i{n}", 1000))
        await write(slot, key, Event(author="helper", invocation_id=f"i{n}", actions=summary))
    await write(slot, key, *_long("last", 1000))
    begun = await begin(slot, key, size=10)
    assert _versions(begun.events) == [1, 2, 3, 9, 10, 11]


@pytest.mark.parametrize(
    ("window", "since", "expected"),
    [
        pytest.param(10, 0, [1, 2, 3, 4, 5, 6], id="all of a short session"),
        pytest.param(4, 0, [3, 4, 5, 6], id="from a turn start"),
        pytest.param(3, 0, [5, 6], id="not in the middle of a turn"),
        pytest.param(1, 0, [5, 6], id="a turn longer than the window stays whole"),
        pytest.param(4, 4, [5, 6], id="without what the caller has"),
        pytest.param(4, 6, [], id="the caller has it all"),
    ],
)
async def test_windows(
    slot: Slot, key: SessionKey, window: int, since: int, expected: list[int]
) -> None:
    """A window is cut only where somebody starts to speak."""
    await open_session(slot, key)
    for _ in range(3):
        await write(slot, key, said(), replied())
    begun = await begin(slot, key, window=window, since=since)
    assert _versions(begun.events) == expected


async def _talk(slot: Slot, key: SessionKey, *, turns: int) -> None:
    for n in range(turns):
        await write(slot, key, said(invocation=f"talk{n}"), replied(invocation=f"talk{n}"))


async def _open_call(slot: Slot, key: SessionKey) -> None:
    """Versions 1 to 3: words, two calls of one reply, the response to the first."""
    await open_session(slot, key)
    await write(slot, key, said(invocation="a"))
    await write(slot, key, called("2-0", invocation="a"), answered("2-0", invocation="a"))
    begun = await begin(slot, key)
    call = OpenCall(name="pay", kind="news", version=2)
    commit = Commit(id="open", fence=begun.fence, version=3, opened={"2-1": call})
    await slot.commit(key, commit)


async def test_a_window_keeps_the_invocation_of_an_open_call(slot: Slot, key: SessionKey) -> None:
    """What was said long ago is there as long as its call has no last response."""
    await _open_call(slot, key)
    await _talk(slot, key, turns=4)
    begun = await begin(slot, key, window=2)
    seen = await begin(slot, key, window=2, since=2)
    assert _versions(begun.events) == [1, 2, 3, 10, 11]
    assert _versions(seen.events) == [3, 10, 11]


async def test_a_window_keeps_the_call_of_a_response_in_it(slot: Slot, key: SessionKey) -> None:
    """An answered call goes with its response, and leaves with it."""
    await _open_call(slot, key)
    await _talk(slot, key, turns=2)
    begun = await begin(slot, key)
    commit = Commit(
        id="answer",
        fence=begun.fence,
        version=7,
        events=[answered("2-1", invocation="a"), replied(invocation="a")],
        closed=["2-1"],
    )
    await slot.commit(key, commit)
    await _talk(slot, key, turns=1)
    near = await begin(slot, key, window=6)
    far = await begin(slot, key, window=2)
    assert _versions(near.events) == [1, 2, 3, 6, 7, 8, 9, 10, 11]
    assert _versions(far.events) == [10, 11]


async def test_a_window_keeps_an_open_invocation(slot: Slot, key: SessionKey) -> None:
    """An invocation that is open is whole, whatever calls it has; ended, it is like any other."""
    await open_session(slot, key)
    await write(slot, key, said(invocation="a"))
    begun = await begin(slot, key)
    kept = {"temp": {"temp:n": 1}, "list": []}
    await slot.commit(key, Commit(id="o", fence=begun.fence, version=1, invocations={"a": kept}))
    await _talk(slot, key, turns=3)
    open_ = await begin(slot, key, window=2)
    await slot.commit(key, Commit(id="e", fence=open_.fence, version=7, invocations={"a": None}))
    ended = await begin(slot, key, window=2)
    assert (open_.invocations, _versions(open_.events)) == ({"a": kept}, [1, 6, 7])
    assert (ended.invocations, _versions(ended.events)) == ({}, [6, 7])


async def test_calls_results_and_notes(slot: Slot, key: SessionKey) -> None:
    """Open calls have their note and kept results; closing forgets both."""
    begun = await open_session(slot, key)
    first = OpenCall(name="pay", kind="tool", version=1, note={"since": "monday"})
    second = OpenCall(name="file", kind="news", version=1, request="r")
    commit = Commit(
        id="a",
        fence=begun.fence,
        version=0,
        events=[called("1-0")],
        opened={"1-0": first, "1-1": second},
        results={"1-0": {"paid": [], "none": None}, "1-1": None},
    )
    await slot.commit(key, commit)
    seen = await begin(slot, key)
    await slot.commit(key, Commit(id="b", fence=seen.fence, version=1, closed=["1-0"]))
    after = await begin(slot, key)
    assert seen.open == {"1-0": first, "1-1": second}
    assert seen.results == {"1-0": {"paid": [], "none": None}, "1-1": None}
    assert (after.open, after.results) == ({"1-1": second}, {"1-1": None})


async def test_a_commit_tells_the_next_head(slot: Slot, key: SessionKey) -> None:
    """What came in during a step is known after it."""
    begun = await open_session(slot, key)
    late = Entry(id="m2", body={"text": "wait"})
    await slot.ingest(key, late)
    done = await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, pop="m1"))
    assert done.head == late
