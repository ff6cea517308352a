"""What Slack says about those who are to decide: whether they can, and where they are asked."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from bot.approvals.policy import Person
from bot.approvals.terms import is_group, is_person
from bot.settings import Settings
from bot.slack.endings import Refused, Retry, Uncertain
from bot.slack.people import person_of
from bot.slack.workspace import Workspace, channel_id

MEMBERS = 20
"""People of a user group who are looked up: with more somebody can decide, for all that counts."""


async def unseated(
    names: Iterable[str], settings: Settings, found: Workspace
) -> AsyncIterator[str]:
    """Who decides but is not in a channel for approvals, and so gets cards in a DM."""
    told = [each.approvers_channel for each in settings.routes.values()]
    for channel in dict.fromkeys(filter(None, (settings.approvers_channel, *told))):
        there = await found.replies.members(channel_id(channel, found.channels) or channel)
        if not isinstance(there, tuple):
            yield f"Who is in {channel} is not known, so those who are asked get a DM as well."
        elif absent := [each for each in names if is_person(each) and each not in there]:
            yield f"Not in {channel}, and so asked in a DM, are: {', '.join(absent)}."


async def groups(names: Iterable[str], found: Workspace) -> Mapping[str, Sequence[str]]:
    """The members of the user groups among these names, as far as Slack knows."""
    told = {each: await found.replies.group(each) for each in names if is_group(each)}
    return {each: members for each, members in told.items() if isinstance(members, tuple)}


async def unable(name: str, found: Workspace) -> str:
    """Why somebody who is named cannot decide, or why nobody can tell; empty when they can."""
    if is_group(name):
        members = await found.replies.group(name)
        if not isinstance(members, tuple):
            return _unknown(name, members, kind="user group")
        why = await _empty(members, found)
        return why and f"{name} cannot decide: {why}."
    if not is_person(name):
        return ""
    told = await found.replies.user(name)
    if not isinstance(told, Mapping):
        return _unknown(name, told, kind="person")
    why = _barred(person_of(told), team=found.identity.team)
    return why and f"{name} cannot decide: {why}."


async def _empty(members: Sequence[str], found: Workspace) -> str:
    """Why a user group with these members stands for nobody; empty when somebody may decide."""
    if not members:
        return "nobody is in this user group"
    if len(members) > MEMBERS:
        return ""
    told = [await found.replies.user(each) for each in members]
    barred = [
        isinstance(each, Mapping) and _barred(person_of(each), team=found.identity.team)
        for each in told
    ]
    return "nobody who is in this user group may" if all(barred) else ""


def _unknown(name: str, ending: Retry | Uncertain | Refused, *, kind: str) -> str:
    """What Slack's refusal to say who somebody is amounts to."""
    if not isinstance(ending, Refused):
        return f"Whether {name} can decide is not known: Slack does not answer now."
    if ending.of_app or ending.method:
        return f"Whether {name} can decide is not known: Slack refuses to say: {ending.code}."
    return f"{name} cannot decide: Slack does not know this {kind}."


def _barred(person: Person, *, team: str) -> str:
    if person.deleted:
        return "the account is deactivated"
    if person.is_bot:
        return "this is an app"
    if person.is_guest:
        return "this is a guest"
    ours = person.team == team and not person.is_stranger
    return "" if ours else "this is somebody of another company"
