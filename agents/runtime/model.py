"""The border to a language model: one async generator."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from google.genai import types

PROMPT_BLOCKED = "PROMPT_BLOCKED"
"""The error code of a turn that a provider refuses to read: later turns are read without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRequest:
    """What a model is asked.

    `contents` is the conversation, oldest first, roles `user` and `model`; `tools` are
    declarations only: a model client never runs a function.
    """

    model: str = ""
    contents: Sequence[types.Content] = ()
    system_instruction: str = ""
    tools: Sequence[types.FunctionDeclaration] = ()
    response_schema: Mapping[str, Any] | None = None
    config: types.GenerateContentConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmResponse:
    """What a model answered.

    With `partial` the content is a piece of text on its way: shown, never stored. The last
    response of a generator is whole. `error_code` is the provider's word (`MALFORMED_RESPONSE`,
    `SAFETY`, …) for an answer that cannot be used.
    """

    content: types.Content | None = None
    partial: bool = False
    finish_reason: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict[str, int])


class Model(Protocol):
    """A language model.

    Raises ModelUnavailable when trying again may help, ModelError when it does not.
    """

    def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer once; with `stream` partial responses come first, the whole one last."""
        ...
