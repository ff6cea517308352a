"""A tool's parameters as the rehearsal model sees them: what kind of thing each one wants."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from google.genai import types

from agents.runtime.rehearsal.words import STOP, name_words, stem, stems, tokens

Schema = Mapping[str, Any]
Kind = Literal[
    "number", "integer", "boolean", "choice", "date", "time", "datetime", "email", "uri",
    "symbol", "identifier", "text", "title", "phrase", "message", "list", "other",
]  # fmt: skip

_FORMATS: dict[str, Kind] = {
    "date": "date", "time": "time", "date-time": "datetime", "email": "email", "uri": "uri",
}  # fmt: skip
_LAST_WORDS: dict[str, Kind] = {
    "date": "date", "time": "time", "email": "email", "url": "uri", "link": "uri",
    "symbol": "symbol", "ticker": "symbol", "acronym": "symbol", "id": "identifier",
    "key": "identifier", "number": "identifier",
    "subject": "title", "title": "title", "headline": "title", "summary": "title",
    "text": "text", "body": "text", "message": "text", "description": "text", "details": "text",
    "content": "text", "question": "text", "query": "text", "problem": "text", "note": "text",
    "comment": "text", "paragraph": "text", "sentence": "text", "prompt": "text",
}  # fmt: skip
_EXAMPLE = re.compile(
    r"(?:\be\.?g\.?|\bfor example|\bfor instance|\bsuch as|\blike)[,:]?\s*"
    r"(?:[\"“'`](?P<quoted>[^\"”'`]+)[\"”'`]|(?P<bare>[^,;.)(\n]+))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter: its name, the stems it is known by, and what it accepts.

    `name_stems` are of its name, `word_stems` of name and description. `choices` are the values of
    an enum, `item` is what a list holds, `example` is one that schema or description gives.
    """

    name: str
    kind: Kind
    required: bool
    description: str = ""
    name_stems: tuple[str, ...] = ()
    word_stems: frozenset[str] = frozenset()
    choices: tuple[Any, ...] = ()
    item: "Parameter | None" = None
    example: str = ""
    minimum: float | None = None
    maximum: float | None = None


def parameters(declaration: types.FunctionDeclaration) -> tuple[Parameter, ...]:
    """The parameters of a tool, in the order of its declaration."""
    return schema_parameters(cast("Schema", declaration.parameters_json_schema or {}))


def schema_parameters(schema: Schema) -> tuple[Parameter, ...]:
    """The properties of a JSON schema object, in its order."""
    definitions = cast("Schema", schema.get("$defs", {}))
    required = cast("Sequence[str]", schema.get("required", ()))
    properties = cast("Mapping[str, Schema]", schema.get("properties", {}))
    return tuple(
        _parameter(name, node, required=name in required, definitions=definitions)
        for name, node in properties.items()
    )


def _parameter(name: str, node: Schema, *, required: bool, definitions: Schema) -> Parameter:
    branch = _branch(node, definitions)
    description = str(node.get("description") or branch.get("description") or "")
    choices = _choices(branch)
    kind: Kind = "choice" if choices else _kind(name, branch, description)
    item = _item(name, branch, definitions) if kind == "list" else None
    words = name_words(name)
    return Parameter(
        name=name,
        kind=kind,
        required=required,
        description=description,
        name_stems=tuple(stem(word) for word in words),
        word_stems=frozenset(map(stem, words)) | frozenset(stems(description)),
        choices=choices,
        item=item,
        example=_example(node, description),
        minimum=branch.get("minimum", branch.get("exclusiveMinimum")),
        maximum=branch.get("maximum", branch.get("exclusiveMaximum")),
    )


def _item(name: str, branch: Schema, definitions: Schema) -> Parameter:
    items = cast("Schema", branch.get("items") or {"type": "string"})
    return _parameter(name.removesuffix("s"), items, required=True, definitions=definitions)


