"""A request as Gemini's API reads it: JSON objects, made without asking whether they are valid.

The contents of a request are types of google-genai already. Handed to the client as they are, they
would be checked again, all of them with every question; as a body they are only written out.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, cast

from google.genai import types

from agents.runtime.model import LlmRequest

Json = dict[str, Any]


def body(request: LlmRequest) -> Json:
    """The parts of a request that grow with it: contents, instruction and declarations."""
    told: Json = {"contents": _turns(request.contents)}
    if request.system_instruction:
        told["systemInstruction"] = {
            "role": "user",
            "parts": [{"text": request.system_instruction}],
        }
    if request.tools:
        told["tools"] = [{"functionDeclarations": [_dumped(tool) for tool in request.tools]}]
    return told


def _turns(contents: Sequence[types.Content]) -> list[Json]:
    """The contents, with consecutive ones of the model joined: a call must not follow its words."""
    turns: list[Json] = []
    for each in map(content, contents):
        if turns and each["role"] == turns[-1]["role"] == "model":
            turns[-1]["parts"] += each["parts"]
        else:
            turns.append(each)
    return turns


def nudged(told: Json, sentence: str) -> Json:
    """The same body with one more sentence from the user."""
    said = {"role": "user", "parts": [{"text": sentence}]}
    return {**told, "contents": [*told["contents"], said]}


def content(said: types.Content) -> Json:
    """One content; thought signatures in the alphabet in which they came."""
    told = _dumped(said)
    parts = cast("list[Json]", told.get("parts", []))
    for part, written in zip(said.parts or (), parts, strict=True):
        if part.thought_signature is not None:
            written["thoughtSignature"] = b64encode(part.thought_signature).decode()
    return told


def _dumped(value: types.Content | types.FunctionDeclaration) -> Json:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)
