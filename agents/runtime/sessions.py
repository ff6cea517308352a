"""Sessions as Google ADK's programs know them: a door onto the slot."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue

from agents.runtime.copies import own
from agents.runtime.errors import (
    AlreadyExistsError,
    AnswerError,
    SessionNotFoundError,
    StaleSessionError,
)
from agents.runtime.events import Event
from agents.runtime.held import without_temp
from agents.runtime.jsonable import to_json
from agents.runtime.lease import hold
from agents.runtime.messages import accepted
from agents.runtime.parts import content, storable
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Begun, SessionKey, Slot, View
from agents.runtime.story import USER, Story


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSessionConfig:
    """How much of a session is read: the newest events, or those from a time on (seconds)."""

    num_recent_events: int | None = None
    after_timestamp: float | None = None


ALL = GetSessionConfig()


@dataclass(slots=True, kw_only=True)
class Session:
    """A copy of a session: its events, oldest first, and its state, prefixes included.

    `version` counts the events it had when it was read.
    """

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    events: list[Event] = field(default_factory=list[Event])
    last_update_time: float = 0.0
    version: int = 0

    def usage(self, invocation_id: str | None = None) -> dict[str, int]:
        """The tokens of its models, or those of one turn: `in`, `out`, `cached`, `thoughts`."""
        total: dict[str, int] = {}
        for event in self.events:
            if invocation_id in (None, event.invocation_id):
                for name, count in event.usage.items():
                    total[name] = total.get(name, 0) + count
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessionsResponse:
    """The sessions there are, without their events."""

    sessions: list[Session]


class SessionService:
    """Sessions in a slot."""

    def __init__(self, slot: Slot, *, tenant: str = "local") -> None:
        """Keep sessions in `slot`."""
        self.slot = slot
        self.tenant = tenant

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, JsonValue] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """A new session; without an id it gets one. Raises AlreadyExistsError."""
        name = (session_id or "").strip() or uuid.uuid4().hex
        key = SessionKey(app_name, user_id, name, self.tenant)
        if not await self.slot.apply(key, state=_state(state), create=True):
            raise AlreadyExistsError(f"there is a session {name!r} of {user_id!r} already")
        view = await self.slot.read(key)
        if view is None:
            raise SessionNotFoundError(f"the session {name!r} is gone")
        return _session(key, view)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """A copy of a session; None when there is none."""
        key = SessionKey(app_name, user_id, session_id, self.tenant)
        view = await self.slot.read(key)
        if view is None:
            return None
        return _session(key, view, config or ALL)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """The sessions of an app (of one user), without events, oldest update first."""
        found: list[Session] = []
        for key in await self.slot.list(app=app_name, user=user_id, tenant=self.tenant):
            view = await self.slot.read(key, parts=("state",))
            if view is not None:
                found.append(_session(key, view))
        return ListSessionsResponse(sessions=found)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session, if there is one; `app:` and `user:` state stays."""
        await self.slot.delete(SessionKey(app_name, user_id, session_id, self.tenant))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Store an event at the end of a session and apply its state; a partial one is not stored.

        Raises SessionNotFoundError, StaleSessionError when the copy is older than the session,
        SessionConflict when somebody holds it, and AnswerError when a person's answer fits no open
        call or the event asks a question: only a Runner does.
        """
        if event.partial:
            return event
        key = SessionKey(session.app_name, session.user_id, session.id, self.tenant)
        if await self.slot.read(key, parts=("state",)) is None:
            raise SessionNotFoundError(f"there is no session {session.id!r}")
        if event.version and any(event.version == known.version for known in session.events):
            return event
        async with hold(self.slot, key, owner=uuid.uuid4().hex, lease=10_000) as held:
            if session.version != held.version:
                raise StaleSessionError(f"session {session.id!r} has moved on; read it again")
            stored = own(_checked(event, held.story)).model_copy(
                update={"version": held.next_version}
            )
            await held.commit([stored])
        kept = own(stored)
        session.state.update(kept.actions.state_delta)
        kept = without_temp(kept)
        session.events.append(kept)
        session.version = kept.version
        return kept

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The user's keys, without their prefix."""
        nobody = SessionKey(app_name, user_id, "", self.tenant)
        begun = await self.slot.begin(nobody, owner=uuid.uuid4().hex, lease=1)
        state = begun.state if isinstance(begun, Begun) else {}
        return {k.removeprefix("user:"): v for k, v in state.items() if k.startswith("user:")}


class InMemorySessionService(SessionService):
    """Sessions in this process's memory."""

    def __init__(self, *, tenant: str = "local") -> None:
        """Start without sessions."""
        super().__init__(MemorySlot(), tenant=tenant)


def _state(given: Mapping[str, object] | None) -> dict[str, JsonValue]:
    """A first state as JSON."""
    return cast("dict[str, JsonValue]", to_json(dict(given or {})))


def _checked(event: Event, story: Story) -> Event:
    """The event made fit to be stored, its answers checked as by a Runner. Raises AnswerError."""
    if event.questions:
        raise AnswerError("only a Runner asks for a confirmation")
    event = event.model_copy(update={"actions": event.actions.told({})})
    if event.content is not None:
        said = content(event.content.role or USER, [storable(part) for part in event.parts])
        event = event.model_copy(update={"content": said})
    if event.author != USER or event.content is None or not event.get_function_responses():
        return event
    return event.model_copy(update={"content": accepted(event.content, story)})


def _session(key: SessionKey, view: View, config: GetSessionConfig = ALL) -> Session:
    return Session(
        id=key.id,
        app_name=key.app,
        user_id=key.user,
        state=dict(view.state),
        events=[own(event) for event in _wanted(view.events, config)],
        last_update_time=view.updated,
        version=view.version,
    )


def _wanted(events: Sequence[Event], config: GetSessionConfig) -> Sequence[Event]:
    count, since = config.num_recent_events, config.after_timestamp
    if count is not None:
        events = events[-count:] if count else ()
    return events if since is None else [event for event in events if event.timestamp >= since]
