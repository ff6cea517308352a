"""README shows nothing that does not run.

`python` blocks are executed, each in a namespace of its own; one marked `python continuation` goes
on in that of the block before. What they print must be what the `text output` block right after
says (`...` stands for anything). `json` and `toml` blocks must parse, and settings in them must
exist. Of `bash` and `console` blocks every command must be one of `COMMANDS`, whose check is run:
a target of make must be there, a command of `python -m bot` must know its own help, a variable
that is set must be one the bot reads. What would install, deploy, serve or wait is not run.
Relative links and paths in backticks must lead to a file.
"""

import contextlib
import doctest
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from bot.advice import advice
from bot.playground.people import TEAM_ID
from bot.settings import Settings, variable
from tests.shape import CHECKS
from tests.shape.files import File

ROOT = Path(__file__).parents[1]
VARIABLES = {variable(field) for field in Settings.model_fields} | {"REDIS_TLS_URL"}
OUTPUT = "text output"
SHOWN_ONLY = ("", "text", "mermaid", OUTPUT)
PATH = re.compile(r"(agents|bot|tests|\.ci)(/[\w.-]+)*/?|[\w.-]+\.(md|toml|txt|json|lua)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its line, the words after the fence, its text, and what follows it."""

    line: int
    kind: str
    text: str
    before: "Block | None" = None
    printed: str | None = None


def blocks(markdown: str) -> list[Block]:
    """The fenced blocks of a text, in order."""
    found: list[Block] = []
    fences = [token for token in MarkdownIt().parse(markdown) if token.type == "fence"]
    for fence, after in zip(fences, [*fences[1:], None], strict=True):
        kind = " ".join(fence.info.split())
        found.append(
            Block(
                line=(fence.map or [0])[0] + 1,
                kind=kind,
                text=fence.content,
                before=found[-1] if kind == "python continuation" else None,
                printed=after.content if after and after.info.strip() == OUTPUT else None,
            )
        )
    return found


def run(block: Block) -> dict[str, Any]:
    """Execute a python block; its namespace, for a continuation."""
    previous = block.before
    while previous and not previous.kind.startswith("python"):
        previous = previous.before
    namespace = run(previous) if previous else {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, f"README.md:{block.line}", "exec"), namespace)
    if block.printed is not None:
        right = doctest.OutputChecker().check_output(
            block.printed, printed.getvalue(), doctest.ELLIPSIS
        )
        assert right, f"README.md:{block.line} prints\n{printed.getvalue()}\nnot\n{block.printed}"
    return namespace


def exists(words: list[str]) -> None:
    """`make`: each target is in the Makefile."""
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    named = {word for word in words[1:] if "=" not in word and not word.startswith("-")}
    assert named <= targets, f"make has no {named - targets}"


def knows_help(words: list[str]) -> None:
    """`python -m bot …`: the command explains itself, and so exists."""
    if words[1:3] != ["-m", "bot"]:
        assert words[1] == "--version" or (ROOT / words[1]).exists(), f"there is no {words[1]}"
        return
    names = [word for word in words[3:4] if not word.startswith("-")]
    command = [sys.executable, "-m", "bot", *names, "--help"]
    answer = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    assert answer.returncode == 0, answer.stderr


def sets_what_is_read(words: list[str]) -> None:
    """`export A=…`, `heroku config:set A=…`: the bot reads each A."""
    named = {word.split("=")[0] for word in words if re.match(r"[A-Z_]+=", word)}
    assert named <= VARIABLES, f"the bot does not read {named - VARIABLES}"


def leads_somewhere(words: list[str]) -> None:
    """`cd …`: into the clone, or into a folder of the project."""
    assert words[1] == "countersign" or (ROOT / words[1]).is_dir(), f"there is no {words[1]}"


def names_an_extra(words: list[str]) -> None:
    """`pip install …`: the project, or one of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in re.findall(r"\[([\w,-]+)\]", " ".join(words)):
        assert set(extra.split(",")) <= set(project["optional-dependencies"]), f"no extra {extra}"


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "cd": leads_somewhere,
    "curl": sets_what_is_read,
    "export": sets_what_is_read,
    "git": sets_what_is_read,
    "heroku": sets_what_is_read,
    "honcho": sets_what_is_read,
    "make": exists,
    "pip": names_an_extra,
    "python": knows_help,
    "python3": knows_help,
}


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a bash or console block, in words; settings before them come first."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        shown = line.removeprefix("$ ") if block.kind == "bash" or line.startswith("$ ") else ""
        for part in re.split(r"&&|;|\|\|?", shown):
            words = shlex.split(part, comments=True)
            settings = [word for word in words if re.match(r"[A-Z_]+=", word)]
            if settings == words[: len(settings)]:
                yield ["export", *settings]
                words = words[len(settings) :]
            if words:
                yield words


def check(block: Block) -> None:
    """Run a block or what stands for it; AssertionError says what is wrong."""
    match block.kind:
        case "python" | "python continuation":
            run(block)
        case "bash" | "console":
            for words in commands(block):
                assert words[0] in COMMANDS, f"{words[0]}: say in COMMANDS how to check it"
                COMMANDS[words[0]](words)
        case "json":
            json.loads(block.text)
        case "toml":
            tool = tomllib.loads(block.text).get("tool", {})
            Settings.read(**tool.get("countersign", {}))
        case kind:
            assert kind in SHOWN_ONLY, f"{kind!r} is no kind of block this file knows"


README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "block", [pytest.param(each, id=str(each.line)) for each in blocks(README)]
)
def test_every_block_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each block of README does what it shows."""
    monkeypatch.chdir(tmp_path)
    check(block)


