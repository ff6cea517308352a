"""What a person hears when a model gave no answer."""

import pytest
from google.genai import types

from agents.runtime.errors import (
    DailyTokensSpentError,
    LlmCallsLimitExceededError,
    ModelError,
    ModelUnavailable,
    RequestRefused,
    TokensSpentError,
)
from agents.runtime.gemini.replies import ENDINGS
from agents.runtime.output import MISFIT
from bot.approvals.faults import FAULT, FAULTS, sentence

CODES = (
    *(reason.name for reason in types.FinishReason if ENDINGS[reason.name].keeps != "all"),
    *(
        kind.__name__
        for kind in (
            ModelError,
            ModelUnavailable,
            RequestRefused,
            TokensSpentError,
            DailyTokensSpentError,
            LlmCallsLimitExceededError,
        )
    ),
    "PROMPT_BLOCKED",
    "MODEL_RETURNED_NO_CONTENT",
    MISFIT,
)
OURS = {"MISSING_THOUGHT_SIGNATURE", "PUP_LIMITED_DISABLED"}
"""What only an operator can do something about."""


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_sentence(code: str):
    """Whatever ends a turn is told in words a person knows, without the code."""
    assert sentence(code).endswith(".")
    assert code not in sentence(code)
    assert (sentence(code) == FAULT) == (code in OURS)


def test_a_code_nobody_knows_has_one_too():
    """What a later version brings is told in general."""
    assert sentence("BRAND_NEW") == FAULT


def test_no_sentence_is_without_its_code():
    """The table has nothing in it that cannot happen."""
    assert set(FAULTS) <= set(CODES)
