"""What a person filled in, as others read it: people by name, times in each reader's zone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.secrets import MASK, covered
from bot.slack.blocks.fields import Field, Schema, fields, mapping
from bot.slack.blocks.rendered import Block, named, rich, said, section, user
from bot.slack.blocks.values import Argument, argument
from bot.slack.text import cut

ALL_LIMIT = 1_000
EACH_LIMIT = 300
NAME_LIMIT = 150
BESIDE = 30
"""Characters that a value takes besides its own and those of its name."""


def agreed_on(approval: Approval) -> list[Block]:
    """The values that a call was approved with, where some were asked for."""
    if not approval.decided_by or approval.status in ("rejected", "cancelled", "expired"):
        return []
    return filled(approval, approval.payload)


def filled(
    approval: Approval, payload: Mapping[str, JsonValue] | None, *, by: str = ""
) -> list[Block]:
    """The values filled in, in the order in which they were asked for; `by` is who did it."""
    left = dict(payload or {})
    told = [_entry(field, left.pop(field.name)) for field in fields(approval) if field.name in left]
    told += [argument(cut(name, NAME_LIMIT), value) for name, value in left.items()]
    return [entered(told, by=by)] if told else []


def entered(entries: Sequence[Argument], *, by: str = "") -> Block:
    """The values, a line each; those without room are counted. `by` is who entered them."""
    head = [user(by), said(" entered: ")] if by else [said("Entered: ")]
    found, room = [section(*head)], ALL_LIMIT
    for place, entry in enumerate(entries):
        if room <= 0:
            found.append(section(said(f"… and {len(entries) - place} more")))
            break
        value = cut(entry.value, EACH_LIMIT)
        room -= len(entry.name) + len(value) + BESIDE
        first, *others = named(entry.title, value, boxed=entry.long, instead=entry.instead)
        if place:
            found.append(first)
        else:
            found[0]["elements"] += first["elements"]
        found += others
    return rich(*found)


def _entry(field: Field, value: JsonValue) -> Argument:
    """The value of one field; it is secret if its name or its label says so."""
    entry = argument(field.title, covered(value, by=MASK, name=field.name))
    return replace(entry, instead=_people(field.schema, value) or entry.instead)


def _people(schema: Schema, value: JsonValue) -> tuple[Block, ...]:
    """People by mentions, one or several; none where no people are asked for."""
    if isinstance(value, list):
        found = [_people(mapping(schema.get("items")), each) for each in value]
        pieces = [piece for each in found for piece in (*each, said(", "))]
        return tuple(pieces[:-1]) if all(found) else ()
    if schema.get("format") == "person" and isinstance(value, str) and is_person(value):
        return (user(value),)
    return ()
