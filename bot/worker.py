"""The one way from a turn to what is owed to Slack.

A worker claims sessions that are due, works through each one's inbox with its agent's runner, and
pays what is owed after every stored event. Nothing here knows why a session is due: a message, a
decision, news of a ticket and a post that could not be made yet all look alike.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Protocol

from agents import (
    Agent,
    Event,
    Held,
    ModelUnavailable,
    RunConfig,
    Runner,
    SessionBusy,
    SessionConflict,
    SessionKey,
    StoreUnavailable,
)
from bot import logs
from bot.approvals.request import Approval
from bot.guide import Fixed
from bot.index import Claim, Index
from bot.index.due import LONGEST
from bot.outbox import Debt, Outbox
from bot.places import Places
from bot.tries import Pauses, Tries

GRACE = 15.0
"""Seconds that turns in hand have left to end after SIGTERM; the platform kills after 30."""
CANCELLATIONS = 5
"""How often a turn is told to stop, since `asyncio.wait_for` may swallow it before Python 3.12."""
RETRIES = (1.0, 5.0, 15.0, 60.0, 300.0)
"""Seconds until a turn that failed is tried again; the last one repeats."""
SOON = 0.1
"""Seconds before a session that somebody else has is looked at again; doubled each time."""
AGAIN = 0.5
"""Seconds between two looks at whether a lost store answers again."""
TRIES = 3
"""How often a turn is taken up again after its store was lost, before it waits a whole lease."""
GIVE_UP = 6
"""The failures at one event after which a turn is given up."""
AWAY = 300.0
"""Seconds for which what is put to an agent that this process lacks is left to those that have it,
as while one release takes over from another, or is taken back."""
AWAY_AGAIN = 10.0
"""Seconds until such a session is looked at again; longer each time."""
HANG = "Turns do not end: see tool.slow for what they wait for, end that, or restart this process."
GONE = "The agent of this conversation is not here any more, so nothing was done."


def farewell() -> Agent:
    """The agent that answers in sessions whose own agent a deploy has removed."""
    return Agent(name="farewell", model=Fixed(GONE))


class Secretary(Protocol):
    """Keeps a session's approvals in mind while a turn lasts (see approvals/secretary.py)."""

    async def prepare(self, key: SessionKey, approvals: Mapping[str, Approval]) -> None:
        """Begin a turn with the session's approvals."""
        ...

    async def recall(self, key: SessionKey) -> None:
        """A turn is about to be given up: know the session's approvals, as far as it goes."""
        ...

    async def settle(self, key: SessionKey) -> bool:
        """Close what the events stored since the last time left no reason to keep open.

        Whether there was any; it may have brought posts that are owed.
        """
        ...

    def forget(self, key: SessionKey) -> None:
        """End the turn."""
        ...


class Tally:
    """Sums a turn up in the log; says nothing when there was nothing to do."""

    def __init__(self, agent: str, *, waiting: bool) -> None:
        """Begin, perhaps with something `waiting`; a turn that goes on after a crash may not."""
        self._agent = agent
        self._begun = time.monotonic()
        self._events = self._calls = self._tokens = 0
        self._started = False
        if waiting:
            self._start()

    def heard(self, event: Event) -> None:
        """Count an event that was stored."""
        if not self._started:
            self._start()
        self._events += 1
        self._calls += len(event.get_function_calls())
        self._tokens += event.tokens

    def ended(self) -> None:
        """Log the sums: there is nothing more to do for now."""
        if self._started:
            logs.info(
                "turn.finished",
                agent=self._agent,
                events=self._events,
                calls=self._calls,
                tokens=self._tokens,
                took_s=round(time.monotonic() - self._begun, 3),
            )

    def _start(self) -> None:
        self._started = True
        logs.info("turn.started", agent=self._agent)


