"""Slots on Redis or Valkey, one server or a cluster: each change is one script, one round trip."""

import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from agents.runtime.errors import SessionConflict, StoreUnavailable
from agents.runtime.slot import codec, keys
from agents.runtime.slot.line import TO_THE_PRIMARY
from agents.runtime.slot.port import (
    NO_POSTS,
    SIZE,
    WINDOW,
    Begun,
    Busy,
    Command,
    Commit,
    Committed,
    Decide,
    Decided,
    Entry,
    Json,
    Part,
    Record,
    Released,
    SessionKey,
    Start,
    Started,
    View,
)
from agents.runtime.slot.replicas import MARK, NONE, Replicas
from agents.runtime.slot.scripts import SCRIPTS
from agents.runtime.slot.store import Client, Store
from agents.runtime.slot.wire import speaker, text

SPEAKERS = 1024
"""Sessions whose last speaker is remembered, to fetch that person's state along with them."""

_UNSAVED = "the store's replicas do not have it yet, so nothing starts"
_CONFLICTS = {
    "fence": "the session is in other hands",
    "version": "the session has moved on",
    "pop": "the inbox has moved on",
}


def connect(
    url: str, *, connections: int = 8, cluster: bool = False, verify: bool = True
) -> Client:
    """A client as slots need it; made inside the loop that uses it, closed with `aclose()`.

    `connections` is the most it opens (per node of a cluster); who needs one more waits five
    seconds. Commands are tried again when the connection breaks, or leads to a replica, which is
    why every script may be repeated. `verify=False` accepts a self-signed certificate behind
    `rediss://`, as Heroku has it. Raises ValueError for an address of another scheme.
    """
    settings: dict[str, Any] = {
        "decode_responses": True,
        "max_connections": connections,
        "socket_timeout": 5,
        "socket_connect_timeout": 3,
    }
    if url.startswith("rediss://") and not verify:
        settings |= {"ssl_cert_reqs": "none", "ssl_check_hostname": False}
    retry = Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 5)
    if cluster:
        client: Any = RedisCluster.from_url(url, retry=retry, **settings)
        kind = TO_THE_PRIMARY[urlsplit(url).scheme]
        client.connection_kwargs["connection_class"] = kind
        for node in client.startup_nodes:
            node.connection_class = kind
        return client
    pool = cast(Any, BlockingConnectionPool).from_url(url, timeout=5, retry=retry, **settings)
    pool.connection_class = TO_THE_PRIMARY[urlsplit(url).scheme]
    return Redis.from_pool(pool)


