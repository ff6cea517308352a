"""Signs what Slack sends and delivers it to the bot, events again and again, clicks once."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp

from bot.playground.feed import Feed
from bot.playground.sockets import Answer, Sockets
from bot.slack.checks import JsonObject

RETRY_AFTER = (0.0, 60.0, 300.0)
PATIENCE = 3.0
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Delivered:
    """One attempt to give the bot something; `attempt` 0 is the first.

    `kind` is the event's, the interaction's or the command's name, `body` what HTTP carried.
    """

    kind: str
    body: str
    answer: Answer
    attempt: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def ok(self) -> bool:
        """Whether the bot acknowledged it."""
        return self.answer.ok

    @property
    def status(self) -> int:
        """The HTTP status, 0 when there was none."""
        return self.answer.status


@dataclass(frozen=True)
class _Parcel:
    """A payload in both of its dresses: as an HTTP body and as a socket's envelope."""

    kind: str
    body: str
    content_type: str
    envelope: JsonObject


class Delivery:
    """The way from the workspace to the bot; `url` is where the bot listens now."""

    def __init__(
        self,
        *,
        signing_secret: str,
        clock: Callable[[], float],
        feed: Feed,
        sockets: Sockets,
        retry_after: tuple[float, ...] = RETRY_AFTER,
        patience: float = PATIENCE,
    ) -> None:
        self.url: str | None = None
        self.records: list[Delivered] = []
        self._secret = signing_secret
        self._clock = clock
        self._feed = feed
        self._sockets = sockets
        self._retry_after = retry_after
        self._patience = patience
        self._background: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._session.close()

    async def event(self, envelope: JsonObject) -> Delivered:
        """Deliver an event; the first attempt is returned, retries go on in the background."""
        parcel = _Parcel(
            kind=envelope["event"]["type"],
            body=json.dumps(envelope),
            content_type="application/json",
            envelope={"type": "events_api", "accepts_response_payload": False, "payload": envelope},
        )
        first = await self._deliver(parcel)
        if not first.ok and first.answer.may_retry:
            self.spawn(self._retry(parcel, first.answer.reason))
        return first

    async def interaction(self, payload: JsonObject) -> Delivered:
        """Deliver a click or a modal's submission, once."""
        parcel = _Parcel(
            kind=payload["type"],
            body=urlencode({"payload": json.dumps(payload)}),
            content_type=_FORM,
            envelope={"type": "interactive", "accepts_response_payload": True, "payload": payload},
        )
        return await self._deliver(parcel)

    async def command(self, fields: dict[str, str]) -> Delivered:
        """Deliver a slash command, once."""
        envelope = {"type": "slash_commands", "accepts_response_payload": True, "payload": fields}
        parcel = _Parcel(fields["command"], urlencode(fields), _FORM, envelope)
        return await self._deliver(parcel)

    async def raw(self, body: str, headers: Mapping[str, str]) -> Delivered:
        """Post any body with any headers to the bot, as an attacker or a faulty network would."""
        return self._record(Delivered("raw", body, await self._post(body, headers), 0, headers))

    def signed(self, body: str, *, now: float | None = None) -> dict[str, str]:
        """The headers that prove a body comes from Slack, at a time in seconds."""
        timestamp = str(int(self._clock() if now is None else now))
        signed = f"v0:{timestamp}:{body}".encode()
        digest = hmac.new(self._secret.encode(), signed, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a delivery beside what is going on; leaving the block ends it."""
        # Not a TaskGroup: that must be left by the task that entered it, a fixture is not.
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def settled(self) -> None:
        """Wait until nothing is on its way to the bot, retries included."""
        while self._background:
            await asyncio.wait(self._background)

    async def _retry(self, parcel: _Parcel, reason: str) -> None:
        for attempt, pause in enumerate(self._retry_after, start=1):
            await asyncio.sleep(pause)
            again = await self._deliver(parcel, attempt=attempt, reason=reason)
            if again.ok or not again.answer.may_retry:
                return
            reason = again.answer.reason

    async def _deliver(self, parcel: _Parcel, *, attempt: int = 0, reason: str = "") -> Delivered:
        headers = {"Content-Type": parcel.content_type, **self.signed(parcel.body)}
        envelope = parcel.envelope
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
            envelope = envelope | {"retry_attempt": attempt, "retry_reason": reason}
        if self._sockets.connected:
            answer = await self._sockets.ask(envelope, patience=self._patience)
        else:
            answer = await self._post(parcel.body, headers)
        return self._record(Delivered(parcel.kind, parcel.body, answer, attempt, headers))

    async def _post(self, body: str, headers: Mapping[str, str]) -> Answer:
        if self.url is None:
            return Answer(0, reason="connection_failed")
        timeout = aiohttp.ClientTimeout(total=self._patience)
        try:
            async with self._session.post(
                self.url,
                data=body.encode(),
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                text = await response.text()
                may_retry = response.headers.get("X-Slack-No-Retry") != "1"
                reason = "" if response.ok else "http_error"
                return Answer(response.status, text, reason, may_retry)
        except TimeoutError:
            return Answer(0, reason="http_timeout")
        except aiohttp.ClientError:
            return Answer(0, reason="connection_failed")

    def _record(self, delivered: Delivered) -> Delivered:
        self.records.append(delivered)
        status = str(delivered.status)
        self._feed.publish({"kind": "delivery", "what": delivered.kind, "status": status})
        return delivered
