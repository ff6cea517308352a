"""What is wrong with a store, from what its INFO and its configuration say."""

import asyncio
import logging

import pytest
from redis.asyncio import Redis

from agents.runtime.slot.redis import connect
from bot.errors import StoreUnavailable, StoreUnsafe
from bot.index import Index
from bot.storage import (
    Demands,
    check_store,
    everywhere,
    findings,
    forgets,
    is_full,
    is_in_cluster,
    look,
    told_by,
    wait_for_store,
)
from tests.agents.slot.servers import server
from tests.conftest import unused_port

GOOD = {
    "redis_version": "7.2.4",
    "role": "master",
    "db0": {"keys": 3},
    "maxmemory": 50_000_000,
    "maxmemory_policy": "noeviction",
    "used_memory": 1_000_000,
    "aof_enabled": 1,
    "aof_last_write_status": "ok",
    "rdb_last_bgsave_status": "ok",
    "evicted_keys": 0,
    "appendfsync": "always",
}
ANYWHERE = Demands()
DYNO = Demands(production=True)
STRICT = Demands(production=True, durable=True)


@pytest.mark.parametrize(
    ("changes", "demands", "expected"),
    [
        pytest.param({}, STRICT, [], id="a good store is not spoken of"),
        pytest.param({"redis_version": "6.2.6"}, ANYWHERE, ["refuse"], id="too old"),
        pytest.param({"valkey_version": "9.1.2"}, STRICT, [], id="valkey"),
        pytest.param({"role": "slave"}, ANYWHERE, ["refuse"], id="a replica"),
        pytest.param({"maxmemory_policy": "allkeys-lru"}, DYNO, ["refuse"], id="evicts on a dyno"),
        pytest.param({"maxmemory_policy": "volatile-lru"}, ANYWHERE, ["refuse"], id="elsewhere"),
        pytest.param(
            {"maxmemory_policy": "volatile-ttl", "maxmemory": 0},
            ANYWHERE,
            ["refuse"],
            id="would evict, were there a limit",
        ),
        pytest.param({"maxmemory_policy": None}, ANYWHERE, ["warn"], id="eviction is not known"),
        pytest.param(
            {"maxmemory_policy": None, "maxmemory-policy": "noeviction"},
            ANYWHERE,
            [],
            id="only CONFIG tells of eviction",
        ),
        pytest.param({"aof_enabled": 0, "save": ""}, DYNO, ["warn"], id="forgets"),
        pytest.param({"aof_enabled": 0, "save": ""}, STRICT, ["refuse"], id="forgets and must not"),
        pytest.param({"aof_enabled": 0, "rdb_saves": 3}, STRICT, ["warn"], id="one was made"),
        pytest.param({"aof_enabled": 0, "rdb_saves": 0}, STRICT, ["warn"], id="none was made yet"),
        pytest.param(
            {"aof_enabled": 0, "rdb_saves": 0, "save": "3600 1"},
            STRICT,
            ["warn"],
            id="snapshots to come",
        ),
        pytest.param(
            {"aof_enabled": 0, "rdb_saves": 3, "save": ""},
            STRICT,
            ["refuse"],
            id="snapshots no more",
        ),
        pytest.param(
            {"aof_enabled": 0, "connected_slaves": 1}, STRICT, ["warn"], id="a replica remembers"
        ),
        pytest.param({"appendfsync": "everysec"}, STRICT, ["note"], id="once a second"),
        pytest.param({"appendfsync": "no"}, STRICT, ["warn"], id="whenever the system likes"),
        pytest.param({"appendfsync": None}, STRICT, ["note"], id="nobody knows how often"),
        pytest.param({"aof_last_write_status": "err"}, ANYWHERE, ["refuse"], id="its disk is full"),
        pytest.param({"rdb_last_bgsave_status": "err"}, ANYWHERE, ["refuse"], id="no snapshot"),
        pytest.param({"evicted_keys": 4}, ANYWHERE, ["warn"], id="has dropped keys"),
        pytest.param({"used_memory": 45_000_000}, DYNO, ["warn"], id="nearly full"),
        pytest.param({"used_memory": 49_999_999}, DYNO, ["warn"], id="all but full"),
        pytest.param({"used_memory": 50_000_000}, DYNO, ["refuse"], id="full"),
        pytest.param({"used_memory": 52_000_000}, DYNO, ["refuse"], id="more than full"),
        pytest.param(
            {"connected_clients": 15, "maxclients": 20}, DYNO, ["warn"], id="no room for us"
        ),
        pytest.param({"connected_clients": 12, "maxclients": 20}, DYNO, ["note"], id="room for us"),
        pytest.param({}, Demands(replicas=1), ["warn"], id="no replica to wait for"),
        pytest.param({"connected_slaves": 1}, Demands(replicas=1), [], id="a replica to wait for"),
        pytest.param({"db0": None}, DYNO, ["warn"], id="empty"),
        pytest.param({"db0": None}, ANYWHERE, [], id="empty, as a new one is"),
    ],
)
def test_findings(changes, demands, expected):
    """Each finding of the table refuses, warns or notes as the store's promises require."""
    found = findings({**GOOD, **changes}, demands)
    assert [each.level for each in found] == expected