class Worker:
    """Works sessions off until it is told to stop: `await Worker(…).run(stopping)`.

    `runners` are by the agent's name, `farewell` serves the sessions of all others. `owner` names
    this process in leases, `lease` is in milliseconds, at most `concurrency` sessions are in hand
    at once (see places.py for turns that last long). `run_config` is how every turn behaves.
    """

    def __init__(
        self,
        *,
        index: Index,
        runners: Mapping[str, Runner],
        farewell: Runner,
        secretary: Secretary,
        outbox: Outbox,
        owner: str,
        lease: int = 30_000,
        concurrency: int = 16,
        run_config: RunConfig | None = None,
    ) -> None:
        """Keep the parts; nothing runs yet."""
        self._index = index
        self._runners = runners
        self._farewell = farewell
        self._secretary = secretary
        self._outbox = outbox
        self._owner = owner
        self._lease = lease
        self._run_config = run_config
        self._claims: dict[SessionKey, Claim] = {}
        self._turns: dict[SessionKey, asyncio.Task[None]] = {}
        self._places, self._full = Places(concurrency), False
        self._failures, self._passing, self._pauses = Tries(), Tries(), Pauses()
        self._met = Tries()
        self._strange = Tries()
        self._stopping = asyncio.Event()

    async def run(self, stopping: asyncio.Event, *, grace: float = GRACE) -> None:
        """Claim and work until `stopping` is set, then end what is in hand or hand it back."""
        self._stopping = stopping
        stop = asyncio.create_task(stopping.wait())
        try:
            while not stopping.is_set():
                await self._claim(stop)
        finally:
            stopping.set()  # also when it ends otherwise: no turn begins any more
            stop.cancel()
            await self._let_end(grace)

    async def _claim(self, stop: "asyncio.Task[object]") -> None:
        """Take what is due and fits, or wait until something ends, is due, or all stops."""
        room = self._room()
        if room <= 0:
            ends = {*self._turns.values(), stop}
            await asyncio.wait(ends, timeout=1, return_when=asyncio.FIRST_COMPLETED)
            return
        try:
            claims = await self._index.claim(room, lease=self._lease)
            for claim in claims:
                self._take(claim)
            if len(claims) < room:
                await self._idle(stop)
        except StoreUnavailable as raised:
            logs.warning("store.unavailable", error=raised)
            await asyncio.wait({stop}, timeout=1)

    def _room(self) -> int:
        """How many more sessions fit; operators hear of it when turn after turn does not end."""
        known, self._full = self._full, self._places.full
        if self._full and not known:
            logs.error("worker.full", turns=len(self._turns), todo=HANG)
        return self._places.free(time.monotonic())

    async def _idle(self, stop: "asyncio.Task[object]") -> None:
        """Wait for the doorbell, a second at most."""
        bell = asyncio.create_task(self._index.wait())
        await asyncio.wait({bell, stop}, return_when=asyncio.FIRST_COMPLETED)
        bell.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await bell

    def _take(self, claim: Claim) -> None:
        """Start a turn; where one is under way, another starts when it has ended."""
        self._claims[claim.key] = claim
        if claim.key not in self._turns:
            self._start(claim.key)

    def _start(self, key: SessionKey) -> None:
        # Not in a TaskGroup: a turn that fails must not stop the others.
        self._turns[key] = task = asyncio.create_task(self._work(self._claims.pop(key)))
        self._places.begin(key, now=time.monotonic())
        task.add_done_callback(lambda _: self._ended(key))

    def _ended(self, key: SessionKey) -> None:
        del self._turns[key]
        self._places.end(key)
        if key in self._claims:
            self._start(key)

    async def _let_end(self, grace: float) -> None:
        """Wait for the turns in hand; those that last too long are cancelled and handed back."""
        end = time.monotonic() + grace
        while self._turns and (left := end - time.monotonic()) > 0:
            await asyncio.wait(self._turns.values(), timeout=left)
        late, self._claims = self._claims, {}
        for _ in range(CANCELLATIONS):
            for task in self._turns.values():
                task.cancel()
            if self._turns:
                await asyncio.wait(self._turns.values(), timeout=1)
        with contextlib.suppress(StoreUnavailable):
            await self._index.send([each for key in late for each in self._index.ring(key)])

    async def _work(self, claim: Claim) -> None:
        """Work off a claimed session; whatever happens, it is looked at again if need be."""
        tries = 0
        with logs.bound(session=str(claim.key)):
            while not await self._over(claim, tries):
                tries += 1
                await self._store_answers()

    async def _over(self, claim: Claim, tries: int) -> bool:
        """Have a turn, or leave it to others when all stops; False when it is to be tried again.

        A process that stops without its store hands nothing on: others come after the lease.
        """
        handed_on = self._stopping.is_set()
        try:
            if handed_on:
                await self._index.send(self._index.ring(claim.key))
            elif tries < TRIES:
                await self._look_after(claim)
            else:
                await self._index.send(self._index.over(claim, pause=self._lease / 1000))
        except StoreUnavailable as raised:
            logs.warning("store.unavailable", error=raised)
            return handed_on
        return True

    async def _store_answers(self) -> None:
        """Wait at least a moment, until the store answers or all stops."""
        answers = False
        while not (answers or self._stopping.is_set()):
            await asyncio.sleep(AGAIN)
            answers = await self._index.answers()

    async def _look_after(self, claim: Claim) -> None:
        """Work through a claimed session, and say when it has to be looked at again."""
        key, held = claim.key, None
        runner = self._runners.get(key.app, self._farewell)
        hand = runner.hold(key, owner=self._owner, lease=self._lease, run_config=self._run_config)
        try:
            async with hand as held:
                self._begins_anew(key, at="")
                await self._turn(runner, held, claim)
        except StoreUnavailable:
            raise
        except SessionBusy as busy:
            logs.info("turn.busy")
            pause = busy.pause or self._pause_met(key)
        except (Exception, asyncio.CancelledError) as raised:
            if self._stopping.is_set() and isinstance(raised, asyncio.CancelledError):
                await self._index.send(self._index.ring(key))
                raise
            at = str(held.version) if held else ""
            pause = self._pause_after(key, raised, at=at)
            if self._failures.times(key, at) >= GIVE_UP:
                pause = await self._bury(key, at=at)
        else:
            return
        await self._index.send(self._index.over(claim, pause=pause))

    def _begins_anew(self, key: SessionKey, *, at: str) -> None:
        """Forget what was in vain before: taking a session in hand (at no event), or its turn."""
        for each in (self._failures, self._passing, self._pauses, self._met):
            each.over(key, at)

    def _pause_met(self, key: SessionKey) -> float:
        """Seconds before a busy session is looked at again: whoever has it may never do so."""
        now, longest = time.monotonic(), self._lease / 1000
        self._met.forget(now, after=2 * longest)
        met = self._met.failed(key, "", now=now).count
        return min(SOON * 2 ** min(met, 10), longest)

    async def _turn(self, runner: Runner, held: Held, claim: Claim) -> None:
        """Work through a session in hand: what is owed already, then its inbox."""
        key, at = held.key, str(held.version)
        try:
            debt = await self._outbox.debt(held)
            await self._secretary.prepare(key, debt.approvals)
            await debt.pay()
            later = self._put_off(runner, held)
            if later is None:
                await self._serve(runner, held, debt)
                self._begins_anew(key, at=at)
            pauses = [each for each in (later, debt.waits.again) if each is not None]
            await self._give_back(held, claim, pause=min(pauses, default=None))
        finally:
            self._secretary.forget(key)

    def _put_off(self, runner: Runner, held: Held) -> float | None:
        """Seconds for which a turn may not go on, whoever rings; None when it may."""
        if runner.rests(held):
            return None
        left = self._pauses.left(held.key, str(held.version), now=time.monotonic())
        later = left or self._left_to_others(runner, held)
        held.is_put_off = later is not None
        return later

    def _left_to_others(self, runner: Runner, held: Held) -> float | None:
        """Seconds for which only a process with the agent may go on; None when this one may."""
        if runner is not self._farewell:
            return None
        now, what = time.monotonic(), held.next_entry or str(held.version)
        self._strange.forget(now)
        tried = self._strange.failed(held.key, what, now=now)
        if now - tried.first < AWAY:
            logs.warning("turn.left", agent=held.key.app)
            return tried.pause(AWAY_AGAIN)
        self._strange.over(held.key, what)
        return None

    async def _serve(self, runner: Runner, held: Held, debt: Debt) -> None:
        """Work off the inbox; what each stored event owes is paid before the next step."""
        if held.waiting:
            await debt.announce()
        if runner.gives_up(held):
            await self._index.send(self._index.buried(held.key))
        tally = Tally(held.key.app, waiting=held.waiting)
        work = aclosing(runner.work(held, run_config=self._run_config))
        async with debt.lasting(), work as events:
            async for event in events:
                if not event.partial:
                    tally.heard(event)
                    await debt.pay(look=await self._secretary.settle(held.key))
                    if not runner.rests(held):
                        await debt.strike()
        await debt.pay(look=await self._secretary.settle(held.key))
        await debt.fall_silent()
        tally.ended()

    async def _give_back(self, held: Held, claim: Claim, *, pause: float | None) -> None:
        """Give a session back, say when it is due again, and take the next one, all at once."""
        over = self._index.over(claim, pause=pause)
        more = self._index.claiming(1, lease=self._lease) if self._takes_another(held.key) else ()
        try:
            told = await held.release(index=[*over, *more])
        except StoreUnavailable:
            self._index.unheard(more, lease=self._lease)
            raise
        for each in await self._index.claimed(told[len(over) :], lease=self._lease) if more else ():
            self._take(each)

    def _takes_another(self, key: SessionKey) -> bool:
        """Whether the end of a turn is the beginning of one in another session."""
        if self._stopping.is_set() or key in self._claims:
            return False
        return self._places.passes_on(key, now=time.monotonic())

    async def _bury(self, key: SessionKey, *, at: str) -> float:
        """Give up a turn that fails again and again; operators and people hear of it."""
        logs.error("turn.given_up")
        self._begins_anew(key, at=at)
        await self._index.send(self._index.buried(key))
        runner = self._runners.get(key.app, self._farewell)
        try:
            await self._secretary.recall(key)
            version = int(at) if at else None
            await runner.give_up(key, owner=self._owner, lease=self._lease, version=version)
        except StoreUnavailable:
            raise
        except Exception as raised:  # noqa: BLE001 - what broke the turn may break its end
            return self._pause_after(key, raised, at=at)
        finally:
            self._secretary.forget(key)
        return 0

    def _pause_after(self, key: SessionKey, raised: BaseException, *, at: str) -> float:
        """Seconds to wait after a turn failed: longer each time, and as long as was asked for.

        What passes counts apart; what fails before its time, in paying what is owed, not at all.
        """
        asked, counted = 0.0, self._passing
        match raised:
            case SessionConflict():
                logs.warning("lease.lost")
            case ModelUnavailable():
                logs.warning("model.failed", error=raised)
                asked = raised.retry_after or 0.0
            case _:
                logs.error("turn.failed", error=raised)
                counted = self._failures
        now = time.monotonic()
        if left := self._pauses.left(key, at, now=now):
            return left
        counted.forget(now)
        count = counted.failed(key, at, now=now).count
        pause = min(max(RETRIES[min(count, len(RETRIES)) - 1], asked), LONGEST)
        self._pauses.begin(key, at, pause, now=now)
        return pause
