"""The daily anchor: posted once a day, whoever looks and however often."""

import asyncio
import json
from datetime import timedelta

from agents import SessionKey
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.anchor import anchor, exported
from bot.approvals.board import listed
from bot.approvals.decide import decide
from bot.approvals.verify import root, verify
from bot.index import Index
from bot.playground import LocalSlack
from bot.slack.anchor import DailyAnchor
from bot.slack.replies import Replies, web_client
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import KEY, click


async def test_the_anchor_is_posted_once(store_url: str, session):
    """Two clocks anchor one day: one message, with the root over every session's last hash."""
    async with LocalSlack() as slack, connect(store_url) as client:
        prefix = "anchor-test:"
        slot, index = RedisSlot(client, prefix=prefix), Index(client, prefix=prefix)
        replies = Replies(web_client(slack.bot_token, api_url=slack.api_url, session=session))
        general = slack.workspace.channel("general").id
        clocks = [
            DailyAnchor(slot, index.lists, replies=replies, channel=general, ttl=timedelta(days=30))
            for _ in range(2)
        ]
        assert await clocks[0].look() == 0
        asked = await put(slot)
        await index.send(listed(index.lists, asked))
        await decide(slot, KEY, click(asked))
        slack.fail("conversations.history", "slow", times=4, seconds=0.3)
        looked = await asyncio.gather(*(clock.look() for clock in (*clocks, *clocks)))
        assert sum(looked) == 1
        posted = [m for m in slack.messages("general") if "Audit anchor" in m["text"]]
        view = await slot.read(SessionKey.parse(asked.session), parts=("audit",))
        head = view.audit[-1][1]
        assert len(posted) == 1
        (text,) = await index.lists.anchors()
        kept = json.loads(text)
        assert (kept["heads"], kept["prev"]) == ({asked.session: head}, "")
        assert kept["root"] == root(kept)
        assert kept["root"] in posted[0]["text"]
        made = await anchor(slot, [KEY], ttl=timedelta(days=30), prev=kept["root"])
        await index.lists.keep_anchor("2000-01-01", text)
        await index.lists.keep_anchor("2999-01-01", json.dumps(dict(made), sort_keys=True))
        lines = [line async for line in exported(slot, [KEY])]
        anchors = await index.lists.anchors()
        assert verify([*lines, *anchors[1:]], roots=[made["root"]]).findings == []
