"""What has one place: wire names, the environment, clients, wide nets, effects."""

import ast
import re
from collections.abc import Iterator

from tests.shape.files import Files, sources
from tests.shape.ways import imported

WIRE_NAMES = {"adk_request_confirmation": "agents/runtime/confirmation.py"}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.putenv"}
IMPORTERS = {
    "slack_bolt": ("bot/slack/", "bot/web.py", "bot/app.py"),
    "slack_sdk": ("bot/slack/", "bot/web.py", "bot/app.py"),
    "redis": (
        *(f"agents/runtime/slot/{noun}.py" for noun in ("redis", "store", "line")),
        *("bot/index/", "bot/storage.py", "bot/app.py"),
    ),
    "apscheduler": ("bot/clock.py",),
}
RIMS = (
    "agents/runtime/asking.py",
    "agents/runtime/calling.py",
    "agents/runtime/foreign.py",
    "agents/runtime/functions.py",
    "agents/runtime/jsonable.py",
    "agents/runtime/questions.py",
    "agents/runtime/runner.py",
    "agents/runtime/tools.py",
    "bot/clock.py",
    "bot/worker.py",
)
"""Where every exception is caught: around a tool's body, a hook, a model or a stranger's repr,
where a run hands what it raised to its reader, and at the rim of what runs for ever."""
PURE = (
    *(f"agents/runtime/{noun}.py" for noun in ("approval", "arguments", "confirmation")),
    *(f"agents/runtime/{noun}.py" for noun in ("declarations", "digest", "events", "shape")),
    *(
        f"agents/runtime/{noun}.py"
        for noun in ("compaction", "gate", "history", "outcome", "results", "steps", "story")
    ),
    *(f"agents/runtime/gemini/{noun}.py" for noun in ("replies", "wire")),
    "bot/turns.py",
    "bot/routing.py",
    *(f"bot/approvals/{noun}.py" for noun in ("companions", "faults", "life", "policy", "request")),
    *(f"bot/slack/{noun}" for noun in ("blocks", "events", "manifest", "payloads", "validate")),
    "bot/playground/workspace.py",
)
CLIENTS = (
    "aiohttp",
    "apscheduler",
    "httpx",
    "redis",
    "slack_bolt",
    "slack_sdk.web",
    "slack_sdk.webhook",
    "subprocess",
)
CHANCES = {
    *(("datetime", name) for name in ("now", "utcnow", "today")),
    ("date", "today"),
    *(("time", name) for name in ("time", "time_ns", "monotonic", "sleep")),
    *(("uuid", name) for name in ("uuid1", "uuid4", "uuid7")),
    *(("random", name) for name in ("random", "choice", "randint")),
    *(("secrets", name) for name in ("token_hex", "token_urlsafe", "token_bytes")),
}


def wire_names_are_spelled_once(files: Files) -> Iterator[str]:
    """A wire name is spelled in one file and imported everywhere else."""
    for file in sources(files):
        described = set(map(id, _docstrings(file.nodes)))
        for node in file.nodes:
            if not isinstance(node, ast.Constant) or id(node) in described:
                continue
            for name, home in WIRE_NAMES.items():
                if name in str(node.value) and file.path != home:
                    yield file.at(node, f"spells `{name}`: import it from {home}")


def _docstrings(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Expr):
            yield node.value


def the_environment_is_read_once(files: Files) -> Iterator[str]:
    """Only settings.py looks at the environment."""
    for file in sources(files):
        for node in file.nodes:
            names = set(imported(node))
            if isinstance(node, ast.Attribute):
                names = {ast.unparse(node)}
            if (seen := names & ENVIRONMENT) and file.path != "bot/settings.py":
                yield file.at(node, f"reads {min(seen)}: make it a field of Settings")


def clients_have_one_user(files: Files) -> Iterator[str]:
    """Each vendor's library is imported where it belongs, and nowhere else."""
    for file in sources(files):
        for node in file.nodes:
            for root in {name.split(".")[0] for name in imported(node)} & set(IMPORTERS):
                if not file.path.startswith(IMPORTERS[root]):
                    yield file.at(
                        node, f"imports {root}, which only {', '.join(IMPORTERS[root])} may"
                    )
            genai = set(imported(node)) & {"google.genai.Client", "google.genai.client"}
            used = isinstance(node, ast.Attribute) and ast.unparse(node).endswith("genai.Client")
            if (genai or used) and file.path != "agents/runtime/gemini/client.py":
                yield file.at(node, "uses genai.Client, which only the gemini client may")


def exceptions_are_named(files: Files) -> Iterator[str]:
    """Nobody catches everything except at a rim, or to raise it again."""
    for file in sources(files):
        for node in file.nodes:
            if not isinstance(node, ast.ExceptHandler) or file.path in RIMS:
                continue
            caught = ast.unparse(node.type) if node.type else "BaseException"
            again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if {"Exception", "BaseException"} & set(re.findall(r"\w+", caught)) and not again:
                yield file.at(node, f"catches {caught}: name what can happen there")


def pure_files_stay_pure(files: Files) -> Iterator[str]:
    """What decides is never async, imports no client and asks neither clock nor chance."""
    for file in sources(files):
        if not file.path.startswith(PURE):
            continue
        for node in file.nodes:
            if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncWith | ast.AsyncFor):
                yield file.at(node, "is async in a pure file: move what acts out of it")
            for name in imported(node):
                if any(f"{name}.".startswith(f"{client}.") for client in CLIENTS):
                    yield file.at(node, f"imports {name} in a pure file: move what acts out of it")
            if isinstance(node, ast.Call) and _chance(node.func) in CHANCES:
                yield file.at(node, f"calls {ast.unparse(node.func)} in a pure file: hand it in")


def _chance(function: ast.expr) -> tuple[str, str]:
    *rest, name = ast.unparse(function).split(".")
    return (rest[-1], name) if rest else ("uuid", name)
