"""How one run behaves, and how much of its limits it has used up."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import islice

from agents.runtime.errors import (
    DailyTokensSpentError,
    LlmCallsLimitExceededError,
    TokensSpentError,
)
from agents.runtime.patience import Patience
from agents.runtime.story import Story

REPEATS = 10
"""How often a model may repeat a call that fails before its turn is ended."""
NAME_LIMIT = 100

Spent = Callable[[str], Awaitable[int]]
"""How many tokens a person has used up today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """How one run behaves; a limit of 0 is none.

    It asks models at most `max_llm_calls` times, and again after a fault at most `max_retries`
    times, each question for `retry_seconds` at most with a first pause up to `retry_pause`.
    `window` is how many tokens a model reads about, `turn_tokens` how many one turn may use up and
    `daily_tokens` after how many a person may begin no more turns that day. With
    `raise_tool_errors` a run ends with what a tool raised, after the model's error response is
    stored; without it the model reads the error and goes on. With `quiet` the results a message
    brings to long-running calls are stored and no model is woken for them.
    """

    max_llm_calls: int = 500
    streaming: bool = False
    raise_tool_errors: bool = False
    quiet: bool = False
    max_retries: int = 4
    retry_seconds: float = 10.0
    retry_pause: float = 1.0
    window: int = 0
    turn_tokens: int = 0
    daily_tokens: int = 0


@dataclass(slots=True)
class Budget:
    """How often a run asked the model, and what went wrong for good.

    `failure` is what a model raised, `raised` what a tool did when a run is to end with that.
    `compacts` until the model could not sum up what was before.
    """

    config: RunConfig = field(default_factory=RunConfig)
    tries: int = 5
    spent: Spent | None = None
    asked: int = 0
    failure: Exception | None = None
    raised: Exception | None = None
    compacts: bool = True
    patience: Patience = field(init=False)

    def __post_init__(self) -> None:
        """Begin with all the patience there is."""
        config = self.config
        self.patience = Patience(config.max_retries, config.retry_seconds, config.retry_pause)

    def renewed(self) -> "Budget":
        """The same for another turn, with nothing used up; what went wrong stays known."""
        return Budget(self.config, self.tries, self.spent, failure=self.failure)

    async def claim(self, story: Story, *, invocation: str, person: str, begins: bool) -> None:
        """Take one question to a model out of the budget; `begins` for the first one of a turn.

        Raises LlmCallsLimitExceededError, TokensSpentError, DailyTokensSpentError.
        """
        config = self.config
        self.asked += 1
        if 0 < config.max_llm_calls < self.asked:
            raise LlmCallsLimitExceededError(
                f"more than {config.max_llm_calls} calls of the model in a run"
            )
        if name := _repeated(story, invocation):
            raise LlmCallsLimitExceededError(f"the same call of {name} failed {REPEATS} times")
        if config.turn_tokens and _tokens(story, invocation) >= config.turn_tokens:
            raise TokensSpentError(f"more than {config.turn_tokens} tokens in a turn")
        if not (begins and config.daily_tokens and self.spent):
            return
        if await self.spent(person) >= config.daily_tokens:
            raise DailyTokensSpentError(f"more than {config.daily_tokens} tokens in a day")


def _repeated(story: Story, invocation: str) -> str:
    """The tool that a model keeps calling in vain, with the same arguments each time."""
    newest = (call for call in reversed(story.calls.values()) if call.invocation == invocation)
    last = list(islice(newest, REPEATS))
    vain = all(
        (call.name, call.args, call.branch) == (last[0].name, last[0].args, last[0].branch)
        and call.responses
        and "error" in (call.responses[-1].response.response or {})
        for call in last
    )
    return last[0].name[:NAME_LIMIT] if vain and len(last) == REPEATS else ""


def _tokens(story: Story, invocation: str) -> int:
    return sum(event.tokens for event in story.events if event.invocation_id == invocation)
