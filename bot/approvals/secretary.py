"""Adds to new events whom to ask and what to tell, and closes what cannot stay open.

A runner asks for companions while it composes a commit and cannot wait; so the approvals of a
session are handed in before a turn, and what a turn opens is remembered until it ends.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from agents import Companions, Event, SessionKey, Slot, StoreUnavailable, Story
from bot import logs
from bot.approvals import audit
from bot.approvals.companions import plan
from bot.approvals.decide import settle
from bot.approvals.policy import Voter
from bot.approvals.records import readable
from bot.approvals.request import Approval
from bot.approvals.resolve import named, unsettled
from bot.approvals.scene import Rules, Scene
from bot.approvals.terms import OPERATOR, Vote, in_favour, is_person
from bot.approvals.withdrawal import Gone, withdraw
from bot.turns import Ring


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
        voter: Voter | None = None,
        gone: Gone | None = None,
    ) -> None:
        """Know no session yet; `look_up` finds out who stands behind which name now.

        `gone` tells which turns' messages were deleted: what these ask is withdrawn at once.
        """
        self._slot = slot
        self._rules = rules
        self._ring = ring
        self._nonces = nonces
        self._look_up = look_up
        self._voter = voter
        self._gone = gone
        self._asked: dict[SessionKey, dict[str, Approval]] = {}
        self._approvals: dict[SessionKey, dict[str, Approval]] = {}
        self._settling: dict[SessionKey, list[str]] = {}

    async def prepare(self, key: SessionKey, approvals: Mapping[str, Approval]) -> None:
        """Before a turn: take the session's approvals, and know who could be asked."""
        if self._look_up:
            await self._look_up()
        self.remember(key, approvals)
        open_ = {name: each for name, each in approvals.items() if each.status == "pending"}
        self._asked.setdefault(key, {}).update(open_)

    async def recall(self, key: SessionKey) -> None:
        """Before a turn is given up: take the session's approvals, as far as they can be read."""
        view = await self._slot.read(key, parts=("approvals",))
        self.remember(key, readable(view.approvals) if view else {})

    def remember(self, key: SessionKey, approvals: Mapping[str, Approval]) -> None:
        """Take a session's approvals as they were last read; what the turn opened is known."""
        self._approvals.setdefault(key, {}).update(approvals)

    def forget(self, key: SessionKey) -> None:
        """The turn is over."""
        self._approvals.pop(key, None)
        self._settling.pop(key, None)
        self._asked.pop(key, None)

    def companions(
        self, key: SessionKey, story: Story, *, new: Sequence[Event], now: int
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
            self._asked.setdefault(key, {})[record.id] = approvals[record.id]
            logs.info("approval.opened", approval=record.id)
        for gap in planned.gaps:
            logs.error("settings.unsafe", gap=gap.kind, tool=gap.tool, names=",".join(gap.names))
        self._settling.setdefault(key, []).extend(planned.settling)
        return planned.companions

    async def permit(self, key: SessionKey, request: str) -> tuple[str, audit.Json | None]:
        """Whether an approved call may still start: why not, and the audit entry of its start.

        Whoever approved must be entitled now as well, and it must be enough for today's policy.
        What was handed in before the turn may be older than the session that is in hand now, so
        its approvals are taken anew when this one is not among them. Raises StoreUnavailable while
        that cannot be looked up, and ValueError where this release cannot read the record.
        """
        only = (request,) if request in self._approvals.get(key, {}) else None
        view = await self._slot.read(key, parts=("approvals",), only=only)
        if view is None or request not in view.approvals:
            return "", None
        approval = Approval.from_record(view.approvals[request])
        self._approvals.setdefault(key, {}).update(readable(view.approvals))
        if approval.status != "approved":
            return "", None
        votes = await self._votes(approval)
        rules = self._rules(key)
        why = unsettled(approval, votes, rules.declared(approval), defaults=rules.defaults)
        return why, audit.started(approval, now=view.now)

    async def _votes(self, approval: Approval) -> tuple[Vote, ...]:
        """The votes in favour by people who still have a right, with what these stand for now."""
        votes = in_favour(approval.votes, approval.payload)
        if self._voter is None:
            return votes
        rules = self._rules(SessionKey.parse(approval.session))
        names = frozenset(named(rules.declared(approval), rules.defaults)) | approval.policy.groups
        found: list[Vote] = []
        for vote in votes:
            if vote.person.startswith(OPERATOR):
                continue
            person = await self._voter(vote.person, [n for n in names if not is_person(n)])
            if person is None:
                raise StoreUnavailable("Slack does not say who may decide, so nothing starts yet")
            if not person.barred:
                found.append(vote.model_copy(update={"names": tuple(sorted(person.names))}))
        return tuple(found)

    async def settle(self, key: SessionKey) -> bool:
        """Close what the events stored since the last time left no reason to keep open.

        Returns whether there was anything, which may have made more posts owed.
        """
        settling = self._settling.pop(key, ())
        for approval_id in settling:
            await settle(self._slot, key, approval_id, index=self._ring(key))
        return await self._take_back(key) or bool(settling)

    async def _take_back(self, key: SessionKey) -> bool:
        """Withdraw what was asked for a message that was deleted meanwhile; whether there was any.

        A deletion is noted first and open requests are looked for afterwards; here requests are
        opened first and deletions looked for afterwards. So one of the two finds the other.
        """
        asked = [each for each in self._asked.pop(key, {}).values() if each.turn]
        if not asked or self._gone is None:
            return False
        gone = await self._gone({each.turn for each in asked})
        found = [each for each in asked if each.turn in gone and not each.unknown]
        for each in found:
            await withdraw(self._slot, key, each, index=self._ring(key))
        return bool(found)
