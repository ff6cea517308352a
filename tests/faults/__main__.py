"""Play runs with faults and judge them: `python -m tests.faults [--runs N] [--seed S]`."""

import argparse
import asyncio
import sys
import time

from tests.faults.plan import planned
from tests.faults.table import table, timeline
from tests.faults.yard import Result, played

AT_ONCE = 5


def main() -> int:
    """The status is 0 when no promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="how many runs")
    parser.add_argument(
        "--seed", type=int, default=None, help="play the run of this seed, and tell"
    )
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first seed")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="how many beside each other")
    given = parser.parse_args()
    one = given.seed is not None
    seeds = [given.seed] if one else range(given.first, given.first + given.runs)
    began = time.monotonic()
    results = asyncio.run(_play(list(seeds), at_once=given.at_once, tell=one))
    sys.stdout.write(table(results, seconds=time.monotonic() - began) + "\n")
    return 1 if any(result.violations for result in results) else 0


async def _play(seeds: list[int], *, at_once: int, tell: bool) -> list[Result]:
    found: list[Result] = []
    async for result in played([planned(seed) for seed in seeds], at_once=at_once):
        found.append(result)
        if result.violations or tell:
            sys.stdout.write(timeline(result) + "\n")
            sys.stdout.flush()
        sys.stderr.write("!" if result.violations else ".")
        sys.stderr.flush()
    sys.stderr.write("\n")
    return sorted(found, key=lambda result: result.plan.seed)


if __name__ == "__main__":
    sys.exit(main())
