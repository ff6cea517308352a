"""What a call brought, in one line."""

import json
from collections.abc import Sequence

from agents import Event
from bot.slack.blocks.arguments import titled


def brought(events: Sequence[Event], call_id: str) -> str:
    """The newest response to a call, as `Name: value` pairs; empty without any."""
    for event in reversed(events):
        for response in event.get_function_responses():
            if response.id == call_id:
                fields = response.response or {}
                pairs = (f"{titled(name)}: {_word(value)}" for name, value in fields.items())
                return ", ".join(pairs)
    return ""


def _word(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
