"""Every case is shown by tests that are there, or is said to be missing."""

import re
from pathlib import Path

import pytest

from tests.stories.cases import CASES, LATER

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("tests", CASES.values(), ids=CASES)
def test_a_case_is_shown(tests: tuple[str, ...]):
    """Each test of a case exists where it says."""
    assert tests
    for test in tests:
        if test.isdigit():
            assert [*(TESTS / "conformance").glob(f"*/{test}-*.json")], test
            continue
        file, _, name = test.partition("::")
        text = (TESTS / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), test


def test_a_case_is_shown_or_missing():
    """No case is both, and what is missing says why."""
    assert not CASES.keys() & LATER.keys()
    assert all(LATER.values())
