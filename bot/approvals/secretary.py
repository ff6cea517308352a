"""Writes down, with new events, whom to ask and what to tell, and closes what cannot stay open.

A runner asks for companions while it composes a commit and cannot wait; so the approvals of a
session are handed in before a turn, and what a turn opens is remembered until it ends.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from agents import Companions, Event, SessionKey, Slot, Story
from bot import logs
from bot.approvals.companions import plan
from bot.approvals.decide import settle
from bot.approvals.request import Approval, Command
from bot.approvals.scene import Rules, Scene

Ring = Callable[[SessionKey], Sequence[Command]]
"""The index commands that make a session due now."""


class Secretary:
    """The companion of every runner.

    `rules` say how a session's questions are put; `nonces` are taken one for each question.
    """

    def __init__(
        self,
        *,
        slot: Slot,
        rules: Callable[[SessionKey], Rules],
        ring: Ring,
        nonces: Iterator[str],
        look_up: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Know no session yet; `look_up` finds out who stands behind which name now."""
        self._slot = slot
        self._rules = rules
        self._ring = ring
        self._nonces = nonces
        self._look_up = look_up
        self._approvals: dict[SessionKey, dict[str, Approval]] = {}
        self._settling: dict[SessionKey, list[str]] = {}

    async def prepare(self, key: SessionKey, approvals: Mapping[str, Approval]) -> None:
        """Before a turn: take the session's approvals, and know who could be asked."""
        if self._look_up:
            await self._look_up()
        self.remember(key, approvals)

    def remember(self, key: SessionKey, approvals: Mapping[str, Approval]) -> None:
        """Take a session's approvals as they are stored now."""
        self._approvals[key] = dict(approvals)

    def forget(self, key: SessionKey) -> None:
        """The turn is over."""
        self._approvals.pop(key, None)
        self._settling.pop(key, None)

    def companions(
        self, key: SessionKey, story: Story, new: Sequence[Event], now: int
    ) -> Companions:
        """What goes into the slot with new events, the last ones of the story."""
        approvals = self._approvals.setdefault(key, {})
        planned = plan(
            new,
            Scene(
                key=key,
                rules=self._rules(key),
                now=now,
                nonces=self._nonces,
                story=story,
                approvals=approvals,
            ),
        )
        for record in planned.companions.approvals:
            approvals[record.id] = Approval.from_record(record)
            logs.info("approval.opened", approval=record.id)
        for gap in planned.gaps:
            logs.error("settings.unsafe", gap=gap.kind, tool=gap.tool, names=",".join(gap.names))
        self._settling.setdefault(key, []).extend(planned.settling)
        return planned.companions

    async def settle(self, key: SessionKey) -> None:
        """Close what the events stored since the last time left no reason to keep open."""
        for approval_id in self._settling.pop(key, ()):
            await settle(self._slot, key, approval_id, index=self._ring(key))
