"""The port to one session's state: what a slot holds, and the twelve ways to change or read it.

Everything about a session lives in its slot: events (whose numbers are the versions), state, inbox,
open calls, tool journal, approvals, outbox, audit. Each method is one atomic change, safe to
repeat with the same ids: a caller who lost the answer asks again and gets the same one. Times are
the store's, in milliseconds since the epoch.

Approvals, posts and audit entries are companions: the runtime carries them into the slot with its
events and does not know what they mean; `cid` is a call's id, `<version>-<part>`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, Self
from urllib.parse import quote, unquote

from pydantic import JsonValue

from agents.runtime.events import Event

WINDOW = 200
"""Events that are read of a session, or fewer: see SIZE."""
SIZE = 48 * 1024
"""Bytes of events that are read of a session."""

Json = dict[str, JsonValue]
Command = tuple[str | int | float, ...]
"""A Redis command that belongs to an index, sent in the same pipeline; a memory slot ignores it."""


@lru_cache(maxsize=1024)
def tag(*parts: str) -> str:
    """Several texts as one from which they can be read back: encoded, with colons between them."""
    return ":".join(quote(part, safe="@+= ,") for part in parts)


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Which session: tenant, app (the agent's name), user and session id; any text is allowed."""

    app: str
    user: str
    id: str
    tenant: str = "local"

    def __str__(self) -> str:
        """The slot's tag, from tenant, app, user and id."""
        return tag(self.tenant, self.app, self.user, self.id)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key a tag was made of. Raises ValueError when it is no tag of a session."""
        tenant, app, user, session = (unquote(part) for part in text.split(":"))
        return cls(app, user, session, tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is put to a session: a message, an answer, news. The same id twice is one entry.

    `body` is JSON: `content` (a google.genai Content), `user_id`, `state_delta`, and whatever else
    the sender wants to find on it again.
    """

    id: str
    body: Json


