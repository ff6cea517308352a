"""Sessions as a whole: created, looked at, listed, forgotten, and the state they share."""

from dataclasses import replace

import pytest

from agents.runtime.slot.port import Commit, Entry, Json, SessionKey, Slot
from tests.agents.slot.samples import begin, open_session, replied, said, write

ANSWER: Json = {"content": {"parts": [{"function_response": {"id": "3-0", "name": "asked"}}]}}
MIXED: Json = {"a": {"deep": [1]}, "app:limit": 5, "user:name": "Ann", "temp:x": 1}


async def test_create_and_look(slot: Slot, key: SessionKey) -> None:
    """A session is created once; `temp:` state is dropped."""
    assert await slot.apply(key, state=MIXED, create=True)
    assert not await slot.apply(key, state={"a": 2}, create=True)
    view = await slot.read(key)
    assert view is not None
    assert view.state == {name: value for name, value in MIXED.items() if name != "temp:x"}
    assert (view.version, view.inbox, view.events) == (0, 0, [])
    assert view.created * 1000 <= view.updated * 1000 <= view.now


async def test_state_without_a_run(slot: Slot, key: SessionKey) -> None:
    """Setting state needs a session and changes the keys it names."""
    assert not await slot.apply(key, state={"a": 1})
    assert await slot.read(key) is None
    await slot.apply(key, state={"a": 1, "b": 2}, create=True)
    assert await slot.apply(key, state={"b": [], "app:c": None})
    view = await slot.read(key)
    assert view is not None
    assert view.state == {"a": 1, "b": [], "app:c": None}


async def test_state_handed_out_is_a_copy(slot: Slot, key: SessionKey) -> None:
    """Who changes what was read changes nothing in the slot."""
    given: Json = {"cart": ["tea"]}
    await slot.apply(key, state=given, create=True)
    begun = await begin(slot, key)
    for cart in (given["cart"], begun.state["cart"]):
        assert isinstance(cart, list)
        cart.append("milk")
    assert (await begin(slot, key)).state == {"cart": ["tea"]}


async def _commit_state(slot: Slot, key: SessionKey, *, user: str | None, name: str) -> None:
    begun = await begin(slot, key)
    commit = Commit(
        id=name,
        fence=begun.fence,
        version=begun.version,
        state={"own": name},
        app_state={"app:last": name},
        user_state={"user:last": name},
        user=user,
    )
    await slot.commit(key, commit)
    await slot.commit(key, commit)


async def test_app_and_user_state_reach_further(slot: Slot, key: SessionKey) -> None:
    """`app:` is for all sessions of an agent, `user:` for those of a person, in one tenant."""
    await open_session(slot, key)
    await _commit_state(slot, key, user="ann", name="1")
    for other, expected in [
        (replace(key, id="2"), {"app:last": "1"}),
        (replace(key, id="2", user="ann"), {"app:last": "1", "user:last": "1"}),
        (replace(key, app="else"), {}),
        (replace(key, tenant="T2", user="ann"), {}),
    ]:
        assert (await begin(slot, other)).state == expected


@pytest.mark.parametrize(
    ("body", "last", "expected"),
    [
        pytest.param({"user_id": "ann"}, "bob", "ann", id="of who spoke"),
        pytest.param({}, "bob", "thread", id="else of the session"),
        pytest.param({"user_id": "ann"} | ANSWER, "bob", "bob", id="not of who answers"),
        pytest.param(None, "bob", "bob", id="without words of whom the last step was for"),
        pytest.param(None, None, "thread", id="else of the session again"),
    ],
)
async def test_whose_user_state(
    slot: Slot, key: SessionKey, body: Json | None, last: str | None, expected: str
) -> None:
    """The state a session begins with is that of the person whose words are next."""
    for user in ("ann", "bob", "thread"):
        await slot.apply(replace(key, id="x", user=user), state={"user:me": user}, create=True)
    await open_session(slot, key)
    begun = await begin(slot, key)
    await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, pop="m1", user=last))
    await slot.commit(key, Commit(id="d", fence=begun.fence, version=0))
    if body is not None:
        await slot.ingest(key, Entry(id="m2", body=body))
    begun = await begin(slot, key)
    assert (begun.state["user:me"], begun.user) == (expected, expected)
    view = await slot.read(key, user="bob")
    assert view is not None
    assert view.state["user:me"] == "bob"