async def test_a_real_store_is_looked_at(store_url, caplog):
    """The check reads a real server's INFO, and what is wrong is logged and returned."""
    async with Redis.from_url(store_url) as client:
        with caplog.at_level(logging.WARNING, logger="countersign"):
            found = await check_store(client, DYNO, prefix="b:")
    assert [each.text for each in found if each.level != "note"] == [
        record.fields["finding"] for record in caplog.records if record.msg == "store.unsafe"
    ]


BAD = {"maxmemory_policy": "allkeys-lru"}


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        pytest.param([{}, {}, {}], None, id="nothing is wrong"),
        pytest.param([BAD, {}, {}], "(on a)", id="the first"),
        pytest.param([{}, BAD, {}], "(on b)", id="another one"),
        pytest.param([{}, BAD, BAD], "(on b, c)", id="two of them"),
        pytest.param([BAD, BAD, BAD], "noeviction)", id="all of them"),
        pytest.param([BAD], "noeviction)", id="the only one"),
    ],
)
def test_what_is_found_of_each_server(changes, where):
    """No server of a cluster is passed over, and each fault is told once with its place."""
    told = {name: {**GOOD, **change} for name, change in zip("abc", changes, strict=False)}
    found = list(everywhere(told, lambda info: findings(info, ANYWHERE)))
    assert [each.level for each in found] == ([] if where is None else ["refuse"])
    assert all(each.text.endswith(where) for each in found)


@pytest.mark.parametrize("made", [0, 1])
def test_what_only_the_configuration_could_tell(made: int):
    """Whether snapshots are made is said to be unknown, however many there were."""
    info = {**GOOD, "aof_enabled": 0, "rdb_saves": made}
    assert forgets(info) is None
    assert ["not known" in each.text for each in findings(info, STRICT)] == [True]


@pytest.mark.parametrize("command", ["info", "time"])
async def test_a_user_who_may_not_ask(command: str):
    """What the store's user is not allowed is one sentence for the operator."""
    with server() as url:
        async with connect(url) as client:
            rules = ("on", ">pw", "~*", "&*", "+@all", f"-{command}")
            await client.execute_command("ACL", "SETUSER", "bot", *rules)
        async with connect(url.replace("redis://", "redis://bot:pw@")) as client:
            with pytest.raises(StoreUnavailable, match="REDIS_URL"):
                await look(client, ANYWHERE, prefix="b:")


@pytest.mark.parametrize(
    ("options", "remembers"),
    [
        pytest.param(["--appendonly", "yes"], True, id="an append-only file"),
        pytest.param(["--save", "3600 1"], True, id="snapshots, none made yet"),
        pytest.param([], False, id="neither"),
    ],
)
async def test_a_real_store_tells_whether_it_writes_to_disk(options, remembers):
    """What CONFIG says of snapshots counts before the first one is made."""
    with server(*options) as url:
        async with Redis.from_url(url) as client:
            [told] = (await told_by(client)).values()
    assert forgets(told) is not remembers


async def test_a_store_that_forbids_config_is_asked_all_the_same():
    """Where CONFIG is forbidden, INFO is what is known: eviction is, how often it syncs is not."""
    with server("--appendonly", "yes", "--rename-command", "CONFIG", "") as url:
        async with connect(url) as client:
            found = await check_store(client, STRICT, prefix="b:")
    assert [each.text.partition(":")[0] for each in found if "disk" in each.text] == [
        "the store does not tell how often it writes to disk"
    ]
    assert not any("maxmemory" in each.text for each in found)


