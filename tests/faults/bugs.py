"""Bugs that are planted into a bot to see that the judge is not blind.

A bug is a patch of this process only: of the text of scripts, or of a function.
"""

import asyncio
import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents import Ticket
from agents.runtime import calling, questions, shelf, steps, story
from agents.runtime.arguments import Bound
from agents.runtime.slot import redis, scripts, store
from agents.runtime.slot.port import Begun
from agents.runtime.tools import FunctionTool
from bot import clock, outbox
from bot.approvals import button, decision, life, policy, posts, request, secretary
from bot.index import due
from bot.slack import groups, messages, replies
from bot.slack.blocks import outcome
from bot.slack.endings import Posted, Uncertain
from bot.tickets import poll
from bot.tickets.local import LocalTickets

FENCE = "if number('fence') ~= a.fence then return { 'fence' } end"
VERSION = "if call('LLEN', EVENTS) ~= a.version then return { 'version' } end"


def edit(name: str, old: str, new: str) -> None:
    """Change the text of a script; it must have been there."""
    text = scripts.SCRIPTS[name].text
    if old not in text:
        raise LookupError(f"{name} has no {old!r} to plant a bug in")
    text = text.replace(old, new)
    sha = hashlib.sha1(text.encode()).hexdigest()
    scripts.SCRIPTS[name] = scripts.Script(text, sha)
    store._TEXT_OF[sha] = text


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
    calling.Calling._known = lambda _self: None
    edit("start_call", "if stored.status ~= 'approved' then", "if false then")
    _permit_all()


