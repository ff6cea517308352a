"""The bare loop: what a turn needs at least when it speaks google.genai's types."""

import time
import uuid
from collections.abc import Callable
from typing import Any

from google.genai import types
from pydantic import BaseModel, Field, create_model

Replies = Callable[[list[types.Content]], types.Content]


class BareActions(BaseModel):
    """What an event changes."""

    state_delta: dict[str, Any] = Field(default_factory=dict)
    skip_summarization: bool | None = None
    transfer_to_agent: str | None = None
    requested_tool_confirmations: dict[str, Any] = Field(default_factory=dict)


class BareEvent(BaseModel):
    """An event in the shape that clients of Google ADK know."""

    id: str = Field(default_factory=lambda: uuid.uuid4().hex)
    author: str
    invocation_id: str
    content: types.Content
    actions: BareActions = Field(default_factory=BareActions)
    long_running_tool_ids: set[str] | None = None
    branch: str | None = None
    partial: bool | None = None
    timestamp: float = Field(default_factory=time.time)


class BareLoop:
    """One tool, one agent, sessions as lists of events; nothing is checked but the arguments."""

    def __init__(self, tool: Callable[..., dict[str, Any]], model: Any, **fields: Any) -> None:
        """Take a tool with these arguments, and a model."""
        self.tool = tool
        self.model = model
        self.arguments = create_model("Arguments", **fields)
        self.declaration = types.FunctionDeclaration(
            name=tool.__name__,
            description=tool.__doc__,
            parameters_json_schema=self.arguments.model_json_schema(),
        )
        self.sessions: dict[str, list[BareEvent]] = {}

    async def run(self, session: str, message: types.Content) -> list[BareEvent]:
        """One turn; the events it made."""
        events = self.sessions.setdefault(session, [])
        start, invocation = len(events), uuid.uuid4().hex
        events.append(BareEvent(author="user", invocation_id=invocation, content=message))
        while True:
            contents = [_wire(event.content) for event in events]
            reply = await self.model(contents, self.declaration)
            events.append(BareEvent(author="bare", invocation_id=invocation, content=reply))
            calls = [part.function_call for part in reply.parts if part.function_call]
            if not calls:
                return events[start + 1 :]
            parts = [self._called(call) for call in calls]
            content = types.Content(role="user", parts=parts)
            events.append(BareEvent(author="bare", invocation_id=invocation, content=content))

    def _called(self, call: types.FunctionCall) -> types.Part:
        call.id = call.id or uuid.uuid4().hex
        arguments = self.arguments.model_validate(call.args).model_dump()
        answer = types.FunctionResponse(id=call.id, name=call.name, response=self.tool(**arguments))
        return types.Part(function_response=answer)


def _wire(content: types.Content) -> types.Content:
    """A content without ids that the model did not give."""
    parts: list[types.Part] = []
    for part in content.parts or []:
        if part.function_call:
            call = part.function_call.model_copy(update={"id": None})
            parts.append(types.Part(function_call=call))
        elif part.function_response:
            response = part.function_response.model_copy(update={"id": None})
            parts.append(types.Part(function_response=response))
        else:
            parts.append(part)
    return types.Content(role=content.role, parts=parts)
