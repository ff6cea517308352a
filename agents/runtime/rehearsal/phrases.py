"""Arguments that are words of the person's own: what stands in quotes, after `for`, as a whole."""

import re
from collections.abc import Iterator, Sequence

from agents.runtime.rehearsal.filling import (
    CERTAIN,
    FAINT,
    GUESSED,
    LIKELY,
    Filling,
    Source,
    Span,
    strings,
)
from agents.runtime.rehearsal.parameters import Parameter
from agents.runtime.rehearsal.words import PREPOSITIONS, STOP, mask, plain, stem

_LEADS = {
    "purpose reason occasion justification expense cause": "for because on bought",
    "topic subject title about headline": "about regarding concerning on",
    "city location place room office venue country area region site floor": "in at for of",
    "destination target recipient receiver to addressee": "to for",
    "origin source from departure": "from",
    "language": "into to in",
    "person name employee colleague user customer assignee owner guest": "for with to of named",
    "company product item device lamp light machine": "of for on off in",
}
_PREPOSITIONS_OF = {
    stem(noun): tuple(leads.split()) for nouns, leads in _LEADS.items() for noun in nouns.split()
}
_ANY = ("for", "about", "of", "to", "in", "on", "at", "with", "from")
_END = re.compile(r"[?!;\n]|[.:](?=\s|$)|,(?=\s*(?P<next>[^\W\d_]+['’]?\w*))|\s[-–—]\s")
_POLITE = re.compile(
    r"[\s,.!?:;–—-]*\b(?:please|pls|plz|thanks(?:\s+a\s+lot)?|thank\s+you(?:\s+very\s+much)?|thx|asap"
    r"|cheers|if\s+possible|would\s+you|will\s+you|for\s+me)[\s.!?]*$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"^(?:the|an?|my|our|some|this|that|that's|of)\s+", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:me|you|us|it|him|her|them|that|this|now|here|there|everything)?$", re.IGNORECASE
)
_CONNECTOR = re.compile(
    r"^(?:[\s:,.?!–—-]+|(?:this|these|the\s+following|for\s+me|for|me|us|about|regarding|please|saying"
    r"|that\s+says|because|which\s+says|of|on)\b)",
    re.IGNORECASE,
)
_ANSWER_LEAD = re.compile(
    r"^(?:well|oh|ah|hm+|just|it(?:'s|’s|\s+is|\s+was)|that(?:'s|’s|\s+is|\s+was|\s+would\s+be)"
    r"|they\s+(?:are|were)|make\s+it|say|use|for|about|because(?:\s+of)?|to|in|at)[\s,:]+",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|there|all|team|please|pls|help|(?:can|could|would)\s+(?:you|some\w+|any\w+)"
    r"|i\s+need\s+help\s+with|need\s+help\s+with)\b[\s,.!:–—-]*)+",
    re.IGNORECASE,
)
_JOINING = frozenset({"to", "of", "in", "for", "with", "from", "at", "the", "a", "an", "my", "our"})
_TITLE_LENGTH = 80


def fill_phrases(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    """Take the arguments that are free words; what is required may be guessed from what is left."""
    _fill_quotes(filling, wanted, source)
    _fill_labelled(filling, wanted, source)
    _fill_led(filling, wanted, source)
    if source.answering:
        _fill_answer(filling, wanted, source)
    _fill_texts(filling, wanted, source)
    _fill_leftover(filling, wanted, source)


def _fill_quotes(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    for start, end, inside in source.quotes:
        left = strings(filling.unfilled(wanted))
        before = re.findall(r"[^\W\d_]+", source.text[:start])[-2:]
        labelled = [p for p in left if set(map(stem, before)) & set(p.name_stems)]
        fitting = labelled or [p for p in left if p.required]
        if fitting and filling.free((start, end)):
            filling.put(fitting[0], inside, sure=LIKELY, span=(start, end))


def _fill_labelled(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    labels = {p.name: _label(p).search(source.open_text) for p in wanted}
    cut = [*filling.spans, *(found.span() for found in labels.values() if found)]
    for parameter in strings(filling.unfilled(wanted)):
        found = labels[parameter.name]
        if found:
            end = _end_of(source, found.end(), cut)
            value = _trim(source.text[found.end() : end])
            if value:
                filling.put(parameter, value, sure=CERTAIN, span=(found.start(), end))


def _label(parameter: Parameter) -> re.Pattern[str]:
    name = r"\s+".join(map(re.escape, plain(parameter.name).split()))
    return re.compile(rf"\b{name}\b\s*(?::|=|\bis\b|\bwas\b|\bshould be\b)\s*", re.IGNORECASE)


def _fill_led(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    phrases = [p for p in strings(filling.unfilled(wanted)) if p.kind in ("phrase", "symbol")]
    for parameter in phrases:
        leads, known = _leads(parameter)
        if not known and not parameter.required:
            continue
        others = {w for p in phrases if p is not parameter and p.required for w in _leads(p)[0][:1]}
        found = next(_led(filling, source, leads=leads, others=others - set(leads)), None)
        if found:
            start, end = found
            value = _DETERMINER.sub("", _trim(source.text[start:end]))
            symbol = parameter.kind == "symbol" and re.fullmatch(
                r"[a-z]{1,5}(?:\.[a-z]{1,2})?", value
            )
            sure = LIKELY if known else FAINT
            filling.put(parameter, value.upper() if symbol else value, sure=sure, span=found)


def lead(parameter: Parameter) -> str:
    """The preposition that leads to a parameter's value, empty when none is its own."""
    leads, known = _leads(parameter)
    return leads[0] if known else ""


def _leads(parameter: Parameter) -> tuple[tuple[str, ...], bool]:
    for one in (*reversed(parameter.name_stems), *parameter.name_stems):
        if one in _PREPOSITIONS_OF:
            return _PREPOSITIONS_OF[one], True
    return _ANY, False


def _led(
    filling: Filling, source: Source, *, leads: Sequence[str], others: set[str]
) -> Iterator[Span]:
    cut = [*filling.spans, *_words_at(source.open_text, others)]
    places = _words_at(source.open_text, set(leads))
    behind = min((end for _, end in filling.spans), default=0)
    for _, start in sorted(places, key=lambda place: (place[0] < behind, place)):
        end = _end_of(source, start, cut)
        value = _DETERMINER.sub("", _trim(source.text[start:end]))
        if not _PRONOUN.match(value) and re.search(r"\w", value):
            yield start, start + len(source.text[start:end].rstrip())


def _words_at(text: str, words: set[str]) -> list[Span]:
    pattern = "|".join(sorted(map(re.escape, words)))
    return (
        [m.span() for m in re.finditer(rf"\b(?:{pattern})\b\s*", text, re.IGNORECASE)]
        if words
        else []
    )


def _end_of(source: Source, start: int, cut: Sequence[Span]) -> int:
    """Where a phrase ends: at a sign, at what another argument used, at the words leading there."""
    text = source.open_text
    end = len(text)
    for found in _END.finditer(text, start):
        following = (found["next"] or "").lower().replace("’", "'")
        if not found.group().startswith(",") or following in STOP - PREPOSITIONS or not following:
            end = found.start()
            break
    for span in cut:
        if start <= span[0] < end:
            end = _before_leads(text, start, span[0])
    return end


def _before_leads(text: str, start: int, end: int) -> int:
    leading = re.search(
        r"(?:\s*\b(?:from|on|for|at|to|in|into|of|until|by|and|it\s+(?:was|cost|is)|which\s+(?:was|cost)"
        r"|starting|beginning|costs?|was|is|with|a|the)\b|[\s,(])+$",
        text[start:end],
        re.IGNORECASE,
    )
    return start + leading.start() if leading else end


def _trim(value: str) -> str:
    before = None
    while before != value:
        before, value = value, _POLITE.sub("", value.strip(" \t\n,.;:!?()"))
    return value


def _fill_answer(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    left = [p for p in strings(filling.unfilled(wanted)) if p.required]
    if len(left) != 1:
        return
    value = _trim(mask(source.text, filling.spans))
    before = None
    while before != value:
        before, value = value, _ANSWER_LEAD.sub("", value)
    if left[0].kind == "phrase":
        value = _DETERMINER.sub("", value)
    if re.search(r"\w", value):
        filling.put(left[0], value, sure=LIKELY)


def _fill_texts(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    if source.answering and not re.search(r"\w", mask(source.text, filling.spans)):
        return
    rest = _remainder(filling, source)
    for parameter in filling.unfilled(wanted):
        if not parameter.required or not re.search(r"[^\W\d_]{2}", rest):
            continue
        if parameter.kind == "message":
            filling.put(parameter, source.text.strip(), sure=GUESSED)
        elif parameter.kind == "text":
            filling.put(parameter, rest, sure=GUESSED)
        elif parameter.kind == "title":
            opening = _OPENING.match(rest)
            end = _end_of(
                Source(text=rest, today=source.today), opening.end() if opening else 0, ()
            )
            title = _DETERMINER.sub("", _trim(_OPENING.sub("", rest[:end]) or rest))
            filling.put(parameter, (title or rest)[:_TITLE_LENGTH], sure=GUESSED)


def _remainder(filling: Filling, source: Source) -> str:
    """The message without the command it starts with, and without what it ends with for others."""
    told = any(filling.free((start, end)) is False for start, end, _ in source.quotes)
    begin = 0 if source.answering or told else _command_end(source)
    text = source.text[begin:]
    while begin and (connector := _CONNECTOR.match(text)) and connector.group():
        text = text[connector.end() :]
    colon = re.match(r"(?:\S+\s+){0,7}\S+:\s+(?=\S)", text)
    text = text[colon.end() :] if colon and "://" not in colon.group() else text
    offset = len(source.text) - len(text)
    for start, end in sorted(filling.spans, reverse=True):
        begin = _before_leads(source.text, 0, start)
        led = source.text[begin:start].strip().lower() in PREPOSITIONS
        if led and begin >= offset and not re.search(r"\w", _trim(source.text[end:])):
            text = text[: begin - offset]
    return _trim_end(text)


def _trim_end(text: str) -> str:
    return _POLITE.sub("", text.strip()).strip()


def _command_end(source: Source) -> int:
    """Where the command at the start ends: filler and words of the tool's name, at most eight."""
    end = 0
    for count, found in enumerate(re.finditer(r"[^\W_]+(?:['’]\w+)?", source.open_text)):
        word = found.group().lower().replace("’", "'")
        if stem(word) in source.own_stems:
            end = found.end()
        elif word not in STOP or count >= 8:
            break
    return end


def _fill_leftover(filling: Filling, wanted: Sequence[Parameter], source: Source) -> None:
    left = [p for p in strings(filling.missing(wanted)) if p.kind in ("phrase", "symbol", "title")]
    runs = _runs(mask(source.open_text, filling.spans), source.tool_stems)
    if len(left) == 1 and runs:
        near = [min(abs(place - end) for _, end in filling.spans or [(0, 0)]) for place, _ in runs]
        filling.put(left[0], runs[near.index(min(near))][1], sure=GUESSED)


def _runs(text: str, known: frozenset[str]) -> list[tuple[int, str]]:
    """Stretches of words that say something new: where each ends, and the stretch."""
    runs: list[tuple[int, str]] = []
    start = end = -1
    for found in re.finditer(r"[^\W\d_]+(?:['’-]\w+)*|[^\w\s]|\d+", text):
        word = found.group().lower().replace("’", "'")
        if word[0].isalpha() and word not in STOP | {"hi", "hello"} and stem(word) not in known:
            start, end = (found.start() if start < 0 else start), found.end()
        elif word not in _JOINING and start >= 0:
            runs.append((end, text[start:end]))
            start = -1
    return [*runs, (end, text[start:end])] if start >= 0 else runs
