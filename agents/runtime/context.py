"""What a tool's body is handed besides its arguments: the context of this one call."""

import copy
import inspect
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, JsonValue

from agents.runtime.confirmation import ToolConfirmation
from agents.runtime.events import EventActions
from agents.runtime.jsonable import to_json


class State(MutableMapping[str, Any]):
    """A session's state as one call sees it: a view that remembers what was changed.

    Prefixes: `app:` belongs to everybody, `user:` to the person, `temp:` to this invocation, no
    prefix to the session. Values are JSON. Writing is seen at once by calls that run beside this
    one, and is stored with the call's response.
    """

    def __init__(self, live: dict[str, Any] | None = None) -> None:
        """Look at `live`, which may be shared by the calls of one batch."""
        self._live: dict[str, Any] = {} if live is None else live
        self._written: dict[str, Any] = {}
        self._seen: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        """The value under a key; a list or dict may be changed in place."""
        value = self._live[key]
        if type(value) in (dict, list):
            self._seen.setdefault(key, copy.deepcopy(value))
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a key; stored with the call's response."""
        self._live[key] = self._written[key] = value

    def __delitem__(self, key: str) -> None:
        """Forget a key: it reads as None from now on."""
        self[key] = None

    def __iter__(self) -> Iterator[str]:
        """The keys there are."""
        return iter(self._live)

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._live)

    def to_dict(self) -> dict[str, Any]:
        """A copy of what is there."""
        return copy.deepcopy(self._live)

    def delta(self) -> dict[str, Any]:
        """What was written or changed in place since this view was made."""
        changed = {k: self._live[k] for k, old in self._seen.items() if self._live[k] != old}
        return {**changed, **self._written}


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
