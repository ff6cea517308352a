"""What every role of a process needs, and each role's own parts, out of what is open."""

import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from agents import (
    Agent,
    Model,
    RunConfig,
    Runner,
    SessionKey,
    SessionService,
    Slot,
    TicketSystem,
)
from bot import doctor, logs
from bot.approvals.board import Board, listed
from bot.approvals.request import Approval, Command
from bot.approvals.rules import Book, book, usable
from bot.approvals.scene import Rules
from bot.approvals.secretary import Secretary
from bot.approvals.succession import Succession
from bot.clock import Clock, Sweep, sweeps
from bot.crash import CrashPoint
from bot.index import Client, Index, Lists
from bot.outbox import Outbox, Saved
from bot.recall import Recall
from bot.routing import resolved
from bot.settings import REHEARSAL, Route, Settings
from bot.slack import emptied
from bot.slack.anchor import DailyAnchor
from bot.slack.clicks import Clicks
from bot.slack.commands import Commands
from bot.slack.departures import REMEMBERED, Departures
from bot.slack.groups import Groups
from bot.slack.home import Homes
from bot.slack.listeners import Listeners
from bot.slack.messages import Messages
from bot.slack.people import People
from bot.slack.retractions import Retractions
from bot.slack.strangers import Strangers
from bot.slack.workspace import Identity, Workspace, channel_id
from bot.tickets.news import Tickets
from bot.tickets.poll import Poll
from bot.turns import thread_of
from bot.worker import Worker, farewell

ANCHOR = 60.0
"""Seconds between two looks whether the audit is anchored today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every role needs."""

    crash: CrashPoint
    slot: Slot
    index: Index
    recall: Recall
    slack: Workspace
    agents: Sequence[Agent]
    routes: Mapping[str, Route]
    rules: Callable[[SessionKey], Rules]
    people: People
    groups: Groups
    homes: Homes
    look_up: Callable[[], Awaitable[None]]
    tickets: TicketSystem
    saved: Saved


def furnished(
    settings: Settings,
    *,
    store: Client,
    kept: Slot,
    saved: Saved,
    slack: Workspace,
    tickets: TicketSystem,
    agents: Sequence[Agent],
) -> Desk:
    """What every role needs, out of what is open."""
    crash = CrashPoint(settings.crash_at)
    slot = crash.watched(kept, "slot")
    hints = Index(store, prefix=settings.key_prefix, tenant=slack.identity.team)
    index, lists = crash.watched(hints, "index"), crash.watched(hints.lists, "lists")
    slack = replace(slack, replies=crash.watched(slack.replies, "slack"))
    routes = resolved(
        settings.routes, agents=[agent.name for agent in agents], channels=slack.channels
    )
    policies = usable(book(settings, agents))
    for complaint in policies.complaints:
        logs.warning("settings.unsafe", why=complaint.text)
    recall = _recall(settings, store, hints, slack=slack)
    people = People(slack.replies, team=slack.identity.team, clock=time.monotonic)
    groups = Groups(slack.replies, people, roles=settings.approver_roles, clock=time.monotonic)
    return Desk(
        crash=crash,
        slot=slot,
        index=index,
        recall=recall,
        slack=slack,
        agents=agents,
        routes=routes,
        rules=_rules(
            settings,
            index=index,
            recall=recall,
            slack=slack,
            kept=policies,
            groups=groups,
            people=people,
            routes=routes,
        ),
        people=people,
        groups=groups,
        homes=_homes(slot, lists, slack=slack, groups=groups, names=policies.names),
        look_up=partial(groups.refresh, policies.names),
        tickets=crash.watched(tickets, "tickets"),
        saved=saved,
    )


def _board(slot: Slot, lists: Lists) -> Board:
    """What finds approvals."""
    return Board(slot, recent=lists.recent, concerning=lists.concerning)


def _homes(
    slot: Slot, lists: Lists, *, slack: Workspace, groups: Groups, names: Sequence[str]
) -> Homes:
    """What keeps people's Homes up to date; `names` are all that policies name."""
    board, replies = _board(slot, lists), slack.replies
    return Homes(board=board, groups=groups, replies=replies, hints=lists, names=names)


def _recall(settings: Settings, store: Client, index: Index, *, slack: Workspace) -> Recall:
    """What knows how well the store remembers, and tells the approvers when it was emptied."""
    channel = channel_id(settings.approvers_channel, slack.channels, setting="approvers_channel")
    return Recall(
        index,
        forgets=partial(doctor.forgetful, store),
        tell=partial(emptied.tell, slack.replies, channel) if channel else None,
    )


def _rules(
    settings: Settings,
    *,
    index: Index,
    recall: Recall,
    slack: Workspace,
    kept: Book,
    groups: Groups,
    people: People,
    routes: Mapping[str, Route],
) -> Callable[[SessionKey], Rules]:
    """How the questions of a session are put: its channel's route may name another place."""
    everywhere = channel_id(settings.approvers_channel, slack.channels, setting="approvers_channel")

    def rules(key: SessionKey) -> Rules:
        route = routes.get(thread_of(key).channel)
        channel = (route and route.approvers_channel) or everywhere
        defaults = replace(kept.defaults, groups=groups.now, barred=groups.barred)
        return Rules(
            due=index.approval_due,
            listed=partial(listed, index.lists),
            spent=index.spent,
            policies=kept.policies,
            defaults=defaults,
            channel=channel,
            name=people.name,
            unsaved=recall.unsaved,
        )

    return rules


