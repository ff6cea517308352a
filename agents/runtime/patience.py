"""How often a turn asks its model again before it is put off: tenacity's loop over a Model."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from agents.runtime.errors import ModelUnavailable
from agents.runtime.foreign import contained
from agents.runtime.model import LlmRequest, LlmResponse, Model


@dataclass(slots=True)
class Patience:
    """What is left of a turn's patience: `retries` in all, and `seconds` for each question.

    The first pause is up to `pause` seconds long, each next one up to twice that; a provider that
    names a longer one is waited for so long. A question that would take more than its seconds is
    put off instead, so that whoever works on the turn is free meanwhile.
    """

    retries: int = 4
    seconds: float = 10.0
    pause: float = 1.0

    async def asked(
        self, model: Model, request: LlmRequest, *, stream: bool
    ) -> AsyncIterator[LlmResponse]:
        """What the model answers, once it does; pieces of text come again after a fault.

        Raises ModelUnavailable when patience is at its end.
        """
        begun, faults = time.monotonic(), list[ModelUnavailable]()
        try:
            async for response in _answers(model, request, stream=stream):
                yield response
        except ModelUnavailable as error:
            faults.append(error)
        else:
            return
        trying = AsyncRetrying(
            retry=retry_if_exception_type(ModelUnavailable),
            wait=self._wait,
            stop=partial(self._is_over, begun),
            reraise=True,
        )
        async for attempt in trying:
            with attempt:
                if faults:
                    raise faults.pop()
                async for response in _answers(model, request, stream=stream):
                    yield response

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next try: as long as was asked for, plus a random part."""
        jittered = wait_random_exponential(multiplier=self.pause, max=self.seconds)(state)
        error = state.outcome.exception() if state.outcome else None
        named = error.retry_after if isinstance(error, ModelUnavailable) else None
        return jittered if named is None else named + min(jittered, self.pause)

    def _is_over(self, begun: float, state: RetryCallState) -> bool:
        lost = time.monotonic() - begun + state.upcoming_sleep
        if self.retries < 1 or lost > self.seconds:
            return True
        self.retries -= 1
        return False


async def _answers(
    model: Model, request: LlmRequest, *, stream: bool
) -> AsyncIterator[LlmResponse]:
    """What a model answers, or an Exception whatever happens in it."""
    with contained():
        answers = aiter(model.generate_content_async(request, stream=stream))
    while True:
        with contained():
            try:
                response = await anext(answers)
            except StopAsyncIteration:
                return
        yield response
