"""Bugs that are planted as those of `bugs` are: what nobody is shown, told or rid of."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents import Entry
from agents.runtime import calling, held
from agents.runtime.slot import redis
from bot import index
from bot.approvals import decision, life
from bot.approvals.request import Approval
from bot.index import due, lists
from bot.slack import clicks, replies
from bot.slack.blocks import arguments
from tests.faults.bugs import edit

TOO_OFTEN = 40


def not_buried() -> None:
    """Operators never hear of a turn that was given up."""
    index.Index.buried = lambda *_told: ()


def wrong_note() -> None:
    """Who presses too late is told that it counted."""
    sentence = clicks.sentence
    clicks.sentence = lambda outcome: (
        "Your approval counted." if outcome.kind == "already" else sentence(outcome)
    )


def card_shows_other() -> None:
    """A card shows another amount than that which is stored."""
    ordered = arguments._ordered
    arguments._ordered = lambda approval: [
        (name, 1 if name == "n" else value) for name, value in ordered(approval)
    ]


def expires_early() -> None:
    """Questions are closed as soon as somebody looks, as if nobody had answered in time."""
    at = due.Index.approval_due
    due.Index.approval_due = lambda self, key, approval, _at: at(self, key, approval, 1)
    life.late = lambda *_told, **_options: True


def siblings_closed() -> None:
    """A decision about one question closes all others of its session."""
    deciding = redis.RedisSlot.decide

    async def decide(self: redis.RedisSlot, key: Any, told: Any) -> object:
        for name in await _siblings(self, key, told):
            view = await self.read(key, parts=("approvals",))
            before = Approval.from_record(view.approvals[name])
            if before.status == "pending":
                after = life.closed(before, "cancelled", now=view.now, why="run_cancelled")
                made = decision.change(before, after, now=view.now, head=view.audit_head)
                await deciding(self, key, replace(made, index=told.index))
        return await deciding(self, key, told)

    redis.RedisSlot.decide = decide


async def _siblings(slot: redis.RedisSlot, key: Any, told: Any) -> list[str]:
    """The other questions of a session, where one is decided by people."""
    if told.record.status not in ("approved", "rejected"):
        return []
    view = await slot.read(key, parts=("approvals",))
    return [name for name in view.approvals if name != told.record.id]


def rejection_doubted() -> None:
    """Whoever hears that people said no hears that it may have happened."""
    calling.Calling._unsure = property(lambda _self: True)


def starts_unaudited() -> None:
    """The audit does not say that a call started."""
    edit("start_call", "record(a.audit)\nlive()", "live()")


def anchor_leaves_out() -> None:
    """The audit of one session only is anchored."""
    listed = lists.Lists.audited

    async def audited(self: lists.Lists, **page: Any) -> Sequence[Any]:
        return (await listed(self, **page))[:1]

    lists.Lists.audited = audited


def journal_stays() -> None:
    """The journal of a call that is closed is kept for ever."""
    edit("commit", "call('HDEL', JOURNAL, cid, cid .. ':ask')", "")


def runs_stay() -> None:
    """What a run kept for itself outlives it."""
    edit("commit", "if run[2] == '' then call('HDEL', RUNS, run[1])", "if run[2] == '' then")


def decided_by_other() -> None:
    """The stored answer names somebody else than decided."""
    resume = decision.resume

    def resumed(approval: Approval) -> Entry:
        entry = resume(approval)
        return replace(entry, body={**entry.body, "user_id": "U0NOBODY"})

    decision.resume = resumed


def local_clock() -> None:
    """A question is asked by the clock of its process."""
    held.Held.now = property(lambda _self: int(time.time() * 1000))


def no_ring() -> None:
    """What is to be done is stored, and nobody is woken for it."""
    due.Index.ring = lambda *_told, **_options: ()


def changed_again() -> None:
    """A message is changed again and again, to what it is already."""
    update = replies.Replies.update

    async def updated(self: replies.Replies, *told: Any, **options: Any) -> object:
        for _ in range(TOO_OFTEN):
            await update(self, *told, **options)
        return await update(self, *told, **options)

    replies.Replies.update = updated
