"""What is said: docstrings, names, types, comments, sentences of tests."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.shape.files import FUNCTIONS, PACKAGES, File, Files, sources, tests
from tests.shape.sizes import positional

COMMENTS = 0.05
VAGUE = re.compile(r"(manager|helper|util|utility|handler|processor|common|base|service)s?")
ADKS_SERVICE = re.compile(r"\w*SessionService|\w*session_service")
LOCAL_PATH = re.compile(r"(?<![\w.:/}])/(?:home|Users|root|tmp|work|opt|mnt|srv)/[\w.]")
LOOSELY_TYPED = ("bot/slack/", "bot/clock.py", "bot/app.py")


def everything_public_is_documented(files: Files) -> Iterator[str]:
    """Modules, classes, functions and methods have a docstring unless their name starts with _."""
    for file in sources(files):
        if not ast.get_docstring(file.tree):
            yield f"{file.path}:1: no docstring: say in one sentence why this file exists"
        yield from _undocumented(file, file.tree.body)


def _undocumented(file: File, body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _undocumented(file, [*node.body, *node.orelse])
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)) or node.name.startswith("_"):
            continue
        overload = any("overload" in ast.unparse(each) for each in node.decorator_list)
        if not ast.get_docstring(node) and not overload:
            yield file.at(node, f"`{node.name}` has no docstring: say what it is or does")
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(file, node.body)


def everything_is_annotated(files: Files) -> Iterator[str]:
    """Every parameter and every return value has a type."""
    for file in sources(files):
        for function in file.functions():
            given = function.args
            extra = [each for each in (given.vararg, given.kwarg) if each]
            for argument in [*positional(function), *given.kwonlyargs, *extra]:
                if not argument.annotation:
                    yield file.at(argument, f"`{argument.arg}` has no type: annotate it")
            if not function.returns:
                yield file.at(function, f"`{function.name}` has no return type: annotate it")


def names_say_something(files: Files) -> Iterator[str]:
    """No module, class or function has a name that would fit any other."""
    for file in sources(files):
        if word := _vague(file.path.rsplit("/", 1)[-1].removesuffix(".py")):
            yield f"{file.path}:1: the file's name says `{word}`: name it after its noun"
        for node in file.nodes:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and (word := _vague(node.name)):
                yield file.at(node, f"`{node.name}` says `{word}`: name it after what it is")


def _vague(name: str) -> str | None:
    if ADKS_SERVICE.fullmatch(name):
        return None
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return next((word for word in words if VAGUE.fullmatch(word.lower())), None)


def comments_are_rare(files: Files) -> Iterator[str]:
    """At most one line in twenty has a comment, over each package."""
    for package in PACKAGES:
        lines, comments = 0, []
        for file in sources(files):
            if file.path.startswith(package):
                lines += sum(1 for line in file.text.splitlines() if line.strip())
                comments += [f"{file.path}:{number}" for number in _comments(file.text)]
        if len(comments) > COMMENTS * lines:
            yield (
                f"{comments[0]}: {len(comments)} comments in {lines} lines of {package}, one in"
                " twenty at most: keep those that say why"
            )


def _comments(text: str) -> Iterator[int]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]


def tests_are_sentences(files: Files) -> Iterator[str]:
    """Every test says what it promises, in a sentence."""
    for file in tests(files):
        for function in file.functions():
            if not function.name.startswith("test_"):
                continue
            sentence = " ".join((ast.get_docstring(function) or "").split())
            if not sentence.endswith((".", "?", "!")) or len(sentence.split()) < 3:
                yield file.at(
                    function, f"`{function.name}` has no sentence: say what it promises, with a dot"
                )


def types_are_strict(files: Files) -> Iterator[str]:
    """Only Bolt's and APScheduler's users may switch a rule of pyright off for a file."""
    for file in sources(files):
        for number, line in enumerate(file.text.splitlines(), start=1):
            loose = re.match(r"#\s*pyright:\s*(basic|standard|\w+=)", line)
            if loose and not file.path.startswith(LOOSELY_TYPED):
                yield f"{file.path}:{number}: switches pyright off: type it, or ignore one line"
            if loose and not re.fullmatch(
                r"# pyright: ((reportUnknown\w+|reportMissingTypeStubs)=(false|none)(, )?)+", line
            ):
                yield f"{file.path}:{number}: only reportUnknown* and reportMissingTypeStubs may go"


def nothing_points_at_one_machine(files: Files) -> Iterator[str]:
    """No file names an absolute path of somebody's machine."""
    for file in files:
        for number, line in enumerate(file.text.splitlines(), start=1):
            if found := LOCAL_PATH.search(line):
                yield f"{file.path}:{number}: names {found[0]}…: say it from the project's root"
