"""Slots in this process: for tests, notebooks and programs that need no store."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from agents.runtime.errors import SessionConflict
from agents.runtime.slot.port import (
    NO_POSTS,
    SIZE,
    WINDOW,
    Begun,
    Busy,
    Command,
    Commit,
    Committed,
    Decide,
    Decided,
    Entry,
    Json,
    Part,
    Record,
    Released,
    SessionKey,
    Start,
    Started,
    View,
    is_asked,
)
from agents.runtime.slot.stored import Stored, refusal, repeated
from agents.runtime.slot.wire import copied, speaker


def _milliseconds(clock: Callable[[], float]) -> int:
    return int(clock() * 1000)


class MemorySlot:
    """The port in a dict. One process, any number of event loops and threads; nothing expires.

    `clock` gives seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Start empty."""
        self._clock = clock
        # No method waits while it holds the lock, so it never stops an event loop.
        self._lock = threading.Lock()
        self._sessions: dict[SessionKey, Stored] = {}
        self._shared: dict[tuple[str, ...], Json] = {}

    async def ingest(
        self,
        key: SessionKey,
        entry: Entry,
        *,
        only_existing: bool = False,
        index: Sequence[Command] = (),
    ) -> Literal["queued", "duplicate", "missing"]:
        """Put an entry into the inbox once."""
        del index
        now = _milliseconds(self._clock)
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                if only_existing:
                    return "missing"
                session = self._sessions[key] = Stored(created=now, updated=now)
            if not session.put(entry, now):
                return "duplicate"
            self._touch(key, now)
            return "queued"

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
        """Take the session in hand."""
        now = _milliseconds(self._clock)
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return _nothing(key, self._state(key, key.user, {}), now)
            if session.owner not in ("", owner) and session.lease > now:
                session.lease = min(session.lease, now + session.length)
                return Busy(until=session.lease, now=now)
            died = bool(session.owner) and session.lease <= now
            session.owner, session.lease, session.length = owner, now + lease, lease
            before = session.fence
            session.fence = max(before + 1, now)
            head = session.head
            attempted = f"+{head.id}" if head else f"={len(session.events)}"
            if session.attempted != attempted:
                session.attempted, session.attempt, session.deaths = attempted, 0, 0
            session.attempt += 1
            session.deaths += died
            user = speaker(key, head, session.user)
            return Begun(
                fence=session.fence,
                before=before,
                created=session.created,
                version=len(session.events),
                head=head,
                attempt=session.attempt,
                deaths=session.deaths,
                events=session.window(window, size=size, since=since),
                state=self._state(key, user, session.state),
                user=user,
                invocations={name: copied(it) for name, it in session.invocations.items()},
                open=dict(session.open),
                results=copied(session.results),
                started=frozenset(session.journal.keys() - session.results.keys()),
                posts=list(session.outbox.values()),
                now=now,
            )

    async def commit(self, key: SessionKey, commit: Commit) -> Committed:
        """Write one step."""
        now = _milliseconds(self._clock)
        with self._lock:
            session = self._sessions.get(key)
            if session and _is_stored(session, commit):
                return _committed(session, commit, now)
            session = self._held(key, commit.fence)
            if commit.version != len(session.events):
                raise SessionConflict("the session has moved on")
            if commit.pop is not None and (session.head is None or session.head.id != commit.pop):
                raise SessionConflict("the inbox has moved on")
            session.commit = commit.id
            self._touch(key, now)
            session.user = commit.user or session.user
            if commit.pop is not None:
                session.inbox.popleft()
            session.append(commit.events)
            self._set(key, commit.user, {**commit.state, **commit.app_state, **commit.user_state})
            session.change_calls(commit)
            session.change_invocations(commit.invocations)
            session.prune()
            session.accompany(commit.companions)
            if commit.release and session.head is None:
                session.owner, session.lease = "", 0
            return _committed(session, commit, now)

    async def start_call(self, key: SessionKey, start: Start) -> Started:
        """Ask for leave to run a body."""
        now = _milliseconds(self._clock)
        with self._lock:
            session = self._held(key, start.fence)
            call = session.open.get(start.cid)
            if call is None:
                return Started(kind="closed")
            for step in (start.step, start.cid):
                if step in session.results:
                    return Started(kind="done", result=copied(session.results[step]))
            if call.request not in (None, start.request):
                return Started(kind="refused", why="request")
            record = session.approvals.get(start.request or "")
            if (begun := session.journal.get(start.step)) is not None:
                return repeated(record, same=begun == start.fence, now=now)
            if why := refusal(start, record, now=now):
                return Started(kind="refused", why=why)
            if record:
                session.approvals[record.id] = replace(record, status="started", rev=record.rev + 1)
            session.journal[start.step] = start.fence
            session.record([start.audit] if start.audit is not None else [])
            return Started(kind="go")

    async def decide(self, key: SessionKey, decide: Decide) -> Decided:
        """Compare and set an approval's record."""
        now = _milliseconds(self._clock)
        with self._lock:
            session = self._sessions.get(key)
            stored = session.approvals.get(decide.record.id) if session else None
            if session is None or stored is None:
                return Decided(kind="missing", record=None, now=now)
            new = decide.record
            if (stored.rev, stored.status, stored.body) == (new.rev, new.status, new.body):
                return Decided(kind="ok", record=stored, now=now)
            if stored.rev != new.rev - 1 or stored.status != decide.source:
                return Decided(kind="moved", record=stored, now=now)
            if decide.cid and not is_asked(session.open.get(decide.cid), new.id):
                return Decided(kind="moved", record=stored, now=now)
            if not decide.late_ok and stored.deadline is not None and now >= stored.deadline:
                return Decided(kind="late", record=stored, now=now)
            session.approvals[new.id] = new
            self._touch(key, now)
            if decide.entry:
                session.put(decide.entry, now)
            session.owe(decide.posts)
            session.record(decide.audit)
            return Decided(kind="ok", record=new, now=now)

    async def renew(self, key: SessionKey, fence: int, *, lease: int) -> bool:
        """Keep the session for longer."""
        with self._lock:
            session = self._sessions.get(key)
            if session is None or session.fence != fence or not session.owner:
                return False
            session.lease = _milliseconds(self._clock) + lease
            return True

    async def release(
        self,
        key: SessionKey,
        fence: int,
        *,
        paid: Mapping[str, str | None] = NO_POSTS,
        put_off: bool = False,
        index: Sequence[Command] = (),
    ) -> Released:
        """Give the session back."""
        del index
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return Released(ours=False)
            session.pay(paid)
            if session.fence != fence:
                return Released(ours=False)
            if put_off and session.owner:
                session.attempt -= 1
            session.owner, session.lease = "", 0
            return Released(ours=True)

    async def posted(
        self, key: SessionKey, paid: Mapping[str, str | None], *, index: Sequence[Command] = ()
    ) -> None:
        """Strike posts off the outbox."""
        del index
        with self._lock:
            session = self._sessions.get(key)
            if session:
                session.pay(paid)

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
        """Look at a session."""
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            events = session.events[-window:] if "events" in parts else []
            return View(
                version=len(session.events),
                created=session.created / 1000,
                updated=session.updated / 1000,
                events=list(events),
                state=self._state(key, user or key.user, session.state) if "state" in parts else {},
                open=dict(session.open),
                approvals=_chosen(session.approvals, only, pending=pending)
                if "approvals" in parts
                else {},
                posts=list(session.outbox.values()) if "posts" in parts else [],
                places=dict(session.places) if "posts" in parts else {},
                audit=list(session.audit) if "audit" in parts else [],
                audit_head=session.audit_head,
                inbox=len(session.inbox),
                owner=session.owner,
                lease=session.lease,
                now=_milliseconds(self._clock),
            )

    async def list(
        self,
        *,
        app: str,
        user: str | None = None,
        tenant: str = "local",
        skip: int = 0,
        most: int = 0,
    ) -> Sequence[SessionKey]:
        """The sessions of an app, oldest update first, or a page of them, newest first."""
        with self._lock:
            listed = [key for key in self._sessions if (key.tenant, key.app) == (tenant, app)]
            page = listed[::-1][skip : skip + most] if most else listed
            return [key for key in page if user in (None, key.user)]

    async def delete(self, key: SessionKey) -> bool:
        """Forget a session."""
        with self._lock:
            return self._sessions.pop(key, None) is not None

    async def apply(self, key: SessionKey, *, state: Json, create: bool = False) -> bool:
        """Create a session, or set state without a run."""
        now = _milliseconds(self._clock)
        with self._lock:
            if create == (key in self._sessions):
                return False
            if create:
                self._sessions[key] = Stored(created=now, updated=now)
            self._touch(key, now)
            self._set(key, key.user, state)
            return True

    def _touch(self, key: SessionKey, now: int) -> None:
        """Note a change: the dict has the sessions by their last one, oldest first."""
        session = self._sessions[key] = self._sessions.pop(key)
        session.updated = now

    def _held(self, key: SessionKey, fence: int) -> Stored:
        """The session, if the fence is its newest."""
        session = self._sessions.get(key)
        if session and session.fence == fence:
            return session
        raise SessionConflict("the session is in other hands")

    def _state(self, key: SessionKey, user: str, own: Json) -> Json:
        """Session, app and user state as one dict of its own."""
        app = self._shared.get((key.tenant, key.app), {})
        users = self._shared.get((key.tenant, key.app, user), {})
        return {name: copied(value) for part in (own, app, users) for name, value in part.items()}

    def _set(self, key: SessionKey, user: str | None, state: Json) -> None:
        """Put each key where its prefix says it lives."""
        for name, value in state.items():
            if name.startswith("app:"):
                self._shared.setdefault((key.tenant, key.app), {})[name] = copied(value)
            elif name.startswith("user:"):
                owner = (key.tenant, key.app, user or key.user)
                self._shared.setdefault(owner, {})[name] = copied(value)
            elif not name.startswith("temp:"):
                self._sessions[key].state[name] = copied(value)


