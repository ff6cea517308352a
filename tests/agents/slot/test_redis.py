"""What only a real store can do wrong: forget scripts, be full, be gone, be asked by many."""

import asyncio
import errno
import hashlib
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis
from redis.asyncio import RedisCluster
from redis.exceptions import ResponseError

from agents.runtime.errors import SessionConflict, StoreUnavailable
from agents.runtime.slot import keys
from agents.runtime.slot.port import (
    Busy,
    Commit,
    Companions,
    Decide,
    Entry,
    Released,
    SessionKey,
    Start,
)
from agents.runtime.slot.redis import RedisSlot, connect
from agents.runtime.slot.scripts import SCRIPTS
from tests.agents.slot.conftest import Stored
from tests.agents.slot.samples import LONG, approval, ask, begin, open_session, said
from tests.agents.slot.servers import server
from tests.trips import trips


def _sha256_script() -> str:
    text = SCRIPTS["commit"].text
    body = text[text.index("-- sha256(text)") : text.index("-- record(entries)")]
    return f"#!lua\n{body}\nreturn sha256(ARGV[1])"


@settings(max_examples=150)
@given(text=st.binary(max_size=300))
@pytest.mark.parametrize("times", [pytest.param(1, id="once"), pytest.param(60, id="repeated")])
def test_sha256(store_server: str, times: int, text: bytes) -> None:
    """The digest in Lua is the standard library's."""
    with Redis.from_url(store_server) as client:
        found = client.eval(_sha256_script(), 0, text * times)
    assert found == hashlib.sha256(text * times).hexdigest().encode()


async def test_a_store_that_forgot_the_scripts(stored: Stored, key: SessionKey) -> None:
    """A restart or failover costs one more round trip and no error."""
    for n in range(2):
        await stored.client.script_flush()
        index = ("SET", f"{stored.prefix}hint", n)
        entry = Entry(id=f"m{n}", body={})
        assert await stored.slot.ingest(key, entry, index=[index]) == "queued"
        assert await stored.client.get(f"{stored.prefix}hint") == str(n)


async def test_a_store_that_forgot_a_script(stored: Stored, key: SessionKey) -> None:
    """What it did know is not asked for again: an entry that was queued is no duplicate."""
    await stored.client.script_flush()
    await stored.client.script_load(SCRIPTS["ingest"].text)
    assert await stored.slot.ingest(key, Entry(id="m", body={})) == "queued"
    assert await stored.slot.list(app=key.app, tenant=key.tenant) == [key]


@pytest.mark.parametrize(
    ("puts", "speaks", "expected"),
    [
        pytest.param("here", ["ann"], [1], id="put by this process"),
        pytest.param("elsewhere", ["ann", "ann"], [2, 1], id="spoke in it before"),
        pytest.param("elsewhere", ["ann", "ann", "bob"], [2, 1, 2], id="somebody new"),
    ],
)
async def test_who_speaks_is_expected(
    stored: Stored, key: SessionKey, puts: str, speaks: list[str], expected: list[int]
) -> None:
    """A session and its person's state are one round trip, two when it is another person."""
    if isinstance(stored.client, RedisCluster):
        pytest.skip("a cluster has a round trip for each node")
    await open_session(stored.slot, replace(key, id="scripts are known"))
    web = stored.slot if puts == "here" else RedisSlot(stored.client, prefix=stored.prefix)
    for n, (user, most) in enumerate(zip(speaks, expected, strict=True)):
        await web.ingest(key, Entry(id=f"m{n}", body={"user_id": user}))
        assert await trips(lambda: begin(stored.slot, key)) == most
        begun = await begin(stored.slot, key)
        commit = Commit(id=f"c{n}", fence=begun.fence, version=0, pop=f"m{n}")
        await stored.slot.commit(key, commit)


async def test_index_commands_go_along(stored: Stored, key: SessionKey) -> None:
    """Each method that takes hints sends them, whatever slot they are in."""

    def hint(name: str) -> tuple[str, str, int]:
        return ("SET", f"{stored.prefix}{{{name}}}", 1)

    begun = await ask(stored.slot, key, approval())
    await stored.slot.ingest(key, Entry(id="x", body={}), index=[hint("a"), hint("b")])
    companions = Companions(index=[hint("c")])
    commit = Commit(id="c", fence=begun.fence, version=1, companions=companions)
    await stored.slot.commit(key, commit)
    yes = replace(approval(), status="approved", rev=2)
    await stored.slot.decide(key, Decide(record=yes, index=[hint("d")]))
    await stored.slot.posted(key, {}, index=[hint("e")])
    released = await stored.slot.release(key, begun.fence, index=[hint("f"), ("PING",)])
    assert released == Released(ours=True, told=(True, True))
    found = [await stored.client.get(f"{stored.prefix}{{{name}}}") for name in "abcdef"]
    assert found == ["1"] * 6


