"""What is wrong with this deployment's store, a line for each fault; a release is checked by it.

It reads INFO. CONFIG says more where it may be asked, which many hosted servers forbid; what only
CONFIG can tell is then said to be unknown.
"""

import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from redis.asyncio import RedisCluster
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    RedisClusterException,
    RedisError,
    ResponseError,
)
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_delay
from tenacity.wait import wait_exponential

import agents
from bot import logs
from bot.errors import StoreUnavailable, StoreUnsafe
from bot.index import Client, Index, Marker
from bot.index.hints import text_of
from bot.recall import Standing
from bot.secrets import masked
from bot.settings import Settings

OLDEST = 7
"""The first major version whose scripts may run when memory is full."""
CONFIG = ("maxmemory-policy", "save", "appendfsync")
NO_EVICTION = (
    "set maxmemory-policy to noeviction (on Heroku: heroku redis:maxmemory --policy noeviction)"
)
NEARLY_FULL, FULL = 0.8, 0.9
"""The parts of a store's memory from which on that is told, and no conversation begins any more."""
TOLD_FOR = 7 * 24 * 3600 * 1000
"""Milliseconds for which an emptied store is still reported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about the store: `refuse` stops the start, `warn` is logged, `note` is only told.

    The text is a sentence without its capital and its full stop.
    """

    level: Literal["refuse", "warn", "note"]
    text: str


@dataclass(frozen=True, slots=True)
class Demands:
    """What a deployment demands of its store.

    In `production` an empty store is reported; `durable` refuses one that forgets when it
    restarts; `connections` is how many this process may open; so many `replicas` are waited for.
    """

    production: bool = False
    durable: bool = False
    connections: int = 8
    replicas: int = 0


def demanded(settings: Settings) -> Demands:
    """What the settings demand of the store."""
    return Demands(
        production=bool(settings.dyno),
        durable=settings.require_durable_store,
        connections=settings.connections,
        replicas=settings.store_replicas,
    )


def findings(info: Mapping[str, Any], demands: Demands) -> Iterator[Finding]:
    """What INFO and, under the names of `CONFIG`, the configuration tell of a store."""
    yield from lasting(info, demands)
    if demands.production and not info.get("db0"):
        yield Finding("warn", "the store is empty: it is new, or it has lost everything it had")
    yield from _pressure(info, connections=demands.connections)


def lasting(info: Mapping[str, Any], demands: Demands) -> Iterator[Finding]:
    """Those findings that stay true until somebody changes the store."""
    version = str(info.get("valkey_version") or info.get("redis_version", "0"))
    if int(version.partition(".")[0]) < OLDEST:
        yield Finding(
            "refuse", f"the store is version {version}; {OLDEST}.0 is the oldest possible"
        )
    if info.get("role", "master") != "master":
        yield Finding("refuse", "the store is a replica and takes no writes")
    if (there := info.get("connected_slaves", 0)) < demands.replicas:
        told = f"COUNTERSIGN_STORE_REPLICAS wants {demands.replicas} and the store has {there}"
        yield Finding("warn", f"{told}: nothing is shown as decided and nothing starts")
    yield from _eviction(info)
    yield from _persistence(info, durable=demands.durable)


def forgets(info: Mapping[str, Any]) -> bool | None:
    """Whether a store writes nothing to disk; None where only its configuration could tell.

    Whether snapshots have been made so far says nothing about those to come.
    """
    if info.get("aof_enabled"):
        return False
    return not info["save"] if "save" in info else None


