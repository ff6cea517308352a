"""Every way out of a turn gives its session back at once, or says why not."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from agents import FunctionTool, ModelUnavailable, SessionConflict, SessionKey, StoreUnavailable
from agents.runtime.lease import hold
from agents.runtime.slot.redis import Client, RedisSlot, connect
from agents.runtime.testing import ScriptedModel, call
from bot.index import Claim, Index
from bot.slack.replies import Replies, web_client
from tests.bot.river import River
from tests.faults.proxy import Proxy

LEASE = 600_000
"""Milliseconds: what is not given back is not due again within a test."""
READY = "b:{due:local}:ready"


class Heard(Index):
    """An index that tells when somebody is about to let go of a claim, and until when."""

    def __init__(self, store: Client) -> None:
        super().__init__(store)
        self.over_with = asyncio.Event()
        self.pause: float | None = None

    def over(self, claim: Claim, *, pause: float | None = None):
        """The commands, as ever."""
        self.over_with.set()
        self.pause = pause
        return super().over(claim, pause=pause)


@dataclass(frozen=True)
class Way:
    """A way out of a turn.

    `failing` is what its first commits raise, `says` the model's lines, `slack` how Slack answers,
    `elsewhere` that somebody else has the session. It is due again within `least` and `most`
    seconds; never when these are None.
    """

    least: float | None
    most: float | None
    failing: tuple[BaseException, ...] = ()
    says: tuple[Any, ...] = ("done",) * 3
    slack: str = ""
    elsewhere: bool = False


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(Way(None, None), id="done"),
        pytest.param(Way(4, 7, slack="ratelimited"), id="Slack wants it later"),
        pytest.param(Way(0, 3, slack="error"), id="Slack does not say"),
        pytest.param(Way(0, 3, slack="lost"), id="Slack is down"),
        pytest.param(
            Way(25, 30, says=(ModelUnavailable("busy", retry_after=30),)), id="the model is away"
        ),
        pytest.param(Way(0, 1, failing=(RuntimeError("a bug"),)), id="a bug"),
        pytest.param(Way(0, 1, failing=(asyncio.CancelledError(),)), id="cancelled by nobody"),
        pytest.param(Way(0, 1, failing=(SessionConflict("lost"),)), id="somebody took it over"),
        pytest.param(Way(0, 1, elsewhere=True), id="somebody has it"),
        pytest.param(Way(None, None, failing=(StoreUnavailable("?"),)), id="the store was away"),
        pytest.param(
            Way(500, 600, failing=(StoreUnavailable("full"),) * 3),
            id="the store answers and takes nothing: not before a lease",
        ),
    ],
)
async def test_ways_out(river: River, store: Client, way: Way):
    """When the turn is over its session is in nobody's hands, and due when there is a reason."""
    await river.ask()
    if way.slack:
        river.slack.fail("chat.postMessage", way.slack, seconds=7)
    heard = Heard(store)
    async with _perhaps_held(river, way):
        model, asked = ScriptedModel(way.says), replace(river, index=heard)
        async with asked.worker(model, failing=way.failing, lease=LEASE):
            await heard.over_with.wait()
        view = await river.slot.read(river.key, parts=())
    at = await store.zscore(READY, str(river.key))
    assert view
    assert (view.owner == "") != way.elsewhere
    assert (at is None) == (way.most is None)
    assert (heard.pause is None) == (way.most is None)
    if heard.pause is not None and way.least is not None and way.most is not None:
        assert way.least < heard.pause <= way.most


@asynccontextmanager
async def _perhaps_held(river: River, way: Way) -> AsyncIterator[None]:
    if not way.elsewhere:
        yield
        return
    async with hold(river.slot, river.key, owner="somebody", lease=LEASE):
        yield


@pytest.fixture
async def proxy(store_url: str) -> AsyncIterator[Proxy]:
    """A way to the store that can be cut."""
    async with Proxy(urlsplit(store_url).port or 0) as proxy:
        yield proxy


