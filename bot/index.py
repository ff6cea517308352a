"""What is due when, and a few marks: every key outside sessions.

All of it is hints. The truth is in the sessions, so what is lost here is found again by whoever
walks through them; what is here too much is looked at once and struck off. Bots of several
tenants may share a store: each has hints of its own and never sees another one's.

`<t>` is the tenant.

| key | type | what is in it | lifetime |
|---|---|---|---|
| `{due:<t>}:ready` | zset | session -> when to look at it (ms, 0 means now) | while it is due |
| `{due:<t>}:wake` | list | at most 32 tokens that end a wait early | a minute |
| `{due:<t>}:seen` | zset | `session|approval` -> when it was asked, open ones ahead | a month |
| `{mine:<t>:<name>}:appr` | zset | the same, of those that concern a person or group | a month |
| `{due:<t>}:home` | zset | person -> when they opened their Home last (ms) | a month |
| `{due:<t>}:audit` | zset | session -> when people were asked last (ms) | while it is there |
| `{due:<t>}:anchors` | hash | date -> the audit's anchor of that day as JSON | the last 400 |
| `{due:<t>}:appr` | zset | `session|approval` -> when to look at it (ms) | while it is open |
| `{due:<t>}:until` | zset | `method:channel` -> when Slack wants such a call again (ms) | a day |
| `{boot}:marker` | hash | since when the store remembers, when found emptied (ms) | always |
| `{due:<t>}:dead` | zset | session -> when a turn of it was given up (ms) | 90 days |
| `{due:<t>}:tick` | zset | `session|call` -> when to look at its ticket | while it waits |
| `{spent:<t>:<person>}:tokens` | string | tokens a person used up today | until midnight |
| `{dm:<t>:<channel>}:agent` | string | which agent answered last in a DM | 90 days |
| `{note:<t>:<hash>}:told` | string | an answer to a click was given | an hour |
| `{aside:<session>}:said` | zset | what was said in a thread of nobody's yet, by ts | 10 minutes |
"""

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisError

from agents import SessionKey, StoreUnavailable
from bot import logs
from bot.lua import CLAIM, DONE, HOLD, LATER, MARK, NOTE, RING

Client = Redis | RedisCluster
Command = tuple[str | int | float, ...]

NOW = 0
TOKENS = 32
TOKENS_LIVE = 60
MARK_LIVES = 90 * 24 * 3600
DAY = 24 * 3600 * 1000
SEEN = 10_000
MINE = 1_000
HOMES = 10_000
OPEN = 10**14
"""Milliseconds before which an open approval is put, ahead of every closed one: oldest first."""
DEAD = 1_000
SEEN_LIVES = 30 * 24 * 3600
ANCHORS = 400
NOTE_LIVES = 3600
ASIDE = 100
ASIDE_LIVES = 600
"""Seconds until words set aside are forgotten: Slack brings a mention for six minutes."""
CLAIM_DUE = 60_000
"""Milliseconds until a claimed approval is looked at again, unless it is struck off."""


