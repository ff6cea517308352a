"""The pauses between tries of a change that several processes make at once."""

import random
import time
from collections.abc import Iterator

PATIENCE = 2.0
"""Seconds in which a change is tried again because another one was faster; Slack waits three."""
PAUSE, LONGEST_PAUSE = 0.01, 0.1


def pauses() -> Iterator[float]:
    """Seconds to wait before each try: random, so that those who met do not meet again."""
    until, longest = time.monotonic() + PATIENCE, 0.0
    while time.monotonic() < until:
        yield random.uniform(0, longest)  # noqa: S311 - nobody gains by guessing it
        longest = min(longest * 2, LONGEST_PAUSE) or PAUSE