CallKind = Literal["tool", "approval", "news", "nested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without its last response.

    `kind`: `tool` (a body to run, or to go on with), `approval` (a person is asked; `request` is
    the id of the question), `news` (long-running: results come from outside), `nested` (an agent
    works on it, and waits for answers to calls of its own). `note` is what may be told about
    the waiting, as JSON: it is shown to the model in place of the missing response.
    """

    name: str
    kind: CallKind
    version: int
    request: str | None = None
    note: Json = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An approval as the slot keeps it: what the scripts check, and the rest as JSON.

    `status` is a word of the request machine (DESIGN: pending, approved, rejected, expired,
    cancelled, void, started, done, failed, unknown). `rev` counts changes from 1. `deadline` and
    `run_by` are milliseconds of the store's clock, or None. `body` never changes in a script.
    """

    id: str
    status: str
    rev: int
    digest: str
    deadline: int | None
    run_by: int | None
    body: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message owed to people; `id` is deterministic, so the same post is owed once.

    `body` says what to show, in the words of whoever owes it; an `approval` or `call` in it is the
    id of what it shows. `after` names a post whose place (channel and ts) this one changes.
    """

    id: str
    body: Json
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """A change of an approval's status that goes with events: only from one of `sources`.

    An approval in any other status stays as it is, and the rest of the commit holds.
    """

    id: str
    sources: Sequence[str]
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Companions:
    """What goes into the slot together with new events.

    `approvals` are opened; one that is there already stays as it is. `audit` entries are JSON
    bodies; the slot numbers and chains them. `notes` replaces the note of open calls by cid.
    `index` commands go in the same pipeline, not in the same change.
    """

    approvals: Sequence[Record] = ()
    settles: Sequence[Settle] = ()
    posts: Sequence[Post] = ()
    audit: Sequence[Json] = ()
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    index: Sequence[Command] = ()


NOTHING = Companions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A session in hand.

    `fence` goes with every change, `before` went with those of whoever had it last. `created` is
    when the session was made, `version` the number of its events. `head` is the oldest inbox entry,
    `attempt` how often it was begun (without one: how often the session was begun at this version),
    `deaths` how many of these attempts let the lease run out. `events` are the newest ones of the
    window from a turn start on, oldest first, and before them the newest summary and the older ones
    of invocations that are open, have an open call or go on in the window; begin's `since` leaves
    out what the caller has. `state` has session, `app:` and `user:` keys, the latter of `user`: who
    speaks in `head`, else the last commit's `user`, else the session's. `invocations` are the open
    ones with their `temp:` state, and whatever else is kept until they end. `results` are those of
    bodies that finished while a sibling was still running, `started` the steps of those that were
    started and left no result. `posts` are still owed. A session that is not there begins empty
    with fence 0, which every change refuses.
    """

    fence: int
    before: int
    created: int
    version: int
    head: Entry | None
    attempt: int
    deaths: int
    events: Sequence[Event]
    state: Json
    user: str
    invocations: Mapping[str, Json]
    open: Mapping[str, OpenCall]
    results: Mapping[str, JsonValue]
    started: frozenset[str]
    posts: Sequence[Post]
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """Somebody else has the session until `until` (milliseconds, the store's clock)."""

    until: int
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One step of a run, written whole or not at all.

    `id` makes it safe to repeat. Refused when `fence` is not the newest or `version` is not the
    number of stored events. `state` holds session keys, `app_state` and `user_state` (of `user`)
    the prefixed ones with their prefix; no `temp:` keys. `pop` consumes that inbox entry, which
    must be the head. `opened` and `closed` change the open calls. `ended` are calls whose run with
    permission is over: its journal and result are dropped, the next run is another start. `results`
    keeps the response of a finished body, by its step, until its batch is complete. `invocations`
    replaces or (None) ends open invocations. `Event.version` is set here. With `release` the
    session is given back in the same change, unless an entry waits in its inbox.
    """

    id: str
    fence: int
    version: int
    events: Sequence[Event] = ()
    state: Json = field(default_factory=dict[str, JsonValue])
    app_state: Json = field(default_factory=dict[str, JsonValue])
    user_state: Json = field(default_factory=dict[str, JsonValue])
    user: str | None = None
    pop: str | None = None
    opened: Mapping[str, OpenCall] = field(default_factory=dict[str, OpenCall])
    closed: Sequence[str] = ()
    ended: Sequence[str] = ()
    results: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    invocations: Mapping[str, Json | None] = field(default_factory=dict[str, Json | None])
    companions: Companions = NOTHING
    release: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The new version, the inbox entry that is the oldest now, and which of its posts are owed.

    `released` says that the session was given back, as the commit wished.
    """

    version: int
    head: Entry | None
    owed: Sequence[str]
    now: int
    released: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Whether the session was `ours` until now, and what the index commands answered, in order."""

    ours: bool
    told: Sequence[Any] = ()


NO_POSTS: Mapping[str, str | None] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Leave to run a body once.

    `step` is the journal's name for this run: the cid, or `<cid>:ask` while nobody was asked. With
    `request` (the id of an answered question) the slot also checks its approval, if it has one
    (with `recorded` it must have one): status approved, the same digest, `run_by` not past; the
    approval becomes started in the same change. A call that was asked about can only be started
    with that very request.
    """

    fence: int
    cid: str
    step: str
    request: str | None = None
    digest: str = ""
    recorded: bool = False
    audit: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """Whether the body may run.

    `go`; `again` (it was started before and its outcome is not stored); `done` (with `result`);
    `closed` (the call is answered); `refused` with `why`: `request` (another question), `missing`
    (no approval), `digest`, `late` (what was started before does not start again, either), or the
    approval's status. The same fence asking again gets its `go` again.
    """

    kind: Literal["go", "again", "done", "closed", "refused"]
    result: JsonValue = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """The next record of an approval, written only if nobody changed it meanwhile.

    The stored one must be at `record.rev - 1`, in status `source` and before its deadline
    (`late_ok` for the change that expires it); with `cid` that call must wait for this very
    question. `entry` (the outcome, for the inbox), `posts` and `audit` are written in the same
    change. `audit_head` is the audit's last hash as it was read: it spares the store the hashing,
    unless another entry came in between.
    """

    record: Record
    entry: Entry | None = None
    posts: Sequence[Post] = ()
    audit: Sequence[Json] = ()
    audit_head: str | None = None
    source: str = "pending"
    cid: str | None = None
    late_ok: bool = False
    index: Sequence[Command] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """`ok`, or why not: `moved` (read again), `late` (past the deadline), `missing`.

    Repeating a change that is stored already answers `ok`.
    """

    kind: Literal["ok", "moved", "late", "missing"]
    record: Record | None
    now: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A session as it is, without taking it in hand.

    `places` maps ids of the last 200 paid posts to `channel|ts`, and of all that show an approval
    or call which goes on, or whose end was not shown yet. `audit` are (entry, hash) pairs,
    oldest first: a hash is the hex SHA-256 of the previous one (the first has none) and the entry
    as JSON with sorted keys, no spaces, ASCII. `audit_head` is the last hash (empty without any),
    also where the audit is not read. `inbox` counts entries not consumed yet. `owner` has the
    session in hand until `lease` (milliseconds), or nobody ("") has. `created` and `updated` are in
    seconds.
    """

    version: int
    created: float
    updated: float
    events: Sequence[Event]
    state: Json
    open: Mapping[str, OpenCall]
    approvals: Mapping[str, Record]
    posts: Sequence[Post]
    places: Mapping[str, str]
    audit: Sequence[tuple[Json, str]]
    audit_head: str
    inbox: int
    owner: str
    lease: int
    now: int

    def asks(self, cid: str, request: str) -> bool:
        """Whether that call waits for the answer to this very question."""
        return is_asked(self.open.get(cid), request)


def is_asked(call: OpenCall | None, request: str) -> bool:
    """Whether an open call waits for the answer to this very question."""
    return call is not None and call.kind == "approval" and call.request == request


Part = Literal["events", "state", "approvals", "posts", "audit"]


class Slot(Protocol):
    """All sessions' state, a slot each. Raises StoreUnavailable when the store does not answer."""

    async def ingest(
        self,
        key: SessionKey,
        entry: Entry,
        *,
        only_existing: bool = False,
        index: Sequence[Command] = (),
    ) -> Literal["queued", "duplicate", "missing"]:
        """Put an entry into the inbox once; with `only_existing` only if the session is there."""
        ...

    async def begin(
        self,
        key: SessionKey,
        *,
        owner: str,
        lease: int,
        window: int = WINDOW,
        size: int = SIZE,
        since: int = 0,
    ) -> Begun | Busy:
        """Take the session in hand for `lease` ms; the same owner takes it over from itself.

        At most `window` events of `size` bytes are read, besides the newest turn and pinned ones.
        """
        ...

    async def commit(self, key: SessionKey, commit: Commit) -> Committed:
        """Write one step. Raises SessionConflict when fence or version are not the newest."""
        ...

    async def start_call(self, key: SessionKey, start: Start) -> Started:
        """Ask for leave to run a body. Raises SessionConflict when the fence is not the newest."""
        ...

    async def decide(self, key: SessionKey, decide: Decide) -> Decided:
        """Compare and set an approval's record, with what follows from it."""
        ...

    async def renew(self, key: SessionKey, fence: int, *, lease: int) -> bool:
        """Keep the session for `lease` ms from now; False when it is lost."""
        ...

    async def release(
        self,
        key: SessionKey,
        fence: int,
        *,
        paid: Mapping[str, str | None] = NO_POSTS,
        put_off: bool = False,
        index: Sequence[Command] = (),
    ) -> Released:
        """Give the session back, and strike posts off as `posted` does.

        Where it was only `put_off`, its begin was no attempt.
        """
        ...

    async def posted(
        self, key: SessionKey, paid: Mapping[str, str | None], *, index: Sequence[Command] = ()
    ) -> None:
        """Strike posts off the outbox: id -> `channel|ts`, or None when it cannot be posted."""
        ...

    async def read(
        self,
        key: SessionKey,
        *,
        parts: Sequence[Part] = ("events", "state"),
        window: int = 0,
        user: str | None = None,
        only: Sequence[str] | None = None,
        pending: bool = False,
    ) -> View | None:
        """Look at a session, whole or (window > 0) its newest events; None when there is none.

        `user:` state is that of `user`, else of the session's; of the approvals `only` those, when
        they are named, and with `pending` besides them all that nobody decided yet.
        """
        ...

    async def list(
        self,
        *,
        app: str,
        user: str | None = None,
        tenant: str = "local",
        skip: int = 0,
        most: int = 0,
    ) -> Sequence[SessionKey]:
        """The sessions of an app (of one user), oldest update first.

        With `most` so many at the most, newest update first, behind `skip` others: whoever skips
        what they were told meets every session that nobody changes meanwhile.
        """
        ...

    async def delete(self, key: SessionKey) -> bool:
        """Forget a session; `app:` and `user:` state stays. False when there is none."""
        ...

    async def apply(self, key: SessionKey, *, state: Json, create: bool = False) -> bool:
        """Create a session with a first state (False when it is there), or set state without a run.

        Keys may carry `app:` and `user:`; `temp:` keys are dropped.
        """
        ...
