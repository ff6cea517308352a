"""What is wrong with a store, from what its INFO says."""

import logging

import pytest
from redis.asyncio import Redis

from bot.doctor import check_store, findings, wait_for_store
from bot.errors import StoreUnavailable, StoreUnsafe

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
}


@pytest.mark.parametrize(
    ("changes", "production", "durable", "expected"),
    [
        pytest.param({}, True, True, [], id="a good store is not spoken of"),
        pytest.param({"redis_version": "6.2.6"}, False, False, ["refuse"], id="too old"),
        pytest.param(
            {"redis_version": "7.2.4", "valkey_version": "9.1.2"}, True, True, [], id="valkey"
        ),
        pytest.param({"role": "slave"}, False, False, ["refuse"], id="a replica"),
        pytest.param(
            {"maxmemory_policy": "allkeys-lru"}, True, False, ["refuse"], id="evicts in production"
        ),
        pytest.param(
            {"maxmemory_policy": "volatile-lru"}, False, False, ["warn"], id="evicts elsewhere"
        ),
        pytest.param(
            {"maxmemory_policy": "allkeys-lru", "maxmemory": 0},
            True,
            False,
            [],
            id="evicts never without a limit",
        ),
        pytest.param({"aof_enabled": 0}, True, False, ["warn"], id="forgets"),
        pytest.param({"aof_enabled": 0}, True, True, ["refuse"], id="forgets and must not"),
        pytest.param({"aof_enabled": 0, "rdb_saves": 3}, True, True, ["warn"], id="snapshots only"),
        pytest.param(
            {"aof_last_write_status": "err"}, False, False, ["refuse"], id="its disk is full"
        ),
        pytest.param({"rdb_last_bgsave_status": "err"}, False, False, ["refuse"], id="no snapshot"),
        pytest.param({"evicted_keys": 4}, False, False, ["warn"], id="has dropped keys"),
        pytest.param({"used_memory": 45_000_000}, True, False, ["warn"], id="nearly full"),
        pytest.param(
            {"connected_clients": 15, "maxclients": 20}, True, False, ["warn"], id="no room for us"
        ),
        pytest.param({"db0": None}, True, False, ["warn"], id="empty"),
        pytest.param({"db0": None}, False, False, [], id="empty, as a new one is"),
    ],
)
def test_findings(changes, production, durable, expected):
    """Each finding of the table refuses or warns as the store's promises require."""
    found = findings({**GOOD, **changes}, production=production, durable=durable)
    assert [each.level for each in found] == expected


async def test_a_real_store_is_looked_at(store_url, caplog):
    """The check reads a real server's INFO, and what is wrong is logged and returned."""
    async with Redis.from_url(store_url) as client:
        with caplog.at_level(logging.WARNING, logger="countersign"):
            found = await check_store(client, production=True, durable=False)
    assert [each.text for each in found] == [
        record.fields["finding"] for record in caplog.records if record.msg == "store.unsafe"
    ]


async def test_a_store_that_forgets_is_refused_on_request(store_url):
    """With `durable`, a server that keeps nothing stops the start with one sentence."""
    async with Redis.from_url(store_url) as client:
        await client.config_set("appendonly", "no")
        with pytest.raises(StoreUnsafe, match=r"^The store forgets everything.*\.$"):
            await check_store(client, production=True, durable=True)


async def test_a_store_that_is_not_there(free_port):
    """Waiting for a store that never answers ends with a sentence about REDIS_URL."""
    async with Redis.from_url(f"redis://127.0.0.1:{free_port}/0") as client:
        with pytest.raises(StoreUnavailable, match="REDIS_URL does not answer"):
            await wait_for_store(client, seconds=0.3)
