"""Stories of sessions that were in hand lately: only what is new of them has to be read."""

from collections import OrderedDict

from agents.runtime.slot.port import Begun, Busy, SessionKey, Slot
from agents.runtime.story import Story

SESSIONS = 32
EVENTS = 400
"""A story that outgrew this is read anew, from the newest events on."""


class Shelf:
    """The last stories of this process, by session.

    A story is taken out while its session is in hand and put back when all of it is stored. One
    whose newest event is not the stored one is not trusted.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._stories: OrderedDict[SessionKey, Story] = OrderedDict()

    def put(self, key: SessionKey, story: Story) -> None:
        """Keep a story, unless it is empty or too long; the oldest one may have to go."""
        if not 0 < len(story.events) <= EVENTS:
            return
        self._stories[key] = story
        if len(self._stories) > SESSIONS:
            self._stories.popitem(last=False)

    async def begin(
        self, slot: Slot, key: SessionKey, *, owner: str, lease: int
    ) -> tuple[Begun | Busy, Story | None]:
        """Take a session in hand, with its story as far as it is known and stored."""
        known = self._stories.pop(key, None)
        since = known.events[-1].version - 1 if known else 0
        begun = await slot.begin(key, owner=owner, lease=lease, since=since)
        if known is None:
            return begun, None
        if isinstance(begun, Busy):
            self.put(key, known)
            return begun, None
        if not _goes_on(known, begun):
            return await slot.begin(key, owner=owner, lease=lease), None
        for event in begun.events[1:]:
            known.add(event)
        return begun, known


def _goes_on(known: Story, begun: Begun) -> bool:
    """Whether the stored events begin with the newest one that is known."""
    last = known.events[-1]
    told = (last.version, last.timestamp, last.author, last.invocation_id)
    first = begun.events[0] if begun.events else None
    return first is not None and told == (
        first.version,
        first.timestamp,
        first.author,
        first.invocation_id,
    )
