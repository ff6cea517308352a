"""What a session is made of: events, each at its version, each what one step brought about."""

import time
from collections.abc import Iterator, Mapping

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.runtime.confirmation import Question, ToolConfirmation
from agents.runtime.jsonable import to_json

GIVEN_UP = "GIVEN_UP"
"""The error code of the event that ends a turn which cannot be got done."""


class Compaction(BaseModel):
    """What models read in place of the events before version `until`."""

    until: int
    summary: str


class EventActions(BaseModel):
    """What an event changes besides what it says.

    `requested_tool_confirmations` maps a call's id to what a person is asked about it. Setting a
    field to what it is not raises pydantic's ValidationError.
    """

    model_config = ConfigDict(validate_assignment=True)

    state_delta: dict[str, JsonValue] = Field(default_factory=dict)
    skip_summarization: bool | None = None
    transfer_to_agent: str | None = None
    escalate: bool | None = None
    requested_tool_confirmations: dict[str, ToolConfirmation] = Field(default_factory=dict)
    compaction: Compaction | None = None

    def told(self, state: Mapping[str, object]) -> "EventActions":
        """These actions with what was written to the state besides, all of it JSON."""
        if not (state or self.state_delta or self.transfer_to_agent):
            return self
        target = to_json(self.transfer_to_agent)
        delta = to_json({**self.state_delta, **state})
        return self.model_copy(update={"state_delta": delta, "transfer_to_agent": target})


class Event(BaseModel):
    """One thing that happened in a session.

    `version` is its place in the session, from 1; 0 while it is not stored. `author` is "user" or
    an agent's name; `user_id` is the person behind a user's event, `entry` the inbox entry it was
    made of. `timestamp` is in seconds since the epoch. Ids of calls are ours, `<version>-<part>`;
    `model_ids` maps them to the ids the model used, where it used any. `questions` maps the id of a
    request for confirmation to its question: only the runtime fills it. `pending` are calls whose
    body ran and whose result comes later. `usage` are the tokens of the model: `in`, `out`,
    `cached`, `thoughts`.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 0
    invocation_id: str = ""
    author: str = ""
    user_id: str | None = None
    entry: str = ""
    content: types.Content | None = None
    actions: EventActions = Field(default_factory=EventActions)
    long_running_tool_ids: set[str] | None = None
    branch: str | None = None
    partial: bool | None = None
    error_code: str | None = None
    error_message: str | None = None
    timestamp: float = Field(default_factory=time.time)
    usage: dict[str, int] = Field(default_factory=dict)
    model_ids: dict[str, str] = Field(default_factory=dict)
    questions: dict[str, Question] = Field(default_factory=dict)
    pending: list[str] = Field(default_factory=list)

    @property
    def id(self) -> str:
        """The event's id, unique in its session; empty while it is not stored."""
        return str(self.version) if self.version else ""

    @property
    def tokens(self) -> int:
        """What limits count: tokens in, out and thought; cached ones are among those in."""
        return sum(self.usage.get(name, 0) for name in ("in", "out", "thoughts"))

    @property
    def given_up(self) -> bool:
        """Whether this ends a turn that failed again and again."""
        return self.error_code == GIVEN_UP

    @property
    def parts(self) -> list[types.Part]:
        """The parts of the content; empty without content."""
        return (self.content.parts or []) if self.content else []

    @property
    def said(self) -> list[types.Part]:
        """The parts that are neither calls nor responses: words and media."""
        return [p for p in self.parts if p.function_call is None and p.function_response is None]

    @property
    def size(self) -> int:
        """About how many bytes the event says: words, media, what calls carry."""
        return sum(map(_size, self.parts))

    def get_function_calls(self) -> list[types.FunctionCall]:
        """The function calls in the content, in order."""
        return [part.function_call for part in self.parts if part.function_call]

    def get_function_responses(self) -> list[types.FunctionResponse]:
        """The function responses in the content, in order."""
        return [part.function_response for part in self.parts if part.function_response]

    def texts(self) -> Iterator[str]:
        """The texts in the content that are meant for a person: thoughts are left out."""
        return (part.text for part in self.parts if part.text and not part.thought)

    def is_final_response(self) -> bool:
        """Whether this is the last a client hears until it speaks again or a call is answered."""
        if self.actions.skip_summarization or self.long_running_tool_ids:
            return True
        if self.get_function_calls():
            return False
        if self.error_code:
            return True
        return not self.get_function_responses() and not self.partial


def _size(part: types.Part) -> int:
    if part.text is not None:
        return len(part.text)
    if part.inline_data is not None:
        return len(part.inline_data.data or b"")
    call, response = part.function_call, part.function_response
    return len(str(call.args if call else response.response if response else ""))
