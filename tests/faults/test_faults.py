"""A selection of runs in which nothing may break, and planted bugs of which each must come out."""

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.faults.plan import BESIDES, ELSEWHERE, PLACES, PORTS, Plan, calls, planned
from tests.faults.planted import BUGS
from tests.faults.table import table, timeline
from tests.faults.yard import Result, played

SEEDS = range(1, 17)
AT_ONCE = 4
ROOT = Path(__file__).parents[2]
HOLDERS = {
    "slot": ("slot", "_slot"),
    "index": ("index", "_index", "_doorbell", "_limits"),
    "lists": ("lists", "_lists", "_hints"),
    "slack": ("replies", "_replies"),
    "tickets": ("tickets", "_tickets"),
    "ledger": (),
    "model": ("model",),
}
"""What a port is called where it is awaited."""


PLAYS = 5
"""How often a planted bug is played until it comes out; after the first time alone."""
HANGS = 600
"""Seconds after which what takes two minutes where nobody else is at work hangs."""


async def _results(plans: list[Plan], *, at_once: int = AT_ONCE) -> list[Result]:
    return [result async for result in played(plans, at_once=at_once)]


@pytest.mark.timeout(HANGS)
async def test_whatever_goes_wrong_no_promise_is_broken():
    """Processes, store, network and Slack fail, and the judge finds nothing."""
    results = await _results([planned(seed) for seed in SEEDS])
    bad = [timeline(result) for result in results if result.violations]
    assert not bad, "\n".join([*bad, table(results, seconds=0)])
    passed = {place.rpartition(".")[0] for r in results for place in r.evidence.places}
    assert passed & ELSEWHERE.keys() == set()


@pytest.mark.timeout(HANGS)
async def test_each_planted_bug_comes_out():
    """The judge finds every bug that is planted, and finds the promise that it breaks.

    A busy machine may miss the moment that shows a bug: one that stays hidden is played again.
    """
    hidden = dict(BUGS)
    for play in range(PLAYS):
        plans = [planted.plan for planted in hidden.values()]
        for result in await _results(plans, at_once=1 if play else AT_ONCE) if plans else ():
            broken = {violation.invariant for violation in result.violations}
            if BUGS[result.plan.plant].breaks in broken:
                del hidden[result.plan.plant]
    assert not hidden


@pytest.mark.timeout(HANGS)
async def test_the_same_runs_without_the_bug_are_sound():
    """What shows a planted bug shows nothing where there is none, and goes where it is to go."""
    alike = {repr(replace(each.plan, seed=0, plant="")): each.plan for each in BUGS.values()}
    sound = [replace(plan, plant="") for plan in alike.values()]
    results = await _results(sound)
    bad = [timeline(result) for result in results if result.violations]
    assert not bad, "\n".join(bad)
    for result in results:
        passed = {place.rpartition(".")[0] for place in result.evidence.places}
        assert passed >= {*BESIDES.get(result.plan.besides, ())}


@pytest.mark.parametrize("port", PORTS)
def test_a_process_may_die_at_every_call_of_a_port(port: str):
    """Whatever is awaited of a port has a place, or a reason why no run passes it."""
    places = {place.rpartition(".")[0] for place in PLACES} | ELSEWHERE.keys()
    found = {f"{port}.{name}" for name in _awaited(HOLDERS[port])}
    assert found <= places
    assert {f"{port}.{name}" for name in calls(PORTS[port])} <= places


def _awaited(holders: tuple[str, ...]) -> set[str]:
    """The calls that the source awaits of what has one of these names."""
    return {each.attr for each in _attributes() if _name(each.value) in holders}


@cache
def _attributes() -> list[ast.Attribute]:
    """What is awaited in the source, where it is called on something."""
    nodes = [
        node
        for folder in ("agents", "bot")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "playground" not in file.parts
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
    ]
    awaited = [node.value for node in nodes if isinstance(node, ast.Await)]
    functions = [call.func for call in awaited if isinstance(call, ast.Call)]
    return [function for function in functions if isinstance(function, ast.Attribute)]


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
