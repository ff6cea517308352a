"""What becomes of a request when too few of those who were asked may still decide.

People leave, become guests, or lose the group that gave them the right. Then a request goes to the
default approvers; without enough of them it is closed, and everybody concerned hears of it at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from agents import Decide, SessionKey, Slot, StoreUnavailable
from bot import logs
from bot.approvals import posts
from bot.approvals.decision import change
from bot.approvals.hidden import concealed
from bot.approvals.left import Able, unmet
from bot.approvals.life import closed, escalated_by, excluded, hastened, inherited, recounted
from bot.approvals.pauses import pauses
from bot.approvals.policy import Voter
from bot.approvals.records import readable
from bot.approvals.request import Approval, against, late
from bot.approvals.rota import TOLD, introduced, newcomers, rotated, rotating, unasked
from bot.approvals.seats import channels, seated
from bot.approvals.terms import approving, is_person
from bot.turns import Command, Spot, thread_of

LookUp = Callable[[Sequence[str], int], Awaitable[Able | None]]
"""Who may decide behind names, at most so many for each; None when nobody can say."""

Members = Callable[[str], Awaitable[tuple[str, ...] | None]]
"""The people behind a name, whatever they may decide; None when nobody can say."""

Inside = Callable[[str], Awaitable[frozenset[str] | None]]
"""Who is in a channel; None when nobody can say now."""

Shared = Callable[[str], Awaitable[bool]]
"""Whether people of other companies may be in a channel, as far as somebody says so."""

Follow = Callable[[Approval], Sequence[Command]]
"""The index commands that go with a change: the session is due, and those asked now find it."""

PASSED_ON = (
    "Too few of those who were asked about request {} may still decide, so the default approvers"
    " are asked as well."
)
NOBODY = (
    "Too few are left who may decide about request {}, so it is closed and does not run. An"
    " operator can name approvers."
)


class Succession:
    """Looks at open requests; `heirs` are the default approvers, who stand in for others."""

    def __init__(
        self,
        heirs: Sequence[str],
        *,
        look_up: LookUp,
        voter: Voter,
        follow: Follow,
        inside: Inside | None = None,
        members: Members | None = None,
        shared: Shared | None = None,
    ) -> None:
        """Keep the parts; `voter` says who somebody who approved is now.

        Without `inside` everybody is taken to see a card that is in a channel; without `members`
        nobody to have joined a group or left it; without `shared` no channel to be of others too.
        """
        self._shared = shared
        self._members = members
        self._inside = inside
        self._heirs = heirs
        self._voter = voter
        self._look_up = look_up
        self._follow = follow

    async def look(self, slot: Slot, key: SessionKey, approval_id: str) -> bool:
        """Ask who is new or was not known; pass it on, or close it, where too few may decide.

        Before that, approvals of people who lost the right are counted no more, and what other
        companies see by now hides what it is about. After it, whoever is asked and does not see the
        card where it is gets one in a DM.

        False when Slack does not say who may decide, and then nothing is done, or not who is in a
        channel, or when more may be left to do. Safe to repeat, by several processes at once: one
        of them changes the record, tells of it, and logs it.
        """
        looked = False
        for pause in pauses():
            if pause:
                await asyncio.sleep(pause)
            view = await slot.read(key, parts=("approvals", "posts"), only=(approval_id,))
            approval = readable(view.approvals).get(approval_id) if view else None
            if view is None or approval is None or approval.status != "pending":
                return True
            if late(approval, now=view.now):
                return True
            able = await self._look_up(_names(approval, self._heirs), _most(approval))
            held = await self._held(approval)
            roster = await self._roster(approval)
            if able is None or held is None or roster is None:
                return False
            mended = introduced(approval, {**able, **roster}) or rotated(approval, roster)
            mended = mended or recounted(approval, held)
            mended = mended or await self.concealed(approval, view.places)
            passed_on = mended or succeeded(approval, able, heirs=self._heirs, now=view.now)
            inside = await self._seats(approval, view.places)
            after, sure = passed_on or eased(approval, able, now=view.now), True
            if after is None:
                after, sure = await self._seated(approval, inside, gone=_gone(approval, able))
            if after is None:
                return sure
            following = _changed(approval, after, now=view.now, head=view.audit_head)
            stored = await slot.decide(key, replace(following, index=self._follow(after)))
            looked = looked or stored.kind == "ok"
            if stored.kind == "ok" and passed_on and not mended:
                _log(after)
        if looked:
            return False
        raise StoreUnavailable(f"the approval {approval_id} changes all the time")

    async def _seats(
        self, approval: Approval, places: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]] | None:
        """The members of the channels that have a card of it; None when Slack does not say."""
        if self._inside is None:
            return {}
        found: dict[str, frozenset[str]] = {}
        for channel in channels(approval, places):
            inside = await self._inside(channel)
            if inside is None:
                return None
            found[channel] = inside
        return found

    async def _seated(
        self,
        approval: Approval,
        inside: Mapping[str, frozenset[str]] | None,
        *,
        gone: frozenset[str],
    ) -> tuple[Approval | None, bool]:
        """As `seated`, but nobody who is barred gets a card; and whether Slack has said it all."""
        if self._inside is None or inside is None:
            return None, self._inside is None
        while after := seated(approval, inside, gone=gone):
            new = [copy.channel for copy in after.copies[len(approval.copies) :]]
            able = await self._look_up(new, 1)
            if able is None:
                return None, False
            barred = frozenset(person for person in new if not able.get(person))
            if not barred:
                return after, True
            gone |= barred
        return None, True

    async def concealed(self, approval: Approval, places: Mapping[str, str]) -> Approval | None:
        """The approval when something of it is in a channel that others see by now; else None."""
        if self._shared is None:
            return None
        posted = (approval.notice, *(copy.post for copy in approval.copies))
        there = {Spot.parse(places.get(post, "")).channel for post in posted}
        new = sorted(there - {"", *approval.hidden})
        return concealed(approval, [channel for channel in new if await self._shared(channel)])

    async def _roster(self, approval: Approval) -> Mapping[str, tuple[str, ...]] | None:
        """The members of its groups, as `rotated` takes them.

        The first `TOLD` who are new are looked up, and left out if barred; a click looks everybody
        up. None when Slack does not say it of one of these.
        """
        found: dict[str, tuple[str, ...]] = {}
        for name in rotating(approval) if self._members else ():
            people = await self._members(name) if self._members else None
            found |= {} if people is None else {name: tuple(sorted(people))}
        new = newcomers(approval, found)[:TOLD]
        able: Able | None = await self._look_up(new, 1) if new else {}
        if able is None:
            return None
        barred = {person for person in new if not able.get(person)}
        return {n: tuple(p for p in people if p not in barred) for n, people in found.items()}

    async def _held(self, approval: Approval) -> Mapping[str, frozenset[str] | None] | None:
        """The names that each who approved stands for now, as `recounted` takes them.

        None when Slack does not say.
        """
        found: dict[str, frozenset[str] | None] = {}
        for vote in approving(approval.votes):
            person = await self._voter(vote.person, approval.policy.groups)
            if person is None:
                return None
            found[vote.person] = None if person.barred else person.names
        return found


def _changed(before: Approval, after: Approval, *, now: int, head: str) -> Decide:
    """The change, with what the requester reads in their thread where others have to come in."""
    changed = change(before, after, now=now, head=head)
    if after.status != "cancelled" and after.heirs == before.heirs:
        return changed
    text = (PASSED_ON if after.status == "pending" else NOBODY).format(after.reference)
    home = thread_of(SessionKey.parse(after.session))
    name = f"heirs:{after.id}:{after.rev}"
    told = posts.notice(name, home, text=text, asker=after.requester, at=now)
    return replace(changed, posts=(*changed.posts, told))


def succeeded(approval: Approval, able: Able, *, heirs: Sequence[str], now: int) -> Approval | None:
    """The approval when too few may still decide, or None where enough can.

    The heirs may decide from now on beside those who are left, where a rule has too few: the others
    stay as they are. When the heirs are too few as well it is closed, unless an escalation to come
    brings enough; it comes at once where nobody else is left.
    """
    rules = unmet(approval, able)
    if not rules:
        return None
    own = excluded(approval)
    names = [name for name in heirs if able[name] - own]
    people = tuple(dict.fromkeys(p for name in names for p in sorted(able[name] - own)))
    after = inherited(approval, names, people, gone=_gone(approval, able), rules=rules)
    if names and not unmet(after, able):
        return after
    policy = after.policy if names else approval.policy
    policy = escalated_by(approval.escalations[approval.escalated :], policy)
    if not unmet(after.model_copy(update={"policy": policy}), able):
        left = {person for name in approval.policy.names for person in able.get(name, ())} - own
        return None if left else hastened(approval, now=now, gone=_gone(approval, able))
    return closed(approval, "cancelled", now=now, why="nobody")


def eased(approval: Approval, able: Able, *, now: int) -> Approval | None:
    """The approval when it takes fewer rejections, or more again; None where that stays as it is.

    As when it was asked, it takes no more than there are: whoever has rejected, may still, or may
    later on. What has been rejected by so many is rejected.
    """
    policy, said = approval.policy, against(approval)
    later = (n for e in approval.escalations[approval.escalated :] for n in (*e.names, *e.people))
    names = (*policy.names, *policy.approvers, *later)
    left = {person for name in names for person in able.get(name, ())} - excluded(approval)
    wanted = policy.wanted or policy.rejections
    needed = max(1, min(wanted, len(left.union(said))))
    if needed == policy.rejections:
        return None
    known = policy.model_copy(update={"rejections": needed, "wanted": wanted})
    changed = {"policy": known, "rev": approval.rev + 1}
    if len(said) >= needed:
        changed |= {"status": "rejected", "decided_by": said[-1], "decided_at": now}
    return approval.model_copy(update=changed)


def _gone(approval: Approval, able: Able) -> frozenset[str]:
    """Those who were asked and may not decide any more, as far as that is known.

    Of a name that many stand for only the first ones were looked up.
    """
    policy = approval.policy
    left = frozenset(person for people in able.values() for person in people)
    whole = all(len(able[name]) < _most(approval) for name in policy.names)
    asked = policy.names.union(policy.approvers if whole else ())
    return frozenset(name for name in asked - left if is_person(name))


def _names(approval: Approval, heirs: Sequence[str]) -> tuple[str, ...]:
    """Everybody whose right counts: of the policy, of what it escalates to, and the heirs."""
    later = (name for each in approval.escalations for name in (*each.names, *each.people))
    named = (*sorted(approval.policy.names), *unasked(approval))
    return tuple(dict.fromkeys((*named, *heirs, *later)))


def _most(approval: Approval) -> int:
    """How many who may decide behind one name are as good as any number of them."""
    counts = (quota.count for rule in approval.policy.demands for quota in rule)
    no = max(approval.policy.rejections, approval.policy.wanted)
    return max(*counts, no) + len(approval.votes) + 1


def _log(after: Approval) -> None:
    """One line for operators, about the request and not about people."""
    tool = f"{after.agent}.{after.tool}"
    if after.status == "pending":
        logs.warning("approval.passed_on", approval=after.id, session=after.session, tool=tool)
    else:
        logs.error("settings.unsafe", gap="no_approvers", approval=after.id, tool=tool)
