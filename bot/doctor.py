"""`python -m bot doctor`: asks every part whether it works, and says what to do where it does not.

Each part is asked separately, so that one fault hides no other.
"""

import os
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import aiohttp

from agents import Agent, InMemorySessionService, ModelError, ModelUnavailable
from bot import storage
from bot.advice import advice
from bot.approvals.rules import book
from bot.errors import BotError, SettingsError, SlackUnavailable
from bot.needs import require_model, require_slack, require_store
from bot.routing import GUIDE, require_agents
from bot.settings import REHEARSAL, Settings, variable
from bot.slack import probe
from bot.slack.deciders import groups, unable, unseated
from bot.slack.manifest import SCOPES
from bot.slack.text import visible
from bot.slack.workspace import Workspace, missing, workspace
from bot.tickets.local import LocalTickets
from bot.web import EVENTS

WAIT = 5.0
"""Seconds that each part is given to answer in."""

LEFT = (
    "whoever writes there is told so, and each ends with its last open call. Deploy the agent again"
    " if its calls are to be done."
)
WHERE_IT_IS = "It is the Bot User OAuth Token, under OAuth & Permissions."

LEVELS: Mapping[str, Literal["ok", "warn", "wrong"]] = MappingProxyType(
    {"refuse": "wrong", "warn": "warn", "note": "ok"}
)
"""What a finding about the store means for the bot."""


