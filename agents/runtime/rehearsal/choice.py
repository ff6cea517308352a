"""Which tool a message asks for: the one whose words it shares and whose parameters it fills."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from google.genai import types

from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.rehearsal.filling import CERTAIN, FAINT, LIKELY, Filling, Source
from agents.runtime.rehearsal.parameters import (
    Parameter,
    bag,
    command_words,
    own_words,
    parameters,
    subject_words,
)
from agents.runtime.rehearsal.phrases import fill_phrases
from agents.runtime.rehearsal.typed import fill_typed
from agents.runtime.rehearsal.words import stems, tokens, unquoted
from agents.runtime.transfer import TRANSFER

_LONG = 12
_SHORT = 3
_QUESTION = re.compile(
    r"^\W*(?:what|who|when|where|why|how(?!\s+do\s+i\b)|which|is|are|do|does|did|can\s+i|will|should)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:i\s+(?:want|need|would\s+like)|i['’]d\s+like|can\s+i|please)\b", re.IGNORECASE
)
_TROUBLE = re.compile(
    r"\b(?:nothing|broken?|down|dead|stuck|lost|stolen|fail\w*|error|crash\w*|not|n[o']t|won't|can't)\b",
    re.IGNORECASE,
)
_WHOLE = ("text", "title", "message")
_CLAUSE = re.compile(
    r"[;\n]+|(?<=[^\s\d])[.?!]\s+|,?\s+(?:and|with|versus|vs\.?)\s+(?:also\s+|then\s+)?|,\s+(?:plus\s+)?"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool, what a message says about its parameters, and how well the two fit together."""

    tool: types.FunctionDeclaration
    wanted: tuple[Parameter, ...]
    filling: Filling
    score: float

    @property
    def missing(self) -> tuple[Parameter, ...]:
        """The parameters that have to be asked for."""
        return self.filling.missing(self.wanted)

    @property
    def complete(self) -> bool:
        """Whether the tool can be called with what the message says."""
        return not self.missing


class Tools:
    """The tools an agent offers, with the words each is known by."""

    def __init__(
        self, declarations: Sequence[types.FunctionDeclaration], *, today: date, told: str = ""
    ) -> None:
        """Read the declarations; `told` may describe other agents, `today` is for "tomorrow"."""
        self.today = today
        self.offered = {
            d.name: d
            for d in declarations
            if d.name and d.name not in (REQUEST_CONFIRMATION, TRANSFER)
        }
        self.bags = {name: bag(d) for name, d in self.offered.items()}
        self.wanted = {name: parameters(d) for name, d in self.offered.items()}
        transfer = next((d for d in declarations if d.name == TRANSFER), None)
        self.others = _others(transfer, told) if transfer else {}

    def rarity(self, word: str) -> float:
        """How telling a stem is: the fewer tools and agents know it, the more."""
        bags: list[Mapping[str, float]] = [*self.bags.values(), *self.others.values()]
        known = sum(word in words for words in bags)
        return math.log(1 + len(bags) / known) / math.log(2) if known else 0.0

    def shared(self, words: Mapping[str, float], text: str) -> float:
        """How much of a text a bag of weighted stems knows."""
        return sum(words.get(s, 0.0) * self.rarity(s) for s in dict.fromkeys(stems(unquoted(text))))

    def source(self, name: str, text: str, *, answering: bool = False) -> Source:
        """A message as it is read for one of the tools."""
        tool = self.offered[name]
        return Source(
            text=text,
            today=self.today,
            tool_stems=subject_words(tool),
            own_stems=command_words(tool),
            answering=answering,
        )


def filled(wanted: Sequence[Parameter], source: Source) -> Filling:
    """What a message says about some parameters."""
    filling = Filling()
    fill_typed(filling, wanted, source)
    fill_phrases(filling, wanted, source)
    return filling


def choose(tools: Tools, text: str) -> Candidate | None:
    """The tool a message asks for, or None when it asks for none of them.

    A tool named before a colon is meant: what follows is what it shall work on.
    """
    head = re.match(r"(?:\S+\s+){0,9}?\S*\w:\s+(?=\S)", unquoted(text))
    spoken = set(stems(head.group())) if head else set[str]()
    meant = [name for name, tool in tools.offered.items() if spoken & own_words(tool)]
    candidates = [_weighed(tools, name, text) for name in meant or tools.offered]
    accepted = [c for c in candidates if c is not None]
    return max(accepted, key=lambda c: c.score, default=None)


