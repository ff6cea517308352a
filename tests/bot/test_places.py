"""Places for turns: how many may begin, and when the end of one is the beginning of another."""

import asyncio
from collections.abc import Sequence

import pytest
from google.genai import types

from agents import SessionKey
from agents.runtime.model import LlmRequest, LlmResponse
from agents.runtime.testing import ScriptedModel, call
from bot import places
from bot.places import LONG, MOST, Places
from tests.bot.river import River

NOW = 10_000.0
OLD = NOW - LONG


def taken(count: int, begun: Sequence[float]) -> Places:
    """So many places, and turns that began then, in sessions "0", "1", …"""
    made = Places(count)
    for number, since in enumerate(begun):
        made.begin(key(number), now=since)
    return made


def key(number: int) -> SessionKey:
    """The session of a turn."""
    return SessionKey("a", "u", str(number))


@pytest.mark.parametrize(
    ("count", "begun", "free"),
    [
        pytest.param(2, [], 2, id="nothing in hand"),
        pytest.param(2, [NOW, NOW], 0, id="all taken"),
        pytest.param(2, [NOW, OLD], 1, id="a long turn takes up none"),
        pytest.param(2, [NOW, OLD + 1], 0, id="not long yet"),
        pytest.param(1, [NOW] * 3, 0, id="more in hand than there are places"),
        pytest.param(2, [OLD] * (2 * MOST - 1), 1, id="one more long turn fits"),
        pytest.param(2, [OLD] * 2 * MOST, 0, id="as many long turns as may be"),
        pytest.param(1, [OLD] * (MOST + 1), 0, id="more than may be"),
    ],
)
def test_free_places(count: int, begun: Sequence[float], free: int):
    """A turn has a place until it is long; but not even of long ones there may be any number."""
    there = taken(count, begun)
    assert there.free(NOW) == free
    assert there.full is (len(begun) >= MOST * count)


@pytest.mark.parametrize(
    ("count", "begun", "passed"),
    [
        pytest.param(1, [NOW], True, id="its place"),
        pytest.param(2, [NOW], True, id="its place beside a free one"),
        pytest.param(1, [OLD], False, id="it had none any more"),
        pytest.param(1, [OLD, NOW], False, id="somebody else has got it"),
        pytest.param(1, [NOW, NOW], False, id="more in hand than there are places"),
        pytest.param(1, [NOW] + [OLD] * (MOST - 1), True, id="full before and after"),
    ],
)
def test_a_place_that_is_passed_on(count: int, begun: Sequence[float], *, passed: bool):
    """The first of these turns ends: however long turns lasted, no more go on than before."""
    there = taken(count, begun)
    assert there.passes_on(key(0), now=NOW) is passed
    there.end(key(0))
    after = taken(count, begun[1:])
    assert (there.free(NOW), there.full) == (after.free(NOW), after.full)


async def test_a_turn_that_does_not_end_takes_nobodys_place(river: River, monkeypatch):
    """With room for one session, others are answered behind a tool that never ends."""
    monkeypatch.setattr(places, "LONG", 0.3)
    hanging, hung, over = await river.beside(), asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        """Hang."""
        hung.set()
        await over.wait()
        return "at last"

    model = ScriptedModel([call("hang"), "hello", "done"])
    async with river.worker(model, tools=[hang], concurrency=1):
        await hanging.ask()
        await hung.wait()
        await river.ask()
        await river.hears("hello")
        assert hanging.said() == []
        over.set()
        await hanging.hears("done")


async def test_turns_that_do_not_end_take_no_session_from_others(river: River, monkeypatch, caplog):
    """A process takes only so many of them; what is due then is left to one that is well."""
    monkeypatch.setattr(places, "LONG", 0.0)
    monkeypatch.setattr(places, "MOST", 2)
    over, hung = asyncio.Event(), asyncio.Semaphore(0)

    async def hang() -> str:
        """Hang."""
        hung.release()
        await over.wait()
        return "at last"

    first, later = [[await river.beside() for _ in range(4)] for _ in "12"]
    for each in first:
        await each.ask()
    says = [call("hang")] * len(first) + ["done"] * len(first)
    async with river.worker(ScriptedModel(says), tools=[hang], concurrency=2):
        for _ in first:
            await hung.acquire()
        for each in later:
            await each.ask()
        while "worker.full" not in caplog.messages:  # noqa: ASYNC110 - logs tell nobody
            await asyncio.sleep(0.01)
        async with river.worker(ScriptedModel(["well"] * len(later))):
            for each in later:
                await each.hears("well")
        over.set()
        for each in first:
            await each.hears("done")
    assert caplog.messages.count("worker.full") == 1


class Diligent:
    """A model that has the work done, and says so."""

    async def generate_content_async(self, request: LlmRequest, *, stream: bool = False):
        """A call, or its end."""
        is_done = request.contents[-1].parts[-1].function_response
        part = types.Part(text="done") if is_done else call("work")
        yield LlmResponse(content=types.Content(role="model", parts=[part]), finish_reason="STOP")


async def test_turns_that_were_long_leave_no_more_places(river: River, monkeypatch, caplog):
    """Five went on at once in one place: when they have ended it is one at a time again."""
    monkeypatch.setattr(places, "LONG", 0.0)
    monkeypatch.setattr(places, "MOST", 5)
    over, begun = asyncio.Event(), asyncio.Semaphore(0)
    now, at_once = 0, list[int]()

    async def work() -> str:
        """Work."""
        nonlocal now
        now += 1
        at_once.append(now)
        begun.release()
        await over.wait()
        await asyncio.sleep(0.01)
        now -= 1
        return "done"

    first, later = [[await river.beside() for _ in range(each)] for each in (5, 15)]
    for each in first:
        await each.ask()
    async with river.worker(Diligent(), tools=[work], concurrency=1):
        while "worker.full" not in caplog.messages:  # noqa: ASYNC110 - logs tell nobody
            await asyncio.sleep(0.01)
        monkeypatch.setattr(places, "LONG", 1e9)
        for each in later:
            await each.ask()
        for _ in first:
            await begun.acquire()
        over.set()
        for _ in later:
            await begun.acquire()
    assert at_once == [1, 2, 3, 4, 5] + [1] * 15
