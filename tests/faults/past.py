"""Conversations that are long already: events that somebody stored before, or meanwhile."""

import asyncio
import time

from agents import SessionKey, Slot, StoreUnavailable
from agents.runtime.errors import SessionConflict
from agents.runtime.events import Event
from agents.runtime.parts import content, text_part
from agents.runtime.slot.port import Begun, Commit, Companions, Post
from bot.approvals.posts import answer
from bot.playground import ANA
from bot.turns import thread_of

PAST = "past"
"""What the invocations of such events begin with."""
WINDOW = 220
"""More events than a worker reads of a session."""
READ = {"model": "crew", "gemini_api_key": "none", "context_window": 2_000}
"""Settings with which long conversations are summed up."""
SHARE = 100


async def write(slot: Slot, key: SessionKey, *, events: int) -> None:
    """Append so many events, turn by turn, as soon as nobody has the session in hand."""
    left, until = events, time.monotonic() + 5
    while left > 0 and time.monotonic() < until:
        try:
            await slot.apply(key, state={}, create=True)
            left -= await _append(slot, key, most=min(left, SHARE))
        except (StoreUnavailable, SessionConflict):
            await asyncio.sleep(0.05)


async def audit(slot: Slot, key: SessionKey) -> None:
    """Have something in the audit of a session that is over."""
    await slot.apply(key, state={}, create=True)
    begun = await slot.begin(key, owner=PAST, lease=500)
    assert isinstance(begun, Begun)
    told = Companions(audit=[{"type": "approval.refused", "at": begun.now, "approval": PAST}])
    commit = Commit(id=PAST, fence=begun.fence, version=0, companions=told, release=True)
    await slot.commit(key, commit)


async def _append(slot: Slot, key: SessionKey, *, most: int) -> int:
    """Append a share; how many were written, 0 while somebody has the session."""
    begun = await slot.begin(key, owner=PAST, lease=500)
    if not isinstance(begun, Begun):
        await asyncio.sleep(0.05)
        return 0
    first = begun.version + 1
    events = [event for turn in range(first, first + most, 2) for event in _turn(key, turn)]
    owed = [_post(key, event.version) for event in events]
    commit = Commit(
        id=f"{PAST}{begun.fence}",
        fence=begun.fence,
        version=begun.version,
        events=events,
        companions=Companions(posts=owed),
    )
    await slot.commit(key, commit)
    await slot.release(key, begun.fence, paid={post.id: "C0PAST|1.1" for post in owed})
    return len(events)


def _post(key: SessionKey, version: int) -> Post:
    """What was said then, and stands in the thread."""
    return answer(f"{PAST}:{version}:0", thread_of(key), text=PAST, asker=ANA.id)


def _turn(key: SessionKey, version: int) -> list[Event]:
    """Somebody says something that needs no answer, and is heard."""
    invocation, now = f"{PAST}{version}", time.time()
    said = content("user", [text_part(f"{PAST} {version}")])
    heard = content("model", [text_part("heard")])
    return [
        Event(
            version=version,
            invocation_id=invocation,
            author="user",
            user_id=ANA.id,
            content=said,
            timestamp=now,
        ),
        Event(
            version=version + 1,
            invocation_id=invocation,
            author=key.app,
            content=heard,
            timestamp=now,
        ),
    ]
