"""The app's manifest."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bot.cli import main
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
        ("subteam_members_changed", "usergroups:read"),
        ("subteam_updated", "usergroups:read"),
    ],
)
def test_every_event_has_its_scope(event: str, scope: str) -> None:
    """Slack sends an event only to who may read it."""
    made = of()
    assert event in made["settings"]["event_subscriptions"]["bot_events"]
    assert scope in made["oauth_config"]["scopes"]["bot"]


FIELDS: dict[str, tuple[type, int]] = {
    "_metadata.major_version": (int, 0),
    "_metadata.minor_version": (int, 0),
    "display_information.name": (str, 35),
    "display_information.description": (str, 140),
    "display_information.background_color": (str, 7),
    "features.app_home.home_tab_enabled": (bool, 0),
    "features.app_home.messages_tab_enabled": (bool, 0),
    "features.app_home.messages_tab_read_only_enabled": (bool, 0),
    "features.bot_user.display_name": (str, 80),
    "features.bot_user.always_online": (bool, 0),
    "features.slash_commands.command": (str, 32),
    "features.slash_commands.description": (str, 2000),
    "features.slash_commands.usage_hint": (str, 1000),
    "features.slash_commands.should_escape": (bool, 0),
    "features.slash_commands.url": (str, 3000),
    "oauth_config.scopes.bot": (list, 255),
    "settings.event_subscriptions.request_url": (str, 3500),
    "settings.event_subscriptions.bot_events": (list, 100),
    "settings.interactivity.is_enabled": (bool, 0),
    "settings.interactivity.request_url": (str, 3500),
    "settings.org_deploy_enabled": (bool, 0),
    "settings.socket_mode_enabled": (bool, 0),
    "settings.token_rotation_enabled": (bool, 0),
}
"""The fields we use: their type, and the most characters or entries Slack takes.

Read off version 2.0.0 of the schema in github.com/slackapi/manifest-schema at commit
c50cfa8508ff1017344550a5e5fb29a1416e5b98, which both kinds of our manifest pass as a whole.
"""


def fields(part: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a manifest, with its dotted path."""
    if isinstance(part, list) and isinstance(part[0], dict):
        for each in part:
            yield from fields(each, at)
        return
    if not isinstance(part, dict):
        yield at, part
        return
    for name, value in part.items():
        yield from fields(value, f"{at}.{name}" if at else name)


@pytest.mark.parametrize(
    "given", [{}, {"public_url": "https://bot.example"}], ids=["socket", "http"]
)
def test_every_field_is_one_that_slack_knows(given: dict[str, str]) -> None:
    """Slack refuses a manifest with a field it does not know, or a value that is too long."""
    for path, value in fields(of(**given)):
        kind, most = FIELDS[path]
        assert type(value) is kind, path
        assert not most or 1 <= len(value) <= most, path


def test_the_colour_is_one() -> None:
    """Slack wants a hash and hexadecimal digits."""
    assert re.fullmatch(r"#[0-9a-f]{6}", of()["display_information"]["background_color"])


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m bot manifest` prints what is pasted into Slack, and needs no setting."""
    assert main(["manifest"]) == 0
    assert json.loads(capsys.readouterr().out) == of()
