"""The declaration cases: what a model is told about a function."""

from typing import Any

from agents import UsageError
from tests.conformance import build


async def declared(case: dict[str, Any]) -> dict[str, Any]:
    """Declare every tool of a case."""
    names = build.namespace(case, lambda *_a, **_k: None)
    return {"turns": [], "declarations": [_one(told, names) for told in case["tools"]]}


def _one(told: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    try:
        tool = build.tool(told, names)
    except UsageError:
        return {"func": told["func"], "raised": {}}
    declaration = tool.declaration.model_dump(mode="json", exclude_none=True)
    return {"func": told["func"], "declaration": declaration}
