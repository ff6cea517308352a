"""Everything the bot raises on purpose.

BotError
├── SettingsError      a setting is missing or wrong; the start stops
├── StoreUnavailable   the store does not answer; trying again helps
├── StoreUnsafe        the store may lose what it acknowledged; somebody must change it
├── SlackUnavailable   Slack does not answer at all; trying again helps
└── TicketsUnavailable the ticket system does not answer; trying again helps

The message of each is one sentence for the operator and holds no secret.
"""

import agents


class BotError(Exception):
    """What the bot itself finds wrong; the root of this tree."""


class SettingsError(BotError):
    """A setting is missing or wrong; the message names it."""


class StoreUnavailable(BotError, agents.StoreUnavailable):
    """The store does not answer; the same thing may be tried again.

    Raised where it is opened and looked at; the runtime raises its own where it works on sessions.
    """


class StoreUnsafe(BotError):
    """The store is set up so that it may lose what it acknowledged; trying again does not help."""


class SlackUnavailable(BotError):
    """Slack does not answer, or not now; the same thing may be tried again."""


class TicketsUnavailable(BotError):
    """The ticket system does not answer; `after_s` is what it asks to wait, in seconds."""

    def __init__(self, why: str, *, after_s: float | None = None) -> None:
        """Keep how long to wait."""
        super().__init__(f"The ticket system does not answer ({why}).")
        self.after_s = after_s
