"""What may be in Slack already is looked for once; what came late is taken back."""

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession

from agents import Held, SessionConflict
from agents.runtime.slot.port import Begun, Commit, Companions
from agents.runtime.slot.redis import connect
from agents.runtime.testing import ScriptedModel
from bot import courier
from bot.approvals import posts
from bot.approvals.posts import answer
from bot.courier import Courier
from bot.index import Index
from bot.outbox import Debt, Outbox
from bot.playground import ANA
from bot.slack import replies
from bot.slack.blocks import answer as rendered
from bot.slack.endings import Posted, Result
from bot.slack.replies import Replies, web_client
from bot.turns import thread_of
from tests.bot.owing import Desk, question
from tests.bot.owing import answer as owing
from tests.bot.river import River

LEASE = 30_000
"""Milliseconds that the first process has the session for, unless it is told to stand still."""
LOOKS = (0.0, 0.3, 0.6, 3.0, 9.0)
"""Seconds before each look; none is waited for any more once the post is stored."""


class Still(Replies):
    """Stands still after everything was checked, right before a call, until `go_on`."""

    def stand(self, *, at: str = "") -> "Still":
        """Begin to, for the post with that id or for any."""
        self.begun, self.go_on, self.at = asyncio.Event(), asyncio.Event(), f"{at} " if at else ""
        return self

    async def post(self, *told: Any, until: float = math.inf, **options: Any) -> Result:
        """Post all the same, however late it is."""
        assert until < math.inf
        if not options["id"].startswith(self.at):
            return await super().post(*told, until=until, **options)
        self.begun.set()
        await self.go_on.wait()
        return await super().post(*told, **options)


async def owed(river: River, replies: Replies, text: str = "hello") -> Debt:
    """What a process owes that has the session in hand and does not keep it."""
    await river.slot.apply(river.key, state={}, create=True)
    begun = await river.slot.begin(river.key, owner="first", lease=LEASE)
    assert isinstance(begun, Begun)
    post = answer("o:1:0", river.thread, text=text, asker=ANA.id)
    commit = Commit(
        id="c", fence=begun.fence, version=begun.version, companions=Companions(posts=[post])
    )
    await river.slot.commit(river.key, commit)
    held = Held(river.slot, river.key, begun)
    held.owed[post.id], held.until = post, time.monotonic() + LEASE / 1000
    debt = await Outbox(slot=river.slot, replies=replies, owner="first").debt(held)
    debt.doubtful.clear()
    return debt


async def stalled(
    river: River, debt: Debt, replies: Still, *, piece: int = 0
) -> asyncio.Task[None]:
    """Pay up to a piece; the session is out of hand by then, which this process cannot know."""
    pieces, courier = itertools.count(), debt._courier
    known = courier._until

    async def until() -> float:
        there = await known()
        return there if next(pieces) < piece else 0.0

    courier._until = until
    paying = asyncio.create_task(paid(debt))
    await replies.begun.wait()
    assert await river.slot.renew(river.key, debt.fence, lease=0)
    return paying


async def paid(debt: Debt) -> None:
    """Pay, as far as the session is in hand."""
    with contextlib.suppress(SessionConflict):
        await debt.pay()


async def place(river: River) -> str:
    """Where the post is, once that is stored."""
    while True:
        view = await river.slot.read(river.key, parts=("posts",))
        if view and view.places:
            return view.places["o:1:0"]
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("when", ["before", "meanwhile", "after"])
async def test_a_late_post_is_taken_back(river: River, monkeypatch, when: str):
    """It goes on before, while or after the next worker posts: there is one in the end."""
    monkeypatch.setattr(courier, "LOOKS", LOOKS)
    async with ClientSession() as http:
        client = web_client(river.slack.bot_token, api_url=river.slack.api_url, session=http)
        first, second = Still(client).stand(), Still(client).stand()
        paying = await stalled(river, await owed(river, first), first)
        if when == "before":
            first.go_on.set()
            await river.hears("hello")
        await river.index.send(river.index.ring(river.key))
        async with replace(river, replies=second).worker(ScriptedModel([])):
            if when == "meanwhile":
                await second.begun.wait()
                first.go_on.set()
                await river.hears("hello")
                await river.slack.wait_for(lambda: len(sought(river)) == 2)
            second.go_on.set()
            stored = await place(river)
            first.go_on.set()
            await paying
    assert len(river.slack.calls("chat.postMessage")) == (1 if when == "before" else 2)
    assert river.said() == ["hello"]
    assert stored.partition("|")[2] in [
        each["ts"] for each in river.slack.thread("expenses", river.thread.ts)
    ]


