"""A thread of Ana's, its session, and what a worker is made of."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from agents import Agent, Companions, Runner, SessionKey, SessionService
from agents.runtime.slot.redis import RedisSlot
from agents.runtime.testing import ScriptedModel
from bot.approvals.scene import Rules
from bot.approvals.secretary import Secretary
from bot.index import Index
from bot.outbox import Outbox
from bot.playground import ANA, BOT, LocalSlack
from bot.slack.replies import Replies
from bot.turns import Thread, Turn, session_key
from bot.worker import Worker, farewell

TEAM = "T0LOCALWORK"


@dataclass
class River:
    """A thread of Ana's, its session, and what a worker is made of."""

    slack: LocalSlack
    slot: RedisSlot
    index: Index
    replies: Replies
    thread: Thread
    asked: int = 0

    @property
    def key(self) -> SessionKey:
        """The session of the thread."""
        return session_key(team=TEAM, agent="helper", thread=self.thread)

    async def beside(self) -> "River":
        """Another thread in the same channel, for those who only ask and listen."""
        said = await self.slack.say("ana", "expenses", "hello")
        return replace(self, thread=Thread(self.thread.channel, said.ts), asked=0)

    async def ask(self, text: str = "hello") -> None:
        """Put a message into the session, and ring."""
        self.asked += 1
        turn = Turn(id=f"m:{self.asked}", session=self.key, author=ANA.id, text=text)
        await self.slot.ingest(self.key, turn.entry(), index=self.index.ring(self.key))

    def said(self) -> list[str]:
        """What the bot said in the thread, in order."""
        thread = self.slack.thread("expenses", self.thread.ts)
        return [each["text"] for each in thread if each["user"] == BOT.id]

    async def hears(self, *texts: str) -> None:
        """Wait until the bot said exactly this."""
        await self.slack.wait_for(lambda: self.said() == list(texts))

    def runner(self, agent: Agent, companion=None) -> Runner:
        """A runner of an agent on the store."""
        given = {"companion": companion} if companion else {}
        return Runner(
            agent=agent,
            session_service=SessionService(self.slot, tenant=TEAM),
            tenant=TEAM,
            **given,
        )

    @asynccontextmanager
    async def worker(
        self,
        model: ScriptedModel,
        *,
        tools: Sequence = (),
        name: str = "helper",
        grace: float = 5.0,
        failing: Sequence[BaseException] = (),
        concurrency: int = 16,
        lease: int = 30_000,
    ) -> AsyncIterator[Worker]:
        """A worker at work; the first commits fail with `failing`."""
        secretary = Secretary(
            slot=self.slot,
            rules=lambda key: Rules(due=self.index.approval_due),
            ring=self.index.ring,
            nonces=iter(str, "never"),
        )
        faults = list(failing)

        def companion(key, story, *, new, now) -> Companions:
            if faults:
                raise faults.pop(0)
            return secretary.companions(key, story, new=new, now=now)

        agent, owner = Agent(name="helper", model=model, tools=tools), f"worker-{id(model)}"
        worker = Worker(
            index=self.index,
            runners={name: self.runner(agent, companion)},
            farewell=self.runner(farewell(), companion),
            secretary=secretary,
            outbox=Outbox(slot=self.slot, replies=self.replies, owner=owner),
            owner=owner,
            lease=lease,
            concurrency=concurrency,
        )
        stopping = asyncio.Event()
        task = asyncio.create_task(worker.run(stopping, grace=grace))
        try:
            yield worker
        finally:
            stopping.set()
            await task
