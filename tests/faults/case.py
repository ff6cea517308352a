"""What the judges look at: a session of a run, its events folded, and all the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.runtime.slot.port import Record, View
from agents.runtime.story import Call, Story
from tests.faults.evidence import Evidence, Shown

FINAL = ("rejected", "expired", "cancelled", "void", "done", "failed")
AGREED = ("approved", "started", "done", "failed", "unknown", "void")
ALWAYS_ASKED = ("share", "brief", "offer", "grant")
LIMIT = 100

Found = Iterator[tuple[int, str]]
"""The numbers of promises that were broken, and how."""


@dataclass(frozen=True)
class Violation:
    """A promise that was broken: its number (0: the ground the others stand on), where, and how."""

    invariant: int
    where: str
    what: str


@dataclass(frozen=True)
class Case:
    """One session."""

    tag: str
    view: View
    story: Story
    evidence: Evidence

    def acts(self, call_id: str) -> list[Mapping[str, Any]]:
        """What a call did outside."""
        key = f"{self.tag}:{call_id}"
        return [act for act in self.evidence.acts if act["key"] == key]

    def shared(self, person: str) -> Mapping[str, Any]:
        """The state that sessions of a person have in common, as others see it."""
        names = {number: name for name, number in self.evidence.people.items()}
        return self.evidence.shared.get(names.get(person, ""), {})

    def records(self, call_id: str) -> list[Record]:
        """The questions about a call."""
        return [r for r in self.view.approvals.values() if r.body["call_id"] == call_id]

    def reruns(self, call_id: str) -> int:
        """How often a person said that a call of unknown fate did not happen and may run."""
        return sum(bool(r.body["unknown"]) and self.agreed(r) for r in self.records(call_id))

    def agreed(self, record: Record) -> bool:
        """Whether people agreed that the call of a record may run, whatever became of it."""
        told = [e for e, _ in self.view.audit if e.get("approval") == record.id]
        return any(is_a(e, "approval.decided") and e["status"] == "approved" for e in told)

    def cards(self, record: Record) -> list[Shown]:
        """The cards of a question, where they are still known."""
        copies: Any = record.body["copies"]
        places = [self.view.places.get(copy["post"]) for copy in copies]
        return [m for m in self.evidence.shown if f"{m.channel}|{m.ts}" in places]

    def audit(self, record: Record, kind: str) -> list[Mapping[str, Any]]:
        """The audit entries of a kind about a record, oldest first."""
        return [e for e, _ in self.view.audit if e.get("approval") == record.id and is_a(e, kind)]


def groups(record: Record) -> list[str]:
    """The groups and roles that a record names."""
    policy: Any = record.body["policy"]
    rules = [name for rule in policy["rules"] for quota in rule for name in quota["names"]]
    return [name for name in (*policy["approvers"], *rules) if not name.startswith("U")]


def gated(call: Call) -> bool:
    """Whether people must agree to a call."""
    n = call.args.get("n", 0)
    return call.name in ALWAYS_ASKED or (isinstance(n, int | float) and n > LIMIT)


def is_a(entry: Mapping[str, Any], kind: str) -> bool:
    """Whether an audit entry is of a kind."""
    return entry.get("type") == kind
