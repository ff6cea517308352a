"""What is printed about runs: a timeline of a bad one, and the table of all. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from tests.faults.case import Violation
from tests.faults.evidence import Evidence
from tests.faults.plan import PLACES, Plan


class Played(Protocol):
    """A run as it is told of."""

    plan: Plan
    evidence: Evidence
    violations: list[Violation]
    log: str


def timeline(result: Played) -> str:
    """The merged log of a run, ledger included, and what is wrong with it."""
    plan = result.plan
    lines = result.log.splitlines()
    lines += [f"{act['at']:.3f} ledger {act['tool']} {act['key']}" for act in result.evidence.acts]
    lines = sorted(lines, key=_moment)
    told = ", ".join(plan.faults) or "none"
    head = f"seed {plan.seed}: {told} {dict(plan.crash) or ''} {plan.plant}"
    broken = [f"  {each.invariant} {each.where}: {each.what}" for each in result.violations]
    return "\n".join([*lines, head, *broken, ""])


def table(results: Sequence[Played], *, seconds: float) -> str:
    """Faults by kind, unknowns by what became of them, and the last line."""
    faults = Counter(kind for result in results for kind in result.plan.faults)
    unknown = Counter(fate for result in results for fate in fates(result.evidence))
    broken = sum(len(result.violations) for result in results)
    messages = sum(len(result.evidence.sent) for result in results)
    approvals = sum(len(v.approvals) for r in results for v in r.evidence.sessions.values())
    clicks = sum(len(result.evidence.clicks) for result in results)
    lines = [
        f"{len(results)} runs in {seconds:.0f} s: {messages} messages, {approvals} approvals, "
        f"{clicks} clicks, {sum(len(r.evidence.acts) for r in results)} effects",
        _further(results),
        "",
        f"{'fault':<20} {'times':>6}",
        *(f"{kind:<20} {count:>6}" for kind, count in sorted(faults.items())),
        "",
        f"{'unknown call':<40} {'times':>6}",
        *(f"{fate:<40} {count:>6}" for fate, count in sorted(unknown.items())),
        "",
        f"{len(results)} runs, {sum(faults.values())} faults, {broken} violations",
    ]
    return "\n".join(lines)


def _further(results: Sequence[Played]) -> str:
    """How much of what is rare came up, and where no process has been."""
    views = [view for result in results for view in result.evidence.sessions.values()]
    events = [event for view in views for event in view.events]
    passed = {place for result in results for place in result.evidence.places}
    never = sorted(place for place in PLACES if place not in passed)
    counts = {
        "tickets": sum(len(result.evidence.moves) for result in results),
        "calls of nested agents": sum(
            bool(event.branch) and bool(event.get_function_calls()) for event in events
        ),
        "summaries": sum(event.actions.compaction is not None for event in events),
        "turns given up": sum(event.error_code == "GIVEN_UP" for event in events),
    }
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    return (
        f"{told}; {len(PLACES) - len(never)} of {len(PLACES)} crash points passed\n"
        f"never: {', '.join(never) or 'none'}"
    )


def fates(evidence: Evidence) -> list[str]:
    """What became of each call whose outcome was unknown."""
    return [
        f"a card asked; {record.body['why'] or record.status}"
        for view in evidence.sessions.values()
        for record in view.approvals.values()
        if record.body["unknown"]
    ]


def _moment(line: str) -> float:
    first = line.partition(" ")[0]
    return float(first) if first.replace(".", "").isdigit() else 0.0
