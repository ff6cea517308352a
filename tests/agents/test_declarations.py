"""What the model reads about a function: recorded cases of the peer, and our own rows."""

import dataclasses
import datetime
import decimal
import enum
import functools
import json
import typing
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict

from agents.runtime.context import ToolContext
from agents.runtime.declarations import declare, signature_of
from agents.runtime.errors import DeclarationError

CASES = Path(__file__).parents[1] / "conformance" / "cases"
PRELUDE = {
    "dataclasses": dataclasses,
    "datetime": datetime,
    "decimal": decimal,
    "enum": enum,
    "functools": functools,
    **{name: getattr(typing, name) for name in typing.__all__},
    "TypedDict": TypedDict,
    "NotRequired": NotRequired,
    "Enum": Enum,
    "BaseModel": BaseModel,
    "Field": Field,
    "ToolContext": ToolContext,
}


def recorded() -> list[Any]:
    """One row per function of the peer's recorded declarations, without agents and failures."""
    rows: list[Any] = []
    for path in sorted(CASES.glob("*-decl-*.json")):
        case = json.loads(path.read_text())
        kinds = {tool["func"]: tool["kind"] for tool in case["tools"]}
        for entry in case["expect"]["declarations"]:
            if "verdict" in case or kinds[entry["func"]] != "function" or entry["func"] == "lam":
                continue
            row = (case["python"], entry["func"], entry)
            rows.append(pytest.param(*row, id=f"{path.stem[:3]}-{entry['func']}"))
    return rows


@pytest.mark.parametrize(("source", "expression", "expected"), recorded())
def test_recorded_declaration(source: str, expression: str, expected: dict[str, Any]):
    """A function is declared exactly as the peer declares it."""
    names: dict[str, Any] = {**PRELUDE, "__name__": __name__}
    exec(source, names)
    signature = signature_of(eval(expression, names))
    declared = declare(signature).model_dump(exclude_none=True)
    for name, schema in declared.get("parameters_json_schema", {}).get("properties", {}).items():
        wanted = expected["declaration"]["parameters_json_schema"]["properties"][name]
        if "description" not in wanted:
            schema.pop("description", None)
    assert declared == expected["declaration"]
    assert [p.name for p in signature.parameters if p.required] == expected["mandatory"]
