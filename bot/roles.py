"""Each role's own parts: the listeners, the worker and the clock."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

from agents import (
    Model,
    RunConfig,
    Runner,
    SessionKey,
    SessionService,
)
from bot.approvals.board import listed
from bot.approvals.request import Approval
from bot.approvals.secretary import Secretary
from bot.approvals.succession import Succession
from bot.clock import Clock, Sweep, sweeps
from bot.desk import Desk
from bot.outbox import Outbox
from bot.settings import REHEARSAL, Settings
from bot.slack.anchor import DailyAnchor
from bot.slack.clicks import Clicks
from bot.slack.commands import Commands
from bot.slack.departures import REMEMBERED, Departures
from bot.slack.endings import Unanswered
from bot.slack.groups import Groups
from bot.slack.listeners import Listeners
from bot.slack.messages import Messages
from bot.slack.people import People
from bot.slack.retractions import Retractions
from bot.slack.strangers import Strangers
from bot.slack.workspace import Identity, channel_id
from bot.tickets.news import Tickets
from bot.tickets.poll import Poll
from bot.turns import Command
from bot.worker import Worker, farewell

IN_PLACE = 1.0
"""Seconds that a turn waits for its model in place; for a longer wait it gives its place up."""
ANCHOR = 60.0
"""Seconds between two checks that the audit has been anchored today."""


def clock(settings: Settings, desk: Desk) -> Clock:
    """The clock, which looks at approvals, tickets and everything else whose time comes."""
    poll = Poll(
        slot=desk.slot,
        index=desk.index,
        tickets=desk.tickets,
        lease=timedelta(seconds=settings.lease),
        pause=settings.ticket_poll,
        limit=settings.ticket_poll_limit,
        reports=settings.report_ttl,
    )
    return Clock(
        sweeps(
            desk.slot,
            desk.index,
            apps=[agent.name for agent in desk.agents],
            tenant=desk.slack.identity.team,
            tickets=poll,
            succession=_succession(settings, desk),
            reports=settings.report_ttl,
            more=_anchors(settings, desk),
        )
    )


def _succession(settings: Settings, desk: Desk) -> Succession:
    """What passes requests on when people leave; it trusts each answer of Slack's only briefly."""
    replies, team, roles = desk.slack.replies, desk.slack.identity.team, settings.approver_roles
    people = People(replies, team=team, clock=time.monotonic, remembered=REMEMBERED)
    groups = Groups(replies, people, roles=roles, clock=time.monotonic, remembered=REMEMBERED)

    def follow(after: Approval) -> Sequence[Command]:
        key = SessionKey.parse(after.session)
        return (*desk.index.ring(key, behind=True), *listed(desk.index.lists, after))

    async def shared(channel: str) -> bool:
        with suppress(Unanswered):
            await replies.shared(channel)
        return replies.is_shared(channel)

    return Succession(
        settings.approvers,
        look_up=groups.able,
        voter=groups.voter,
        follow=follow,
        inside=groups.inside,
        members=groups.members,
        shared=shared,
    )


def _anchors(settings: Settings, desk: Desk) -> tuple[Sweep, ...]:
    """The daily anchor of the audit, where a channel is named for it."""
    channel = channel_id(settings.audit_channel, desk.slack.channels)
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
    """The worker, with a runner for each agent."""

    def watched(name: str) -> Model:
        return desk.crash.watched(models(name), "model")

    secretary = Secretary(
        slot=desk.slot,
        rules=desk.rules,
        ring=desk.index.ring,
        nonces=iter(_nonce, ""),
        look_up=desk.look_up,
        voter=desk.groups.voter,
        gone=desk.index.gone,
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
        run_config=_run_config(settings),
    )


def _run_config(settings: Settings) -> RunConfig:
    """How every turn behaves."""
    return RunConfig(
        retry_seconds=IN_PLACE,
        retry_pause=IN_PLACE / 3,
        window=settings.context_window if settings.model != REHEARSAL else 0,
        turn_tokens=settings.turn_tokens,
        daily_tokens=settings.daily_tokens,
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
    """The listeners, which hear what Slack sends."""
    identity, replies = desk.slack.identity, desk.slack.replies
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
        board=desk.board,
        inbox=desk.homes.inbox,
        groups=desk.groups,
        withdraw=clicks.withdraw,
    )
    return Listeners(
        messages=_messages(desk),
        clicks=clicks,
        people=desk.people,
        identity=identity,
        groups=desk.groups,
        homes=desk.homes,
        commands=commands,
        strangers=_strangers(clicks, identity),
        takers=(_retractions(desk), _departures(settings, desk)),
    )


def _messages(desk: Desk) -> Messages:
    """What takes what people write."""
    return Messages(
        slot=desk.slot,
        doorbell=desk.index,
        routes=desk.routes,
        agents=desk.agents,
        team=desk.slack.identity.team,
        bot_user=desk.slack.identity.user,
        is_full=lambda: desk.recall.full,
    )


def _departures(settings: Settings, desk: Desk) -> Departures:
    """What has requests looked at again when people may have lost a right."""
    concerning = desk.index.lists.open_concerning
    return Departures(desk.index, concerning=concerning, roles=settings.approver_roles)


def _retractions(desk: Desk) -> Retractions:
    """What takes back what a deleted message asked for."""
    return Retractions(
        desk.slot,
        deleted=desk.index.deleted,
        gone=desk.index.gone,
        ring=desk.index.ring,
        agents=[agent.name for agent in desk.agents],
        team=desk.slack.identity.team,
    )


def _strangers(clicks: Clicks, identity: Identity) -> Strangers:
    """What answers people of other companies."""
    return Strangers(
        tell=clicks.tell, team=identity.team, bot_user=identity.user, clock=time.monotonic
    )
