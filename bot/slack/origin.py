"""Where a signed interaction says it comes from, against who we are; pure.

A signature says that Slack sent it, to one of our apps. What stands in it still has to fit: this
app, this workspace and enterprise, and one message, which it names more than once. Whether that
message is a card of the request is for the stored record to say.
"""

from typing import cast

from bot.slack.payloads import Payload
from bot.slack.workspace import Identity


def misfit(body: Payload, identity: Identity) -> str:
    """The name of the first field that fits neither us nor the others; empty when all do.

    People of other companies press buttons in shared channels: their own workspace stands in
    `team` and `enterprise` then, and they are refused for who they are.
    """
    ours = _named(body, "user.team_id").get("user.team_id") == identity.team
    wrong = [*_of_app(body, identity), *(_of_team(body, identity) if ours else ()), *_of_card(body)]
    return next(iter(wrong), "")


def _of_app(body: Payload, identity: Identity) -> list[str]:
    """The field that names another app; while ours is unknown, one that differs from another."""
    named = _named(body, "api_app_id", "view.app_id", "message.app_id")
    app = identity.app or next(iter(named.values()), None)
    return [path for path, found in named.items() if found != app]


def _of_team(body: Payload, identity: Identity) -> list[str]:
    """The field with another workspace or enterprise; an enterprise's own app has no `team`."""
    named = _named(body, "team", "team.id", "view.app_installed_team_id")
    if named.pop("team", "") is None and body.get("is_enterprise_install") is not True:
        return ["team"]
    wrong = [path for path, found in named.items() if found != identity.team]
    told = _named(body, "enterprise", "enterprise.id")
    if told and told.get("enterprise.id", "") != identity.enterprise:
        wrong.append("enterprise.id")
    return wrong


def _of_card(body: Payload) -> list[str]:
    """What names another channel or message than the container, which names what was clicked.

    In a view there is no message, and no button there approves: whatever is named besides, nothing
    is decided by it.
    """
    told = _named(body, "container.type", "container.channel_id", "container.message_ts")
    if told.get("container.type") != "message":
        return []
    places = {"channel.id": "container.channel_id", "message.ts": "container.message_ts"}
    missing = [path for path in places.values() if not isinstance(told.get(path), str)]
    named = _named(body, *places)
    return [*missing, *(path for path, found in named.items() if found != told.get(places[path]))]


def _named(body: Payload, *paths: str) -> dict[str, object]:
    """What there is at these paths, of one name or two each, such as `team.id`."""
    found: dict[str, object] = {}
    for path in paths:
        first, _, second = path.partition(".")
        there: object = body.get(first)
        if not second and first in body:
            found[path] = there
        elif isinstance(there, dict) and second in there:
            found[path] = cast("Payload", there)[second]
    return found
