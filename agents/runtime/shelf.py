"""Stories of sessions that were in hand lately, so that only what is new has to be read."""

from collections import OrderedDict

from agents.runtime.slot.port import SIZE, Begun, Busy, SessionKey, Slot
from agents.runtime.story import Story

SESSIONS = 32
EVENTS = 400
BYTES = 256 * 1024
"""Bytes of a story beyond which it is not kept but read again from its newest events on."""


class Shelf:
    """The last stories of this process, by session.

    A story is taken out while its session is in hand and put back when all of it is stored. One of
    another session of that name, or whose newest event is not the stored one, is not trusted.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._stories: OrderedDict[SessionKey, tuple[int, Story]] = OrderedDict()

    def put(self, key: SessionKey, story: Story, *, created: int) -> None:
        """Keep a story unless it is empty or too long; the oldest one kept may have to go."""
        if not 0 < len(story.events) <= EVENTS or story.size > BYTES:
            return
        self._stories[key] = (created, story)
        if len(self._stories) > SESSIONS:
            self._stories.popitem(last=False)

    async def begin(
        self, slot: Slot, key: SessionKey, *, owner: str, lease: int, size: int = SIZE
    ) -> tuple[Begun | Busy, Story | None]:
        """Take a session in hand, with its story where that is known and up to date."""
        created, known = self._stories.pop(key, (0, None))
        since = known.events[-1].version - 1 if known else 0
        begun = await slot.begin(key, owner=owner, lease=lease, size=size, since=since)
        if known is None:
            return begun, None
        if isinstance(begun, Busy):
            self.put(key, known, created=created)
            return begun, None
        if begun.created != created or not _goes_on(known, begun):
            return await slot.begin(key, owner=owner, lease=lease, size=size), None
        for event in begun.events[1:]:
            known.add(event)
        return begun, known


def _goes_on(known: Story, begun: Begun) -> bool:
    """Whether the stored events begin with the newest known one and have no gap after it.

    News that outgrew what is read at once comes with gaps; a store that lost its end has fewer.
    """
    last = known.events[-1]
    if begun.version < last.version:
        return False
    if [event.version for event in begun.events] != [*range(last.version, begun.version + 1)]:
        return False
    told = (last.version, last.timestamp, last.author, last.invocation_id)
    first = begun.events[0]
    return told == (first.version, first.timestamp, first.author, first.invocation_id)
