"""Who somebody in Slack is now: asked of Slack, remembered for a minute, never guessed."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from bot.approvals.policy import Person
from bot.slack.endings import Refused
from bot.slack.remembered import FORGET_ALL_AT, Remembered
from bot.slack.replies import Replies

REMEMBERED = 60.0
"""Seconds until a person is asked for again: rights that were taken away must not live on."""
NOBODY = frozenset({"user_not_found", "user_not_visible"})
"""Slack's codes for somebody who is not, or no longer, among those we can see."""
NAME_LIMIT = 80


class People:
    """Looks people up; `clock` is in seconds and only measures how old an answer is.

    An answer is good for `remembered` seconds.
    """

    def __init__(
        self,
        replies: Replies,
        *,
        team: str,
        clock: Callable[[], float],
        remembered: float = REMEMBERED,
    ) -> None:
        self._replies = replies
        self._team = team
        self._known = Remembered(self._ask, seconds=remembered, clock=clock)
        self._names: dict[str, str] = {}

    def name(self, id: str) -> str:  # noqa: A002
        """What somebody was called when last looked up; the id if they never were."""
        return self._names.get(id) or id

    async def person(self, id: str) -> Person | None:  # noqa: A002
        """The person with that id; None when Slack does not say who that is.

        Many clicks of one person at once ask once.
        """
        return await self._known.of(id)

    async def _ask(self, id: str) -> Person | None:  # noqa: A002
        told = await self._replies.user(id)
        if isinstance(told, Refused) and told.code in NOBODY:
            person = Person(id=id, team="", deleted=True)
        elif isinstance(told, Mapping):
            person = person_of(told)
        else:
            return None
        if len(self._names) >= FORGET_ALL_AT:
            self._names.clear()
        self._names[id] = person.name
        return person

    def forget(self, id: str) -> None:  # noqa: A002
        """Ask anew next time, since Slack said that the person changed."""
        self._known.forget(id)


def person_of(user: Mapping[str, Any]) -> Person:
    """A `user` of users.info; whatever it does not say counts against the person."""
    return Person(
        id=str(user.get("id", "")),
        team=str(user.get("team_id", "")),
        name=_name(user),
        is_bot=bool(user.get("is_bot")) or bool(user.get("is_workflow_bot")),
        is_guest=bool(user.get("is_restricted")) or bool(user.get("is_ultra_restricted")),
        is_stranger=bool(user.get("is_stranger")),
        deleted=user.get("deleted") is not False,
    )


def _name(user: Mapping[str, Any]) -> str:
    """What a person wants to be called, in one short line; empty when Slack does not say."""
    profile = user.get("profile")
    told: Mapping[str, Any] = (
        cast("Mapping[str, Any]", profile) if isinstance(profile, Mapping) else {}
    )
    called = [told.get("display_name"), told.get("real_name"), user.get("real_name")]
    found = next((each for each in called if isinstance(each, str) and each.strip()), "")
    return " ".join(found.split())[:NAME_LIMIT]
