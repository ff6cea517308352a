"""What people of other companies hear when they speak to us: one sentence, not too often."""

from collections.abc import Callable, Mapping
from typing import Any

from bot import logs
from bot.slack import events
from bot.slack.payloads import Clicker, Place

SENTENCE = (
    "I only answer people of the company that runs me. One of them can ask me on your behalf."
)
AGAIN = 3600.0
"""Seconds before somebody is told again in the same channel."""
MOST = 1_000
"""People and channels that are remembered; the oldest are forgotten."""


class Strangers:
    """Tells them in private where they are; `clock` is in seconds and only measures."""

    def __init__(
        self,
        *,
        tell: Callable[[Clicker, Place, str], None],
        team: str,
        bot_user: str,
        clock: Callable[[], float],
    ) -> None:
        """Say things with `tell`; `team` and `bot_user` are ours."""
        self._tell = tell
        self._team = team
        self._bot_user = bot_user
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    def hear(self, body: Mapping[str, Any]) -> None:
        """Answer an event if somebody of another company speaks to us in it."""
        found = events.stranger(body, team=self._team, bot_user=self._bot_user)
        if found is None:
            return
        by, place = found
        who, now = (by.id, place.thread.channel), self._clock()
        if now - self._told.get(who, now - AGAIN) < AGAIN:
            return
        self._told.pop(who, None)
        self._told[who] = now
        if len(self._told) > MOST:
            del self._told[next(iter(self._told))]
        logs.warning("click.refused", why="outsider", person=by.id)
        self._tell(by, place, SENTENCE)
