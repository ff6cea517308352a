"""The project's files, as the checks see them."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
PACKAGES = ("agents", "bot")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class File:
    """A file of the project: `path` from the root with slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @property
    def module(self) -> str:
        """The dotted name of a Python file."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def functions(self) -> Iterator[Function]:
        """All functions and methods, also nested ones."""
        yield from (node for node in self.nodes if isinstance(node, FUNCTIONS))

    def at(self, node: ast.AST, fault: str) -> str:
        """A fault at a node's line."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {fault}"


Files = tuple[File, ...]
Check = Callable[[Files], Iterator[str]]


def sources(files: Files) -> Iterator[File]:
    """The Python files of the two packages."""
    yield from (f for f in files if f.path.endswith(".py") and f.path.startswith(("agents", "bot")))


def tests(files: Files) -> Iterator[File]:
    """The Python files of the tests."""
    yield from (f for f in files if f.path.endswith(".py") and f.path.startswith("tests/"))
