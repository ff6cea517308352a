"""Who is asked and does not see the card where it is: they get one in a DM; pure."""

from collections.abc import Collection, Mapping

from bot.approvals.request import Approval, Copy, voted
from bot.approvals.terms import is_person

MOST = 25
"""Cards in DMs that those get who are not in the channel: Slack takes about one a second."""


def channels(approval: Approval) -> tuple[str, ...]:
    """The channels that have a card, which only their members see."""
    return tuple(dict.fromkeys(copy.channel for copy in approval.copies if not copy.private))


def seated(
    approval: Approval, inside: Mapping[str, Collection[str]], *, gone: Collection[str]
) -> Approval | None:
    """The approval when each who is asked sees a card, or `MOST` more do; None when they all do.

    Those who came in later, by an escalation or as heirs, always get one. `inside` are the members
    of its `channels`. Whoever is `gone`, or has voted, needs none. One whose cards are all private
    has everybody's already.
    """
    if not inside:
        return None
    policy = approval.policy
    told = policy.approvers if policy.notified is None else policy.notified
    reached = {copy.channel for copy in approval.copies}.union(*inside.values())
    needless = reached.union(gone, voted(approval))
    absent = dict.fromkeys(each for each in told if is_person(each) and each not in needless)
    came = {*approval.heirs, *(p for e in approval.escalations for p in (*e.people, *e.names))}
    done = {*gone, *voted(approval)}
    room = max(0, MOST - sum(copy.private and copy.channel not in done for copy in approval.copies))
    first = [each for each in absent if each in came]
    rest = [each for each in absent if each not in came]
    seats = enumerate([*first, *rest[:room]], start=len(approval.copies))
    more = tuple(Copy.numbered(approval.id, number, person) for number, person in seats)
    changed = {"copies": (*approval.copies, *more), "rev": approval.rev + 1}
    return approval.model_copy(update=changed) if more else None