class RedisSlot:
    """The port on a client that decodes responses; see `connect`.

    `prefix` stands before every key, `session_ttl` is in milliseconds. No body starts before the
    `replicas` know of it.
    """

    def __init__(
        self,
        redis: Client,
        *,
        prefix: str = "b:",
        session_ttl: int = keys.SESSION_TTL,
        replicas: Replicas = NONE,
    ) -> None:
        """Keep sessions behind `redis`."""
        self._replicas = replicas
        self._store = Store(redis)
        self._prefix = prefix
        self._ttl = session_ttl
        self._speakers: OrderedDict[SessionKey, str] = OrderedDict()

    async def ingest(
        self,
        key: SessionKey,
        entry: Entry,
        *,
        only_existing: bool = False,
        index: Sequence[Command] = (),
    ) -> Literal["queued", "duplicate", "missing"]:
        """Put an entry into the inbox once."""
        given = {"id": entry.id, "body": text(entry.body), "only_existing": only_existing}
        answer, *_ = await self._store.send(
            self._script("ingest", key, given), self._touch(key), *index
        )
        self._expect(key, speaker(key, entry, self._speakers.get(key)))
        return answer

    async def begin(
        self,
        key: SessionKey,
        *,
        owner: str,
        lease: int,
        window: int = WINDOW,
        size: int = SIZE,
        since: int = 0,
    ) -> Begun | Busy:
        """Take the session in hand; one more round trip when somebody unexpected speaks."""
        given = {"owner": owner, "lease": lease, "window": window, "size": size, "since": since}
        expected = self._speakers.get(key, key.user)
        answer, *states = await self._store.send(
            self._script("begin", key, given), *self._shared_state(key, expected)
        )
        match answer[0]:
            case "busy":
                return Busy(until=int(answer[1]), now=answer[2])
            case "none":
                unapplied, user = (), key.user
            case _:
                unapplied, user = answer[15], speaker(key, codec.entry(answer[6]), answer[16])
        await self._merge(key, unapplied)
        if unapplied or user != expected:
            states = await self._store.send(*self._shared_state(key, user))
        if answer[0] == "none":
            return codec.nothing_begun(answer[1], _joined([], *states), user=user)
        self._expect(key, user)
        return codec.begun(answer, _joined(answer[8], *states), user=user)

    async def commit(self, key: SessionKey, commit: Commit) -> Committed:
        """Write one step; two more round trips when it changes `app:` or `user:` state."""
        given = codec.of_commit(commit)
        answer, *_ = await self._store.send(
            self._script("commit", key, given), self._touch(key), *commit.companions.index
        )
        if answer[0] in _CONFLICTS:
            raise SessionConflict(_CONFLICTS[answer[0]])
        _, version, now, head, unapplied, owed, released = answer
        await self._merge(key, unapplied)
        return Committed(
            version=version,
            head=codec.entry(head),
            owed=owed,
            now=now,
            released=released == 1,
        )

    async def start_call(self, key: SessionKey, start: Start) -> Started:
        """Ask for leave to run a body; it is not given before the replicas have it."""
        if not await self.saved(key):
            raise StoreUnavailable(_UNSAVED)
        enough, answer = await self._started(key, start)
        if answer[0] in ("go", "again") and not enough:
            await self._take_back(key, start)
            raise StoreUnavailable(_UNSAVED)
        match answer:
            case ["fence"]:
                raise SessionConflict(_CONFLICTS["fence"])
            case ["done", result]:
                return Started(kind="done", result=codec.value(result))
            case ["refused", why]:
                return Started(kind="refused", why=why)
            case _:
                return Started(kind=answer[0])

    async def _started(self, key: SessionKey, start: Start) -> tuple[bool, Any]:
        """Write down a start, and say whether enough replicas have this very start."""
        script = self._script("start_call", key, codec.of_start(start))
        if self._replicas.count:
            return await self._replicated(key, script)
        (answer,) = await self._store.send(script)
        return True, answer

    async def saved(self, key: SessionKey, record: Record | None = None) -> bool:
        """Whether the replicas have all that was stored about a session so far.

        With an approval's `record`, the very server that counts its replicas is asked for it, since
        another one may have taken over without it. True at once where no replicas are required.
        """
        if not self._replicas.count:
            return True
        if record is None:
            return (await self._replicated(key))[0]
        look = self._script("read", key, {"only": [record.id], "from": -1})
        enough, answer = await self._replicated(key, look)
        stored = codec.view(answer, {}).approvals.get(record.id) if answer else None
        return enough and stored is not None and _holds(stored, record)

    async def _replicated(self, key: SessionKey, *scripts: Command) -> tuple[bool, Any]:
        mark = ("EVAL", MARK, 1, keys.mark(self._prefix, key))
        wait = self._replicas.awaited
        count, answer = await self._store.replicated(*scripts, mark, wait=wait)
        return count >= self._replicas.count, answer

    async def _take_back(self, key: SessionKey, start: Start) -> None:
        """Undo a start whose body did not begin, so that nobody has to find out what it did."""
        undone = replace(start, audit=start.audit and {**start.audit, "undone": True})
        await self._store.send(self._script("unstart", key, codec.of_start(undone)))

    async def decide(self, key: SessionKey, decide: Decide) -> Decided:
        """Compare and set an approval's record."""
        answer, *_ = await self._store.send(
            self._script("decide", key, codec.of_decide(decide)), *decide.index
        )
        kind, now, *fields = answer
        stored = decide.record if kind == "ok" else None
        record = codec.record(decide.record.id, fields[0]) if fields else stored
        return Decided(kind=kind, record=record, now=now)

    async def renew(self, key: SessionKey, fence: int, *, lease: int) -> bool:
        """Keep the session for longer."""
        answer, *_ = await self._store.send(
            self._script("renew", key, {"fence": fence, "lease": lease})
        )
        return answer == 1

    async def release(
        self,
        key: SessionKey,
        fence: int,
        *,
        paid: Mapping[str, str | None] = NO_POSTS,
        put_off: bool = False,
        index: Sequence[Command] = (),
    ) -> Released:
        """Give the session back."""
        given = {"fence": fence, "paid": codec.paid(paid), "put_off": put_off}
        script = self._script("release", key, given)
        answer, *told = await self._store.send(script, *index, apart=True)
        return Released(ours=answer == 1, told=tuple(told))

    async def posted(
        self, key: SessionKey, paid: Mapping[str, str | None], *, index: Sequence[Command] = ()
    ) -> None:
        """Strike posts off the outbox."""
        given = {"paid": codec.paid(paid)}
        await self._store.send(self._script("posted", key, given), *index)

    async def read(
        self,
        key: SessionKey,
        *,
        parts: Sequence[Part] = ("events", "state"),
        window: int = 0,
        user: str | None = None,
        only: Sequence[str] | None = None,
        pending: bool = False,
    ) -> View | None:
        """Look at a session."""
        given: codec.Arguments = {**dict.fromkeys(parts, True), "from": -window}
        if only is not None and "approvals" in parts:
            given |= {"approvals": False, "only": list(only), "pending": pending}
        wanted = self._shared_state(key, user or key.user) if "state" in parts else ()
        answer, *states = await self._store.send(self._script("read", key, given), *wanted)
        if not answer:
            return None
        return codec.view(answer, _joined(answer[8], *states) if states else {})

    async def list(
        self,
        *,
        app: str,
        user: str | None = None,
        tenant: str = "local",
        skip: int = 0,
        most: int = 0,
    ) -> Sequence[SessionKey]:
        """The sessions of an app, or a page of them; two round trips."""
        listed = keys.sessions(self._prefix, tenant, app)
        page = (skip, skip + most - 1, "REV") if most else (0, -1)
        (found,) = await self._store.send(("ZRANGE", listed, *page, "WITHSCORES"))
        scores = {SessionKey.parse(tag): score for tag, score in _scored(found)}
        wanted = [key for key in scores if user in (None, key.user)]
        there = await self._store.send(
            *(("EXISTS", keys.slot_keys(self._prefix, key)[0]) for key in wanted)
        )
        gone = [key for key, exists in zip(wanted, there, strict=True) if not exists]
        await self._store.send(
            *(_call("unlist", [listed], str(key), f"{scores[key]:.0f}") for key in gone)
        )
        return [key for key in wanted if key not in gone]

    async def delete(self, key: SessionKey) -> bool:
        """Forget a session."""
        listed = keys.sessions(self._prefix, key.tenant, key.app)
        answer, *_ = await self._store.send(
            self._script("delete", key, {}), ("ZREM", listed, str(key))
        )
        await self._merge(key, answer[1], stay=False)
        return answer[0] == 1

    async def apply(self, key: SessionKey, *, state: Json, create: bool = False) -> bool:
        """Create a session, or set state without a run."""
        own = {k: v for k, v in state.items() if not k.startswith(("app:", "user:"))}
        app = {k: v for k, v in state.items() if k.startswith("app:")}
        users = {k: v for k, v in state.items() if k.startswith("user:")}
        given = {
            "id": uuid.uuid4().hex,
            "create": create,
            "state": codec.flat(own),
            "shared": codec.shared(app, users, key.user),
        }
        answer, *_ = await self._store.send(self._script("apply", key, given), self._touch(key))
        await self._merge(key, answer[1])
        return answer[0] == 1

    def _expect(self, key: SessionKey, user: str) -> None:
        """Remember who is likely to speak next in a session."""
        self._speakers[key] = user
        self._speakers.move_to_end(key)
        if len(self._speakers) > SPEAKERS:
            self._speakers.popitem(last=False)

    def _script(self, name: str, key: SessionKey, given: codec.Arguments) -> Command:
        argument = codec.argument({**given, "ttl": self._ttl})
        return _call(name, keys.slot_keys(self._prefix, key), argument)

    def _touch(self, key: SessionKey) -> Command:
        listed = keys.sessions(self._prefix, key.tenant, key.app)
        return _call("touch", [listed], str(key), keys.LISTED)

    def _shared_state(self, key: SessionKey, user: str) -> Sequence[Command]:
        app, _ = keys.app_state(self._prefix, key)
        users, _ = keys.user_state(self._prefix, key, user)
        return [("HGETALL", app), ("HGETALL", users)]

    async def _merge(self, key: SessionKey, unapplied: Sequence[str], *, stay: bool = True) -> None:
        """Bring `app:` and `user:` changes to their slots, and strike them off the session's."""
        if not unapplied:
            return
        commands: list[Command] = []
        for change in unapplied:
            stamp, _, changed = change.partition(" ")
            told = codec.value(changed)
            user = told["user"] or key.user
            for pair, state in (
                (keys.app_state(self._prefix, key), told["app"]),
                (keys.user_state(self._prefix, key, user), told["users"]),
            ):
                if state:
                    marks = (str(key), stamp, keys.SESSION_TTL)
                    commands.append(_call("merge", pair, *marks, *state))
        await self._store.send(*commands)
        if stay:
            stamp = unapplied[-1].partition(" ")[0]
            await self._store.send(self._script("merged", key, {"stamp": int(stamp)}))


