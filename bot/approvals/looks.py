"""What people, and many systems, take for the same though it is spelled differently; pure."""

import json
import unicodedata

from pydantic import JsonValue

DASHES = {"Pd": "-", "Pi": '"', "Pf": '"'}
"""Signs that people type in several forms, by their category in Unicode."""
UNSEEN = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")
"""Letters and marks that show nothing, though Unicode does not call them blanks."""


def folded(value: JsonValue) -> JsonValue:
    """A value without what people do not see or do not mind.

    That is letter case, blanks, the form of characters, dashes and quotes, and `.0`.
    """
    match value:
        case str():
            return _bare(value).casefold()
        case list():
            return [folded(each) for each in value]
        case dict():
            return {_bare(name): folded(each) for name, each in value.items()}
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def looks_like(one: JsonValue, other: JsonValue) -> bool:
    """Whether people, or a system that gets it, may take one value for the other.

    Letter case, blanks, accents and what is not seen do not count, and a letter of another script
    may be any of ours.
    """
    first, second = _skeleton(one), _skeleton(other)
    pairs = zip(first, second, strict=False)
    alike = (a == b or a.isascii() is not b.isascii() for a, b in pairs)
    return len(first) == len(second) and all(alike)


def _bare(text: str) -> str:
    """A text in lower case with one form for each character, and nothing unseen."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kinds = ((char, unicodedata.category(char)) for char in plain if char not in UNSEEN)
    return "".join(
        '"' if char in "'`\u00b4" else DASHES.get(kind, char)
        for char, kind in kinds
        if kind[0] not in "ZC"
    )


def spelling(value: JsonValue) -> str:
    """A value as JSON, letter by letter; the order of its names does not count."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _skeleton(value: JsonValue) -> str:
    plain = unicodedata.normalize("NFKD", spelling(folded(value)))
    return "".join(char for char in plain if not unicodedata.combining(char))
