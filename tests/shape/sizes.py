"""How long, how deep, how many."""

import ast
from collections.abc import Iterable, Iterator

from tests.shape.files import FUNCTIONS, PACKAGES, File, Files, Function, sources

BODY_P90, BODY_MAX = 20, 40
MODULE_USUAL, MODULE_MAX = 300, 500
NESTING = 3
POSITIONAL = 3
PROTOCOL_METHODS, PORT_METHODS = 6, 12
SCRIPTS = {".lua": 120, ".js": 700}
FIXED_BY_OTHERS = {"settings_customise_sources"}
"""Functions whose signature a library dictates."""


def p90(numbers: Iterable[int]) -> int:
    """Nine of ten are at most this; 0 of nothing."""
    ordered = sorted(numbers)
    return ordered[int(0.9 * (len(ordered) - 1))] if ordered else 0


def body_lines(function: Function) -> int:
    """Physical lines of a function's body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def bodies_are_short(files: Files) -> Iterator[str]:
    """No body is longer than 40 lines, and nine of ten have at most 20."""
    for package in PACKAGES:
        sized = [
            (body_lines(function), file.at(function, f"`{function.name}`"))
            for file in sources(files)
            if file.path.startswith(package)
            for function in file.functions()
        ]
        for lines, where in sized:
            if lines > BODY_MAX:
                yield f"{where} has {lines} lines of body, {BODY_MAX} at most: cut it in two"
        if (usual := p90(lines for lines, _ in sized)) > BODY_P90:
            longest = [where for _, where in sorted(sized, reverse=True)[:5]]
            yield (
                f"{longest[0]}: one in ten bodies of {package} has {usual} lines or more,"
                f" {BODY_P90} at most: shorten {', '.join(longest)}"
            )


def modules_are_short(files: Files) -> Iterator[str]:
    """No module is longer than 500 lines, and nine of ten have at most 300."""
    sized = [(len(file.text.splitlines()), file.path) for file in sources(files)]
    for lines, path in sized:
        if lines > MODULE_MAX:
            yield f"{path}:{lines}: {lines} lines, {MODULE_MAX} at most: find the second noun in it"
    if (usual := p90(lines for lines, _ in sized)) > MODULE_USUAL:
        longest = [f"{path} ({lines})" for lines, path in sorted(sized, reverse=True)[:5]]
        yield (
            f"{max(sized)[1]}:1: one in ten modules has {usual} lines or more, {MODULE_USUAL} at"
            f" most: shorten {', '.join(longest)}"
        )


def nothing_is_deep(files: Files) -> Iterator[str]:
    """Blocks are nested three deep at most, as pylint counts them: `with` is no branch."""
    for file in sources(files):
        for function in file.functions():
            for statement in function.body:
                yield from _too_deep(file, statement, 0)


def _too_deep(file: File, node: ast.AST, depth: int) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return
    if isinstance(node, ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try | ast.Match):
        depth += 1
        if depth > NESTING:
            yield file.at(node, f"nested {depth} deep, {NESTING} at most: return early, or name it")
            return
    for name, children in ast.iter_fields(node):
        for child in children if isinstance(children, list) else [children]:
            elif_ = name == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If)
            if isinstance(child, ast.AST):
                yield from _too_deep(file, child, depth - 1 if elif_ else depth)


def arguments_are_few(files: Files) -> Iterator[str]:
    """At most three positional parameters, and no boolean among them."""
    for file in sources(files):
        for function in file.functions():
            if function.name in FIXED_BY_OTHERS:
                continue
            given = positional(function)
            if len(given) > POSITIONAL:
                yield file.at(
                    function,
                    f"`{function.name}` takes {len(given)} positional parameters, {POSITIONAL} at"
                    " most: put `*,` before the rest",
                )
            for name in _booleans(function):
                yield file.at(
                    function, f"`{name}` of `{function.name}` is a boolean: put `*,` before it"
                )


def positional(function: Function) -> list[ast.arg]:
    """The parameters that may be given by position, self and cls left out."""
    every = [*function.args.posonlyargs, *function.args.args]
    return every[1:] if every and every[0].arg in ("self", "cls") else every


def _booleans(function: Function) -> Iterator[str]:
    every = [*function.args.posonlyargs, *function.args.args]
    defaults = [None] * (len(every) - len(function.args.defaults)) + list(function.args.defaults)
    for argument, default in zip(every, defaults, strict=True):
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        value = default.value if isinstance(default, ast.Constant) else None
        dunder = function.name.startswith("__")
        if (annotation.split(" ")[0] == "bool" or isinstance(value, bool)) and not dunder:
            yield argument.arg


def borders_are_narrow(files: Files) -> Iterator[str]:
    """A Protocol has at most six methods, the slot's port twelve."""
    for file in sources(files):
        most = PORT_METHODS if file.path == "agents/runtime/slot/port.py" else PROTOCOL_METHODS
        for node in file.nodes:
            if not isinstance(node, ast.ClassDef) or "Protocol" not in map(_base, node.bases):
                continue
            methods = [each for each in node.body if isinstance(each, FUNCTIONS)]
            if len(methods) > most:
                yield file.at(node, f"`{node.name}` has {len(methods)} methods, {most} at most")


def _base(node: ast.expr) -> str:
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node).split(".")[-1]


def scripts_are_short(files: Files) -> Iterator[str]:
    """A Lua script has at most 120 lines, a page's script 700."""
    for file in files:
        for ending, most in SCRIPTS.items():
            lines = len(file.text.splitlines())
            if file.path.endswith(ending) and lines > most:
                yield f"{file.path}:{lines}: {lines} lines, {most} at most: cut it in two"
