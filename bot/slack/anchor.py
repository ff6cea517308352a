"""Posts the audit's anchor once a day, where the owner of the store cannot take it back."""

import json
from datetime import datetime, timedelta

from agents import Slot
from bot import logs
from bot.approvals.anchor import anchor, day_of, told
from bot.index import Lists
from bot.slack.blocks import answer
from bot.slack.endings import Posted
from bot.slack.replies import CLOCKS_APART, Replies, Seen
from bot.turns import Thread


class DailyAnchor:
    """Anchors the audit: `await DailyAnchor(…).look()`, as often as you like.

    `ttl` is how long a session that nobody touches is kept.
    """

    def __init__(
        self, slot: Slot, lists: Lists, *, replies: Replies, channel: str, ttl: timedelta
    ) -> None:
        """Post to the channel with that id."""
        self._slot = slot
        self._lists = lists
        self._replies = replies
        self._channel = channel
        self._ttl = ttl
        self._posted = ""

    async def look(self) -> int:
        """Anchor today if that is not done yet; returns how many anchors were posted."""
        today = day_of(await self._lists.now())
        if today == self._posted:
            return 0
        made = await self._made(today)
        if made is None or not await self._lists.anchoring():
            return 0
        thread, (message,) = Thread(self._channel), answer(told(made))
        name = f"anchor:{today}"
        seen = Seen(datetime.fromisoformat(f"{today}T00:00Z").timestamp() - CLOCKS_APART)
        found = await self._replies.find(thread, id=name, seen=seen)
        result = found or await self._replies.post(thread, message, id=name)
        if not isinstance(result, Posted):
            logs.warning("outbox.refused", post=name, code=type(result).__name__)
            return 0
        self._posted = today
        return 0 if found else 1

    async def _made(self, today: str) -> dict[str, object] | None:
        """Today's anchor: the one that is kept, or a new one."""
        kept = await self._lists.anchor(today)
        if kept is None:
            before = [json.loads(each) for each in await self._lists.anchors()]
            prev = before[-1]["root"] if before else ""
            sessions = await self._lists.audited()
            made = await anchor(self._slot, sessions, ttl=self._ttl, prev=prev)
            if made is None:
                return None
            kept = await self._lists.keep_anchor(today, json.dumps(dict(made), sort_keys=True))
        return json.loads(kept)
