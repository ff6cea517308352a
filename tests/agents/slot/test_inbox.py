"""What is put to a session: once, in order, taken from the head only."""

import pytest

from agents.runtime.errors import SessionConflict
from agents.runtime.slot.port import Commit, Entry, SessionKey, Slot
from tests.agents.slot.samples import LONG, begin, open_session, said


async def test_an_entry_is_queued_once(slot: Slot, key: SessionKey) -> None:
    """The same id is one entry, however often it arrives."""
    entry = Entry(id="m1", body={"text": "hello"})
    answers = [await slot.ingest(key, entry) for _ in range(3)]
    view = await slot.read(key)
    assert answers == ["queued", "duplicate", "duplicate"]
    assert view is not None
    assert (view.inbox, view.version) == (1, 0)


async def test_a_consumed_entry_stays_known(slot: Slot, key: SessionKey) -> None:
    """A delivery that comes again after its turn is still a duplicate."""
    begun = await open_session(slot, key)
    await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, pop="m1"))
    assert await slot.ingest(key, Entry(id="m1", body={})) == "duplicate"


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param(False, "missing", id="news for a session that is gone is dropped"),
        pytest.param(True, "queued", id="news for a session that is there is queued"),
    ],
)
async def test_only_existing(slot: Slot, key: SessionKey, there: bool, expected: str) -> None:
    """With `only_existing` an entry never opens a session."""
    if there:
        await slot.apply(key, state={}, create=True)
    answer = await slot.ingest(key, Entry(id="n", body={}), only_existing=True)
    assert answer == expected
    assert (await slot.read(key) is not None) is there


async def test_the_inbox_is_in_order(slot: Slot, key: SessionKey) -> None:
    """Each commit that consumes the head is told the next one."""
    bodies = [{"text": f"number {n}", "list": [], "nothing": None} for n in range(3)]
    for n, body in enumerate(bodies):
        await slot.ingest(key, Entry(id=f"m{n}", body=body))
    begun = await begin(slot, key)
    heads = [begun.head]
    for n in range(3):
        commit = Commit(id=f"c{n}", fence=begun.fence, version=n, pop=f"m{n}", events=[said()])
        heads.append((await slot.commit(key, commit)).head)
    expected = [Entry(id=f"m{n}", body=body) for n, body in enumerate(bodies)]
    assert heads == [*expected, None]


@pytest.mark.parametrize("pop", [pytest.param("m2", id="second"), pytest.param("x", id="unknown")])
async def test_only_the_head_is_consumed(slot: Slot, key: SessionKey, pop: str) -> None:
    """A commit that consumes anything but the head is refused whole."""
    begun = await open_session(slot, key)
    await slot.ingest(key, Entry(id="m2", body={}))
    commit = Commit(id="c", fence=begun.fence, version=0, pop=pop, events=[said()])
    with pytest.raises(SessionConflict):
        await slot.commit(key, commit)
    view = await slot.read(key)
    assert view is not None
    assert (view.version, view.inbox) == (0, 2)


@pytest.mark.parametrize(
    ("leases", "expected"),
    [
        pytest.param(["released"] * 3, [0, 0, 0, 0], id="given back"),
        pytest.param(["dead"] * 3, [0, 1, 2, 3], id="run out"),
        pytest.param(["dead", "released", "dead"], [0, 1, 1, 2], id="now and then"),
        pytest.param(["taken over"] * 3, [0, 0, 0, 0], id="taken over from itself"),
        pytest.param(["dead", "worked", "dead"], [0, 1, 0, 1], id="something was done"),
    ],
)
async def test_deaths(slot: Slot, key: SessionKey, leases: list[str], expected: list[int]) -> None:
    """A death is a lease that ran out in somebody's hands, with nothing stored since."""
    await slot.ingest(key, Entry(id="m0", body={}))
    deaths: list[int] = []
    for number, end in enumerate([*leases, "last"]):
        begun = await begin(slot, key, lease=-1 if end == "dead" else LONG)
        deaths.append(begun.deaths)
        if end == "worked":
            await slot.ingest(key, Entry(id="m1", body={}))
            done = Commit(id=f"c{number}", fence=begun.fence, version=0, pop="m0")
            await slot.commit(key, done)
        if end in ("released", "worked"):
            await slot.release(key, begun.fence)
    assert deaths == expected


async def test_a_session_that_is_put_off_was_not_tried(slot: Slot, key: SessionKey) -> None:
    """Whoever gives it back untouched takes no attempt away, and says so once only."""
    await slot.ingest(key, Entry(id="m2", body={}))
    begun = await begin(slot, key)
    for _ in range(3):
        begun = await begin(slot, key)
        for _ in range(2):
            await slot.release(key, begun.fence, put_off=True)
    assert begun.attempt == 2
    begun = await begin(slot, key)
    await slot.release(key, begun.fence)
    assert (await begin(slot, key)).attempt == 3


async def test_attempts_count_for_the_head(slot: Slot, key: SessionKey) -> None:
    """Every begin of the same head counts; the next head starts anew."""
    await slot.ingest(key, Entry(id="m2", body={}))
    attempts = [(await begin(slot, key)).attempt for _ in range(3)]
    begun = await begin(slot, key)
    await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, pop="m2"))
    await slot.ingest(key, Entry(id="m3", body={}))
    assert attempts == [1, 2, 3]
    assert (await begin(slot, key)).attempt == 1
