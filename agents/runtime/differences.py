"""Pure: what is different between the call people agreed to and the call as it would run now.

Each difference is one line of plain text. What a tool promised, and what was to be filled in, is
compared by the schemas that the question has; where it has none the change is only named.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import JsonValue

from agents.runtime.confirmation import Question
from agents.runtime.digest import bare, canonical

Json = Mapping[str, JsonValue]

MEMBERS = 10
"""How many added or removed members of a list are told one by one."""
DEPTH = 8
"""How deep a schema is looked into: one that contains itself has no end."""
KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "yes or no",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "format": "as {}",
    "pattern": "matching {}",
}
"""How the limits of a value are put in words; anything else in a schema is told as JSON."""
_GONE = object()
"""Stands for a value that is not there: null is one."""


def differences(before: Question, after: Question) -> list[str]:
    """What differs, one line each: arguments, what they depend on, the tool, the form, the agent.

    Of secret arguments no value is told.
    """
    told = [*_arguments(before, after), *_values("", before.precondition, after.precondition)]
    if before.contract != after.contract:
        told += _tool(before, after, told=bool(told))
    fields = list(_fields(before, after))
    if not fields and bare(before.payload_schema) != bare(after.payload_schema):
        fields = ["to fill in: it is asked for differently"]
    told += fields
    if before.agent != after.agent:
        told.append(f"agent: was {before.agent}, is now {after.agent}")
    return told


def _arguments(before: Question, after: Question) -> Iterator[str]:
    for name in dict.fromkeys((*before.args, *after.args)):
        old, new = before.args.get(name, _GONE), after.args.get(name, _GONE)
        if name not in {*before.secrets, *after.secrets}:
            yield from _values(_step("", name), old, new)
        elif _differ(old, new):
            was = "was not there" if old is _GONE else "was another value"
            yield f"{name}: {was}, {'is gone' if new is _GONE else 'is not shown'}"


def _values(path: str, before: object, after: object) -> Iterator[str]:
    """What differs in two values, field by field."""
    old, new = cast("JsonValue", before), cast("JsonValue", after)
    if not _differ(before, after):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _values(_step(path, name), old.get(name, _GONE), new.get(name, _GONE))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _members(path, old, new)
    else:
        yield f"{path}: {_change(before, after)}"


def _members(path: str, before: list[JsonValue], after: list[JsonValue]) -> Iterator[str]:
    """What came to a list and what left it; objects in the same places field by field."""
    if len(before) == len(after) and all(isinstance(each, dict) for each in (*before, *after)):
        changed = [n for n, pair in enumerate(zip(before, after, strict=True)) if _differ(*pair)]
        if len(changed) <= MEMBERS:
            for n in changed:
                yield from _values(f"{path} #{n + 1}", before[n], after[n])
            return
    old, new = Counter(map(_text, before)), Counter(map(_text, after))
    if old == new:
        yield f"{path}: in another order"
    for word, found in (("more", new - old), ("fewer", old - new)):
        names = list(found.elements())
        if names:
            more = ", …" * (len(names) > MEMBERS)
            yield f"{path}: {len(names)} {word}: {', '.join(names[:MEMBERS])}{more}"


def _tool(before: Question, after: Question, *, told: bool) -> list[str]:
    """What has changed about a tool; `told`: its arguments already show a difference."""
    lines = [*_parameters(before, after), *_effects(before, after)]
    if not lines and not told:
        return [f"the tool {after.tool} has changed since: its parameters, defaults or effects"]
    return [f"the tool {after.tool} has changed since", *lines]


def _parameters(before: Question, after: Question) -> Iterator[str]:
    if not before.promise or not after.promise:
        return
    old, new = (_properties(each.promise.get("parameters")) for each in (before, after))
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new:
            if (name in before.args) is (name in after.args):
                what = "is a new parameter" if name in new else "is no longer a parameter"
                yield f"{name} {what}"
            continue
        yield from _kinds(name, old[name], new[name], verb=("took", "takes"))
        was, now = (each[name].get("default", _GONE) for each in (old, new))
        if _differ(was, now):
            secret = name in {*before.secrets, *after.secrets}
            what = " is another one" if secret else f": {_change(was, now)}"
            yield f"default of {name}{what}"


def _effects(before: Question, after: Question) -> Iterator[str]:
    old, new = before.promise.get("effects"), after.promise.get("effects")
    if old and new and old != new:
        yield f"effects: was {_text(old)}, is now {_text(new)}"


def _fields(before: Question, after: Question) -> Iterator[str]:
    """Which fields people have to fill in that are new, gone or different.

    Where nothing is asked for, a body may still ask for it once it runs: not of each is it known.
    """
    old, new = _properties(before.payload_schema), _properties(after.payload_schema)
    gone = "any more" if after.payload_schema else "in this question"
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield f"to fill in: {name} is not asked for {gone}"
        elif name not in old:
            yield f"to fill in: {name} is asked for now"
        else:
            named = f"to fill in: {name}"
            yield from _kinds(named, old[name], new[name], verb=("asked for", "asks for"))


def _kinds(name: str, before: Json, after: Json, *, verb: tuple[str, str]) -> Iterator[str]:
    """That another kind of value is wanted, if so."""
    old, new = ({k: v for k, v in e.items() if k != "default"} for e in (before, after))
    if not _differ(old, new):
        return
    was, now = _kind(old), _kind(new)
    if was == now:
        was, now = _text(old), _text(new)
    yield f"{name} {verb[0]} {was}, {verb[1]} {now}"


def _kind(schema: Json) -> str:
    """What a schema takes, in words."""
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return " or ".join(_kind(each) for each in options if isinstance(each, dict))
    if isinstance(choices := schema.get("enum"), list):
        return f"one of {', '.join(map(_text, choices))}"
    if "const" in schema:
        return _text(schema["const"])
    kind = KINDS.get(str(schema.get("type")), "anything")
    if isinstance(items := schema.get("items"), dict) and items:
        kind = f"{kind} of {_kind(items)}"
    limits = [LIMITS[key].format(_text(schema[key])) for key in LIMITS if key in schema]
    return ", ".join([kind, *limits])


def _properties(schema: JsonValue) -> dict[str, dict[str, JsonValue]]:
    """The fields of a schema by name, each whole and without words for readers."""
    plain = bare(schema)
    if not isinstance(plain, dict):
        return {}
    found = _whole(plain.get("properties"), cast(Json, plain.get("$defs") or {}), DEPTH)
    fields = cast("dict[str, JsonValue]", found or {})
    return {name: each for name, each in fields.items() if isinstance(each, dict)}


def _whole(schema: JsonValue, named: Json, left: int) -> JsonValue:
    """A schema with what it refers to in place of the references."""
    if isinstance(schema, list):
        return [_whole(each, named, left) for each in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in named and left:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        referred = cast("dict[str, JsonValue]", named[name])
        return _whole({**referred, **rest}, named, left - 1)
    return {key: _whole(value, named, left) for key, value in schema.items()}


def _change(before: object, after: object) -> str:
    was = "was not there" if before is _GONE else f"was {_text(before)}"
    return f"{was}, {'is gone' if after is _GONE else f'is now {_text(after)}'}"


def _step(path: str, name: str) -> str:
    """The path to a field; a name that is no word is quoted."""
    told = name if name.isidentifier() else _text(name)
    return f"{path}.{told}" if path else told


def _differ(before: object, after: object) -> bool:
    if before is _GONE or after is _GONE:
        return before is not after
    return canonical(cast(JsonValue, before)) != canonical(cast(JsonValue, after))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
