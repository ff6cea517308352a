"""`python -m bot doctor`: asks every part whether it works, and says what to do where it does not.

Each part is asked for itself, so that one fault hides no other.
"""

import re
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Literal

import aiohttp

from agents import Agent, InMemorySessionService, ModelError
from bot import storage
from bot.advice import advice
from bot.approvals.policy import Person
from bot.approvals.rules import book
from bot.errors import BotError, SettingsError, SlackUnavailable
from bot.needs import require_model, require_slack, require_store
from bot.routing import GUIDE, resolved
from bot.settings import REHEARSAL, Settings, variable
from bot.slack import probe
from bot.slack.endings import Refused, Retry, Uncertain
from bot.slack.manifest import SCOPES
from bot.slack.people import person_of
from bot.slack.workspace import Workspace, channel_id, missing, workspace
from bot.tickets.local import LocalTickets
from bot.web import EVENTS

WAIT = 5.0
"""Seconds that each part is given to answer in."""

WHERE_IT_IS = "It is the Bot User OAuth Token, under OAuth & Permissions."

LEVELS: Mapping[str, Literal["ok", "warn", "wrong"]] = MappingProxyType(
    {"refuse": "wrong", "warn": "warn", "note": "ok"}
)
"""What a finding about the store is for the bot."""

_PERSON = re.compile(r"[UW][A-Z0-9]{2,}")
_GROUP = re.compile(r"S[A-Z0-9]{2,}")


