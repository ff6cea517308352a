"""Pure: what the model sent -> what the function gets, or an error the model can act on."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from agents.runtime.declarations import Parameter, Signature
from agents.runtime.jsonable import to_json

PLAIN = (str, int, float, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A call as it will run.

    `values` are the arguments by name, defaults filled in; `args` and `kwargs` the same, ready to
    call with (the context is not among them). `as_json` is what a person is shown and what is
    digested. `defaults` names the arguments the model left out, `filled` what it left out inside
    others, as paths such as `order.express` or `lines.1.price`, counted from 1.
    """

    values: dict[str, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    as_json: dict[str, JsonValue]
    defaults: frozenset[str]
    filled: tuple[str, ...] = ()

    def written(self) -> "Bound":
        """The same call with `as_json` written down anew from the values, as they are now."""
        plain = {
            name: to_json(value, strict=True, as_input=True) for name, value in self.values.items()
        }
        return replace(self, as_json=plain)


@dataclass(frozen=True, slots=True)
class Unfit:
    """A call that cannot run; `response` tells the model why: one key, `error`."""

    response: dict[str, JsonValue]


class _Refused(ValueError):
    """A value that its parameter does not take; the text says where and why."""


def bind(signature: Signature, args: Mapping[str, Any]) -> Bound | Unfit:
    """Validate and coerce the arguments of one call.

    Unknown arguments are dropped. An explicit null counts as given, and is accepted where null is
    the default. `true` is no number, NaN and infinity are no arguments.
    """
    given = {p.name: args[p.name] for p in signature.parameters if p.name in args}
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    values: dict[str, Any] = {}
    as_json: dict[str, JsonValue] = {}
    invalid: list[str] = []
    for parameter in signature.parameters:
        name = parameter.name
        if name in missing:
            continue
        try:
            values[name] = _value(parameter, given)
            as_json[name] = _json(parameter, given.get(name), values[name])
        except _Refused as error:
            invalid.append(str(error))
    if missing or invalid:
        return _unfit(signature, missing, invalid=invalid)
    deep = [name for name, value in given.items() if isinstance(value, dict | list)]
    positional = [p.name for p in signature.parameters if p.positional_only]
    return Bound(
        values=values,
        args=tuple(values[name] for name in positional),
        kwargs={name: value for name, value in values.items() if name not in positional},
        as_json=as_json,
        defaults=frozenset(values.keys() - given.keys()),
        filled=tuple(each for name in deep for each in _filled(given[name], as_json[name], name)),
    )


def _filled(given: object, plain: JsonValue, path: str) -> Iterator[str]:
    """The paths of what is in a value and was not given; none where names do not compare."""
    if isinstance(given, dict) and isinstance(plain, dict):
        fields = cast("dict[str, object]", given)
        alike = fields.keys() <= plain.keys() and all(name.isidentifier() for name in plain)
        for name, value in plain.items() if alike else ():
            where = f"{path}.{name}"
            yield from _filled(fields[name], value, where) if name in fields else (where,)
    elif isinstance(given, list) and isinstance(plain, list):
        items = cast("list[object]", given)
        for at, (old, new) in enumerate(zip(items, plain, strict=False), start=1):
            yield from _filled(old, new, f"{path}.{at}")


def _value(parameter: Parameter, given: Mapping[str, Any]) -> object:
    """The argument as the function gets it; a default is copied, so that no call changes it."""
    if parameter.name not in given:
        return copy.deepcopy(parameter.default)
    value = given[parameter.name]
    value = value if type(value) in PLAIN else copy.deepcopy(value)
    if value is None and parameter.default is None:
        return None
    try:
        return parameter.validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        lines = (_line((parameter.name, *e["loc"]), e["msg"]) for e in details)
        raise _Refused("\n".join(lines)) from error


def _json(parameter: Parameter, given: object, value: object) -> JsonValue:
    """The JSON form of a value, once it is sure that nothing changed its nature."""
    try:
        plain = to_json(value, strict=True, as_input=True)
        if _same(given, plain):
            return plain
        lost = value is not None and not _reads_back(parameter, plain)
    except ValueError as error:
        raise _Refused(_line((parameter.name,), str(error))) from error
    if lost:
        raise _Refused(_line((parameter.name,), "Input cannot be written down as it is"))
    flag = _flag_as_number(given, plain, path=(parameter.name,))
    if flag:
        raise _Refused(_line(flag, "Input should be a number, not true or false"))
    return plain


def _same(given: object, plain: JsonValue) -> bool:
    """Whether a plain value was taken as it is: then it is taken so again."""
    return type(given) in PLAIN and type(given) is type(plain) and repr(given) == repr(plain)


def _reads_back(parameter: Parameter, plain: JsonValue) -> bool:
    """Whether a stored value is the same when it is bound again, after a person agreed to it."""
    try:
        again = to_json(parameter.validate(copy.deepcopy(plain)), strict=True, as_input=True)
    except ValidationError:
        return False
    return repr(again) == repr(plain)


def _flag_as_number(
    given: object, plain: JsonValue, *, path: tuple[str | int, ...]
) -> tuple[str | int, ...] | None:
    """Where a bool was taken for a number, as pydantic and Python do; None if nowhere."""
    if isinstance(given, bool):
        return path if isinstance(plain, (int, float)) and not isinstance(plain, bool) else None
    found = None
    if isinstance(given, dict) and isinstance(plain, dict):
        fields = cast("dict[str, object]", given)
        found = [_flag_as_number(fields.get(k), v, path=(*path, k)) for k, v in plain.items()]
    elif isinstance(given, list) and isinstance(plain, list):
        pairs = enumerate(zip(cast("list[object]", given), plain, strict=False))
        found = [_flag_as_number(old, new, path=(*path, at)) for at, (old, new) in pairs]
    return next(filter(None, found or []), None)


def _line(path: tuple[str | int, ...], why: str) -> str:
    return f"{'.'.join(map(str, path))}: {why}"


def _unfit(signature: Signature, missing: list[str], *, invalid: list[str]) -> Unfit:
    blocks = [f"{signature.name}() was not called."]
    if missing:
        blocks.append("\n".join(["These mandatory arguments are missing:", *missing]))
    if invalid:
        blocks.append("\n".join(["These arguments are invalid:", *invalid]))
    blocks.append("Call it again with every mandatory argument given and valid.")
    return Unfit({"error": "\n".join(blocks)})
