"""The Lua scripts: their texts, put together, and the digests the store knows them by."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files

from agents.runtime.slot.wire import ANCHORS, DEDUPE_MS, PLACES

_AUDITING = frozenset({"commit", "decide", "start_call", "unstart"})
_PAYING = frozenset({"posted", "release"})
_ALONE = frozenset({"merge", "touch", "unlist"})
_NAMES = (
    *("ingest", "begin", "commit", "start_call", "decide", "renew", "release", "posted"),
    *("unstart", "read", "delete", "apply", "merged", "merge", "touch", "unlist"),
)
_LIMITS = f"""\
local DEDUPE_MS, ANCHORS_KEPT, PLACES_KEPT = {DEDUPE_MS}, {ANCHORS}, {PLACES}
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A script as the store gets it; `sha` is what EVALSHA calls it."""

    text: str
    sha: str


def _script(name: str) -> Script:
    """A file's script behind what it stands on; its first line may be a shebang with flags."""
    body = _file(name)
    first, _, rest = body.partition("\n")
    shebang, body = (first, rest) if first.startswith("#!") else ("#!lua", body)
    parts = [] if name in _ALONE else [_LIMITS, _file("slot")]
    if name in _AUDITING:
        parts += [_file("sha256"), _file("audit")]
    if name in _PAYING:
        parts.append(_file("pay"))
    text = "\n".join([shebang, *parts, body])
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _file(name: str) -> str:
    return files("agents.runtime.slot").joinpath(f"{name}.lua").read_text(encoding="utf-8")


SCRIPTS = {name: _script(name) for name in _NAMES}
"""Each script by the name of its file, where its arguments and answers are told."""
