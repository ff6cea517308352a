"""The session cases: what the session service answers, operation by operation."""

import copy
from typing import Any

from google.genai import types

from agents import Event, InMemorySessionService
from agents.runtime.errors import AgentsError
from agents.runtime.events import EventActions
from agents.runtime.sessions import GetSessionConfig

APP, USER = "app", "u1"


async def sessions(case: dict[str, Any]) -> dict[str, Any]:
    """Do every operation of a case."""
    desk = Desk()
    return {"turns": [], "results": [await desk.do(op) for op in case["ops"]]}


class Desk:
    """A session service, and the sessions a case holds by name."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.service = InMemorySessionService()
        self.held: dict[str, Any] = {}
        self.generated: dict[str, str] = {}
        self.last: Event | None = None

    async def do(self, op: dict[str, Any]) -> dict[str, Any]:
        """One operation and its result, or the name of what was raised."""
        try:
            result = await getattr(self, op["op"])(op, dict(op.get("args", {})))
        except AgentsError as error:
            return {"op": op["op"], "raised": {"type": type(error).__name__}}
        return {"op": op["op"], "result": result}

    def _told(self, session: Any) -> dict[str, Any]:
        name = session.id
        if len(name) == 32:
            name = self.generated.setdefault(name, f"gen-{len(self.generated) + 1}")
        return {
            "id": name,
            "app_name": session.app_name,
            "user_id": session.user_id,
            "state": copy.deepcopy(session.state),
            "events": [_line(event) for event in session.events],
        }

    async def create(self, op: dict[str, Any], args: dict[str, Any]) -> Any:
        """create_session."""
        session = await self.service.create_session(app_name=APP, **{"user_id": USER, **args})
        self.held[op.get("as", session.id)] = session
        return self._told(session)

    async def get(self, op: dict[str, Any], args: dict[str, Any]) -> Any:
        """get_session."""
        if "config" in args:
            args["config"] = GetSessionConfig(**args["config"])
        session = await self.service.get_session(app_name=APP, **{"user_id": USER, **args})
        if session and "as" in op:
            self.held[op["as"]] = session
        return self._told(session) if session else None

    async def mutate_returned_state(self, op: dict[str, Any], args: dict[str, Any]) -> Any:
        """Change a returned copy."""
        self.held[op["session"]].state.update(args)

    async def append(self, op: dict[str, Any], args: dict[str, Any]) -> Any:
        """append_event."""
        session = self.held[op["session"]]
        event = self.last if op.get("repeat_last") else _event(args)
        stored = await self.service.append_event(session, event)
        self.last = stored if not args.get("partial") else self.last
        return {
            "returned_state_delta": stored.actions.state_delta,
            "passed_object_state": copy.deepcopy(session.state),
            "passed_object_events": len(session.events),
        }

    async def user_state(self, _op: dict[str, Any], args: dict[str, Any]) -> Any:
        """get_user_state."""
        return await self.service.get_user_state(app_name=APP, **{"user_id": USER, **args})

    async def list(self, _op: dict[str, Any], args: dict[str, Any]) -> Any:
        """list_sessions."""
        found = await self.service.list_sessions(app_name=APP, **args)
        return [self._told(s) for s in found.sessions]

    async def delete(self, _op: dict[str, Any], args: dict[str, Any]) -> Any:
        """delete_session."""
        await self.service.delete_session(app_name=APP, **{"user_id": USER, **args})


def _event(args: dict[str, Any]) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=args["text"])])
    return Event(
        author="root",
        invocation_id="i",
        content=content,
        partial=args.get("partial"),
        actions=EventActions(state_delta=args.get("state_delta", {})),
    )


def _line(event: Event) -> str:
    keys = ",".join(sorted(event.actions.state_delta))
    return f"{event.author}: text" + (f"; state {keys}" if keys else "")
