"""A session in hand: its story, and the one way to add to it."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from agents.runtime.errors import Unsettled
from agents.runtime.events import Event
from agents.runtime.messages import heard
from agents.runtime.slot.port import (
    NOTHING,
    Begun,
    CallKind,
    Command,
    Commit,
    Companions,
    Json,
    OpenCall,
    SessionKey,
    Slot,
)
from agents.runtime.slot.wire import copied
from agents.runtime.story import USER, Call, Story

PATIENCE = 300.0
"""Seconds for which a call that may start is put off because its tool is not in this process."""
_LOOK = "look:"
"""What the moment of a look is kept under among the invocations, with the step behind it."""
_NO_LOOKS: Mapping[str, int | None] = {}


class Companion(Protocol):
    """Derives what goes into the slot with new events."""

    def __call__(
        self, key: SessionKey, story: Story, *, new: Sequence[Event], now: int
    ) -> Companions:
        """What goes with `new`, the last events of the story; `now` is in milliseconds."""
        ...


Leave = tuple[str, Json | None]
"""Why people have to be asked anew, empty when a call may start; and the start's audit entry."""
Permit = Callable[[SessionKey, str], Awaitable[Leave]]
"""What those who asked say about the start of an approved call: (key, id of the question)."""


def nothing(*_told: object, **_new: object) -> Companions:
    """No companions."""
    return NOTHING