def colleague(tools: Tools, text: str, *, than: Candidate | None) -> str | None:
    """The other agent that knows the words of a message better than the best own tool."""
    scores = {name: tools.shared(words, text) for name, words in tools.others.items()}
    best = max(scores, key=scores.__getitem__, default=None)
    if best is None or scores[best] < LIKELY:
        return None
    own = tools.shared(tools.bags[than.tool.name or ""], text) if than else 0.0
    return best if scores[best] > own else None


def several(tools: Tools, text: str, *, first: Candidate) -> list[Candidate]:
    """The calls a message asks for: more than one only when each clause stands on its own."""
    kinds = {p.kind for p in first.wanted if p.required}
    single = kinds & {*_WHOLE, "list"} or kinds <= {"phrase"}
    clauses = [] if single else [c for c in _CLAUSE.split(_protected(text)) if c and c.strip()]
    found: list[Candidate] = []
    for clause in clauses if len(clauses) > 1 else ():
        name = first.tool.name or ""
        own = choose(tools, clause)
        filling = own.filling if own else filled(first.wanted, tools.source(name, clause))
        one = own or Candidate(first.tool, first.wanted, filling, 0.0)
        if not one.complete or max(_solid(one.filling), default=0.0) < LIKELY:
            return [first]
        found.append(one)
    distinct = [one.filling.args for one in found]
    return found if len(found) > 1 and all(a != distinct[0] for a in distinct[1:]) else [first]


def _solid(filling: Filling) -> list[float]:
    return [sure for sure in filling.evidence.values() if sure > 0]


def _protected(text: str) -> str:
    """No clause ends inside a quotation: then there is only one."""
    return text if unquoted(text) == text else re.sub(r"[;\n,.?!]|\band\b", " ", text)


def _weighed(tools: Tools, name: str, text: str) -> Candidate | None:
    tool, wanted = tools.offered[name], tools.wanted[name]
    filling = filled(wanted, tools.source(name, text))
    words = tools.bags[name]
    spoken = set(stems(unquoted(text)))
    lexical = tools.shared(words, text)
    required = [filling.evidence.get(p.name, 0.0) for p in wanted if p.required]
    fitting = max((filling.evidence.get(p.name, 0.0) for p in wanted), default=0.0)
    whole = bool(required) and min(required) >= FAINT and max(required) >= LIKELY
    alone = len(tools.offered) == 1 and not tools.others
    accepted = (
        bool(spoken & own_words(tool))
        or len(spoken & set(words)) >= 2
        or whole
        or (fitting >= CERTAIN and lexical > 0)
        or (bool(spoken & subject_words(tool)) and bool(_WISH.search(text)))
        or (alone and (fitting >= CERTAIN or _says_enough(wanted, text)))
    )
    missing = sum(sure == 0.0 for sure in required)
    score = lexical + sum(filling.evidence.values()) - 0.5 * missing
    return Candidate(tool, wanted, filling, score) if accepted else None


def _says_enough(wanted: Sequence[Parameter], text: str) -> bool:
    """Whether a message is what a tool that takes free words, and choices, is there for."""
    required = [p for p in wanted if p.required and p.kind != "choice"]
    if not required or any(p.kind not in _WHOLE for p in required):
        return False
    words = list(tokens(unquoted(text)))
    if any(p.kind == "message" for p in required):
        return len(words) >= _LONG
    enough = len(words) >= (_SHORT if not _TROUBLE.search(text) else _SHORT - 1)
    return bool(stems(text)) and enough and not _QUESTION.match(text)


def _others(transfer: types.FunctionDeclaration, told: str) -> dict[str, dict[str, float]]:
    """The other agents by name, each with the stems it is described by."""
    names = [str(c) for p in parameters(transfer) for c in p.choices]
    text = f"{transfer.description or ''}\n{told}"
    return {name: _described(name, text, set(names)) for name in names}


def _described(name: str, text: str, names: set[str]) -> dict[str, float]:
    words = dict.fromkeys(stems(name.replace("_", " ")), 3.0)
    others = "|".join(sorted(map(re.escape, names)))
    place = rf"(?<!\w){re.escape(name)}(?!\w)(.{{0,400}}?)(?=\n\s*\n|(?<!\w)(?:{others})(?!\w)|$)"
    for found in re.finditer(place, text, re.DOTALL):
        for one in stems(found[1]):
            words.setdefault(one, 1.0)
    return words