def programs() -> dict[str, str]:
    """The programs of README by file name, each with what continues it."""
    found: dict[str, str] = {}
    for block in blocks(README):
        if block.kind == "python":
            found[f"line_{block.line}.py"] = block.text
        elif block.kind == "python continuation":
            found[[*found][-1]] += block.text
    return found


def test_the_types_of_every_program_are_right(tmp_path: Path):
    """Who takes one over has nothing to mend before the strictest check."""
    for name, text in programs().items():
        (tmp_path / name).write_text(text)
    strict = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(strict))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", tmp_path]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout


def test_the_first_agent_keeps_to_the_rules_of_its_folder():
    """Put into agents/, as README says, it fails no check and gets no advice."""
    first = next(block for block in blocks(README) if block.kind == "python")
    name = "agents/refunds.py"
    command = [sys.executable, "-m", "ruff", "check", "--stdin-filename", name, "-"]
    answer = subprocess.run(
        command, input=first.text, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout
    assert [fault for check in CHECKS.values() for fault in check((File(name, first.text),))] == []
    assert list(advice([run(first)["agent"]])) == []


def test_every_path_leads_to_a_file():
    """Relative links and paths in backticks are there."""
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", README)
    spans = [text for text in re.findall(r"`([^`\n]+)`", README) if PATH.fullmatch(text)]
    missing = [path for path in [*links, *spans] if not (ROOT / path).exists()]
    assert not missing


BROKEN = [
    ("```python\nraise KeyError('x')\n```", "x"),
    ("```python\nprint(1)\n```\n```text output\n2\n```", "prints"),
    ("```python\nx = 1\n```\n```python\nprint(x)\n```", "'x' is not defined"),
    ("```bash\nmake nothing\n```", "make has no"),
    ("```bash\nrm -r .\n```", "say in COMMANDS"),
    ("```console\n$ heroku config:set SLACK_TOKEN=x\n```", "the bot does not read"),
    ("```bash\nMODLE=rehearsal make test\n```", "the bot does not read"),
    ('```bash\npip install "countersign[redis]"\n```', "no extra"),
    ("```bash\ncd nowhere\n```", "there is no nowhere"),
    ('```json\n{"a": }\n```', "Expecting value"),
    ("```toml\n[tool.countersign]\nmodle = 'x'\n```", "(model was probably meant)"),
    ("```ruby\nputs 1\n```", "is no kind of block"),
]


def test_the_tenant_of_a_playground():
    """Whoever looks where README says finds what a playground left."""
    assert f"`COUNTERSIGN_TENANT={TEAM_ID}`" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(("markdown", "fault"), [pytest.param(*row, id=row[1]) for row in BROKEN])
def test_a_wrong_block_is_found(markdown: str, fault: str):
    """Every kind of block can be wrong, and then the test says so."""
    *right, wrong = [block for block in blocks(markdown) if block.kind != OUTPUT]
    for block in right:
        check(block)
    with pytest.raises(Exception, match=re.escape(fault)):
        check(wrong)


GOOD = [
    pytest.param("```python\nprint(1)\n```\n```text output\n1\n```", id="printed as said"),
    pytest.param("```python\nprint([1, 2])\n```\n```text output\n[...]\n```", id="anything"),
    pytest.param("```python\nx = 1\n```\n```python continuation\nx + 1\n```", id="goes on"),
    pytest.param("```console\n$ make test\nsome output\n```", id="output is no command"),
    pytest.param(
        "```bash\nREDIS_URL=redis://h \\\n  make test && cd agents # go\n```", id="chained"
    ),
    pytest.param("    not a fence\n\n```text\nanything\n```", id="only shown"),
]


@pytest.mark.parametrize("markdown", GOOD)
def test_a_right_block_passes(markdown: str):
    """Blocks that do what they say pass."""
    found = blocks(markdown)
    assert found
    for block in found:
        check(block)
