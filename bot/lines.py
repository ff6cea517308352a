"""What a log record looks like where it is read: one line of `key=value`, without secrets.

Lines of libraries take the same form as ours, from `warning` upwards only, since their finer ones
hold messages of people. Whatever looks like a token, a key or a password is masked.
"""

import logging
import re
import sys
import traceback
from pathlib import Path
from typing import TextIO

from bot.logs import AGENTS, LOGGER, standing
from bot.secrets import masked

VALUE_LIMIT = 300
"""Characters of one value; the rest is cut, since a log drain cuts long lines anywhere."""

_USUAL = frozenset(vars(logging.makeLogRecord({})))
_OURS = ("agents", "bot")
_PLAIN = re.compile(r"[^\s\"=\\]+")


class Line(logging.Formatter):
    """Any record as one line of `key=value`, masked."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; those of libraries have `logger` and `message` for the event."""
        fields: dict[str, object] = {"level": record.levelname.lower()}
        if record.name == LOGGER.name:
            fields |= {"at": record.msg, **vars(record)["fields"]}
        elif record.name.startswith(AGENTS.name):
            fields |= {"at": record.msg, **standing(), **_extra(record)}
        else:
            fields |= {"logger": record.name, "message": _first_line(record.getMessage())}
        if record.exc_info and record.exc_info[1]:
            fields["error"] = record.exc_info[1]
        return " ".join(f"{key}={_value(value, name=key)}" for key, value in fields.items())


def set_up(level: str, *, stream: TextIO = sys.stdout) -> None:
    """Send every line to the stream; ours from `level`, those of libraries from warning upwards."""
    to_stream = logging.StreamHandler(stream)
    to_stream.setFormatter(Line())
    root = logging.getLogger()
    root.handlers = [to_stream]
    root.setLevel(logging.WARNING)
    LOGGER.setLevel(level)
    AGENTS.setLevel(level)


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """What the runtime handed in as `extra`: it knows only `logging`, not this file."""
    return {name: value for name, value in vars(record).items() if name not in _USUAL}


def _value(value: object, *, name: str) -> str:
    """One value: whole when it is a word, else quoted; masked, by its name as well, and cut."""
    text = _failure(value) if isinstance(value, BaseException) else str(value)
    text = masked(text, name=name)
    if len(text) > VALUE_LIMIT:
        text = text[: VALUE_LIMIT - 1] + "…"
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + " ".join(escaped.split()) + '"'


def _failure(raised: BaseException) -> str:
    """What was raised, and its way through our files, innermost last."""
    way = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(raised.__traceback__)
        if any(part in _OURS for part in Path(frame.filename).parts)
    ]
    return f"{type(raised).__name__}: {_first_line(str(raised))}" + (
        f" ({' > '.join(way)})" if way else ""
    )


def _first_line(text: str) -> str:
    """The first line of a message: further down libraries quote what people typed."""
    return next(iter(text.splitlines()), "")
