"""Every promise names a rule that is there, once, and a test that is there."""

import pytest

from tests.promises import PROMISES, ROOT


@pytest.mark.parametrize("number", PROMISES)
def test_a_promise_names_its_rule_and_its_test(number: int):
    """The rule stands in its file once; `python -m tests.promises` proves the test needs it."""
    promise = PROMISES[number]
    assert (ROOT / promise.file).read_text("utf-8").count(promise.rule) == 1
    file, _, name = promise.test.partition("::")
    assert f"def {name}" in (ROOT / file).read_text("utf-8")


def test_there_are_twenty():
    """All of them have one."""
    assert list(PROMISES) == list(range(1, 21))
