"""What the options of a select stand for: their values are texts, members of an enum any JSON."""

import json
import re

from pydantic import JsonValue

_JSON = re.compile(r"\s*(?:[\[{\"\d-]|true|false|null|NaN|Infinity)")
"""How JSON begins; most members are words."""


def option_value(member: JsonValue) -> str:
    """The value of a select's option for a member of an enum; JSON unless it is plain text."""
    if isinstance(member, str) and member and option_meaning(member) == member:
        return member
    return json.dumps(member, ensure_ascii=False)


def option_meaning(value: str) -> JsonValue:
    """The member of an enum that an option's value stands for."""
    if not _JSON.match(value):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
