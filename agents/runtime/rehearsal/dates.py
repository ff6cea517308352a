"""Dates and times of day in plain English, as the rehearsal model finds them in a message."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Literal

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_TIME = re.compile(
    r"\b(?P<hour>[01]?\d|2[0-3])(?:(?P<colon>:)(?P<minute>[0-5]\d))?\s?(?P<half>am|pm|a\.m\.|p\.m\.)?"
    r"(?![\w:])|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day in a text, in ISO form, and where it stands."""

    kind: Literal["date", "time"]
    value: str
    start: int
    end: int


def dates(text: str, *, today: date) -> list[Moment]:
    """The dates in a text, in order; without a year it is the next one from `today` on."""
    found: list[Moment] = []
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            taken = any(match.start() < m.end and m.start < match.end() for m in found)
            day = None if taken else _valid(read, match, today)
            if day:
                found.append(Moment("date", day.isoformat(), match.start(), match.end()))
    return sorted(found, key=lambda moment: moment.start)


def times(text: str) -> Iterator[Moment]:
    """The times of day in a text: `14:30`, `2pm`, `noon`."""
    for match in _TIME.finditer(text):
        if match["word"]:
            at = time(12 if match["word"].lower() == "noon" else 0)
        elif match["colon"] or match["half"]:
            at = _clock(match)
        else:
            continue
        yield Moment("time", at.isoformat(), match.start(), match.end())


def _clock(match: re.Match[str]) -> time:
    hour = int(match["hour"])
    if match["half"] and hour <= 12:
        hour = hour % 12 + (12 if match["half"].lower().startswith("p") else 0)
    return time(hour, int(match["minute"] or 0))


def _valid(
    read: Callable[[re.Match[str], date], date | None], match: re.Match[str], today: date
) -> date | None:
    try:
        return read(match, today)
    except (ValueError, OverflowError):
        return None


def _iso(match: re.Match[str], _today: date) -> date:
    return date(int(match["y"]), int(match["m"]), int(match["d"]))


def _dotted(match: re.Match[str], today: date) -> date:
    return _next(today, year=match["y"], month=int(match["m"]), day=int(match["d"]))


def _slashed(match: re.Match[str], _today: date) -> date:
    first, second = int(match["a"]), int(match["b"])
    month, day = (second, first) if first > 12 else (first, second)
    return date(int(match["y"]), month, day)


def _named(match: re.Match[str], today: date) -> date:
    month = _MONTHS.index(match["month"][:3].lower()) + 1
    return _next(today, year=match["y"], month=month, day=int(match["d"]))


def _next(today: date, *, year: str | None, month: int, day: int) -> date:
    if year:
        return date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    this_year = date(today.year, month, day)
    return this_year if this_year >= today else date(today.year + 1, month, day)


def _relative(match: re.Match[str], today: date) -> date:
    word = match.group().lower()
    return today + timedelta(days=2 if "after" in word else 1 if "tomorrow" in word else 0)


def _in_days(match: re.Match[str], today: date) -> date:
    weeks = match["unit"].lower().startswith("week")
    count = _COUNTS.get(match["n"].lower()) or int(match["n"])
    return today + timedelta(days=count * (7 if weeks else 1))


def _weekday(match: re.Match[str], today: date) -> date:
    ahead = (_DAYS.index(match["weekday"][:3].lower()) - today.weekday() - 1) % 7 + 1
    return today + timedelta(days=ahead)


_YEAR = r"(?:,?\s+(?P<y>\d{4})\b)?"
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b", _iso),
        (r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?:\s?(?P<y>\d{4}|\d{2})\b)?", _dotted),
        (r"\b(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})\b", _slashed),
        (rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}(?![\w]){_YEAR}", _named),
        (rf"\b{_MONTH}\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.,]\d){_YEAR}", _named),
        (r"\b(?:the\s+)?day\s+after\s+tomorrow\b|\btomorrow\b|\btoday\b", _relative),
        (r"\bin\s+(?P<n>\d{1,3}|an?|one|two|three|four)\s+(?P<unit>days?|weeks?)\b", _in_days),
        (rf"\b(?:(?:this|next|coming)\s+)?{_WEEKDAY}\b", _weekday),
    )
)  # fmt: skip