@pytest.mark.parametrize("says", [None, "10", "1:10"], ids=["nothing", "a number", "of another"])
async def test_an_owner_of_an_older_release_keeps_its_lease(
    stored: Stored, key: SessionKey, says: str | None
) -> None:
    """Who does not say how long its lease is, keeps one that a lease can be, whoever asks."""
    begun = await open_session(stored.slot, key)
    meta = keys.slot_keys(stored.prefix, key)[0]
    if says is None:
        await cast(Any, stored.client.hdel(meta, "length"))
    else:
        await cast(Any, stored.client.hset(meta, "length", says))
    assert await stored.slot.renew(key, begun.fence, lease=10 * LONG)
    other = await stored.slot.begin(key, owner="other", lease=10)
    assert isinstance(other, Busy)
    assert other.until - other.now > 9 * LONG


async def test_shared_state_is_repaired(stored: Stored, key: SessionKey) -> None:
    """A worker that died between a commit and its `app:` state leaves it to the next begin."""
    begun = await open_session(stored.slot, key)
    waiting = keys.slot_keys(stored.prefix, key)[-1]
    lost = '5 {"app":["app:a","1"],"user":"ann","users":["user:b","[]"]}'
    await cast(Any, stored.client.rpush(waiting, lost))
    assert (await begin(stored.slot, key)).state == {"app:a": 1}
    assert await stored.client.exists(waiting) == 0
    await cast(Any, stored.client.rpush(waiting, lost.replace('"1"', '"2"')))
    other = replace(key, user="ann", id="other")
    await begin(stored.slot, key)
    assert (await begin(stored.slot, other)).state == {"app:a": 1, "user:b": []}
    assert begun.state == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([("b", -20, "a"), ("a", -30, "a")], "b", id="an older one comes too late"),
        pytest.param([("a", -30, "a"), ("b", -20, "a")], "b", id="each at its time"),
        pytest.param([("b", -20, "a"), ("a", -20, "a")], "a", id="at once: the last one"),
        pytest.param([("b", -20, "x"), ("a", -30, "a")], "a", id="of another name"),
        pytest.param(
            [("b", -20, "a"), ("a", -30, "a"), ("a", -10, "a")], "a", id="and then a newer one"
        ),
        pytest.param([("b", LONG, "a"), ("a", -30, "a")], "a", id="the clock was set back"),
    ],
)
async def test_the_newest_change_of_shared_state_counts(
    stored: Stored, key: SessionKey, changes: list[tuple[str, int, str]], expected: str
) -> None:
    """What a worker that died left behind never takes the place of what was changed later."""
    sessions = {name: replace(key, id=name) for name in "ab"}
    for session in sessions.values():
        now = (await open_session(stored.slot, session)).now
    for name, offset, changed in changes:
        waiting = keys.slot_keys(stored.prefix, sessions[name])[-1]
        told = f'{{"app":["app:{changed}","\\"{name}\\""],"user":null,"users":[]}}'
        await cast(Any, stored.client.rpush(waiting, f"{(now + offset) * 1000} {told}"))
        await begin(stored.slot, sessions[name])
    assert (await begin(stored.slot, key)).state["app:a"] == expected


async def test_deleting_saves_shared_state(stored: Stored, key: SessionKey) -> None:
    """What a session still had to share outlives it."""
    await open_session(stored.slot, key)
    waiting = keys.slot_keys(stored.prefix, key)[-1]
    await cast(Any, stored.client.rpush(waiting, '5 {"app":["app:a","1"],"user":null,"users":[]}'))
    assert await stored.slot.delete(key)
    assert (await begin(stored.slot, key)).state == {"app:a": 1}


@pytest.fixture(scope="module")
def full() -> Iterator[str]:
    """A store whose memory can be taken away."""
    with server("--maxmemory-policy", "noeviction") as url:
        yield url


async def test_a_full_store(full: str, key: SessionKey) -> None:
    """New work is refused whole; what a worker has in hand can be given back and read."""
    async with connect(full) as client:
        slot = RedisSlot(client)
        begun = await open_session(slot, key)
        await client.config_set("maxmemory", "1")
        with pytest.raises(StoreUnavailable):
            await slot.ingest(key, Entry(id="m2", body={}))
        commit = Commit(id="c", fence=begun.fence, version=0, events=[said()], pop="m1")
        with pytest.raises(StoreUnavailable):
            await slot.commit(key, commit)
        await slot.posted(key, {})
        assert await slot.renew(key, begun.fence, lease=LONG)
        assert (await slot.release(key, begun.fence)).ours
        view = await slot.read(key)
        await client.config_set("maxmemory", "0")
        assert view is not None
        assert (view.version, view.inbox) == (0, 1)


