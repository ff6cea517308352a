# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false
"""The Bolt app: store or decide, acknowledge, and nothing slow.

Events are stored in a global middleware, because Bolt acknowledges them before its listeners run;
clicks are decided in one as well, because people wait for them and listeners cost time: right after
the signature, since what they may do does not depend on what Bolt would look up.
When the store is down, an event is answered 503 and Slack brings it again; a click is answered 503
and the person sees a warning, since Slack does not bring it again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from agents import StoreUnavailable
from bot import logs
from bot.errors import SettingsError
from bot.slack import events, payloads
from bot.slack.clicks import INACTIVE, OUTSIDER, Clicks
from bot.slack.commands import COMMAND, Commands
from bot.slack.groups import Groups
from bot.slack.home import Homes
from bot.slack.messages import Messages
from bot.slack.origin import misfit
from bot.slack.payloads import Click, Ignored, Payload, Submission
from bot.slack.people import People
from bot.slack.strangers import Strangers
from bot.slack.workspace import Identity

PATIENCE = 2.2
"""Seconds for storing or deciding: Slack waits three."""
LATE = (
    "That took too long, so I do not know whether it counted. If nothing changes in a moment,"
    " please try again."
)
ANY = re.compile("")
NO_COMMAND = (
    "I do not know that command. Mention me in an agent's channel, or write to me directly."
)


class Taker(Protocol):
    """Who stores what an event means, before Slack hears 200."""

    async def take(self, body: Payload) -> None:
        """Store it; raises StoreUnavailable, and then Slack brings the event again."""
        ...


class _First(AsyncMiddleware):
    """Asks `answer` for all there is, and passes on what it leaves unanswered."""

    def __init__(self, answer: Callable[[Payload], Awaitable[BoltResponse | None]]) -> None:
        self._answer = answer

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt calls it so
    ) -> BoltResponse | None:
        """What a global middleware does in Bolt."""
        del resp
        answer = await self._answer(req.body)
        if answer is None:
            await next()
        return answer


class Listeners:
    """Everything that Slack may send, each with its answer."""

    def __init__(
        self,
        *,
        messages: Messages,
        clicks: Clicks,
        people: People,
        identity: Identity,
        groups: Groups | None = None,
        homes: Homes | None = None,
        commands: Commands | None = None,
        strangers: Strangers | None = None,
        takers: Sequence[Taker] = (),
    ) -> None:
        """Keep the parts; `takers` hear of events before messages do."""
        self._clicks = clicks
        self._people = people
        self._identity = identity
        self._groups = groups
        self._homes = homes
        self._commands = commands
        self._strangers = strangers
        self._takers = (*takers, messages)

    def app(self, *, client: AsyncWebClient, signing_secret: str) -> AsyncApp:
        """The Bolt app; an empty signing secret is for Socket Mode only."""
        app = AsyncApp(
            name="countersign",
            client=_without_token(client),
            signing_secret=signing_secret,
            before_authorize=_First(self.on_click),
            authorize=_authorize(self._identity),
            process_before_response=True,
            request_verification_enabled=bool(signing_secret),
        )
        if app.oauth_flow is not None:
            raise SettingsError("SLACK_CLIENT_ID and SLACK_CLIENT_SECRET must be unset.")
        app.use(_First(self.on_event))
        app.view_closed(ANY)(self.on_nothing)
        app.command(ANY)(self.on_command)
        app.shortcut(ANY)(self.on_shortcut)
        app.options(ANY)(self.on_options)
        app.error(self.on_error)
        return app

    async def on_click(self, body: Payload) -> BoltResponse | None:
        """Decide a pressed button or a sent modal, then answer; None for all else."""
        match body.get("type"):
            case "block_actions" | "interactive_message":
                return await self.on_action(body)
            case "view_submission":
                return await self.on_submission(body)
            case _:
                return None

    async def on_event(self, body: Payload) -> BoltResponse | None:
        """Store an event, then answer; None for what has a listener."""
        match body.get("type"):
            case "event_callback":
                self._forget(body)
                self._open_home(body)
                if self._strangers:
                    self._strangers.hear(body)
                return await self._in_time(self._take(body))
            case "app_rate_limited":
                logs.warning("slack.rate_limited", minute=body.get("minute_rate_limited"))
                return _ok()
            case _:
                return None

    async def on_action(self, body: Payload) -> BoltResponse:
        """Decide a pressed button at once; a changed input only wants its 200."""
        click = payloads.click(body)
        if isinstance(click, Ignored):
            return _ok()
        if field := misfit(body, self._identity):
            return await self._in_time(self._clicks.misplaced(click, field), sent=click)
        return await self._in_time(self._clicks.press(click), sent=click)

    async def on_submission(self, body: Payload) -> BoltResponse:
        """Decide a submitted modal; the answer closes it, or says what is wrong."""
        sent = payloads.submission(body)
        if isinstance(sent, Ignored):
            logs.warning("click.unknown", action=sent.reason)
            return _ok()
        if field := misfit(body, self._identity):
            return await self._in_time(self._clicks.misplaced(sent, field), sent=sent)
        return await self._in_time(self._clicks.submit(sent), sent=sent)

    async def on_command(self, body: Payload) -> BoltResponse:
        """Answer a slash command, or say that nobody knows it."""
        command = payloads.command(body)
        if command.by.team != self._identity.team:
            logs.warning("click.refused", why="outsider", person=command.by.id)
            return _ok({"response_type": "ephemeral", "text": OUTSIDER})
        if self._commands and command.name == COMMAND:
            return await self._in_time(self._commands.answer(command))
        logs.warning("click.unknown", action=command.name, person=command.by.id)
        return _ok({"response_type": "ephemeral", "text": NO_COMMAND})

    async def on_shortcut(self, body: Payload) -> BoltResponse:
        """Answer a shortcut that is no longer ours."""
        by = payloads.clicker(body)
        if by:
            logs.warning("click.unknown", action=body.get("callback_id"), person=by.id)
            self._clicks.tell(by, payloads.place(body), INACTIVE)
        return _ok()

    async def on_options(self) -> BoltResponse:
        """Answer a menu of an old message that wants its options."""
        return _ok({"options": []})

    async def on_nothing(self) -> BoltResponse:
        """Acknowledge what needs no answer."""
        return _ok()

    async def on_error(self, error: Exception) -> BoltResponse:
        """Log what nobody expected; Slack shows the person a warning."""
        logs.error("slack.request_failed", error=error)
        return BoltResponse(status=500, body="")

    async def close(self) -> None:
        """Wait for the private notes that are still on their way."""
        await self._clicks.close()

    async def _take(self, body: Payload) -> None:
        for each in self._takers:
            await each.take(body)

    def _open_home(self, body: Payload) -> None:
        """Show somebody their Home, which they opened."""
        if self._homes and (person := events.home_opened(body)):
            self._clicks.later(self._homes.opened(person))

    async def _in_time(
        self,
        work: Awaitable[Mapping[str, Any] | None],
        *,
        sent: Click | Submission | None = None,
    ) -> BoltResponse:
        """Slack's answer, also where there is none in time: then who `sent` it reads a sentence."""
        try:
            async with asyncio.timeout(PATIENCE):
                return _ok(await work)
        except (StoreUnavailable, TimeoutError) as error:
            logs.warning("store.unavailable", error=error)
            if sent:
                self._clicks.tell(sent.by, sent.place, LATE)
            return BoltResponse(status=503, body="")

    def _forget(self, body: Payload) -> None:
        """Forget a person or a user group that changed: they are looked up at the next click."""
        person, group = events.changed_person(body), events.changed_group(body)
        if person:
            self._people.forget(person)
        if self._groups and (changed := person or group):
            self._groups.forget(changed)


def _authorize(identity: Identity) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Authorize without asking Slack: one workspace, one token, and no call before an answer."""
    ours = AuthorizeResult(
        enterprise_id=None,
        team_id=identity.team,
        bot_user_id=identity.user,
        bot_id=identity.bot,
    )

    async def authorize() -> AuthorizeResult:
        return ours

    return authorize


def _without_token(client: AsyncWebClient) -> AsyncWebClient:
    """A copy of the client without its token, with which Bolt would ask Slack who it is."""
    return AsyncWebClient(
        base_url=client.base_url, session=client.session, retry_handlers=client.retry_handlers
    )


def _ok(answer: Mapping[str, Any] | None = None) -> BoltResponse:
    return BoltResponse(status=200, body=dict(answer) if answer else "")