def _is_stored(session: Stored, commit: Commit) -> bool:
    """Whether a commit was stored before; others may have written since if it had `release`."""
    if session.commit == commit.id:
        return True
    if not commit.events or not commit.release or session.fence == commit.fence:
        return False
    last = commit.version + len(commit.events)
    stored = session.events[last - 1 : last]
    return stored == [commit.events[-1].model_copy(update={"version": last})]


def _committed(session: Stored, commit: Commit, now: int) -> Committed:
    """The answer to a commit."""
    owed = [post.id for post in commit.companions.posts if post.id in session.outbox]
    given_back = not session.owner or session.fence != commit.fence
    return Committed(
        version=len(session.events),
        head=session.head,
        owed=owed,
        now=now,
        released=commit.release and given_back,
    )


def _nothing(key: SessionKey, state: Json, now: int) -> Begun:
    """How a session that is not there begins; its fence fits nothing."""
    return Begun(
        fence=0,
        before=0,
        created=0,
        version=0,
        head=None,
        attempt=0,
        deaths=0,
        events=[],
        state=state,
        user=key.user,
        invocations={},
        open={},
        results={},
        started=frozenset(),
        posts=[],
        now=now,
    )


def _chosen(
    approvals: Mapping[str, Record], only: Sequence[str] | None, *, pending: bool
) -> dict[str, Record]:
    """The approvals with these ids, and those that are pending, or all."""
    if only is None:
        return dict(approvals)
    waiting = [name for name, each in approvals.items() if pending and each.status == "pending"]
    return {name: approvals[name] for name in (*only, *waiting) if name in approvals}