@pytest.mark.parametrize(
    "policy", ["allkeys-lru", "volatile-lru", "volatile-ttl", "allkeys-random"]
)
async def test_a_store_that_may_drop_approvals_is_refused(policy):
    """Whether or not there is a limit of memory today; the sentence says what to do."""
    with server("--maxmemory-policy", policy) as url:
        async with connect(url) as client:
            todo = r"heroku redis:maxmemory --policy noeviction"
            with pytest.raises(StoreUnsafe, match=rf"drop approvals.*{policy}.*{todo}"):
                await check_store(client, ANYWHERE, prefix="b:")


async def test_a_store_that_forgets_is_refused_on_request(store_url):
    """With `durable`, a server that keeps nothing stops the start with one sentence."""
    async with Redis.from_url(store_url) as client:
        await client.config_set("appendonly", "no")
        with pytest.raises(StoreUnsafe, match=r"^The store forgets everything.*\.$"):
            await check_store(client, STRICT, prefix="b:")


async def test_that_a_store_was_emptied_is_told(store_url):
    """Whoever remembers another mark makes a note of it in the store, and the doctor reads it."""
    async with connect(store_url) as client:
        index = Index(client)
        seen = await index.mark(None)
        assert not any("emptied" in each.text for each in await look(client, DYNO, prefix="b:"))
        await client.flushall()
        await index.mark(seen.since)
        told = [
            each.level for each in await look(client, DYNO, prefix="b:") if "emptied" in each.text
        ]
    assert told == ["warn"]


async def test_a_store_that_is_not_there(free_port, caplog):
    """Waiting for one that never answers is said once, and ends with a sentence about REDIS_URL."""
    async with Redis.from_url(f"redis://127.0.0.1:{free_port}/0") as client:
        with pytest.raises(StoreUnavailable, match="REDIS_URL does not answer"):
            await wait_for_store(client, seconds=0.3)
    assert [each.message for each in caplog.records] == ["store.unavailable"]


@pytest.mark.parametrize("wait", [0.0, 0.05, 0.3])
async def test_who_waits_for_a_store_can_be_told_to_stop(free_port, wait: float):
    """Once is enough, whether it asks just then or pauses."""
    async with Redis.from_url(f"redis://127.0.0.1:{free_port}/0") as client:
        waiting = asyncio.create_task(wait_for_store(client, seconds=3_600))
        await asyncio.sleep(wait)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_store_that_is_full_of_connections_is_waited_for():
    """Those of the release before are still there at a deploy; when one goes there is room."""
    with server("--maxclients", "2") as url:
        others = [await Redis.from_url(url).client() for _ in range(2)]
        for other in others:
            await other.ping()
        async with connect(url, connections=1) as client:
            waiting = asyncio.create_task(wait_for_store(client, seconds=10))
            with pytest.raises(StoreUnavailable, match="max number of clients"):
                async with connect(url, connections=1) as hasty:
                    await wait_for_store(hasty, seconds=0.1)
            assert not waiting.done()
            for other in others:
                await other.aclose()
                await other.connection_pool.disconnect()
            await waiting


ELSEWHERE = ("--cluster-announce-ip", "10.255.255.1", "--cluster-announce-port", "6379")


async def test_a_cluster_of_one_is_asked_where_it_was_named():
    """What it calls itself may be an address of another network; it has all keys itself."""
    with server(*ELSEWHERE, cluster=True) as url:
        async with connect(url) as client:
            assert await is_in_cluster(client) is False


async def test_a_cluster_that_cannot_be_reached():
    """The operator hears in a sentence that it is the servers' own addresses that lead nowhere."""
    client = connect(f"redis://127.0.0.1:{unused_port()}", cluster=True)
    with pytest.raises(StoreUnavailable, match="that its servers announce"):
        await wait_for_store(client, seconds=0.2)
    await client.aclose()


@pytest.mark.parametrize(
    ("used", "limit", "full"),
    [(89, 100, False), (90, 100, False), (91, 100, True), (100, 100, True), (91, 0, False)],
)
def test_when_no_conversation_begins_any_more(used: int, limit: int, full: bool):
    """A tenth of the memory is kept for what is under way; without a limit there is enough."""
    assert is_full({"used_memory": used, "maxmemory": limit}) is full
