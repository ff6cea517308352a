"""A post that comes late, because its process stood still, is taken back where there are two."""

import asyncio
import contextlib
import math
import time
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientSession

from agents import Held, SessionConflict
from agents.runtime.slot.port import Begun, Commit, Companions
from agents.runtime.testing import ScriptedModel
from bot import courier
from bot.approvals.posts import answer
from bot.outbox import Debt, Outbox
from bot.playground import ANA
from bot.slack.endings import Result
from bot.slack.replies import Replies, web_client
from tests.bot.river import River

LEASE = 300
"""Milliseconds that the first process has the session for."""


class Still(Replies):
    """Stands still after everything was checked, right before a call, until `go_on`."""

    def stand(self) -> "Still":
        """Begin to."""
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        return self

    async def post(self, *told: Any, until: float = math.inf, **options: Any) -> Result:
        """Post all the same, however late it is."""
        assert until < math.inf
        self.begun.set()
        await self.go_on.wait()
        return await super().post(*told, **options)


async def owed(river: River, replies: Replies) -> Debt:
    """What a process owes that has the session in hand and does not keep it."""
    await river.slot.apply(river.key, state={}, create=True)
    begun = await river.slot.begin(river.key, owner="first", lease=LEASE)
    assert isinstance(begun, Begun)
    post = answer("o:1:0", river.thread, text="hello", asker=ANA.id)
    commit = Commit(
        id="c", fence=begun.fence, version=begun.version, companions=Companions(posts=[post])
    )
    await river.slot.commit(river.key, commit)
    held = Held(river.slot, river.key, begun)
    held.owed[post.id], held.until = post, time.monotonic() + LEASE / 1000
    debt = await Outbox(slot=river.slot, replies=replies, owner="first").debt(held)
    debt.doubtful.clear()
    return debt


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
    monkeypatch.setattr(courier, "LATER", 0.3)
    async with ClientSession() as http:
        client = web_client(river.slack.bot_token, api_url=river.slack.api_url, session=http)
        first, second = Still(client).stand(), Still(client).stand()
        paying = asyncio.create_task(paid(await owed(river, first)))
        await first.begun.wait()
        if when == "before":
            await asyncio.sleep(LEASE / 1000)
            first.go_on.set()
            await river.hears("hello")
        await river.index.send(river.index.ring(river.key))
        async with replace(river, replies=second).worker(ScriptedModel([]), lease=30_000):
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


def sought(river: River) -> list[Any]:
    """The times that somebody looked for a post."""
    return river.slack.calls("conversations.replies")