@pytest.mark.parametrize("clustered", [False, True])
async def test_a_store_that_is_gone(key: SessionKey, clustered: bool) -> None:
    """Nobody answers: that is an error of its own, after a few tries."""
    with server() as url:
        client = connect(url, cluster=clustered)
    with pytest.raises(StoreUnavailable):
        await RedisSlot(client).ingest(key, Entry(id="m", body={}))
    await client.aclose()


async def test_a_store_behind_a_socket(tmp_path: Path, key: SessionKey) -> None:
    """A store on the same machine may be reached without a network."""
    socket = tmp_path / "store"
    with server("--unixsocket", str(socket)):
        async with connect(f"unix://{socket}") as client:
            slot = RedisSlot(client)
            assert await slot.ingest(key, Entry(id="m", body={})) == "queued"
            assert (await begin(slot, key)).head.id == "m"


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://localhost"])
@pytest.mark.parametrize("clustered", [False, True])
def test_no_address_of_a_store(url: str, clustered: bool) -> None:
    """An address of another kind is told of when a client is made."""
    with pytest.raises(ValueError, match="redis://"):
        connect(url, cluster=clustered)


async def test_a_line_that_dies_in_silence_is_no_answer(store_server: str, key: SessionKey) -> None:
    """When the system gives a connection up, a session that is there is not taken for missing."""
    async with connect(store_server) as client, connect(store_server) as other:
        slot = RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")
        await open_session(slot, key)
        (connection,) = cast(Any, client.connection_pool)._available_connections
        await other.execute_command("CLIENT", "PAUSE", "200", "ALL")
        reading = asyncio.create_task(slot.read(key))
        await asyncio.sleep(0.05)
        connection._reader.set_exception(TimeoutError(errno.ETIMEDOUT, "Connection timed out"))
        assert await reading is not None


async def test_a_wrong_command_is_no_outage(stored: Stored, key: SessionKey) -> None:
    """A mistake in a hint is shown as what it is."""
    with pytest.raises(ResponseError, match="number of arguments"):
        await stored.slot.ingest(key, Entry(id="m", body={}), index=[("SET", "x")])


ROUNDS = 200


async def test_one_of_many_deciders_wins(store_server: str, key: SessionKey) -> None:
    """Two clients decide two hundred approvals at once: each is decided once, and both know."""
    names = [f"q{n}" for n in range(ROUNDS)]
    async with connect(store_server) as one, connect(store_server) as two:
        slots = [RedisSlot(client, prefix=f"race{id(one)}:") for client in (one, two)]
        await ask(slots[0], key, *(approval(name) for name in names))

        async def decide(slot: RedisSlot, name: str, status: str) -> str:
            record = approval(name, status=status, rev=2, body={"by": status})
            entry = Entry(id=f"decided:{name}", body={})
            return (await slot.decide(key, Decide(record=record, entry=entry))).kind

        for name in names:
            answers = await asyncio.gather(
                decide(slots[0], name, "approved"), decide(slots[1], name, "rejected")
            )
            assert sorted(answers) == ["moved", "ok"]
        view = await slots[0].read(key, parts=("approvals",))
        assert view is not None
        assert view.inbox == ROUNDS
        assert {record.rev for record in view.approvals.values()} == {2}


async def test_one_of_many_holders_starts(store_server: str, key: SessionKey) -> None:
    """Two workers take a session from each other and start its call: it starts once."""
    async with connect(store_server) as one, connect(store_server) as two:
        slots = [RedisSlot(client, prefix=f"start{id(one)}:") for client in (one, two)]

        async def start(slot: RedisSlot, session: SessionKey) -> str:
            begun = await begin(slot, session)
            given = Start(fence=begun.fence, cid="1-0", step="1-0", request="q", digest="d")
            try:
                return (await slot.start_call(session, given)).kind
            except SessionConflict:
                return "conflict"

        for n in range(ROUNDS):
            session = replace(key, id=str(n))
            await ask(slots[0], session, approval(status="approved"))
            answers = await asyncio.gather(*(start(slot, session) for slot in slots))
            assert Counter(answers)["go"] == 1
            assert set(answers) <= {"go", "again", "conflict"}
