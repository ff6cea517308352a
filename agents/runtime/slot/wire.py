"""What every store of slots agrees on: values as text, the audit chain, where a turn starts."""

import hashlib
import json
from typing import TypeVar, cast

from pydantic import JsonValue

from agents.runtime.events import Event
from agents.runtime.slot.port import Entry, SessionKey

T = TypeVar("T", bound=JsonValue)

DEDUPE_MS = 3 * 24 * 3600 * 1000
"""How long an entry's id is remembered; Slack repeats an event for up to an hour."""
ANCHORS = 200
"""How many turn starts are remembered; a window holds no more turns than that."""
PLACES = 200
"""How many paid posts are remembered with their place."""

_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def text(value: object) -> str:
    """A value as canonical JSON: keys sorted, no spaces, ASCII."""
    return _JSON.encode(value)


def link(previous: str, entry: str) -> str:
    """The next hash of an audit chain (hex); the first has an empty previous one.

    `entry` is the entry's canonical JSON.
    """
    return hashlib.sha256((previous + entry).encode()).hexdigest()


def written(event: Event) -> str:
    """An event as it is stored."""
    return event.model_dump_json(exclude_none=True, exclude_defaults=True)


def starts_turn(event: Event) -> bool:
    """Whether a window may begin here: somebody speaks without answering a call."""
    spoken = event.author == "user" and event.branch is None and bool(event.parts)
    return spoken and not event.get_function_responses()


def speaker(key: SessionKey, head: Entry | None, last: str | None) -> str:
    """Whose `user:` state a session begins with: that of who speaks next, or else spoke `last`.

    Whoever answers a call speaks for nobody: the run goes on for the person it began with.
    """
    content = head.body.get("content") if head else None
    parts = content.get("parts") if isinstance(content, dict) else None
    answers = isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("function_response") for part in parts
    )
    named = head.body.get("user_id") if head and not answers else last
    return named if isinstance(named, str) else key.user


def copied(value: T) -> T:
    """A JSON value that shares nothing with the given one that could change."""
    if isinstance(value, dict):
        return cast(T, {name: copied(item) for name, item in value.items()})
    if isinstance(value, list):
        return cast(T, [copied(item) for item in value])
    return value