def no_digest() -> None:
    """Other arguments than those people saw are run."""
    _tamper()
    edit("start_call", "stored.digest ~= a.digest then", "false then")
    stood = questions.Questions._as_it_stands
    questions.Questions._as_it_stands = lambda self, tool, bound, told: (
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
            await asyncio.sleep(1.0)
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
    due.CLAIM = due.CLAIM.replace(
        "redis.call('ZADD', KEYS[1], string.format('%.3f', now + ARGV[2]), member)",
        "redis.call('ZREM', KEYS[1], member)",
    ).replace("until_ = redis.call('ZSCORE', KEYS[1], member)", "until_ = '0'")

    due.LATER = due.LATER.replace("if score and score ~=", "if score ~=")
    nobody_walks()


def nobody_walks() -> None:
    """What is lost from the index stays lost."""

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
    life.reached = lambda *_told: True
    _permit_all()


def _permit_all() -> None:
    """Nobody looks again before an approved call starts."""

    async def freely(*_told: object) -> tuple[str, None]:
        return "", None

    secretary.Secretary.permit = freely


def popped_at_begin() -> None:
    """The inbox loses its head when somebody takes the session in hand."""
    edit("begin", "local first = window()\n", "local first = window()\ncall('LPOP', INBOX, 2)\n")
    edit("commit", "if a.pop and call('LINDEX', INBOX, 0) ~= a.pop then return { 'pop' } end", "")
    edit("commit", "if a.pop then call('LPOP', INBOX, 2) end", "")


def no_chain() -> None:
    """An audit entry does not carry the one before it."""
    for name in ("commit", "decide", "start_call"):
        edit(name, "hash = known and made[2] or sha256(hash .. entry)", "hash = sha256(entry)")


def card_stays() -> None:
    """A decided card keeps its buttons."""
    decision.posts.updates = lambda *_told, **_options: ()


def no_lifetime() -> None:
    """What ends is kept for ever."""
    old, new = "else call('PEXPIREAT', key, till) end", "else call('PERSIST', key) end"
    for name in [name for name, script in scripts.SCRIPTS.items() if old in script.text]:
        edit(name, old, new)


def news_twice() -> None:
    """Nobody remembers what was told of a ticket."""
    telling = poll.turn

    def turn(key: Any, call: Any, waiting: Any, *, now: Any) -> Any:
        return telling(key, call, replace(waiting, seen=""), now=now)

    poll.turn = turn


def news_lost() -> None:
    """A ticket is looked at once."""

    async def looked(self: poll.Poll, key: Any, cid: str) -> object:
        return self._index.ticket_over(key, cid)

    poll.Poll._look = looked
    nobody_walks()


def news_go_back() -> None:
    """Before its end is heard, a ticket is once what it was at first."""
    getting, known = LocalTickets.get, dict[str, list[Ticket]]()

    async def get(self: LocalTickets, ticket_id: str) -> Ticket | None:
        ticket = await getting(self, ticket_id)
        seen = known.setdefault(ticket_id, [])
        if ticket and not ticket.final:
            seen.append(ticket)
            return ticket
        first, changed = seen[:1], len({each.mark for each in seen}) > 1
        seen.clear()
        return first[0] if changed else ticket

    LocalTickets.get = get


def inner_lost() -> None:
    """A nested agent does not go on with what people decided."""
    going = steps._step_of_call

    def step_of(agent: Any, told: story.Story, call: story.Call) -> object:
        decided = any(
            each.branch == call.inner and each.status == "decided" for each in told.calls.values()
        )
        return steps.Wait((call,)) if decided else going(agent, told, call)

    steps._step_of_call = step_of


def outer_early() -> None:
    """A nested agent's call is answered while its own calls wait for people."""
    going = steps._step_of_call

    def step_of(agent: Any, told: story.Story, call: story.Call) -> object:
        step = going(agent, told, call)
        return None if call.status == "entered" and isinstance(step, steps.Wait) else step

    steps._step_of_call = step_of


def expired_is_rejected() -> None:
    """Nobody answered, and the model hears that somebody said no."""
    life._OUTCOMES = {**life._OUTCOMES, "expired": "rejected"}


def one_counts_twice() -> None:
    """Who presses twice is two."""
    policy._repeated = lambda *_told, **_options: None
    for module in (request, life, secretary):
        module.in_favour = lambda votes, payload: tuple(
            vote for vote in votes if vote.confirmed and vote.payload == payload
        )


def update_lost() -> None:
    """A card whose change failed is taken for changed."""
    changing = outbox.Debt._change

    async def change(self: outbox.Debt, *told: Any) -> object:
        result = await changing(self, *told)
        return Posted("") if isinstance(result, Uncertain) else result

    outbox.Debt._change = change


def line_stays() -> None:
    """The line in the thread keeps its button when its question is closed."""
    updating = posts.updates

    def updates(*told: Any, **options: Any) -> Sequence[Any]:
        made = updating(*told, **options)
        return tuple(post for post in made if post.body["kind"] != "asked_update")

    posts.updates = updates


def batch_wakes_twice() -> None:
    """A model is asked as soon as one call of several is answered."""
    story.Story.settled = lambda _self, _call: True


def payload_unchecked() -> None:
    """What people enter is taken as it is."""
    decision._entered = lambda _approval, told: (
        dict(told.values or {}) if told.act == "approve" and told.values else None,
        {},
    )


def deadline_ignored() -> None:
    """Nothing expires, and nobody is too late."""
    edit("decide", "if not a.late_ok and stored.deadline and now >= stored.deadline", "if false")
    for module in (life, policy):
        module.late = lambda *_told, **_options: False


def past_forgotten() -> None:
    """Of a long conversation only the newest events are read, whatever older ones wait."""
    beginning = redis.RedisSlot.begin

    async def begin(self: redis.RedisSlot, *told: Any, **options: Any) -> object:
        begun = await beginning(self, *told, **options)
        if not isinstance(begun, Begun):
            return begun
        last = begun.version - len(begun.events)
        newest = [e for n, e in enumerate(begun.events, start=1) if e.version == last + n]
        return replace(begun, events=newest)

    redis.RedisSlot.begin = begin
    shelf.Shelf.put = lambda *_told, **_options: None


def answer_dropped() -> None:
    """What is said in a thread before its mention has come is forgotten."""

    async def nothing(*_told: object) -> list[str]:
        return []

    due.Index.said_after = nothing


def posts_when_late() -> None:
    """Whoever stood still posts what it was about to post."""

    async def never(_self: outbox.Debt) -> float:
        return math.inf

    outbox.Debt._until = never


def any_button() -> None:
    """A button is taken for that of any card."""
    button.Button.fits = lambda *_told: True


def rights_live_on() -> None:
    """Who was in a group once may decide for ever."""
    groups.Groups.forget = lambda *_told: None


def denied() -> None:
    """What was interrupted and left so is said not to have run, where it was approved."""
    outcome.left_open = lambda _approval: False


def denied_again() -> None:
    """What was interrupted is said not to have run, where nobody knows."""
    outcome._not_run = lambda _approval: "It did not run."


def said_done() -> None:
    """What was interrupted and left so is said to be done."""
    outcome._RUNS = {**outcome._RUNS, "unknown": "It is done."}
