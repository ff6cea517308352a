"""Gives a card in a DM to those who are asked and do not see the one in a channel; pure."""

from collections.abc import Collection, Mapping

from bot.approvals.request import Approval, Copy, voted
from bot.approvals.terms import is_person
from bot.turns import Spot

MOST = 25
"""The most cards in DMs for people outside the channel: Slack takes about one a second."""


def channels(approval: Approval, places: Mapping[str, str]) -> tuple[str, ...]:
    """The channels in which there is a card that their members see, or is to be one.

    `places` are where posts are, `channel|ts`: Slack may not have taken one where it was to go. In
    a DM nobody sees one but whom it is with.
    """
    there = (
        Spot.parse(places.get(copy.post, "")).channel or copy.channel
        for copy in approval.copies
        if not (copy.lost or is_person(copy.channel))
    )
    return tuple(dict.fromkeys(channel for channel in there if not channel.startswith("D")))


def seated(
    approval: Approval, inside: Mapping[str, Collection[str]], *, gone: Collection[str]
) -> Approval | None:
    """The approval when each who is asked sees a card, or `MOST` more do; None when they all do.

    Those who came in later, by an escalation or as heirs, always get one. `inside` are the members
    of its `channels`. Whoever is `gone`, or has voted, needs none. Where no card is seen by anybody
    who may decide, all of them are asked, though others are to be told, or nobody.
    """
    policy = approval.policy
    cards = [copy for copy in approval.copies if not copy.lost]
    reached = {copy.channel for copy in cards}.union(*inside.values())
    reached |= {approval.requester for copy in cards if copy.channel.startswith("D")}
    told = policy.approvers if policy.notified is None else policy.notified
    if reached.isdisjoint(policy.approvers):
        told = (*told, *policy.approvers)
    needless = reached.union(gone, voted(approval))
    absent = dict.fromkeys(each for each in told if is_person(each) and each not in needless)
    came = {*approval.heirs, *(p for e in approval.escalations for p in (*e.people, *e.names))}
    waiting = {*told}.difference(gone, voted(approval))
    room = max(0, MOST - sum(copy.channel in waiting for copy in cards))
    first = [each for each in absent if each in came]
    rest = [each for each in absent if each not in came]
    seats = enumerate([*first, *rest[:room]], start=len(approval.copies))
    more = tuple(Copy.numbered(approval.id, number, person) for number, person in seats)
    changed = {"copies": (*approval.copies, *more), "rev": approval.rev + 1}
    return approval.model_copy(update=changed) if more else None
