"""Characters that look like others: where a text does not say what it seems to say; pure.

Whole words of any script are themselves. What deceives is a letter of another script in a word that
is Latin otherwise, a word of nothing but twins of Latin letters where no other of its script is, or
a character that Unicode itself calls another form of a plain one.
"""

import re
import unicodedata
from collections.abc import Iterator

TWINS = frozenset(
    "АВЕЅІЈКМНОРСТУХҮӀѴаеѕіјорсухүѵԁһԛԝӏ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνοραικυ"  # Greek
)
"""Letters that look Latin."""
DIGITS = TWINS | frozenset("Зб")
"""Letters that look like digits, or like letters that do."""
SCRIPTS = frozenset(
    {"ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "OSAGE", "GOTHIC", "CANADIAN", "TIFINAGH"}
)
"""Scripts whose letters have no business in a word with Latin ones."""
MARKS = frozenset("\u2024\u2044\u2215\u29f8\u2236\ua789\u2571\ufe52\u02d0\u05c3")
"""Marks that look like a dot, a slash or a colon."""

_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"\w+(?:[-.@/]\w+)+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_VISIBLY_OTHER = ("<super>", "<sub>", "<circle>", "<square>", "<fraction>", "<vertical>", "<small>")
_BLANK_BEFORE = ":;!?»%€$£"


def lookalikes(text: str) -> set[int]:
    """The places of characters that seem to be others."""
    if text.isascii():
        return set()
    return {*_in_words(text), *_alone(text)}


def _in_words(text: str) -> Iterator[int]:
    """Letters of other scripts in words that are Latin, or numbers, otherwise."""
    foreign = any(_is_foreign(char) for char in text)
    latin = _LATIN.search(text) is not None
    for word in _WORD.finditer(text):
        letters = [char for char in word[0] if char.isalpha()]
        mixed = _LATIN.search(word[0]) is not None
        number = any(char in "0123456789" for char in word[0]) and DIGITS.issuperset(letters)
        whole = latin and not foreign and len(letters) > 0 and TWINS.issuperset(letters)
        for offset, char in enumerate(word[0]):
            odd = _is_odd(char) if mixed else char in DIGITS and (number or whole)
            if odd:
                yield word.start() + offset
    for joined in _JOINED.finditer(text):
        if _LATIN.search(joined[0]):
            yield from _twins(joined)


def _twins(joined: re.Match[str]) -> Iterator[int]:
    """The parts of a joined word that are nothing but twins, beside Latin ones."""
    for part in _WORD.finditer(joined[0]):
        if TWINS.issuperset(part[0]):
            yield from range(joined.start() + part.start(), joined.start() + part.end())


def _is_foreign(char: str) -> bool:
    """Whether a letter is plainly Cyrillic or Greek, so that twins of Latin ones are at home."""
    return char not in TWINS and char.isalpha() and _script(char) in ("CYRILLIC", "GREEK")


def _is_odd(char: str) -> bool:
    """Whether a letter does not belong into a Latin word."""
    phonetic = "\u0250" <= char <= "\u02af" or "\u1d00" <= char <= "\u1d7f"
    return char in TWINS or phonetic or "\u01c0" <= char <= "\u01c3" or _script(char) in SCRIPTS


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _alone(text: str) -> Iterator[int]:
    """Marks, blanks and other forms of plain characters, wherever they stand."""
    for place, char in enumerate(text):
        if char.isascii():
            continue
        if unicodedata.category(char) == "Zs":
            odd = not _is_usual_blank(text, place)
        else:
            odd = char in MARKS or _is_form(text, place)
        if odd:
            yield place


def _is_usual_blank(text: str, place: int) -> bool:
    """Whether a blank that is no plain one stands where writers of some languages put it."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if text[place] == "\u3000":
        return not (before.isascii() and after.isascii())
    groups = before.isdigit() and after.isdigit()
    quoted = before == "«" or (after != "" and after in _BLANK_BEFORE)
    return text[place] in "\u00a0\u202f" and (groups or quoted)


def _is_form(text: str, place: int) -> bool:
    """Whether Unicode calls a character a form of one ASCII character that it looks like."""
    char = text[place]
    plain = unicodedata.normalize("NFKC", char)
    told = unicodedata.decomposition(char)
    if len(plain) != 1 or not plain.isascii() or told.startswith(_VISIBLY_OTHER):
        return False
    if told.startswith("<wide>"):  # at home in Chinese, Japanese and Korean
        around = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
        return any(each.isascii() and each.isalnum() for each in around)
    return True
