# pyright: reportUnknownMemberType=false
"""The workspace behind the settings: its client, who we are there, and its channels."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_before_delay,
    wait_exponential,
)

from bot.errors import SettingsError, SlackUnavailable
from bot.routing import is_id
from bot.settings import Settings, variable
from bot.slack.endings import Answer, Refused, Retry, Uncertain, answered, inside, text_of
from bot.slack.replies import Replies, web_client

Found = TypeVar("Found")

WAIT = 30.0
"""Seconds that Slack is given to answer."""

_IDENTITY = ("team_id", "user_id", "bot_id")

NOT_THERE = "no such channel can be seen (archived, renamed, deleted, or private and without us)"
CARDS_AT_HOME = "requests are put into the threads they come from"
NO_ANCHOR = "the audit is not anchored"
NO_MESSAGES = "nobody is answered there"
MEND = "Bring it back, invite the bot, or name another one, best by its id; then start again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are in Slack: our workspace and its enterprise, our user, our bot and our app.

    `enterprise` is empty where there is none, `app` where Slack does not say.
    """

    team: str
    user: str
    bot: str
    enterprise: str = ""
    app: str = ""


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
    """Ask Slack who we are.

    Raises SettingsError when it does not know us, SlackUnavailable when it does not answer.
    """
    token = settings.slack_bot_token
    client = web_client(
        token.get_secret_value() if token else "", api_url=settings.slack_api_url, session=session
    )
    replies = Replies(client)
    names = [settings.approvers_channel, settings.audit_channel, *settings.routes]
    names += [route.approvers_channel for route in settings.routes.values()]
    identity, scopes = await _identity(client, wait=wait)
    identity = replace(identity, app=await _app(client, identity.bot, wait=wait))
    named = any(name and name.startswith("#") for name in names)
    return Workspace(
        client=client,
        replies=replies,
        identity=identity,
        channels=await _channels(client, replies, wait=wait) if named else {},
        scopes=scopes,
    )


async def team(settings: Settings, session: aiohttp.ClientSession) -> str:
    """The workspace that the settings' token is for; their tenant when there is no token.

    Raises as `workspace` does.
    """
    token = settings.slack_bot_token
    if token is None:
        return settings.tenant
    client = web_client(token.get_secret_value(), api_url=settings.slack_api_url, session=session)
    identity, _ = await _identity(client, wait=WAIT)
    return identity.team


async def socket_address(client: AsyncWebClient, *, app_token: str) -> str:
    """Where Slack opens a websocket for us.

    Raises as `workspace` does.
    """

    async def ask() -> AsyncSlackResponse | Retry | Uncertain | Refused:
        call = client.apps_connections_open(app_token=app_token)
        return await answered(call, asked={"url": str})

    answer = await _patiently(client, ask, wait=WAIT)
    if isinstance(answer, Refused):
        raise SettingsError(f"Slack does not accept SLACK_APP_TOKEN: {answer.code}.")
    return cast("dict[str, str]", answer.data)["url"]


def channel_id(name: str | None, channels: Mapping[str, str]) -> str | None:
    """The id of a channel that a setting gives by id or `#name`; None when it names none.

    A name that is not there stays what it is: Slack takes nothing for it until it is there again.
    """
    return channels.get(name.removeprefix("#"), name) if name else None


def missing(settings: Settings, channels: Mapping[str, str]) -> Iterator[str]:
    """Sentences about the channels that the settings give by `#name` and that are not there.

    It may have been archived or renamed since, so that is no reason not to start.
    """
    given = [
        ("approvers_channel", settings.approvers_channel, CARDS_AT_HOME),
        ("audit_channel", settings.audit_channel, NO_ANCHOR),
        *(("routes", place, NO_MESSAGES) for place in settings.routes),
        *(("routes", each.approvers_channel, CARDS_AT_HOME) for each in settings.routes.values()),
    ]
    for setting, name, told in dict.fromkeys(given):
        is_name = name and (name.startswith("#") or (setting == "routes" and not is_id(name)))
        if name and is_name and name.removeprefix("#") not in channels:
            yield f"{variable(setting)} names {name}, and {NOT_THERE}: {told}. {MEND}"


async def _identity(client: AsyncWebClient, *, wait: float) -> tuple[Identity, Sequence[str]]:
    """Who we are, and the scopes of our token."""

    async def ask() -> AsyncSlackResponse | Retry | Uncertain | Refused:
        return await answered(client.auth_test(), asked=dict.fromkeys(_IDENTITY, str))

    answer = await _patiently(client, ask, wait=wait)
    if isinstance(answer, Refused):
        raise SettingsError(f"Slack does not accept SLACK_BOT_TOKEN: {answer.code}.")
    told = cast("dict[str, str]", answer.data)
    scopes = cast("Mapping[str, str]", answer.headers).get("x-oauth-scopes", "")
    listed = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    identity = Identity(
        team=told["team_id"],
        user=told["user_id"],
        bot=told["bot_id"],
        enterprise=told.get("enterprise_id") or "",
    )
    return identity, listed


async def _app(client: AsyncWebClient, bot: str, *, wait: float) -> str:
    """The id of our app; empty when Slack does not let us know."""

    async def ask() -> AsyncSlackResponse | Retry | Uncertain | Refused:
        return await answered(client.bots_info(bot=bot))

    answer = await _patiently(client, ask, wait=wait)
    if isinstance(answer, Refused):
        return ""
    return text_of(inside(cast("Answer", answer.data), "bot.app_id"))


async def _channels(client: AsyncWebClient, replies: Replies, *, wait: float) -> Mapping[str, str]:
    """The ids of the channels we can see, by name."""
    found = await _patiently(client, replies.channels, wait=wait)
    if isinstance(found, Refused):
        why = found.sentence
        raise SettingsError(f"Channels cannot be listed, and settings with #names need it. {why}")
    return found


def silence(api_url: str, why: str = "") -> SlackUnavailable:
    """What is raised when Slack does not answer there; the setting is named where it was set."""
    usual = api_url == Settings.model_fields["slack_api_url"].default
    told = (
        f"Slack ({api_url}) does not answer" if usual else "Slack does not answer at SLACK_API_URL"
    )
    return SlackUnavailable(f"{told} ({why})." if why else f"{told} now.")


async def _patiently(
    client: AsyncWebClient,
    ask: Callable[[], Awaitable[Found | Retry | Uncertain | Refused]],
    *,
    wait: float,
) -> Found | Refused:
    """What Slack says in the end; raises SlackUnavailable after too many seconds of silence."""
    attempts = AsyncRetrying(
        stop=stop_before_delay(wait),
        wait=_pause,
        retry=retry_if_result(lambda found: isinstance(found, Retry | Uncertain)),
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    found = cast("Found | Retry | Uncertain | Refused", await attempts(ask))
    match found:
        case Retry():
            raise silence(client.base_url)
        case Uncertain(why=why):
            raise silence(client.base_url, why)
        case _:
            return found


def _pause(state: RetryCallState) -> float:
    """Seconds to wait: as many as Slack asks for, or a few more each time."""
    found = state.outcome.result() if state.outcome else None
    asked = found.after_s if isinstance(found, Retry) else 0.0
    return max(asked, wait_exponential(multiplier=0.2, max=5)(state))
