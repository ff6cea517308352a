"""Every key of a session and of the state that sessions share: name, type, lifetime, who writes.

A slot's keys are `<prefix>{<tag>}:<name>`, the tag being the session's key as text, so all of them
are in one hash slot. They live SESSION_TTL past the last change, at least a week past the latest
deadline of an approval, and without end while a call is open or an approval is pending. `app:` and
`user:` state lives in slots of its own, without end: one hash per app and per person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agents.runtime.slot.port import SessionKey, tag

DAY = 24 * 3600 * 1000
SESSION_TTL = 30 * DAY
LISTED = 400 * DAY
"""How long a session is listed after its last change, if it lives that long."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its name, its type, what is in it, which methods write it, whether it expires."""

    name: str
    type: Literal["hash", "list", "zset"]
    what: str
    writers: str
    expires: bool = True


SLOT = (
    Key("m", "hash", "created, updated, owner, lease, fence, commit, attempt, pending, …", "all"),
    Key("e", "list", "events as JSON; the first has version 1", "commit"),
    Key("s", "hash", "session state: key -> JSON", "commit apply"),
    Key("u", "zset", "versions where a turn starts, the last 200", "commit"),
    Key(
        "t", "hash", "invocation -> versions of its events, while a window may need them", "commit"
    ),
    Key("c", "hash", "open invocation -> JSON with its temp: state", "commit"),
    Key("op", "hash", "open call -> JSON of OpenCall without its note", "commit"),
    Key("on", "hash", "open call -> its note as JSON", "commit"),
    Key(
        "j",
        "hash",
        "step of an open call -> `>` fence (started) or `=` result",
        "start_call commit",
    ),
    Key("i", "list", "inbox: id, body, id, body, …", "ingest decide commit"),
    Key("d", "zset", "ids of entries of the last three days -> ms", "ingest decide"),
    Key("o", "hash", "owed post -> JSON", "commit decide posted release"),
    Key("oq", "list", "owed posts in order", "commit decide posted release"),
    Key("ot", "hash", "paid post -> its place, the last 200 and open ones", "posted release"),
    Key("otq", "list", "paid posts in order, whose places pass", "posted release"),
    Key("a", "hash", "`<field> <id>` of each approval", "commit decide start_call"),
    Key("au", "list", "audit: 64 hex digits of hash, then the entry", "commit decide start_call"),
    Key("ps", "list", "stamped app: and user: changes on their way", "commit apply"),
)
"""The keys of one session, in the order in which scripts get them."""

SHARED = (
    Key("as", "hash", "app: state: key -> JSON", "commit apply", expires=False),
    Key("am", "zset", "session, `=` name -> stamp of its last change in `as`", "commit apply"),
    Key("us", "hash", "user: state: key -> JSON", "commit apply", expires=False),
    Key("um", "zset", "session, `=` name -> stamp of its last change in `us`", "commit apply"),
    Key("l", "zset", "sessions of an app -> ms of their last change", "ingest commit apply"),
)
"""The keys outside sessions: `{tenant:app}` or, for `us` and `um`, `{tenant:app:user}`."""


@lru_cache(maxsize=1024)
def slot_keys(prefix: str, key: SessionKey) -> Sequence[str]:
    """All keys of a session, in the order of SLOT."""
    start = f"{prefix}{{{key}}}:"
    return tuple(start + row.name for row in SLOT)


def mark(prefix: str, key: SessionKey) -> str:
    """A string in a session's slot, written to wait for its replicas; it lives one millisecond."""
    return f"{prefix}{{{key}}}:saved"


def app_state(prefix: str, key: SessionKey) -> tuple[str, str]:
    """The hash of `app:` state and its marks."""
    start = _shared(prefix, key.tenant, key.app)
    return f"{start}as", f"{start}am"


def user_state(prefix: str, key: SessionKey, user: str) -> tuple[str, str]:
    """The hash of a person's `user:` state and its marks."""
    start = _shared(prefix, key.tenant, key.app, user)
    return f"{start}us", f"{start}um"


def sessions(prefix: str, tenant: str, app: str) -> str:
    """The list of an app's sessions."""
    return f"{_shared(prefix, tenant, app)}l"


def _shared(prefix: str, *parts: str) -> str:
    return f"{prefix}{{{tag(*parts)}}}:"
