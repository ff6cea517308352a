"""Pure: what a function does, as far as its code tells, so that a changed build is noticed.

What a body asks people for is known only while it asks. Whether it may ask for something else by
now is told by its code and by what that names: functions, pydantic models and plain values of its
own package. Values that each process makes for itself, such as the time it started, give each
process a build of its own. A body of another build may ask once more, and nobody is asked anew if
it asks for the same.
"""

import contextlib
import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, cast

from pydantic import BaseModel

from agents.runtime.declarations import unwrapped

ASKS = "request_confirmation"
"""The name by which a body asks: a method of ToolContext."""
PLAIN = (str, int, float, bool, bytes, type(None))
WRAPPED = (staticmethod, classmethod, property)
NO_NAMES: Sequence[str] = ()
MOST = 20_000
"""The most parts that are looked at, since a table that the code names may be long."""


class Build(NamedTuple):
    """One build of a function: another one has another `mark`.

    `asks`: the function was seen to ask people itself; what it names of other packages may as well.
    """

    mark: str
    asks: bool


NO_BUILD = Build("", asks=False)
"""The build of a tool that never asks anybody by itself."""


def build_of(func: Callable[..., Any]) -> Build:
    """The build of a function of any kind, with what it names in its own package, as it is now."""
    inner = unwrapped(func)
    walk = _Walk(_package(inner))
    walk.visit(func)
    if not isinstance(inner, (FunctionType, MethodType)):
        walk.visit(inner.__call__)
    mark = hashlib.sha256(json.dumps(walk.found).encode()).hexdigest()
    return Build(mark, asks=any(ASKS in found for found in walk.found))


class _Walk:
    """A walk through a function and what it names in `package`; each thing is met once."""

    def __init__(self, package: str) -> None:
        self.found: list[str] = []
        self._package = package
        self._seen: dict[tuple[int, ...], object] = {}

    def visit(self, value: object) -> None:
        """Write down a value and what it is made of."""
        waiting = [(value, NO_NAMES)]
        while waiting and len(self.found) + len(self._seen) < MOST:
            # A stranger's object may do anything when it is looked at.
            with contextlib.suppress(Exception):
                parts = itertools.islice(self._step(*waiting.pop()), MOST)
                waiting += reversed(list(parts))

    def _step(self, value: object, names: Sequence[str]) -> Iterator[tuple[object, Sequence[str]]]:
        """What comes next, and the names by which the code knows it."""
        if isinstance(value, PLAIN):
            self.found.append(repr(value))
        elif _key(value) not in self._seen:
            self._seen[_key(value)] = value
            if isinstance(value, FunctionType):
                names = list(dict.fromkeys(_names(value.__code__)))
            yield from ((part, names) for part in self._parts(value, names))

    def _parts(self, value: object, names: Sequence[str]) -> Iterator[object]:
        match value:
            case functools.partial():
                partial = cast("functools.partial[Any]", value)
                yield from (partial.func, partial.args, partial.keywords)
            case MethodType():
                yield value.__func__
                if isinstance(value.__func__, FunctionType):
                    yield from self._named_in(value.__self__, _names(value.__func__.__code__))
            case CodeType():
                yield from (value.co_code.hex(), value.co_names, value.co_consts)
            case tuple() | list():
                yield from cast("tuple[object, ...]", value)
            case set() | frozenset():
                members = cast("frozenset[object]", value)
                yield from sorted(repr(each) for each in members if isinstance(each, PLAIN))
            case dict():
                for pair in cast("Mapping[object, object]", value).items():
                    yield from pair
            case _ if isinstance(value, WRAPPED):
                yield from (getattr(cast(Any, value), name, None) for name in ("fget", "__func__"))
            case _:
                yield from self._of_ours(value, names)

    def _of_ours(self, value: object, names: Sequence[str]) -> Iterator[object]:
        if _package(value) != self._package:
            return
        if isinstance(value, FunctionType):
            yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
            yield from _around(value, names)
        elif isinstance(value, type) and issubclass(value, BaseModel):
            yield _form(value)
        else:
            yield from self._named_in(cast(object, value), names)

    def _named_in(self, value: object, names: Iterable[str]) -> Iterator[object]:
        """What code that names these takes from an object, a class or a module."""
        kind = cast("type[object]", value if isinstance(value, type) else type(value))
        if _package(value) == self._package:
            held = getattr(value, "__dict__", {})
            bases = [vars(each) for each in kind.__mro__ if _package(each) == self._package]
            found = [each[name] for name in names for each in (held, *bases) if name in each]
            is_kind = isinstance(value, type)
            yield from (
                MethodType(each, value) if isinstance(each, FunctionType) and not is_kind else each
                for each in found
            )


def _key(value: object) -> tuple[int, ...]:
    """What tells one thing from another; a method is made anew each time it is looked at."""
    method = isinstance(value, MethodType)
    return (id(value.__func__), id(value.__self__)) if method else (id(value),)


def _around(func: FunctionType, names: Sequence[str]) -> Iterator[object]:
    """The variables around a function that its code names."""
    for cell in func.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is not bound yet
            continue
    yield from (func.__globals__.get(name) for name in names)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def _form(model: type[BaseModel]) -> str:
    """What a pydantic model asks for; its name where that cannot be told."""
    try:
        return json.dumps(model.model_json_schema(), sort_keys=True, default=str)
    except (ValueError, TypeError, RuntimeError, NameError, AttributeError):
        return model.__qualname__


def _package(value: object) -> str:
    """The top package that something is of."""
    name = getattr(value, "__module__", None) or getattr(value, "__name__", None)
    return str(name or type(value).__module__).partition(".")[0]
