"""Pure: a number as somebody typed it, in the way of any country -> the same as programs write it.

`1,500.00`, `1.500,00`, `1 500,00` and `1'500.00` are one number. `1.500` alone may be two, and is
asked for again: nobody's thousands become another's fractions.
"""

import re
import unicodedata

LONGEST = 4_000
"""Characters of a number: Python reads no more than 4,300 digits."""

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63", "-"),
        **dict.fromkeys("\u00a0\u2005\u2007\u2009\u202f\u3000", " "),
        "\u2019": "'",
    }
)
_SIGNED = re.compile(r"([+-]?) ?(.*)", re.DOTALL)
_SCIENTIFIC = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+")
_GROUPED = (
    re.compile(r"(\d{1,3}([ '\u066c])\d{3}(?:\2\d{3})*)(?:[.,\u066b](\d+))?"),
    re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})()\.(\d*)"),
    re.compile(r"(\d{1,3}(?:\.\d{3})+)(),(\d*)"),
    re.compile(r"(\d{1,3}(?:,\d{3}){2,}|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3}(?:\.\d{3}){2,})()()"),
)
"""Whole digits in groups, what is between them, and the fraction: which sign is which shows."""
_SIMPLE = re.compile(r"(?=[.,\u066b]?\d)(\d*)(?:\.(\d*)|[,\u066b](\d+))?")
_DOUBTFUL = re.compile(r"([1-9]\d{0,2})[.,](\d{3})")
_ALONE = re.compile(r"(?P<before>[^\d.,+-]{0,8}?)(?P<number>[-+ ]*[\d.,].*\d|\d)(?P<after>\D{0,8})")


class Unclear(ValueError):
    """What was typed is no one number; the text goes on after what is wanted: "… may mean …"."""


def digits(text: str) -> str | None:
    """The number in a text, such as `-1500.00`; None where it is not one. Raises Unclear."""
    plain = _plain(text)
    if plain is None:
        return None
    sign, body = _SIGNED.fullmatch(plain).groups()  # pyright: ignore[reportOptionalMemberAccess]
    minus = "-" if sign == "-" else ""
    found = _read(body, minus)
    if found is None:
        _refuse_units(plain)
        return None
    return f"{minus}{found}"


def unmistakable(number: str) -> str:
    """The digits of a number, with one more zero where somebody could read thousands."""
    return f"{number}0" if is_doubtful(number) else number


def is_doubtful(number: str) -> bool:
    """Whether some people read a number with three digits after its point as thousands."""
    return _DOUBTFUL.fullmatch(number.lstrip("+-")) is not None


def _plain(text: str) -> str | None:
    """The text with English digits, signs and blanks; None where it mixes two kinds of digits."""
    if len(text) > LONGEST:
        return None
    if text.isascii():
        return text.strip()
    kinds = {ord(char) - unicodedata.decimal(char) for char in text if char.isdecimal()}
    return "".join(map(_narrow, text)).translate(_SAME).strip() if len(kinds) < 2 else None


def _narrow(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    wide = unicodedata.decomposition(char).startswith("<wide>")
    return unicodedata.normalize("NFKC", char) if wide else char


def _read(body: str, minus: str = "") -> str | None:
    """A number without its sign; None where it is not one. Raises Unclear with its minus."""
    if _SCIENTIFIC.fullmatch(body):
        return body
    for form in _GROUPED:
        if found := form.fullmatch(body):
            return _joined(re.sub(r"\D", "", found[1]), found[3])
    if found := _DOUBTFUL.fullmatch(body):
        raise Unclear(_two_ways(found, minus))
    simple = _SIMPLE.fullmatch(body)
    return _joined(simple[1] or "0", simple[2] or simple[3]) if simple else None


def _joined(whole: str, fraction: str | None) -> str:
    return f"{whole}.{fraction}" if fraction else whole


def _two_ways(found: re.Match[str], minus: str) -> str:
    """What to write in place of a number that may mean two."""
    text, whole, fraction = found[0], found[1], found[2]
    small = unmistakable(_joined(whole, fraction.rstrip("0")))
    ways = f"{minus}{small} or {minus}{whole}{fraction}"
    return f"{minus}{text} may mean {ways}: please write one of these"


def _refuse_units(text: str) -> None:
    """Raise Unclear where the only thing wrong with a number is what stands beside it."""
    found = _ALONE.fullmatch(text)
    unit = f"{found['before']} {found['after']}".strip() if found else ""
    if found and unit and all(map(_is_of_a_unit, unit)):
        number = _SIGNED.fullmatch(found["number"].strip())
        if number and _read(number[2]):
            raise Unclear(f"please write the number alone, without {unit}")


def _is_of_a_unit(char: str) -> bool:
    return char.isalpha() or char in " %\u2030\u066a" or unicodedata.category(char) == "Sc"
