"""The app's manifest, for "create an app from a manifest" in Slack; pure."""

from typing import Any

NAME_LIMIT = 35
SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
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
    "app_mention",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "user_change",
)


def manifest(*, url: str | None, name: str = "Countersign") -> dict[str, Any]:
    """The manifest of an app behind `url` (https://… without a path); without one, Socket Mode.

    Raises ValueError for a name longer than Slack allows, or an address without TLS.
    """
    if not 0 < len(name) <= NAME_LIMIT:
        raise ValueError(f"an app's name has 1 to {NAME_LIMIT} characters, not {len(name)}")
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": name,
            "description": "Agents that ask a person first",
            "background_color": "#1f2937",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name.lower().replace(" ", "-"), "always_online": True},
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": _settings(_address(url)),
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
    if not url.startswith("https://"):
        raise ValueError(f"Slack reaches an app by https:// only, not {url}")
    return {"request_url": f"{url.rstrip('/')}/slack/events"}
