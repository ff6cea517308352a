"""What a tool's body is handed besides its arguments: the context of this one call."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, JsonValue

from agents.runtime.confirmation import ToolConfirmation
from agents.runtime.events import EventActions
from agents.runtime.jsonable import to_json
from agents.runtime.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadonlyContext:
    """What an instruction may use: the state, which it cannot change, and whom it is for."""

    state: Mapping[str, Any]
    agent_name: str = ""
    invocation_id: str = ""
    user_id: str = ""


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """The context of one call.

    `function_call_id` is ours and unique in the session. `idempotency_key` is the same each time
    this call is tried, on any process: hand it to whatever the tool changes outside.
    `tool_confirmation` is None until a person answered a request made by this call. `precondition`
    is what the tool's precondition found when people were asked, and what they agreed to. `kept`
    are the values of `once`.
    """

    function_call_id: str = ""
    invocation_id: str = ""
    agent_name: str = ""
    app_name: str = ""
    user_id: str = ""
    session_id: str = ""
    idempotency_key: str = ""
    state: State = field(default_factory=State)
    actions: EventActions = field(default_factory=EventActions)
    tool_confirmation: ToolConfirmation | None = None
    precondition: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    kept: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    request: "ConfirmationRequest | None" = None

    def request_confirmation(
        self,
        *,
        hint: str = "",
        payload: dict[str, JsonValue] | BaseModel | type[BaseModel] | None = None,
    ) -> None:
        """Ask a person about this call; the run pauses when the body returns, whatever it returns.

        What a body does before it asks it does again once people agreed, and twice where the tool
        is of another build than the one that asked: it is let ask once more then. See `once`.

        `payload` is what the person fills in: a dict of names and initial values (0 and "" mean
        empty and required), or a pydantic model (its fields, types and limits; an instance also
        gives the initial values).
        """
        self.request = ConfirmationRequest(hint=hint, payload=payload)

    async def once(self, key: str, fn: Callable[[], Any]) -> JsonValue:
        """What `fn`, sync or async, returned when it was first called for this key, as JSON.

        A body that asks runs again once people agreed; what it found out before is stored with the
        question, and `fn` is not called again. Raises what `fn` raises, and ValueError for what has
        no JSON form.
        """
        if key not in self.kept:
            value = fn()
            self.kept[key] = to_json(
                await value if inspect.isawaitable(value) else value, strict=True
            )
        return copy.deepcopy(self.kept[key])


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationRequest:
    """What a body asked for with `request_confirmation`."""

    hint: str = ""
    payload: dict[str, JsonValue] | BaseModel | type[BaseModel] | None = None
