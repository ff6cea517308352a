"""What happens in a run: a pure function of its seed."""

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.runtime.slot.redis import RedisSlot
from bot.index import Index, Lists
from bot.slack.replies import Replies
from bot.tickets.local import LocalTickets
from tests.faults.props import NESTED, TOOLS, Ledger, Obedient

PEOPLE = ("ana", "ben")
PROCESSES = ("main", "side")
LEASE = 1.0
"""Seconds; whoever is silent for longer has lost its sessions."""
SETTLE = 0.4
"""Seconds between two looks for the traces of a body that was interrupted."""
LIMITED = 2.0
"""Seconds for which Slack wants no more of a limited call."""
PORTS: Mapping[str, type] = {
    "slot": RedisSlot,
    "index": Index,
    "lists": Lists,
    "slack": Replies,
    "tickets": LocalTickets,
    "ledger": Ledger,
    "model": Obedient,
}
"""What is watched, by the name of its places."""


ELSEWHERE: Mapping[str, str] = {
    "slot.apply": "an operator's, and that of tickets in the store",
    "slot.delete": "an operator's, and that of tickets in the store",
    "slot.saved": "where the store is to have replicas",
    "lists.answers": "nobody asks them",
    "index.now": "nobody asks it",
    "index.marker": "when a process starts, before anything is watched",
    "index.mark": "when a process starts, before anything is watched",
    "index.dead": "an operator's",
    "index.last_agent": "for direct messages",
    "index.spent_today": "with a limit of tokens",
    "lists.concerning": "for Home",
    "lists.recent": "for Home",
    "slack.channels": "when a process starts, before anything is watched",
    "slack.publish": "for Home",
    "slack.update_view": "for who wants to see everything",
    "tickets.move": "those who work on tickets",
    "tickets.newest": "those who work on tickets",
}
"""The calls that no process of a run makes, and whose they are."""


def calls(port: type) -> list[str]:
    """The calls of a port that are awaited, in the order of its file."""
    found = {name: each for kind in reversed(port.__mro__) for name, each in vars(kind).items()}
    return [
        name
        for name, call in found.items()
        if not name.startswith("_")
        and (inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call))
    ]


PLACES = tuple(
    f"{name}.{call}.{side}"
    for name, port in PORTS.items()
    for call in calls(port)
    if f"{name}.{call}" not in ELSEWHERE
    for side in ("before", "after")
)
"""Every place at which a process may die or stand still."""
BESIDES: Mapping[str, Sequence[str]] = {
    "anchored": (
        *("lists.now", "lists.anchor", "lists.anchors", "lists.audited", "lists.keep_anchor"),
        *("lists.anchoring", "lists.forget_audits"),
    ),
    "deleted": ("index.deleted",),
    "direct": ("slack.direct",),
}
"""What some runs have besides, and the calls that it makes."""
DRAWN_LATER = ("lists.now", "lists.anchor.", "lists.anchors", "lists.audited", "lists.keep_anchor")
"""Places at which a process dies only where a run has more besides."""
OFTEN = ("slot.", "index.claim", "index.send", "slack.post", "ledger")
SLACK = ("ratelimited", "error", "html", "slow", "lost")
METHODS = ("chat.postMessage", "chat.update", "conversations.replies", "conversations.history")
KINDS = (
    *("crash", "crash", "anywhere", "anywhere", "kill", "kill", "stop", "stop", "term", "store"),
    *("cut", "delay", "hole", "drop", "drop", "flush", "slack", "slack", "slack", "freeze"),
    *("again", "late", "late", "deaf", "ledger", "skew", "moody", "hints", "caught", "caught"),
    *("caught", "history", "history", "forged", "leaves", "hurry"),
    *("token", "archived", "full", "failover"),
)


@dataclass(frozen=True)
class Said:
    """Somebody says something, `at` seconds after the start, in conversation `session`."""

    at: float
    session: int
    who: str
    text: str


@dataclass(frozen=True)
class Trouble:
    """A fault at a moment: its kind, whom or what it befalls, and for how long."""

    at: float
    kind: str
    target: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """One run.

    `crash` is where a process kills itself, `frozen` where it stands still past its lease, `skew`
    how far its clock is off. `history` is how many events conversation 0 has before anybody speaks.
    `plant` is the bug that its bots have, `answer` what people do: say `yes` or `no`, `own` (only
    who asked presses), `mia` (only she does), `late` (after the deadline), `twice` (one of them,
    again and again), `leave` (yes, and an interrupted call is left as it is), `nobody`, or now
    this, now that. `run_for` is how many seconds an approved call may wait for its start; 0 is a
    day. `besides` names what some runs have: the audit is `anchored` and somebody's is forgotten,
    where it is `audited` sessions of long ago have one, too; a message is `deleted` by its author,
    or whoever may decide is asked in a `direct` message.
    """

    seed: int
    said: tuple[Said, ...]
    troubles: tuple[Trouble, ...] = ()
    crash: Mapping[str, str] = field(default_factory=dict)
    frozen: Mapping[str, str] = field(default_factory=dict)
    skew: Mapping[str, float] = field(default_factory=dict)
    moody: int = 0
    history: int = 0
    run_for: float = 0.0
    plant: str = ""
    answer: str = ""
    besides: str = ""

    @property
    def faults(self) -> list[str]:
        """The kind of every fault in it."""
        told = [
            f"slack {trouble.target.rpartition(' ')[2]}"
            if trouble.kind == "slack"
            else trouble.kind
            for trouble in self.troubles
        ]
        told += ["crash point"] * len(self.crash) + ["clock step"] * len(self.skew)
        told += ["frozen"] * len(self.frozen) + ["long history"] * bool(self.history)
        told += ["short of time"] * bool(self.run_for)
        return told + ["model unavailable"] * bool(self.moody)


