"""Doubles of the runtime's borders, for tests and for programs in a README."""

from collections.abc import AsyncIterator, Sequence

from google.genai import types

from agents.runtime.model import LlmRequest, LlmResponse

Reply = str | types.Part | Sequence[types.Part] | LlmResponse | Exception


def call(name: str, /, **args: object) -> types.Part:
    """A function call, as a part of a scripted reply."""
    return types.Part(function_call=types.FunctionCall(name=name, args=dict(args)))


class ScriptedModel:
    """A Model that answers from a list: texts, calls, whole responses, or exceptions to raise.

    `requests` are the requests it was sent. Raises AssertionError when the script is over.
    """

    def __init__(self, replies: Sequence[Reply]) -> None:
        """Answer with `replies`, in order."""
        self._replies = list(replies)
        self.requests: list[LlmRequest] = []

    async def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """The next reply of the script; with `stream` its text comes word by word first."""
        self.requests.append(request)
        if not self._replies:
            raise AssertionError(f"the script is over; the model was asked {request.contents[-1:]}")
        reply = _response(self._replies.pop(0))
        if stream and reply.content:
            for part in reply.content.parts or []:
                for word in (part.text or "").split():
                    piece = types.Content(role="model", parts=[types.Part(text=f"{word} ")])
                    yield LlmResponse(content=piece, partial=True)
        yield reply


def _response(reply: Reply) -> LlmResponse:
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply, LlmResponse):
        return reply
    if isinstance(reply, str):
        reply = types.Part(text=reply)
    parts = [reply] if isinstance(reply, types.Part) else list(reply)
    return LlmResponse(content=types.Content(role="model", parts=parts), finish_reason="STOP")
