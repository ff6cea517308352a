"""Pays what is owed to Slack, once, in the order in which it was owed.

A post is made out of the stored record as it is at that moment. A post that may have been made
already is looked for by its metadata first. What Slack will never take, or nobody can show, is
mentioned in the thread of the request and struck off; what Slack may take later stays owed.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Protocol

from agents import Held, Post, Record, SessionConflict, SessionKey, Slot, StoreUnavailable
from bot import logs
from bot.approvals.kin import near
from bot.approvals.posts import kind_of, thread_to
from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.courier import Courier
from bot.detour import TRIED, Detour
from bot.display import Display
from bot.slack import blocks
from bot.slack.blocks import Rendered
from bot.slack.endings import Posted, Refused, Result, Retry, Unanswered, Uncertain
from bot.slack.replies import Replies, Seen
from bot.tries import NEWER, Tries, Waits
from bot.turns import Saved, Thread, thread_of

LOOK_AGAIN = 3.0
"""Seconds until a post whose fate is unknown is looked for: Slack shows it by then."""
MENDED_AGAIN = 5.0
"""Seconds before Slack is tried again when it refuses the app as a whole; longer each time."""
SHARE = 2 / 3
"""The share of a lease after which no call to Slack is begun any more: so whoever takes over looks
for its message only when it has long been there."""
MANY = 1_000
"""Sessions whose oldest post is known not to be there; for others it has to be looked for."""
SAVE_AGAIN = 2.0
"""Seconds before it is checked again whether an outcome is on the other servers too."""
LOOKING = ("conversations.replies", "conversations.history")
"""The methods with which a post is looked for; Slack limits them for all channels together."""
OPENING = "conversations.open"
UPDATES = ("card_update", "asked_update", "ticket_update")
DECIDED = ("approved", "rejected", "cancelled")
UNSHOWN = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""The errors met where a post or its record is not what this release expects."""


class Limits(Protocol):
    """What all processes know of Slack's limits, by method and channel."""

    async def hold_off(self, method: str, channel: str, *, seconds: float) -> None:
        """Let nobody make that call for so long."""
        ...

    def held_off(self, method: str, channel: str) -> float:
        """Seconds until that call may be made; 0 when it may."""
        ...


Changed = Callable[[Approval], None]
"""Called with an approval that is now shown as it is."""


class Outbox:
    """Everything owed, session by session: `debt = await outbox.debt(held)`.

    `unposted` are the oldest posts of sessions of which Slack took nothing when this process had
    them in hand, with the fence of then: nobody looks for one unless others had it since. So is
    `reading` what was read in part where posts are looked for.
    """

    def __init__(
        self,
        *,
        slot: Slot,
        replies: Replies,
        owner: str = "",
        limits: Limits | None = None,
        changed: Changed | None = None,
        name: Callable[[str], str] = str,
        saved: Saved | None = None,
    ) -> None:
        """Pay out of `slot` with `replies`; `owner` is who takes sessions in hand to pay.

        `name` says what the person with an id is called.
        """
        self.slot = slot
        self.replies = replies
        self.owner = owner
        self.limits = limits
        self.changed = changed
        self.name = name
        self.saved = saved
        self.saving: set[tuple[SessionKey, str]] = set()
        self.tries = Tries()
        self.unposted: dict[SessionKey, tuple[int, str]] = {}
        self.reading: dict[SessionKey, tuple[int, dict[Thread, Seen]]] = {}

    async def debt(self, held: Held) -> "Debt":
        """What a session in hand owes before anything more is done in it."""
        self.tries.forget(time.monotonic())
        debt = Debt(held.key, self)
        debt.owed, debt.paid = held.owed, held.paid
        oldest = next(iter(held.owed), "")
        if self.unposted.pop(held.key, None) != (held.before, oldest):
            # Not the oldest alone: a click owes ahead of what a turn says that does not know of it.
            debt.doubtful.update(held.owed)
        fence, seen = self.reading.pop(held.key, (0, {}))
        debt.seen.update(seen if fence == held.before else {})
        debt.fence = held.fence
        if len(self.unposted) + len(self.reading) > MANY:  # others have paid them
            self.unposted.clear()
            self.reading.clear()
        debt.near = partial(near, held.story)
        debt.is_ours(held.until - time.monotonic(), since=time.monotonic())
        if held.owed or any(call.request for call in held.story.open.values()):
            await debt.look()
        return debt

    async def mend(self, key: SessionKey, place: str) -> None:
        """Show a message (`channel|ts`) as it is now, if what it asks is over; it may be lost.

        Nothing is owed for it: once Slack refused to change a message, only its readers know.
        """
        debt = Debt(key, self)
        await debt.look()
        await debt.mend(place)


