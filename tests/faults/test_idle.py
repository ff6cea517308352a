"""What ten thousand questions that wait for people cost a process that has nothing to do."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio

from agents import SessionKey
from agents.runtime.slot import keys
from agents.runtime.slot.redis import RedisSlot
from bot.index import Index
from bot.playground import LocalSlack
from bot.playground.people import TEAM_ID
from tests.bot.approvals.conftest import put
from tests.faults.crew import AGENT
from tests.faults.nursery import Nursery

PENDING = 10_000
MANY = """
local from, to = ARGV[1], ARGV[2]
for n = tonumber(ARGV[3]), tonumber(ARGV[4]) do
  for _, key in ipairs(KEYS) do
    redis.call('COPY', key, (key:gsub(from, to .. n, 1)))
  end
  redis.call('ZADD', ARGV[5], ARGV[6], 'T0LOCALWORK:crew:thread:C1%3A' .. n)
  redis.call('ZADD', ARGV[7], ARGV[6], 'T0LOCALWORK:crew:thread:C1%3A' .. n .. '|3-0')
end
return 1
"""
"""A session's keys under so many names more, with what is due of it in the lists."""
MEGABYTES = {"worker": 1.0, "clock": 8.0}
"""What a process may grow by; a clock reads all of them again, a few at a time."""
A_SECOND = 12
"""Commands that an idle worker may send: it waits for a bell, a second at a time."""


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    """A client of the store."""
    async with redis.asyncio.Redis.from_url(store_url, decode_responses=True) as client:
        yield client


@pytest.mark.parametrize("role", MEGABYTES)
async def test_ten_thousand_pending_approvals_cost_nothing(
    role: str, store_url: str, store: redis.asyncio.Redis, tmp_path: Path
):
    """No process keeps in memory what waits for people, and none asks about it all the time."""
    async with Nursery() as nursery, LocalSlack() as slack:
        settings = {
            "redis_url": store_url,
            "slack_api_url": slack.api_url,
            "slack_bot_token": slack.bot_token,
            "slack_signing_secret": slack.signing_secret,
            "model": "rehearsal",
            "roles": [role],
        }
        log = tmp_path / "log"
        order = {"name": role, "settings": settings, "log": str(log), "ledger": ""}
        pid = await nursery.fork(order)
        while "bot.started" not in (log.read_text() if log.exists() else ""):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        before, calm = _private(pid), await _commands(store)
        await _ask(store)
        await asyncio.sleep(1.5)
        busy = await _commands(store)
        assert _private(pid) - before < MEGABYTES[role]
        assert role != "worker" or max(calm, busy) < A_SECOND
        assert nursery.alive(pid)


async def _ask(store: redis.asyncio.Redis) -> None:
    """Have so many sessions with a pending approval each."""
    index, key = Index(store, tenant=TEAM_ID), SessionKey(AGENT, "thread", "C1:0", TEAM_ID)
    week = 7 * 24 * 3_600_000
    opened = await put(RedisSlot(store), key=key, left=week, id="3-0")
    assert opened.deadline
    await index.send(index.approval_due(key, opened.id, opened.deadline))
    names = [name async for name in store.scan_iter(f"b:{{{key}}}*")]
    (due,) = [name async for name in store.scan_iter("*:appr")]
    listed = keys.sessions("b:", TEAM_ID, AGENT)
    tag = str(key)
    for first in range(1, PENDING, 500):
        last = min(first + 499, PENDING - 1)
        told = (tag.replace("%", "%%"), tag[:-1].replace("%", "%%"), first, last)
        await store.eval(MANY, len(names), *names, *told, listed, opened.deadline, due)
    assert await store.zcard(due) == await store.zcard(listed) == PENDING
    assert await store.dbsize() > PENDING * len(names)


async def _commands(store: redis.asyncio.Redis) -> float:
    """How many commands a second come from others."""
    begun, first = time.monotonic(), int((await store.info("stats"))["total_commands_processed"])
    await asyncio.sleep(2.0)
    last = int((await store.info("stats"))["total_commands_processed"])
    return (last - first - 1) / (time.monotonic() - begun)


def _private(pid: int) -> float:
    """The memory that only this process has, in megabytes: what it was forked with is shared."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return sum(kilobytes) / 1024
