"""Settings and agents -> the policies that questions are put by, and what is wrong with them."""

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast
from zoneinfo import ZoneInfo

from agents import Agent, ApprovalPolicy, FunctionTool
from bot.approvals.conditions import Condition, condition, covers
from bot.approvals.counts import Complaint, counts, nobody
from bot.approvals.fitting import fitted, misfit
from bot.approvals.hours import Calendar
from bot.approvals.resolve import Defaults, named
from bot.approvals.terms import is_group, is_person
from bot.errors import SettingsError
from bot.policies import DAYS, WorkingHours
from bot.settings import Settings, variable

NO_GROUPS: Mapping[str, Sequence[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All policies of a deployment, by `agent.tool`: the tool's own, and that of the settings.

    Every tool has its entry, if an empty one: nobody decides about a tool that has none.
    """

    policies: Mapping[str, Sequence[ApprovalPolicy]]
    defaults: Defaults
    names: tuple[str, ...] = ()
    complaints: tuple[Complaint, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool's own policy, the JSON schema of its arguments, and whether it ever asks anybody."""

    approval: ApprovalPolicy | None
    schema: Mapping[str, Any]
    may_ask: bool


def book(
    settings: Settings, agents: Sequence[Agent], *, groups: Mapping[str, Sequence[str]] = NO_GROUPS
) -> Book:
    """The policies of these agents in this deployment; the complaints say what is wrong.

    `groups` are the members of user groups that somebody looked up.
    """
    tools = _declared(agents)
    written = settings.approval_policies
    policies = {
        name: (*_own(each), *_for(each, matching(written, name)))
        for name, each in sorted(tools.items())
    }
    defaults = Defaults(
        approvers=settings.approvers,
        ttl=settings.approval_ttl,
        longest=settings.approval_ttl if "approval_ttl" in settings.model_fields_set else None,
        calendar=calendar(settings.working_hours),
    )
    every = [policy for each in policies.values() for policy in each]
    names = named(every, defaults)
    told = (
        *_misplaced(written, tools),
        *counts(
            policies,
            defaults=defaults,
            roles={**groups, **settings.approver_roles},
            schemas={name: [tool.schema for tool in same] for name, same in tools.items()},
        ),
        *_unsafe(settings, policies, names=names),
    )
    return Book(policies=policies, defaults=defaults, names=names, complaints=told)


def matching(written: Mapping[str, ApprovalPolicy], tool: str) -> tuple[ApprovalPolicy, ...]:
    """The policies written for a tool, `agent.tool`: all that match it count, whatever the order.

    `*` in a name stands for anything: `agent.*` is all tools of an agent, `*.tool` one of any.
    """
    return tuple(policy for name, policy in written.items() if fnmatch.fnmatchcase(tool, name))


def _for(tools: Sequence[_Tool], policies: Sequence[ApprovalPolicy]) -> tuple[ApprovalPolicy, ...]:
    """Policies as they apply to tools of one name: without tiers that are about others."""
    schemas = [tool.schema for tool in tools]
    return tuple(fitted(policy, schemas) for policy in policies)


def usable(found: Book) -> Book:
    """The same policies, if the bot may run with them.

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


def _declared(agents: Sequence[Agent]) -> Mapping[str, Sequence[_Tool]]:
    """All tools by `agent.tool`, those of agents that others call too: several of one name, even.

    Every way to a tool leads to its policy, for a call is known by the agent that makes it.
    """
    seen, left = dict[int, Agent](), list(agents)
    while left:
        member = left.pop(0)
        if id(member) not in seen:
            seen[id(member)] = member
            left += [*member.family(), *filter(None, map(member.nested, member.tool_names()))]
    found: dict[str, list[_Tool]] = {}
    for member in seen.values():
        for tool in filter(None, map(member.tool, member.tool_names())):
            schema = cast("Mapping[str, Any]", tool.declaration.parameters_json_schema or {})
            gated = not isinstance(tool, FunctionTool) or tool.may_ask
            may_ask = gated or member.before_tool_callback is not None
            told = _Tool(tool.approval, schema, may_ask)
            found.setdefault(f"{member.name}.{tool.name}", []).append(told)
    return found


def _own(tools: Sequence[_Tool]) -> tuple[ApprovalPolicy, ...]:
    """The policies that tools of one name have themselves, each once."""
    found: list[ApprovalPolicy] = []
    for tool in tools:
        if tool.approval is not None and tool.approval not in found:
            found.append(tool.approval)
    return tuple(found)


def _misplaced(
    written: Mapping[str, ApprovalPolicy], tools: Mapping[str, Sequence[_Tool]]
) -> Iterator[Complaint]:
    """What is wrong with where policies stand, and with what their tiers are about."""
    for name, policy in written.items():
        matched = [t for each, t in tools.items() if fnmatch.fnmatchcase(each, name)]
        if meant := [tool for each in matched for tool in each]:
            yield from _tiers(name, policy, tools=meant)
            yield from _idle(name, [] if name not in tools else meant)
        else:
            told = f"COUNTERSIGN_APPROVAL_POLICIES: there is no tool {name} here."
            yield Complaint(told, refuse=True)
    for name, same in tools.items():
        if any(tool.approval != same[0].approval for tool in same):
            told = f"There are two tools {name}, with different policies: rename one of them."
            yield Complaint(told, refuse=True)
        for tool in same:
            if tool.approval is not None:
                yield from _tiers(name, tool.approval, tools=[tool])
                yield from _idle(name, [tool])


def _idle(name: str, tools: Sequence[_Tool]) -> Iterator[Complaint]:
    """A complaint about a policy that gates nothing: it matters to interrupted runs, if at all."""
    if tools and not any(tool.may_ask for tool in tools):
        told = "asks nobody before it runs, whatever its policy says"
        yield Complaint(f"{name} {told}: require_confirmation makes it ask")


def _unsafe(
    settings: Settings, policies: Mapping[str, Sequence[ApprovalPolicy]], *, names: Sequence[str]
) -> Iterator[Complaint]:
    """What works, but hardly as it was meant."""
    yield from _names(settings.approver_roles, names)
    wanting = [t for t, found in policies.items() if any(p.working_hours for p in found)]
    if wanting and settings.working_hours is None:
        yield Complaint(f"{wanting[0]} counts working hours, and none are set")
    for tool, found in policies.items():
        naming = [bool(p.approvers or p.any_of) for p in found]
        if any(naming) and any(p.escalate and not n for p, n in zip(found, naming, strict=True)):
            told = "escalates for nobody: a policy that names no approvers has no part in others'"
            yield Complaint(f"{tool} {told}")
    unasked = [t for t, f in policies.items() if not any(p.approvers or p.any_of for p in f)]
    if unasked and not settings.approvers:
        yield Complaint(f"there are no default approvers, and {unasked[0]} names none")


def _names(roles: Mapping[str, Sequence[str]], names: Sequence[str]) -> Iterator[Complaint]:
    told = [*names, *(member for members in roles.values() for member in members)]
    for name in dict.fromkeys(told):
        if not (is_person(name) or name in roles or is_group(name)):
            told = f"nobody knows who {name} is: name it in {variable('approver_roles')}"
            yield Complaint(told)
    for role in roles:
        if nobody(role, roles):
            yield Complaint(f"the role {role} stands for nobody")
        if is_person(role) or is_group(role):
            told = f"The role {role} is named like an id of Slack: give it another name."
            yield Complaint(told, refuse=True)


def _tiers(name: str, policy: ApprovalPolicy, *, tools: Sequence[_Tool]) -> Iterator[Complaint]:
    """What is wrong with the conditions of a policy for these tools."""
    before: dict[str, Condition] = {}
    for when, tier in policy.tiers.items():
        try:
            found = condition(when)
        except ValueError as error:
            yield Complaint(f"The policy of {name} is wrong: {error}.", refuse=True)
            continue
        for other in (each for each, earlier in before.items() if covers(found, earlier)):
            told = f"{when!r} is met whenever {other!r} is, and the last one counts"
            yield Complaint(f"The policy of {name} is wrong: {told}: turn them round.", refuse=True)
        before[when] = found
        wrong = [misfit(found, tool.schema) for tool in tools]
        if all(wrong):
            told = f"The policy of {name} is wrong: {when!r} {wrong[0]}."
            yield Complaint(told, refuse=True)
        yield from _tiers(name, tier, tools=tools)
