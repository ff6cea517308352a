"""Whether an exported audit was changed; needs only Python, so that anybody can run it.

    python verify.py audit.jsonl [ROOT …]

Each line of an export is `{session, entry, hash, prev}`; `hash` is the SHA-256 of the previous hash
of that session and the entry as canonical JSON. A chain that was cut at its end is whole in itself:
what shows the cut is an anchor, a line `{anchor, heads, lapses, prev, root}` with the last hashes
of one day and when their sessions may be gone. `root` is the SHA-256 of the rest of the line, in
which `prev` is the root of the anchor before: so the newest root, noted elsewhere and handed in as
ROOT, shows what was changed in any of them.
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one line, counted from 1; line 0 is what is missing at the end."""

    line: int
    session: str
    problem: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.problem}{self.session and f' ({self.session})'}"


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


def root(anchor: Mapping[str, Any]) -> str:
    """The hash of everything that an anchor says."""
    told = {name: value for name, value in anchor.items() if name != "root"}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def verify(lines: Iterable[str], *, roots: Iterable[str] = (), now: float = 0) -> Verdict:
    """Check exported lines, of one or many sessions.

    `roots` were noted elsewhere: each has to be that of an anchor in the export. At `now`
    (milliseconds) a session may be gone if its anchor says that it was not kept any longer.
    """
    verdict = Verdict()
    seen: dict[str, set[str]] = {}
    made: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        session, problem, found = _checked(line, verdict.heads)
        if "anchor" in found:
            problem = problem or _wrong_anchor(found, made)
            made += [] if problem else [found]
        elif head := str(found.get("hash", "")):
            verdict.heads[session] = head
            seen.setdefault(session, set()).add(head)
        if problem:
            verdict.findings.append(Finding(number, session, problem))
    verdict.roots = {str(each["root"]) for each in made}
    wanted = list(roots)
    sure = max((n for n, each in enumerate(made, start=1) if each["root"] in wanted), default=0)
    verdict.findings += _missing(made[:sure], seen, now=now)
    verdict.findings += _missing(made[sure:], seen, now=now)
    missing = (each for each in wanted if each not in verdict.roots)
    verdict.findings += [Finding(0, "", f"no anchor has the noted root {each}") for each in missing]
    return verdict


def _checked(line: str, heads: Mapping[str, str]) -> tuple[str, str, Mapping[str, Any]]:
    """A line's session, what is wrong with it, and what it says."""
    found = _read(line)
    if found is None:
        return "", "this is not an entry", {}
    if "anchor" in found:
        return "", "", found
    session = str(found["session"])
    if found["prev"] != heads.get(session, ""):
        return session, "the entry before it is missing or another one", found
    if link(found["prev"], found["entry"]) != found["hash"]:
        return session, "the entry was changed", found
    return session, "", found


def _read(line: str) -> Mapping[str, Any] | None:
    """An entry or anchor in its exported form; None for anything else, or any other spelling."""
    try:
        parsed: object = json.loads(line)
        same = json.dumps(parsed, sort_keys=True) == line
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or not same:
        return None
    found = cast("dict[str, Any]", parsed)
    is_entry = set(found) == {"session", "entry", "hash", "prev"}
    return found if is_entry or "anchor" in found else None


def _wrong_anchor(found: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with an anchor that follows others."""
    if set(found) != {"anchor", "root", "heads", "lapses", "prev"} or not _is_typed(found):
        return "this is not an anchor"
    if root(found) != found["root"]:
        return "the anchor was changed"
    if before and found["prev"] != before[-1]["root"]:
        return "the anchor before it is missing or another one"
    return ""


def _is_typed(found: Mapping[str, Any]) -> bool:
    heads, lapses = found["heads"], found["lapses"]
    if not isinstance(heads, dict) or not isinstance(lapses, dict):
        return False
    hashes = cast("dict[str, object]", heads).values()
    moments = cast("dict[str, object]", lapses).values()
    return all(isinstance(each, str) for each in hashes) and all(
        each is None or (isinstance(each, int) and not isinstance(each, bool)) for each in moments
    )


def _missing(
    anchors: Iterable[Mapping[str, Any]], seen: Mapping[str, set[str]], *, now: float
) -> Iterable[Finding]:
    """The noted heads that no chain has; the newest of the anchors tells when one may be gone."""
    noted: dict[tuple[str, str], None] = {}
    lapses: dict[str, int | None] = {}
    for anchor in anchors:
        heads: Mapping[str, str] = anchor["heads"]
        noted |= dict.fromkeys(heads.items())
        lapses |= {session: anchor["lapses"].get(session) for session in heads}
    for session, head in noted:
        lapse = lapses[session]
        if session not in seen and lapse is not None and lapse < now:
            continue
        if head not in seen.get(session, set()):
            yield Finding(0, session, "the noted head is missing")


def _plain(text: str) -> str:
    """A text out of a file with nothing in it that a terminal obeys or hides."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def main(arguments: list[str]) -> int:
    """Verify the files named, against the roots named.

    0 when nothing is wrong, 1 when something is, 2 when a file cannot be read or there is no entry.
    """
    roots = [each for each in arguments if len(each) == 64 and not Path(each).exists()]
    paths = [each for each in arguments if each not in roots]
    lines: list[str] = []
    for path in paths:
        try:
            lines += Path(path).read_text("utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            print(f"{_plain(path)} cannot be read: {why}.")
            return 2
    verdict = verify(lines, roots=roots, now=time.time() * 1000)
    for finding in verdict.findings:
        print(_plain(str(finding)))
    for session, head in sorted(verdict.heads.items()):
        print(_plain(f"{session} {head}"))
    print(_summary(lines, verdict))
    if verdict.findings:
        return 1
    return 0 if lines else 2


def _summary(lines: Sequence[str], verdict: Verdict) -> str:
    """What was verified, in a sentence, and what nobody can tell from it."""
    if not lines:
        return "There is no entry here, so nothing was verified."
    found = len(verdict.findings)
    wrong = f"{_counted(found, 'problem')}, named above" if found else "nothing is wrong"
    sessions, anchors = len(verdict.heads), len(verdict.roots)
    of = f"{_counted(sessions, 'session')}, {_counted(anchors, 'anchor')}"
    said = f"{_counted(len(lines), 'line')}, {of}: {wrong}."
    return said if anchors else f"{said} Without an anchor entries cut off the end are not missed."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