def _eviction(info: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the store may drop keys by itself when its memory has a limit, today or later.

    Where that is forbidden, a full store drops nothing and refuses what it is given.
    """
    policy = info.get("maxmemory_policy") or info.get("maxmemory-policy")
    if policy is None:
        told = f"whether the store drops keys when it is full is not known: {NO_EVICTION}"
        yield Finding("warn", told)
    elif policy != "noeviction":
        told = f"the store may drop approvals when it is full ({policy}): {NO_EVICTION}"
        yield Finding("refuse", told)


def _persistence(info: Mapping[str, Any], *, durable: bool) -> Iterator[Finding]:
    """Whether what is written is still there after a restart."""
    if info.get("aof_last_write_status", "ok") != "ok":
        yield Finding("refuse", "the store cannot write its append-only file: is its disk full?")
    if info.get("rdb_last_bgsave_status", "ok") != "ok":
        yield Finding("refuse", "the store cannot write its snapshots: is its disk full?")
    if info.get("aof_enabled"):
        yield from _power_loss(info.get("appendfsync"))
    elif forgets(info) and not info.get("connected_slaves"):
        told = "the store forgets everything when it restarts: it writes nothing to disk"
        yield Finding("refuse" if durable else "warn", told)
    elif forgets(info) is None:
        told = "whether the store makes snapshots is not known, for it does not tell (CONFIG)"
        yield Finding("warn", f"{told}: it may forget everything when it restarts")
    else:
        yield Finding("warn", "the store loses what came after its last snapshot when it restarts")


def _power_loss(appendfsync: str | None) -> Iterator[Finding]:
    """What a power loss takes away, even where the end of the process would take nothing."""
    match appendfsync:
        case "always":
            return
        case "no":
            told = "the store leaves to its system when to write to disk (appendfsync no)"
            yield Finding("warn", f"{told}: a power loss takes the last half minute away")
        case "everysec":
            told = (
                "a power loss, or a kill while its disk is slow, takes the store's last second away"
            )
            yield Finding("note", f"{told} (appendfsync everysec); with always nothing is lost")
        case _:
            told = "the store does not tell how often it writes to disk"
            yield Finding("note", f"{told}: with appendfsync always a power loss takes nothing")


def _pressure(info: Mapping[str, Any], *, connections: int) -> Iterator[Finding]:
    """Whether the store is running out of something, or has."""
    if info.get("evicted_keys"):
        yield Finding("warn", f"the store has dropped {info['evicted_keys']} keys by itself")
    used, limit = info.get("used_memory", 0), info.get("maxmemory", 0)
    if limit and used > limit * NEARLY_FULL:
        told = f"the store uses {100 * used // limit} % of its memory"
        full = used >= limit
        yield Finding("refuse", f"{told} and takes nothing more") if full else Finding("warn", told)
    clients, most = info.get("connected_clients", 0), info.get("maxclients", 0)
    if most:
        level = "warn" if clients + connections > most else "note"
        told = f"the store has {clients} of its {most} connections in use"
        yield Finding(level, f"{told}; this process opens {connections} at the most")


def is_full(info: Mapping[str, Any]) -> bool:
    """Whether so little memory is left that it has to be kept for what is under way."""
    used, limit = info.get("used_memory", 0), info.get("maxmemory", 0)
    return bool(limit) and used > limit * FULL


def _waited(seconds: float, state: RetryCallState) -> None:
    """Say once that the store is waited for, and for how long."""
    if state.attempt_number == 1:
        error = state.outcome and state.outcome.exception()
        logs.warning("store.unavailable", error=error, wait_s=seconds)


async def wait_for_store(client: Client, *, seconds: float) -> None:
    """Ask the store until it answers.

    Raises StoreUnavailable after `seconds`, or at once when it refuses the password or does not
    prove that it is the one.
    """
    try:
        async for attempt in AsyncRetrying(
            stop=stop_after_delay(seconds),
            wait=wait_exponential(multiplier=0.1, max=3),
            retry=retry_if_exception(_passes),
            before_sleep=partial(_waited, seconds),
            reraise=True,
        ):
            with attempt:
                await client.ping()  # pyright: ignore[reportUnknownMemberType] - redis-py
    except AuthenticationError:
        raise StoreUnavailable("The store refuses the password in REDIS_URL.") from None
    except RedisClusterException as error:
        raise StoreUnavailable(
            "REDIS_URL names a server of a cluster, and the addresses that its servers announce"
            f" cannot be reached from here ({masked(str(error))})."
        ) from error
    except (RedisError, OSError) as error:
        if doubt := _doubt(error):
            raise StoreUnavailable(
                f"The store of REDIS_URL does not prove its identity ({doubt.verify_message})"
                " and was told nothing: add ?ssl_ca_certs=FILE with its authority, or, where it"
                " signs for itself, set COUNTERSIGN_STORE_VERIFY=false."
            ) from None
        raise StoreUnavailable(
            f"The store of REDIS_URL does not answer ({masked(str(error))})."
        ) from error


def _passes(error: BaseException) -> bool:
    """Whether trying again may help; whoever is told to stop does not try again."""
    final = isinstance(error, AuthenticationError) or _doubt(error)
    return isinstance(error, Exception) and not final


def _doubt(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """The fault in the store's certificate, if that is why there is no connection."""
    while error and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


async def check_store(client: Client, demands: Demands, *, prefix: str) -> list[Finding]:
    """Look at a store that answers: log warnings, and return all that was found.

    Raises StoreUnsafe when the store must not be used.
    """
    found = await look(client, demands, prefix=prefix)
    for each in found:
        if each.level != "note":
            logs.warning("store.unsafe", finding=each.text)
    if refused := "; ".join(each.text for each in found if each.level == "refuse"):
        raise StoreUnsafe(f"{refused[:1].upper()}{refused[1:]}.")
    return found


async def look(client: Client, demands: Demands, *, prefix: str) -> list[Finding]:
    """All there is to say about a store that answers, its clock and its memory included."""
    told = await told_by(client)
    index = Index(client, prefix=prefix)
    try:
        marker, now = await index.marker(), await index.now()
    except agents.StoreUnavailable as error:
        raise StoreUnavailable(f"The store of REDIS_URL cannot be used: {error}.") from error
    return [
        *everywhere(told, partial(findings, demands=_of_one(told, demands))),
        *_skew(now // 1000),
        *_emptied(marker, now=now),
    ]


def _of_one(told: Mapping[str, Mapping[str, Any]], demands: Demands) -> Demands:
    """What is demanded of each server: one of a cluster may be empty while another is not."""
    return replace(demands, production=demands.production and not any(map(_holds, told.values())))


def _holds(info: Mapping[str, Any]) -> bool:
    return bool(info.get("db0"))


def everywhere(
    told: Mapping[str, Mapping[str, Any]], find: Callable[[Mapping[str, Any]], Iterable[Finding]]
) -> Iterator[Finding]:
    """What is found on any server, with the addresses where it is not found on all of them."""
    found: dict[Finding, list[str]] = {}
    for address, info in told.items():
        for each in find(info):
            found.setdefault(each, []).append(address)
    for each, addresses in found.items():
        where = "" if len(addresses) == len(told) else f" (on {', '.join(addresses)})"
        yield replace(each, text=f"{each.text}{where}")


async def is_in_cluster(client: Client) -> bool:
    """Whether a server shares its keys with others, so that it alone has only few of them.

    One that has all keys of its cluster is used by the address in the settings, for the address it
    announces may lead nowhere; so is one whose user may not ask.
    """
    if not (await _info(client, section="cluster")).get("cluster_enabled"):
        return False
    server: Any = client
    try:
        told = await server.execute_command("CLUSTER INFO")
    except NoPermissionError:
        return False
    return int(told["cluster_size"]) > 1


async def told_by(client: Client) -> dict[str, dict[str, Any]]:
    """INFO, and as much of `CONFIG` as may be asked, of the server or of each in a cluster."""
    if not isinstance(client, RedisCluster):
        return {"": await _told_by(client)}
    await client.initialize()
    nodes = client.get_primaries()
    return {node.name: await _told_by(client, target_nodes=node) for node in nodes}


async def _info(client: Any, **options: Any) -> Mapping[str, Any]:
    """What INFO tells; raises StoreUnavailable where it may not be asked."""
    try:
        return await client.info(**options)
    except NoPermissionError:
        raise StoreUnavailable(
            "The user in REDIS_URL may not ask the store for INFO: allow that, or name another."
        ) from None


async def _told_by(client: Any, **node: Any) -> dict[str, Any]:
    info = await _info(client, **node)
    try:
        config = await client.config_get(*CONFIG, **node)
    except ResponseError:
        return {**info}
    return {**info, **{str(text_of(name)): text_of(value) for name, value in config.items()}}


async def standing(client: Client, demands: Demands) -> Standing:
    """How a store keeps what it is given, now; raises StoreUnavailable."""
    try:
        told = await told_by(client)
    except (RedisError, OSError) as error:
        raise StoreUnavailable(f"The store does not answer ({type(error).__name__}).") from error
    lasts = everywhere(told, partial(lasting, demands=demands))
    wrong = [each for each in lasts if each.level != "note"]
    refused = any(each.level == "refuse" for each in wrong)
    forgetful = any(map(forgets, told.values()))
    return Standing(
        unsaved=forgetful or refused,
        full=any(map(is_full, told.values())),
        faults=frozenset(each.text for each in wrong),
    )


def _skew(store_seconds: int) -> Iterator[Finding]:
    """Whether the clocks are apart: this machine's checks signatures, the store's deadlines."""
    apart = abs(time.time() - store_seconds)
    if apart > 5:
        yield Finding("warn", f"this machine's clock and the store's are {apart:.0f} s apart")


def _emptied(marker: Marker | None, *, now: int) -> Iterator[Finding]:
    """Whether everything was lost recently."""
    if marker and marker.emptied and now - marker.emptied < TOLD_FOR:
        noticed = datetime.fromtimestamp(marker.emptied / 1000, UTC).isoformat(timespec="seconds")
        yield Finding("warn", f"the store was emptied, noticed at {noticed}: all before is lost")
