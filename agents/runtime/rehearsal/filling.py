"""What a message says about a tool's parameters: the arguments found, and how sure each one is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from pydantic import JsonValue

from agents.runtime.rehearsal.parameters import Parameter
from agents.runtime.rehearsal.words import quotations, unquoted

Span = tuple[int, int]
CERTAIN, LIKELY, FAINT, GUESSED = 2.0, 1.0, 0.5, 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A person's message, and what is needed to read it.

    `tool_stems` are all stems the tool is known by, `own_stems` those one asks for it with.
    `answering` is true when the message answers our own question about the parameters at hand.
    """

    text: str
    today: date
    tool_stems: frozenset[str] = frozenset()
    own_stems: frozenset[str] = frozenset()
    answering: bool = False

    @property
    def open_text(self) -> str:
        """The text with quotations blanked out, as long as the text."""
        return unquoted(self.text)

    @property
    def quotes(self) -> list[tuple[int, int, str]]:
        """What is quoted: start, end and the text inside."""
        return quotations(self.text)


@dataclass(slots=True)
class Filling:
    """Arguments found so far, how sure each is (2 certain … 0 guessed), and the text they used.

    `doubts` are parameters of which the message says two things, in its words: `Monday or Tuesday`.
    """

    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    evidence: dict[str, float] = field(default_factory=dict[str, float])
    spans: list[Span] = field(default_factory=list[Span])
    doubts: dict[str, str] = field(default_factory=dict[str, str])

    def put(
        self, parameter: Parameter, value: JsonValue, *, sure: float, span: Span | None = None
    ) -> None:
        """Take a value for a parameter; the span of text it came from is used up."""
        self.args[parameter.name] = value
        self.evidence[parameter.name] = sure
        if span:
            self.spans.append(span)

    def unfilled(self, wanted: Sequence[Parameter]) -> list[Parameter]:
        """Those of the parameters that have no value yet, required ones first."""
        left = [p for p in wanted if p.name not in self.args]
        return sorted(left, key=lambda p: not p.required)

    def missing(self, wanted: Sequence[Parameter]) -> tuple[Parameter, ...]:
        """The parameters without a value that are required, or that the message leaves open."""
        left = (p for p in wanted if p.name not in self.args)
        return tuple(p for p in left if p.required or p.name in self.doubts)

    def free(self, span: Span) -> bool:
        """Whether no argument has used this stretch of text."""
        return not any(span[0] < end and start < span[1] for start, end in self.spans)


def strings(wanted: Iterable[Parameter]) -> list[Parameter]:
    """The parameters that take words of the person's own."""
    kinds = ("phrase", "title", "text", "symbol", "identifier")
    return [p for p in wanted if p.kind in kinds]