class Debt:
    """What is owed in one session, for as long as this process works on it.

    `doubtful` are ids of posts that may be in Slack already. `waits` are those that
    cannot be made yet: what Slack wants later, with all that is owed behind it; what this release
    cannot show, and changes of messages, are overtaken meanwhile. `owed` are posts
    that are not tried yet, `paid` those to strike off: see Held. `posts` and `approvals` are the
    session's as they were when last looked at, which is done only where a post is about more than
    its own words. What became of approvals is shown once it is `saved`; `saving` are the posts in
    place of which it is told that it is being saved. `near` names the approvals to know besides
    those that posts are about; None are all.
    """

    def __init__(self, key: SessionKey, outbox: Outbox) -> None:
        """Know nothing yet; without an owner nobody else can have the session in hand."""
        self.key = key
        self.fence = 0
        self.waits = Waits()
        self._paying = asyncio.Lock()
        self._lasts = False
        self._later: asyncio.Task[None] | None = None
        self.posts: list[Post] = []
        self.owed: dict[str, Post] = {}
        self.paid: dict[str, str | None] = {}
        self.saved, self.saving = outbox.saved, outbox.saving
        self._tries, self._unposted, self._reading = outbox.tries, outbox.unposted, outbox.reading
        self._slot = outbox.slot
        self._replies = outbox.replies
        self._owner, self._limits = outbox.owner, outbox.limits
        self._changed = outbox.changed
        self.near: Callable[[], Sequence[str] | None] = lambda: None
        self._thinking = self._looked = False
        self._over: set[str] = set()  # who stored a post may say so after it was read and paid
        self._ours_until = self._begin_by = 0.0
        self._display = Display(key, outbox.slot, replies=outbox.replies, name=outbox.name)
        self._courier = Courier(
            key,
            outbox.replies,
            until=self._until,
            stored=self._stored_place,
            wait=self._until_looking,
            believed=self._believed,
        )
        self._detour = Detour(key, self._courier, slot=outbox.slot, known=self._display)
        self.approvals, self.doubtful = self._display.approvals, self._courier.doubtful
        self.seen = self._courier.seen

    def is_ours(self, seconds: float, *, since: float) -> None:
        """Know for how long nobody else can have the session in hand."""
        self._ours_until, self._begin_by = since + seconds, since + seconds * SHARE

    async def look(self) -> None:
        """Read what is owed and the records it is about; the first time those nearby as well."""
        await self._strike()
        asked = time.monotonic()
        only = () if self._looked else self.near()
        view = await self._slot.read(self.key, parts=("posts", "approvals"), only=only)
        if view is None:
            self.posts = []
            return
        left = view.lease - view.now if view.owner == self._owner else 0
        self.is_ours(left / 1000, since=asked)
        self.posts = list(view.posts)
        self._looked = True
        shown = await self._shown_from(self.posts, known=view.approvals)
        self._display.learn({**view.approvals, **shown}, places=view.places, now=view.now)

    async def mend(self, place: str) -> None:
        """Show a card or line again whose request cannot change any more."""
        with suppress(Unanswered):
            if message := await self._display.over(place):
                await self._replies.update(place, message)

    async def _shown_from(
        self, posts: Sequence[Post], *, known: Mapping[str, Record]
    ) -> Mapping[str, Record]:
        """The records of the approvals that posts are about, unless they are known already."""
        named = {str(post.body["approval"]) for post in posts if "approval" in post.body}
        if not (named := named - known.keys()):
            return {}
        view = await self._slot.read(self.key, parts=("approvals",), only=sorted(named))
        return view.approvals if view else {}

    async def announce(self) -> None:
        """Show in the thread that somebody is working on what was just said there."""
        thread = thread_of(self.key)
        if thread.ts:
            self._thinking = True
            await self._replies.thinking(thread)

    async def fall_silent(self) -> None:
        """Stop showing in the thread that an answer is on its way, if none came."""
        if self._thinking:
            self._thinking = False
            await self._replies.thinking(thread_of(self.key), over=True)

    async def strike(self) -> None:
        """Strike off what was paid."""
        async with self._paying:
            await self._strike()

    async def _strike(self) -> None:
        if self.paid:
            await self._slot.posted(self.key, dict(self.paid))
            self.paid.clear()

    @asynccontextmanager
    async def lasting(self) -> AsyncGenerator[None]:
        """While the block lasts, pay what has to wait as soon as its wait is over."""
        self._lasts = True
        self._pay_in_time()
        try:
            yield
            async with self._paying:  # a call that has begun may end
                self._lasts = False
        finally:
            self._lasts = False
            if self._later:
                self._later.cancel()
                await asyncio.wait({self._later})
        if self._later and not self._later.cancelled():
            self._later.result()

    async def _pay_later(self) -> None:
        """Pay until nothing has to wait; errors are left to the turn, which meets them as well."""
        with suppress(StoreUnavailable, SessionConflict):
            while (pause := self.waits.again) is not None:
                await asyncio.sleep(pause)
                await self.pay(look=True)

    async def pay(self, *, look: bool = False) -> None:
        """Pay all of it, oldest first, as long as Slack takes it; the session must be in hand.

        `look` says that others may have made posts owed. The last one paid is left for `strike`, or
        for whoever gives the session back, to strike off.
        """
        async with self._paying:
            if self.waits.left:
                return
            look = look or self.waits.again == 0
            self.waits.pause = None
            await self._pay_all(look=look)

    async def _pay_all(self, *, look: bool) -> None:
        self.posts = [post for post in self.owed.values() if post.id not in self._over]
        self.owed.clear()
        if look or not all(map(_stands_alone, self.posts)):
            await self.look()
            self.waits.among({post.id for post in self.posts})
        newest = {post.after: post.id for post in self.posts if kind_of(post) in UPDATES}
        for post in self.posts:
            if self.waits.overtaken(post.id):
                continue
            await self._strike()
            if newest.get(post.after, post.id) != post.id and kind_of(post) in UPDATES:
                result: Result | None = Posted("")  # a later one shows the same record
            else:
                result = await self._attempt(post)
            if result is None:
                continue
            self.waits.aside.pop(post.id, None)
            if isinstance(result, Retry | Uncertain) or _is_owed(result):
                self._put_off(post, result)
                return
            self.saving.discard((self.key, post.id))
            self._tries.over(self.key, post.id)
            self._over.add(post.id)
            self.paid[post.id] = place = (isinstance(result, Posted) and result.place) or None
            if place and isinstance(result, Posted):
                await self._display.made(post, result)
                self._display.places = {**self._display.places, post.id: place}
            logs.info("outbox.posted", post=post.id, kind=kind_of(post))
            self._thinking = self._thinking and kind_of(post) in UPDATES
            approval = self.approvals.get(str(post.body.get("approval", "")))
            if approval and self._changed:
                self._changed(approval)
        if self._detour.owes_more:
            self._detour.owes_more = False
            await self._pay_all(look=True)

    async def _attempt(self, post: Post) -> Result | None:
        """Pay one post, unless it may not be shown yet; None if it is put aside.

        Changes of messages that Slack wants later are put aside: they show the record as it will be
        then, so other posts may overtake them.
        """
        result: Result | None
        try:
            if unsaved := await self._unsaved(post):
                return unsaved
        except Unanswered as unanswered:
            return unanswered.ending
        try:
            result = await self._tried(post)
        except Unanswered as unanswered:
            result = unanswered.ending
        if kind_of(post) in UPDATES and isinstance(result, Retry | Uncertain):
            return self._put_aside(post, self._pause(post, result))
        return result

    async def _unsaved(self, post: Post) -> Retry | None:
        """Put off what could be lost with its server; say once that it is being saved."""
        approval = self.approvals.get(str(post.body.get("approval", "")))
        is_open = approval is None or approval.status == "pending"
        if (is_open and kind_of(post) not in UPDATES) or await self._is_saved(approval):
            return None
        if (self.key, post.id) not in self.saving and approval and approval.status in DECIDED:
            pending = approval.model_copy(update={"status": "pending"})
            asked = await self._display.about(post, pending)
            await self._change(post, [blocks.saving(piece) for piece in asked.pieces])
            self.saving.add((self.key, post.id))
        return Retry(SAVE_AGAIN)

    async def _is_saved(self, approval: Approval | None) -> bool:
        record = approval and approval.record()
        return self.saved is None or await self.saved(self.key, record)

    def _put_off(self, post: Post, result: Result) -> None:
        """Let everything that is owed wait until this post is tried again."""
        if isinstance(result, Retry) and post.id not in self.doubtful and self.fence:
            self._unposted[self.key] = (self.fence, post.id)
        self._reading[self.key] = self.fence, {t: s for t, s in self.seen.items() if s.begun}
        self.waits.hold_up(self._pause(post, result))
        self._pay_in_time()

    def _put_aside(self, post: Post, pause: float) -> None:
        """Let a post be tried again after so many seconds, without holding up those behind it."""
        self.waits.put_aside(post.id, pause)
        self._pay_in_time()

    def _pause(self, post: Post, result: Result, *, shortest: float = 0.0) -> float:
        """Seconds before a post is tried again: as many as Slack says, or more each time."""
        now, why = time.monotonic(), "later"
        shortest = shortest or LOOK_AGAIN
        if isinstance(result, Refused):
            why, shortest = result.code, MENDED_AGAIN
            logs.error("outbox.refused", post=post.id, code=why, todo=result.sentence)
        if isinstance(result, Uncertain):
            why = result.why
        if isinstance(result, Retry):
            pause = result.after_s
        else:
            pause = self._tries.failed(self.key, post.id, now=now).pause(shortest)
        logs.warning("outbox.retried", post=post.id, why=why, wait_s=pause)
        return pause

    def _pay_in_time(self) -> None:
        idle = self._later is None or self._later.done()
        if self._lasts and self.waits.again is not None and idle:
            self._later = asyncio.create_task(self._pay_later())

    async def _tried(self, post: Post) -> Result | None:
        """Pay one post; one that Slack neither takes nor refuses for hours counts as refused."""
        self._courier.since[post.id] = self._display.since(post)
        self._unposted.pop(self.key, None)
        result = await self._within_limits(post)
        enough = self._tries.enough(self.key, post.id, now=time.monotonic())
        if not (enough and isinstance(result, Uncertain)):
            return result
        refused = Refused(result.why, TRIED)
        if kind_of(post) in UPDATES:
            logs.error("outbox.refused", post=post.id, code=refused.code, todo=TRIED)
            return Posted("")
        message = await self._display.message(post)
        thread, pieces = message.thread, message.pieces
        return await self._detour.take(post, refused, thread=thread, pieces=pieces, enough=True)

    async def _within_limits(self, post: Post) -> Result | None:
        """Pay one post unless Slack wants it later, and let all processes know when it does."""
        if self._limits is None:
            return await self._pay(post)
        channel = self._display.spot(post).channel or thread_to(post).channel
        method = "chat.update" if kind_of(post) in UPDATES else "chat.postMessage"
        needed = [(method, channel)]
        if is_person(channel):
            needed.append((OPENING, ""))
        if wait := max(self._limits.held_off(*each) for each in needed):
            return Retry(wait)
        result = await self._pay(post)
        if isinstance(result, Retry) and result.method:
            where = channel if result.method == method else ""
            await self._limits.hold_off(result.method, where, seconds=result.after_s)
        return result

    async def _pay(self, post: Post) -> Result | None:
        """Make one post, or change the one it is about."""
        try:
            message = await self._display.message(post)
        except UNSHOWN as raised:
            return await self._unshown(post, raised)
        if kind_of(post) in UPDATES:
            return await self._change(post, message.pieces)
        if post.id not in self.doubtful and self._display.needless(post):
            return Posted("")
        result = await self._courier.say(post.id, message.thread, message.pieces)
        if isinstance(result, Refused) and not result.of_app:
            thread, pieces = message.thread, message.pieces
            return await self._detour.take(post, result, thread=thread, pieces=pieces)
        return result

    async def _unshown(self, post: Post, raised: Exception) -> Result | None:
        """Put aside a post this release cannot show; after a while say that there was more."""
        if self._tries.enough(self.key, post.id, now=time.monotonic(), after=NEWER):
            return await self._detour.not_shown(post, raised)
        unreadable = Uncertain(type(raised).__name__)
        return self._put_aside(post, self._pause(post, unreadable, shortest=MENDED_AGAIN))

    async def _change(self, post: Post, pieces: Sequence[Rendered]) -> Result:
        """Show a card or a line again, unless it was never posted.

        A line that is gone is posted anew, once; for a card that is gone another one goes into the
        thread of its request.
        """
        first, place = self._display.now_at(post)
        if not place or not pieces:
            return Posted("")
        result = await self._courier.change(post.id, place, pieces[0])
        if isinstance(result, Refused) and not result.of_app:
            logs.warning("outbox.refused", post=post.id, code=result.code, detail=result.detail)
            if result.gone and kind_of(post) == "asked_update" and place == first:
                return await self._courier.say(post.id, thread_of(self.key), pieces)
            await self._detour.lost(post, result)
            return Posted("")
        return result

    async def _until(self) -> float:
        """The moment after which somebody else may be paying; no call of ours outlasts it.

        A process may have stood still for a while, so it is read again where it comes near. Raises
        SessionConflict when the session is in other hands.
        """
        if not self._owner:
            return math.inf
        if time.monotonic() >= self._begin_by:
            await self.look()
        if time.monotonic() >= self._begin_by:
            raise SessionConflict(f"the session {self.key} is in other hands")
        return self._ours_until

    def _believed(self, refusal: str) -> bool:
        """Whether a strange refusal has been met often enough to be believed."""
        return self._tries.believed(self.key, refusal, now=time.monotonic())

    def _until_looking(self) -> float:
        """Seconds until a post may be looked for."""
        limits = self._limits
        return max(limits.held_off(each, "") for each in LOOKING) if limits else 0.0

    async def _stored_place(self, post_id: str) -> str:
        """The place of a post, if anybody has stored it."""
        view = await self._slot.read(self.key, parts=("posts",))
        return view.places.get(post_id, "") if view else ""


def _stands_alone(post: Post) -> bool:
    """Whether a post needs nothing but its own body to be shown."""
    return post.after is None and "approval" not in post.body


def _is_owed(result: Result) -> bool:
    """Whether a refusal says nothing about what was posted: it stays owed."""
    return isinstance(result, Refused) and result.of_app
