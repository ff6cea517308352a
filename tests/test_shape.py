"""The budgets of the source, and a bad example of each kind to prove that they are watched."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.shape import CHECKS
from tests.shape.files import File, Files

ROOT = Path(__file__).parents[1]
LOOKED_AT = {".py", ".lua", ".js", ".html", ".css", ".md", ".toml", ".json", ".txt"}


def project() -> Files:
    """Every text file of the project."""
    inside = (path for name in ("agents", "bot", "tests") for path in (ROOT / name).rglob("*"))
    paths = [path for path in [*ROOT.glob("*"), *inside] if path.suffix in LOOKED_AT]
    return tuple(
        File(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(paths)
    )


FILES = project()


@pytest.mark.parametrize("check", CHECKS)
def test_the_source_keeps_its_shape(check: str):
    """No file breaks this rule; each fault says where, and what to do."""
    faults = sorted(CHECKS[check](FILES))
    assert not faults, "\n" + "\n".join(faults)


def function(body: int, *, name: str = "f", doc: str = '"""Do it."""') -> str:
    """A function whose body has that many lines besides its docstring."""
    return f"def {name}() -> None:\n    {doc}\n" + "    print()\n" * body


def module(lines: str, *, path: str = "bot/bad.py") -> dict[str, str]:
    """A module with a docstring and these lines."""
    return {path: f'"""A module."""\n{lines}\n'}


def chain(length: int) -> dict[str, str]:
    """Modules of which each imports the next."""
    return {f"bot/m{n}.py": f"from bot import m{n + 1}\n" for n in range(length - 1)} | {
        f"bot/m{length - 1}.py": ""
    }


DEEP = "def f():\n if a:\n  for b in c:\n   while d:\n    {inner}\n"
DOOR = "agents/__init__.py"
BAD = [
    ("bodies_are_short", module(function(41)), "bot/bad.py:2: `f` has 41 lines of body"),
    ("bodies_are_short", module(function(21) * 9), "one in ten bodies of bot has 21 lines"),
    ("modules_are_short", module("\n" * 500), "bot/bad.py:502: 502 lines, 500 at most"),
    ("modules_are_short", module("\n" * 300), "one in ten modules has 302 lines"),
    ("nothing_is_deep", module(DEEP.format(inner="try: e\n    finally: g")), "bad.py:6: nested 4"),
    ("nothing_is_deep", module(DEEP.format(inner="match e:\n     case _: g")), "nested 4 deep"),
    ("arguments_are_few", module("def f(a, b, c, d): ..."), "`f` takes 4 positional parameters"),
    (
        "arguments_are_few",
        module("class A:\n def f(self, a, b, c, d): ..."),
        "bad.py:3: `f` takes 4",
    ),
    ("arguments_are_few", module("def f(a: bool): ..."), "`a` of `f` is a boolean"),
    ("arguments_are_few", module("async def f(a=False): ..."), "`a` of `f` is a boolean"),
    ("everything_public_is_documented", {"bot/bad.py": "x = 1"}, "bot/bad.py:1: no docstring"),
    ("everything_public_is_documented", module("def f(): ..."), "bad.py:2: `f` has no docstring"),
    (
        "everything_public_is_documented",
        module('class A:\n "It."\n def f(self): ...'),
        "`f` has no",
    ),
    (
        "everything_public_is_documented",
        module("try: x\nexcept E:\n x\nelse:\n class A: ..."),
        "`A`",
    ),
    ("everything_is_annotated", module("def f(a) -> None: ..."), "`a` has no type"),
    ("everything_is_annotated", module("def f(*, a) -> None: ..."), "`a` has no type"),
    ("everything_is_annotated", module("def f(**a) -> None: ..."), "`a` has no type"),
    ("everything_is_annotated", module("async def f(): ..."), "`f` has no return type"),
    ("imports_are_at_the_top", module("def f():\n import os"), "bad.py:3: an import inside `f`"),
    ("imports_are_at_the_top", module("def f():\n importlib.import_module('os')"), "inside `f`"),
    (
        "imports_go_one_way",
        {"bot/a.py": "from bot import b", "bot/b.py": "if TYPE_CHECKING:\n from bot.a import x"},
        "a third noun is missing",
    ),
    (
        "imports_go_one_way",
        {"bot/a.py": "def f():\n import bot.b", "bot/b.py": "import bot.a"},
        "a third noun is missing",
    ),
    (
        "imports_go_one_way",
        {"agents/__init__.py": "from agents.a import A", "agents/a.py": "from agents import B"},
        "a third noun is missing",
    ),
    ("imports_go_one_way", chain(12), "bot/m0.py:1: a chain of 12 imports, 11 at most"),
    (
        "the_door_is_a_list",
        {DOOR: "from agents.a import A\n__all__ = []"},
        "`A` is not in `__all__`",
    ),
    ("the_door_is_a_list", {DOOR: "__all__ = ['A']"}, "`A` is in `__all__` and not there"),
    ("the_door_is_a_list", {DOOR: "__all__ = ['A', 'A']"}, "a name is listed twice"),
    ("the_door_is_a_list", {DOOR: "register()"}, "agents/__init__.py:1: the door does something"),
    ("the_door_is_a_list", {DOOR: f"__all__ = {[f'A{n}' for n in range(41)]}"}, "41 public names"),
    (
        "the_door_is_used",
        {"agents/runtime/a.py": "", "bot/bad.py": "from agents.runtime.a import A"},
        "bot/bad.py:1: imports agents.runtime.a",
    ),
    (
        "the_door_is_used",
        {"agents/support.py": "", "bot/bad.py": "from agents import support"},
        "bot/bad.py:1: imports agents.support",
    ),
    (
        "the_door_is_used",
        {"agents/runtime/a.py": "", "agents/support.py": "import agents.runtime.a"},
        "agents/support.py:1: imports agents.runtime.a",
    ),
    (
        "names_say_something",
        module("", path="bot/utils.py"),
        "bot/utils.py:1: the file's name says",
    ),
    ("names_say_something", module("class ToolManager: ..."), "`ToolManager` says `Manager`"),
    ("names_say_something", module("def request_handler(): ..."), "says `handler`"),
    ("names_say_something", module("class PaymentService: ..."), "says `Service`"),
    ("borders_are_narrow", module("class A(Protocol):\n" + " def f(self): ...\n" * 7), "7 methods"),
    (
        "borders_are_narrow",
        module("class A(Protocol[T]):\n" + " def f(self): ...\n" * 7),
        "`A` has",
    ),
    (
        "borders_are_narrow",
        module(
            "class A(Protocol):\n" + " def f(self): ...\n" * 13, path="agents/runtime/slot/port.py"
        ),
        "13 methods, 12 at most",
    ),
    (
        "comments_are_rare",
        module("x = 1  # one\n" * 2 + "y = 1\n" * 20),
        "bot/bad.py:2: 2 comments",
    ),
    (
        "scripts_are_short",
        {"bot/index/due.lua": "x\n" * 121},
        "due.lua:121: 121 lines, 120 at most",
    ),
    ("scripts_are_short", {"bot/playground/page.js": "x\n" * 701}, "701 lines, 700 at most"),
    ("tests_are_sentences", {"tests/test_a.py": "def test_a(): ..."}, "`test_a` has no sentence"),
    ("tests_are_sentences", {"tests/test_a.py": "def test_a():\n '''It.'''"}, "no sentence"),
    ("tests_are_sentences", {"tests/test_a.py": "def test_a():\n '''It does it'''"}, "no sentence"),
    ("wire_names_are_spelled_once", module("x = 'adk_request_confirmation'"), "bad.py:2: spells"),
    ("the_environment_is_read_once", module("import os\nos.environ['X']"), "reads os.environ"),
    ("the_environment_is_read_once", module("x = os.getenv('X')"), "bot/bad.py:2: reads os.getenv"),
    ("the_environment_is_read_once", module("from os import environ"), "reads os.environ"),
    (
        "clients_have_one_user",
        module("import redis.asyncio"),
        "bad.py:2: imports redis, which only",
    ),
    ("clients_have_one_user", module("from slack_sdk.web import WebClient"), "imports slack_sdk"),
    ("clients_have_one_user", module("from apscheduler import x"), "imports apscheduler"),
    (
        "clients_have_one_user",
        module("from google import genai\ngenai.Client()"),
        "uses genai.Client",
    ),
    ("clients_have_one_user", module("from google.genai import Client"), "uses genai.Client"),
    ("exceptions_are_named", module("try: x\nexcept Exception: y"), "bad.py:3: catches Exception"),
    ("exceptions_are_named", module("try: x\nexcept (A, BaseException): y"), "catches (A, Base"),
    ("exceptions_are_named", module("try: x\nexcept: y"), "catches BaseException"),
    ("pure_files_stay_pure", module("async def f(): ...", path="bot/routing.py"), "is async"),
    ("pure_files_stay_pure", module("import aiohttp", path="bot/turns.py"), "imports aiohttp"),
    (
        "pure_files_stay_pure",
        module("datetime.now(UTC)", path="bot/turns.py"),
        "calls datetime.now",
    ),
    ("pure_files_stay_pure", module("uuid4()", path="bot/slack/blocks/card.py"), "calls uuid4"),
    ("types_are_strict", module("# pyright: basic"), "bot/bad.py:2: switches pyright off"),
    (
        "types_are_strict",
        module("# pyright: reportPrivateUsage=false", path="bot/app.py"),
        "only reportUnknown* and reportMissingTypeStubs may go",
    ),
    (
        "nothing_points_at_one_machine",
        {"README.md": "Look\ninto " + "/ho" + "me/ann/bot."},
        "README.md:2: names",
    ),
]


@pytest.mark.parametrize(
    ("check", "files", "fault"), [pytest.param(*row, id=f"{row[0]}-{row[2]}") for row in BAD]
)
def test_every_rule_can_be_broken(check: str, files: dict[str, str], fault: str):
    """Bad source is found, with its place and what to do."""
    faults = list(CHECKS[check](tuple(File(path, text) for path, text in files.items())))
    assert fault in "\n".join(faults)
    assert all(re.match(r"[\w./]+:\d+: ", each) for each in faults)


def test_every_rule_has_a_bad_example():
    """A rule that nothing can break watches nothing."""
    assert {row[0] for row in BAD} == set(CHECKS)


GOOD = [
    (
        "bodies_are_short",
        module(function(40, doc='"""Long.\n' + "\n" * 60 + '"""') + function(20) * 9),
    ),
    ("nothing_is_deep", module("def f():\n if a: x\n elif b: y\n elif c: z\n elif d:\n  if e: g")),
    ("nothing_is_deep", module(DEEP.format(inner="with e:\n     with g: h"))),
    ("arguments_are_few", module("class A:\n def f(self, a, b, c, *, d, e: bool): ...")),
    ("everything_public_is_documented", module("def _f(): ...\nclass _A:\n def f(self): ...")),
    ("imports_go_one_way", {"bot/__init__.py": "", **chain(11)}),
    (
        "the_door_is_used",
        {
            "agents/a.py": "",
            "agents/b.py": "from agents import A, a",
            "bot/app.py": "import agents.a",
        },
    ),
    ("names_say_something", module("class RedisSessionService: ...\nclass Basement: ...")),
    ("wire_names_are_spelled_once", module('def f():\n """Reads adk_request_confirmation."""')),
    ("exceptions_are_named", module("try: x\nexcept BaseException:\n y\n raise")),
    ("pure_files_stay_pure", module("from slack_sdk.models.blocks import A", path="bot/turns.py")),
    ("types_are_strict", module("# pyright: reportUnknownMemberType=false", path="bot/app.py")),
    (
        "nothing_points_at_one_machine",
        {"README.md": "https://a.b/home/x and bot/home/x and /health"},
    ),
]


@pytest.mark.parametrize(
    ("check", "files"), [pytest.param(*row, id=f"{row[0]}-{n}") for n, row in enumerate(GOOD)]
)
def test_no_rule_sees_more_than_it_should(check: str, files: dict[str, str]):
    """Source at the edge of a rule passes."""
    assert not list(CHECKS[check](tuple(File(path, text) for path, text in files.items())))


def test_requirements_pin_what_the_project_needs():
    """Each dependency is pinned with hashes for a deployment, and nothing says where from."""
    pinned = (ROOT / "requirements.txt").read_text()
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^a-z0-9-]", line)[0] for line in needed}
    missing = {name for name in names if not re.search(rf"(?m)^{name}==.* \\\n +--hash=", pinned)}
    assert not missing, f"run make requirements: {missing}"
    assert not re.search(r"://|--(extra-)?index|--find-links|@ file", pinned)
