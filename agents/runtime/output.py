"""Pure: a reply that is to fit a schema: what a model is told of it, and what its words amount to.

A model that may call nothing is held to the schema by its provider; one with tools is only told.
"""

import json
import re
from typing import cast

from pydantic import BaseModel, JsonValue

FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)

MISFIT = "OUTPUT_MISFIT"
"""The error code of a reply that does not fit its agent's output schema."""


def told(schema: type[BaseModel]) -> str:
    """What an agent with tools is told about the form of its answers."""
    form = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    return (
        "\n\nWhen you have called all the functions you need, answer with one JSON object that "
        f"fits this JSON schema, and with nothing else:\n{form}"
    )


def fitted(schema: type[BaseModel], text: str) -> dict[str, JsonValue]:
    """The object written in a reply, without nulls; it may stand in a fenced block.

    Raises pydantic's ValidationError when it does not fit.
    """
    fenced = FENCE.fullmatch(text)
    value = schema.model_validate_json(fenced[1] if fenced else text)
    return cast("dict[str, JsonValue]", value.model_dump(mode="json", exclude_none=True))


def misfit(agent: str, error: ValueError) -> str:
    """The sentence about a reply that does not fit."""
    return f"{agent} answered in a form that does not fit: {error}"
