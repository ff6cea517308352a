"""Pure: a Python function -> its signature, and what the model reads about it.

A signature is read once, when the tool is built; the schema the model sees and the validators its
arguments go through come from the same annotations. Whatever cannot be declared is refused then,
not at the first call. `Args:` lines of a Google-style docstring describe the parameters.
"""

import dataclasses
import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, Union, cast, get_args, get_origin

from google.genai import types
from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from agents.runtime.context import ToolContext
from agents.runtime.errors import DeclarationError
from agents.runtime.jsonable import to_json
from agents.runtime.shape import Shapeless, shape_of

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
ENTRY = re.compile(r"\s*\**(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
REQUIRED: Any = inspect.Parameter.empty
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_EMPTY = types.FunctionDeclaration.model_construct()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter the model fills in.

    `default` is REQUIRED when there is none; `schema` is its JSON schema without the definitions it
    refers to, which are in `definitions`; `validate` turns what the model sent into what the
    function gets, or raises pydantic's ValidationError. Nobody is shown the value of a `secret`.
    """

    name: str
    annotation: Any
    default: Any
    positional_only: bool
    schema: dict[str, JsonValue]
    definitions: dict[str, JsonValue]
    validate: Callable[[object], Any]
    secret: bool

    @property
    def required(self) -> bool:
        """Whether the model must give it."""
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function takes: the parameters in order, and the name of its context parameter.

    `schema` is the JSON schema of all parameters, None when there are none.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    context: str | None
    schema: dict[str, JsonValue] | None


def signature_of(func: Callable[..., Any], *, name: str | None = None) -> Signature:
    """Read a function's signature as a tool's.

    Left out are `self`, `*args`, `**kwargs`, what a partial filled by position, and the context
    parameter. Raises DeclarationError, naming tool and parameter, for what cannot be declared.
    """
    tool = name or _name(func)
    if not NAME.fullmatch(tool):
        raise DeclarationError(f"a tool cannot be called {tool!r}: give it a name=")
    given = _filled_in(func, tool=tool)
    annotations = _annotations(func, given, tool=tool)
    context = context_parameter(given, annotations)
    if context and given[context].kind is inspect.Parameter.POSITIONAL_ONLY:
        raise DeclarationError(f"{tool}: parameter {context!r} must not be positional-only")
    declared = {key: value for key, value in given.items() if key != context}
    if second := next((key for key in declared if _is_context(annotations[key])), None):
        raise _refused(tool, second, f"a second ToolContext, beside {context!r}")
    description = _docstring(func)
    parameters = tuple(
        _parameter(value, annotations[key], tool=tool) for key, value in declared.items()
    )
    return Signature(
        name=tool,
        description=description,
        parameters=parameters,
        context=context,
        schema=_schema(tool, parameters, described=_described(description)),
    )


def declare(signature: Signature, *, note: str = "") -> types.FunctionDeclaration:
    """What the model reads about a function; `note` follows the docstring."""
    text = "\n\n".join(part for part in (signature.description, note) if part)
    said = {
        "name": signature.name,
        "description": text or None,
        "parameters_json_schema": signature.schema,
    }
    told = {key: value for key, value in said.items() if value is not None}
    return _EMPTY.model_copy(update=told)


def context_parameter(
    given: Mapping[str, inspect.Parameter], annotations: Mapping[str, Any]
) -> str | None:
    """The first parameter annotated as a ToolContext, else the one called `tool_context`."""
    for name in given:
        if _is_context(annotations[name]):
            return name
    return "tool_context" if "tool_context" in given else None


def parameters_of(
    func: Callable[..., Any], *, what: str
) -> tuple[dict[str, inspect.Parameter], str | None]:
    """The parameters of a function that helps a tool, `**kwargs` and the like too, and its context.

    `what` is what errors call the function.
    """
    given = _parameters(func, tool=what)
    context = context_parameter(given, _annotations(func, given, tool=what, lenient=True))
    return given, context


def unwrapped(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind partials."""
    while isinstance(func, functools.partial):
        func = cast("functools.partial[Any]", func).func
    return func


def _name(func: Callable[..., Any]) -> str:
    plain = unwrapped(func)
    return getattr(plain, "__name__", None) or type(plain).__name__


def _docstring(func: Callable[..., Any]) -> str:
    plain = unwrapped(func)
    if inspect.isroutine(plain):
        return inspect.getdoc(plain) or ""
    kind = type(plain)
    text = kind.__doc__ or ""
    if dataclasses.is_dataclass(kind) and text.startswith(f"{kind.__name__}("):
        text = ""  # dataclass wrote it, nobody meant it for a model
    return inspect.cleandoc(text or inspect.getdoc(kind.__call__) or "")


def _parameters(func: Callable[..., Any], *, tool: str) -> dict[str, inspect.Parameter]:
    if not callable(func) or isinstance(func, type):
        raise DeclarationError(f"{tool}: give a function, or an object one can call")
    try:
        return dict(inspect.signature(func).parameters)
    except (TypeError, ValueError) as error:
        raise DeclarationError(f"{tool}: its signature cannot be read: {error}") from error


def _filled_in(func: Callable[..., Any], *, tool: str) -> dict[str, inspect.Parameter]:
    """The parameters that can be filled in by name or place, once it is sure that they all are."""
    found = _parameters(func, tool=tool)
    given = {name: value for name, value in found.items() if value.kind not in VARIADIC}
    if found and not given:
        raise DeclarationError(
            f"{tool}: it takes only {', '.join(map(str, found.values()))}, of which a model fills "
            "in nothing: name its parameters, or use functools.wraps in its decorator"
        )
    if next(iter(given), "") == "self":
        _refuse_unbound(func, tool=tool)
    return given


def _refuse_unbound(func: Callable[..., Any], *, tool: str) -> None:
    """Refuse a method of no object; a function may have a parameter called self."""
    *_, kind, method = ("", "", *getattr(unwrapped(func), "__qualname__", "").split("."))
    if kind not in ("", "<locals>"):
        raise DeclarationError(f"{tool}: {kind}.{method} is not bound: give {kind}(...).{method}")


def _annotations(
    func: Callable[..., Any],
    given: Mapping[str, inspect.Parameter],
    *,
    tool: str,
    lenient: bool = False,
) -> dict[str, Any]:
    """The annotations with the names in them looked up; Any where there is none."""
    plain = unwrapped(func)
    body = inspect.unwrap(plain if inspect.isroutine(plain) else type(plain).__call__)
    names = getattr(inspect.unwrap(getattr(body, "__func__", body)), "__globals__", {})
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value.annotation is REQUIRED:
            found[name] = Any
            continue
        if type(value.annotation) is type:
            found[name] = value.annotation
            continue
        bare = SimpleNamespace(__annotations__={name: value.annotation})
        try:
            found |= typing.get_type_hints(bare, names, include_extras=True)
        except (NameError, SyntaxError, TypeError, AttributeError) as error:
            if name == "tool_context" and isinstance(error, NameError):
                found[name] = ToolContext  # imported for type checkers only
                continue
            if not lenient:
                raise _refused(tool, name, f"unknown annotation: {error}") from error
            found[name] = Any
    return found


def _parameter(given: inspect.Parameter, annotation: object, *, tool: str) -> Parameter:
    default, annotation = _default(given.default, annotation)
    try:
        shape = shape_of(annotation)
    except Shapeless as error:
        raise _refused(tool, given.name, str(error)) from error
    schema = {"title": _title(given.name)} | shape.schema if shape.titled else dict(shape.schema)
    schema.pop("default", None)
    if default is not REQUIRED:
        default, schema["default"] = _checked(default, shape.adapter, where=(tool, given.name))
    return Parameter(
        name=given.name,
        annotation=annotation,
        default=default,
        positional_only=given.kind is inspect.Parameter.POSITIONAL_ONLY,
        schema=schema,
        definitions=shape.definitions,
        validate=shape.adapter.validate_python,
        secret=shape.secret,
    )


def _checked(
    default: object, adapter: TypeAdapter[Any], *, where: tuple[str, str]
) -> tuple[object, JsonValue]:
    """The default as the annotation has it (5 is 5.0 for a float), and its JSON form.

    None is a default of any annotation.
    """
    try:
        if default is not None:
            default = adapter.validate_python(default)
        return default, to_json(default, strict=True, as_input=True)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise _refused(*where, f"its default does not fit: {reason}") from error
    except ValueError as error:
        raise _refused(*where, f"its default has no JSON form: {error}") from error


def _default(default: object, annotation: object) -> tuple[object, object]:
    """The default and the annotation, when a Field is used as the default or inside Annotated.

    A default factory is asked once, as Python does with a default.
    """
    if isinstance(default, FieldInfo):
        annotation = Annotated[annotation, default]
        default = REQUIRED
    if default is not REQUIRED or get_origin(annotation) is not Annotated:
        return default, annotation
    for field in get_args(annotation)[1:]:
        if isinstance(field, FieldInfo) and not field.is_required():
            default = field.get_default(call_default_factory=True, validated_data={})
    return default, annotation


def _schema(
    tool: str, parameters: tuple[Parameter, ...], *, described: Mapping[str, str]
) -> dict[str, JsonValue] | None:
    if not parameters:
        return None
    properties: dict[str, JsonValue] = {}
    definitions: dict[str, JsonValue] = {}
    for parameter in parameters:
        text = described.get(parameter.name)
        properties[parameter.name] = ({"description": text} if text else {}) | parameter.schema
        for name, definition in parameter.definitions.items():
            if definitions.setdefault(name, definition) != definition:
                raise _refused(tool, parameter.name, f"there is another type called {name}")
    schema: dict[str, JsonValue] = {"$defs": definitions} if definitions else {}
    schema |= {"type": "object", "title": f"{tool}Params", "properties": properties}
    required: list[JsonValue] = [p.name for p in parameters if p.required]
    if required:
        schema["required"] = required
    return schema


def _described(docstring: str) -> dict[str, str]:
    """The descriptions in the `Args:` section of a Google-style docstring, by name."""
    lines = iter(docstring.splitlines())
    if not any(line.strip() in ("Args:", "Arguments:") for line in lines):
        return {}
    found: dict[str, list[str]] = {}
    depth, name = 0, ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0:
            break
        entry = ENTRY.match(line)
        if entry and (not found or indent <= depth):
            depth, name = indent, entry[1]
            found[name] = [entry[2].strip()]
        elif name and line.strip():
            found[name].append(line.strip())
    return {key: " ".join(filter(None, words)) for key, words in found.items() if any(words)}


def _title(name: str) -> str:
    return name.title().replace("_", " ").strip()


def _is_context(wanted: object) -> bool:
    return wanted is ToolContext or (_is_union(wanted) and ToolContext in get_args(wanted))


def _is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, type(int | NoneType))


def _refused(tool: str, parameter: str, why: str) -> DeclarationError:
    return DeclarationError(f"{tool}: parameter {parameter!r}: {why}")
