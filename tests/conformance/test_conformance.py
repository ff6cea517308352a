"""Every recorded case, played on our runtime."""

from pathlib import Path

import pytest

from tests.conformance.__main__ import CASES, DEVIATIONS, HERE, cases, judge, load, main

MORE = HERE / "more"


@pytest.mark.parametrize("path", [*cases(CASES), *cases(MORE)], ids=lambda path: path.stem)
def test_a_case(path: Path):
    """The outcome is the recorded one, or ours where the record is a weakness."""
    verdict, told = judge(load(path))
    assert verdict == ("differs" if path.stem in DEVIATIONS else "passed"), told


def test_there_are_few_deviations():
    """Fewer than ten plain cases differ, each is there, and each says why."""
    assert len(DEVIATIONS) < 10
    assert set(DEVIATIONS) <= {path.stem for path in cases(CASES)}
    assert all(one["reason"] for one in DEVIATIONS.values())


def test_the_command_counts(capsys: pytest.CaptureFixture[str]):
    """The command ends with the count, after what a person should read."""
    assert main([str(CASES), "022", "042"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("DIFFERS 042-text-plus-call", "2 passed, 0 failed, 0 unjudged")
