"""Who imports whom, and where."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tests.shape.files import File, Files, sources

DEPTH = {"agents": 14, "bot": 11}
DOOR = 40


def imports_are_at_the_top(files: Files) -> Iterator[str]:
    """No import hides in a function."""
    for file in sources(files):
        for function in file.functions():
            for node in ast.walk(function):
                called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                dynamic = called in ("__import__", "import_module", "importlib.import_module")
                if isinstance(node, ast.Import | ast.ImportFrom) or dynamic:
                    yield file.at(
                        node, f"an import inside `{function.name}`: move it up, or find third noun"
                    )


def imports(files: Files) -> dict[str, set[str]]:
    """Which of our modules imports which, everywhere in its text, TYPE_CHECKING included."""
    known = {file.module for file in sources(files)}
    graph: dict[str, set[str]] = {name: set() for name in known}
    for file in sources(files):
        for node in file.nodes:
            found = set(imported(node))
            if isinstance(node, ast.ImportFrom) and found - {node.module} <= known:
                found.discard(node.module or "")
            graph[file.module] |= found & known
        graph[file.module].discard(file.module)
    return graph


def imported(node: ast.AST) -> Iterator[str]:
    """The dotted names an import statement brings in; nothing for any other node."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_go_one_way(files: Files) -> Iterator[str]:
    """No modules import each other, however far round, and no chain of imports is too long."""
    graph = imports(files)
    try:
        ordered = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        round_ = " -> ".join(reversed(error.args[1]))
        yield f"{_path_of(error.args[1][0], files)}:1: {round_}: a third noun is missing"
        return
    for package, most in DEPTH.items():
        longest: dict[str, list[str]] = {}
        for name in ordered:
            if name.split(".")[0] == package:
                below = (longest[each] for each in graph[name] if each in longest)
                longest[name] = [name, *max(below, key=len, default=[])]
        chain = max(longest.values(), key=len, default=[])
        if len(chain) > most:
            yield (
                f"{_path_of(chain[0], files)}:1: a chain of {len(chain)} imports, {most} at most:"
                f" {' -> '.join(chain)}: let one of them skip a step"
            )


def _path_of(module: str, files: Files) -> str:
    return next(file.path for file in files if file.module == module)


def the_door_is_a_list(files: Files) -> Iterator[str]:
    """`agents/__init__.py` imports what `__all__` names, at most 40, and does nothing else."""
    for file in files:
        if file.path == "agents/__init__.py":
            yield from _untrue_door(file)


def the_door_is_used(files: Files) -> Iterator[str]:
    """Example agents and the bot import what the door offers; only app.py goes past it."""
    inside = {file.module for file in sources(files) if file.path.startswith("agents/")}
    for file in sources(files):
        example = file.path.startswith("agents/") and file.path.count("/") == 1
        if file.path in ("bot/app.py", "agents/__init__.py") or not (
            example or file.path.startswith("bot/")
        ):
            continue
        past = "agents.runtime" if example else "agents."
        for node in file.nodes:
            names = {name for name in imported(node) if name in inside and name.startswith(past)}
            if names:
                yield file.at(
                    node, f"imports {min(names)}: import from agents, or let it out there"
                )


def _untrue_door(door: File) -> Iterator[str]:
    named: list[str] = []
    there: set[str] = set()
    for node in door.tree.body[1 if ast.get_docstring(door.tree) else 0 :]:
        match node:
            case ast.ImportFrom(names=names):
                there |= {alias.asname or alias.name for alias in names}
            case ast.Assign(targets=[ast.Name("__all__")], value=value):
                named = list(ast.literal_eval(value))
            case _:
                yield door.at(node, "the door does something: it only imports and lists names")
    if len(named) > DOOR:
        yield f"{door.path}:1: {len(named)} public names, {DOOR} at most: keep some inside"
    if len(set(named)) < len(named):
        yield f"{door.path}:1: a name is listed twice in `__all__`: list it once"
    for name in sorted(set(named) ^ there):
        untrue = "is in `__all__` and not there" if name in named else "is not in `__all__`"
        yield f"{door.path}:1: `{name}` {untrue}: mend the list"
