"""With a replica: what counts as saved, what starts without it, and what a failover keeps."""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from agents.runtime.errors import StoreUnavailable
from agents.runtime.slot.port import (
    Begun,
    Commit,
    Companions,
    Decide,
    OpenCall,
    Record,
    SessionKey,
    Start,
)
from agents.runtime.slot.redis import Client, RedisSlot, connect
from agents.runtime.slot.replicas import Replicas
from tests.agents.slot.pair import Pair, pair
from tests.agents.slot.samples import approval, begin, called, open_session
from tests.trips import trips

ONE = Replicas(1, wait=200)


@dataclass
class Linked:
    """Two stores, a slot on them that waits for the replica, and its client."""

    stores: Pair
    slot: RedisSlot
    client: Client


@pytest.fixture(scope="module", params=[False, True], ids=["single", "cluster"])
def stores(request: pytest.FixtureRequest) -> Iterator[tuple[Pair, bool]]:
    """A primary and its replica, alone or as a cluster."""
    with pair(cluster=request.param) as linked:
        yield linked, request.param


@pytest.fixture
async def linked(stores: tuple[Pair, bool]) -> AsyncIterator[Linked]:
    """The two, empty and linked, and a slot that waits for the replica."""
    stores[0].thaw()
    async with connect(stores[0].url, cluster=stores[1]) as client:
        await client.flushall()
        yield Linked(stores[0], RedisSlot(client, replicas=ONE), client)
        stores[0].thaw()


async def asked(slot: RedisSlot, key: SessionKey, *, status: str = "approved") -> Begun:
    """A session in hand with an open call that people decided about."""
    begun = await open_session(slot, key)
    opened = {"1-0": OpenCall(name="pay", kind="tool", version=1, request="q")}
    companions = Companions(approvals=[approval(status=status)])
    await slot.commit(
        key,
        Commit(
            id="c1",
            fence=begun.fence,
            version=0,
            pop="m1",
            events=[called("1-0")],
            opened=opened,
            companions=companions,
        ),
    )
    return begun


def start(begun: Begun, **changed: Any) -> Start:
    """The start of that call."""
    given = {"step": "1-0", "request": "q", "digest": "d", "audit": {"event": "started"}}
    return Start(fence=begun.fence, cid="1-0", **{**given, **changed})


async def status(slot: RedisSlot, key: SessionKey) -> str:
    """The approval's status."""
    view = await slot.read(key, parts=("approvals",))
    assert view is not None
    return view.approvals["q"].status


async def test_saved_is_what_the_replica_has(linked: Linked, key: SessionKey):
    """While the link stands still nothing more is saved, whoever asks; then all of it is."""
    stores, slot = linked.stores, linked.slot
    await open_session(slot, key)
    assert await slot.saved(key)
    stores.freeze()
    await begin(slot, key)
    assert [await slot.saved(key) for _ in range(2)] == [False, False]
    stores.thaw()
    assert await slot.saved(key)


async def test_a_fresh_connection_claims_no_more(stores: tuple[Pair, bool], key: SessionKey):
    """WAIT counts what its own connection wrote, so there is a write before each."""
    stores[0].freeze()
    async with connect(stores[0].url, cluster=stores[1]) as client:
        await client.set("b:{x}:y", 1)
    async with connect(stores[0].url, cluster=stores[1]) as client:
        assert not await RedisSlot(client, replicas=ONE).saved(key)
    stores[0].thaw()


async def test_without_the_setting_nobody_waits(linked: Linked, key: SessionKey):
    """No command is sent, and starts go on with a replica that stands still."""
    client = linked.client
    linked.stores.freeze()
    await client.config_resetstat()
    slot = RedisSlot(client)
    assert await slot.saved(key)
    assert (await slot.start_call(key, start(await asked(slot, key)))).kind == "go"
    assert "cmdstat_wait" not in await client.info("commandstats")


async def test_nothing_starts_while_the_replica_hears_nothing(linked: Linked, key: SessionKey):
    """The journal and the approval are as before; once the link is back the call starts."""
    stores, slot = linked.stores, linked.slot
    begun = await asked(slot, key)
    stores.freeze()
    with pytest.raises(StoreUnavailable, match="nothing starts"):
        await slot.start_call(key, start(begun))
    assert await status(slot, key) == "approved"
    assert not (await begin(slot, key)).started
    stores.thaw()
    assert (await slot.start_call(key, start(await begin(slot, key)))).kind == "go"


class Unlucky(RedisSlot):
    """A slot whose link freezes right after the first look at it."""

    stores: Pair

    async def saved(self, key: SessionKey) -> bool:
        """As the link is before it freezes."""
        found = await super().saved(key)
        self.stores.freeze()
        return found


async def test_a_start_that_is_not_saved_is_taken_back(linked: Linked, key: SessionKey):
    """The body was not entered, so it is not unknown what it did; the audit tells both."""
    stores, slot = linked.stores, linked.slot
    unlucky = Unlucky(linked.client, replicas=ONE)
    unlucky.stores = stores
    begun = await asked(slot, key)
    with pytest.raises(StoreUnavailable, match="nothing starts"):
        await unlucky.start_call(key, start(begun))
    stores.thaw()
    assert await status(slot, key) == "approved"
    again = await begin(slot, key)
    assert not again.started
    assert (await slot.start_call(key, start(again))).kind == "go"
    view = await slot.read(key, parts=("audit",))
    assert view is not None
    told, before = [], ""
    for entry, digest in view.audit:
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        before = hashlib.sha256(f"{before}{text}".encode()).hexdigest()
        assert digest == before
        told.append(entry)
    undone = {"event": "started", "undone": True}
    assert told == [{"event": "started"}, undone, {"event": "started"}]


