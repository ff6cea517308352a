"""A session in which posts are owed, and what may be owed in it."""

import time
from dataclasses import dataclass

from agents import Event, Held, Post, SessionKey
from agents.runtime.slot.port import Begun, Commit, Companions
from agents.runtime.slot.redis import RedisSlot
from bot.approvals import posts
from bot.approvals.request import Approval, Copy, Policy
from bot.outbox import Debt, Outbox
from bot.playground import ANA, BOT, MAX, LocalSlack
from bot.playground.messages import full_text
from bot.turns import thread_of


@dataclass
class Desk:
    """A session in a thread of #expenses, and the outbox that pays for it."""

    slack: LocalSlack
    slot: RedisSlot
    outbox: Outbox
    key: SessionKey
    version: int = 0

    async def owe(
        self, *owed: Post, approvals: tuple[Approval, ...] = (), by: str = ANA.id
    ) -> None:
        """Store somebody's event, usually Ana's, that owes these posts."""
        begun = await self.slot.begin(self.key, owner="test", lease=1000)
        assert isinstance(begun, Begun)
        companions = Companions(posts=owed, approvals=[each.record() for each in approvals])
        said = Event(version=self.version + 1, author="user", user_id=by)
        done = await self.slot.commit(
            self.key,
            Commit(
                id=f"c{self.version}",
                fence=begun.fence,
                version=self.version,
                events=[said],
                companions=companions,
            ),
        )
        self.version = done.version

    async def debt(self, outbox: Outbox | None = None, *, left: float = 30.0) -> Debt:
        """What is owed in the session, which is in hand for `left` seconds."""
        begun = await self.slot.begin(self.key, owner="test", lease=int(left * 1000))
        assert isinstance(begun, Begun)
        held = Held(self.slot, self.key, begun)
        held.until = time.monotonic() + left
        return await (outbox or self.outbox).debt(held)

    async def pay(self, outbox: Outbox | None = None) -> Debt:
        """Pay what is owed, and strike it off."""
        debt = await self.debt(outbox)
        await debt.pay()
        await debt.strike()
        return debt

    def said(self) -> list[str]:
        """What the bot said in the thread, in order."""
        thread = self.slack.thread("expenses", thread_of(self.key).ts)
        return [full_text(each).partition("\n")[0] for each in thread if each["user"] == BOT.id]


def answer(desk: Desk, number: int, text: str) -> Post:
    """An answer into the session's thread."""
    return posts.answer(f"o:{number}:0", thread_of(desk.key), text=text, asker=ANA.id)


def question(desk: Desk, channel: str) -> Approval:
    """A question whose card goes to a channel."""
    return Approval(
        id="3-0",
        session=str(desk.key),
        call_id="2-0",
        agent="reimbursement",
        tool="reimburse",
        requester=ANA.id,
        args={"amount": 200},
        digest="d" * 64,
        nonce="n",
        policy=Policy(approvers=(MAX.id,)),
        asked_at=1_700_000_000_000,
        copies=(Copy(post="card:3-0:0", channel=channel),),
        notice="asked:3-0",
    )