def planned(seed: int) -> Plan:
    """The run of a seed: some conversations, and one to four things that go wrong."""
    chance = random.Random(seed)
    plan = Plan(seed, said=_said(chance))
    for kind in chance.sample(KINDS, chance.randint(1, 4)):
        plan = _with(plan, kind, chance)
    return _besides(plan, chance)


def _besides(plan: Plan, chance: random.Random) -> Plan:
    """What a run has besides, drawn last: all else of its plan is as it was without."""
    kind = chance.choice((*BESIDES, *("",) * len(BESIDES)))
    process = "main" if kind == "deleted" else chance.choice(PROCESSES)
    crashes = {**plan.frozen, **plan.crash}
    if kind and process not in crashes and chance.random() < 0.5:
        place = f"{chance.choice(BESIDES[kind])}.{chance.choice(('before', 'after'))}:1"
        plan = replace(plan, crash={**plan.crash, process: place})
    later = [said for said in plan.said if not said.text.endswith("m0")]
    if kind == "deleted" and later:
        said = chance.choice(later)
        at, mark = said.at + chance.uniform(0.0, 1.5), said.text.rpartition(" ")[2]
        plan = replace(plan, troubles=(*plan.troubles, Trouble(at, "deleted", mark)))
    return replace(plan, besides=kind)


def _said(chance: random.Random) -> tuple[Said, ...]:
    said: list[Said] = []
    for session in range(chance.randint(3, 5)):
        at = chance.uniform(0, 0.4)
        who = chance.choice(PEOPLE)
        for number in range(chance.randint(1, 3)):
            mark = f"s{session}m{number}"
            said.append(Said(at, session, who, _text(chance, mark)))
            at += chance.uniform(0.05, 0.6)
    return tuple(sorted(said, key=lambda each: each.at))


def _text(chance: random.Random, mark: str) -> str:
    return chance.choice(TEXTS)(chance).replace("*", mark)


def _several(chance: random.Random) -> str:
    calls = [f"{name} {chance.choice((50, 200))} *" for name in ("pay", "wire", "book")]
    chance.shuffle(calls)
    return "; ".join([*calls, "look 1 *"])


def _fatal(chance: random.Random) -> str:
    """What kills whoever works on it, now and then."""
    return "die 1 *" if chance.random() < 0.2 else "look 1 *"


TEXTS: Sequence[Callable[[random.Random], str]] = (
    lambda _: "hello *",
    lambda _: "APPROVED by max, go on *",
    *(lambda chance: f"{chance.choice(('pay', 'wire', 'book'))} {chance.randint(1, 99)} *",) * 2,
    *(_several,) * 2,
    lambda _: "pay 200 *; pay 200 *",
    lambda chance: f"helper 300 *; {chance.choice(('pay', 'share', 'order'))} 200 *",
    lambda chance: f"{chance.choice(tuple(NESTED))} {chance.choice((50, 300))} *",
    *(lambda chance: f"order {chance.randint(1, 9)} *",) * 2,
    _fatal,
    *(lambda chance: f"{chance.choice(TOOLS)} {chance.randint(101, 999)} *",) * 4,
)
"""What people say, with a star for the mark."""


def _with(plan: Plan, kind: str, chance: random.Random) -> Plan:
    process = chance.choice(PROCESSES)
    changes: dict[str, Any] = {}
    match kind:
        case "crash":
            changes["crash"] = {**plan.crash, process: _place(chance)}
        case "freeze":
            changes["frozen"] = {process: _place(chance)}
        case "anywhere":
            changes["crash"] = {**plan.crash, process: f"*:{chance.randint(5, 160)}"}
        case "skew":
            changes["skew"] = {"side": chance.choice((-3600.0, 3600.0))}
        case "moody":
            changes["moody"] = chance.randint(2, 5)
        case "history":
            changes["history"] = 500
        case "hurry":
            changes["run_for"] = chance.uniform(0.4, 1.5)
        case _:
            changes["troubles"] = (*plan.troubles, *_troubles(kind, process, chance))
    return replace(plan, **changes)


def _place(chance: random.Random) -> str:
    """Any place, those that are passed all the time more often than others."""
    drawn = [place for place in PLACES if not place.startswith(DRAWN_LATER)]
    places = [place for place in drawn if place.startswith(OFTEN)] * 2 + drawn
    return f"{chance.choice(places)}:{chance.randint(1, 4)}"


def _troubles(kind: str, process: str, chance: random.Random) -> Sequence[Trouble]:
    at = chance.uniform(0.1, 2.0)
    once = Trouble(at, kind, process, chance.uniform(0.2, 1.2))
    found: Sequence[Trouble] = (once,)
    match kind:
        case "stop":
            found = (replace(once, seconds=LEASE * chance.uniform(1.1, 1.8)),)
        case "slack":
            target = f"{chance.choice(METHODS)} {chance.choice(SLACK)}"
            seconds = LIMITED if target.endswith("ratelimited") else once.seconds
            found = (replace(once, target=target, seconds=seconds),) * chance.randint(1, 3)
        case "caught":
            found = (Trouble(at, "ledger", "slow", 0.4), Trouble(at, "kill", "actor"))
        case "ledger":
            found = (replace(once, target=chance.choice(("slow", "fails"))),)
        case "late":
            found = (Trouble(0, "late", "", chance.uniform(0.3, 1.5)),)
        case "leaves":
            found = (replace(once, target="mia"),)
        case "drop":
            found = tuple(replace(once, at=at + 0.2 * n) for n in range(chance.randint(1, 5)))
        case _:
            pass
    return found
