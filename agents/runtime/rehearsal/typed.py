"""Arguments whose type gives them away: choices, yes and no, dates, numbers, symbols, addresses."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from pydantic import JsonValue

from agents.runtime.rehearsal.dates import Moment, dates, times
from agents.runtime.rehearsal.filling import CERTAIN, FAINT, LIKELY, Filling, Source, Span
from agents.runtime.rehearsal.numbers import MONEY, Number, around, numbers
from agents.runtime.rehearsal.parameters import Parameter, mentions
from agents.runtime.rehearsal.words import placed, stem

_LEVELS = (
    ("urgent", "high", "critical", "important", "emergency", "asap", "immediately", "highest"),
    ("low", "minor", "trivial", "lowest", "whenever"),
)
_CALM = re.compile(
    r"\b(?:no\s+(?:rush|hurry)|not\s+(?:very\s+|so\s+)?urgent|when\s+you\s+can)\b", re.IGNORECASE
)
_NEGATED = re.compile(
    r"\b(?:not?|without|non|never|don't|isn't|off)\b[\s-]*(?:\w+\s+)?$", re.IGNORECASE
)
_YES = re.compile(r"^\W*(?:yes|yep|yeah|sure|please do|ok(?:ay)?|true|on)\b", re.IGNORECASE)
_NO = re.compile(r"^\W*(?:no|nope|false|off|rather not)\b", re.IGNORECASE)
_SWITCHED = re.compile(
    r"\b(?:turn|switch|power)\w*\b.{0,40}?\b(on|off)\b|\b(off)\b"
    r"|\b(on)\b(?=\W*(?:$|please\b|pls\b|now\b|[,.!;]))",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"(?<![\w$])\$?(?P<symbol>[A-Z]{1,5}(?:[.-][A-Z]{1,2})?)(?![\w'’])")
_CAPITALS = """
    I A OK ASAP FYI PLEASE AI AM PM USD EUR GBP CHF JPY TV PC VPN WIFI PDF API HR IT CEO CFO MON TUE
    WED THU FRI SAT SUN ETA PS BTW HI HEY LOL US UK EU THX PLS THE AND FOR
