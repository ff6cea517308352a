"""A change whose answer was lost is asked for again by the client, and happens once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from agents.runtime.slot.port import (
    Commit,
    Companions,
    Decide,
    Entry,
    Post,
    Released,
    SessionKey,
    Slot,
    Start,
    Started,
)
from agents.runtime.slot.redis import RedisSlot, connect
from tests.agents.slot.samples import LONG, approval, ask, begin, open_session, said
from tests.lines import dialled, listening


class Lossy:
    """A way to a store that can cut the line before an answer: the next, or so many `after` it."""

    def __init__(self, url: str) -> None:
        """Know the store; nothing is cut yet."""
        self._store = urlsplit(url)
        self.cut = False
        self.after = 0
        self.lost = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what one client and the store say."""
        async with dialled(self._store.hostname, self._store.port) as (answers, store):

            async def there() -> None:
                while chunk := await reader.read(65536):
                    store.write(chunk)

            async def back() -> None:
                while chunk := await answers.read(65536):
                    if self.cut and self.after:
                        self.after -= 1
                    elif self.cut:
                        self.cut, self.lost = False, self.lost + 1
                        return
                    writer.write(chunk)

            tasks = [asyncio.create_task(there()), asyncio.create_task(back())]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()


@pytest.fixture
async def lossy(store_server: str) -> AsyncIterator[tuple[Lossy, RedisSlot]]:
    """A slot behind a line that can be cut."""
    line = Lossy(store_server)
    async with listening(line.serve) as port, connect(f"redis://127.0.0.1:{port}") as client:
        yield line, RedisSlot(client, prefix=f"lost{id(line)}:")


yes = replace(approval("p"), status="approved", rev=2)
after = Companions(posts=[Post(id="x", body={})], audit=[{"what": "x"}])
Change = Callable[[Slot, SessionKey, int], Awaitable[Any]]
CHANGES: dict[str, tuple[Change, Any]] = {
    "ingest": (lambda slot, key, _: slot.ingest(key, Entry(id="m2", body={})), "duplicate"),
    "commit": (
        lambda slot, key, fence: slot.commit(
            key, Commit(id="c", fence=fence, version=1, events=[said()], companions=after)
        ),
        2,
    ),
    "start_call": (
        lambda slot, key, fence: slot.start_call(
            key, Start(fence=fence, cid="1-0", step="1-0", request="q", digest="d")
        ),
        Started(kind="go"),
    ),
    "decide": (
        lambda slot, key, _: slot.decide(
            key, Decide(record=yes, entry=Entry(id="m2", body={}), audit=[{"what": "x"}])
        ),
        "ok",
    ),
    "renew": (lambda slot, key, fence: slot.renew(key, fence, lease=LONG), True),
    "release": (
        lambda slot, key, fence: slot.release(key, fence, paid={"old": "C|1"}),
        Released(ours=True),
    ),
    "posted": (lambda slot, key, _: slot.posted(key, {"old": "C|1"}), None),
    "apply": (lambda slot, key, _: slot.apply(replace(key, id="n"), state={}, create=True), True),
}


@pytest.mark.parametrize("change", [pytest.param(name, id=name) for name in CHANGES])
async def test_a_lost_answer(lossy: tuple[Lossy, RedisSlot], key: SessionKey, change: str) -> None:
    """The client asks again by itself; the answer is the one that was lost, the effect is one.

    Only an entry that was queued is a duplicate the second time.
    """
    line, slot = lossy
    begun = await ask(slot, key, approval(status="approved"), approval("p"))
    companions = Companions(posts=[Post(id="old", body={})])
    await slot.commit(key, Commit(id="p", fence=begun.fence, version=1, companions=companions))
    call, expected = CHANGES[change]
    await slot.read(replace(key, id="warm"))
    line.cut = True
    answer = await call(slot, key, begun.fence)
    first = await slot.read(key, parts=("events", "approvals", "posts", "audit"))
    if change != "apply":
        await call(slot, key, begun.fence)
    again = await slot.read(key, parts=("events", "approvals", "posts", "audit"))
    assert line.lost == 1
    assert getattr(answer, "version", getattr(answer, "kind", answer)) == getattr(
        expected, "kind", expected
    )
    assert first is not None
    assert again is not None
    assert again == replace(first, now=again.now, updated=again.updated, lease=again.lease)


async def test_a_lost_begin_is_another_attempt(
    lossy: tuple[Lossy, RedisSlot], key: SessionKey
) -> None:
    """The session is in hand all the same, under the newest fence."""
    line, slot = lossy
    await open_session(slot, replace(key, id="warm"))
    await slot.ingest(key, Entry(id="m1", body={}))
    line.cut = True
    begun = await begin(slot, key)
    done = await slot.commit(key, Commit(id="c", fence=begun.fence, version=0, pop="m1"))
    assert (line.lost, begun.attempt, done.head) == (1, 2, None)
