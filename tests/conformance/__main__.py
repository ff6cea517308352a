"""`python -m tests.conformance [DIR] [NAME …]`: plays a folder of recorded cases."""

import asyncio
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.conformance.declared import declared
from tests.conformance.play import differences, expected, play
from tests.conformance.sessions import sessions

CASES = Path(__file__).parent / "cases"
DEVIATIONS = Path(__file__).parent / "deviations.toml"
PLAYERS = {"conversation": play, "declaration": declared, "session_api": sessions}


async def judge(path: Path) -> tuple[str, str]:
    """`passed`, `failed` with a diff, `unjudged`, or `deviates` with the reason."""
    case: dict[str, Any] = json.loads(path.read_text())
    want = expected(case, path.parent)
    got = await PLAYERS[case["kind"]](case)
    if want is None:
        return "unjudged", case.get("better", "")
    difference = differences(case, want, got)
    if not difference:
        return "passed", ""
    reasons = tomllib.loads(DEVIATIONS.read_text()) if DEVIATIONS.exists() else {}
    reason = reasons.get(case["id"], {}).get("reason")
    return ("deviates", reason) if reason else ("failed", difference)


def cases(folder: Path) -> list[Path]:
    """The case files of a folder."""
    return [p for p in sorted(folder.glob("*.json")) if not p.name.endswith(".ours.json")]


def main(arguments: list[str]) -> int:
    """Play and print; the exit status is 1 when a case failed."""
    folder = Path(arguments[0]) if arguments else CASES
    wanted = arguments[1:]
    count = {"passed": 0, "failed": 0, "unjudged": 0, "deviates": 0}
    for path in cases(folder):
        if wanted and not any(name in path.name for name in wanted):
            continue
        verdict, told = asyncio.run(judge(path))
        count[verdict] += 1
        if verdict != "passed":
            print(f"{verdict.upper()} {path.stem}\n{told}\n")
    passed = count["passed"] + count["deviates"]
    print(f"{passed} passed, {count['failed']} failed, {count['unjudged']} unjudged")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
