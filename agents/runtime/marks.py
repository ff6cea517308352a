"""Pure: where a type says that its values are secret, however deep the mark stands in it."""

import typing
from collections.abc import Iterator
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel

from agents.runtime.approval import Secret


def is_secret(annotation: object) -> bool:
    """Whether values of a type, or members of them, are marked: the whole value is secret then."""
    return any(_is_mark(each) for each in _parts(annotation))


def leaking(annotation: object) -> str:
    """The class inside a type that marks one of its fields; empty if there is none.

    What stands beside that field would be hidden with it, so such a class is no argument.
    """
    seen: set[int] = set()
    waiting = [each for each in _parts(annotation) if isinstance(each, type)]
    while waiting:
        kind = waiting.pop()
        if id(kind) in seen:
            continue
        seen.add(id(kind))
        parts = [part for field in _fields(kind) for part in _parts(field)]
        if any(map(_is_mark, parts)):
            return kind.__name__
        waiting += [part for part in parts if isinstance(part, type)]
    return ""


def _is_mark(part: object) -> bool:
    return part is Secret or isinstance(part, Secret)


def _parts(annotation: object) -> Iterator[object]:
    """A type, and all that it is made of, marks included; fields of classes are not looked at."""
    waiting, seen = [annotation], list[object]()
    while waiting:
        part = waiting.pop()
        if any(part is each for each in seen):
            continue
        seen.append(part)
        yield part
        waiting += [*get_args(part), *_named(part), get_origin(part)]


def _named(annotation: object) -> Iterator[object]:
    """The type that an alias or a NewType stands for."""
    for name in ("__value__", "__supertype__"):
        if hasattr(annotation, name):
            yield getattr(annotation, name)
    if isinstance(annotation, list | tuple):
        yield from cast("list[object]", annotation)


def _fields(kind: type[Any]) -> Iterator[object]:
    """The types of a class's fields, with their marks."""
    if issubclass(kind, BaseModel):
        for field in kind.model_fields.values():
            yield field.annotation
            yield from field.metadata
    elif "__annotations__" in vars(kind):
        try:
            yield from typing.get_type_hints(kind, include_extras=True).values()
        except (NameError, TypeError):
            yield from kind.__annotations__.values()