@pytest.mark.parametrize("when", ["before", "meanwhile", "after"])
async def test_a_late_piece_is_taken_back(river: River, monkeypatch, when: str):
    """Of a long answer's second piece, too, there is one in the end, in its place."""
    monkeypatch.setattr(courier, "LOOKS", LOOKS)
    text = "\n".join(f"{number} {'word ' * 1_600}" for number in range(3))
    whole = [piece.text for piece in rendered(text)]
    async with ClientSession() as http:
        client = web_client(river.slack.bot_token, api_url=river.slack.api_url, session=http)
        first, second = (Still(client).stand(at="o:1:0/1") for _ in range(2))
        paying = await stalled(river, await owed(river, first, text), first, piece=1)
        if when == "before":
            first.go_on.set()
            await river.hears(*whole[:2])
        await river.index.send(river.index.ring(river.key))
        async with replace(river, replies=second).worker(ScriptedModel([])):
            if when == "meanwhile":
                await second.begun.wait()
                first.go_on.set()
                await river.hears(*whole[:2])
            second.go_on.set()
            await place(river)
            first.go_on.set()
            await paying
    assert len(whole) == 3
    assert len(river.slack.calls("chat.postMessage")) == (3 if when == "before" else 4)
    assert river.said() == whole


@pytest.mark.parametrize("late", ["first", "last"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("piece", ["o:1:0/1", "o:1:0/refused", "o:1:0/nobody"])
async def test_of_copies_that_nobody_stored_the_first_one_stays(
    river: River, monkeypatch, piece: str, *, both: bool, late: str
):
    """Whoever of them came late, and though each of two that did takes the others away."""
    monkeypatch.setattr(courier, "LOOKS", (0.0, 0.0))
    name = f"{piece} {river.key}"
    [message] = rendered("hello")
    places: list[str] = []
    for _ in range(2):
        made = await river.replies.post(river.thread, message, id=name)
        assert isinstance(made, Posted)
        places.append(made.place)
    for mine in places if both else [places[0] if late == "first" else places[1]]:
        await carried(river)._take_back(piece, river.thread, name=name, late=Posted(mine))
    assert await river.replies.copies(river.thread, id=name) == (places[0],)


@pytest.mark.parametrize("piece", ["o:1:0", "o:1:0/1"])
@pytest.mark.parametrize("stored", ["", "C1|1.0"])
async def test_the_only_copy_is_never_taken_back(
    river: River, monkeypatch, piece: str, stored: str
):
    """Wherever who took over has it."""
    monkeypatch.setattr(courier, "LOOKS", (0.0, 0.0))
    name = f"{piece} {river.key}"
    made = await river.replies.post(river.thread, rendered("hello")[0], id=name)
    await carried(river, stored)._take_back(piece, river.thread, name=name, late=made)
    assert river.said() == ["hello"]


@pytest.mark.parametrize("piece", ["o:1:0", "o:1:0/1"])
async def test_a_copy_that_is_made_while_one_looks_is_found(river: River, monkeypatch, piece: str):
    """Who took over posts and stores it right when whoever was late asks whether they did."""
    monkeypatch.setattr(courier, "LOOKS", (0.0, 0.0))
    name, [message] = f"{piece} {river.key}", rendered("hello")
    late = await river.replies.post(river.thread, message, id=name)
    made: list[str] = []

    async def stored(_: str) -> str:
        if not made:
            copy = await river.replies.post(river.thread, message, id=name)
            assert isinstance(copy, Posted)
            made.append(copy.place)
        return made[0]

    mine = carried(river, ask=stored)
    await mine._take_back(piece, river.thread, name=name, late=late)
    assert river.said() == ["hello"]


def carried(
    river: River, stored: str = "", *, ask: Callable[[str], Awaitable[str]] | None = None
) -> Courier:
    """A courier of a session in which a post is stored to be at that place, or where `ask` says."""

    async def until() -> float:
        return math.inf

    async def where(_: str) -> str:
        return stored

    return Courier(river.key, river.replies, until=until, stored=ask or where)


def sought(river: River) -> list[Any]:
    """The times that somebody looked for a post."""
    return river.slack.calls("conversations.replies")


@pytest.mark.parametrize("there", [[], [0], [1], [0, 1], [0, 3], [3], [0, 1, 2, 3]])
async def test_all_that_may_be_there_is_looked_for_at_once(desk: Desk, there: list[int]):
    """What another process left is read once; what is not there is made, whole and in order."""
    texts = ["one", "\n".join(["word " * 1_600] * 2), "three", "four"]
    owe = [owing(desk, number, text) for number, text in enumerate(texts)]
    for number in there:
        piece = rendered(texts[number])[0]
        await desk.outbox.replies.post(thread_of(desk.key), piece, id=f"o:{number}:0 {desk.key}")
    await desk.owe(*owe)
    assert (await desk.pay()).waits.pause is None
    assert sorted(desk.said()) == sorted(
        p.text.partition("\n")[0] for t in texts for p in rendered(t)
    )
    assert len(desk.slack.calls("conversations.replies")) == 1


async def test_each_place_is_looked_at_once(desk: Desk):
    """A card in its channel is looked for there, the answers in the thread."""
    asked = question(desk, desk.slack.workspace.channel("approvals").id)
    cards = [posts.card(asked, copy) for copy in asked.copies]
    await desk.owe(*(owing(desk, n, f"{n}") for n in range(2)), *cards, approvals=(asked,))
    await desk.pay()
    looks = [len(desk.slack.calls(f"conversations.{each}")) for each in ("replies", "history")]
    assert looks == [1, 1]


@pytest.mark.parametrize("fault", ["lost", "error"])
async def test_what_was_seen_says_nothing_of_what_was_made_since(desk: Desk, monkeypatch, fault):
    """A post of which nobody knows whether Slack took it is looked for anew."""
    monkeypatch.setattr("bot.outbox.LOOK_AGAIN", 0.0)
    await desk.owe(*(owing(desk, number, f"{number}") for number in range(3)))
    debt = await desk.debt()
    desk.slack.fail("chat.postMessage", "slow", seconds=0)
    desk.slack.fail("chat.postMessage", fault)
    await debt.pay()
    assert debt.waits.pause is not None
    await debt.pay()
    assert desk.said() == ["0", "1", "2"]
    assert len(desk.slack.calls("conversations.replies")) == 2


async def test_what_was_seen_long_ago_is_looked_at_again(desk: Desk, monkeypatch):
    """Somebody who stood still may have posted meanwhile."""
    monkeypatch.setattr(courier, "FRESH", 0.0)
    await desk.owe(*(owing(desk, number, f"{number}") for number in range(3)))
    await desk.pay()
    assert desk.said() == ["0", "1", "2"]
    assert len(desk.slack.calls("conversations.replies")) == 3


async def test_one_look_a_minute_is_enough(desk: Desk, store_url: str):
    """A limit that the first look brings about holds up nothing that it has answered."""
    async with connect(store_url) as client:
        index = Index(client)
        limited = Outbox(slot=desk.slot, replies=desk.outbox.replies, limits=index)
        await desk.owe(*(owing(desk, number, f"{number}") for number in range(3)))
        debt = await desk.debt(limited)
        desk.slack.fail("chat.postMessage", "slow", seconds=0)
        desk.slack.fail("chat.postMessage", "ratelimited", seconds=0)
        await debt.pay()
        await index.hold_off("conversations.replies", "", seconds=60)
        await asyncio.sleep(debt.waits.left or 0)
        await debt.pay()
    assert desk.said() == ["0", "1", "2"]


async def test_a_place_of_many_pages_is_read_once(desk: Desk, monkeypatch):
    """No page is read twice, and none that need not be."""
    monkeypatch.setattr(replies, "PAGE", 2)
    for number in range(6):
        await desk.outbox.replies.post(
            thread_of(desk.key), rendered(f"{number}")[0], id=f"o:{number}:0 {desk.key}"
        )
    await desk.owe(*(owing(desk, number, f"{number}") for number in range(5)))
    await desk.pay()
    assert desk.said() == ["0", "1", "2", "3", "4", "5"]
    assert len(desk.slack.calls("conversations.replies")) == 3
