"""Every key is in the table, in its hash slot, and mortal."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.runtime.slot import keys
from agents.runtime.slot.port import (
    Commit,
    Companions,
    Decide,
    Entry,
    OpenCall,
    Post,
    SessionKey,
    Start,
)
from tests.agents.slot.conftest import Stored
from tests.agents.slot.samples import approval, begin, called, open_session, said

TABLE = {row.name: row for row in (*keys.SLOT, *keys.SHARED)}


@given(st.lists(st.text(), min_size=4, max_size=4))
def test_a_tag_tells_its_session(parts: list[str]) -> None:
    """Any texts make a tag without braces, from which they come back."""
    key = SessionKey(*parts)
    assert SessionKey.parse(str(key)) == key
    assert not set("{}|\n") & set(str(key))
    assert str(key).count(":") == 3


@pytest.mark.parametrize("text", ["", "a:b", "a:b:c:d:e"])
def test_what_is_no_tag(text: str) -> None:
    """A text with other than four parts is no tag of a session."""
    with pytest.raises(ValueError, match="unpack"):
        SessionKey.parse(text)


async def _everything(stored: Stored, key: SessionKey, *, waits: bool) -> None:
    """A session that has used every key; `waits`: with a call left open."""
    slot = stored.slot
    begun = await open_session(slot, key)
    await slot.ingest(key, Entry(id="m2", body={}))
    await slot.commit(
        key,
        Commit(
            id="a",
            fence=begun.fence,
            version=0,
            pop="m1",
            user="ann",
            events=[said(invocation="i"), called("2-0", invocation="i")],
            state={"a": 1},
            app_state={"app:a": 1},
            user_state={"user:a": 1},
            opened={"2-0": OpenCall(name="pay", kind="approval", version=2, request="q")},
            invocations={"i": {"temp": {}}},
            companions=Companions(
                approvals=[approval()],
                posts=[Post(id="p", body={}), Post(id="r", body={})],
                audit=[{"what": "asked"}],
            ),
        ),
    )
    yes = replace(approval(), status="approved", rev=2)
    await slot.decide(key, Decide(record=yes, entry=Entry(id="d", body={})))
    start = Start(fence=begun.fence, cid="2-0", step="2-0", request="q", digest="d")
    await slot.start_call(key, start)
    await slot.posted(key, {"p": "C|1"})
    if not waits:
        closing = Commit(id="b", fence=begun.fence, version=2, closed=["2-0"])
        await slot.commit(key, closing)
    await begin(slot, key)


async def _scan(stored: Stored) -> AsyncIterator[tuple[str, int, str]]:
    """Each key behind the prefix, with its time to live and its type."""
    async for found in stored.client.scan_iter(f"{stored.prefix}*"):
        name = str(found)
        yield name, await stored.client.pttl(name), str(await stored.client.type(name))


async def test_every_key_is_in_the_table(stored: Stored, key: SessionKey) -> None:
    """Name and type are those of the table; a slot's keys are in its hash slot."""
    await _everything(stored, key, waits=True)
    seen: set[str] = set()
    async for name, _, kind in _scan(stored):
        tag, _, last = name.removeprefix(f"{stored.prefix}{{").partition("}:")
        assert kind == TABLE[last].type
        own = last in {row.name for row in keys.SLOT}
        assert tag == str(key) if own else str(key).startswith(tag) or tag.endswith(":ann")
        seen.add(last)
    assert seen == TABLE.keys() - {"ps"}


async def test_every_key_is_mortal(stored: Stored, key: SessionKey) -> None:
    """Without an open call all of a session expires, and all at once."""
    await _everything(stored, key, waits=False)
    ends = {name: left async for name, left, _ in _scan(stored)}
    immortal = {name for name, left in ends.items() if left < 0}
    assert {name.rpartition(":")[2] for name in immortal} == {"as", "us"}
    assert min(left for left in ends.values() if left > 0) > keys.SESSION_TTL - 60_000
    own = [await stored.client.pexpiretime(name) for name in ends if f"{{{key}}}" in name]
    assert max(own) <= min(own) + 1_000


async def test_a_session_lives_while_somebody_is_waited_for(
    stored: Stored, key: SessionKey
) -> None:
    """With an open call nothing of a session expires."""
    await _everything(stored, key, waits=True)
    own = {left async for name, left, _ in _scan(stored) if f"{{{key}}}" in name}
    assert own == {-1}


async def _ends(stored: Stored, key: SessionKey) -> set[int]:
    """The times to live of a session's keys, in whole days."""
    times = {left async for name, left, _ in _scan(stored) if f"{{{key}}}" in name}
    return {round(left / keys.DAY) for left in times}


async def test_an_approval_can_be_looked_up_for_a_week(stored: Stored, key: SessionKey) -> None:
    """A pending approval keeps its session; a decided one until a week past its deadline."""
    begun = await open_session(stored.slot, key)
    record = approval(deadline=begun.now + 60 * keys.DAY)
    companions = Companions(approvals=[record])
    commit = Commit(id="a", fence=begun.fence, version=0, companions=companions)
    await stored.slot.commit(key, commit)
    pending = await _ends(stored, key)
    await stored.slot.decide(key, Decide(record=replace(record, status="rejected", rev=2)))
    assert (pending, await _ends(stored, key)) == ({0}, {67})


async def test_deleting_leaves_only_what_is_shared(stored: Stored, key: SessionKey) -> None:
    """No key of the session is left, and it is off the list."""
    await _everything(stored, key, waits=True)
    await stored.slot.delete(key)
    left = {name.rpartition(":")[2] async for name, _, _ in _scan(stored)}
    assert left == {"as", "am", "us", "um"}


async def test_an_expired_session_leaves_the_list(stored: Stored, key: SessionKey) -> None:
    """Who lists the sessions tidies up after those that expired."""
    await stored.slot.apply(key, state={}, create=True)
    await stored.client.delete(keys.slot_keys(stored.prefix, key)[0])
    listed = keys.sessions(stored.prefix, key.tenant, key.app)
    assert await stored.client.zcard(listed) == 1
    assert await stored.slot.list(app=key.app, tenant=key.tenant) == []
    assert await stored.client.zcard(listed) == 0


async def test_entries_are_forgotten_after_three_days(stored: Stored, key: SessionKey) -> None:
    """What was seen longer ago than that is new again, and its id is gone from the store."""
    await stored.slot.ingest(key, Entry(id="m1", body={}))
    await stored.slot.ingest(key, Entry(id="m2", body={}))
    seen = next(name for name in keys.slot_keys(stored.prefix, key) if name.endswith(":d"))
    now = (await begin(stored.slot, key)).now
    past = {"m1": now - 3 * keys.DAY - 60_000, "m2": now - 3 * keys.DAY + 60_000}
    await stored.client.zadd(seen, past)
    answers = [await stored.slot.ingest(key, Entry(id=name, body={})) for name in ("m2", "m1")]
    assert answers == ["duplicate", "queued"]
