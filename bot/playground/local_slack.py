"""A Slack on this machine, running: the workspace, its Web API, and its people."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Self, TypeVar

from aiohttp import web

from bot.playground import screens
from bot.playground.delivery import PATIENCE, RETRY_AFTER, Delivered, Delivery
from bot.playground.feed import Feed
from bot.playground.messages import full_text
from bot.playground.seats import Seats, Who
from bot.playground.sockets import Sockets
from bot.playground.web_api import ApiCall, Fault, FaultKind, WebApi
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject

T = TypeVar("T")

# These open nothing but the workspace on this machine.
SIGNING_SECRET = "local-signing-secret"  # noqa: S105
BOT_TOKEN = "xoxb-local-workspace"  # noqa: S105
APP_TOKEN = "xapp-local-workspace"  # noqa: S105


class LocalSlack(Seats):
    """Runs while its `async with` block does, on 127.0.0.1.

    Give the bot `api_url` and the tokens, and `connect` where it listens; or let it open a
    websocket. `retry_after` are the pauses in seconds before an event is delivered again.
    """

    def __init__(
        self,
        *,
        retry_after: tuple[float, ...] = RETRY_AFTER,
        patience: float = PATIENCE,
    ) -> None:
        self.signing_secret, self.bot_token, self.app_token = SIGNING_SECRET, BOT_TOKEN, APP_TOKEN
        self.feed = Feed()
        workspace = Workspace(now=time.time())
        workspace.on_change = self.feed.publish
        sockets = Sockets(workspace.new_id, self.feed)
        delivery = Delivery(
            signing_secret=SIGNING_SECRET,
            clock=time.time,
            feed=self.feed,
            sockets=sockets,
            retry_after=retry_after,
            patience=patience,
        )
        super().__init__(
            workspace,
            delivery=delivery,
            clock=time.time,
            response_url=lambda token: f"{self.url}/response/{token}",
        )
        self.web_api = WebApi(
            workspace,
            bot_token=BOT_TOKEN,
            app_token=APP_TOKEN,
            clock=time.time,
            feed=self.feed,
            sockets=sockets,
            after_call=self._echo,
        )
        self._sockets = sockets
        self._port = 0

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.delivery)
            application = web.Application()
            application.add_routes(self.web_api.routes())
            runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
            stack.push_async_callback(runner.cleanup)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            stack.push_async_callback(self._sockets.close)
            self._port = runner.addresses[0][1]
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()

    # The bot's side

    @property
    def url(self) -> str:
        """Where this Slack is, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api_url(self) -> str:
        """The `base_url` for slack_sdk's client."""
        return f"{self.url}/api/"

    def connect(self, events_url: str | None) -> None:
        """Say where the bot listens from now on; None while it is down."""
        self.delivery.url = events_url

    @property
    def listening(self) -> bool:
        """Whether the bot said where it listens, or holds a websocket open."""
        return self._sockets.connected or self.delivery.url is not None

    async def deliver_raw(self, body: str, headers: dict[str, str]) -> Delivered:
        """Post any body with any headers to the bot; `delivery.signed(body)` makes true ones."""
        return await self.delivery.raw(body, headers)

    async def deliver_event(self, event: JsonObject) -> Delivered:
        """Deliver any event, in the usual envelope."""
        self.workspace.tell_anyway(event, now=self.now)
        (delivered,) = await self.tell()
        return delivered

    def fail(
        self,
        method: str,
        kind: FaultKind,
        *,
        times: int = 1,
        seconds: float = 1.0,
        error: str = "fatal_error",
    ) -> None:
        """Let the next calls of a Web API method go wrong; see Fault."""
        self.web_api.add_fault(method, Fault(kind, seconds, error), times=times)

    def mend(self) -> None:
        """Let no call of the Web API go wrong any more."""
        self.web_api.forget_faults()

    def calls(self, method: str | None = None) -> list[ApiCall]:
        """The bot's calls so far, of one method or of all."""
        return [call for call in self.web_api.calls if method in (None, call.method)]

    async def settled(self) -> None:
        """Wait until nothing is on its way to the bot, retries included."""
        await self.delivery.settled()

    # Reading

    def messages(self, where: str) -> list[JsonObject]:
        """What stands in a channel, threads left out, oldest first."""
        channel = self.workspace.channel(where)
        return [screens.seen(channel, each) for each in channel.top_level()]

    def thread(self, where: str, ts: str) -> list[JsonObject]:
        """A message and its replies, oldest first."""
        channel = self.workspace.channel(where)
        return [screens.seen(channel, each) for each in channel.thread(ts)]

    def visible(self, who: Who, where: str) -> list[JsonObject]:
        """What a person sees in a channel: threads and their own ephemerals included."""
        channel = self.workspace.channel(where)
        return screens.visible(self.workspace, self.workspace.person(who), channel)

    def dms(self, who: Who) -> list[JsonObject]:
        """What stands in a person's DM with the bot, threads and ephemerals included."""
        person = self.workspace.person(who)
        return screens.visible(self.workspace, person, self.workspace.dm(person))

    def find(self, text: str, messages: list[JsonObject]) -> JsonObject | None:
        """The first message that shows the text, in its blocks or without."""
        return next((each for each in messages if text in full_text(each)), None)

    def modals(self, who: Who) -> list[JsonObject]:
        """A person's open modals, the top one last."""
        return screens.modals(self.workspace, self.workspace.person(who))

    def home(self, who: Who) -> JsonObject | None:
        """The Home the bot published for a person."""
        return screens.home(self.workspace, self.workspace.person(who))

    def status(self, where: str, thread_ts: str) -> str:
        """What the bot says it is doing in a thread, or ""."""
        channel = self.workspace.channel(where)
        return self.workspace.status(channel, thread_ts, now=self.now)

    def snapshot(self, who: Who) -> JsonObject:
        """All a person sees, as plain JSON."""
        person = self.workspace.person(who)
        return screens.snapshot(self.workspace, person, now=self.now)

    # Waiting

    def changes(self) -> AsyncIterator[JsonObject]:
        """Every change from now on: {"kind": …} and what it is about, never a text."""
        return self.feed.follow()

    async def wait_for(self, predicate: Callable[[], T | None], *, timeout: float = 30.0) -> T:  # noqa: ASYNC109 - as asyncio.wait_for
        """Wait until something holds, looking again at each change; what it was is returned.

        TimeoutError tells what is there instead.
        """
        try:
            async with asyncio.timeout(timeout):
                while not (found := predicate()):
                    await self.feed.after(len(self.feed.records))
                return found
        except TimeoutError:
            raise TimeoutError(f"did not happen in {timeout:g} s; {self._report()}") from None

    def _echo(self) -> None:
        """Tell the bot what its own call did, as Slack does."""
        for event in self.workspace.take_undelivered():
            self.delivery.spawn(self.delivery.event(event))

    def _report(self) -> str:
        deliveries = [f"{each.kind} -> {each.status}" for each in self.delivery.records[-8:]]
        calls = [
            f"{each.method} -> {each.answer.get('error', 'ok')}" for each in self.web_api.calls[-8:]
        ]
        return "\n".join(
            [
                "there is:",
                screens.summary(self.workspace),
                f"last deliveries: {', '.join(deliveries) or 'none'}",
                f"last calls: {', '.join(calls) or 'none'}",
            ]
        )
