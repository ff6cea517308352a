"""What somebody at a keyboard notices of what they did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.playground.delivery import Delivered
from bot.slack.checks import JsonObject


@dataclass(frozen=True)
class Noticed:
    """What an action brought: the message said, a warning, a form's errors by block id.

    `deliveries` are the first attempts to tell the bot, `status` the HTTP status of the last one.
    """

    message: JsonObject = field(default_factory=dict[str, Any])
    warning: str = ""
    errors: Mapping[str, str] = field(default_factory=dict[str, str])
    deliveries: tuple[Delivered, ...] = ()

    @property
    def ts(self) -> str:
        """The ts of the message said."""
        return self.message["ts"]

    @property
    def status(self) -> int:
        """The HTTP status of the last delivery; 0 when nothing was delivered or answered."""
        return self.deliveries[-1].status if self.deliveries else 0

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong that the person would see."""
        return not self.warning and not self.errors