@pytest.mark.parametrize("part", ["model", "body", "post", "end"])
async def test_a_store_that_comes_back_finds_its_turns_go_on(
    river: River, store: Client, proxy: Proxy, caplog, part: str
):
    """Whatever was under way when the store went away: it is done soon after, not after a lease."""

    async def look_up() -> str:
        """Look up."""
        return cut("body") or "42"

    def cut(now: str) -> str:
        if now == part and "store.unavailable" not in caplog.messages:
            proxy.become("cut")
        return ""

    class Model(ScriptedModel):
        async def generate_content_async(self, request, *, stream=False):
            async for response in super().generate_content_async(request, stream=stream):
                yield response
            cut("model")

    class Cut(Heard):
        def over(self, claim: Claim, *, pause: float | None = None):
            cut("end")
            return super().over(claim, pause=pause)

    class Posting(Replies):
        async def post(self, *told, **options):
            cut("post")
            return await super().post(*told, **options)

    model, slack = Model([call("look_up"), *("done",) * 3]), river.slack
    async with connect(f"redis://127.0.0.1:{proxy.port}/0") as client, ClientSession() as http:
        replies = Posting(web_client(slack.bot_token, api_url=slack.api_url, session=http))
        away = replace(river, slot=RedisSlot(client), index=Cut(client), replies=replies)
        await river.ask()
        with caplog.at_level(logging.INFO, logger="countersign"):
            tool = FunctionTool(look_up, effects="none")
            async with away.worker(model, tools=[tool], lease=LEASE):
                await left_alone(caplog)
                proxy.become("")
                await struck_off(store, river.key)
        view = await river.slot.read(river.key, parts=())
    assert (river.said(), view and view.owner) == (["done"], "")


async def struck_off(store: Client, key: SessionKey) -> None:
    """Wait until nobody has a reason to look at a session."""
    while await store.zscore(READY, str(key)) is not None:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


async def left_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Wait until a turn met a store that does not answer."""

    def met() -> bool:
        lines = [each for each in caplog.records if each.msg == "store.unavailable"]
        return any("session" in vars(each)["fields"] for each in lines)

    while not met():  # noqa: ASYNC110 - logs tell nobody
        await asyncio.sleep(0.01)


class Gated(Index):
    """An index that holds back the claim with a number, once it is taken."""

    def __init__(self, store: Client, *, number: int) -> None:
        super().__init__(store)
        self.number = number
        self.taken, self.gate = asyncio.Event(), asyncio.Event()

    async def claimed(self, told: Sequence[Any], *, lease: int) -> list[Claim]:
        """What was taken, perhaps later."""
        found = await super().claimed(told, lease=lease)
        self.number -= len(found)
        if found and self.number == 0:
            self.taken.set()
            await self.gate.wait()
        return found


@pytest.mark.parametrize(
    "others", [pytest.param(1, id="by itself"), pytest.param(2, id="with a turn's end")]
)
async def test_what_is_claimed_when_all_stops_is_handed_on_at_once(
    river: River, store: Client, others: int
):
    """Another worker has it, though the first one's other turns are not over for long."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        """Last long."""
        begun.set()
        await go_on.wait()
        return "over"

    theirs, ours = ScriptedModel([call("hang"), "theirs", "theirs"]), ScriptedModel(["ours"])
    index = Gated(store, number=1 + others)
    first = replace(river, index=index).worker(
        theirs, tools=[hang], concurrency=2, grace=30, lease=LEASE
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(first)
        await river.ask()
        await begun.wait()
        threads = [await river.beside() for _ in range(others)]
        await asyncio.gather(*(thread.ask() for thread in threads))
        await index.taken.wait()
        ending = asyncio.create_task(stack.aclose())
        await asyncio.sleep(0)
        index.gate.set()
        async with river.worker(ours, lease=LEASE):
            await river.slack.wait_for(
                lambda: (
                    sorted(text for each in threads for text in each.said())
                    == ["ours", *["theirs"] * (others - 1)]
                )
            )
        assert not ending.done()
        go_on.set()
        await ending


async def test_a_session_that_is_rung_for_again_is_due_when_its_worker_stops(
    river: River, store: Client
):
    """What came in while its turn lasted is nobody's before that is over, and then anybody's."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        """Last long."""
        begun.set()
        await go_on.wait()
        return "over"

    index = Gated(store, number=2)
    index.gate.set()
    asked = replace(river, index=index)
    async with asked.worker(ScriptedModel([call("hang"), "1", "2"]), tools=[hang], lease=LEASE):
        await river.ask()
        await begun.wait()
        await store.execute_command(*index.ring(river.key)[0])
        await index.taken.wait()
        asyncio.get_running_loop().call_later(0.1, go_on.set)
    assert await store.zscore(READY, str(river.key)) == 0