def _call(name: str, names: Sequence[str], *arguments: str | int) -> Command:
    return ("EVALSHA", SCRIPTS[name].sha, len(names), *names, *arguments)


def _holds(stored: Record, record: Record) -> bool:
    """Whether a record is the stored one, or an earlier form of it."""
    return stored.rev > record.rev or (
        (stored.rev, stored.status) == (record.rev, record.status)
        and _agrees(stored.body, record.body)
    )


def _agrees(one: Any, other: Any) -> bool:
    """Whether two values agree on all names that both have: one release may know more names."""
    if isinstance(one, dict) and isinstance(other, dict):
        known, told = cast("Json", one), cast("Json", other)
        return all(_agrees(known[name], told[name]) for name in known.keys() & told.keys())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pair = cast("Sequence[Any]", one), cast("Sequence[Any]", other)
        return len(pair[0]) == len(pair[1]) and all(map(_agrees, *pair))
    return one == other


def _joined(own: codec.Answer, app: Mapping[str, str], users: Mapping[str, str]) -> Json:
    parts = (dict(codec.pairs(own)), app, users)
    return {name: codec.value(kept) for part in parts for name, kept in part.items()}


def _scored(found: Sequence[Any]) -> list[tuple[str, float]]:
    return [(tag, float(score)) for tag, score in found]
