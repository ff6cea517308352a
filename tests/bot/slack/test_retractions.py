"""What a deleted or edited message costs, and how long it is remembered."""

from collections.abc import Sequence
from typing import Any

import pytest

from agents import Decide, SessionKey
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Decided, Part, View
from agents.runtime.slot.redis import Client
from bot.approvals.hidden import note
from bot.approvals.request import Approval, Copy
from bot.index import Index
from bot.index.due import DELETED_LIVES, GONE_LIVES
from bot.slack.retractions import Retractions
from bot.turns import Thread, session_key
from tests.bot.approvals.conftest import put

ANA = "U0ANA"


class Frugal(MemorySlot):
    """A store in which it counts how often all events of a session are read."""

    whole = 0

    async def read(self, *told: Any, parts: Sequence[Part] = (), **more: Any) -> View | None:
        """Look, and count."""
        self.whole += "events" in parts
        return await super().read(*told, parts=parts, **more)


def event(channel: str, ts: str, *, deleted: bool) -> dict[str, Any]:
    """A message of Ana's that is deleted, or says something else."""
    before = {"user": ANA, "ts": ts, "text": "old"}
    kind = "message_deleted" if deleted else "message_changed"
    change = {} if deleted else {"message": {**before, "text": "new"}}
    inner = {"type": "message", "subtype": kind, "channel": channel, "event_ts": "9.9"}
    return {"team_id": "T0", "event": {**inner, "previous_message": before, **change}}


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "edited"])
@pytest.mark.parametrize(
    ("turn", "requester", "meant", "whole"),
    [
        pytest.param("m:C1:1.1", ANA, True, 0, id="it began what is asked"),
        pytest.param("m:C1:2.2", ANA, False, 0, id="another message began it"),
        pytest.param("m:C1:1.1", "U0BEN", False, 0, id="of somebody else"),
        pytest.param("", ANA, False, 1, id="nobody knows what began it"),
        pytest.param(None, ANA, False, 0, id="nothing is asked"),
    ],
)
async def test_no_conversation_is_read_for_a_message(
    store: Client, *, turn: str | None, requester: str, meant: bool, whole: int, deleted: bool
):
    """What is open tells what its message was: a long conversation would keep everybody waiting."""
    slot, index = Frugal(), Index(store)
    key = session_key(team="T0", agent="a", thread=Thread("C1", "1.1"))
    await slot.apply(key, state={}, create=True)
    if turn is not None:
        await put(slot, key=key, turn=turn, requester=requester, run="inv-1")
    taker = Retractions(
        slot, deleted=index.deleted, gone=index.gone, ring=index.ring, agents=["a"], team="T0"
    )
    await taker.take(event("C1", "1.1", deleted=deleted))
    view = await slot.read(key, parts=("approvals", "posts"))
    assert view
    changed = view.posts or any(r.status != "pending" for r in view.approvals.values())
    assert (bool(changed), slot.whole) == (meant, whole)


class Hurried(MemorySlot):
    """A store in which somebody else changes the record right before the first change."""

    overtaken = False

    async def decide(self, key: SessionKey, decide: Decide) -> Decided:
        """Be overtaken, once."""
        if not self.overtaken:
            self.overtaken = True
            view = await self.read(key, parts=("approvals",))
            assert view
            (record,) = view.approvals.values()
            await note(self, Approval.from_record(record), "C2", hides=True)
        return await super().decide(key, decide)


async def test_whoever_was_faster_keeps_nobody_from_hearing_of_an_edit(store: Client):
    """Something else that changed the record says nothing of the message; the line is owed once."""
    slot, index = Hurried(), Index(store)
    key = session_key(team="T0", agent="a", thread=Thread("C1", "1.1"))
    await slot.apply(key, state={}, create=True)
    cards = (Copy.numbered("3-0", 0, "C2"),)
    await put(slot, key=key, turn="m:C1:1.1", requester=ANA, copies=cards)
    taker = Retractions(
        slot, deleted=index.deleted, gone=index.gone, ring=index.ring, agents=["a"], team="T0"
    )
    for _ in range(2):
        await taker.take(event("C1", "1.1", deleted=False))
        view = await slot.read(key, parts=("posts",))
        assert view
        assert [post.body["kind"] for post in view.posts] == ["moved_on"]
    assert slot.overtaken


@pytest.mark.parametrize(
    ("channel", "session", "lives"),
    [
        pytest.param("C1", "1.1", GONE_LIVES, id="a thread of ours"),
        pytest.param("D1", "", GONE_LIVES, id="our conversation"),
        pytest.param("C1", None, DELETED_LIVES, id="a thread of nobody's"),
        pytest.param("C1", "", DELETED_LIVES, id="a channel we were greeted in"),
    ],
)
async def test_for_how_long_a_deletion_is_remembered(
    store: Client, channel: str, session: str | None, lives: int
):
    """For as long as a turn may ask something, and elsewhere until it can come no more."""
    slot, index = MemorySlot(), Index(store)
    if session is not None:
        key = session_key(team="T0", agent="a", thread=Thread(channel, session))
        await slot.apply(key, state={}, create=True)
    taker = Retractions(
        slot, deleted=index.deleted, gone=index.gone, ring=index.ring, agents=["a"], team="T0"
    )
    await taker.take(event(channel, "1.1", deleted=True))
    [note] = [name async for name in store.scan_iter("*gone*")]
    assert lives / 2 < await store.ttl(note) <= lives
    assert await index.gone([f"m:{channel}:1.1"])
