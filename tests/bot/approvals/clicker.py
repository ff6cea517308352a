"""A process that decides about many approvals: `… clicker URL PREFIX PERSON OTHER ACT`.

It meets another one before each of them, so that both click at the same moment, and writes one JSON
line with the kinds of its outcomes.
"""

import asyncio
import json
import sys

from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.decide import decide
from bot.approvals.request import Approval
from tests.bot.approvals.samples import click, session


async def main(url: str, prefix: str, *, who: str, other: str, act: str) -> None:
    """Decide about the approval of each of a hundred sessions, always together with the other."""
    async with connect(url) as client:
        slot = RedisSlot(client, prefix=prefix)
        kinds = []
        for n in range(100):
            view = await slot.read(session(n), parts=("approvals",))
            assert view is not None
            asked = Approval.from_record(view.approvals["3-0"])
            await client.rpush(f"{prefix}{who}:{n}", "here")
            await client.blpop([f"{prefix}{other}:{n}"], timeout=10)
            kinds.append((await decide(slot, session(n), click(asked, who, act))).kind)
        sys.stdout.write(json.dumps(kinds))


if __name__ == "__main__":
    URL, PREFIX, WHO, OTHER, ACT = sys.argv[1:]
    asyncio.run(main(URL, PREFIX, who=WHO, other=OTHER, act=ACT))
