"""A selection of runs in which nothing may break, and planted bugs of which each must come out."""

from dataclasses import replace

import pytest

from tests.faults.plan import Plan, planned
from tests.faults.planted import BUGS
from tests.faults.table import table, timeline
from tests.faults.yard import Result, played

SEEDS = range(1, 17)
AT_ONCE = 4


async def _results(plans: list[Plan]) -> list[Result]:
    return [result async for result in played(plans, at_once=AT_ONCE)]


@pytest.mark.timeout(300)
async def test_whatever_goes_wrong_no_promise_is_broken():
    """Processes, store, network and Slack fail, and the judge finds nothing."""
    results = await _results([planned(seed) for seed in SEEDS])
    bad = [timeline(result) for result in results if result.violations]
    assert not bad, "\n".join([*bad, table(results, seconds=0)])


@pytest.mark.timeout(300)
async def test_each_planted_bug_comes_out():
    """The judge finds every bug that is planted, and finds the promise that it breaks."""
    results = await _results([planted.plan for planted in BUGS.values()])
    broken = {
        result.plan.plant: {violation.invariant for violation in result.violations}
        for result in results
    }
    expected = {name: {planted.breaks} for name, planted in BUGS.items()}
    assert {name: broken[name] & expected[name] for name in BUGS} == expected


@pytest.mark.timeout(300)
async def test_the_same_runs_without_the_bug_are_sound():
    """What shows a planted bug shows nothing where there is none."""
    sound = [replace(planted.plan, plant="") for planted in BUGS.values()]
    bad = [timeline(result) for result in await _results(sound) if result.violations]
    assert not bad, "\n".join(bad)
