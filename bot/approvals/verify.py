"""Whether an exported audit was changed: the standard library only, so that anybody can run it.

    python verify.py audit.jsonl

Each line of an export is `{session, entry, hash, prev}`; `hash` is the SHA-256 of the previous hash
of that session and the entry as canonical JSON. A chain that was cut at its end is whole in itself:
`heads` are the last hashes, to compare with heads that were noted elsewhere.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one line, counted from 1; line 0 is what is missing at the end."""

    line: int
    session: str
    problem: str


@dataclass(slots=True)
class Verdict:
    """What was found, and the last hash of each session."""

    findings: list[Finding] = field(default_factory=list[Finding])
    heads: dict[str, str] = field(default_factory=dict[str, str])


def link(previous: str, entry: object) -> str:
    """The hash that follows `previous` (hex, empty at first) with this entry."""
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((previous + text).encode()).hexdigest()


def verify(lines: Iterable[str], *, anchors: Mapping[str, str] | None = None) -> Verdict:
    """Check exported lines, of one or many sessions.

    `anchors` are heads that were noted before: each has to be in its session's chain.
    """
    verdict = Verdict()
    seen: dict[str, set[str]] = {}
    for number, line in enumerate(lines, start=1):
        session, problem, head = _checked(line, verdict.heads)
        if problem:
            verdict.findings.append(Finding(number, session, problem))
        if head:
            verdict.heads[session] = head
            seen.setdefault(session, set()).add(head)
    for session, anchor in (anchors or {}).items():
        if anchor not in seen.get(session, set()):
            verdict.findings.append(Finding(0, session, "the noted head is missing"))
    return verdict


def _checked(line: str, heads: Mapping[str, str]) -> tuple[str, str, str]:
    """A line's session, what is wrong with it, and the hash it claims."""
    try:
        parsed: object = json.loads(line)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or json.dumps(parsed, sort_keys=True) != line:
        return "", "this is no entry", ""
    found = cast("dict[str, object]", parsed)
    session, claimed = str(found.get("session", "")), str(found.get("hash", ""))
    previous = heads.get(session, "")
    if found.get("prev") != previous:
        return session, "the entry before it is missing or another one", claimed
    if link(previous, found.get("entry")) != claimed:
        return session, "the entry was changed", claimed
    return session, "", claimed


def main(paths: list[str]) -> int:
    """Verify the files named; 0 when nothing is wrong."""
    lines = (line for path in paths for line in Path(path).read_text("utf-8").splitlines())
    verdict = verify(lines)
    for finding in verdict.findings:
        print(f"line {finding.line}: {finding.problem} ({finding.session})")
    for session, head in sorted(verdict.heads.items()):
        print(f"{session} {head}")
    return 1 if verdict.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
