"""Words as the rehearsal model reads them: tokens, stems, and what is quoted."""

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_QUOTED = re.compile(
    r'"(?P<a>[^"\n]+)"|“(?P<b>[^”\n]+)”|«(?P<c>[^»\n]+)»|`{1,3}(?P<d>[^`]+)`{1,3}'
    r"|(?<!\w)'(?P<e>[^'\n]+)'(?!\w)|(?<!\w)‘(?P<f>[^’\n]+)’(?!\w)"
)
_SUFFIXES = (
    ("ization", ""), ("isation", ""), ("ation", ""), ("ating", ""), ("ated", ""), ("ator", ""),
    ("ate", ""), ("ment", ""), ("ency", "ent"), ("ancy", "ant"), ("izing", ""), ("ising", ""),
    ("ized", ""), ("ised", ""), ("izer", ""), ("ize", ""), ("ise", ""), ("ing", ""), ("ion", ""),
    ("ed", ""), ("al", ""), ("er", ""), ("ly", ""), ("y", ""), ("e", ""),
)  # fmt: skip
_SHORTEST_STEM = 3

_STOP = """
    a about above after again all also always am an and any anybody anyone anything are as ask at
    be because been before being best bit but by can cannot cost costs could dear did do does
    doing done don't each either else ever every few find for from further get gets getting give
    given gives go going gonna good got great had has have having he hello her here hey hi him his
    how i i'd i'll i'm i've if in into is it it's its itself just kindly know less let let's like
    likes look made make makes many maybe me mine more most much must my myself need needs new no
    nor not now of ok okay on once one only onto or other our out over own perhaps please pls put
    quick quickly rather really right said same say says see set she should show so some somebody
    someone something soon still such sure take takes tell than thank thanks that that's the their
    them then there these they thing things this those through to too under until up upon us use
    used using very via wanna want wanted wants was we well were what what's whatever when where
    which while who whose why will wish with without won't would yes yet you your yours
"""
_PREPOSITIONS = """
    for about of to in on at with from into by because regarding concerning until till as named
    called onto towards around
"""
STOP = frozenset(_STOP.split())
PREPOSITIONS = frozenset(_PREPOSITIONS.split())


def tokens(text: str) -> Iterator[str]:
    """The words of a text in lower case, in order; numbers are words."""
    return (word for word, _ in placed(text))


def placed(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text in lower case, each with where it starts."""
    return ((m.group().lower().replace("’", "'"), m.start()) for m in _WORD.finditer(text))


def stem(word: str) -> str:
    """What related words have in common: `reimburses` and `reimbursement` give `reimburs`."""
    word = _singular(word.lower().replace("’", "'").removesuffix("'s"))
    for suffix, instead in _SUFFIXES:
        shortest = _SHORTEST_STEM + 1 if suffix in ("al", "y", "er") else _SHORTEST_STEM
        if word.endswith(suffix) and len(word) - len(suffix) >= shortest:
            word = word.removesuffix(suffix) + instead
            break
    word = word.removesuffix("e") if len(word) > _SHORTEST_STEM else word
    doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST_STEM + 1:
        return word.removesuffix("ies") + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > _SHORTEST_STEM:
        return word.removesuffix("s")
    return word


def stems(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order; numbers and filler are left out."""
    telling = (w for w in tokens(text) if not STOP & {w, _singular(w)} and not w[0].isdigit())
    return [stem(word) for word in telling]


def name_words(name: str) -> list[str]:
    """The words of an identifier: `get_stockPrice` gives get, stock, price."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower().split()


def plain(name: str) -> str:
    """An identifier as a person writes it."""
    return " ".join(name_words(name))


def quotations(text: str) -> list[tuple[int, int, str]]:
    """What stands in quotation marks: start and end with the marks, and the text inside."""
    return [
        (found.start(), found.end(), next(g for g in found.groups() if g is not None).strip())
        for found in _QUOTED.finditer(text)
    ]


def mask(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with the spans blanked out; every other character keeps its place."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def unquoted(text: str) -> str:
    """The text with what is quoted blanked out: a quotation is data and asks for nothing."""
    masked = mask(text, [(start, end) for start, end, _ in quotations(text)])
    return re.sub(r"(?m)^\s*(?:>|&gt;).*$", lambda line: " " * len(line.group()), masked)
