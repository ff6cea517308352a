"""The payloads Slack sends to an app, built from what the workspace holds; pure.

The key sets are those of Slack's documented samples; a test compares them.
"""

from bot.playground.people import (
    APP_ID,
    BOT,
    TEAM_DOMAINS,
    TEAM_ID,
    Person,
    outside_fields,
    user_object,
)
from bot.slack.checks import JsonObject

VERIFICATION_TOKEN = "deprecated, proves nothing"  # noqa: S105
_ONLY_IN_HISTORY = ("metadata", "reply_count", "reply_users", "reply_users_count", "latest_reply")


def event_callback(
    event: JsonObject, *, event_id: str, now: float, is_ext_shared: bool = False
) -> JsonObject:
    """The outer body of an event."""
    authorization = {
        "enterprise_id": None,
        "team_id": TEAM_ID,
        "user_id": BOT.id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": TEAM_ID,
        "context_team_id": TEAM_ID,
        "context_enterprise_id": None,
        "api_app_id": APP_ID,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(now),
        "authorizations": [authorization],
        "is_ext_shared_channel": is_ext_shared,
        "event_context": f"4-{event_id}",
    }


def message_event(message: JsonObject, *, channel_id: str, kind: str, author: Person) -> JsonObject:
    """Somebody wrote: `kind` is Slack's channel_type."""
    place = {"channel": channel_id, "event_ts": message["ts"], "channel_type": kind}
    return _told(message) | place | outside_fields(author)


def mention_event(message: JsonObject, *, channel_id: str, author: Person) -> JsonObject:
    """The same post a second time, because it names the bot."""
    place = {"type": "app_mention", "channel": channel_id, "event_ts": message["ts"]}
    return _told(message) | place | outside_fields(author)


def changed_event(
    message: JsonObject, previous: JsonObject, *, ts: str, channel_id: str, kind: str
) -> JsonObject:
    """A message was edited, by its author or by the bot's chat.update."""
    now = _told(message)
    if "bot_id" not in message:
        now |= {"source_team": message["team"], "user_team": message["team"]}
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": now,
        "previous_message": _told(previous),
        "channel": channel_id,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        "channel_type": kind,
    }


def deleted_event(previous: JsonObject, *, ts: str, channel_id: str, kind: str) -> JsonObject:
    """A message was deleted."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": _told(previous),
        "channel": channel_id,
        "hidden": True,
        "deleted_ts": previous["ts"],
        "event_ts": ts,
        "ts": ts,
        "channel_type": kind,
    }


def joined_event(person: Person, *, ts: str, channel_id: str, kind: str) -> JsonObject:
    """Somebody, perhaps the bot, joined a channel."""
    return {
        "type": "member_joined_channel",
        "user": person.id,
        "channel": channel_id,
        "channel_type": "C" if kind == "channel" else "G",
        "team": person.team_id,
        "event_ts": ts,
    }


def home_event(person: Person, *, channel_id: str, view: JsonObject | None, ts: str) -> JsonObject:
    """Somebody opened the bot's Home; `view` is what it shows, if anything."""
    event: JsonObject = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": channel_id,
        "tab": "home",
    }
    return event | ({"view": view} if view else {}) | {"event_ts": ts}


def user_change_event(person: Person, *, ts: str, now: float) -> JsonObject:
    """A person's profile or standing changed."""
    user = user_object(person, now=now)
    return {"type": "user_change", "user": user, "cache_ts": int(now), "event_ts": ts}


def group_change_event(
    group_id: str, *, added: list[str], removed: list[str], ts: str
) -> JsonObject:
    """The members of a user group changed."""
    return {
        "type": "subteam_members_changed",
        "subteam_id": group_id,
        "team_id": TEAM_ID,
        "date_previous_update": 1_700_000_000,
        "date_update": int(float(ts)),
        "added_users": added,
        "added_users_count": len(added),
        "removed_users": removed,
        "removed_users_count": len(removed),
        "event_ts": ts,
    }


def message_actions(
    action: JsonObject,
    person: Person,
    message: JsonObject,
    *,
    grants: JsonObject,
    place: JsonObject,
) -> JsonObject:
    """A click on a message.

    `grants` has trigger_id, response_url and state; `place` has channel and is_ephemeral.
    """
    container: JsonObject = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": place["channel"]["id"],
        "is_ephemeral": place["is_ephemeral"],
    }
    if "thread_ts" in message:
        container["thread_ts"] = message["thread_ts"]
    payload = _interaction("block_actions", person) | {
        "container": container,
        "channel": place["channel"],
        "actions": [action],
    }
    if not place["is_ephemeral"]:
        payload["message"] = {key: message[key] for key in message if key != "bot_profile"}
    return payload | grants


def view_actions(
    action: JsonObject, person: Person, view: JsonObject, *, trigger_id: str
) -> JsonObject:
    """A click in a modal or a Home view."""
    return _interaction("block_actions", person) | {
        "container": {"type": "view", "view_id": view["id"]},
        "trigger_id": trigger_id,
        "view": view,
        "actions": [action],
    }


def view_submission(person: Person, view: JsonObject, *, trigger_id: str) -> JsonObject:
    """A modal was submitted; the view carries its state."""
    extra: JsonObject = {"trigger_id": trigger_id, "view": view, "response_urls": []}
    return _interaction("view_submission", person) | extra


def view_closed(person: Person, view: JsonObject, *, is_cleared: bool) -> JsonObject:
    """A modal that asked for it was closed."""
    return _interaction("view_closed", person) | {"view": view, "is_cleared": is_cleared}


def slash_command(
    person: Person, line: str, *, channel: JsonObject, grants: JsonObject
) -> dict[str, str]:
    """The form of a slash command and its text; `grants` has trigger_id and response_url."""
    command, _, text = line.partition(" ")
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": person.team_id,
        "team_domain": TEAM_DOMAINS[person.team_id],
        "channel_id": channel["id"],
        "channel_name": channel["name"],
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": text.strip(),
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        **grants,
    }


def _interaction(kind: str, person: Person) -> JsonObject:
    team = {"id": person.team_id, "domain": TEAM_DOMAINS[person.team_id]}
    user = {
        "id": person.id,
        "username": person.name,
        "name": person.name,
        "team_id": person.team_id,
    }
    return {
        "type": kind,
        "user": user,
        "api_app_id": APP_ID,
        "token": VERIFICATION_TOKEN,
        "team": team,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _told(message: JsonObject) -> JsonObject:
    return {key: message[key] for key in message if key not in _ONLY_IN_HISTORY}