class Held:
    """A session that this process holds.

    `story` includes what was heard and is not stored yet. `state` has all keys but `temp:`; `temp`
    has those, by invocation and nested agent. `entry` is the inbox entry being worked on. `results`
    are those of bodies that ended before their batch did, `started` the journal's steps that
    somebody else began and nobody knows the end of, `looked` when (ms) these were first looked for
    in vain. `owed` are posts that are stored and not paid yet, by id; `paid` those that were made
    and are to be struck off with the next word to the store. One that `is_put_off` is given back
    as if nobody had tried anything. It is in hand `until` that moment of
    `time.monotonic`, or longer. With a `permit` approvals are kept, and what was asked about starts
    with one only.
    """

    def __init__(
        self,
        slot: Slot,
        key: SessionKey,
        begun: Begun,
        *,
        story: Story | None = None,
        companion: Companion = nothing,
        permit: Permit | None = None,
    ) -> None:
        """Take over what `begin` answered; `story` when it is known and not only its news."""
        self.slot = slot
        self.key = key
        self.name = str(key)
        self.fence = begun.fence
        self.before = begun.before
        self.version = begun.version
        self.attempt = begun.attempt
        self.deaths = begun.deaths
        self.story = story or Story(begun.events)
        self.state: dict[str, Any] = dict(begun.state)
        self.temp: dict[str, dict[str, Any]] = {
            name: _dict(kept.get("temp"))
            for name, kept in begun.invocations.items()
            if not name.startswith(_LOOK)
        }
        self.results = dict(begun.results)
        self.started = set(begun.started)
        self.looked = _looked(begun.invocations)
        self.notes: dict[str, Json] = {cid: call.note for cid, call in begun.open.items()}
        self.entry = next((e.entry for e in reversed(self.story.events) if e.entry), None)
        self.owed = {post.id: post for post in begun.posts}
        self.paid: dict[str, str | None] = {}
        self.until = math.inf
        self.lost = False
        self.released = False
        self.is_put_off = False
        self.permit = permit
        self._companion = companion
        self._person = begun.user
        self._head = begun.head
        self._heard: list[Event] = []
        self._popping = False
        self._open = dict(begun.open)
        self._began = time.monotonic()
        self._now = begun.now
        self._commits = 0
        self._lock = asyncio.Lock()

    @property
    def now(self) -> int:
        """The store's time in milliseconds, as far as this process can tell."""
        return self._now + int((time.monotonic() - self._began) * 1000)

    @property
    def next_version(self) -> int:
        """The version the next event will have."""
        return self.version + len(self._heard) + 1

    @property
    def waiting(self) -> bool:
        """Whether there is an inbox entry, as far as this process was told."""
        return self._head is not None

    @property
    def next_entry(self) -> str | None:
        """The id of the oldest inbox entry, as far as this process was told."""
        return self._head.id if self._head else None

    @property
    def unstored(self) -> bool:
        """Whether an inbox entry was taken, or something was heard, that is not stored yet."""
        return self._popping or bool(self._heard)

    def waited(self, step: str) -> float | None:
        """Seconds since a step was looked for in vain; None as well when a clock went back."""
        now = self.now
        waited = (now - self.looked.get(step, now + 1)) / 1000
        return waited if waited >= 0 else None

    def unsettled(self, pause: float) -> Unsettled:
        """The error that says that the session is given back for `pause` seconds."""
        self.is_put_off = True
        return Unsettled(self.now + int(pause * 1000), pause=pause)

    async def put_off(self, step: str, *, again: float, patience: float | None = None) -> None:
        """Have a step wait for what stands in its way: raises Unsettled until it has waited enough.

        `again` is after how many seconds to look, longer each time. Nothing else goes on in the
        session meanwhile. Without a `permit` nobody would come back to the step, and it does not
        wait at all.
        """
        if self.permit is None:
            return
        waited = self.waited(step)
        if waited is None:
            await self.commit(looked={step: self.now})
        since, most = waited or 0.0, PATIENCE if patience is None else patience
        if since < most:
            raise self.unsettled(min(max(since, again), most - since))

    async def take(self) -> bool:
        """Take the oldest inbox entry into the story; False when there is none."""
        if self._head is None:
            return False
        version, now = self.version + 1, self.now / 1000
        new = list(heard(self._head, self.story, version=version, now=now))
        for event in new:
            self.story.add(event)
        if new:
            await self.work_for(new[-1].invocation_id)
        self.entry, self._popping, self._heard = self._head.id, True, new
        for event in new:
            self._remember(event)
        return True

    def put_aside(self) -> None:
        """Take the oldest inbox entry but not its words, which nobody can read or store."""
        if self._head is not None:
            self.entry, self._popping, self._heard = self._head.id, True, []

    async def work_for(self, invocation: str) -> None:
        """Load the `user:` state of the person an invocation works for, and of nobody else."""
        person = self.user(invocation)
        if person == self._person:
            return
        if self._heard:
            await self.commit()
        view = await self.slot.read(self.key, parts=("state",), user=person)
        found = view.state if view else {}
        kept = {k: v for k, v in self.state.items() if not k.startswith("user:")}
        self.state = kept | {k: v for k, v in found.items() if k.startswith("user:")}
        self._person = person

    def view(self, invocation: str, branch: str | None = None) -> dict[str, Any]:
        """The live state an invocation sees, `temp:` included; a nested agent has its own."""
        return {**self.state, **self.temp.get(_scope(invocation, branch), {})}

    def hear(self, events: Sequence[Event]) -> None:
        """Take events into the story that the next commit stores along with what they lead to."""
        for event in events:
            self._remember(event)
            self.story.add(event)
        self._heard += events

    async def commit(
        self,
        events: Sequence[Event] = (),
        *,
        results: Mapping[str, JsonValue] | None = None,
        looked: Mapping[str, int | None] = _NO_LOOKS,
        over: Callable[[], bool] = lambda: False,
    ) -> list[Event]:
        """Store what was heard and these events in one step; give back what a client may see.

        `looked` is when steps were looked for, None for those that may begin again.
        When it is `over` with them, and nobody waits, the session is given back in the same step.
        """
        async with self._lock:
            self.hear(events)
            new = [without_temp(event) for event in self._heard]
            release = not self.paid and over()
            commit = self._composed(new, results or {}, looked=looked, release=release)
            done = await self.slot.commit(self.key, commit)
            self.released = done.released
            for cid in commit.ended:
                self.results.pop(cid, None)
                self.started.discard(cid)
            self.version, self._head = done.version, done.head
            posts = {post.id: post for post in commit.companions.posts}
            self.owed.update((name, posts[name]) for name in done.owed)
            self._heard, self._popping = [], False
            if new or commit.pop:
                self.attempt = 1
            return [event for event in new if shown(event)]

    async def release(self, *, index: Sequence[Command] = ()) -> Sequence[Any]:
        """Give the session back, once; the answers to the `index` commands that went along."""
        if self.released:
            return ()
        done = await self.slot.release(
            self.key, self.fence, paid=self.paid, put_off=self.is_put_off, index=index
        )
        self.released = True
        self.paid.clear()
        return done.told

    def _composed(
        self,
        new: Sequence[Event],
        results: Mapping[str, JsonValue],
        *,
        looked: Mapping[str, int | None],
        release: bool,
    ) -> Commit:
        self._commits += 1
        companions = NOTHING
        if new:
            companions = self._companion(self.key, self.story, new=new, now=self.now)
        self.notes.update(companions.notes)
        opened, closed = self._open_calls()
        state: Json = {}
        for event in new:
            state |= event.actions.state_delta
        user = self.user(new[-1].invocation_id) if new else None
        ended = [q.call_id for event in new for q in event.questions.values() if q.ended]
        return Commit(
            id=f"{self.fence}-{self._commits}",
            fence=self.fence,
            version=self.version,
            events=new,
            state={k: v for k, v in state.items() if not k.startswith(("app:", "user:"))},
            app_state={k: v for k, v in state.items() if k.startswith("app:")},
            user_state={k: v for k, v in state.items() if k.startswith("user:")},
            user=user,
            pop=self.entry if self._popping else None,
            opened=opened,
            closed=closed,
            ended=ended,
            results=results,
            invocations=self._invocations(new) | self._looks(looked, over={*closed, *ended}),
            companions=companions,
            release=release,
        )

    def user(self, invocation: str) -> str:
        """The person an invocation works for; the session's user when nobody is named."""
        return self.story.requesters.get(invocation, self.key.user)

    def _remember(self, event: Event) -> None:
        for key, value in event.actions.state_delta.items():
            if key.startswith("temp:"):
                scope = _scope(event.invocation_id, event.branch)
                self.temp.setdefault(scope, {})[key] = copied(value)
            else:
                self.state[key] = copied(value)

    def _open_calls(self) -> tuple[dict[str, OpenCall], list[str]]:
        now = {
            call.id: OpenCall(
                name=call.name,
                kind=_kind(call, self.story),
                version=call.version,
                request=call.request,
                note=self.notes.get(call.id, {}),
            )
            for call in self.story.open.values()
        }
        opened = {cid: call for cid, call in now.items() if self._open.get(cid) != call}
        closed = [cid for cid in self._open if cid not in now]
        self._open = now
        return opened, closed

    def _invocations(self, new: Sequence[Event]) -> dict[str, Json | None]:
        if not (self.temp and new):
            return {}
        scopes = {_scope(event.invocation_id, event.branch) for event in new}
        over = [name for name in self.temp if not self._goes_on(name.partition("/")[0])]
        for name in over:
            del self.temp[name]
        kept: dict[str, Json | None] = {
            name: {"temp": dict(self.temp[name])} for name in scopes & self.temp.keys()
        }
        return kept | dict.fromkeys(over)

    def _looks(
        self, looked: Mapping[str, int | None], *, over: Collection[str]
    ) -> dict[str, Json | None]:
        gone = {step: None for step in self.looked if step.partition(":")[0] in over}
        told = {**looked, **gone}
        kept = {**self.looked, **told}
        self.looked = {step: at for step, at in kept.items() if at is not None}
        return {_LOOK + s: None if at is None else {"at": at} for s, at in told.items()}

    def _goes_on(self, invocation: str) -> bool:
        if any(call.invocation == invocation for call in self.story.open.values()):
            return True
        strands = self.story.branches.items()
        return any(b.invocation == invocation and self.story.wakes(name) for name, b in strands)


