"""What is due when, who may make which call of Slack's, and a few marks."""

import hashlib
import itertools
import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from agents import SessionKey, StoreUnavailable
from bot.index.hints import Client, Hints, pairs, text_of
from bot.index.lists import Lists
from bot.index.lua import CLAIM, DONE, HOLD, LATER, MARK, NOTE, RING, SPEND, TELL, WAITS
from bot.turns import Command

NOW, BEHIND = 0, 1
TOKENS = 32
TOKENS_LIVE = 60
HEARD = 600
"""Seconds in which a count sent again, because its answer was lost, is not counted twice."""
MARK_LIVES = 90 * 24 * 3600
DAY = 24 * 3600 * 1000
DEAD = 1_000
LONGEST = 900.0
"""The most seconds for which a session is put off, whatever is asked for."""
NOTE_LIVES = 3600
GONE_LIVES, DELETED_LIVES = 30 * 24 * 3600, 24 * 3600
"""Seconds for which a deletion is known where a turn may ask something, and elsewhere."""
ASIDE = 100
ASIDE_LIVES = 600
"""Seconds until words set aside are forgotten: Slack brings a mention for six minutes."""
TELLING = 60_000
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


class Index(Hints):
    """Reads and changes the hints; `lists` are those of what people find again."""

    def __init__(self, redis: Client, *, prefix: str = "b:", tenant: str = "local") -> None:
        """Keep the connection and the names of what is due."""
        super().__init__(redis, prefix=prefix, tenant=tenant)
        self.lists = Lists(redis, prefix=prefix, tenant=tenant)
        self._boot = f"{prefix}{{boot}}:marker"
        self._ready = f"{self._due}:ready"
        self._wake = f"{self._due}:wake"
        self._until = f"{self._due}:until"
        self._dead = f"{self._due}:dead"
        self._approvals = f"{self._due}:appr"
        self._left = f"{self._due}:left"
        self._tickets = f"{self._due}:tick"
        self._missed = f"{self._due}:missed"
        self._waits: dict[str, float] = {}
        self._took = f"{self._due}:took:{uuid.uuid4().hex}"
        self._numbers = itertools.count()
        self._unheard: dict[Command, float] = {}
        self._beyond: list[Claim] = []

    def ring(self, key: SessionKey, *, behind: bool = False) -> Sequence[Command]:
        """The commands that make a session due now, or `behind` those that a person waits for."""
        when = BEHIND if behind else NOW
        return (("EVAL", RING, 2, self._ready, self._wake, when, str(key), TOKENS, TOKENS_LIVE),)

    def session_waits(self, key: SessionKey) -> Sequence[Command]:
        """The same behind those, unless it is known when to look at it: put off, it stays so.

        Nobody puts one off for so long as `LONGEST` and a lease: then the store's clock was wrong.
        """
        return self._wait(self._ready, str(key), BEHIND, longest=2 * LONGEST)

    def approval_due(self, key: SessionKey, approval: str, at: int) -> Sequence[Command]:
        """The commands that have an approval looked at, at a moment of the store's clock (ms)."""
        return (("ZADD", self._approvals, at, f"{key}|{approval}"),)

    async def marker(self) -> Marker | None:
        """Since when the store remembers; None when nobody has marked it."""
        [found] = await self.send((("HMGET", self._boot, "since", "emptied"),))
        since, emptied = map(text_of, found)
        return Marker(int(since), int(emptied or 0)) if since else None

    async def mark(self, known: int | None, *, lost: bool = False) -> Marker:
        """Mark the store unless it is marked; `known` is the `since` this process saw before.

        `lost` says that something which the store once remembered is gone.
        """
        given = ("" if known is None else known, int(lost))
        [found] = await self.send((("EVAL", MARK, 1, self._boot, *given),))
        since, emptied, news = found
        return Marker(int(since), int(emptied), news=bool(int(news)))

    async def to_tell(self) -> bool:
        """Whether it is for this process to tell people that the store was emptied.

        When that is not `told` within `TELLING` ms, it is for another process to do.
        """
        word = uuid.uuid4().hex
        [found] = await self.send((("EVAL", TELL, 1, self._boot, TELLING, word),))
        return bool(int(found))

    async def told(self, emptied: int, *, done: bool) -> None:
        """Note that people were told of it, or, unless it is `done`, that anybody may try again."""
        note: tuple[Command, ...] = (("HSET", self._boot, "told", emptied),) if done else ()
        await self.send((*note, ("HDEL", self._boot, "taken")))

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
        """Let no process make a call to Slack in a channel for so long."""
        call = f"{method}:{channel}"
        self._waits[call] = time.monotonic() + seconds
        await self.send((("EVAL", HOLD, 1, self._until, call, int(seconds * 1000), DAY),))

    def held_off(self, method: str, channel: str) -> float:
        """Seconds until a call to Slack may be made in a channel; 0 when it may.

        As far as this process was told with its last claim.
        """
        return max(0.0, self._waits.get(f"{method}:{channel}", 0.0) - time.monotonic())

    async def first(self, what: str) -> bool:
        """Whether nobody has said so within the hour; of several at once one is the first."""
        name = hashlib.sha256(what.encode()).hexdigest()[:32]
        key = f"{self._prefix}{{note:{self._tenant}:{name}}}:told"
        return await self.take(key, seconds=NOTE_LIVES)

    async def deleted(self, turn: str) -> None:
        """Note that the message of a turn is deleted, for a day; see `gone`."""
        await self.send((("SET", self._gone(turn), 1, "EX", DELETED_LIVES),))

    async def gone(self, turns: Collection[str]) -> frozenset[str]:
        """Those of the turns whose messages are deleted, which are then remembered for longer."""
        found = await self.send([("GETEX", self._gone(turn), "EX", GONE_LIVES) for turn in turns])
        return frozenset(turn for turn, told in zip(turns, found, strict=True) if told)

    async def dead(self) -> list[tuple[SessionKey, int]]:
        """The sessions in which a turn was given up, and when (ms), oldest first."""
        [found] = await self.send((("ZRANGE", self._dead, 0, -1, "WITHSCORES"),))
        scores = dict(pairs(found))
        read = await self._read(self._dead, list(scores))
        return [(key, int(float(scores[member]))) for member, (key, _) in read.items()]

    def approval_over(self, key: SessionKey, approval: str) -> Sequence[Command]:
        """The commands after which an approval is not looked at again."""
        return (("ZREM", self._approvals, f"{key}|{approval}"),)

    def approval_left(self, key: SessionKey, approval: str, at: int) -> Sequence[Command]:
        """The commands that have it looked at, at a moment (ms), whether enough may decide."""
        return (("ZADD", self._left, at, f"{key}|{approval}"),)

    def approval_asked(self, key: SessionKey, approval: str, at: int) -> Sequence[Command]:
        """The same, unless it is known already when to look, within `LONGEST`."""
        return self._wait(self._left, f"{key}|{approval}", at, longest=LONGEST)

    async def claim_left(self, most: int) -> tuple[str, list[tuple[SessionKey, str]]]:
        """Take up to `most` of these whose time has come; with what `left_over` wants to know."""
        return await self._claim(self._left, most, lease=CLAIM_DUE)

    def left_over(self, key: SessionKey, approval: str, until: str) -> Sequence[Command]:
        """The commands that strike it off, unless it was put there again meanwhile."""
        return (("EVAL", DONE, 1, self._left, f"{key}|{approval}", until),)

    def left_last(self, key: SessionKey, approval: str) -> Sequence[Command]:
        """The commands that have it looked at again after the others that were taken with it."""
        return (("ZINCRBY", self._left, 1, f"{key}|{approval}"),)

    def ticket_due(self, key: SessionKey, call: str, at: int) -> Sequence[Command]:
        """The commands that have a call's ticket looked at, at a moment of the store's clock."""
        return (("ZADD", self._tickets, at, f"{key}|{call}"),)

    def ticket_waits(
        self, key: SessionKey, call: str, at: int, *, longest: timedelta
    ) -> Sequence[Command]:
        """The same, unless it is known already when to look at it, within the longest pause."""
        seconds = longest.total_seconds()
        return self._wait(self._tickets, f"{key}|{call}", at, longest=seconds)

    def ticket_over(self, key: SessionKey, call: str) -> Sequence[Command]:
        """The commands after which a call's ticket is not looked at again."""
        member = f"{key}|{call}"
        return (("ZREM", self._tickets, member), ("HDEL", self._missed, member))

    def ticket_missed(self, key: SessionKey, call: str, times: int) -> Sequence[Command]:
        """The commands that note how often its ticket was not there since it was: 0 when it is."""
        return (
            ("HSET", self._missed, f"{key}|{call}", times),
            ("EXPIRE", self._missed, MARK_LIVES),
        )

    async def missed(self, key: SessionKey, call: str) -> int | None:
        """What was noted of it last; None where its ticket was never there."""
        [found] = await self.send((("HGET", self._missed, f"{key}|{call}"),))
        return None if found is None else int(found)

    def spoken(self, channel: str, agent: str) -> Sequence[Command]:
        """The commands that remember which agent answers in a DM."""
        return (("SET", self._mark(channel), agent, "EX", MARK_LIVES),)

    def spent(self, key: SessionKey, person: str, *, tokens: int, now: int) -> Sequence[Command]:
        """The commands that count tokens a person used up, until midnight UTC; `now` is in ms."""
        account = self._account(key.tenant, person)
        midnight = (now // DAY + 1) * DAY // 1000
        heard = f"{account}:{uuid.uuid4().hex}"
        return (("EVAL", SPEND, 2, account, heard, tokens, midnight, HEARD),)

    async def spent_today(self, tenant: str, person: str) -> int:
        """How many tokens a person of a tenant has used up today."""
        return int((await self.send((("GET", self._account(tenant, person)),)))[0] or 0)

    async def last_agent(self, channel: str) -> str | None:
        """The agent that answered last in a DM."""
        return text_of((await self.send((("GET", self._mark(channel)),)))[0])

    async def set_aside(self, key: SessionKey, said: str, *, ts: str) -> None:
        """Keep for a while what was said in a thread that belongs to no known session."""
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
        return [text_of(said) or "" for said in found]

    async def claim(self, most: int, *, lease: int) -> list[Claim]:
        """Take up to `most` sessions that are due; for `lease` ms nobody else takes them.

        Sessions taken by `unheard` commands come first; any beyond `most` are left for the next
        claim.
        """
        now = time.monotonic()
        self._unheard = {again: end for again, end in self._unheard.items() if end > now}
        lost = list(self._unheard)
        asked = self.claiming(max(0, most - len(self._beyond)), lease=lease)
        try:
            told = await self.send([*lost, *asked])
        except StoreUnavailable:
            self.unheard(asked, lease=lease)
            raise
        claims = self._beyond
        for again, answer in zip(lost, told, strict=False):
            found = await self._claims(answer)
            if found:  # else the claim itself may still be on its way
                self._unheard.pop(again, None)
            claims += found
        claims = [*claims, *await self.claimed(told[len(lost) :], lease=lease)]
        self._beyond = claims[most:]
        return claims[:most]

    def claiming(self, most: int, *, lease: int) -> Sequence[Command]:
        """The commands of `claim`: `claimed` reads their answers, `unheard` is for lost ones."""
        took = f"{self._took}:{next(self._numbers)}"
        return (
            ("EVAL", CLAIM, 2, self._ready, took, most, lease),
            ("ZRANGE", self._until, 0, -1, "WITHSCORES"),
        )

    def unheard(self, asked: Sequence[Command], *, lease: int) -> None:
        """The answers to the commands of `claiming` were lost: the next `claim` finds them."""
        if asked:
            again: Command = (*asked[0][:5], 0, lease)
            self._unheard[again] = time.monotonic() + lease / 1000

    async def claimed(self, told: Sequence[Any], *, lease: int) -> list[Claim]:
        """The sessions that the commands of `claiming` took."""
        (until, found), waits = told
        if found:
            now = time.monotonic()
            here = now + (lease - float(until)) / 1000
            ends = {text_of(call) or "": here + float(at) / 1000 for call, at in pairs(waits)}
            # One beyond the longest is from the future: the store's clock was set back since.
            self._waits = {call: end for call, end in ends.items() if end <= now + LONGEST}
        return await self._claims(told[0])

    async def _claims(self, answer: Sequence[Any]) -> list[Claim]:
        until, found = answer
        read = await self._read(self._ready, found) if found else {}
        return [Claim(key, text_of(until) or "") for key, _ in read.values()]

    def over(self, claim: Claim, *, pause: float | None = None) -> Sequence[Command]:
        """The commands that strike a session off, or put it off for `pause` seconds (see LONGEST).

        They change nothing if it was rung for since it was claimed.
        """
        if pause is None:
            return (("EVAL", DONE, 1, self._ready, str(claim.key), claim.until),)
        delay = int(min(pause, LONGEST) * 1000)
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
        """Wait until something may be due, but at most so many seconds."""
        await self.send((("BLPOP", self._wake, seconds),))

    async def _claim(
        self, name: str, most: int, *, lease: int
    ) -> tuple[str, list[tuple[SessionKey, str]]]:
        """Take what is due: until when, and for each the session and what of it is due."""
        took = f"{self._took}:{next(self._numbers)}"
        [(until, found)] = await self.send((("EVAL", CLAIM, 2, name, took, most, lease),))
        return text_of(until) or "", list((await self._read(name, found)).values())

    def _wait(self, name: str, member: str, at: int, *, longest: float) -> Sequence[Command]:
        """The commands that have a member due then, unless it is within so many seconds."""
        return (("EVAL", WAITS, 1, name, at, member, int(longest * 1000)),)

    def _account(self, tenant: str, person: str) -> str:
        return f"{self._prefix}{{spent:{tenant}:{person}}}:tokens"

    def _gone(self, turn: str) -> str:
        return f"{self._prefix}{{gone:{self._tenant}:{quote(turn, safe='')}}}:told"

    def _aside(self, key: SessionKey) -> str:
        return f"{self._prefix}{{aside:{key}}}:said"

    def _mark(self, channel: str) -> str:
        return f"{self._prefix}{{dm:{self._tenant}:{channel}}}:agent"
