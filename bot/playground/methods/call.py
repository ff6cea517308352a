"""One call of a Web API method: its arguments, read as Slack reads them; pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.playground.channels import Channel
from bot.playground.grants import Refused, require
from bot.playground.people import BOT, Person
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject, Problem

_TRUE = (True, "true", "True", "1", 1)


@dataclass(frozen=True)
class Call:
    """The workspace, the merged arguments of the request, and the time."""

    workspace: Workspace
    arguments: JsonObject
    now: float

    def text(self, name: str) -> str:
        """An argument as a string, "" when missing."""
        value = self.arguments.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        """A true or false argument, false when missing."""
        return self.arguments.get(name) in _TRUE

    def json(self, name: str, *, otherwise: str = "invalid_arguments") -> Any:
        """An argument that is JSON, in the body itself or as a string of a form."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError as error:
            raise Refused(otherwise) from error

    def channel(self, name: str = "channel", *, member: bool = False) -> Channel:
        """The channel an argument names by id; Refused when the bot cannot know it."""
        channel = self.workspace.channels.get(self.text(name))
        if channel is None or not (channel.kind == "channel" or BOT.id in channel.members):
            raise Refused("channel_not_found")
        require(not member or BOT.id in channel.members, "not_in_channel")
        return channel

    def person(self, name: str = "user") -> Person:
        """The person an argument names by id."""
        return known_person(self.workspace, self.text(name))

    def page(self, key: str, items: Sequence[Any], *, default: int) -> JsonObject:
        """A part of the items under `key`, and where the next part starts."""
        try:
            start = int(self.text("cursor") or 0)
            limit = int(self.text("limit") or default)
        except ValueError as error:
            raise Refused("invalid_cursor") from error
        require(1 <= limit <= 1000, "invalid_limit")
        end = start + limit
        cursor = str(end) if end < len(items) else ""
        return {key: list(items[start:end]), "response_metadata": {"next_cursor": cursor}}


def known_person(workspace: Workspace, person_id: str) -> Person:
    """The person with this id; Refused when there is none."""
    person = workspace.people.get(person_id)
    if person is None:
        raise Refused("user_not_found")
    return person


def refuse(found: list[Problem], *, error: str | None = None) -> None:
    """Refuse with every problem found and its place, if there is one."""
    if found:
        lines = [f"{each.message} [json-pointer:{each.pointer}]" for each in found]
        raise Refused(
            error or found[0].error,
            errors=lines,
            response_metadata={"messages": [f"[ERROR] {line}" for line in lines]},
        )
