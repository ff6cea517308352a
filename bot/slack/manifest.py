"""The app's manifest, for "create an app from a manifest" in Slack; pure."""

from typing import Any

from bot.settings import Settings

NAME = "Countersign"
SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "usergroups:read",
    "users:read",
)
EVENTS = (
    "app_home_opened",
    "app_mention",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "subteam_members_changed",
    "subteam_updated",
    "user_change",
)


def manifest(settings: Settings) -> dict[str, Any]:
    """The manifest of an app behind `public_url`, or of one in Socket Mode."""
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": NAME,
            "description": "Agents that ask a person first",
            "background_color": "#1f2937",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": NAME.lower(), "always_online": True},
            "slash_commands": [_command(_address(settings.public_url))],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": _settings(_address(settings.public_url)),
    }


def _command(address: dict[str, str]) -> dict[str, Any]:
    url = {"url": address["request_url"]} if address else {}
    return {
        "command": "/approvals",
        "description": "What waits for you, and what you asked for",
        "usage_hint": "[list | show CODE | withdraw CODE]",
        "should_escape": True,
        **url,
    }


def _settings(address: dict[str, str]) -> dict[str, Any]:
    return {
        "event_subscriptions": {**address, "bot_events": list(EVENTS)},
        "interactivity": {"is_enabled": True, **address},
        "org_deploy_enabled": False,
        "socket_mode_enabled": not address,
        "token_rotation_enabled": False,
    }


def _address(url: str | None) -> dict[str, str]:
    if url is None:
        return {}
    return {"request_url": f"{url.rstrip('/')}/slack/events"}
