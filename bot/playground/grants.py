"""What a click lets the bot do for a short time: open a view once, answer at a URL; pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

TRIGGER_SECONDS = 3
RESPONSE_SECONDS = 30 * 60
RESPONSE_USES = 5


class Refused(Exception):
    """Slack says no: `error` is its code, `details` what else stands in the answer."""

    def __init__(self, error: str, **details: object) -> None:
        super().__init__(error)
        self.error = error
        self.details: dict[str, Any] = details


def require(holds: object, error: str) -> None:
    """Refuse with Slack's code unless something holds."""
    if not holds:
        raise Refused(error)


@dataclass(frozen=True)
class Trigger:
    """A person's action that may open one view; `view_id` is the modal it happened in."""

    person_id: str
    expires: float
    view_id: str | None = None
    used: bool = False


@dataclass(frozen=True)
class Reply:
    """Where a response_url leads: the person, and the message they clicked, if any."""

    person_id: str
    channel_id: str
    ts: str | None
    expires: float
    uses_left: int = RESPONSE_USES


class Grants:
    """All trigger ids and response URLs given out so far."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self._triggers: dict[str, Trigger] = {}
        self._replies: dict[str, Reply] = {}

    def trigger(self, person_id: str, *, now: float, view_id: str | None = None) -> str:
        """A new trigger id: good once, within three seconds."""
        trigger_id = self._new_id("9.")
        self._triggers[trigger_id] = Trigger(person_id, now + TRIGGER_SECONDS, view_id)
        return trigger_id

    def exchange(self, trigger_id: str, *, now: float) -> Trigger:
        """Use a trigger up; Refused when unknown, used or too old."""
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            raise Refused("invalid_trigger_id")
        require(not trigger.used, "exchanged_trigger_id")
        require(now <= trigger.expires, "expired_trigger_id")
        self._triggers[trigger_id] = replace(trigger, used=True)
        return trigger

    def reply(self, person_id: str, *, channel_id: str, ts: str | None, now: float) -> str:
        """A new response_url's last part: good five times, within half an hour."""
        token = self._new_id("r")
        self._replies[token] = Reply(person_id, channel_id, ts, now + RESPONSE_SECONDS)
        return token

    def use_reply(self, token: str, *, now: float) -> Reply:
        """Use a response URL once more; Refused when unknown, used up or too old."""
        reply = self._replies.get(token)
        if reply is None:
            raise Refused("invalid_url")
        require(now <= reply.expires, "expired_url")
        require(reply.uses_left > 0, "used_url")
        self._replies[token] = replace(reply, uses_left=reply.uses_left - 1)
        return reply
