"""What is wrong with this deployment's store, one line each; also release's check.

INFO is all that is read: CONFIG is forbidden on many hosted servers.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import AuthenticationError, RedisError
from tenacity import AsyncRetrying, RetryError, retry_if_not_exception_type, stop_after_delay
from tenacity.wait import wait_exponential

from bot import logs
from bot.errors import StoreUnavailable, StoreUnsafe

Client = Redis | RedisCluster

POOL = 8
"""The most connections that one process opens."""
OLDEST = 7
"""The first major version whose scripts may run when memory is full."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about the store: `refuse` stops the start, `warn` is only said."""

    level: Literal["refuse", "warn"]
    text: str


def findings(info: Mapping[str, Any], *, production: bool, durable: bool) -> Iterator[Finding]:
    """What INFO tells of a store; `durable` refuses one that forgets when it restarts.

    In `production` a store that may drop keys by itself is refused as well.
    """
    version = str(info.get("valkey_version") or info.get("redis_version", "0"))
    if int(version.partition(".")[0]) < OLDEST:
        yield Finding(
            "refuse", f"the store is version {version}; {OLDEST}.0 is the oldest possible"
        )
    if info.get("role", "master") != "master":
        yield Finding("refuse", "the store is a replica and takes no writes")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and info.get("maxmemory"):
        level = "refuse" if production else "warn"
        yield Finding(
            level, f"the store drops keys when full: set maxmemory-policy {policy} to noeviction"
        )
    if production and not info.get("db0"):
        yield Finding("warn", "the store is empty: it is new, or it has lost everything it had")
    yield from _persistence(info, durable=durable)
    yield from _pressure(info)


def _persistence(info: Mapping[str, Any], *, durable: bool) -> Iterator[Finding]:
    """Whether what is written is still there after a restart."""
    if info.get("aof_last_write_status", "ok") != "ok":
        yield Finding("refuse", "the store cannot write its append-only file: is its disk full?")
    if info.get("rdb_last_bgsave_status", "ok") != "ok":
        yield Finding("refuse", "the store cannot write its snapshots: is its disk full?")
    if info.get("aof_enabled"):
        return
    if info.get("rdb_saves") or info.get("connected_slaves"):
        yield Finding("warn", "the store loses what came after its last snapshot when it restarts")
        return
    level = "refuse" if durable else "warn"
    yield Finding(
        level, "the store forgets everything when it restarts: it keeps no append-only file"
    )


def _pressure(info: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the store is running out of something."""
    if info.get("evicted_keys"):
        yield Finding("warn", f"the store has dropped {info['evicted_keys']} keys by itself")
    used, limit = info.get("used_memory", 0), info.get("maxmemory", 0)
    if limit and used > limit * 0.8:
        yield Finding("warn", f"the store uses {100 * used // limit} % of its memory")
    clients, most = info.get("connected_clients", 0), info.get("maxclients", 0)
    if most and clients + POOL > most:
        yield Finding("warn", f"the store has {clients} of its {most} connections in use")


async def wait_for_store(client: Client, *, seconds: float) -> None:
    """Ask the store until it answers.

    Raises StoreUnavailable after `seconds`, or at once when it refuses the password.
    """
    try:
        async for attempt in AsyncRetrying(
            stop=stop_after_delay(seconds),
            wait=wait_exponential(multiplier=0.1, max=3),
            retry=retry_if_not_exception_type(AuthenticationError),
        ):
            with attempt:
                await client.ping()  # pyright: ignore[reportUnknownMemberType] - redis-py
    except AuthenticationError:
        raise StoreUnavailable("The store refuses the password in REDIS_URL.") from None
    except RetryError as error:
        reason = error.last_attempt.exception()
        if not isinstance(reason, RedisError | OSError):
            raise
        raise StoreUnavailable(
            f"The store of REDIS_URL does not answer ({logs.masked(str(reason))})."
        ) from reason


async def check_store(client: Client, *, production: bool, durable: bool) -> list[Finding]:
    """Look at a store that answers: log what is to be warned of, and return it.

    Raises StoreUnsafe when the store must not be used.
    """
    found = await look(client, production=production, durable=durable)
    for each in found:
        logs.warning("store.unsafe", finding=each.text)
    if refused := "; ".join(each.text for each in found if each.level == "refuse"):
        raise StoreUnsafe(f"{refused[:1].upper()}{refused[1:]}.")
    return found


async def look(client: Client, *, production: bool, durable: bool) -> list[Finding]:
    """What is wrong with a store that answers, clocks included."""
    info = await client.info()  # pyright: ignore[reportUnknownMemberType] - redis-py
    seconds, _ = await client.time()  # pyright: ignore[reportUnknownMemberType] - redis-py
    return [*findings(info, production=production, durable=durable), *_skew(seconds)]


def _skew(store_seconds: int) -> Iterator[Finding]:
    """Slack's signatures are checked by this machine's clock, deadlines by the store's."""
    apart = abs(time.time() - store_seconds)
    if apart > 5:
        yield Finding("warn", f"this machine's clock and the store's are {apart:.0f} s apart")
