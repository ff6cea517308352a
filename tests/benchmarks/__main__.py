"""`python -m tests.benchmarks [SUITE …] [--json]`: prints each figure beside its goal."""

import json
import math
import sys

from tests.benchmarks import approvals, gemini, runtime, store

SUITES = {
    "approvals": approvals.measure,
    "gemini": gemini.measure,
    "runtime": runtime.measure,
    "store": store.measure,
}


def main(arguments: list[str]) -> int:
    """Measure and print; the exit status is 1 when a goal is missed."""
    names = [name for name in arguments if not name.startswith("-")] or list(SUITES)
    missed = False
    for name in names:
        figures = SUITES[name]()
        missed |= any(value > goal for value, goal, _ in figures.values())
        if "--json" in arguments:
            told = {
                key: {"value": value, "goal": goal if math.isfinite(goal) else None, "unit": unit}
                for key, (value, goal, unit) in figures.items()
            }
            sys.stdout.write(json.dumps({name: told}) + "\n")
            continue
        for key, (value, goal, unit) in figures.items():
            aim = "" if math.isinf(goal) else f"  (goal {goal:g})"
            sys.stdout.write(f"{key:28} {value:8.2f} {unit}{aim}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
