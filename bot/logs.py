"""One line per thing that happened: a name out of a closed list, and its data as `key=value`.

`logs.info("turn.started", agent="support")` writes `level=info at=turn.started agent=support`.
What is bound with `logs.bound(session=…)` stands on every line until that block ends, also on
those of tasks started inside it. Lines of libraries take the same form, from `warning` upwards
only, since their finer ones hold messages of people. Whatever looks like a token, a key or a
password is masked. Argument values of tools and texts of messages are never handed in. The loggers
below `agents` take their names from the same list.
"""

import logging
import re
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, TextIO, get_args

Event = Literal[
    "bot.started",
    "bot.stopping",
    "bot.stopped",
    "turn.ingested",
    "turn.duplicate",
    "turn.busy",
    "turn.started",
    "turn.finished",
    "turn.failed",
    "turn.given_up",
    "tool.started",
    "tool.finished",
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

VALUE_LIMIT = 300
"""Characters of one value; the rest is cut, since a log drain cuts long lines anywhere."""

_LOGGER = logging.getLogger("countersign")
_AGENTS = logging.getLogger("agents")
_USUAL = frozenset(vars(logging.makeLogRecord({})))
_OURS = ("agents", "bot")
_NAMED = (
    *("password", "passwd", "passphrase", "pwd", "secret", "api_key", "apikey", "api-key"),
    *("access_key", "access-key", "private_key", "auth_token", "access_token", "refresh_token"),
)
_SECRETS = re.compile(
    r"xox[a-z]+(?:\.xox[a-z]+)?-[\w-]+|xapp-[\w-]+|xwfp-[\w-]+"
    r"|AIza[\w-]{20,}|\bsk-(?=[\w-]{0,60}\d)[\w-]{16,}|\b[rs]k_(?:live|test)_\w{10,}"
    r"|\bgh[pousr]_\w{16,}|github_pat_\w{16,}|\bglpat-[\w-]{16,}|\bnpm_\w{30,}|\bhf_\w{30,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bya29\.[\w-]{20,}|\bSG\.[\w-]{16,80}\.[\w-]{16,}"
    r"|\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|hooks\.slack\.com/(?:services|triggers|actions|workflows)/[\w/-]+"
    r"|(?<=://)[^\s/@]*:[^\s/@]+(?=@)"
    r"|(?:(?<=[Bb]earer )|(?<=BEARER )|(?<=[Bb]asic ))"
    r"(?=[\w.~+/-]{0,60}(?:\d|[a-z][A-Z]|=))[\w.~+/-]{6,}=*"
    rf"|(?i:{'|'.join(f'(?<={name})' for name in _NAMED)})(?P<sign>[\"']?\s*[:=]\s*[\"']?)"
    r"(?:(?<=\")(?:[^\"\\]|\\.)+|(?<=')[^']+|(?!null\b|true\b|false\b)[^\s\"',;&{}\[\]]+)",
    re.DOTALL,
)
_MAYBE = re.compile(r"[-_:=@.]|A[KS]IA|AIza|EARER |earer |asic ")
"""What is in every text that has a secret; most have nothing of it."""
_PLAIN = re.compile(r"[^\s\"=\\]+")
_bound: ContextVar[dict[str, object]] = ContextVar("bound", default={})  # noqa: B039 - never changed


@contextmanager
def bound(**fields: object) -> Generator[None]:
    """Put these fields on every line written inside the block."""
    token = _bound.set(_bound.get() | fields)
    try:
        yield
    finally:
        _bound.reset(token)


def info(event: Event, **fields: object) -> None:
    """Something happened that somebody did or that was to happen."""
    _write(logging.INFO, event, fields)


def warning(event: Event, **fields: object) -> None:
    """Something is tried again, or was refused."""
    _write(logging.WARNING, event, fields)


def error(event: Event, **fields: object) -> None:
    """Something was given up; a person should look.

    An exception handed in as a field is written as its type, the first line of its message and
    the places it passed in this project.
    """
    _write(logging.ERROR, event, fields)


def masked(text: str, *, by: str = "***") -> str:
    """The text with something else for all that looks like a token, a key or a password."""
    if not _MAYBE.search(text):
        return text
    return _SECRETS.sub(lambda found: (found["sign"] or "") + by, text)


class Line(logging.Formatter):
    """Any record as one line of `key=value`, masked."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; those of libraries have `logger` and `message` for the event."""
        fields: dict[str, object] = {"level": record.levelname.lower()}
        if record.name == _LOGGER.name:
            fields |= {"at": record.msg, **vars(record)["fields"]}
        elif record.name.startswith(_AGENTS.name):
            fields |= {"at": record.msg, **_bound.get(), **_extra(record)}
        else:
            fields |= {"logger": record.name, "message": _first_line(record.getMessage())}
        if record.exc_info and record.exc_info[1]:
            fields["error"] = record.exc_info[1]
        return " ".join(f"{key}={_value(value)}" for key, value in fields.items())


def set_up(level: str, *, stream: TextIO = sys.stdout) -> None:
    """Send every line to the stream; ours from `level`, those of libraries from warning upwards."""
    to_stream = logging.StreamHandler(stream)
    to_stream.setFormatter(Line())
    root = logging.getLogger()
    root.handlers = [to_stream]
    root.setLevel(logging.WARNING)
    _LOGGER.setLevel(level)
    _AGENTS.setLevel(level)


def _write(level: int, event: str, fields: dict[str, object]) -> None:
    if event not in EVENTS:
        raise ValueError(f"{event!r} is no event of bot/logs.py; add it to the list there")
    _LOGGER.log(level, event, extra={"fields": _bound.get() | fields})


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """What the runtime handed in as `extra`: it knows logging only, not this file."""
    return {name: value for name, value in vars(record).items() if name not in _USUAL}


def _value(value: object) -> str:
    """One value: whole when it is a word, else quoted; masked and cut."""
    text = _failure(value) if isinstance(value, BaseException) else str(value)
    text = masked(text)
    if len(text) > VALUE_LIMIT:
        text = text[: VALUE_LIMIT - 1] + "…"
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + " ".join(escaped.split()) + '"'


def _failure(raised: BaseException) -> str:
    """What was raised, and the way it took through our files, innermost last."""
    way = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(raised.__traceback__)
        if any(part in _OURS for part in Path(frame.filename).parts)
    ]
    return f"{type(raised).__name__}: {_first_line(str(raised))}" + (
        f" ({' > '.join(way)})" if way else ""
    )


def _first_line(text: str) -> str:
    """What is safe to write of a message: libraries quote what people typed further down."""
    return next(iter(text.splitlines()), "")