@dataclass(frozen=True, slots=True)
class Marker:
    """Since when a store remembers (ms of its clock; 0: unknown), and when it was found emptied.

    `emptied` is 0 for never, `news` says that nobody had found it before.
    """

    since: int
    emptied: int = 0
    news: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A session that this process looks at; `until` is the moment at which others may."""

    key: SessionKey
    until: str


class Index:
    """Reads and changes the hints. Raises StoreUnavailable when the store does not answer."""

    def __init__(self, redis: Client, *, prefix: str = "b:", tenant: str = "local") -> None:
        """Keep the connection; `prefix` is that of all keys, `tenant` whose hints these are."""
        self._redis: Any = redis
        self._prefix = prefix
        self._tenant = quote(tenant, safe="")
        due = f"{prefix}{{due:{self._tenant}}}"
        self._boot = f"{prefix}{{boot}}:marker"
        self._ready = f"{due}:ready"
        self._wake = f"{due}:wake"
        self._until = f"{due}:until"
        self._waits: dict[str, float] = {}
        self._seen = f"{due}:seen"
        self._homes = f"{due}:home"
        self._dead = f"{due}:dead"
        self._audit = f"{due}:audit"
        self._anchors = f"{due}:anchors"
        self._approvals = f"{due}:appr"
        self._tickets = f"{due}:tick"

    def ring(self, key: SessionKey) -> Sequence[Command]:
        """The commands that make a session due now."""
        return (("EVAL", RING, 2, self._ready, self._wake, NOW, str(key), TOKENS, TOKENS_LIVE),)

    def approval_due(self, key: SessionKey, approval: str, at: int) -> Sequence[Command]:
        """The commands that have an approval looked at, at a moment of the store's clock (ms)."""
        return (("ZADD", self._approvals, at, f"{key}|{approval}"),)

    def approval_listed(
        self, key: SessionKey, approval: str, at: int, *, names: Iterable[str], is_open: bool
    ) -> Sequence[Command]:
        """The commands that have an approval of some moment found, by those it concerns as well."""
        member, score = f"{key}|{approval}", OPEN - at if is_open else at
        lists = [(self._seen, SEEN), *((self._mine(name), MINE) for name in names)]
        found = [_first(each, member, score, most=most) for each, most in lists]
        audited = ("ZADD", self._audit, "GT", at, str(key))
        return (audited, *(command for one in found for command in one))

    def home_opened(self, person: str) -> Sequence[Command]:
        """The commands that remember who looked at their Home."""
        return (
            ("EVAL", NOTE, 1, self._homes, person),
            ("ZREMRANGEBYRANK", self._homes, 0, -HOMES - 1),
            ("EXPIRE", self._homes, SEEN_LIVES),
        )

    async def with_home(self, people: Sequence[str]) -> list[str]:
        """Those of the people who looked at their Home."""
        found = await self.send([("ZSCORE", self._homes, person) for person in people])
        return [person for person, at in zip(people, found, strict=True) if at is not None]

    async def audited(self) -> list[SessionKey]:
        """The sessions that have an audit, or had one."""
        [found] = await self.send((("ZRANGE", self._audit, 0, -1),))
        return [key for key, _ in (await self._read(self._audit, found)).values()]

    async def anchors(self) -> list[str]:
        """The anchors of the audit as JSON, oldest first."""
        [found] = await self.send((("HGETALL", self._anchors),))
        kept = {_text(day): _text(anchor) or "" for day, anchor in found.items()}
        return [kept[day] for day in sorted(kept, key=str)]

    async def anchor(self, day: str) -> str | None:
        """The anchor of a day as JSON, if there is one."""
        return _text((await self.send((("HGET", self._anchors, day),)))[0])

    async def now(self) -> int:
        """The store's time in milliseconds."""
        [(seconds, micros)] = await self.send((("TIME",),))
        return int(seconds) * 1000 + int(micros) // 1000

    async def marker(self) -> Marker | None:
        """Since when the store remembers; None when nobody has marked it."""
        [found] = await self.send((("HMGET", self._boot, "since", "emptied"),))
        since, emptied = map(_text, found)
        return Marker(int(since), int(emptied or 0)) if since else None

    async def mark(self, known: int | None, *, lost: bool = False) -> Marker:
        """Mark the store unless it is; `known` is the `since` this process has seen before.

        `lost` says that something is gone which it once remembered.
        """
        given = ("" if known is None else known, int(lost))
        [found] = await self.send((("EVAL", MARK, 1, self._boot, *given),))
        since, emptied, news = found
        return Marker(int(since), int(emptied), news=bool(int(news)))

    async def keep_anchor(self, day: str, anchor: str) -> str:
        """Keep the anchor of a day unless there is one; the one that is kept."""
        _, kept, days = await self.send(
            (
                ("HSETNX", self._anchors, day, anchor),
                ("HGET", self._anchors, day),
                ("HKEYS", self._anchors),
            )
        )
        old = sorted(_text(each) or "" for each in days)[:-ANCHORS]
        await self.send([("HDEL", self._anchors, *old)] if old else [])
        return _text(kept) or anchor

    async def recent(self, most: int) -> list[tuple[SessionKey, str]]:
        """Some approvals, session and id: the open ones, oldest first, then the newest others."""
        [found] = await self.send((("ZREVRANGE", self._seen, 0, most - 1),))
        return list((await self._read(self._seen, found)).values())

    async def concerning(self, names: Sequence[str], most: int) -> list[tuple[SessionKey, str]]:
        """The same of those that concern one of the names, so many of each."""
        keys = [self._mine(name) for name in names]
        found = await self.send([("ZREVRANGE", key, 0, most - 1) for key in keys])
        read = [await self._read(key, each) for key, each in zip(keys, found, strict=True)]
        return list(dict.fromkeys(each for one in read for each in one.values()))

    def buried(self, key: SessionKey) -> Sequence[Command]:
        """The commands that note for operators that a turn of a session was given up."""
        return (
            ("EVAL", NOTE, 1, self._dead, str(key)),
            ("ZREMRANGEBYRANK", self._dead, 0, -DEAD - 1),
            ("EXPIRE", self._dead, MARK_LIVES),
        )

    def raised(self, key: SessionKey) -> Sequence[Command]:
        """The commands that forget that a turn of a session was given up."""
        return (("ZREM", self._dead, str(key)),)

    async def hold_off(self, method: str, channel: str, *, seconds: float) -> None:
        """Have no process make a call of Slack's in a channel for so long."""
        call = f"{method}:{channel}"
        self._waits[call] = time.monotonic() + seconds
        await self.send((("EVAL", HOLD, 1, self._until, call, int(seconds * 1000), DAY),))

    def held_off(self, method: str, channel: str) -> float:
        """Seconds until a call of Slack's may be made in a channel; 0 when it may.

        As far as this process was told with its last claim.
        """
        return max(0.0, self._waits.get(f"{method}:{channel}", 0.0) - time.monotonic())

    async def first(self, what: str) -> bool:
        """Whether nobody has said so within the hour; of several at once one is the first."""
        name = hashlib.sha256(what.encode()).hexdigest()[:32]
        key = f"{self._prefix}{{note:{self._tenant}:{name}}}:told"
        [made] = await self.send((("SET", key, 1, "NX", "EX", NOTE_LIVES),))
        return bool(made)

    async def dead(self) -> list[tuple[SessionKey, int]]:
        """The sessions in which a turn was given up, and when (ms), oldest first."""
        [found] = await self.send((("ZRANGE", self._dead, 0, -1, "WITHSCORES"),))
        scores = dict(_pairs(found))
        read = await self._read(self._dead, list(scores))
        return [(key, int(float(scores[member]))) for member, (key, _) in read.items()]

    def approval_over(self, key: SessionKey, approval: str) -> Sequence[Command]:
        """The commands that have an approval never looked at again."""
        return (("ZREM", self._approvals, f"{key}|{approval}"),)

    def ticket_due(self, key: SessionKey, call: str, at: int) -> Sequence[Command]:
        """The commands that have a call's ticket looked at, at a moment of the store's clock."""
        return (("ZADD", self._tickets, at, f"{key}|{call}"),)

    def ticket_waits(self, key: SessionKey, call: str, at: int) -> Sequence[Command]:
        """The same, unless it is known already when to look at it."""
        return (("ZADD", self._tickets, "NX", at, f"{key}|{call}"),)

    def ticket_over(self, key: SessionKey, call: str) -> Sequence[Command]:
        """The commands that have a call's ticket never looked at again."""
        return (("ZREM", self._tickets, f"{key}|{call}"),)

    def spoken(self, channel: str, agent: str) -> Sequence[Command]:
        """The commands that remember which agent answers in a DM."""
        return (("SET", self._mark(channel), agent, "EX", MARK_LIVES),)

    def spent(self, key: SessionKey, person: str, *, tokens: int, now: int) -> Sequence[Command]:
        """The commands that count tokens a person used up, until midnight UTC; `now` is in ms."""
        account = self._account(key.tenant, person)
        midnight = (now // DAY + 1) * DAY // 1000
        return (("INCRBY", account, tokens), ("EXPIREAT", account, midnight))

    async def spent_today(self, tenant: str, person: str) -> int:
        """How many tokens a person of a tenant has used up today."""
        return int((await self.send((("GET", self._account(tenant, person)),)))[0] or 0)

    async def last_agent(self, channel: str) -> str | None:
        """The agent that answered last in a DM."""
        return _text((await self.send((("GET", self._mark(channel)),)))[0])

    async def set_aside(self, key: SessionKey, said: str, *, ts: str) -> None:
        """Keep for a while what was said in a thread that no session is known of."""
        aside = self._aside(key)
        await self.send(
            (
                ("ZADD", aside, ts, said),
                ("ZREMRANGEBYRANK", aside, 0, -ASIDE - 1),
                ("EXPIRE", aside, ASIDE_LIVES),
            )
        )

    async def said_after(self, key: SessionKey, ts: str) -> list[str]:
        """What was set aside for a session and said after a moment, oldest first."""
        [found] = await self.send((("ZRANGE", self._aside(key), f"({ts}", "+inf", "BYSCORE"),))
        return [_text(said) or "" for said in found]

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip; their answers."""
        if not commands:
            return []
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                return await pipe.execute()
        except (RedisError, OSError) as error:
            raise StoreUnavailable(f"the store did not answer: {type(error).__name__}") from error

    async def claim(self, most: int, *, lease: int) -> list[Claim]:
        """Take up to `most` sessions that are due; for `lease` ms nobody else takes them."""
        told = await self.send(self.claiming(most, lease=lease))
        return await self.claimed(told, lease=lease)

    def claiming(self, most: int, *, lease: int) -> Sequence[Command]:
        """The commands of `claim`, whose answers `claimed` reads."""
        return (
            ("EVAL", CLAIM, 1, self._ready, most, lease),
            ("ZRANGE", self._until, 0, -1, "WITHSCORES"),
        )

    async def claimed(self, told: Sequence[Any], *, lease: int) -> list[Claim]:
        """What the commands of `claiming` took."""
        (until, found), waits = told
        if not found:
            return []
        until = _text(until) or ""
        here = time.monotonic() + (lease - float(until)) / 1000
        self._waits = {_text(call) or "": here + float(at) / 1000 for call, at in _pairs(waits)}
        read = await self._read(self._ready, found)
        return [Claim(key, until) for key, _ in read.values()]

    def over(self, claim: Claim, *, pause: float | None = None) -> Sequence[Command]:
        """The commands that strike a session off, or put it off for `pause` seconds.

        They change nothing if it was rung for since it was claimed.
        """
        if pause is None:
            return (("EVAL", DONE, 1, self._ready, str(claim.key), claim.until),)
        delay = int(pause * 1000)
        if delay <= 0:
            return self.ring(claim.key)
        return (("EVAL", LATER, 1, self._ready, str(claim.key), delay, claim.until),)

    async def claim_due(self, most: int) -> list[tuple[SessionKey, str]]:
        """Take up to `most` approvals whose time has come: session and id."""
        _, found = await self._claim(self._approvals, most, lease=CLAIM_DUE)
        return found

    async def claim_tickets(
        self, most: int, *, lease: timedelta
    ) -> Sequence[tuple[SessionKey, str]]:
        """Take up to `most` tickets that are due, for as long as `lease`: session and call."""
        milliseconds = int(lease.total_seconds() * 1000)
        _, found = await self._claim(self._tickets, most, lease=milliseconds)
        return found

    async def wait(self, *, seconds: float = 1.0) -> None:
        """Wait until something may be due, `seconds` at most."""
        await self.send((("BLPOP", self._wake, seconds),))

    async def answers(self) -> bool:
        """Whether the store answers."""
        try:
            await self.send((("PING",),))
        except StoreUnavailable:
            return False
        return True

    async def _claim(
        self, name: str, most: int, *, lease: int
    ) -> tuple[str, list[tuple[SessionKey, str]]]:
        """Take what is due: until when, and for each the session and what of it is due."""
        [(until, found)] = await self.send((("EVAL", CLAIM, 1, name, most, lease),))
        return _text(until) or "", list((await self._read(name, found)).values())

    async def _read(self, name: str, members: Sequence[Any]) -> dict[Any, tuple[SessionKey, str]]:
        """The session of each member, and what of it is meant; what nobody can read is dropped."""
        read = {member: _apart(member) for member in members}
        strange = [member for member, found in read.items() if found is None]
        for member in strange:
            logs.error("index.unreadable", key=name, member=member, next="it was taken out")
        await self.send([("ZREM", name, *strange)] if strange else [])
        return {member: found for member, found in read.items() if found}

    def _account(self, tenant: str, person: str) -> str:
        return f"{self._prefix}{{spent:{tenant}:{person}}}:tokens"

    def _aside(self, key: SessionKey) -> str:
        return f"{self._prefix}{{aside:{key}}}:said"

    def _mine(self, name: str) -> str:
        return f"{self._prefix}{{mine:{self._tenant}:{quote(name, safe='')}}}:appr"

    def _mark(self, channel: str) -> str:
        return f"{self._prefix}{{dm:{self._tenant}:{channel}}}:agent"


def _first(name: str, member: str, score: int, *, most: int) -> Sequence[Command]:
    """The commands that put a member into a list of the highest scores, for a month."""
    return (
        ("ZADD", name, score, member),
        ("ZREMRANGEBYRANK", name, 0, -most - 1),
        ("EXPIRE", name, SEEN_LIVES),
    )


def _apart(member: bytes | str) -> tuple[SessionKey, str] | None:
    """The session of a member, and what of it is meant; None when it is no such thing."""
    try:
        tag, _, name = (_text(member) or "").partition("|")
        return SessionKey.parse(tag), name
    except ValueError:
        return None


def _pairs(found: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Members with their scores: RESP 3 has them in pairs, RESP 2 one after the other."""
    if found and not isinstance(found[0], list | tuple):
        return list(zip(found[::2], found[1::2], strict=True))
    return [(tag, at) for tag, at in found]


def _text(value: bytes | str | None) -> str | None:
    return value.decode() if isinstance(value, bytes) else value
