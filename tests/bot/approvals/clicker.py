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
from tests.bot.approvals.samples import KEY, click


async def main(url: str, prefix: str, *, who: str, other: str, act: str) -> None:
    """Decide about every approval of the session KEY, each together with the other process."""
    async with connect(url) as client:
        slot = RedisSlot(client, prefix=prefix)
        view = await slot.read(KEY, parts=("approvals",))
        assert view is not None
        kinds = []
        for name, record in sorted(view.approvals.items()):
            await client.rpush(f"{prefix}{who}:{name}", "here")
            await client.blpop(f"{prefix}{other}:{name}", timeout=10)
            outcome = await decide(slot, KEY, click(Approval.from_record(record), who, act))
            kinds.append(outcome.kind)
        sys.stdout.write(json.dumps(kinds))


if __name__ == "__main__":
    URL, PREFIX, WHO, OTHER, ACT = sys.argv[1:]
    asyncio.run(main(URL, PREFIX, who=WHO, other=OTHER, act=ACT))