def clock(settings: Settings, desk: Desk) -> Clock:
    """What looks at approvals, tickets and everything else whose time comes."""
    poll = Poll(
        slot=desk.slot,
        index=desk.index,
        tickets=desk.tickets,
        lease=timedelta(seconds=settings.lease),
        pause=settings.ticket_poll,
        limit=settings.ticket_poll_limit,
    )
    return Clock(
        sweeps(
            desk.slot,
            desk.index,
            apps=[agent.name for agent in desk.agents],
            tenant=desk.slack.identity.team,
            tickets=poll,
            succession=_succession(settings, desk),
            more=_anchors(settings, desk),
        )
    )


def _succession(settings: Settings, desk: Desk) -> Succession:
    """What passes requests on when people leave; it trusts an answer of Slack's for a moment."""
    replies, team, roles = desk.slack.replies, desk.slack.identity.team, settings.approver_roles
    people = People(replies, team=team, clock=time.monotonic, remembered=REMEMBERED)
    groups = Groups(replies, people, roles=roles, clock=time.monotonic, remembered=REMEMBERED)

    def follow(after: Approval) -> Sequence[Command]:
        key = SessionKey.parse(after.session)
        return (*desk.index.ring(key, behind=True), *listed(desk.index.lists, after))

    return Succession(settings.approvers, look_up=groups.able, follow=follow)


def _anchors(settings: Settings, desk: Desk) -> tuple[Sweep, ...]:
    """The daily anchor of the audit, where a channel is named for it."""
    channel = channel_id(settings.audit_channel, desk.slack.channels, setting="audit_channel")
    if channel is None:
        return ()
    daily = DailyAnchor(
        desk.slot,
        desk.index.lists,
        replies=desk.slack.replies,
        channel=channel,
        ttl=settings.session_ttl,
    )
    return (Sweep("anchor", ANCHOR, daily.look),)


def worker(settings: Settings, desk: Desk, *, models: Callable[[str], Model]) -> Worker:
    """What works sessions off, a runner for each agent in it."""

    def watched(name: str) -> Model:
        return desk.crash.watched(models(name), "model")

    secretary = Secretary(
        slot=desk.slot,
        rules=desk.rules,
        ring=desk.index.ring,
        nonces=iter(_nonce, ""),
        look_up=desk.look_up,
        voter=desk.groups.voter,
    )
    waiting = _waiting(settings, desk)
    owner = f"{settings.dyno or socket.gethostname()}:{os.getpid()}:{_nonce()}"
    team = desk.slack.identity.team
    sessions = SessionService(desk.slot, tenant=team)
    runner = partial(
        Runner,
        session_service=sessions,
        models=watched,
        companion=waiting.beside(secretary.companions),
        permit=secretary.permit,
        spent=partial(desk.index.spent_today, team),
        tenant=team,
    )
    return Worker(
        index=desk.index,
        runners={agent.name: runner(agent=agent) for agent in desk.agents},
        farewell=runner(agent=farewell()),
        secretary=secretary,
        outbox=_outbox(desk, owner),
        owner=owner,
        lease=int(settings.lease * 1000),
        run_config=RunConfig(
            window=settings.context_window if settings.model != REHEARSAL else 0,
            turn_tokens=settings.turn_tokens,
            daily_tokens=settings.daily_tokens,
        ),
    )


def _outbox(desk: Desk, owner: str) -> Outbox:
    """What pays what is owed to Slack."""
    return Outbox(
        slot=desk.slot,
        replies=desk.slack.replies,
        owner=owner,
        limits=desk.index,
        changed=desk.homes.note,
        name=desk.people.name,
        saved=desk.saved,
    )


def _waiting(settings: Settings, desk: Desk) -> Tickets:
    """What goes with events that tell of tickets."""
    return Tickets(due=desk.index.ticket_due, ttl=settings.ticket_ttl, pause=settings.ticket_poll)


def _nonce() -> str:
    return secrets.token_urlsafe(9)


def listeners(settings: Settings, desk: Desk) -> Listeners:
    """What hears Slack."""
    identity, replies = desk.slack.identity, desk.slack.replies
    messages = Messages(
        slot=desk.slot,
        doorbell=desk.index,
        routes=desk.routes,
        agents=desk.agents,
        team=identity.team,
        bot_user=identity.user,
    )
    clicks = Clicks(
        slot=desk.slot,
        replies=replies,
        people=desk.people,
        ring=desk.index.ring,
        team=identity.team,
        run_for=settings.execution_ttl,
        standing=desk.groups.standing,
        lost=desk.recall.lost,
        saved=desk.saved,
        changed=desk.homes.changed,
        mend=_outbox(desk, owner="").mend,
        first=desk.index.first,
    )
    commands = Commands(
        board=_board(desk.slot, desk.index.lists),
        inbox=desk.homes.inbox,
        groups=desk.groups,
        withdraw=clicks.withdraw,
    )
    return Listeners(
        messages=messages,
        clicks=clicks,
        people=desk.people,
        identity=identity,
        groups=desk.groups,
        homes=desk.homes,
        commands=commands,
        strangers=_strangers(clicks, identity),
        retractions=_retractions(desk),
        departures=Departures(
            desk.index, concerning=desk.index.lists.open_concerning, roles=settings.approver_roles
        ),
    )


def _retractions(desk: Desk) -> Retractions:
    """What takes back what a deleted message asked for."""
    return Retractions(
        desk.slot,
        ring=desk.index.ring,
        agents=[agent.name for agent in desk.agents],
        team=desk.slack.identity.team,
    )


def _strangers(clicks: Clicks, identity: Identity) -> Strangers:
    """What answers people of other companies."""
    return Strangers(
        tell=clicks.tell, team=identity.team, bot_user=identity.user, clock=time.monotonic
    )