async def test_a_body_that_was_entered_before_is_not_taken_back(linked: Linked, key: SessionKey):
    """Another worker began it: it may have happened, whatever the replica has."""
    stores, slot = linked.stores, linked.slot
    unlucky = Unlucky(linked.client, replicas=ONE)
    unlucky.stores = stores
    assert (await slot.start_call(key, start(await asked(slot, key)))).kind == "go"
    with pytest.raises(StoreUnavailable):
        await unlucky.start_call(key, start(await begin(slot, key)))
    stores.thaw()
    assert (await begin(slot, key)).started == {"1-0"}


@pytest.mark.parametrize(
    ("kept", "claimed", "has"),
    [
        pytest.param(approval(status="approved", rev=2), {}, True, id="this very one"),
        pytest.param(approval(status="pending", rev=1), {}, False, id="it is lost"),
        pytest.param(approval(status="rejected", rev=2), {}, False, id="another decision"),
        pytest.param(approval(status="started", rev=3), {}, True, id="it went on from there"),
        pytest.param(approval(status="approved", rev=2), {"by": "mia"}, True, id="a newer release"),
        pytest.param(
            approval(status="approved", rev=2, body={"by": "max"}),
            {"by": "mia"},
            False,
            id="by another person",
        ),
        pytest.param(
            approval(status="approved", rev=2, body={"votes": [{"who": "mia"}], "of": {"n": 1}}),
            {"votes": [{"who": "mia", "counts": True}], "of": {"n": 1, "people": 0}},
            True,
            id="an older release, with less inside",
        ),
        pytest.param(
            approval(status="approved", rev=2, body={"votes": [{"who": "mia"}]}),
            {"votes": [{"who": "max", "counts": True}]},
            False,
            id="an older release, and another vote",
        ),
        pytest.param(
            approval(status="approved", rev=2, body={"votes": [{"who": "mia"}]}),
            {"votes": []},
            False,
            id="an older release, and a vote less",
        ),
        pytest.param(approval("other", status="approved", rev=2), {}, False, id="it is gone"),
    ],
)
async def test_a_decision_is_saved_where_it_is_read(
    linked: Linked, key: SessionKey, kept: Record, claimed: dict[str, Any], has: bool
):
    """The server whose replicas are counted is the one that has the record."""
    slot = linked.slot
    begun = await open_session(slot, key)
    companions = Companions(approvals=[kept])
    await slot.commit(key, Commit(id="c1", fence=begun.fence, version=0, companions=companions))
    known = approval(status="approved", rev=2, body={**approval().body, **claimed})
    assert await slot.saved(key)
    assert await slot.saved(key, known) == has
    linked.stores.freeze()
    assert not await slot.saved(key, known)


async def test_a_decision_that_a_failover_lost_is_not_saved(key: SessionKey):
    """Though who took over has a replica, and that has all of it."""
    with pair() as stores:
        decided = approval(status="approved", rev=2)
        async with connect(stores.url) as client:
            slot = RedisSlot(client, replicas=ONE)
            await asked(slot, key, status="pending")
            assert await slot.saved(key)
            stores.part()
            assert (await slot.decide(key, Decide(record=decided))).kind == "ok"
            stores.follow()
        async with connect(stores.replica) as client:
            slot = RedisSlot(client, replicas=ONE)
            assert await slot.saved(key)
            assert not await slot.saved(key, decided)
            assert (await slot.decide(key, Decide(record=decided))).kind == "ok"
            assert await slot.saved(key, decided)


async def test_a_proof_is_one_round_trip(linked: Linked, key: SessionKey):
    """The record is read on the way to the replicas, and nobody asks where there are to be none."""
    await asked(linked.slot, key)
    known = approval(status="approved")
    for slot, most in ((linked.slot, 1), (RedisSlot(linked.client), 0)):
        assert await slot.saved(key, known)
        assert await trips(partial(slot.saved, key, known)) == most


async def test_a_failover_keeps_what_was_saved(key: SessionKey):
    """A saved decision is there on the new primary; one that was not saved is open again."""
    with pair() as stores:
        async with connect(stores.url) as client:
            slot = RedisSlot(client, replicas=ONE)
            other = SessionKey("helper", "thread", "C1:18.1", "T1")
            for each in (key, other):
                await asked(slot, each, status="pending")
            assert await slot.saved(other)
            decided = replace(approval(status="approved", rev=2))
            assert (await slot.decide(key, Decide(record=decided))).kind == "ok"
            assert await slot.saved(key)
            stores.part()
            assert (await slot.decide(other, Decide(record=decided))).kind == "ok"
            assert not await slot.saved(other)
        async with connect(stores.replica) as client:
            slot = RedisSlot(client)
            assert [await status(slot, each) for each in (key, other)] == ["approved", "pending"]
