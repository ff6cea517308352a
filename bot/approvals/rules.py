"""Settings and agents -> the policies that questions are put by, and what is wrong with them."""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from zoneinfo import ZoneInfo

from agents import Agent, ApprovalPolicy
from bot.approvals.conditions import condition
from bot.approvals.counts import Complaint, counts
from bot.approvals.hours import Calendar
from bot.approvals.resolve import Defaults, named
from bot.approvals.terms import is_group, is_person
from bot.errors import SettingsError
from bot.policies import DAYS, WorkingHours
from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All policies of a deployment, by `agent.tool`: the tool's own, and that of the settings."""

    policies: Mapping[str, Sequence[ApprovalPolicy]]
    defaults: Defaults
    names: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool's own policy, and the names of its arguments."""

    approval: ApprovalPolicy | None
    arguments: frozenset[str]


def book(settings: Settings, agents: Sequence[Agent]) -> Book:
    """The policies of these agents in this deployment; the complaints say what is wrong."""
    tools = dict(_declared(agents))
    written = settings.approval_policies
    policies = {
        name: (*(() if tool.approval is None else (tool.approval,)), *matching(written, name))
        for name, tool in tools.items()
    }
    defaults = Defaults(
        approvers=settings.approvers,
        ttl=settings.approval_ttl,
        longest=settings.approval_ttl if "approval_ttl" in settings.model_fields_set else None,
        calendar=calendar(settings.working_hours),
    )
    every = [policy for each in policies.values() for policy in each]
    names = named(every, defaults)
    kept = {tool: found for tool, found in policies.items() if found}
    told = tuple(_complaints(settings, tools, policies=policies, names=names))
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


def _declared(agents: Sequence[Agent]) -> Iterator[tuple[str, _Tool]]:
    members = (member for agent in agents for member in agent.family())
    for member in members:
        for tool in filter(None, map(member.tool, member.tool_names())):
            schema = cast("Mapping[str, Any]", tool.declaration.parameters_json_schema or {})
            arguments = frozenset(schema.get("properties") or ())
            yield f"{member.name}.{tool.name}", _Tool(tool.approval, arguments)


def _complaints(
    settings: Settings,
    tools: Mapping[str, _Tool],
    *,
    policies: Mapping[str, Sequence[ApprovalPolicy]],
    names: Sequence[str],
) -> Iterator[Complaint]:
    written = settings.approval_policies
    for name, policy in written.items():
        meant = [tool for each, tool in tools.items() if fnmatch.fnmatchcase(each, name)]
        if meant:
            yield from _tiers(name, policy, tools=meant)
        else:
            told = f"COUNTERSIGN_APPROVAL_POLICIES: there is no tool {name} here."
            yield Complaint(told, refuse=True)
    for name, tool in tools.items():
        if tool.approval is not None:
            yield from _tiers(name, tool.approval, tools=[tool])
    yield from counts(policies, approvers=settings.approvers, roles=settings.approver_roles)
    yield from _names(settings.approver_roles, names)
    wanting = [t for t, found in policies.items() if any(p.working_hours for p in found)]
    if wanting and settings.working_hours is None:
        yield Complaint(f"{wanting[0]} counts working hours, and none are set")
    unasked = [t for t, f in policies.items() if not any(p.approvers or p.any_of for p in f)]
    if unasked and not settings.approvers:
        yield Complaint(f"there are no default approvers, and {unasked[0]} names none")


def _names(roles: Mapping[str, Sequence[str]], names: Sequence[str]) -> Iterator[Complaint]:
    told = [*names, *(member for members in roles.values() for member in members)]
    for name in dict.fromkeys(told):
        if not (is_person(name) or name in roles or is_group(name)):
            yield Complaint(f"nobody knows who {name} is: name it in approver_roles")
    for role, members in roles.items():
        if not members:
            yield Complaint(f"the role {role} stands for nobody")
        if is_person(role) or is_group(role):
            yield Complaint(f"the role {role} is named like an id of Slack: name it otherwise")


def _tiers(name: str, policy: ApprovalPolicy, *, tools: Sequence[_Tool]) -> Iterator[Complaint]:
    """What is wrong with the conditions of a policy for these tools."""
    for when, tier in policy.tiers.items():
        try:
            argument = condition(when).path[0]
        except ValueError as error:
            yield Complaint(f"The policy of {name} is wrong: {error}.", refuse=True)
            continue
        if not any(argument in tool.arguments for tool in tools):
            told = f"The policy of {name} is wrong: {when!r} is about {argument}, which it has not."
            yield Complaint(told, refuse=True)
        yield from _tiers(name, tier, tools=tools)
