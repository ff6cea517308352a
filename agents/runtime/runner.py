"""Runner: ask what comes next, do that one thing, store what came of it, repeat.

A new message, a decision three weeks later, news of a ticket and the process that takes over after
a crash are served by the same loop: it loads the events and asks.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from google.genai import types
from pydantic import JsonValue

from agents.runtime.agent import Agent
from agents.runtime.asking import Asking
from agents.runtime.budget import Budget, RunConfig, Spent
from agents.runtime.calling import outcomes
from agents.runtime.compaction import stored
from agents.runtime.ending import given_up, stopped
from agents.runtime.errors import SessionBusy, SessionConflict, SessionNotFoundError
from agents.runtime.events import Event
from agents.runtime.held import Companion, Held, Permit, nothing
from agents.runtime.hooks import Hooks, Plugin, asks_first, checked
from agents.runtime.lease import hold
from agents.runtime.messages import accepted, entry
from agents.runtime.model import Model
from agents.runtime.models import Models, resolved
from agents.runtime.outcome import recorded
from agents.runtime.reading import Reading, Turns
from agents.runtime.sessions import InMemorySessionService, SessionService
from agents.runtime.shelf import Shelf
from agents.runtime.slot.port import WINDOW, Entry, SessionKey
from agents.runtime.steps import CallModel, Done, RunTools, Step, Wait, next_step
from agents.runtime.story import Story

LEASE = 30_000
USUAL = RunConfig()
MAX_DEATHS = 10
"""How often a turn may kill its process before it is given up."""


class Runner:
    """Runs an agent on sessions.

    `session_service` is where sessions live (memory by default). `models` resolves the name of a
    model, or is the one model of all agents; without it Gemini is asked, with the key google-genai
    finds in its environment. `companion` derives from new events what goes into the slot with them,
    `permit` is asked once more before an approved call starts; with it a call that was asked about
    starts only if the slot has its approval. A model that is unavailable is given up after
    `max_attempts` tries. `spent` says how many tokens a person used up today.

    Raises UsageError when there is no key for Gemini, and for a plugin that cannot be called.
    """

    def __init__(
        self,
        *,
        agent: Agent,
        app_name: str = "",
        session_service: SessionService | None = None,
        models: Models | Model | None = None,
        companion: Companion = nothing,
        permit: Permit | None = None,
        plugins: Sequence[Plugin] = (),
        auto_create_session: bool = False,
        max_attempts: int = 5,
        spent: Spent | None = None,
        tenant: str = "local",
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        """Resolve the models of the agents."""
        self.agent = agent
        self.app_name = app_name or agent.name
        self.session_service = session_service or InMemorySessionService()
        self._slot = self.session_service.slot
        self._models = resolved(agent, models)
        self._companion = companion
        self._permit = permit
        self._plugins = checked(plugins)
        self._auto_create = auto_create_session
        self._max_attempts = max_attempts
        self._spent = spent
        self._tenant = tenant
        self._new_id = new_id
        self._shelf = Shelf()
        self._tasks: set[asyncio.Task[None]] = set()
        self._readings: dict[str, Reading] = {}

    async def run_async(
        self,
        *,
        user_id: str,
        session_id: str,
        new_message: types.Content | None = None,
        state_delta: dict[str, JsonValue] | None = None,
        run_config: RunConfig | None = None,
        invocation_id: str | None = None,  # noqa: ARG002 - callers of Google ADK pass it
    ) -> AsyncIterator[Event]:
        """Put a message to a session and yield what happens, each event after it is stored.

        The run goes on when the caller stops reading, and reads these very events again: whoever
        changes one changes a copy of it. Without a message it only goes on from what is stored;
        `invocation_id` is accepted for old callers and not needed. Raises SessionNotFoundError,
        AnswerError (nothing is stored), and what the model raised, unless another process worked
        on the message: then the last event tells of it.
        """
        key = SessionKey(self.app_name, user_id, session_id, self._tenant)
        budget = self._budget(run_config)
        entry_id = self._new_id()
        reading = Reading(entry_id if new_message is not None else None, budget)
        if new_message is not None:
            message = accepted(new_message, await self._story(key, new_message))
            told = {"state_delta": state_delta, "skip_summarization": budget.config.quiet}
            await self._ingest(key, entry(entry_id, message, user=user_id, **told))
        elif await self._slot.read(key, parts=()) is None:
            await self._create(key)
        self._readings[entry_id] = reading
        task = asyncio.create_task(self._read(key, reading, owner=entry_id))
        self._tasks.add(task)  # a run outlives its reader; the set keeps it from being collected
        task.add_done_callback(self._tasks.discard)
        while (event := await reading.next()) is not None:
            yield event

    async def join(self) -> None:
        """Wait for the runs that go on though nobody reads them any more."""
        await asyncio.gather(*self._tasks)

    async def serve(
        self,
        key: SessionKey,
        *,
        owner: str,
        lease: int = LEASE,
        run_config: RunConfig | None = None,
    ) -> AsyncGenerator[Event]:
        """Take a session in hand and work through its inbox; yield each event after it is stored.

        `lease` is in milliseconds. Raises SessionBusy, SessionConflict when the session was lost,
        and ModelUnavailable when trying again later may help.
        """
        async with self.hold(key, owner=owner, lease=lease, run_config=run_config) as held:
            async for event in self.work(held, run_config=run_config, let_go=True):
                yield event

    async def work(
        self, held: Held, *, run_config: RunConfig | None = None, let_go: bool = False
    ) -> AsyncGenerator[Event]:
        """Work through the inbox of a session in hand, as `serve` does.

        With `let_go` it is given back with the last event there is, before that is yielded.
        """
        if self.gives_up(held):
            for event in await self._end(held):
                yield event
        everybody = Turns(Reading(None, self._budget(run_config)))
        async for event in self._steps(held, everybody, let_go=let_go):
            yield event

    def rests(self, held: Held) -> bool:
        """Whether a session in hand has nothing to do for now, as far as this process was told."""
        return self._idle(held) and not (held.unstored or held.waiting)

    def gives_up(self, held: Held) -> bool:
        """Whether `work` begins by ending what comes next, for whoever worked on it died of it."""
        return held.deaths >= MAX_DEATHS and not self.rests(held)

    def _idle(self, held: Held) -> bool:
        return isinstance(next_step(self.agent, held.story), (Wait, Done))

    async def give_up(
        self, key: SessionKey, *, owner: str, lease: int = LEASE, version: int | None = None
    ) -> None:
        """End a turn that cannot be completed, and say so in it; what waits behind it can go on.

        Nothing is done when the session has gone on from `version`, the one at which it failed.
        Raises SessionBusy and SessionConflict.
        """
        try:
            async with self.hold(key, owner=owner, lease=lease) as held:
                if version in (None, held.version):
                    await self._end(held)
        except (ValueError, TypeError, AttributeError, RecursionError):
            async with self.hold(key, owner=owner, lease=lease) as held:
                if version not in (None, held.version):
                    return
                if not (self._idle(held) and held.waiting):
                    raise
                held.put_aside()  # it can be read or stored by nobody
                version, now = held.next_version, held.now / 1000
                end = stopped(self.agent, f"inv-{version}", version=version, now=now)
                await held.commit([end])

    async def _end(self, held: Held) -> list[Event]:
        if self._idle(held):
            await held.take()
        events = given_up(
            self.agent,
            held.story,
            started=held.started,
            version=held.next_version,
            now=held.now / 1000,
        )
        return await held.commit(events) if events or held.unstored else []

    def hold(
        self,
        key: SessionKey,
        *,
        owner: str,
        lease: int = LEASE,
        run_config: RunConfig | None = None,
    ) -> AbstractAsyncContextManager[Held]:
        """Take a session in hand for as long as the block lasts; raises SessionBusy."""
        return hold(
            self._slot,
            key,
            owner=owner,
            lease=lease,
            companion=self._companion,
            permit=self._permit,
            shelf=self._shelf,
            size=stored(run_config.window if run_config else 0),
        )

    async def _steps(
        self, held: Held, turns: Turns, *, let_go: bool = False
    ) -> AsyncIterator[Event]:
        """The loop; `turns` says what each inbox entry's turn may use, and when to stop."""
        budget = turns.begin(held.entry)
        while not held.lost:
            step = next_step(self.agent, held.story)
            match step:
                case CallModel():
                    asking = await self._asking(step, held, budget)
                    async for piece in asking.pieces():
                        yield piece
                    new = asking.new
                case RunTools():
                    new = await self._ran(step, held, budget)
                case Wait() | Done() if not held.unstored:
                    if held.next_entry is None or turns.over:
                        return
                    budget = turns.begin(held.next_entry)
                    await held.take()
                    continue
                case _:
                    new = []
            for event in await self._kept(held, step, new, let_go=let_go):
                yield event
            if budget.raised is not None:
                raise budget.raised
            if held.released:
                return
        raise SessionConflict(f"the session {held.key} was lost to somebody else")

    async def _kept(
        self, held: Held, step: Step, new: Sequence[Event], *, let_go: bool
    ) -> Sequence[Event]:
        """Store what came of a step, or only take it in; returns what a client may see."""
        match step:
            case CallModel(agent=agent) if asks_first(agent, new, plugins=self._plugins):
                held.hear(new)
                return ()
            case _:
                return await held.commit(new, over=lambda: let_go and self._idle(held))

    async def _asking(self, step: CallModel, held: Held, budget: Budget) -> Asking:
        """A question to a model, about to be asked."""
        await held.work_for(step.invocation)
        hooks, model = Hooks(self._plugins, step.agent), self._models[id(step.agent)]
        return Asking(held, step, model=model, hooks=hooks, budget=budget)

    async def _ran(self, step: RunTools, held: Held, budget: Budget) -> list[Event]:
        """Go on with the calls of a batch; returns the events that record what came of it."""
        await held.work_for(step.calls[0].invocation)
        found = await outcomes(held, step, Hooks(self._plugins, step.agent))
        if budget.config.raise_tool_errors:
            budget.raised = next((o.error for o in found if o.error), None)
        return recorded(found, version=held.next_version, now=held.now / 1000)

    async def _ingest(self, key: SessionKey, entry: Entry) -> None:
        """Put an entry into a session's inbox."""
        if await self._slot.ingest(key, entry, only_existing=True) == "missing":
            await self._create(key)
            await self._slot.ingest(key, entry)

    async def _create(self, key: SessionKey) -> None:
        """Create the missing session, if the runner was told to."""
        if not self._auto_create:
            raise SessionNotFoundError(f"there is no session {key.id!r} of {key.user!r}")
        await self._slot.apply(key, state={}, create=True)

    async def _story(self, key: SessionKey, message: types.Content) -> Story:
        """What a message must fit: nothing unless it answers; else the newest events, or all."""
        story = Story()
        answers = {p.function_response.id or "" for p in message.parts or () if p.function_response}
        for window in (WINDOW, 0):
            if all(story.asked_by(answer) or story.find(answer) for answer in answers):
                break
            view = await self._slot.read(key, parts=("events",), window=window)
            if view is None:
                await self._create(key)
            story = Story(view.events if view else ())
        return story

    async def _read(self, key: SessionKey, reading: Reading, *, owner: str) -> None:
        """Work through a session until this caller's turn is over, earlier turns included."""
        pause = 0.005
        try:
            while not reading.done:
                turns = Turns(reading, self._readings)
                try:
                    await self._served(key, turns, owner=owner)
                except SessionBusy as busy:
                    await asyncio.sleep(busy.pause or pause)
                    pause = min(2 * pause, 0.1)
                except Exception as error:  # noqa: BLE001 - it is raised where the run is read
                    turns.fail(error)
                else:
                    turns.end()
        finally:
            del self._readings[owner]
            reading.end()

    async def _served(self, key: SessionKey, turns: Turns, *, owner: str) -> None:
        """Work through a session once; each caller hears what comes of its own turn."""
        mine = turns.mine
        async with self.hold(key, owner=owner, run_config=mine.budget.config) as held:
            turns.catch_up(held)
            async for event in self._steps(held, turns, let_go=True):
                turns.now.hear(event)
        if not mine.found:
            view = await self._slot.read(key, parts=("events",))
            mine.read(view.events if view else ())

    def _budget(self, run_config: RunConfig | None) -> Budget:
        """What one turn may use."""
        return Budget(run_config or USUAL, self._max_attempts, self._spent)
