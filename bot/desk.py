"""What every role of a process needs, out of what is open."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agents import (
    Agent,
    SessionKey,
    Slot,
    TicketSystem,
)
from bot import logs, storage
from bot.approvals.board import Board, listed
from bot.approvals.rules import Book, book, usable
from bot.approvals.scene import Rules
from bot.crash import CrashPoint
from bot.index import Client, Index, Lists
from bot.recall import Recall
from bot.routing import resolved
from bot.settings import Route, Settings
from bot.slack import emptied
from bot.slack.groups import Groups
from bot.slack.home import Homes
from bot.slack.people import People
from bot.slack.workspace import Workspace, channel_id, missing
from bot.turns import Saved, thread_of


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

    @property
    def board(self) -> Board:
        """Finds approvals across sessions."""
        return _board(self.slot, self.index.lists)


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
    hints.lists = lists = crash.watched(hints.lists, "lists")
    index = crash.watched(hints, "index")
    slack = replace(slack, replies=crash.watched(slack.replies, "slack"))
    routes = resolved(
        settings.routes, agents=[agent.name for agent in agents], channels=slack.channels
    )
    policies = usable(book(settings, agents))
    for why in (*(c.text for c in policies.complaints), *missing(settings, slack.channels)):
        logs.warning("settings.unsafe", why=why)
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
    """Finds approvals across sessions."""
    return Board(slot, recent=lists.recent, concerning=lists.concerning)


def _homes(
    slot: Slot, lists: Lists, *, slack: Workspace, groups: Groups, names: Sequence[str]
) -> Homes:
    """What keeps people's Homes up to date; `names` are all that policies name."""
    board, replies = _board(slot, lists), slack.replies
    return Homes(board=board, groups=groups, replies=replies, hints=lists, names=names)


def _recall(settings: Settings, store: Client, index: Index, *, slack: Workspace) -> Recall:
    """What knows how well the store remembers, and tells the approvers when it was emptied."""
    channel = channel_id(settings.approvers_channel, slack.channels)
    return Recall(
        index,
        standing=partial(storage.standing, store, storage.demanded(settings)),
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
    everywhere = channel_id(settings.approvers_channel, slack.channels)

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
