"""How often a turn asks again, how long it waits, and what it may use up."""

from collections.abc import Sequence
from contextlib import aclosing

import pytest

from agents import Event, LlmRequest, ModelError, ModelUnavailable, RunConfig, Story
from agents.runtime.budget import Budget
from agents.runtime.errors import (
    DailyTokensSpentError,
    LlmCallsLimitExceededError,
    TokensSpentError,
)
from agents.runtime.patience import Patience
from agents.runtime.testing import Reply, ScriptedModel

DOWN = ModelUnavailable("down")


def later(seconds: float) -> ModelUnavailable:
    """A fault that says when to ask again."""
    return ModelUnavailable("busy", retry_after=seconds)


async def asked(patience: Patience, model: ScriptedModel) -> list[str | None]:
    """The whole texts that come of one question."""
    answer = patience.asked(model, LlmRequest(), stream=False)
    return [r.content.parts[0].text async for r in answer if r.content]


@pytest.mark.parametrize(
    ("replies", "patience", "left"),
    [
        pytest.param(["Hi."], Patience(2), 2, id="at once"),
        pytest.param([DOWN, "Hi."], Patience(2, pause=0.001), 1, id="once again"),
        pytest.param([DOWN, DOWN, "Hi."], Patience(2, pause=0.001), 0, id="the last try"),
        pytest.param([later(0.01), "Hi."], Patience(2, pause=0.001), 1, id="when it was told to"),
        pytest.param([later(0), "Hi."], Patience(2, pause=0.001), 1, id="told to come at once"),
    ],
)
async def test_it_asks_until_it_is_answered(
    replies: Sequence[Reply], patience: Patience, left: int
):
    """What passes is waited for, and each try is one of the turn's."""
    model = ScriptedModel(replies)
    assert await asked(patience, model) == ["Hi."]
    assert (patience.retries, len(model.requests)) == (left, len(replies))


@pytest.mark.parametrize(
    ("replies", "patience", "tries"),
    [
        pytest.param([DOWN], Patience(0), 1, id="no second try"),
        pytest.param([DOWN] * 3, Patience(2, pause=0.001), 3, id="two more"),
        pytest.param([later(37)], Patience(2), 1, id="too long a wait"),
        pytest.param([later(0.2)], Patience(2, seconds=0.1), 1, id="longer than it has"),
        pytest.param([later(0.06)] * 2, Patience(9, seconds=0.1, pause=0.001), 2, id="in all"),
        pytest.param([ModelError("no")], Patience(2), 1, id="what trying does not help"),
        pytest.param([ValueError("no")], Patience(2), 1, id="what nobody expected"),
    ],
)
async def test_it_gives_up(replies: Sequence[Reply], patience: Patience, tries: int):
    """What does not pass soon, or not at all, is raised as it came."""
    model = ScriptedModel(replies)
    with pytest.raises(type(replies[0]), match=str(replies[0])):
        await asked(patience, model)
    assert len(model.requests) == tries


async def test_all_questions_of_a_turn_share_the_tries():
    """What one used up the next one lacks."""
    patience = Patience(1, pause=0.001)
    assert await asked(patience, ScriptedModel([DOWN, "Hi."])) == ["Hi."]
    with pytest.raises(ModelUnavailable):
        await asked(patience, ScriptedModel([DOWN, "Hi."]))


async def test_it_can_be_left_in_the_middle():
    """A reader that stops leaves nothing behind, on the first try or a later one."""
    for replies in (["One two."], [DOWN, "One two."]):
        model = ScriptedModel(replies)
        answer = Patience(pause=0.001).asked(model, LlmRequest(), stream=True)
        async with aclosing(answer):
            async for response in answer:
                assert response.partial
                break
        assert len(model.requests) == len(replies)


STORY = Story([Event(version=1, invocation_id="a", author="user", usage={"in": 60, "out": 40})])


async def claimed(config: RunConfig, *, begins: bool = True, spent: int | None = 0) -> None:
    """Claim two questions of a turn that has used up 100 tokens."""

    async def account(_person: str) -> int:
        return spent or 0

    budget = Budget(config, spent=account if spent is not None else None)
    for _ in range(2):
        await budget.claim(STORY, invocation="a", person="ana", begins=begins)


@pytest.mark.parametrize(
    ("config", "told", "error"),
    [
        pytest.param(RunConfig(), {"spent": 10**9}, None, id="no limits"),
        pytest.param(RunConfig(max_llm_calls=2), {}, None, id="as many calls as there are"),
        pytest.param(
            RunConfig(max_llm_calls=1), {}, LlmCallsLimitExceededError, id="one call too many"
        ),
        pytest.param(RunConfig(turn_tokens=101), {}, None, id="a turn that may go on"),
        pytest.param(RunConfig(turn_tokens=100), {}, TokensSpentError, id="a turn that may not"),
        pytest.param(RunConfig(daily_tokens=100), {"spent": 99}, None, id="a day not over"),
        pytest.param(
            RunConfig(daily_tokens=100), {"spent": 100}, DailyTokensSpentError, id="a day over"
        ),
        pytest.param(
            RunConfig(daily_tokens=100), {"spent": 100, "begins": False}, None, id="a turn begun"
        ),
        pytest.param(RunConfig(daily_tokens=1), {"spent": None}, None, id="nobody counts"),
    ],
)
async def test_what_a_turn_may_use_up(config: RunConfig, told: dict, error: type | None):
    """A limit that is reached is an error of its own; 0 is no limit."""
    if error is None:
        assert await claimed(config, **told) is None
        return
    with pytest.raises(error):
        await claimed(config, **told)
