"""What a process knows of its store's memory: since when, whether on disk, whether emptied."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from functools import partial

import pytest

from agents.runtime.slot.redis import connect
from bot import recall, storage
from bot.errors import StoreUnavailable
from bot.index import Client, Index, due
from bot.recall import Recall, Standing
from tests.agents.slot.servers import server


async def saved() -> Standing:
    """A store that keeps everything."""
    return Standing()


def standing_of(client: Client) -> partial[Coroutine[None, None, Standing]]:
    """What asks this very store."""
    return partial(storage.standing, client, storage.Demands())


class Told:
    """Whom it is told: keeps the moments, and has no time for the first `busy` ones."""

    def __init__(self, *, busy: int = 0) -> None:
        self.moments: list[int] = []
        self.busy = busy

    async def __call__(self, at: int) -> bool:
        """Hear it, or not yet."""
        self.busy -= 1
        if self.busy >= 0:
            return False
        self.moments.append(at)
        return True


async def test_a_new_store_remembers_from_now_on(client: Client):
    """The first bot marks it with the store's time; those who come later find that mark."""
    index = Index(client)
    before = await index.now()
    first = await index.mark(None)
    assert before <= first.since <= await index.now()
    assert (first.emptied, first.news) == (0, False)
    assert await index.mark(None) == await index.mark(first.since) == first
    assert await index.marker() == first


async def test_a_store_in_use_that_is_marked_late(client: Client):
    """Nobody knows since when it remembers, so nothing that is missing is put down to that."""
    await client.set("b:{something}:old", "1")
    watch = Recall(Index(client), standing=saved)
    await watch.look()
    assert await watch.lost(0.0) is False
    assert await Index(client).marker() == await Index(client).mark(None)


async def test_whoever_saw_it_before_sees_that_it_was_emptied(client: Client, caplog):
    """Of all processes one tells it, in one line and one message; a second time it is news."""
    told = Told()
    watches = [Recall(Index(client), standing=saved, tell=told) for _ in range(3)]
    for watch in watches:
        await watch.look()
    for times in (1, 2):
        await client.flushall()
        with caplog.at_level(logging.ERROR, logger="countersign"):
            await asyncio.gather(*(watch.look() for watch in watches))
            await asyncio.gather(*(watch.look() for watch in watches))
        assert len(told.moments) == times
        assert [record.msg for record in caplog.records] == ["store.emptied"] * times


async def test_a_process_that_comes_later_sees_it_by_what_is_missing(client: Client):
    """What was in Slack before the store's memory begins was lost; what came later was not."""
    told = Told()
    watch = Recall(Index(client), standing=saved, tell=told)
    await watch.look()
    marker = await Index(client).marker()
    assert marker is not None
    assert await watch.lost(marker.since / 1000 + 1) is False
    assert await watch.lost(marker.since / 1000 - 1) is True
    await watch.look()
    assert len(told.moments) == 1
    assert await watch.lost(marker.since / 1000 - 1) is True
    await watch.look()
    assert len(told.moments) == 1


async def test_what_could_not_be_told_is_told_later(client: Client):
    """Slack that does not answer costs nothing but time."""
    told = Told(busy=2)
    watch = Recall(Index(client), standing=saved, tell=told)
    await watch.look()
    await client.flushall()
    for expected in (0, 0, 1, 1):
        await watch.look()
        assert len(told.moments) == expected


@pytest.mark.parametrize("first", ["finder", "other"])
@pytest.mark.parametrize("fate", ["Slack is away", "it is killed"])
async def test_what_its_finder_could_not_tell_others_tell(
    client: Client, monkeypatch, first: str, fate: str
):
    """Whoever found it may die, or have no Slack: another process tells it, once."""
    monkeypatch.setattr(due, "TELLING", 1)
    told, killed = Told(), asyncio.Event()

    async def tell(_at: int) -> bool:
        if fate == "it is killed":
            await killed.wait()
        return False

    finder = Recall(Index(client), standing=saved, tell=tell)
    other = Recall(Index(client), standing=saved, tell=told)
    await finder.look()
    if first == "other":
        await other.look()
    await client.flushall()
    looking = asyncio.create_task(finder.look())
    await asyncio.sleep(0.05)
    for _ in range(3):
        await other.look()
    looking.cancel()
    assert len(told.moments) == 1


