"""The border to a language model: one async generator."""

import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from google.genai import types

PROMPT_BLOCKED = "PROMPT_BLOCKED"
"""The error code of a turn that a provider refuses to read: later turns are read without it."""


_PLAIN = types.GenerateContentConfig()


class LlmRequest:
    """What a model is asked.

    `contents` is the conversation, oldest first, roles `user` and `model`; `tools` are
    declarations only: a model client never runs a function. `config` has the system instruction,
    and how the model is to answer; its tools are not looked at.
    """

    def __init__(
        self,
        *,
        model: str = "",
        contents: Sequence[types.Content] = (),
        system_instruction: str = "",
        tools: Sequence[types.FunctionDeclaration] = (),
        response_schema: Mapping[str, Any] | None = None,
        config: types.GenerateContentConfig | None = None,
    ) -> None:
        """Ask for this; a `system_instruction` goes into a copy of `config`."""
        self.model = model
        self.contents = list(contents)
        self.tools = list(tools)
        self.response_schema = response_schema
        self._given = config or _PLAIN
        self._told = system_instruction
        self._config: types.GenerateContentConfig | None = None

    @property
    def config(self) -> types.GenerateContentConfig:
        """The instruction, and how the model is to answer: a copy, made when somebody looks."""
        if self._config is None:
            told = {"system_instruction": self._told} if self._told else {}
            self._config = self._given.model_copy(update=told)
        return self._config

    @config.setter
    def config(self, config: types.GenerateContentConfig) -> None:
        """Take another one, its instruction included."""
        self._config = config

    @property
    def system_instruction(self) -> str:
        """The text of the system instruction, whatever form the config has it in."""
        if self._config is None and self._told:
            return self._told
        return _text(cast("Any", self.config).system_instruction)

    def copied(self) -> "LlmRequest":
        """The same request, of which everything may be changed."""
        return copy.deepcopy(self)


def _text(said: object) -> str:
    match said:
        case str():
            return said
        case types.Part():
            return said.text or ""
        case types.Content():
            return "\n".join(filter(None, map(_text, said.parts or ())))
        case list() | tuple():
            return "\n".join(filter(None, map(_text, cast("Sequence[object]", said))))
        case _:
            return ""


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


@runtime_checkable
class Model(Protocol):
    """A language model.

    Raises ModelUnavailable when trying again may help, ModelError when it does not; RequestRefused
    is one that is about this request alone: later ones tell in words what it had.
    """

    def generate_content_async(
        self, request: LlmRequest, *, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer once; with `stream` partial responses come first, the whole one last."""
        ...
