"""Whether as many people can agree, or reject, as a policy asks for; by what is known at the start.

Who is in a user group is Slack's to say: until somebody asks it may be any number of people.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pydantic import JsonValue

from agents import ApprovalPolicy, PayloadError, check_payload
from bot.approvals.examples import examples
from bot.approvals.resolve import Defaults, Members, NoApprovers, chosen, named, resolve
from bot.approvals.terms import is_group, is_person
from bot.approvals.tiers import whole


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something about policies that an operator has to mend; `refuse` stops the start."""

    text: str
    refuse: bool = False


def counts(
    policies: Mapping[str, Sequence[ApprovalPolicy]],
    *,
    defaults: Defaults,
    roles: Mapping[str, Sequence[str]],
    schemas: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[Complaint]:
    """What needs more people than there are, by all policies of a tool together.

    `roles` are the members of every name that is known, `schemas` those of the tools' arguments.
    """
    bounded = defaults.longest is not None
    for tool, found in policies.items():
        for n, declared in enumerate(found):
            others = (*found[:n], *found[n + 1 :])
            ends = bounded or any(isinstance(each.expires, timedelta) for each in others)
            for policy in whole(declared):
                endless = policy.expires is None and not ends
                yield from _never(tool, policy) if endless else ()
        known = replace(defaults, groups=_behind(named(found, defaults), roles))
        calls = (call for call in examples(found) if _may_be(call, schemas[tool]))
        told = (_too_few(chosen(found, call), known, call=call) for call in calls)
        if why := next(filter(None, told), ""):
            yield Complaint(f"The policy of {tool} is wrong: {why}.", refuse=True)


def _may_be(call: dict[str, JsonValue], schemas: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a tool can be called with these among its arguments."""
    for schema in schemas:
        with suppress(PayloadError):
            check_payload({**schema, "required": []}, call)
            return True
    return False


def nobody(role: str, roles: Mapping[str, Sequence[str]]) -> bool:
    """Whether nobody stands behind a role, for it is empty or only leads back to itself."""
    return not _leaves([role], roles)


def _never(tool: str, policy: ApprovalPolicy) -> Iterator[Complaint]:
    """A complaint about parts of a time that has no end: they never come."""
    parts = {
        "reminders": policy.reminders not in ((), ApprovalPolicy().reminders),
        "escalations": bool(policy.escalate),
    }
    for name in (name for name, told in parts.items() if told):
        yield Complaint(f"the policy of {tool} never expires, so its {name} never come about")


def _too_few(
    policies: Sequence[ApprovalPolicy], defaults: Defaults, *, call: Mapping[str, JsonValue]
) -> str:
    """What these policies ask more people for than there are; empty where they can be met.

    That nobody at all stands behind a name is said of the name.
    """
    where = f", where a call has {json.dumps(call, ensure_ascii=False)}" if call else ""
    found = resolve(policies, defaults=defaults, requester="")
    if isinstance(found, NoApprovers):
        told = f"{found.needed} people have to agree, and {found.present} can{where}"
        return told if found.present else ""
    asked = min(policy.rejections for policy in policies)
    if asked > found.rejections:
        return f"{asked} people have to reject, and {found.rejections} can{where}"
    return ""


def _behind(names: Iterable[str], roles: Mapping[str, Sequence[str]]) -> Members:
    """The people behind names; None for a group nobody looked up, which may be any number."""
    leaves = {name: _leaves([name], roles) for name in names if name in roles or is_group(name)}
    return {
        name: None if any(map(is_group, each)) else tuple(filter(is_person, sorted(each)))
        for name, each in leaves.items()
    }


def _leaves(names: Sequence[str], roles: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The names behind names that stand for nobody else."""
    seen, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += roles.get(name, ())
    return frozenset(seen.difference(roles))
