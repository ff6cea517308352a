"""What people find again: approvals, by whom they concern, and the audit with its anchors."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from urllib.parse import quote

from agents import SessionKey
from bot.index.hints import Client, Hints, text_of
from bot.index.lua import NOTE
from bot.turns import Command

SEEN = 10_000
MINE = 1_000
HOMES = 10_000
OPEN = 10**14
"""Open approvals have this minus their time as score: ahead of closed ones, oldest first."""
LIVES = 30 * 24 * 3600
"""Seconds until a list that nobody adds to is forgotten."""
APPS_LIVE = 90 * 24 * 3600
"""Seconds until agents are forgotten that no deployment notes any more."""
ANCHORS, ANCHORS_BYTES = 400, 4_000_000
"""How many daily anchors are kept, and of how much together: each names every session."""
ANCHORING = 120
"""Seconds that one clock has to post an anchor in."""


class Lists(Hints):
    """Puts approvals, people and audits on lists, and reads them."""

    def __init__(self, redis: Client, *, prefix: str = "b:", tenant: str = "local") -> None:
        """Keep the connection and the names of the lists."""
        super().__init__(redis, prefix=prefix, tenant=tenant)
        self._seen = f"{self._due}:seen"
        self._homes = f"{self._due}:home"
        self._audit = f"{self._due}:audit"
        self._apps = f"{self._due}:apps"
        self._anchors = f"{self._due}:anchors"
        self._anchoring = f"{self._due}:anchoring"

    def approval_listed(
        self, key: SessionKey, approval: str, at: int, *, names: Iterable[str], is_open: bool
    ) -> Sequence[Command]:
        """The commands that list an approval of some moment, also for those whom it concerns."""
        member, score = f"{key}|{approval}", OPEN - at if is_open else at
        lists = [(self._seen, SEEN), *((self._mine(name), MINE) for name in names)]
        found = [_first(each, member, score, most=most) for each, most in lists]
        audited = ("ZADD", self._audit, "GT", at, str(key))
        return (audited, *(command for one in found for command in one))

    async def recent(self, most: int) -> list[tuple[SessionKey, str]]:
        """Some approvals, session and id: the open ones, oldest first, then the newest others."""
        [found] = await self.send((("ZREVRANGE", self._seen, 0, most - 1),))
        return list((await self._read(self._seen, found)).values())

    async def concerning(self, names: Sequence[str], most: int) -> list[tuple[SessionKey, str]]:
        """The same of those that concern one of the names: all open ones, so many others of each.

        Who has a hundred to decide is told how many, and what is most urgent among all of them.
        """
        keys, middle = [self._mine(name) for name in names], OPEN // 2
        opened = [("ZRANGE", key, "+inf", middle, "BYSCORE", "REV") for key in keys]
        newest = ("BYSCORE", "REV", "LIMIT", 0, most)
        others = [("ZRANGE", key, f"({middle}", "-inf", *newest) for key in keys]
        found = await self.send([*opened, *others])
        read = [await self._read(key, each) for key, each in zip(keys * 2, found, strict=True)]
        return list(dict.fromkeys(each for one in read for each in one.values()))

    async def open_concerning(self, names: Sequence[str]) -> list[tuple[SessionKey, str]]:
        """The open ones among those that concern one of the names."""
        keys = [self._mine(name) for name in names]
        found = await self.send([("ZRANGE", key, OPEN // 2, "+inf", "BYSCORE") for key in keys])
        read = [await self._read(key, each) for key, each in zip(keys, found, strict=True)]
        return list(dict.fromkeys(each for one in read for each in one.values()))

    def home_opened(self, person: str) -> Sequence[Command]:
        """The commands that remember who looked at their Home."""
        return (
            ("EVAL", NOTE, 1, self._homes, person),
            ("ZREMRANGEBYRANK", self._homes, 0, -HOMES - 1),
            ("EXPIRE", self._homes, LIVES),
        )

    async def with_home(self, people: Sequence[str]) -> list[str]:
        """Those of these people who have looked at their Home."""
        found = await self.send([("ZSCORE", self._homes, person) for person in people])
        return [person for person, at in zip(people, found, strict=True) if at is not None]

    async def audited(self, *, skip: int = 0, most: int = 0) -> list[SessionKey]:
        """The sessions that have an audit, or had one, the last one asked in at the end; a page."""
        [found] = await self.send((("ZRANGE", self._audit, skip, skip + most - 1 if most else -1),))
        return [key for key, _ in (await self._read(self._audit, found)).values()]

    async def forget_audits(self, sessions: Sequence[SessionKey]) -> None:
        """Remove sessions that are gone from the list of those with an audit."""
        await self.send([("ZREM", self._audit, *map(str, sessions))] if sessions else [])

    async def apps(self, more: Iterable[str] = ()) -> list[str]:
        """The agents that had sessions in any deployment, and these, noted from now on."""
        names = sorted(more)
        note = (("SADD", self._apps, *names), ("EXPIRE", self._apps, APPS_LIVE)) if names else ()
        *_, found = await self.send((*note, ("SMEMBERS", self._apps)))
        return sorted(text_of(name) or "" for name in found)

    async def forget_app(self, name: str) -> None:
        """Know no more of an agent that is gone and has no sessions left."""
        await self.send((("SREM", self._apps, name),))

    async def anchors(self) -> list[str]:
        """The anchors of the audit as JSON, oldest first."""
        [found] = await self.send((("HGETALL", self._anchors),))
        kept = {text_of(day): text_of(anchor) or "" for day, anchor in found.items()}
        return [kept[day] for day in sorted(kept, key=str)]

    async def anchor(self, day: str) -> str | None:
        """The anchor of a day as JSON, if there is one."""
        return text_of((await self.send((("HGET", self._anchors, day),)))[0])

    async def anchoring(self) -> bool:
        """Whether it is for the caller to post an anchor now; then nobody else may for a while."""
        return await self.take(self._anchoring, seconds=ANCHORING)

    async def keep_anchor(self, day: str, anchor: str) -> str:
        """Keep the anchor of a day unless there is one already; returns the one that is kept."""
        _, kept, days = await self.send(
            (
                ("HSETNX", self._anchors, day, anchor),
                ("HGET", self._anchors, day),
                ("HKEYS", self._anchors),
            )
        )
        await self._forget_anchors(sorted((text_of(each) or "" for each in days), reverse=True))
        return text_of(kept) or anchor

    async def _forget_anchors(self, days: Sequence[str]) -> None:
        """Forget the oldest of these days, newest first, without room; the last two stay."""
        sizes = await self.send([("HSTRLEN", self._anchors, day) for day in days])
        room = sum(total <= ANCHORS_BYTES for total in accumulate(map(int, sizes)))
        old = days[min(max(room, 2), ANCHORS) :]
        await self.send([("HDEL", self._anchors, *old)] if old else [])

    def _mine(self, name: str) -> str:
        return f"{self._prefix}{{mine:{self._tenant}:{quote(name, safe='')}}}:appr"


def _first(name: str, member: str, score: int, *, most: int) -> Sequence[Command]:
    """The commands that put a member into a list of the highest scores, for a month."""
    return (
        ("ZADD", name, score, member),
        ("ZREMRANGEBYRANK", name, 0, -most - 1),
        ("EXPIRE", name, LIVES),
    )
