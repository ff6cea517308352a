"""Whether an exported audit was changed: the standard library only, so that anybody can run it.

    python verify.py audit.jsonl [ROOT …]

Each line of an export is `{session, entry, hash, prev}`; `hash` is the SHA-256 of the previous hash
of that session and the entry as canonical JSON. A chain that was cut at its end is whole in itself:
what shows the cut is an anchor, a line `{anchor, root, heads, lapses}` with the last hashes of one
day, and its root, which was noted elsewhere and is handed in as ROOT.
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one line, counted from 1; line 0 is what is missing at the end."""

    line: int
    session: str
    problem: str


@dataclass(slots=True)
class Verdict:
    """What was found, the last hash of each session, and the roots of the anchors."""

    findings: list[Finding] = field(default_factory=list[Finding])
    heads: dict[str, str] = field(default_factory=dict[str, str])
    roots: set[str] = field(default_factory=set[str])


def link(previous: str, entry: object) -> str:
    """The hash that follows `previous` (hex, empty at first) with this entry."""
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((previous + text).encode()).hexdigest()


def root(heads: Mapping[str, str]) -> str:
    """One hash over the last hashes of all sessions."""
    text = "\n".join(f"{session} {head}" for session, head in sorted(heads.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def verify(
    lines: Iterable[str],
    *,
    anchors: Mapping[str, str] | None = None,
    roots: Iterable[str] = (),
    now: float = 0,
) -> Verdict:
    """Check exported lines, of one or many sessions.

    `anchors` are heads that were noted before: each has to be in its session's chain. `roots` were
    noted elsewhere: each has to be that of an anchor in the export. At `now` (milliseconds) a
    session may be gone if its anchor says that it was not kept any longer.
    """
    verdict = Verdict()
    seen: dict[str, set[str]] = {}
    noted: list[Mapping[str, Any]] = [{"heads": anchors or {}}]
    for number, line in enumerate(lines, start=1):
        session, problem, found = _checked(line, verdict.heads)
        if problem:
            verdict.findings.append(Finding(number, session, problem))
        if "anchor" in found:
            noted.append(found)
            verdict.roots.add(str(found.get("root")))
        elif head := str(found.get("hash", "")):
            verdict.heads[session] = head
            seen.setdefault(session, set()).add(head)
    for each in noted:
        verdict.findings += _missing(each, seen, now=now)
    missing = (each for each in roots if each not in verdict.roots)
    verdict.findings += [Finding(0, "", f"no anchor has the noted root {each}") for each in missing]
    return verdict


def _checked(line: str, heads: Mapping[str, str]) -> tuple[str, str, Mapping[str, Any]]:
    """A line's session, what is wrong with it, and what it says."""
    try:
        parsed: object = json.loads(line)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict) or json.dumps(parsed, sort_keys=True) != line:
        return "", "this is no entry", {}
    found = cast("dict[str, Any]", parsed)
    if "anchor" in found:
        return "", _wrong_anchor(found), found
    session, claimed = str(found.get("session", "")), str(found.get("hash", ""))
    previous = heads.get(session, "")
    if found.get("prev") != previous:
        return session, "the entry before it is missing or another one", found
    if link(previous, found.get("entry")) != claimed:
        return session, "the entry was changed", found
    return session, "", found


def _wrong_anchor(found: Mapping[str, Any]) -> str:
    heads = found.get("heads")
    if set(found) != {"anchor", "root", "heads", "lapses"} or not isinstance(heads, dict):
        return "this is no anchor"
    fits = root(cast("dict[str, str]", heads)) == found.get("root")
    return "" if fits else "the anchor was changed"


def _missing(
    anchor: Mapping[str, Any], seen: Mapping[str, set[str]], *, now: float
) -> Iterable[Finding]:
    """The noted heads that no chain has."""
    lapses: Mapping[str, int | None] = anchor.get("lapses") or {}
    for session, head in cast("Mapping[str, str]", anchor.get("heads") or {}).items():
        lapse = lapses.get(session)
        if session not in seen and lapse is not None and lapse < now:
            continue
        if head not in seen.get(session, set()):
            yield Finding(0, session, "the noted head is missing")


def main(arguments: list[str]) -> int:
    """Verify the files named, against the roots named; 0 when nothing is wrong."""
    roots = [each for each in arguments if len(each) == 64 and not Path(each).exists()]
    paths = [each for each in arguments if each not in roots]
    lines = (line for path in paths for line in Path(path).read_text("utf-8").splitlines())
    verdict = verify(lines, roots=roots, now=time.time() * 1000)
    for finding in verdict.findings:
        print(f"line {finding.line}: {finding.problem} ({finding.session})")
    for session, head in sorted(verdict.heads.items()):
        print(f"{session} {head}")
    return 1 if verdict.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