@pytest.mark.parametrize(
    ("spoke", "deleted", "expected"),
    [
        pytest.param(["ann", "bob"], False, "ann", id="somebody else is next in line"),
        pytest.param(["bob"], True, "thread", id="the session is gone"),
        pytest.param([None, "bob"], False, "thread", id="nobody is named"),
    ],
)
async def test_whose_user_state_after_all(
    slot: Slot, key: SessionKey, spoke: list[str | None], *, deleted: bool, expected: str
) -> None:
    """Who put something last is not taken for the one who speaks next."""
    for user in ("ann", "bob", "thread"):
        await slot.apply(replace(key, id="x", user=user), state={"user:me": user}, create=True)
    for n, user in enumerate(spoke):
        await slot.ingest(key, Entry(id=f"m{n}", body={"user_id": user}))
    if deleted:
        await slot.delete(key)
    begun = await begin(slot, key)
    assert (begun.state["user:me"], begun.user) == (expected, expected)


async def test_later_state_wins(slot: Slot, key: SessionKey) -> None:
    """Each change reaches the shared state once, in order, from any session."""
    other = replace(key, id="2")
    for session in (key, other):
        await open_session(slot, session)
    for n, session in enumerate((key, other, key, key, other)):
        await _commit_state(slot, session, user="ann", name=str(n))
        state = (await begin(slot, replace(key, id="3", user="ann"))).state
        assert state == {"app:last": str(n), "user:last": str(n)}


async def test_windows_of_a_look(slot: Slot, key: SessionKey) -> None:
    """A look shows everything or the newest events, and leaves the session alone."""
    await open_session(slot, key)
    await write(slot, key, said(), replied(), said())
    whole = await slot.read(key)
    newest = await slot.read(key, window=2)
    bare = await slot.read(key, parts=())
    assert whole is not None
    assert newest is not None
    assert bare is not None
    assert [event.version for event in whole.events] == [1, 2, 3]
    assert [event.version for event in newest.events] == [2, 3]
    assert (bare.events, bare.version, bare.inbox) == ([], 3, 1)


async def test_sessions_are_listed(slot: Slot, key: SessionKey) -> None:
    """Per app and person, the one changed last at the end, without those that are gone."""
    keys = [SessionKey("helper", user, str(n)) for n, user in enumerate("aba")]
    for listed in keys:
        await slot.apply(listed, state={}, create=True)
    await slot.ingest(keys[0], Entry(id="m", body={}))
    await slot.delete(keys[2])
    everyone = await slot.list(app="helper")
    assert sorted(everyone, key=str) == sorted(keys[:2], key=str)
    assert everyone[-1] == keys[0] or (await slot.read(keys[1])) is not None
    assert await slot.list(app="helper", user="b") == [keys[1]]
    assert await slot.list(app="helper", tenant="T2") == []
    assert await slot.list(app="nobody") == []


async def test_sessions_are_listed_by_pages(slot: Slot) -> None:
    """Whoever skips what they were told meets all that nobody touches, whatever comes and goes."""
    keys = [SessionKey("pages", "thread", f"{n:02}") for n in range(9)]
    for listed in keys:
        await slot.apply(listed, state={}, create=True)
    first = await slot.list(app="pages", most=4)
    await slot.apply(SessionKey("pages", "thread", "new"), state={}, create=True)
    await slot.delete(first[0])
    met = [*first]
    while found := await slot.list(app="pages", skip=len(met), most=4):
        met += found
    later = await slot.list(app="pages", most=2)
    assert set(met) >= set(keys)
    assert len(first) == 4
    assert len(later) == 2
    assert await slot.list(app="pages", user="b", most=4) == []


async def test_delete_forgets_the_session(slot: Slot, key: SessionKey) -> None:
    """Nothing of it is left but what it shared; who still holds it cannot write."""
    begun = await open_session(slot, key)
    await _commit_state(slot, key, user="thread", name="1")
    assert [await slot.delete(key) for _ in range(2)] == [True, False]
    assert await slot.read(key) is None
    assert await slot.ingest(key, Entry(id="m1", body={})) == "queued"
    fresh = await begin(slot, key)
    assert fresh.state == {"app:last": "1", "user:last": "1"}
    assert fresh.fence >= begun.fence
    assert (fresh.version, fresh.attempt) == (0, 1)
