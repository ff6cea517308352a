"""The inputs in which a person fills in the fields of a question's payload."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import cast

from pydantic import JsonValue

from agents import PayloadError
from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.secrets import covered
from bot.slack.blocks.fields import Field, Schema, fields, flattened, mapping
from bot.slack.blocks.hints import hint, takes_lines
from bot.slack.blocks.rendered import Block, plain
from bot.slack.blocks.values import number
from bot.slack.options import option_value
from bot.slack.text import cut, visible

OPTIONS_LIMIT = 100
OPTION_LIMIT = 75
INPUT_LIMIT = 3_000
EXACT, PLACES = 10**15, 6
"""Numbers below this, with so many digits after the decimal point, are written digit by digit."""
LINE = 200
"""Characters beyond which a text gets several lines."""
EMPTY: tuple[JsonValue, ...] = (None, "", [], {})
"""Values that an empty input stands for."""


def inputs(approval: Approval, *, modal: bool = False) -> list[Block]:
    """An input block for each field; a number has an input of its own in a `modal` only.

    The ids are the same at each revision: what somebody is typing stays when a tally changes.
    """
    return [
        _input(field, block_id=f"in:{approval.id}:{place}", modal=modal)
        for place, field in enumerate(fields(approval))
    ]


def _input(field: Field, *, block_id: str, modal: bool) -> Block:
    element = _element(field if _may_be_shown(field) else replace(field, initial=None), modal=modal)
    begins = any(key.startswith("initial") for key in element)
    typed = element["type"] == "plain_text_input"
    told = hint(
        field.schema,
        flat=partial(flattened, root=field.alone),
        choices=_choices(field.schema) if typed else (),
        typed=typed,
        unshown=field.initial not in EMPTY and not begins,
    )
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain(field.title),
        "element": {"action_id": cut(field.name, 255) or "value", **element},
        "optional": field.optional,
    }
    return block | ({"hint": plain(told)} if told else {})


def _may_be_shown(field: Field) -> bool:
    """Whether an initial value may be shown: nothing in it looks secret, also by name or label."""
    names = (field.name, field.title)
    return all(covered(field.initial, name=name) == field.initial for name in names)


def _choices(schema: Schema) -> Sequence[JsonValue]:
    """The choices of a field that cannot be a select."""
    return _members(schema) or _members(mapping(schema.get("items")))


def _element(field: Field, *, modal: bool) -> Block:
    schema = field.schema
    members = _members(schema)
    if _offers(members):
        return _choice(members, field.initial, among="radio_buttons" if _is_yes_no(schema) else "")
    items = _members(mapping(schema.get("items")))
    if schema.get("type") == "array" and _offers(items):
        return _several(items, field.initial)
    if schema.get("type") == "array" and mapping(schema.get("items")).get("format") == "person":
        return _picker(field, "multi_users_select", "initial_users", way=_people(field.initial))
    picked = _picked(field)
    if picked is not None:
        return picked
    if modal and schema.get("type") in ("integer", "number"):
        return _number(field)
    return _typed(field)


def _picked(field: Field) -> Block | None:
    """The element for a value that nobody types."""
    initial = field.initial
    match field.schema.get("format"):
        case "date":
            return _picker(field, "datepicker", "initial_date", way=_as(date, initial, 10))
        case "time":
            return _picker(field, "timepicker", "initial_time", way=_as(time, initial, 5))
        case "date-time":
            way = _seconds(initial)
            return _picker(field, "datetimepicker", "initial_date_time", way=way)
        case "person":
            return _picker(field, "users_select", "initial_user", way=_person(initial))
        case _:
            return None


def _choice(members: Sequence[JsonValue], initial: JsonValue, *, among: str) -> Block:
    options = [_option(member) for member in members]
    element: Block = {"type": among or "static_select", "options": options}
    chosen = [_option(member) for member in members if _same(member, initial)]
    return element | ({"initial_option": chosen[0]} if chosen else {})


def _several(members: Sequence[JsonValue], initial: JsonValue) -> Block:
    wanted = initial if isinstance(initial, list) else []
    chosen = [_option(each) for each in members if any(_same(each, other) for other in wanted)]
    element: Block = {"type": "multi_static_select", "options": [_option(each) for each in members]}
    return element | ({"initial_options": chosen} if chosen else {})


def _picker(field: Field, kind: str, key: str, *, way: JsonValue) -> Block:
    return {"type": kind} | ({key: way} if way is not None and _comes_back(field, way) else {})


def _person(initial: JsonValue) -> str | None:
    return initial if isinstance(initial, str) and is_person(initial) else None


def _people(initial: JsonValue) -> JsonValue:
    """The ids that a list begins with; none if any of them is not an id."""
    return initial if isinstance(initial, list) and initial and all(map(_person, initial)) else None


def _number(field: Field) -> Block:
    """A number input, whose limits Slack checks as well; it takes them as texts."""
    schema = field.schema
    told = {
        "min_value": _digits(schema.get("minimum")),
        "max_value": _digits(schema.get("maximum")),
        "initial_value": _written(field, _digits(field.initial)),
    }
    element: Block = {
        "type": "number_input",
        "is_decimal_allowed": schema.get("type") == "number",
    }
    return element | {name: text for name, text in told.items() if text}


def _digits(value: object) -> str:
    """A number digit by digit, as Slack takes it; empty when it has too many."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < EXACT:
        return ""
    text = number(value)
    return text if len(text.partition(".")[2]) <= PLACES else ""