async def test_it_looks_again_and_again_whatever_the_store_does(store_url, monkeypatch):
    """A store that is away for a while is looked at when it is back."""
    monkeypatch.setattr(recall, "LOOK", 0.02)
    monkeypatch.setattr(recall, "AGAIN", 0.02)
    stopping = asyncio.Event()
    seen = asyncio.Event()

    async def tell(_at: int) -> bool:
        seen.set()
        return True

    async with connect(store_url) as client:
        watch = Recall(
            Index(client), standing=partial(storage.standing, client, storage.Demands()), tell=tell
        )
        await watch.look()
        running = asyncio.create_task(watch.run(stopping))
        await client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
        await client.flushall()
        await seen.wait()
        stopping.set()
        await running
    assert watch.unsaved is True


@pytest.mark.parametrize(
    ("options", "unsaved"),
    [
        pytest.param(["--appendonly", "yes"], False, id="an append-only file"),
        pytest.param([], True, id="memory only"),
    ],
)
async def test_whether_it_is_saved_is_looked_up_anew(options, unsaved):
    """The configuration of a running store may change either way."""
    with server(*options) as url:
        async with connect(url) as client:
            watch = Recall(
                Index(client), standing=partial(storage.standing, client, storage.Demands())
            )
            await watch.look()
            assert watch.unsaved is unsaved
            await client.config_set("appendonly", "yes" if unsaved else "no")
            await watch.look()
            assert watch.unsaved is not unsaved


@pytest.mark.parametrize(
    ("setting", "bad", "good"),
    [
        pytest.param("maxmemory-policy", "allkeys-lru", "noeviction", id="eviction"),
        pytest.param("appendonly", "no", "yes", id="no file any more"),
    ],
)
async def test_a_store_that_is_set_up_otherwise_later_is_spoken_of_once(setting, bad, good, caplog):
    """One line when it changes, one when it is good again; what is asked meanwhile says so."""
    with server("--appendonly", "yes", "--appendfsync", "always") as url:
        async with connect(url) as client:
            watch = Recall(Index(client), standing=standing_of(client))
            with caplog.at_level(logging.INFO, logger="countersign"):
                for value, unsaved in (("", False), (bad, True), (good, False)):
                    if value:
                        await client.config_set(setting, value)
                    for _ in range(2):
                        await watch.look()
                    assert watch.unsaved is unsaved
    assert [record.msg for record in caplog.records] == ["store.unsafe", "store.safe"]
    assert caplog.records[0].fields["finding"].startswith("the store ")


async def test_a_full_store_is_spoken_of_once(client: Client, caplog):
    """One line when it becomes full, and again the next time."""
    fills = iter([False, True, True, False, True])

    async def standing() -> Standing:
        return Standing(full=next(fills))

    watch, found = Recall(Index(client), standing=standing), list[bool]()
    for _ in range(5):
        await watch.look()
        found.append(watch.full)
    assert found == [False, True, True, False, True]
    assert [record.msg for record in caplog.records] == ["store.full"] * 2


async def test_a_store_that_comes_back_is_looked_at_soon(store_url, monkeypatch):
    """While it does not answer, it is asked again and again, not only each half minute."""
    monkeypatch.setattr(recall, "LOOK", 0.5)
    monkeypatch.setattr(recall, "AGAIN", 0.01)
    stopping, looked = asyncio.Event(), asyncio.Event()
    looks: list[float] = []

    async def standing() -> Standing:
        looks.append(time.monotonic())
        if len(looks) < 5:
            raise StoreUnavailable("away")
        looked.set()
        return Standing()

    async with connect(store_url) as client:
        running = asyncio.create_task(Recall(Index(client), standing=standing).run(stopping))
        await looked.wait()
        stopping.set()
        await running
    assert looks[4] - looks[0] < recall.LOOK
