"""An agent at work in a session: say something, answer, hand in news; see what came of it."""

from collections.abc import Sequence
from typing import Any

from google.genai import types

from agents import (
    Agent,
    Event,
    InMemorySessionService,
    Model,
    RunConfig,
    Runner,
    SessionService,
    ToolConfirmation,
)
from agents.runtime.sessions import Session
from agents.runtime.testing import Reply, ScriptedModel


class Desk:
    """One session of one agent, whose model follows a script."""

    def __init__(
        self,
        agent: Agent,
        replies: Sequence[Reply] | Model = (),
        *,
        service: SessionService | None = None,
        **options: Any,
    ) -> None:
        """Options are the Runner's."""
        self.agent = agent
        self.service = service or InMemorySessionService()
        self.model = replies if hasattr(replies, "requests") else ScriptedModel(replies)
        self.runner = Runner(
            agent=agent, session_service=self.service, models=self.model, **options
        )
        self.where = {"user_id": "ann", "session_id": "s"}
        self.asked: list[str] = []

    async def open(self, **state: Any) -> "Desk":
        """Create the session."""
        await self.service.create_session(app_name=self.agent.name, **self.where, state=state)
        return self

    async def send(self, *parts: types.Part, config: RunConfig | None = None, **more: Any):
        """Put parts to the session; the events that a client sees."""
        message = types.Content(role="user", parts=list(parts)) if parts else None
        run = self.runner.run_async(**self.where, new_message=message, run_config=config, **more)
        events: list[Event] = []
        async for event in run:
            events.append(event)
            self.asked += event.questions
        return events

    async def say(self, text: str = "go", **more: Any) -> list[Event]:
        """Say something."""
        return await self.send(types.Part(text=text), **more)

    async def answer(self, confirmed: bool = True, *, at: int = -1, **more: Any) -> list[Event]:
        """Answer a question, the newest by default."""
        answer = ToolConfirmation(confirmed=confirmed, **more)
        return await self.send(answer.response(self.asked[at]))

    async def news(self, call_id: str, more: bool | None = None, **value: Any) -> list[Event]:
        """Hand in a result of a long-running call."""
        told = types.FunctionResponse(id=call_id, response=value, will_continue=more)
        return await self.send(types.Part(function_response=told))

    async def session(self) -> Session:
        """The session as it is stored."""
        found = await self.service.get_session(app_name=self.agent.name, **self.where)
        assert found is not None
        return found

    def read(self, at: int = -1) -> list[str]:
        """What the model read in a request: each content in a few words."""
        return [told(content) for content in self.model.requests[at].contents]


def told(content: types.Content) -> str:
    """A content in a few words."""
    return f"{content.role}: " + " | ".join(map(part_told, content.parts or []))


def part_told(part: types.Part) -> str:
    """A part in a few words."""
    if part.function_call:
        return f"{part.function_call.name}()"
    if part.function_response:
        return f"{part.function_response.name} -> {part.function_response.response}"
    return part.text or "media"


def results(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The responses in events."""
    return [dict(r.response or {}) for event in events for r in event.get_function_responses()]


def texts(events: Sequence[Event]) -> list[str]:
    """The texts in events."""
    return [text for event in events for text in event.texts()]