def _written(field: Field, text: str) -> str:
    """A value as text for an input, which reads back as the same value; empty if there is none.

    A number that some would read as thousands gets one more zero.
    """
    ways = [text, f"{text}0"] if _is_number(field.schema) else [text]
    return next((way for way in ways if text and _comes_back(field, way)), "")


def _is_number(schema: Schema) -> bool:
    return schema.get("type") == "number" or schema.get("format") == "decimal"


def _comes_back(field: Field, way: JsonValue) -> bool:
    """Whether this text, sent as it is, would give the value that the field begins with.

    A value that no answer may have is shown as it is, for the person to correct.
    """
    begins: Sequence[JsonValue] = [field.initial]
    if isinstance(field.initial, str) and _is_number(field.schema):
        begins = [field.initial, f"{field.initial}0"]
    wanted = [each for each in (_answer(field, value) for value in begins) if each is not None]
    found = _answer(field, way)
    if isinstance(field.initial, str) and "type" not in field.schema and not isinstance(found, str):
        return False
    return not wanted or (found is not None and _alike(field.schema, found, wanted[0]))


def _answer(field: Field, value: JsonValue) -> JsonValue:
    """The value as an answer would store it; None where it would be refused."""
    try:
        return field.taken(value)
    except PayloadError:
        return None


def _alike(schema: Schema, one: JsonValue, other: JsonValue) -> bool:
    """Whether two values of a field are the same, however they are written."""
    if isinstance(one, str) and isinstance(other, str):
        match schema.get("format"):
            case "decimal":
                return Decimal(one) == Decimal(other)
            case "date-time":
                return datetime.fromisoformat(one) == datetime.fromisoformat(other)
            case _:
                pass
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _typed(field: Field) -> Block:
    """A text input: number inputs may not stand in a message."""
    schema, initial = field.schema, field.initial
    longest = schema.get("maxLength")
    words = schema.get("format") == "multiline" or (isinstance(longest, int) and longest > LINE)
    long = words or schema.get("type") in ("array", "object", None)
    limit = min(longest, INPUT_LIMIT) if isinstance(longest, int) and longest > 0 else INPUT_LIMIT
    text = "" if _is_empty(field) else _written(field, _text_of(schema, initial))
    many = long or "\n" in text
    element: Block = {"type": "plain_text_input", "multiline": many, "max_length": limit}
    plainly = len(text) <= limit and visible(text) == (text, False)
    return element | ({"initial_value": text} if text and plainly else {})


def _is_empty(field: Field) -> bool:
    """Whether nothing typed is what the field begins with."""
    initial = field.initial
    return initial in (None, "") or (initial in ([], {}) and _answer(field, None) == initial)


def _text_of(schema: Schema, value: JsonValue) -> str:
    """A value as people type it: a list of texts line by line, what else has parts as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    if isinstance(value, list) and value and takes_lines(schema):
        text = "\n".join(map(str, value))
        kept = [line for line in text.splitlines() if line == line.strip() and line]
        if kept == value and not text.startswith("["):
            return text
    return json.dumps(value, ensure_ascii=False)


def _members(schema: Schema) -> Sequence[JsonValue]:
    if _is_yes_no(schema):
        return (True, False)
    if "const" in schema:
        return (schema["const"],)
    members = schema.get("enum")
    return cast("list[JsonValue]", members) if isinstance(members, list) else ()


def _is_yes_no(schema: Schema) -> bool:
    return schema.get("type") == "boolean" and "const" not in schema and "enum" not in schema


def _offers(members: Sequence[JsonValue]) -> bool:
    """Whether a select can offer these: not too many, all short, and all different."""
    values = [option_value(member) for member in members]
    words = [_word(member) for member in members]
    return (
        0 < len(values) <= OPTIONS_LIMIT
        and len({*values}) == len({*words}) == len(values)
        and all(len(each) <= OPTION_LIMIT for each in (*values, *words))
    )


def _option(member: JsonValue) -> Block:
    return {"text": plain(_word(member)), "value": option_value(member)}


def _word(member: JsonValue) -> str:
    """A member of a choice as people read it; a text that reads like another kind is quoted."""
    match member:
        case bool():
            return "Yes" if member else "No"
        case str() if member == member.strip():
            return visible(option_value(member))[0]
        case _:
            return visible(json.dumps(member, ensure_ascii=False))[0]


def _same(one: JsonValue, other: JsonValue) -> bool:
    return type(one) is type(other) and one == other


def _as(kind: type[date] | type[time], value: JsonValue, length: int) -> str | None:
    """The beginning of an ISO date or time, if it is one."""
    if not isinstance(value, str):
        return None
    try:
        return kind.fromisoformat(value).isoformat()[:length]
    except ValueError:
        return None


def _seconds(value: JsonValue) -> int | None:
    """An ISO date and time with its zone, as Slack wants it: ten digits, and whole minutes."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None or moment.tzinfo is None:
        return None
    seconds = int(moment.timestamp())
    whole = moment.microsecond == 0 and seconds % 60 == 0
    return seconds if whole and 1_000_000_000 <= seconds <= 9_999_999_999 else None
