"""One line per thing that happened: a name out of a closed list, and its data as `key=value`.

`logs.info("turn.started", agent="support")` writes `level=info at=turn.started agent=support`.
What is bound with `logs.bound(session=…)` stands on every line until that block ends, also on
those of tasks started inside it. Argument values of tools and texts of messages are never handed
in. The loggers below `agents` take their names from the same list; what becomes of it all is in
`lines`.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

Event = Literal[
    "bot.started",
    "bot.stopping",
    "bot.stopped",
    "worker.full",
    "turn.ingested",
    "turn.duplicate",
    "turn.busy",
    "turn.left",
    "turn.started",
    "turn.finished",
    "turn.failed",
    "turn.given_up",
    "tool.started",
    "tool.finished",
    "tool.slow",
    "tool.failed",
    "tool.unknown",
    "tool.missing",
    "tool.predicate_failed",
    "model.called",
    "model.failed",
    "approval.opened",
    "approval.decided",
    "approval.refused",
    "approval.expired",
    "approval.passed_on",
    "approval.unreadable",
    "outbox.posted",
    "outbox.retried",
    "outbox.refused",
    "outbox.taken_back",
    "click.refused",
    "click.unknown",
    "store.unavailable",
    "store.unsafe",
    "store.safe",
    "store.emptied",
    "store.full",
    "slack.request_refused",
    "slack.request_failed",
    "slack.rate_limited",
    "clock.tick",
    "clock.missed",
    "clock.failed",
    "clock.passed_over",
    "lease.lost",
    "settings.unsafe",
    "call.unreported",
    "ticket.news",
    "ticket.unavailable",
    "ticket.failed",
    "index.unreadable",
    "ledger.damaged",
]
EVENTS: frozenset[str] = frozenset(get_args(Event))

LOGGER = logging.getLogger("countersign")
AGENTS = logging.getLogger("agents")
_bound: ContextVar[dict[str, object]] = ContextVar("bound", default={})  # noqa: B039 - never changed


@contextmanager
def bound(**fields: object) -> Generator[None]:
    """Put these fields on every line written inside the block."""
    token = _bound.set(_bound.get() | fields)
    try:
        yield
    finally:
        _bound.reset(token)


def standing() -> dict[str, object]:
    """The fields that are on every line now."""
    return _bound.get()


def info(event: Event, **fields: object) -> None:
    """Log what somebody did, or what was to happen."""
    _write(logging.INFO, event, fields)


def warning(event: Event, **fields: object) -> None:
    """Log what is tried again, or was refused."""
    _write(logging.WARNING, event, fields)


def error(event: Event, **fields: object) -> None:
    """Log what was given up, so that a person should look.

    An exception handed in as a field is written as its type, the first line of its message and
    the places it passed in this project.
    """
    _write(logging.ERROR, event, fields)


def _write(level: int, event: str, fields: dict[str, object]) -> None:
    if event not in EVENTS:
        raise ValueError(f"{event!r} is not an event of bot/logs.py; add it to the list there")
    LOGGER.log(level, event, extra={"fields": _bound.get() | fields})
