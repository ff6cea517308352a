"""Settings and agents -> the policies that questions are put by, and what is wrong with them."""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from agents import Agent, ApprovalPolicy
from bot.approvals.conditions import condition
from bot.approvals.hours import Calendar
from bot.approvals.resolve import Defaults, named
from bot.approvals.terms import is_person
from bot.errors import SettingsError
from bot.policies import DAYS, WorkingHours
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something about policies that an operator has to mend; `refuse` stops the start."""

    text: str
    refuse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All policies of a deployment, by `agent.tool`: the tool's own, and that of the settings."""

    policies: Mapping[str, Sequence[ApprovalPolicy]]
    defaults: Defaults
    names: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = field(default=())


def book(settings: Settings, agents: Sequence[Agent]) -> Book:
    """The policies of these agents in this deployment; the complaints say what is wrong."""
    declared = dict(_declared(agents))
    written = settings.approval_policies
    policies = {
        tool: (*(() if own is None else (own,)), *matching(written, tool))
        for tool, own in declared.items()
    }
    defaults = Defaults(
        approvers=settings.approvers,
        ttl=settings.approval_ttl,
        calendar=calendar(settings.working_hours),
    )
    every = [policy for each in policies.values() for policy in each]
    names = named(every, defaults)
    kept = {tool: found for tool, found in policies.items() if found}
    told = tuple(_complaints(settings, policies, names=names))
    return Book(policies=kept, defaults=defaults, names=names, complaints=told)


def matching(written: Mapping[str, ApprovalPolicy], tool: str) -> tuple[ApprovalPolicy, ...]:
    """The policies written for a tool, `agent.tool`: all that match it count, whatever the order.

    `*` in a name stands for anything: `agent.*` is all tools of an agent, `*.tool` one of any.
    """
    return tuple(policy for name, policy in written.items() if fnmatch.fnmatchcase(tool, name))


def usable(found: Book) -> Book:
    """The same policies, if a bot may run with them.

    Raises SettingsError for a policy of a tool that is not there, or a condition nobody can read.
    """
    if refused := [each.text for each in found.complaints if each.refuse]:
        raise SettingsError("; ".join(refused))
    return found


def calendar(hours: WorkingHours | None) -> Calendar | None:
    """The calendar that working time is counted by."""
    if hours is None:
        return None
    return Calendar(
        zone=ZoneInfo(hours.zone),
        days=frozenset(DAYS.index(day) for day in hours.days),
        start=hours.start,
        end=hours.end,
        holidays=frozenset(hours.holidays),
    )


def _declared(agents: Sequence[Agent]) -> Iterator[tuple[str, ApprovalPolicy | None]]:
    members = (member for agent in agents for member in agent.family())
    for member in members:
        tools = map(member.tool, member.tool_names())
        yield from ((f"{member.name}.{tool.name}", tool.approval) for tool in tools if tool)


def _complaints(
    settings: Settings,
    policies: Mapping[str, Sequence[ApprovalPolicy]],
    *,
    names: Sequence[str],
) -> Iterator[Complaint]:
    for name in settings.approval_policies:
        if not any(fnmatch.fnmatchcase(tool, name) for tool in policies):
            told = f"COUNTERSIGN_APPROVAL_POLICIES: there is no tool {name} here."
            yield Complaint(told, refuse=True)
    for tool, found in policies.items():
        for policy in found:
            yield from _unreadable(tool, policy)
    yield from _names(settings.approver_roles, names)
    wanting = [t for t, found in policies.items() if any(p.working_hours for p in found)]
    if wanting and settings.working_hours is None:
        yield Complaint(f"{wanting[0]} counts working hours, and none are set")
    unasked = [t for t, f in policies.items() if not any(p.approvers or p.any_of for p in f)]
    if unasked and not settings.approvers:
        yield Complaint(f"there are no default approvers, and {unasked[0]} names none")


def _names(roles: Mapping[str, Sequence[str]], names: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        if not (is_person(name) or name in roles or name.startswith("S")):
            yield Complaint(f"nobody knows who {name} is: name it in approver_roles")
    for role, members in roles.items():
        if not members:
            yield Complaint(f"the role {role} stands for nobody")


def _unreadable(tool: str, policy: ApprovalPolicy) -> Iterator[Complaint]:
    for when, tier in policy.tiers.items():
        try:
            condition(when)
        except ValueError as error:
            yield Complaint(f"The policy of {tool} is wrong: {error}.", refuse=True)
        yield from _unreadable(tool, tier)
    parts = [*policy.reminders, *policy.escalate]
    if any(not 0 < part < 1 for part in parts):
        yield Complaint(
            f"The policy of {tool} is wrong: reminders and escalate are parts of its time.",
            refuse=True,
        )
