"""`python -m tests.conformance [DIR] [NAME …]`: plays a folder of recorded cases.

A case is the measure. One with `verdict: beat` records a weakness: there `NAME.ours.json` beside it
has what must happen instead (`expect`), and a script or turns of its own where ours needs others.
A plain case may differ with a reason in `deviations.toml`.
"""

import asyncio
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.conformance.declared import declared
from tests.conformance.play import differences, play
from tests.conformance.sessions import sessions

HERE = Path(__file__).parent
CASES = HERE / "cases"
DEVIATIONS: dict[str, Any] = tomllib.loads((HERE / "deviations.toml").read_text())
PLAYERS = {"conversation": play, "declaration": declared, "session_api": sessions}


def cases(folder: Path) -> list[Path]:
    """The case files of a folder."""
    return [p for p in sorted(folder.glob("*.json")) if not p.name.endswith(".ours.json")]


def load(path: Path) -> dict[str, Any]:
    """A case with what must happen under `expect`; without it when nobody judged."""
    case: dict[str, Any] = json.loads(path.read_text())
    ours = path.with_name(f"{path.stem}.ours.json")
    if ours.exists():
        return case | json.loads(ours.read_text())
    if case.get("verdict") == "beat":
        del case["expect"]
    return case


def judge(case: dict[str, Any]) -> tuple[str, str]:
    """`passed`, `failed` (a diff), `unjudged` (the weakness), or `differs` (the reason)."""
    got = asyncio.run(PLAYERS[case["kind"]](case))
    if "expect" not in case:
        return "unjudged", case.get("better", "")
    difference = differences(case, case["expect"], got)
    if not difference:
        return "passed", ""
    reason = DEVIATIONS.get(case["id"], {}).get("reason")
    return ("differs", reason) if reason else ("failed", difference)


def main(arguments: list[str]) -> int:
    """Play and print; the exit status is 1 when a case failed."""
    folder = Path(arguments[0]) if arguments else CASES
    count = {"passed": 0, "differs": 0, "failed": 0, "unjudged": 0}
    for path in cases(folder):
        if arguments[1:] and not any(name in path.name for name in arguments[1:]):
            continue
        verdict, told = judge(load(path))
        count[verdict] += 1
        if verdict != "passed":
            sys.stdout.write(f"{verdict.upper()} {path.stem}\n{told}\n\n")
    if count["differs"]:
        sys.stdout.write(f"{count['differs']} of those that passed differ for the reason given\n")
    passed = count["passed"] + count["differs"]
    sys.stdout.write(f"{passed} passed, {count['failed']} failed, {count['unjudged']} unjudged\n")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
