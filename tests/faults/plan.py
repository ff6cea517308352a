"""What happens in a run: a pure function of its seed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

TOOLS = ("pay", "wire", "book", "share", "brief", "offer")
PEOPLE = ("ana", "ben")
PROCESSES = ("main", "side")
LEASE = 1.0
"""Seconds; whoever is silent for longer has lost its sessions."""
CALLS: Mapping[str, tuple[str, ...]] = {
    "slot": ("ingest", "begin", "commit", "start_call", "decide", "renew", "release", "posted"),
    "index": ("claim", "claim_due", "send", "done", "wait"),
    "slack": ("post", "update", "find", "user"),
    "ledger": ("act", "find"),
    "model": ("generate_content_async",),
}
PLACES = tuple(
    f"{port}.{call}.{side}"
    for port, calls in CALLS.items()
    for call in calls
    for side in ("before", "after")
)
SLACK = ("ratelimited", "error", "html", "slow", "lost")
METHODS = ("chat.postMessage", "chat.update", "conversations.replies", "conversations.history")
KINDS = (
    *("crash", "crash", "anywhere", "anywhere", "kill", "kill", "stop", "stop", "term", "store"),
    *("cut", "delay", "hole", "drop", "drop", "flush", "slack", "slack", "slack"),
    *("again", "deaf", "ledger", "skew", "moody", "hints", "caught", "caught", "caught"),
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
    """One run. `crash` is where a process kills itself, `skew` how far its clock is off.

    `plant` is the bug that its bots have, `answer` what people say: `yes`, `no`,
    `own` (only who asked presses), or now this, now that.
    """

    seed: int
    said: tuple[Said, ...]
    troubles: tuple[Trouble, ...] = ()
    crash: Mapping[str, str] = field(default_factory=dict)
    skew: Mapping[str, float] = field(default_factory=dict)
    moody: int = 0
    plant: str = ""
    answer: str = ""

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
        return told + ["model unavailable"] * bool(self.moody)


def planned(seed: int) -> Plan:
    """The run of a seed: some conversations, and one to four things that go wrong."""
    chance = random.Random(seed)
    plan = Plan(seed, said=_said(chance))
    for kind in chance.sample(KINDS, chance.randint(1, 4)):
        plan = _with(plan, kind, chance)
    return plan


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
    match chance.randint(0, 9):
        case 0:
            return f"hello {mark}"
        case 1 | 2:
            return f"{chance.choice(TOOLS[:3])} {chance.randint(1, 99)} {mark}"
        case 3:
            calls = [
                f"{name} {chance.choice((50, 200))} {mark}" for name in ("pay", "wire", "book")
            ]
            chance.shuffle(calls)
            return "; ".join([*calls, f"look 1 {mark}"])
        case 4:
            return f"pay 200 {mark}; pay 200 {mark}"
        case _:
            return f"{chance.choice(TOOLS)} {chance.randint(101, 999)} {mark}"


def _with(plan: Plan, kind: str, chance: random.Random) -> Plan:
    process = chance.choice(PROCESSES)
    match kind:
        case "crash":
            at = f"{chance.choice(PLACES)}:{chance.randint(1, 4)}"
            return replace(plan, crash={**plan.crash, process: at})
        case "anywhere":
            return replace(plan, crash={**plan.crash, process: f"*:{chance.randint(5, 160)}"})
        case "skew":
            return replace(plan, skew={"side": chance.choice((-3600.0, 3600.0))})
        case "moody":
            return replace(plan, moody=chance.randint(2, 5))
        case _:
            trouble = _trouble(kind, process, chance)
            return replace(plan, troubles=(*plan.troubles, *trouble))


def _trouble(kind: str, process: str, chance: random.Random) -> tuple[Trouble, ...]:
    at = chance.uniform(0.1, 2.0)
    once = Trouble(at, kind, process, chance.uniform(0.2, 1.2))
    match kind:
        case "stop":
            return (replace(once, seconds=LEASE * chance.uniform(1.1, 1.8)),)
        case "slack":
            target = f"{chance.choice(METHODS)} {chance.choice(SLACK)}"
            return (replace(once, target=target),) * chance.randint(1, 3)
        case "caught":
            return (Trouble(at, "ledger", "slow", 0.4), Trouble(at, "kill", "actor"))
        case "ledger":
            return (replace(once, target=chance.choice(("slow", "fails"))),)
        case "drop":
            return tuple(replace(once, at=at + 0.2 * n) for n in range(chance.randint(1, 5)))
        case _:
            return (once,)
