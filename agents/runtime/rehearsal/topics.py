"""What a message is about when it asks for no tool: a greeting, thanks, news of a request."""

import re
from typing import Literal

Topic = Literal["identity", "greeting", "help", "thanks", "cancel", "status"]

_HEY = r"(?:hi|hello|hey|howdy|hola|yo|greetings|good\s+(?:morning|evening|afternoon|day))"
_CHEERS = (
    r"(?:ok(?:ay)?|great|cool|perfect|nice|awesome|good|many|super|alright|got\s+it|fine|thanks?"
    r"|thank\s+you|thx|ty|cheers|a\s+lot|so\s+much|very\s+much|for\s+\w+ing(?:\s+me)?|bye)\b"
)
_MIND = (
    r"(?:an?\s+)?(?:ai|bot|robot|human|real|person|llm|machine|language\s+model|chatgpt|gemini)\b"
)
_MINE = r"(?:it|that|my\s+\w+(?:\s+\w+)?|the\s+\w+)"
_DECIDED = (
    r"(?:approved?|decided?|rejected?|answer(?:ed)?|through|agreed?|paid|done|ready|finished)"
)
_PATTERNS: dict[Topic, tuple[str, ...]] = {
    "identity": (
        r"\b(?:who|what)\s+(?:the\s+\w+\s+)?are\s+you\b",
        rf"\bare\s+you\s+(?:really\s+|just\s+)?{_MIND}",
        r"\bwhat\s+(?:ai\s+)?model\b",
    ),
    "greeting": (
        rf"^\W*{_HEY}(?:\W+(?:there|all|everyone|everybody|team|bot|again|you))*"
        r"(?:\W+how\s+are\s+you(?:\s+\w+)?)?\W*$",
    ),
    "help": (
        r"^\W*(?:help(?:\s+me)?(?:\s+please)?|commands|menu|examples?)?\W*$",
        r"\bwhat\s+(?:all\s+)?(?:can|could|do)\s+(?:you|i)\s+(?:do|ask|say)\b",
        r"\bhow\s+do(?:es)?\s+(?:(?:you|this|it|the\s+bot)\s+work|i\s+use)\b",
        r"\bwhat\s+(?:is|are)\s+(?:you|this)\s+for\b",
        r"\bhow\s+can\s+you\s+help\b",
        r"\bwhat\s+(?:are\s+my\s+options\b|is\s+this\W*$)",
    ),
    "thanks": (rf"^\W*(?:{_CHEERS}\W*)+$",),
    "cancel": (
        r"^\W*(?:please\s+)?(?:never\s*mind|nvm|forget\s+(?:it|that|about\s+it)"
        r"|(?:cancel|withdraw)(?:\s+(?:it|that|(?:my|the|this|that)\s+request))?|stop"
        r"|no,?\s+thanks|leave\s+it)\W*(?:please|thanks)?\W*$",
    ),
    "status": (
        r"\bstatus\b",
        r"\bany\s+(?:news|updates?|progress|word)\b",
        r"\bstill\s+(?:pending|waiting|open)\b",
        rf"\bwhat(?:'s|\s+is)?\s+(?:about|became\s+of|happen(?:ed|ing|s)(?:\s+\w+)?)\s+{_MINE}",
        rf"\bhow(?:'s|\s+is)\s+{_MINE}\s+(?:going|coming|doing)\b",
        r"\bupdate\s*\?",
        rf"\b(?:did|has|have)\s+(?:they|he|she|any\w+|some\w+|{_MINE})\b[^.!]*\b{_DECIDED}\b",
        rf"\b(?:is|was)\s+{_MINE}\s+(?:now\s+|already\s+|yet\s+)?{_DECIDED}\b",
        r"\bwhere\s+is\s+my\b",
        r"\bwho\s+(?:approves|decides)\b",
        r"\bwho\s+(?:has\s+to|must|needs\s+to|should|will)\s+(?:approve|decide|agree)\b",
        r"\bwhat\s+(?:did|do)\s+they\s+say\b",
        rf"\bwhy\s+was\s+{_MINE}",
        r"\bhurry\b",
    ),
}
_TOPICS: dict[Topic, re.Pattern[str]] = {
    topic: re.compile("|".join(patterns), re.IGNORECASE) for topic, patterns in _PATTERNS.items()
}


def topic_of(text: str) -> Topic | None:
    """What a message is about when it is no request for a tool; None when it may be one."""
    text = text.replace("’", "'")
    return next((topic for topic, pattern in _TOPICS.items() if pattern.search(text)), None)
