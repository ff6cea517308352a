"""What models were paid for: tokens in, out, cached and thought, counted over events."""

from collections.abc import Iterable

from agents.runtime.events import Event


def usage(events: Iterable[Event], *, invocation: str | None = None) -> dict[str, int]:
    """The tokens of a session, or of one turn in it, by the names that events have for them."""
    total: dict[str, int] = {}
    for event in events:
        if invocation in (None, event.invocation_id):
            for name, count in event.usage.items():
                total[name] = total.get(name, 0) + count
    return total


def tokens(counted: dict[str, int]) -> int:
    """What a limit counts: what went in, came out and was thought; cached tokens are in `in`."""
    return counted.get("in", 0) + counted.get("out", 0) + counted.get("thoughts", 0)
