"""Bugs that are planted into a bot to see that the judge is not blind, each with its run.

A bug is a patch of this process only: of the text of scripts, or of a function.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from agents.runtime import calling
from agents.runtime.arguments import Bound
from agents.runtime.slot import redis, scripts
from agents.runtime.tools import FunctionTool
from bot import clock, index, outbox
from bot.approvals import decision, policy, request, secretary
from bot.slack import messages, replies
from tests.faults.plan import LEASE, Plan, Said, Trouble

FENCE = "if number('fence') ~= a.fence then return { 'fence' } end"
VERSION = "if call('LLEN', EVENTS) ~= a.version then return { 'version' } end"
HOLD = Trouble(0.3, "stop", "actor", LEASE * 1.8)
KILL = Trouble(0.3, "kill", "actor")
SLOW = Trouble(0.0, "ledger", "slow", 0.9)


def edit(name: str, old: str, new: str) -> None:
    """Change the text of a script; it must have been there."""
    text = scripts.SCRIPTS[name].text
    if old not in text:
        raise LookupError(f"{name} has no {old!r} to plant a bug in")
    text = text.replace(old, new)
    sha = hashlib.sha1(text.encode()).hexdigest()
    scripts.SCRIPTS[name] = scripts.Script(text, sha)
    redis._TEXT_OF[sha] = text


def no_fence() -> None:
    """Whoever lost a session goes on writing."""
    edit("commit", FENCE, "")
    edit("commit", VERSION, "")
    edit("commit", "if a.pop and call('LINDEX', INBOX, 0) ~= a.pop then return { 'pop' } end", "")


def no_journal() -> None:
    """A body is started as often as somebody wants to."""
    edit("start_call", "if started then", "if false then")
    edit("begin", "call('HGETALL', JOURNAL)", "{}")


def no_unknown() -> None:
    """What was interrupted is run again, whatever it is."""
    calling.Calling._again = calling.Calling._run


def no_dedupe() -> None:
    """What Slack tells twice is done twice."""
    edit("ingest", "if call('ZADD', SEEN, 'NX', now, id) == 0 then return false end", "")


def no_reconciliation() -> None:
    """A post whose answer was lost is made again."""

    async def find(*_told: object, **_options: object) -> None:
        return None

    replies.Replies.find = find


def no_gate() -> None:
    """Nobody is asked."""

    async def never(*_told: object) -> bool:
        return False

    FunctionTool.needs_confirmation = never


def no_means_yes() -> None:
    """A rejected call runs."""
    calling.verdict = lambda *, needed, answer: "ask" if needed and answer is None else "run"
    edit("start_call", "if stored.status ~= 'approved' then", "if false then")


def no_digest() -> None:
    """Other arguments than those people saw are run."""
    _tamper()
    edit("start_call", "if stored.digest ~= a.digest then", "if false then")
    stood = calling.Calling._question
    calling.Calling._question = lambda self, tool, bound, told: (
        told if self.call.question else stood(self, tool, bound, told)
    )


def _tamper() -> None:
    """Something changes an amount between the question and the run."""
    judging = calling.Calling._judged

    async def judged(self: calling.Calling, tool: FunctionTool, bound: Bound) -> object:
        changed = {**bound.values, "n": bound.values["n"] + 1}
        return await judging(self, tool, tool.bind(changed) if self.call.question else bound)

    calling.Calling._judged = judged


def ack_before_store() -> None:
    """Slack hears 200 first, and the message is stored later."""
    storing = messages.Messages._ingest

    async def ingest(self: messages.Messages, *told: object, **options: object) -> None:
        async def later() -> None:
            await asyncio.sleep(0.3)
            await storing(self, *told, **options)

        self.later = asyncio.create_task(later())

    messages.Messages._ingest = ingest


def no_compare() -> None:
    """Two votes at once: the later one is written over the earlier one."""
    edit(
        "decide", "if stored.rev ~= new.rev - 1 or stored.status ~= a.source then", "if false then"
    )


def decided_in_two_steps() -> None:
    """The decision is stored, and what follows from it is put into the inbox afterwards."""
    deciding, later = redis.RedisSlot.decide, []

    async def decide(self: redis.RedisSlot, key: object, told: object) -> object:
        answer = await deciding(self, key, replace(told, entry=None))

        async def follow() -> None:
            await asyncio.sleep(0.2)
            await self.ingest(key, told.entry, index=told.index)

        if told.entry:
            later.append(asyncio.create_task(follow()))
        return answer

    redis.RedisSlot.decide = decide


def forgotten_when_claimed() -> None:
    """What is due is struck off when it is taken, and nobody walks through the sessions."""
    index.CLAIM = index.CLAIM.replace(
        "redis.call('ZADD', KEYS[1], string.format('%.3f', now + ARGV[2]), member)",
        "redis.call('ZREM', KEYS[1], member)",
    ).replace("until_ = redis.call('ZSCORE', KEYS[1], member)", "until_ = '0'")

    async def nothing(_walk: object) -> int:
        return 0

    clock.Walk.step = nothing


def paid_before_posted() -> None:
    """A post is struck off before it is made."""
    paying = outbox.Debt._pay

    async def pay(self: outbox.Debt, post: outbox.Post) -> object:
        await self._slot.posted(self.key, {post.id: ""})
        return await paying(self, post)

    outbox.Debt._pay = pay


def own_approval() -> None:
    """Everybody may approve everything."""
    policy.refusal = lambda *_told, **_options: None
    no_quorum()


def no_quorum() -> None:
    """One is always enough."""
    request.reached = lambda *_told: True

    async def freely(*_told: object) -> tuple[str, None]:
        return "", None

    secretary.Secretary.permit = freely


def popped_at_begin() -> None:
    """The inbox loses its head when somebody takes the session in hand."""
    edit("begin", "local first = 1\n", "local first = 1\ncall('LPOP', INBOX, 2)\n")
    edit("commit", "if a.pop and call('LINDEX', INBOX, 0) ~= a.pop then return { 'pop' } end", "")
    edit("commit", "if a.pop then call('LPOP', INBOX, 2) end", "")


def no_chain() -> None:
    """An audit entry does not carry the one before it."""
    for name in ("commit", "decide", "start_call"):
        edit(name, "hash = sha256(hash .. entry)", "hash = sha256(entry)")


def card_stays() -> None:
    """A decided card keeps its buttons."""
    decision.posts.updates = lambda *_told, **_options: ()


def no_lifetime() -> None:
    """What ends is kept for ever."""
    for name in ("commit", "ingest", "decide", "posted"):
        edit(name, "else call('PEXPIREAT', key, till) end", "else call('PERSIST', key) end")


@dataclass(frozen=True)
class Planted:
    """A bug, the promise it breaks, and the run in which that must come out."""

    bug: Callable[[], None]
    breaks: int
    plan: Plan


def _run(text: str, *troubles: Trouble, answer: str = "yes", **more: str) -> Plan:
    return Plan(0, (Said(0.3, 0, "ana", text),), troubles, crash=more, answer=answer)


BUGS = {
    planted.bug.__name__: replace(
        planted, plan=replace(planted.plan, seed=number, plant=planted.bug.__name__)
    )
    for number, planted in enumerate(
        (
            Planted(no_fence, 4, _run("pay 50 a1", SLOW, HOLD)),
            Planted(no_journal, 4, _run("wire 50 a1", SLOW, KILL)),
            Planted(no_unknown, 4, _run("wire 50 a1", SLOW, KILL)),
            Planted(no_dedupe, 4, _run("pay 50 a1")),
            Planted(
                no_reconciliation, 19, _run("hi a1", Trouble(0, "slack", "chat.postMessage lost"))
            ),
            Planted(no_gate, 1, _run("pay 200 a1")),
            Planted(no_means_yes, 2, _run("pay 200 a1", answer="no")),
            Planted(no_digest, 5, _run("pay 200 a1")),
            Planted(ack_before_store, 15, _run("pay 50 a1", Trouble(0.42, "kill", "main"))),
            Planted(no_compare, 15, _run("share 1 a1; share 2 a2; share 3 a3")),
            Planted(decided_in_two_steps, 16, _run("pay 200 a1", main="slot.decide.after:1")),
            Planted(forgotten_when_claimed, 16, _run("pay 50 a1", SLOW, KILL)),
            Planted(
                paid_before_posted,
                19,
                _run("hi a1", main="slack.post.before:1", side="slack.post.before:1"),
            ),
            Planted(own_approval, 10, _run("pay 200 a1", answer="own")),
            Planted(no_quorum, 11, _run("share 1 a1")),
            Planted(
                popped_at_begin,
                15,
                _run("pay 50 a1", main="slot.commit.before:1", side="slot.commit.before:1"),
            ),
            Planted(no_chain, 18, _run("pay 200 a1")),
            Planted(card_stays, 19, _run("pay 200 a1")),
            Planted(no_lifetime, 0, _run("pay 50 a1")),
        ),
        start=1,
    )
}
"""Every bug by its name."""


def plant(name: str) -> None:
    """Have this process have a bug; none without a name."""
    if name:
        BUGS[name].bug()