def _kind(call: Call, story: Story) -> CallKind:
    match call.status:
        case "asked":
            return "approval"
        case "waiting" | "answered":
            return "news"
        case "entered" if story.waits(call.inner):
            return "nested"
        case _:
            return "tool"


def _scope(invocation: str, branch: str | None) -> str:
    """The name of a `temp:` state: that of an invocation, or of a nested agent in it."""
    return f"{invocation}/{branch}" if branch else invocation


def without_temp(event: Event) -> Event:
    """The event as it is stored: its `temp:` state is not."""
    delta = event.actions.state_delta
    if not any(key.startswith("temp:") for key in delta):
        return event
    kept = {key: value for key, value in delta.items() if not key.startswith("temp:")}
    return event.model_copy(
        update={"actions": event.actions.model_copy(update={"state_delta": kept})}
    )


def shown(event: Event) -> bool:
    """Whether a client sees an event: not its own words; of a nested agent what it can answer."""
    if event.author == USER:
        return False
    if event.branch is not None:
        return bool(event.long_running_tool_ids)
    return bool(event.content or event.error_code or event.actions.state_delta)


def _looked(invocations: Mapping[str, Json]) -> dict[str, int]:
    looks = {name: kept.get("at") for name, kept in invocations.items() if name.startswith(_LOOK)}
    return {name.removeprefix(_LOOK): at for name, at in looks.items() if isinstance(at, int)}


def _dict(value: JsonValue) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}