def _branch(node: Schema, definitions: Schema) -> Schema:
    """The first alternative that is not null, with references followed."""
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        return _branch(cast("Schema", definitions.get(name, {})), definitions)
    options = cast("Sequence[Schema]", node.get("anyOf") or node.get("oneOf") or node.get("allOf"))
    if not options:
        return node
    real = [option for option in options if option.get("type") != "null"]
    if len(real) > 1 and all("const" in option for option in real):
        return {"enum": [option["const"] for option in real]}
    return _branch(real[0], definitions) if real else {}


def _choices(branch: Schema) -> tuple[Any, ...]:
    if "const" in branch:
        return (branch["const"],)
    return tuple(v for v in cast("Sequence[Any]", branch.get("enum", ())) if v is not None)


def _kind(name: str, branch: Schema, description: str) -> Kind:
    declared = branch.get("type", "string")
    if isinstance(declared, list):
        declared = next((t for t in cast("list[str]", declared) if t != "null"), "string")
    match declared:
        case "integer" | "number" | "boolean":
            return declared
        case "array":
            return "list"
        case "string":
            return _FORMATS.get(str(branch.get("format"))) or _string_kind(name, description)
        case _:
            return "other"


def _string_kind(name: str, description: str) -> Kind:
    words = name_words(name)
    if name == "request":
        return "message"
    known = _LAST_WORDS.get(words[-1]) if words else None
    if known:
        return known
    example = _EXAMPLE.search(description)
    shown = (example["quoted"] or "") if example else ""
    return "symbol" if re.fullmatch(r"[A-Z]{2,5}", shown) else "phrase"


def _example(node: Schema, description: str) -> str:
    given = cast("Sequence[Any]", node.get("examples") or ())
    if given:
        return str(given[0])
    match = _EXAMPLE.search(description)
    return (match["quoted"] or match["bare"]).strip() if match else ""


def own_words(declaration: types.FunctionDeclaration) -> frozenset[str]:
    """The stems of a tool's name, filler left out."""
    return frozenset(stem(w) for w in name_words(declaration.name or "") if w not in STOP)


def command_words(declaration: types.FunctionDeclaration) -> frozenset[str]:
    """The stems one asks for a tool with: its name's, and the verb its purpose begins with."""
    return own_words(declaration) | frozenset(stems((declaration.description or "").split(" ")[0]))


def bag(declaration: types.FunctionDeclaration) -> dict[str, float]:
    """The stems a tool is known by, each with the weight of the most telling place it stands."""
    weights: dict[str, float] = {}
    for parameter in parameters(declaration):
        _weigh(weights, stems(parameter.description), 0.5)
        _weigh(weights, parameter.name_stems, 1.0)
        _weigh(weights, (s for c in parameter.choices for s in stems(str(c))), 1.0)
    purpose = (declaration.description or "").split("\n\n")[0]
    _weigh(weights, stems(purpose), 1.0)
    _weigh(weights, own_words(declaration), 3.0)
    return weights


def subject_words(declaration: types.FunctionDeclaration) -> frozenset[str]:
    """The stems of a tool's name, its first sentence and its parameters' names: no value is one."""
    names = (one for parameter in parameters(declaration) for one in parameter.name_stems)
    purpose = (declaration.description or "").split("\n\n")[0]
    return own_words(declaration) | frozenset(names) | frozenset(stems(purpose))


def _weigh(weights: dict[str, float], found: Any, weight: float) -> None:
    for one in found:
        weights[one] = max(weight, weights.get(one, 0.0))


def mentions(text: str, choice: object) -> tuple[int, int] | None:
    """Where a text names a value of an enum, as a whole word or words, in any case."""
    words = r"[\s_-]*".join(map(re.escape, tokens(str(choice).replace("_", " "))))
    found = re.search(rf"(?<!\w){words}(?:s|es)?(?!\w)", text, re.IGNORECASE) if words else None
    return found.span() if found else None
