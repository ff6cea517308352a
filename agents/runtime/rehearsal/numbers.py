"""Numbers in plain English, as the rehearsal model finds them in a message."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.runtime.rehearsal.words import PREPOSITIONS, stem

_CURRENCY = r"(?:[$€£¥]|(?:usd|eur|gbp|chf|jpy)(?=\W))"
_DIGITS = re.compile(
    rf"(?<![\w.,:/#-])(?P<sign>[-−]|minus\s)?(?P<before>{_CURRENCY}\s?)?(?P<sign2>[-−])?"
    r"(?P<digits>\d{1,3}(?:[,.’]\d{3}){1,4}(?:[.,]\d{1,2})?(?!\d)|\d{1,15}(?:[.,]\d{1,9})?)"
    r"(?P<glued>k|min|mins|h|hrs?|d|mb|gb|kg|km)?(?P<after>\s?[$€£¥%])?(?![\w:/]|[.,]\d)",
    re.IGNORECASE,
)
_UNITS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_COINS = "dollar buck euro pound franc yen cent usd eur gbp chf jpy"
_SMALL = {word: value for value, word in enumerate(_UNITS.split())}
_TENS = {word: 10 * value for value, word in enumerate(_DECADES.split(), start=2)}
_MOST_WORDS = 8
_SCALES = {"hundred": 100, "thousand": 1000, "dozen": 12}
_SPELLED = re.compile(
    rf"\b(?:(?:a|half\s+an?|{'|'.join((*_SMALL, *_TENS))})(?:[\s-]+(?:and\s+)?)?)?"
    rf"(?:(?:{'|'.join((*_SMALL, *_TENS, *_SCALES))})\b(?:[\s-]+(?:and\s+)?(?=\w))?)+",
    re.IGNORECASE,
)
_FEW = re.compile(
    r"\b(?P<more>an?)(?=\s+(?:hour|day|week|year)\s+and\s+a\s+half\b)|"
    r"\b(?P<half>half\s+an?)\b|\b(?P<pair>a\s+(?:couple(?:\s+of)?|pair\s+of))\b"
    r"|\b(?P<one>an?)(?=\s+(?:(?:whole|full|single|extra)\s+)?(?:minute|hour|day|week|month|year)\b)",
    re.IGNORECASE,
)
MONEY = frozenset(map(stem, _COINS.split()))
GLUED = {"min": "minute", "mins": "minute", "h": "hour", "hr": "hour", "hrs": "hour", "d": "day"}
_NEXT = re.compile(r"[\s-]*([^\W\d_]+)")
_LAST = re.compile(r"([^\W\d_]+)(?:\s+(?:of|is|was|to|be|number|no)|[:=#])*\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its value, the stems of the words beside it, and where it stands.

    `units` are the stems right after it (`days`, `working days`), `label` the one before it.
    `end` is behind the unit when that is money. `money` is true with a sign or name of a currency.
    """

    value: float
    units: tuple[str, ...]
    label: str
    start: int
    end: int
    money: bool = False


def numbers(text: str) -> list[Number]:
    """The numbers in a text, in order: digits in either notation, and small number words."""
    found = [_digits(text, match) for match in _DIGITS.finditer(text)]
    for pattern, read in ((_SPELLED, _spelled), (_FEW, _few)):
        for match in pattern.finditer(text):
            if not any(match.start() < n.end and n.start < match.end() for n in found):
                found.append(
                    _beside(text, read(match), (match.start(), _right(match)), money=False)
                )
    return sorted(found, key=lambda number: number.start)


def _digits(text: str, match: re.Match[str]) -> Number:
    value = _amount(match["digits"])
    glued = (match["glued"] or "").lower()
    after = (match["after"] or "").strip()
    value = value * 1000 if glued == "k" else value
    value = -value if match["sign"] or match["sign2"] else value
    cents = re.search(r"[.,]\d\d$", match["digits"])
    money = bool(match["before"] or (after and after != "%") or cents)
    number = _beside(text, value, (match.start(), match.end()), money=money)
    unit = "percent" if after == "%" else stem(GLUED.get(glued, "" if glued == "k" else glued))
    if not unit:
        return number
    return Number(value, (unit,), number.label, number.start, match.end(), money)


def _amount(digits: str) -> float:
    digits = digits.replace("’", "")
    point = max(digits.rfind("."), digits.rfind(","))
    if point < 0:
        return float(digits)
    whole, rest = re.sub(r"[.,]", "", digits[:point]), digits[point + 1 :]
    both = "." in digits[:point] or "," in digits[:point]
    same = digits[point] in digits[:point]
    thousands = len(rest) == 3 and (digits[point] == "," or same) and (same or not both)
    return float(whole + rest) if thousands else float(f"{whole}.{rest}")


def _spelled(match: re.Match[str]) -> float:
    total, current = 0, 0
    for word in re.findall(r"[a-z]+", match.group().lower())[:_MOST_WORDS]:
        if word in _SCALES:
            current = max(current, 1) * _SCALES[word]
            total, current = (total + current, 0) if word == "thousand" else (total, current)
        else:
            current += _SMALL.get(word, _TENS.get(word, 0))
    half = match.group().lower().startswith("half")
    return (total + current) / (2 if half else 1)


def _few(match: re.Match[str]) -> float:
    return 1.5 if match["more"] else 0.5 if match["half"] else 2 if match["pair"] else 1


def _right(match: re.Match[str]) -> int:
    return match.start() + len(match.group().rstrip(" -\n"))


def _beside(text: str, value: float, span: tuple[int, int], *, money: bool) -> Number:
    start, end = span
    units, place = list[str](), end
    for _ in range(2):
        following = _NEXT.match(text, place)
        if not following or following[1].lower() in PREPOSITIONS | {"and", "or", "a", "an", "off"}:
            break
        units.append(stem(following[1]))
        place = following.end()
        if units[-1] in MONEY:
            money, end = True, place
            break
    before = _LAST.search(text[:start])
    return Number(value, tuple(units), stem(before[1]) if before else "", start, end, money)


def around(found: list[Number], spans: list[tuple[int, int]]) -> Iterator[Number]:
    """The numbers that do not stand inside one of the spans."""
    return (n for n in found if not any(n.start < end and start < n.end for start, end in spans))
