"""Pure: one call as it will run -> its canonical form, its digest, and its tool's contract version.

Text stays exactly as it is: two spellings of "é" that look the same are two texts to the function
that gets them, so they must be two calls to the person who agreed to one.
"""

import hashlib
import json
import math
from typing import cast

from pydantic import JsonValue

from agents.runtime.declarations import Signature

WORDS = frozenset({"title", "description", "examples"})


def canonical(value: JsonValue) -> bytes:
    """The one JSON text of a value, in ASCII: keys sorted, no blanks.

    1, 1.0, True, "1" and -0.0 are all different. Raises ValueError for NaN and the infinities, and
    TypeError for whatever is not exactly a JSON type, keys included.
    """
    _check(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(
    *,
    tenant: str,
    agent: str,
    tool: str,
    contract: str,
    args: dict[str, JsonValue],
    payload_schema: dict[str, JsonValue] | None,
    precondition: dict[str, JsonValue] | None = None,
) -> str:
    """What a person agrees to, as SHA-256 in hex: who does what, how, and what is asked.

    An empty precondition does not count, so a call without one has the digest it always had.
    """
    agreed: dict[str, JsonValue] = {
        "tenant": tenant,
        "agent": agent,
        "tool": tool,
        "contract": contract,
        "args": args,
        "payload_schema": payload_schema,
    }
    if precondition:
        agreed["precondition"] = precondition
    return _hash(agreed)


def contract_version(
    signature: Signature, *, effects: str, payload_schema: dict[str, JsonValue] | None = None
) -> str:
    """What a tool promises, as SHA-256 in hex; it changes when an open question must be asked anew.

    It covers the name, the parameters' names, types, limits and defaults, the class of effects and
    the payload's schema. Descriptions may be reworded without touching it.
    """
    promise: dict[str, JsonValue] = {
        "name": signature.name,
        **promise_of(signature, effects=effects),
        "payload_schema": payload_schema and bare(payload_schema),
    }
    return _hash(promise)


def promise_of(signature: Signature, *, effects: str) -> dict[str, JsonValue]:
    """What a contract version covers, kept so that changes of it can be named."""
    return {"parameters": bare(signature.schema or {}), "effects": effects}


def _hash(value: JsonValue) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _check(value: object) -> None:
    kind = type(value)
    if kind is dict:
        for key, item in cast("dict[object, object]", value).items():
            if type(key) is not str:
                raise TypeError(f"{key!r} is not a text, as a JSON key must be")
            _check(item)
    elif kind is list:
        for item in cast("list[object]", value):
            _check(item)
    elif kind is float and not math.isfinite(cast("float", value)):
        raise ValueError(f"{value} has no JSON form")
    elif value is not None and kind not in (str, int, float, bool):
        raise TypeError(f"{kind.__name__} is not a JSON type")


def bare(schema: JsonValue) -> JsonValue:
    """A JSON schema without its words for readers; names and values are kept as they are."""
    if not isinstance(schema, dict):
        return [bare(item) for item in schema] if isinstance(schema, list) else schema
    told: dict[str, JsonValue] = {}
    for key, item in schema.items():
        if key in ("properties", "$defs") and isinstance(item, dict):
            told[key] = {name: bare(inner) for name, inner in item.items()}
        elif key in ("default", "const", "enum"):
            told[key] = item
        elif key not in WORDS:
            told[key] = bare(item)
    return told
