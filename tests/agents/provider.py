"""The rules of a strict provider, as a model that checks each request before it answers."""

from collections.abc import AsyncIterator, Sequence

from google.genai import types

from agents import LlmRequest, LlmResponse
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.testing import Reply, ScriptedModel


def faults(contents: Sequence[types.Content], *, ids: set[str], signed: set[bytes]) -> list[str]:
    """What a strict provider would refuse; `ids` and `signed` are what the model itself gave.

    A conversation begins with the user and ends with the user. A content that calls is followed by
    a content that begins with as many responses, in the calls' order and with their ids; responses
    stand nowhere else. No part is empty, none is about confirmations, none was re-signed.
    """
    found: list[str] = []
    if not contents or contents[0].role != "user" or contents[-1].role != "user":
        found.append("it does not begin and end with the user")
    awaited: list[types.FunctionCall] = []
    for at, content in enumerate(contents):
        parts = content.parts or []
        found += [f"{at}: {fault}" for fault in _of_parts(parts, ids=ids, signed=signed)]
        responses = [part.function_response for part in parts if part.function_response]
        calls = [part.function_call for part in parts if part.function_call]
        if content.role not in ("user", "model") or (calls and content.role == "user"):
            found.append(f"{at}: role {content.role}")
        if [(c.name, c.id) for c in awaited] != [(r.name, r.id) for r in responses]:
            found.append(f"{at}: {len(awaited)} calls, {len(responses)} responses")
        if responses and any(not part.function_response for part in parts[: len(responses)]):
            found.append(f"{at}: the responses do not come first")
        awaited = calls
    return found + (["the last call has no response"] if awaited else [])


def _of_parts(parts: Sequence[types.Part], *, ids: set[str], signed: set[bytes]) -> list[str]:
    found = [] if parts else ["no parts"]
    for part in parts:
        told = part.function_call or part.function_response
        if not part.model_dump(exclude_none=True):
            found.append("an empty part")
        if told and told.name == REQUEST_CONFIRMATION:
            found.append("a part of a confirmation")
        if told and told.id and told.id not in ids:
            found.append(f"an id the model never gave: {told.id}")
        if part.thought_signature and part.thought_signature not in signed:
            found.append("a signature the model never gave")
    return found


class StrictModel(ScriptedModel):
    """A scripted model that refuses what a strict provider refuses; at its end it says so."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        """Answer with `replies`, in order, then with "The end."."""
        super().__init__(replies)
        self.ids: set[str] = set()
        self.signed: set[bytes] = set()

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """The next reply. Raises AssertionError for a malformed request."""
        found = faults(request.contents, ids=self.ids, signed=self.signed)
        assert not found, found
        if not self._replies:
            self._replies.append("The end.")
        async for response in super().generate_content_async(request, stream=stream):
            for part in (response.content.parts or []) if response.content else []:
                if part.function_call and part.function_call.id:
                    self.ids.add(part.function_call.id)
                if part.thought_signature:
                    self.signed.add(part.thought_signature)
            yield response