Level = Literal["ok", "warn", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part: `wrong` means that the bot cannot do its work like this."""

    level: Level
    part: str
    text: str

    def __str__(self) -> str:
        """One line for the operator."""
        return f"{self.level:<6}{self.part:<10}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """How to reach what only the app puts together.

    `store` says what is wrong with the store and raises BotError when it does not answer in `wait`
    seconds, `model` has the model say something and raises ModelError, `agents` are all agents.
    `left` are the numbers of sessions of agents that are none of some; raises as `store` does.
    """

    store: Callable[..., Awaitable[Sequence[storage.Finding]]]
    model: Callable[[Settings], Awaitable[None]]
    agents: Callable[..., Sequence[Agent]]
    left: Callable[..., Awaitable[Mapping[str, int]]]


async def examine(settings: Settings, parts: Parts) -> AsyncIterator[Finding]:
    """Ask every part, in the order of need."""
    for each in _settings(settings):
        yield each
    async for each in _store(settings, parts):
        yield each
    async with aiohttp.ClientSession() as session:
        tickets = LocalTickets(InMemorySessionService().slot, tenant=settings.tenant)
        agents = parts.agents(settings, session=session, tickets=tickets)
        async for each in _slack(settings, session, agents, parts=parts):
            yield each
        async for each in _door(settings, session):
            yield each
    async for each in _model(settings, parts):
        yield each
    for sentence in advice(agents):
        yield Finding("warn", "tool", sentence)


def _settings(settings: Settings) -> Iterator[Finding]:
    """Whether anything is missing."""
    complaints = [
        text
        for require in (require_slack, require_store, require_model)
        if (text := _complaint(require, settings))
    ]
    for text in complaints:
        yield Finding("wrong", "settings", text)
    if not complaints:
        names = ", ".join(sorted(map(variable, settings.model_fields_set)))
        yield Finding("ok", "settings", f"Nothing is missing. Said are: {names}.")


def _complaint(require: Callable[[Settings], None], settings: Settings) -> str:
    try:
        require(settings)
    except SettingsError as error:
        return str(error)
    return ""


def _embedded(folder: Path) -> Finding:
    """Whether the embedded store has a folder to write in, or can make it."""
    there = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    if there.is_dir() and os.access(there, os.W_OK):
        return Finding("ok", "store", f"Embedded, in the folder {folder}.")
    told = f"COUNTERSIGN_DATA_DIR: {folder} cannot be a folder to write in."
    return Finding("wrong", "store", told)


async def _store(settings: Settings, parts: Parts) -> AsyncIterator[Finding]:
    """Whether the store answers, keeps what it is given, and has room."""
    if settings.redis_url is None:
        yield _embedded(settings.data_dir)
        return
    try:
        found = await parts.store(settings, wait=WAIT)
    except BotError as error:
        yield Finding("wrong", "store", f"{error} Check REDIS_URL.")
        return
    if all(each.level == "note" for each in found):
        yield Finding("ok", "store", "It answers and keeps what it is given.")
    for each in found:
        level = LEVELS[each.level]
        yield Finding(level, "store", f"{each.text[:1].upper()}{each.text[1:]}.")


async def _slack(
    settings: Settings,
    session: aiohttp.ClientSession,
    agents: Sequence[Agent],
    *,
    parts: Parts,
) -> AsyncIterator[Finding]:
    """Whether the workspace knows us, lets us do our work, and has whom and what we name.

    Where it does not answer, or nothing says which one it is, agents and policies are looked at.
    """
    found = None
    try:
        if settings.slack_bot_token:
            found = await workspace(settings, session, wait=WAIT)
    except (SettingsError, SlackUnavailable) as error:
        where = f" {WHERE_IT_IS}" if "SLACK_BOT_TOKEN" in str(error) else ""
        yield Finding("wrong", "slack", f"{error}{where}")
    if found:
        yield Finding("ok", "slack", f"The workspace {found.identity.team} knows us.")
        yield _scopes(found)
        async for each in _socket(settings, found):
            yield each
        async for each in _left(settings, found, agents, parts=parts):
            yield each
    for each in _routes(settings, found, agents):
        yield each
    async for each in _deciders(settings, found, agents):
        yield each


async def _left(
    settings: Settings, found: Workspace, agents: Sequence[Agent], *, parts: Parts
) -> AsyncIterator[Finding]:
    """Which agents have sessions and are not there, as far as the store answers."""
    if settings.redis_url is None:
        return
    names = [GUIDE, *(agent.name for agent in agents)]
    try:
        left = await parts.left(settings, tenant=found.identity.team, agents=names, wait=WAIT)
    except BotError:
        return
    for name, count in left.items():
        have = "1 session belongs" if count == 1 else f"{count} sessions belong"
        text = (
            f"{have} to the agent {visible(name)[0]}, which this deployment does not have; {LEFT}"
        )
        yield Finding("warn", "sessions", text)


def _scopes(found: Workspace) -> Finding:
    missing = [scope for scope in SCOPES if scope not in found.scopes]
    if not missing:
        return Finding("ok", "scopes", "The token has all that the manifest asks for.")
    how = "Add them under OAuth & Permissions and install the app again."
    return Finding("wrong", "scopes", f"The token lacks {', '.join(missing)}. {how}")


async def _socket(settings: Settings, found: Workspace) -> AsyncIterator[Finding]:
    token = settings.slack_app_token
    if token is None:
        return
    try:
        code = await probe.socket(found.client, app_token=token.get_secret_value())
    except (aiohttp.ClientError, TimeoutError) as error:
        code = type(error).__name__
    how = "Make one under Basic Information, App-Level Tokens, with connections:write."
    if code:
        yield Finding("wrong", "socket", f"Slack refuses SLACK_APP_TOKEN: {code}. {how}")
    else:
        yield Finding("ok", "socket", "Slack opens a websocket for SLACK_APP_TOKEN.")


def _routes(
    settings: Settings, found: Workspace | None, agents: Sequence[Agent]
) -> Iterator[Finding]:
    """Whether agents and channels that the settings name are there."""
    names = [GUIDE, *(agent.name for agent in agents)]
    try:
        require_agents(settings.routes, names)
    except SettingsError as error:
        yield Finding("wrong", "routes", f"{error} See COUNTERSIGN_ROUTES.")
        return
    if not settings.routes:
        text = "No channel has an agent: COUNTERSIGN_ROUTES maps channels to agents."
        yield Finding("warn", "routes", text)
    for text in missing(settings, found.channels) if found else ():
        yield Finding("wrong", "routes", text)


async def _deciders(
    settings: Settings, found: Workspace | None, agents: Sequence[Agent]
) -> AsyncIterator[Finding]:
    """Whether there is somebody to decide, and Slack knows who that is."""
    try:
        policies = book(settings, agents)
        names = {*policies.names, *chain(*settings.approver_roles.values())}
        if found:
            policies = book(settings, agents, groups=await groups(names, found))
    except SettingsError as error:
        yield Finding("wrong", "policies", str(error))
        return
    for complaint in policies.complaints:
        text = f"{complaint.text[:1].upper()}{complaint.text[1:]}."
        level: Level = "wrong" if complaint.refuse else "warn"
        yield Finding(level, "policies", f"{text} See COUNTERSIGN_APPROVERS and its neighbours.")
    if found is None:
        return
    named = sorted({*policies.names, *settings.approvers})
    wrong = {name: told for name in named if (told := await unable(name, found))}
    for told in wrong.values():
        yield Finding("warn", "policies", told)
    async for told in unseated([n for n in named if n not in wrong], settings, found):
        yield Finding("warn", "policies", told)


async def _door(settings: Settings, session: aiohttp.ClientSession) -> AsyncIterator[Finding]:
    """Whether the running bot accepts what is signed with our secret."""
    secret = settings.slack_signing_secret
    if secret is None:
        return
    url = (settings.public_url or f"http://127.0.0.1:{settings.port}").rstrip("/") + EVENTS
    try:
        status = await probe.signed(
            session, url, secret=secret.get_secret_value(), timestamp=int(time.time())
        )
    except (aiohttp.ClientError, TimeoutError):
        text = f"Nobody answers at {url}: start the bot, and ask again."
        yield Finding("warn", "secret", text)
        return
    if status == 200:
        yield Finding("ok", "secret", f"{url} takes what SLACK_SIGNING_SECRET signs.")
    else:
        how = "Does the bot there run with this SLACK_SIGNING_SECRET (Basic Information)?"
        yield Finding("wrong", "secret", f"{url} refuses what it signs, with {status}. {how}")


async def _model(settings: Settings, parts: Parts) -> AsyncIterator[Finding]:
    """Whether the model answers."""
    if settings.model == REHEARSAL:
        yield Finding("ok", "model", "The rehearsal model, which is no LLM.")
        return
    if not (settings.gemini_api_key or settings.vertexai):
        return
    try:
        await parts.model(settings)
    except ModelUnavailable as error:
        how = "Trying again may help; if not, look at the network and at GEMINI_BASE_URL."
        yield Finding("wrong", "model", f"{error}. {how}")
    except ModelError as error:
        yield Finding("wrong", "model", f"{error}.")
    else:
        yield Finding("ok", "model", f"{settings.model} answers.")
