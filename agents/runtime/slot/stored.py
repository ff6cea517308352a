"""One session as memory keeps it, and each change of it."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from agents.runtime.events import Event
from agents.runtime.slot.port import (
    Commit,
    Companions,
    Entry,
    Json,
    OpenCall,
    Post,
    Record,
    Settle,
    Start,
    Started,
)
from agents.runtime.slot.wire import (
    ANCHORS,
    DEDUPE_MS,
    PLACES,
    copied,
    link,
    starts_turn,
    text,
    written,
)

MAY_CHANGE = frozenset({"pending", "approved", "started", "unknown"})
"""Statuses that an approval may leave."""


@dataclass(slots=True, kw_only=True)
class Stored:
    """One session. `traces` maps invocations to their versions, as long as a window may need them.

    That is while one is open or has an open call, while it is the newest, and, where others ran
    between its parts, until its last part is older than any window. `passing` names the posts whose
    places are forgotten one day, oldest first.
    """

    created: int
    updated: int
    fence: int = 0
    owner: str = ""
    lease: int = 0
    commit: str = ""
    user: str | None = None
    attempt: int = 0
    deaths: int = 0
    length: int = 0
    attempted: str = ""
    events: list[Event] = field(default_factory=list[Event])
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    summary: int = 0
    anchors: list[int] = field(default_factory=list[int])
    traces: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    state: Json = field(default_factory=dict[str, JsonValue])
    invocations: dict[str, Json] = field(default_factory=dict[str, Json])
    open: dict[str, OpenCall] = field(default_factory=dict[str, OpenCall])
    journal: dict[str, int] = field(default_factory=dict[str, int])
    results: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    inbox: deque[Entry] = field(default_factory=deque[Entry])
    seen: dict[str, int] = field(default_factory=dict[str, int])
    outbox: dict[str, Post] = field(default_factory=dict[str, Post])
    places: dict[str, str] = field(default_factory=dict[str, str])
    passing: dict[str, None] = field(default_factory=dict[str, None])
    approvals: dict[str, Record] = field(default_factory=dict[str, Record])
    audit: list[tuple[Json, str]] = field(default_factory=list[tuple[Json, str]])

    @property
    def head(self) -> Entry | None:
        """The oldest entry of the inbox."""
        return self.inbox[0] if self.inbox else None

    @property
    def audit_head(self) -> str:
        """The hash of the last audit entry."""
        return self.audit[-1][1] if self.audit else ""

    def put(self, entry: Entry, now: int) -> bool:
        """Append an entry to the inbox, unless its id was seen within three days."""
        while self.seen and next(iter(self.seen.values())) < now - DEDUPE_MS:
            del self.seen[next(iter(self.seen))]
        if entry.id in self.seen:
            return False
        self.seen[entry.id] = now
        self.inbox.append(entry)
        return True

    def owe(self, posts: Iterable[Post]) -> None:
        """Put posts into the outbox, but none that was there before."""
        for post in posts:
            if post.id not in self.places:
                self.outbox.setdefault(post.id, post)

    def pay(self, paid: Mapping[str, str | None]) -> None:
        """Strike posts off the outbox and remember where they went.

        The place of what shows an approval or an open call stays while that goes on, and until its
        end is shown there.
        """
        for name, place in paid.items():
            post = self.outbox.pop(name, None)
            if post is None:
                continue
            record = self.approvals.get(str(post.body.get("approval")))
            waits = post.body.get("call") in self.open
            waits = waits or (record is not None and record.status in MAY_CHANGE)
            if place is not None:
                self.places[name] = place
                if post.after or not waits:
                    self._pass(name)
            shows = post.body.keys() & {"approval", "call"}
            shown = post.after if shows and not waits else None
            if shown in self.places and all(each.after != shown for each in self.outbox.values()):
                self._pass(shown)

    def _pass(self, name: str) -> None:
        """Keep a place until two hundred more of them have passed."""
        self.passing.pop(name, None)
        self.passing[name] = None
        if len(self.passing) > PLACES:
            oldest = next(iter(self.passing))
            del self.passing[oldest], self.places[oldest]

    def record(self, entries: Iterable[Json]) -> None:
        """Append to the audit chain."""
        for entry in entries:
            self.audit.append((entry, link(self.audit_head, text(entry))))

    def settle(self, settles: Iterable[Settle]) -> None:
        """Move on those approvals that are still where the settle expects them."""
        for settle in settles:
            stored = self.approvals.get(settle.id)
            if stored and stored.status in settle.sources:
                self.approvals[settle.id] = replace(
                    stored, status=settle.status, rev=stored.rev + 1
                )

    def append(self, events: Iterable[Event]) -> None:
        """Number and store events; remember turn starts and traces."""
        for event in events:
            version = len(self.events) + 1
            numbered = event.version == version
            self.events.append(event if numbered else event.model_copy(update={"version": version}))
            if event.invocation_id:
                self.traces.setdefault(event.invocation_id, []).append(version)
            if starts_turn(event):
                self.anchors = [*self.anchors[-ANCHORS + 1 :], version]
            if event.actions.compaction:
                self.summary = version

    def waits(self, invocation: str) -> bool:
        """Whether an invocation is open or has an open call."""
        pinned = {call.version for call in self.open.values()}
        return invocation in self.invocations or not pinned.isdisjoint(self.traces[invocation])

    def prune(self) -> None:
        """Forget the traces no window needs."""
        oldest = self.anchors[0] if self.anchors else 1
        for name, versions in list(self.traces.items()):
            first, last = versions[0], versions[-1]
            broken = last - first >= len(versions) and last >= oldest
            if not (broken or last == len(self.events) or self.waits(name)):
                del self.traces[name]

    def window(self, count: int, *, size: int, since: int) -> list[Event]:
        """The newest events from a turn start on, and before them the older ones that they need."""
        first = self._first(count, size=size, since=since)
        wanted = {self.summary, *(call.version for call in self.open.values())}
        for name, versions in self.traces.items():
            if versions[-1] >= first or self.waits(name):
                wanted.update(versions)
        older = sorted(version for version in wanted if since < version < first)
        return [self.events[v - 1] for v in older] + self.events[max(first, since + 1) - 1 :]

    def _first(self, count: int, *, size: int, since: int) -> int:
        """Where a window begins: the oldest turn start that fits, at least the newest."""
        version = len(self.events)
        start = max(version - count, since) + 1
        if start == since + 1 and self._size(start, version) <= size:
            return start
        first = self.anchors[-1] if self.anchors else 1
        for anchor in reversed(self.anchors):
            if anchor < start or self._size(anchor, version) > size:
                break
            first = anchor
        return first

    def _size(self, first: int, last: int) -> int:
        """The bytes of events, as a store would keep them."""
        for version in range(first, last + 1):
            if version not in self.sizes:
                self.sizes[version] = len(written(self.events[version - 1]).encode())
        return sum(self.sizes[version] for version in range(first, last + 1))

    def change_calls(self, commit: Commit) -> None:
        """End runs, open calls, replace notes, close calls with their journal and results."""
        for cid in commit.ended:
            self.journal.pop(cid, None)
            self.results.pop(cid, None)
        self.open.update(commit.opened)
        for cid, note in commit.companions.notes.items():
            if cid in self.open:
                self.open[cid] = replace(self.open[cid], note=note)
        self.results.update(copied(dict(commit.results)))
        for cid in commit.closed:
            self.open.pop(cid, None)
            for step in (cid, f"{cid}:ask"):
                self.journal.pop(step, None)
                self.results.pop(step, None)

    def change_invocations(self, invocations: Mapping[str, Json | None]) -> None:
        """Replace or end open invocations."""
        for name, value in invocations.items():
            if value is None:
                self.invocations.pop(name, None)
            else:
                self.invocations[name] = copied(value)

    def accompany(self, companions: Companions) -> None:
        """Open approvals, settle others, owe posts, write the audit."""
        for record in companions.approvals:
            self.approvals.setdefault(record.id, record)
        self.settle(companions.settles)
        self.owe(companions.posts)
        self.record(companions.audit)


def refusal(start: Start, record: Record | None, *, now: int) -> str:
    """Why the gate stays shut; empty when it opens."""
    if record is None:
        return "missing" if start.recorded and start.request else ""
    if record.status != "approved":
        return record.status
    if record.digest != start.digest:
        return "digest"
    return "late" if _overdue(record, now=now) else ""


def repeated(record: Record | None, *, same: bool, now: int) -> Started:
    """Whether what was started may start again; from the `same` holder it is the same start."""
    if same:
        return Started(kind="go")
    late = record is not None and _overdue(record, now=now)
    return Started(kind="refused", why="late") if late else Started(kind="again")


def _overdue(record: Record, *, now: int) -> bool:
    return record.run_by is not None and now >= record.run_by