"""
_NO_SYMBOL = frozenset(_CAPITALS.split())
_IDENTIFIER = re.compile(r"(?<![\w#-])#?(?P<id>(?:[A-Za-z]{1,10}-)?\d[\w-]*)(?![\w-])")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URI = re.compile(r"https?://[^\s<>|)\"]+[^\s<>|)\".,;:!?]")
_MINUTES = {"second": 1 / 60, "minut": 1, "hour": 60}
_TIME_NOUNS = "second minute hour day week month year night"
_SUM_NOUNS = "amount price cost sum money budget fee pay currency total worth value"
_LATE_NOUNS = "end until to due deadline return last finish checkout"
_TIMES = frozenset(map(stem, _TIME_NOUNS.split()))
_SUMS = MONEY | frozenset(map(stem, _SUM_NOUNS.split()))
_LATE = frozenset(map(stem, _LATE_NOUNS.split()))
_OR = re.compile(
    r",?\s+(?:[^\W\d_]+\s+)?or\s+(?:maybe\s+|even\s+|rather\s+)?(?:(?:on|at|from|by)\s+)?",
    re.IGNORECASE,
)
_DAY_OR = re.compile(r"\b\d{1,2}(?:st|nd|rd|th|\.)?\s+or\s+(?:the\s+)?$", re.IGNORECASE)
_STILL_LATE = re.compile(r"\b(?:until|till|to|through|by|and|-|–)\s*$", re.IGNORECASE)


def fill_typed(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    """Take every argument that its type gives away."""
    text = source.open_text
    for parameter in wanted:
        if parameter.kind == "choice":
            _fill_choice(filling, parameter, text)
        elif parameter.kind == "boolean":
            _fill_boolean(filling, parameter, source)
    _fill_moments(filling, wanted, source)
    for parameter in filling.unfilled(wanted):
        _fill_pattern(filling, parameter, source)
    found = list(numbers(text))
    filling.spans += _undecided([(n.start, n.end) for n in found], text)
    free = list(around(found, filling.spans))
    _fill_numbers(filling, wanted, free)
    for parameter in filling.unfilled(wanted):
        if parameter.kind == "list" and parameter.item:
            _fill_list(filling, parameter, text)


def _undecided(spans: Sequence[Span], text: str) -> list[Span]:
    """The places of a text that are one of two: `200 or 300`, `200 dollars or 300 dollars`."""
    either = [pair for pair in pairwise(spans) if _OR.fullmatch(text[pair[0][1] : pair[1][0]])]
    return list(dict.fromkeys(span for pair in either for span in pair))


def _fill_choice(filling: Filling, parameter: Parameter, text: str) -> None:
    named = [(span, c) for c in parameter.choices if (span := mentions(text, c))]
    named = [(s, c) for s, c in named if not _NEGATED.search(text[: s[0]])]
    if _undecided(sorted(span for span, _ in named), text):
        return
    if named:
        longest = max(named, key=lambda one: (one[0][1] - one[0][0], -one[0][0]))
        filling.put(parameter, longest[1], sure=CERTAIN, span=longest[0])
        return
    calm = _CALM.search(text)
    words = "low" if calm else text
    for level in _LEVELS:
        fitting = [c for name in level for c in parameter.choices if str(c).lower() == name]
        if fitting and any(mentions(words, word) for word in level):
            filling.put(parameter, fitting[0], sure=FAINT)
            return


def _fill_boolean(filling: Filling, parameter: Parameter, source: Source) -> None:
    text = source.open_text
    if source.answering and (_YES.search(text) or _NO.search(text)):
        filling.put(parameter, bool(_YES.search(text)), sure=CERTAIN)
        return
    switch = {"on", "enabl", "power"} & set(parameter.name_stems)
    turned = _SWITCHED.search(text)
    if switch and turned:
        filling.put(
            parameter,
            turned[turned.lastindex or 1].lower() == "on",
            sure=CERTAIN,
            span=turned.span(),
        )
        return
    telling = [s for s in parameter.name_stems if s not in ("is", "with", "has", "includ", "add")]
    places = {stem(word): place for word, place in placed(text)}
    if telling and all(one in places for one in telling):
        before = text[: min(places[one] for one in telling)]
        filling.put(parameter, not _NEGATED.search(before), sure=LIKELY)


def _fill_moments(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    text = source.open_text
    days = dates(text, today=source.today)
    hours = [t for t in times(text) if not any(t.start < d.end and d.start < t.end for d in days)]
    days, hours = _either(days, text), _either(hours, text)
    _in_order(filling, [p for p in wanted if p.kind == "date"], found=days, text=text)
    _in_order(filling, [p for p in wanted if p.kind == "time"], found=hours, text=text)
    for parameter in wanted:
        if parameter.kind == "datetime" and days and hours:
            if open_ := [m for m in (days[0], hours[0]) if not m.value]:
                filling.doubts[parameter.name] = text[open_[0].start : open_[0].end]
                continue
            value = f"{days[0].value}T{hours[0].value}"
            filling.put(parameter, value, sure=CERTAIN, span=(days[0].start, days[0].end))
            filling.spans.append((hours[0].start, hours[0].end))
    filling.spans += [(m.start, m.end) for m in hours if filling.free((m.start, m.end))]
    filling.spans += [(m.start, m.end) for m in days if filling.free((m.start, m.end))]


def _either(found: Sequence[Moment], text: str) -> list[Moment]:
    """The moments, those of which one is to be chosen as one moment without a value."""
    told = list[Moment]()
    for moment in found:
        if told and _OR.fullmatch(text[told[-1].end : moment.start]):
            told[-1] = replace(told[-1], value="", end=moment.end)
        elif moment.kind == "date" and (other := _DAY_OR.search(text[: moment.start])):
            told.append(replace(moment, value="", start=other.start()))
        else:
            told.append(moment)
    return told


def _in_order(
    filling: Filling, wanted: Sequence[Parameter], *, found: Sequence[Moment], text: str
) -> None:
    left = list(wanted)
    for moment in found:
        if not left:
            return
        late = bool(_STILL_LATE.search(text[: moment.start]))
        fitting = [p for p in left if late == bool(_LATE & set(p.name_stems))]
        parameter = (fitting or left)[0]
        left.remove(parameter)
        if moment.value:
            span = (moment.start, moment.end)
            filling.put(parameter, moment.value, sure=CERTAIN, span=span)
        else:
            filling.doubts[parameter.name] = text[moment.start : moment.end]


def _fill_pattern(filling: Filling, parameter: Parameter, source: Source) -> None:
    text = source.open_text
    match parameter.kind:
        case "email":
            found = _EMAIL.search(text)
        case "uri":
            found = _URI.search(text)
        case "identifier":
            known = (m for m in _IDENTIFIER.finditer(text) if filling.free(m.span()))
            found = next(known, None)
        case "symbol":
            found = _symbol(text)
        case _:
            return
    if found:
        value = found.groupdict().get("symbol") or found.groupdict().get("id") or found.group()
        filling.put(parameter, value, sure=CERTAIN, span=found.span())


def _symbol(text: str) -> re.Match[str] | None:
    shouted = [w for w in re.findall(r"[A-Za-z]{2,}", text) if w.isupper()]
    if len(shouted) > 3 and len(shouted) > len(re.findall(r"[A-Za-z]{2,}", text)) / 2:
        return next((m for m in _SYMBOL.finditer(text) if m.group().startswith("$")), None)
    return next((m for m in _SYMBOL.finditer(text) if m["symbol"] not in _NO_SYMBOL), None)


def _fill_numbers(filling: Filling, wanted: Sequence[Parameter], found: Sequence[Number]) -> None:
    numeric = [p for p in wanted if p.kind in ("number", "integer")]
    pairs = [
        (fit, p, n) for p in numeric for n in found if (fit := _fit(n, p)) and _enough(fit[0], p)
    ]
    pairs.sort(key=lambda pair: -pair[0][0])
    used = list[Number]()
    for (sure, value), parameter, number in pairs:
        if parameter.name in filling.args or number in used:
            continue
        used.append(number)
        whole = int(value) if parameter.kind == "integer" else value
        span = (number.start, number.end)
        filling.put(parameter, whole, sure=min(sure, CERTAIN), span=span)


def _enough(sure: float, parameter: Parameter) -> bool:
    return sure > 0 and (parameter.required or sure >= CERTAIN)


def _fit(number: Number, parameter: Parameter) -> tuple[float, float] | None:
    """How well a number fits a parameter, and its value there; None when it cannot be meant."""
    value, sure = number.value, LIKELY if not number.units else FAINT
    own, known = set(parameter.name_stems), parameter.word_stems
    unit = next((u for u in number.units if u in _TIMES), None)
    if unit:
        wanted = next(iter(_TIMES & own or _TIMES & known), None)
        if unit not in (_TIMES & own or _TIMES & known):
            if unit not in _MINUTES or wanted not in _MINUTES:
                return None
            value = value * _MINUTES[unit] / _MINUTES[wanted]
        sure = CERTAIN + 1
    elif own & {*number.units, number.label} or (
        "percent" in number.units and parameter.maximum == 100
    ):
        sure = CERTAIN + 1
    elif number.money:
        if own & _TIMES:
            return None
        sure = CERTAIN + 1 if _SUMS & known else FAINT
    elif known & set(number.units):
        sure = CERTAIN
    if parameter.kind == "integer" and value != int(value):
        return None
    return sure - _outside(value, parameter), value


def _outside(value: float, parameter: Parameter) -> float:
    low = parameter.minimum is not None and value < parameter.minimum
    high = parameter.maximum is not None and value > parameter.maximum
    return 0.4 if low or high else 0.0


def _fill_list(filling: Filling, parameter: Parameter, text: str) -> None:
    item = parameter.item
    found: list[JsonValue] = []
    match item.kind if item else "other":
        case "choice" if item:
            found = [c for c in item.choices if mentions(text, c)]
        case "email":
            found = [*_EMAIL.findall(text)]
        case "integer":
            found = [int(n.value) for n in around(numbers(text), filling.spans)]
        case "number":
            found = [n.value for n in around(numbers(text), filling.spans)]
        case _:
            return
    if found:
        filling.put(parameter, found, sure=LIKELY)