Level = Literal["ok", "warn", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """How one part is: `wrong` means that the bot cannot do its work so."""

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
    """

    store: Callable[..., Awaitable[Sequence[storage.Finding]]]
    model: Callable[[Settings], Awaitable[None]]
    agents: Callable[..., Sequence[Agent]]


async def examine(settings: Settings, parts: Parts) -> AsyncIterator[Finding]:
    """Ask every part, in the order of need."""
    for each in _settings(settings):
        yield each
    async for each in _store(settings, parts):
        yield each
    async with aiohttp.ClientSession() as session:
        tickets = LocalTickets(InMemorySessionService().slot, tenant=settings.tenant)
        agents = parts.agents(settings, session=session, tickets=tickets)
        async for each in _slack(settings, session, agents):
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


async def _store(settings: Settings, parts: Parts) -> AsyncIterator[Finding]:
    """Whether the store answers, keeps what it is given, and has room."""
    if settings.redis_url is None:
        yield Finding("ok", "store", f"Embedded, in the folder {settings.data_dir}.")
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
    settings: Settings, session: aiohttp.ClientSession, agents: Sequence[Agent]
) -> AsyncIterator[Finding]:
    """Whether the workspace knows us, lets us do our work, and has whom and what we name."""
    if settings.slack_bot_token is None:
        return
    try:
        found = await workspace(settings, session, wait=WAIT)
    except (SettingsError, SlackUnavailable) as error:
        where = f" {WHERE_IT_IS}" if "SLACK_BOT_TOKEN" in str(error) else ""
        yield Finding("wrong", "slack", f"{error}{where}")
        return
    yield Finding("ok", "slack", f"The workspace {found.identity.team} knows us.")
    yield _scopes(found)
    async for each in _socket(settings, found):
        yield each
    for each in _routes(settings, found, agents):
        yield each
    async for each in _deciders(settings, found, agents):
        yield each


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


def _routes(settings: Settings, found: Workspace, agents: Sequence[Agent]) -> Iterator[Finding]:
    """Whether agents and channels that the settings name are there."""
    names = [GUIDE, *(agent.name for agent in agents)]
    try:
        resolved(settings.routes, agents=names, channels=found.channels)
    except SettingsError as error:
        yield Finding("wrong", "routes", f"{error} See COUNTERSIGN_ROUTES.")
        return
    if not settings.routes:
        text = "No channel has an agent: COUNTERSIGN_ROUTES maps channels to agents."
        yield Finding("warn", "routes", text)
    for text in missing(settings, found.channels):
        yield Finding("wrong", "routes", text)


async def _deciders(
    settings: Settings, found: Workspace, agents: Sequence[Agent]
) -> AsyncIterator[Finding]:
    """Whether there is somebody to decide, and Slack knows who that is."""
    try:
        names = {*book(settings, agents).names, *chain(*settings.approver_roles.values())}
        groups = await _groups(names, found)
        policies = book(settings, agents, groups=groups)
    except SettingsError as error:
        yield Finding("wrong", "policies", str(error))
        return
    for complaint in policies.complaints:
        text = f"{complaint.text[:1].upper()}{complaint.text[1:]}."
        level: Level = "wrong" if complaint.refuse else "warn"
        yield Finding(level, "policies", f"{text} See COUNTERSIGN_APPROVERS and its neighbours.")
    named = sorted({*policies.names, *settings.approvers})
    unable = {name: told for name in named if (told := await _unable(name, found))}
    for told in unable.values():
        yield Finding("warn", "policies", told)
    async for told in _unseated([n for n in named if n not in unable], settings, found):
        yield Finding("warn", "policies", told)


async def _unseated(
    names: Iterable[str], settings: Settings, found: Workspace
) -> AsyncIterator[str]:
    """Who decides and is not in a channel for approvals, whose cards come in a DM."""
    told = [each.approvers_channel for each in settings.routes.values()]
    for channel in dict.fromkeys(filter(None, (settings.approvers_channel, *told))):
        there = await found.replies.members(channel_id(channel, found.channels) or channel)
        if not isinstance(there, tuple):
            yield f"Who is in {channel} is not known, so those who are asked get a DM as well."
        elif absent := [each for each in names if _PERSON.fullmatch(each) and each not in there]:
            yield f"Not in {channel}, and so asked in a DM, are: {', '.join(absent)}."


async def _groups(names: Iterable[str], found: Workspace) -> Mapping[str, Sequence[str]]:
    """The members of the user groups among these names, as far as Slack knows."""
    told = {each: await found.replies.group(each) for each in names if _GROUP.fullmatch(each)}
    return {each: members for each, members in told.items() if isinstance(members, tuple)}


async def _unable(name: str, found: Workspace) -> str:
    """Why somebody who is named cannot decide, or why nobody can tell; empty when they can."""
    if _GROUP.fullmatch(name):
        members = await found.replies.group(name)
        if not isinstance(members, tuple):
            return _unknown(name, members, kind="user group")
        return "" if members else f"{name} cannot decide: nobody is in this user group."
    if not _PERSON.fullmatch(name):
        return ""
    told = await found.replies.user(name)
    if not isinstance(told, Mapping):
        return _unknown(name, told, kind="person")
    why = _barred(person_of(told), team=found.identity.team)
    return why and f"{name} cannot decide: {why}."


def _unknown(name: str, ending: Retry | Uncertain | Refused, *, kind: str) -> str:
    """What Slack's answer to who that is amounts to."""
    if not isinstance(ending, Refused):
        return f"Whether {name} can decide is not known: Slack does not answer now."
    if ending.of_app or ending.method:
        return f"Whether {name} can decide is not known: Slack refuses to say it: {ending.code}."
    return f"{name} cannot decide: Slack does not know this {kind}."


def _barred(person: Person, *, team: str) -> str:
    if person.deleted:
        return "the account is deactivated"
    if person.is_bot:
        return "this is an app"
    ours = person.team == team and not person.is_stranger
    return "" if ours else "this is somebody of another company"


async def _door(settings: Settings, session: aiohttp.ClientSession) -> AsyncIterator[Finding]:
    """Whether the running bot takes what is signed with our secret."""
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
    except ModelError as error:
        yield Finding("wrong", "model", f"{error} Check MODEL and GEMINI_API_KEY.")
    else:
        yield Finding("ok", "model", f"{settings.model} answers.")
