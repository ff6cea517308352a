"""The app's manifest."""

from typing import Any

import pytest

from bot.settings import Settings
from bot.slack.manifest import manifest


def of(**given: Any) -> dict[str, Any]:
    """The manifest for some settings."""
    return manifest(Settings.read(**given))


def test_http() -> None:
    """Slack posts events and clicks to the bot's address."""
    made = of(public_url="https://bot.example/")
    address = "https://bot.example/slack/events"
    assert made["settings"]["event_subscriptions"]["request_url"] == address
    assert made["settings"]["interactivity"] == {"is_enabled": True, "request_url": address}
    assert not made["settings"]["socket_mode_enabled"]


def test_socket_mode() -> None:
    """Without an address the bot fetches them, and buttons are switched on all the same."""
    made = of()
    assert made["settings"]["socket_mode_enabled"]
    assert "request_url" not in str(made)
    assert made["settings"]["interactivity"] == {"is_enabled": True}


@pytest.mark.parametrize(
    ("event", "scope"),
    [
        ("app_mention", "app_mentions:read"),
        ("message.channels", "channels:history"),
        ("message.groups", "groups:history"),
        ("message.im", "im:history"),
        ("message.mpim", "mpim:history"),
        ("member_joined_channel", "channels:read"),
        ("user_change", "users:read"),
    ],
)
def test_every_event_has_its_scope(event: str, scope: str) -> None:
    """Slack sends an event only to who may read it."""
    made = of()
    assert event in made["settings"]["event_subscriptions"]["bot_events"]
    assert scope in made["oauth_config"]["scopes"]["bot"]


def test_lengths() -> None:
    """Names and descriptions are as short as Slack wants them."""
    made = of()
    assert len(made["display_information"]["name"]) <= 35
    assert len(made["display_information"]["description"]) <= 140
    assert len(made["features"]["bot_user"]["display_name"]) <= 80
