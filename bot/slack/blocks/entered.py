"""What a person filled in, as others read it: people by name, times in each reader's zone."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from pydantic import JsonValue

from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.slack.blocks.fields import fields
from bot.slack.blocks.rendered import Block, rich, said, section, user
from bot.slack.text import cut, titled, visible

ALL_LIMIT = 1_000
EACH_LIMIT = 300

Entry = tuple[str, Mapping[str, object], JsonValue]
"""A field's label, its schema, and the value that was entered."""


def agreed_on(approval: Approval) -> list[Block]:
    """What a call was approved with, where that was asked for."""
    if not approval.decided_by or approval.status in ("rejected", "cancelled", "expired"):
        return []
    return filled(approval, approval.payload)


def filled(
    approval: Approval, payload: Mapping[str, JsonValue] | None, *, by: str = ""
) -> list[Block]:
    """What was filled in, in the order in which it was asked for. `by` is who did."""
    left = dict(payload or {})
    told: list[Entry] = [
        (field.title, field.schema, left.pop(field.name))
        for field in fields(approval)
        if field.name in left
    ]
    told += [(visible(titled(cut(name, 150)))[0], {}, value) for name, value in left.items()]
    return [entered(told, by=by)] if told else []


def entered(entries: Iterable[Entry], *, by: str = "") -> Block:
    """All values in one paragraph; what does not fit is counted. `by` is who entered them."""
    head = [user(by), said(" entered: ")] if by else [said("Entered: ")]
    pieces, room = head, ALL_LIMIT
    told = list(entries)
    for place, (label, schema, value) in enumerate(told):
        if room <= 0:
            pieces.append(said(f"… and {len(told) - place} more"))
            break
        piece = _value(schema, value)
        room -= len(json.dumps(piece, ensure_ascii=False))
        pieces += [said(f"{'; ' if place else ''}{label}: "), piece]
    return rich(section(*pieces))


def _value(schema: Mapping[str, object], value: JsonValue) -> Block:
    match schema.get("format"), value:
        case "person", str() if is_person(value):
            return user(value)
        case "date-time", str() if moment := _moment(value):
            return moment
        case _:
            return said(visible(cut(_words(value), EACH_LIMIT))[0])


def _words(value: JsonValue) -> str:
    match value:
        case None | "":
            return "nothing"
        case bool():
            return "Yes" if value else "No"
        case str():
            return value
        case list() if not any(isinstance(each, dict | list) for each in value):
            return ", ".join(map(_words, value)) or "none"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _moment(value: str) -> Block | None:
    """A date and time with a zone, which Slack shows in the reader's; None for anything else."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return {
        "type": "date",
        "timestamp": int(at.timestamp()),
        "format": "{date_short_pretty} at {time}",
        "fallback": f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
    }
