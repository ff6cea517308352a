"""Plays plans, several beside each other, each in a world of its own."""

import asyncio
import tempfile
import traceback
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.case import Violation
from tests.faults.evidence import Evidence
from tests.faults.judge import check
from tests.faults.ledger import ledger
from tests.faults.nursery import Nursery
from tests.faults.plan import Plan
from tests.faults.world import World

LONGEST = 240.0
"""Seconds after which a run is stuck."""


@dataclass(frozen=True)
class Result:
    """A plan that was played: what is left, what the judge says, and the merged log."""

    plan: Plan
    evidence: Evidence
    violations: list[Violation]
    log: str


async def played(plans: Sequence[Plan], *, at_once: int) -> AsyncIterator[Result]:
    """The results, as they come."""
    room = asyncio.Semaphore(at_once)
    async with Nursery() as nursery, ledger() as address:

        async def play(plan: Plan) -> Result:
            async with room:
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    world = World(plan, nursery=nursery, ledger=address, folder=Path(folder))
                    try:
                        async with asyncio.timeout(LONGEST):
                            evidence = await world.play()
                        found = check(evidence)
                    except Exception:  # noqa: BLE001 - a mistake of ours must be seen, and stop no other run
                        evidence, broken = Evidence(), traceback.format_exc()
                        found = [Violation(0, "harness", broken)]
                    return Result(plan, evidence, found, world.log.read_text())

        for each in asyncio.as_completed([play(plan) for plan in plans]):
            yield await each
