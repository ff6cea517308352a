"""What the rehearsal model says for itself: its questions, its help, who it is."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from google.genai import types

from agents.runtime.rehearsal.parameters import Parameter, parameters
from agents.runtime.rehearsal.phrases import lead
from agents.runtime.rehearsal.words import plain, stems, tokens

WHO_I_AM = (
    "I am a rehearsal model: a few rules in place of an AI, so that this bot can be tried without "
    "one. I pick a tool by the words you use; everything after that is real."
)
WELCOME = "You are welcome."
LEFT = "All right, I leave it at that."
WITHDRAW = "I cannot take it back; whoever asked for it can, with Withdraw, where it was asked."
NOT_UNDERSTOOD = "I did not understand that; without an AI behind me I go by your words."
_LONG_TEXT = 40
_COMMAND = re.compile(r"^(?:[^\W\d]+[\s;]+){1,8}[^\W\d]+:\s+(?=\S)")
_ANY_TEXT = "the coffee machine on floor two has stopped"


def question(missing: Sequence[Parameter], doubts: Mapping[str, str]) -> str:
    """One sentence that asks for every missing parameter, each named in plain words.

    `doubts` are the words in which a person left a parameter open, such as `Monday or Tuesday`.
    """
    asked = [
        f"{_asked(each)}: {doubts[each.name]}" if each.name in doubts else _asked(each)
        for each in missing
    ]
    listed = " and ".join(filter(None, (", ".join(asked[:-1]), *asked[-1:])))
    return f"Gladly; {listed}?"


def _asked(parameter: Parameter) -> str:
    name = plain(parameter.name)
    match parameter.kind:
        case "integer" if name.endswith("s") or parameter.description.startswith("How many"):
            return f"how many {name}"
        case "choice":
            choices = [str(choice).replace("_", " ") for choice in parameter.choices]
            either = " or ".join(filter(None, (", ".join(choices[:-1]), *choices[-1:])))
            return f"which {name} ({either})"
        case "boolean":
            return f"is it “{name}”, yes or no"
        case "date" | "datetime" if not {"date", "day", "when"} & set(name.split()):
            return f"what is the {name} date"
        case _:
            return f"what is the {name}"


def abilities(tools: Sequence[types.FunctionDeclaration], *, today: date) -> str:
    """What the tools are for, each with a sentence to try."""
    if not tools:
        return "I have no tools here; I can only give back the heart of a longer text."
    lines = [f"{_purpose(tool)} Try “{example(tool, today=today)}”." for tool in tools]
    if len(lines) == 1:
        return f"What I can do: {lines[0]}"
    return "What I can do:\n" + "\n".join(f"• {line}" for line in lines)


def _purpose(tool: types.FunctionDeclaration) -> str:
    first = re.split(r"(?<=[.!?])\s|\n\s*\n", (tool.description or "").strip(), maxsplit=1)[0]
    text = " ".join(first.split()) or plain(tool.name or "")
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def example(tool: types.FunctionDeclaration, *, today: date) -> str:
    """A sentence that leads to a call of a tool, made from its declaration."""
    required = [p for p in parameters(tool) if p.required]
    texts = [p for p in required if p.kind in ("text", "message")] or [
        p for p in required if p.kind == "title"
    ]
    said = [plain(tool.name or "").removesuffix(" long running")]
    said += [_shown(p, today) for p in required if p.kind not in ("text", "message", "title")]
    sentence = " ".join(said) + "".join(f": {p.example or _ANY_TEXT}" for p in texts[:1])
    return sentence[:1].upper() + sentence[1:]


def _shown(parameter: Parameter, today: date) -> str:
    name = plain(parameter.name)
    match parameter.kind:
        case "integer" | "number":
            return _number(parameter)
        case "choice":
            return f"{name} {str(parameter.choices[0]).replace('_', ' ')}"
        case "boolean":
            return f"turned {name}" if name == "on" else f"with {name}"
        case "phrase":
            leading = lead(parameter)
            shown = f"{leading} {parameter.example}" if leading and parameter.example else ""
            return shown or f'with {name} "{parameter.example or name}"'
        case kind:
            soon = today + timedelta(days=14)
            return {
                "date": f"on {soon}",
                "datetime": f"on {soon} at 14:00",
                "time": "at 14:00",
                "email": "for ana@example.com",
                "uri": "https://example.com",
                "identifier": parameter.example or "A-42",
                "symbol": f"of {parameter.example or 'ABC'}",
            }.get(kind, f"with {name}")


def _number(parameter: Parameter) -> str:
    name = plain(parameter.name)
    if parameter.kind == "number":
        return "42.50"
    value = int(max(parameter.minimum or 1, min(3, parameter.maximum or 3)))
    return f"{value} {name}" if _asked(parameter).startswith("how many") else f"{name} {value}"


def extract(text: str) -> str:
    """The sentences of a longer text whose words occur most in it; at most two, in order."""
    text = _COMMAND.sub("", text.strip(), count=1)
    sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", text) if s.strip()]
    counts = Counter(stems(text))

    def weight(sentence: str) -> float:
        found = stems(sentence)
        return sum(counts[one] for one in found) / (len(found) + 4)

    if len(sentences) < 2 and len(list(tokens(text))) < _LONG_TEXT:
        return text.strip()
    kept = sorted(sentences, key=weight, reverse=True)[: 2 if len(sentences) > 4 else 1]
    return " ".join(sentence for sentence in sentences if sentence in kept)
