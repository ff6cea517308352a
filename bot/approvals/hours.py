"""Working time in any time zone: when a span of it is over, and fractions of a span; pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

HORIZON = 3_660
"""Days looked ahead: for a calendar without any working day the search ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """When people work: `days` count from Monday, 0, to Sunday, 6; `end` is not part of the day."""

    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    days: frozenset[int] = frozenset(range(5))
    start: time = time(9)
    end: time = time(17)
    holidays: frozenset[date] = frozenset()

    def open_on(self, day: date) -> tuple[int, int] | None:
        """The working time of a day in milliseconds since the epoch; None when there is none."""
        if day.weekday() not in self.days or day in self.holidays or self.start >= self.end:
            return None
        moments = (datetime.combine(day, at, self.zone) for at in (self.start, self.end))
        begin, end = (int(moment.timestamp() * 1000) for moment in moments)
        return (begin, end) if begin < end else None


def later(start: int, span: timedelta, calendar: Calendar | None = None) -> int:
    """The moment a span after `start` (milliseconds); with a calendar only working time counts.

    At the end of the calendar's horizon plain time goes on.
    """
    left = span // timedelta(milliseconds=1)
    if calendar is None:
        return start + left
    at = start
    for begin, end in _open(start, calendar):
        at = max(begin, start)
        if at + left <= end:
            return at + left
        left -= end - at
        at = end
    return at + left


def _open(start: int, calendar: Calendar) -> Iterator[tuple[int, int]]:
    """The stretches of working time that end after `start`, oldest first."""
    first = datetime.fromtimestamp(start / 1000, UTC).astimezone(calendar.zone).date()
    for offset in range(HORIZON):
        stretch = calendar.open_on(first + timedelta(days=offset))
        if stretch and stretch[1] > start:
            yield stretch
