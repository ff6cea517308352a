"""What a person hears when a model gave no answer: a sentence for each code an event may have."""

from collections.abc import Mapping

WOULD_NOT_ANSWER = "The model would not answer this."
NO_USE = "The model gave no answer that I could use. Please say it again in other words."

FAULTS: Mapping[str, str] = {
    "MAX_TOKENS": "My answer became too long and was cut off.",
    "CONTINUATION": "My answer became too long and was cut off.",
    "PROMPT_BLOCKED": "The model would not read this. Please say it in other words.",
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "ESCALATION",
            "MODEL_ARMOR",
        ),
        WOULD_NOT_ANSWER,
    ),
    **dict.fromkeys(
        (
            "MODEL_RETURNED_NO_CONTENT",
            "MALFORMED_FUNCTION_CALL",
            "MALFORMED_RESPONSE",
            "OUTPUT_MISFIT",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "LANGUAGE",
            "NO_IMAGE",
            "IMAGE_OTHER",
            "OTHER",
        ),
        NO_USE,
    ),
    "ModelError": "I am not set up right, so I cannot answer. The team that runs me has been told.",
    "RequestRefused": (
        "My model did not accept this as it is, so I stopped here. "
        "Please say it in other words; the team that runs me has been told as well."
    ),
    "ModelUnavailable": "My model does not answer, so I stopped here. Please try again later.",
    "LlmCallsLimitExceededError": "I asked my model too often about this, so I stopped here.",
    "TokensSpentError": "This took more than one request may take, so I stopped here.",
    "DailyTokensSpentError": (
        "You have used up what one person may ask of me in a day. I can go on tomorrow (UTC)."
    ),
}
FAULT = "Something went wrong, so I stopped here. Please say it again, or ask an operator."


def sentence(code: str) -> str:
    """What to say about an error code; something for every one."""
    return FAULTS.get(code, FAULT)
