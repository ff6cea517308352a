"""What Gemini refuses in a request, in its words: pure, as strict as the strictest model."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]

FIELDS = frozenset(
    {
        "contents",
        "tools",
        "toolConfig",
        "safetySettings",
        "systemInstruction",
        "generationConfig",
        "cachedContent",
        "labels",
    }
)
DATA = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
    }
)
CALL_FIELDS = frozenset({"id", "name", "args"})
RESPONSE_FIELDS = frozenset({"id", "name", "response", "parts", "scheduling", "willContinue"})
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
SCHEMA = frozenset(
    {
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "properties",
        "minProperties",
        "maxProperties",
        "required",
        "propertyOrdering",
        "default",
        "example",
    }
)
"""What `parameters` may say: an OpenAPI schema."""
JSON_SCHEMA = SCHEMA | {
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "prefixItems",
    "oneOf",
    "additionalProperties",
    "const",
}
"""What `parametersJsonSchema` may say."""

Signed = Mapping[bytes, Json]
"""The call that each signature was given with."""


def refused(request: Json, signed: Signed) -> str | None:
    """Why a request is answered 400; None when it is not."""
    found = (
        *_fields(request),
        *_tools(request),
        *_contents(request),
        *_signatures(request, signed),
    )
    return next(iter(found), None)


def _fields(request: Json) -> Iterator[str]:
    for name in request.keys() - FIELDS:
        yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'


def _tools(request: Json) -> Iterator[str]:
    for tool in request.get("tools", ()):
        for declared in tool.get("functionDeclarations", ()):
            if not NAME.fullmatch(declared.get("name", "")):
                yield f"Invalid function name: {declared.get('name')}"
            yield from _schema(declared.get("parameters", {}), SCHEMA)
            yield from _schema(declared.get("parametersJsonSchema", {}), JSON_SCHEMA)


def _schema(schema: Any, allowed: frozenset[str]) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _schema(each, allowed)
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name not in allowed:
            yield f'Invalid JSON payload received. Unknown name "{name}" at a schema.'
        if name in ("properties", "$defs"):
            for each in value.values():
                yield from _schema(each, allowed)
        elif name in ("items", "prefixItems", "anyOf", "oneOf", "additionalProperties"):
            yield from _schema(value, allowed)


def _contents(request: Json) -> Iterator[str]:
    contents = request.get("contents") or []
    if not contents:
        yield "* GenerateContentRequest.contents: contents is not specified"
    before: Json = {"role": "model", "parts": []}
    for place, content in enumerate(contents):
        yield from _content(content, place)
        yield from _turn(content, before, place)
        before = content
    if calls(before):
        yield "Please ensure that the conversation does not end with a function call turn."


def _content(content: Json, place: int) -> Iterator[str]:
    if content.get("role") not in ("user", "model"):
        yield "Please use a valid role: user, model."
    if not content.get("parts"):
        yield f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty."
    for part in content.get("parts", ()):
        if len(part.keys() & DATA) != 1:
            yield "* contents.parts: required oneof field 'data' must have one initialized field"
        call, response = part.get("functionCall", {}), part.get("functionResponse", {})
        for name in (call.keys() - CALL_FIELDS) | (response.keys() - RESPONSE_FIELDS):
            yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
        if "functionCall" in part and not NAME.fullmatch(call.get("name", "")):
            yield f"Invalid function name: {call.get('name')}"
        if not isinstance(call.get("args", {}), dict):
            yield "Invalid value at 'args' (type.googleapis.com/google.protobuf.Struct)"
        if not isinstance(response.get("response", {}), dict):
            yield "Invalid value at 'response' (type.googleapis.com/google.protobuf.Struct)"
        if "functionResponse" in part and "response" not in response:
            yield "Name and response must be given in a function response."


def _turn(content: Json, before: Json, place: int) -> Iterator[str]:
    """Who may speak after whom, and that every call has its response directly after it."""
    if place == 0 and content.get("role") != "user":
        yield "Please ensure that multiturn requests start with a user turn."
    made, given = calls(before), _given(content)
    if made and content.get("role") != "user":
        yield "Please ensure that function response turn comes immediately after a call turn."
    if calls(content) and content.get("role") != "model":
        yield "Please ensure that function calls are made by the model."
    if calls(content) and before.get("role") != "user":
        yield "Please ensure that function call turn comes immediately after a user turn."
    if len(made) != len(given):
        yield (
            "Please ensure that the number of function response parts is equal to the number of"
            " function call parts of the function call turn."
        )
        return
    for call, response in zip(made, given, strict=True):
        if call["name"] != response.get("name"):
            yield f"Function response {response.get('name')} does not match call {call['name']}."
        if call.get("id") != response.get("id"):
            yield f"Function response id {response.get('id')} does not match {call.get('id')}."


def _signatures(request: Json, signed: Signed) -> Iterator[str]:
    """The first call of a turn carries the signature it came with, every other part none."""
    for place, content in enumerate(request.get("contents") or ()):
        parts = [part for part in content.get("parts", ()) if "functionCall" in part]
        for number, part in enumerate(parts):
            name = part["functionCall"].get("name")
            given = part.get("thoughtSignature")
            if number == 0 and given is None:
                yield (
                    f"Function call `{name}` in the {place + 1}. content block is missing a"
                    " `thought_signature`."
                )
            if number > 0 and given is not None:
                yield "Only the first of parallel function calls has a thought signature."
            if given is not None and signed.get(_bytes(given)) != part["functionCall"]:
                yield f"Thought signature is not valid for function call `{name}`."


def calls(content: Json) -> list[Json]:
    """The function calls in a content."""
    return [part["functionCall"] for part in content.get("parts", ()) if "functionCall" in part]


def _given(content: Json) -> list[Json]:
    parts = content.get("parts", ())
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


def _bytes(signature: str) -> bytes:
    return (
        b64decode(signature, altchars=b"-_")
        if re.search("[-_]", signature)
        else (b64decode(signature))
    )
