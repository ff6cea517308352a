# pyright: reportUnknownMemberType=false
"""The workspace behind the settings: its client, who we are there, and its channels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_exponential

from bot.errors import SettingsError
from bot.settings import Settings
from bot.slack.replies import Replies, web_client

WAIT = 30.0
"""Seconds in which Slack may come to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are in Slack, as auth.test says: our workspace, our user and our bot id."""

    team: str
    user: str
    bot: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The workspace we are in.

    `channels` are ids by name, empty when no setting needs names; `scopes` are those of our token.
    """

    client: AsyncWebClient
    replies: Replies
    identity: Identity
    channels: Mapping[str, str]
    scopes: Sequence[str] = ()


async def workspace(
    settings: Settings, session: aiohttp.ClientSession, *, wait: float = WAIT
) -> Workspace:
    """Ask Slack who we are; raises SettingsError when it does not know us or does not answer."""
    token = settings.slack_bot_token
    client = web_client(
        token.get_secret_value() if token else "", api_url=settings.slack_api_url, session=session
    )
    replies = Replies(client)
    names = [settings.approvers_channel, *settings.routes]
    names += [route.approvers_channel for route in settings.routes.values()]
    identity, scopes = await _identity(client, wait=wait)
    named = any(name and name.startswith("#") for name in names)
    return Workspace(
        client=client,
        replies=replies,
        identity=identity,
        channels=await _channels(replies) if named else {},
        scopes=scopes,
    )


async def _identity(client: AsyncWebClient, *, wait: float) -> tuple[Identity, Sequence[str]]:
    """Who we are, and the scopes of our token."""
    try:
        async for attempt in AsyncRetrying(
            stop=stop_after_delay(wait),
            wait=wait_exponential(multiplier=0.2, max=5),
            retry=retry_if_exception_type((aiohttp.ClientError, TimeoutError)),
            reraise=True,
        ):
            with attempt:
                answer = await client.auth_test()
                told = cast("dict[str, str]", answer.data)
                scopes = cast("Mapping[str, str]", answer.headers).get("x-oauth-scopes", "")
                listed = [scope.strip() for scope in scopes.split(",") if scope.strip()]
                who = Identity(team=told["team_id"], user=told["user_id"], bot=told["bot_id"])
                return who, listed
    except SlackApiError as error:
        code = cast("dict[str, str]", error.response)["error"]
        raise SettingsError(f"Slack does not accept SLACK_BOT_TOKEN: {code}.") from None
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SettingsError(f"Slack does not answer at SLACK_API_URL ({error}).") from None
    raise AssertionError("a retry ends with a result or an exception")


async def _channels(replies: Replies) -> Mapping[str, str]:
    found = await replies.channels()
    if isinstance(found, Mapping):
        return found
    raise SettingsError(
        f"The workspace's channels cannot be listed, and #names need them: {found}."
    )
