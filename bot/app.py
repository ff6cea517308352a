# pyright: reportUnknownMemberType=false
"""Settings -> all parts of one process, opened and closed in one place.

The order is that of need: the store, Slack, the agents, the way in and the way out. The door is
opened last and closed first.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import aiohttp
from google.genai import types

from agents import (
    Agent,
    InMemorySessionService,
    LlmRequest,
    Model,
    Slot,
    TicketSystem,
)
from agents.ledger import FileLedger, HttpLedger
from agents.reimbursement import reimbursement_agent
from agents.runtime.gemini import Gemini, GeminiOptions
from agents.runtime.rehearsal import RehearsalModel
from agents.runtime.slot.redis import Client, RedisSlot, Replicas, connect
from agents.stock_price import HttpPrices, stock_price_agent
from agents.summary import summary_agent
from agents.support import support_agent
from agents.time_off import time_off_agent
from bot import logs, storage, web
from bot.approvals.rules import book, usable
from bot.desk import Desk, furnished
from bot.embedded import EmbeddedStore
from bot.guide import guide
from bot.index import Index
from bot.needs import require_model, require_slack, require_store
from bot.roles import clock, listeners, worker
from bot.routing import require_agents
from bot.settings import REHEARSAL, Route, Settings
from bot.slack.workspace import team, workspace
from bot.tickets.http import HttpTickets
from bot.tickets.local import LocalTickets
from bot.turns import Saved

STORE_WAIT = 30.0
RELEASE_WAIT = 120.0
AGAIN = 0.5
"""Seconds before a cancelled opening is cancelled again: a client may swallow a cancellation."""
DAY = timedelta(days=1)

Work = Callable[[asyncio.Event], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """One process, open: `port` is where it listens (0 without web), `work` what it does.

    `slot`, `tickets` (where the bundled ones live), `agents` and `routes` (by channel id) are for
    whoever wants to look into it.
    """

    port: int
    work: Sequence[Work]
    door: AsyncExitStack
    slot: Slot
    tickets: Slot
    agents: Sequence[Agent]
    routes: Mapping[str, Route]

    async def run(self, stopping: asyncio.Event) -> None:
        """Do the work until `stopping` is set: then take nothing new and end what is in hand."""
        async with asyncio.TaskGroup() as group:
            for each in self.work:
                group.create_task(_until(each, stopping))
            await stopping.wait()
            logs.info("bot.stopping")
            await self.door.aclose()


async def run(settings: Settings, *, stopping: asyncio.Event) -> None:
    """Play the roles of `settings` until `stopping` is set.

    Raises SettingsError, SlackUnavailable, StoreUnavailable, StoreUnsafe: one sentence each.
    """
    require_slack(settings)
    require_model(settings)
    async with AsyncExitStack() as stack:
        bot = await unless(stopping, stack.enter_async_context(opened(settings)))
        if bot:
            await bot.run(stopping)
    logs.info("bot.stopped")


async def unless(stopping: asyncio.Event, opening: Awaitable[Bot]) -> Bot | None:
    """What was opened; None when told to stop before that, for store or Slack may take long."""
    tasks = asyncio.ensure_future(opening), asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        while not all(each.done() for each in tasks):
            for each in tasks:
                each.cancel()
            await asyncio.wait(tasks, timeout=AGAIN)
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def opened(
    settings: Settings, *, agents: Sequence[Agent] | None = None
) -> AsyncGenerator[Bot]:
    """All parts of one process; `agents` stand in for those of this project."""
    require_store(settings)
    async with AsyncExitStack() as stack:
        store = await _store(settings, stack)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        slack = await workspace(settings, session)
        kept, shelf = _kept(settings, store), _kept(settings, store, least=settings.ticket_ttl)
        tickets = _tickets(settings, shelf, session=session, tenant=slack.identity.team)
        if agents is None:
            agents = ours(settings, session=session, tickets=tickets)
        desk = furnished(
            settings,
            store=store,
            kept=kept,
            saved=kept.saved,
            slack=slack,
            tickets=tickets,
            agents=[*agents, guide(agents, settings.routes)],
        )
        stack.push_async_callback(desk.homes.close)
        await desk.recall.look()
        work = (*_work(settings, desk, stack), desk.recall.run)
        door = await stack.enter_async_context(AsyncExitStack())
        port = await _open_door(settings, desk, door)
        logs.info("bot.started", roles=",".join(settings.roles), port=port)
        yield Bot(
            port=port,
            work=work,
            door=door,
            slot=desk.slot,
            tickets=shelf,
            agents=desk.agents,
            routes=desk.routes,
        )


@asynccontextmanager
async def kept(settings: Settings) -> AsyncGenerator[tuple[Slot, Index, Saved]]:
    """The store alone, as an operator works with it: sessions, what is due when, what is saved.

    Raises SettingsError, StoreUnavailable, StoreUnsafe.
    """
    async with AsyncExitStack() as stack:
        store = await _store(settings, stack)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        tenant = await team(settings, session)
        slot = _kept(settings, store)
        yield slot, Index(store, prefix=settings.key_prefix, tenant=tenant), slot.saved


async def release(settings: Settings) -> str:
    """Check what a release would run with; a sentence when all is well.

    Raises SettingsError, StoreUnavailable, StoreUnsafe.
    """
    require_slack(settings)
    require_model(settings)
    await _check_agents(settings)
    if settings.redis_url is None:
        return "The settings are complete but for REDIS_URL, which the add-on has yet to set."
    async with AsyncExitStack() as stack:
        await _store(settings, stack, wait=RELEASE_WAIT)
    return "Settings and store are ready."


async def _check_agents(settings: Settings) -> None:
    """Whether routes and policies fit the agents; raises SettingsError."""
    async with aiohttp.ClientSession() as session:
        tickets = LocalTickets(InMemorySessionService().slot, tenant=settings.tenant)
        agents = ours(settings, session=session, tickets=tickets)
    agents = (*agents, guide(agents))
    require_agents(settings.routes, [agent.name for agent in agents])
    usable(book(settings, agents))


def ours(
    settings: Settings, *, session: aiohttp.ClientSession, tickets: TicketSystem
) -> tuple[Agent, ...]:
    """The agents of this project; the guide to them comes by itself."""
    ledger = (
        HttpLedger(settings.payments_url, session=session)
        if settings.payments_url
        else FileLedger(settings.ledger_path)
    )
    url = settings.stock_price_url
    look_up = HttpPrices(url, session=session).get_stock_price if url else None
    return (
        reimbursement_agent(ledger),
        time_off_agent(),
        stock_price_agent(look_up),
        summary_agent(),
        support_agent(tickets),
    )


async def store_findings(settings: Settings, *, wait: float) -> Sequence[storage.Finding]:
    """What is wrong with the store; raises StoreUnavailable when it does not answer in time."""
    async with AsyncExitStack() as stack:
        client = await _connected(settings, stack, wait=wait)
        return await storage.look(client, storage.demanded(settings), prefix=settings.key_prefix)


async def left_behind(
    settings: Settings, *, tenant: str, agents: Collection[str], wait: float
) -> Mapping[str, int]:
    """How many sessions there are of each agent that is none of these; raises as the store does."""
    async with AsyncExitStack() as stack:
        store = await _connected(settings, stack, wait=wait)
        slot = _kept(settings, store)
        index = Index(store, prefix=settings.key_prefix, tenant=tenant)
        gone = [name for name in await index.lists.apps() if name not in agents]
        found = {name: len(await slot.list(app=name, tenant=tenant)) for name in gone}
    return {name: count for name, count in found.items() if count}


async def ask_model(settings: Settings) -> None:
    """Have the default model say something; raises ModelError or ModelUnavailable."""
    said = types.Content(role="user", parts=[types.Part(text="Say yes.")])
    async with AsyncExitStack() as stack:
        model = _models(settings, stack)("")
        async for _ in model.generate_content_async(LlmRequest(contents=[said])):
            pass


async def _store(settings: Settings, stack: AsyncExitStack, *, wait: float = STORE_WAIT) -> Client:
    """A client of the store, which answers and may be used."""
    client = await _connected(settings, stack, wait=wait)
    await storage.check_store(client, storage.demanded(settings), prefix=settings.key_prefix)
    return client


async def _connected(settings: Settings, stack: AsyncExitStack, *, wait: float) -> Client:
    if settings.redis_url:
        url = settings.redis_url.get_secret_value()
    else:
        url = (await stack.enter_async_context(EmbeddedStore(settings.data_dir))).url
    if url.startswith("rediss://") and not settings.verified:
        logs.warning("settings.unsafe", why="nobody checks that the store is the one it says it is")
    client = partial(connect, url, connections=settings.connections, verify=settings.verified)
    return await _reached(client, stack, wait=wait)


async def _reached(
    client: Callable[..., Client], stack: AsyncExitStack, *, wait: float = STORE_WAIT
) -> Client:
    """A client of one server, or of the cluster that it turns out to belong to."""
    found = client()
    stack.push_async_callback(found.aclose)
    await storage.wait_for_store(found, seconds=wait)
    if not await storage.is_in_cluster(found):
        return found
    await found.aclose()
    nodes = client(cluster=True)
    stack.push_async_callback(nodes.aclose)
    await storage.wait_for_store(nodes, seconds=wait)
    return nodes


def _kept(settings: Settings, store: Client, *, least: timedelta = timedelta()) -> RedisSlot:
    """Where sessions live; those of tickets, which may lie untouched while waited for, live longer.

    Nothing there is forgotten before it was untouched for session_ttl, and `least` and a day.
    """
    lives = max(settings.session_ttl, least + DAY)
    return RedisSlot(
        store,
        prefix=settings.key_prefix,
        session_ttl=int(lives.total_seconds() * 1000),
        replicas=Replicas(settings.store_replicas, settings.store_replica_wait),
    )


@asynccontextmanager
async def local_tickets(url: str, *, tenant: str) -> AsyncGenerator[LocalTickets]:
    """The bundled ticket system in the store at an address, for those who work on tickets."""
    async with AsyncExitStack() as stack:
        client = await _reached(partial(connect, url), stack)
        yield LocalTickets(RedisSlot(client), tenant=tenant)


def _tickets(
    settings: Settings, kept: Slot, *, session: aiohttp.ClientSession, tenant: str
) -> TicketSystem:
    """Where tickets are opened: a service, or the store."""
    if settings.tickets_url is None:
        return LocalTickets(kept, tenant=tenant)
    token = settings.tickets_token
    return HttpTickets(
        settings.tickets_url, session=session, token=token.get_secret_value() if token else ""
    )


def _work(settings: Settings, desk: Desk, stack: AsyncExitStack) -> tuple[Work, ...]:
    """What the roles of this process do while it runs."""
    work: list[Work] = []
    if "worker" in settings.roles:
        work.append(worker(settings, desk, models=_models(settings, stack)).run)
    if "clock" in settings.roles:
        work.append(clock(settings, desk).run)
    return tuple(work)


def _models(settings: Settings, stack: AsyncExitStack) -> Callable[[str], Model]:
    """The models by name, all on one client; without a name the default one."""
    if settings.model == REHEARSAL:
        return lambda _name: RehearsalModel()
    key = settings.gemini_api_key
    options = GeminiOptions(
        api_key=key.get_secret_value() if key else None,
        vertexai=settings.vertexai,
        project=settings.google_cloud_project,
        location=settings.google_cloud_location,
        base_url=settings.gemini_base_url,
        api_version=settings.gemini_api_version,
        timeout=settings.gemini_timeout.total_seconds(),
        fallbacks=settings.model_fallbacks,
    )
    gemini = Gemini(settings.model, options)
    stack.push_async_exit(gemini)
    return gemini.named


async def _open_door(settings: Settings, desk: Desk, door: AsyncExitStack) -> int:
    """Let Slack in, if this process has that role; returns the port."""
    if "web" not in settings.roles:
        return 0
    listening = listeners(settings, desk)
    secret, token = settings.slack_signing_secret, settings.slack_app_token
    app = listening.app(
        client=desk.slack.client, signing_secret=secret.get_secret_value() if secret else ""
    )
    door.push_async_callback(listening.close)
    if token:
        await door.enter_async_context(web.socket_mode(app, app_token=token.get_secret_value()))
    made = web.application(slack=app if secret else None, ready=desk.index.answers)
    return await door.enter_async_context(web.serve(made, port=settings.port, host=settings.host))


async def _until(work: Work, stopping: asyncio.Event) -> None:
    """Do work; when it fails, everything stops."""
    try:
        await work(stopping)
    finally:
        stopping.set()
