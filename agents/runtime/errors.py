"""What can go wrong in the runtime, by audience.

```
AgentsError
├── UsageError           the developer: an agent, tool or call was put together wrongly
│   └── DeclarationError the developer: a function cannot be declared as a tool
├── AnswerError          the caller: a message or answer that fits nothing, and was not stored
│   └── PayloadError     the caller: an answer's payload breaks the question's schema
├── SessionError         the caller: a session that is missing, or there already
│   ├── SessionNotFoundError
│   └── AlreadyExistsError
├── SessionConflict      the operator: the session is in other hands; trying again helps
│   ├── SessionBusy      the operator: until when
│   │   └── Unsettled    the operator: what became of a call shows only then
│   └── StaleSessionError
├── StoreUnavailable     the operator: the store did not answer; trying again helps
├── TurnFailed           the operator: a turn cannot go on, through no tool; trying again may help
├── ModelError           the operator: the model refused or cannot be reached as set up
│   ├── RequestRefused   the operator: it refused what it was asked; another question may do
│   └── ModelUnavailable the operator: the model did not answer; trying again helps
├── LlmCallsLimitExceededError   the caller: one run asked the model too often
├── TokensSpentError     the person: a turn has used up its tokens
├── DailyTokensSpentError        the person: they have used up today's
└── ToolError            the model: what a tool wants it to read
    └── LookFailed       the model: what a call depends on cannot be found out now
```
"""

from collections.abc import Mapping


class AgentsError(Exception):
    """Any error this package raises on purpose."""


class UsageError(AgentsError, ValueError):
    """An agent or a tool was put together wrongly; the sentence says what to change."""


class DeclarationError(UsageError):
    """A function cannot be declared to a model; the sentence names tool and parameter."""


class AnswerError(AgentsError, ValueError):
    """A message that fits no open call; nothing of it was stored."""


class PayloadError(AnswerError):
    """An answer's payload breaks the schema of its question.

    `problems` maps a field's name to a sentence for the person who typed it.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        """Keep the sentences by field; the message joins them."""
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = dict(problems)


class SessionError(AgentsError, ValueError):
    """A session is not as the caller believes."""


class SessionNotFoundError(SessionError):
    """There is no such session."""


class AlreadyExistsError(SessionError):
    """A session with that id is there already."""


class SessionConflict(AgentsError):
    """The session is in other hands, or moved on; begin again."""


class SessionBusy(SessionConflict):
    """Somebody else has the session until `until` (milliseconds, the store's clock) at the latest.

    `pause` is for how many seconds nobody can do anything, if that is known.
    """

    pause = 0.0

    def __init__(self, until: int, *, why: str = "the session is in other hands") -> None:
        """Keep the time."""
        super().__init__(f"{why} until {until}")
        self.until = until


class Unsettled(SessionBusy):
    """What became of a call shows in `pause` seconds; the session is given back until then."""

    def __init__(self, until: int, *, pause: float) -> None:
        """Keep the wait."""
        super().__init__(until, why="nobody can tell what became of a call")
        self.pause = pause


class StaleSessionError(SessionConflict):
    """A copy of a session is older than the session; read it again."""


class StoreUnavailable(AgentsError):
    """The store did not answer; trying again may help, and nothing was half done."""


class TurnFailed(AgentsError):
    """A turn cannot go on here and now, and no tool is to blame; another process may do better."""


class ModelError(AgentsError):
    """The model refused the request for good; trying again does not help."""


class RequestRefused(ModelError):
    """The model refused this very request; another one may do, with other words or parts."""


class ModelUnavailable(ModelError):
    """The provider did not answer; trying again may help.

    `retry_after` is in how many seconds the provider wants to be asked again, if it said so.
    """

    def __init__(self, told: str = "", *, retry_after: float | None = None) -> None:
        """Keep the wait."""
        super().__init__(told)
        self.retry_after = retry_after


class TokensSpentError(AgentsError):
    """A turn has used up the tokens there are for it."""


class DailyTokensSpentError(AgentsError):
    """A person has used up the tokens there are for them today."""


class LlmCallsLimitExceededError(AgentsError):
    """A run asked the model more often than its RunConfig allows."""


class ToolError(AgentsError):
    """Raised by a tool's body: a sentence the model should read and act on."""


class LookFailed(ToolError):
    """What a call depends on cannot be found out now; trying again may help."""
