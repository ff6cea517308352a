"""Pays what is owed to Slack, once, in the order in which it was owed.

A post is shown from the stored record at the moment it is made. One that may have been made
already is looked for by its metadata first. What Slack will never take, or nobody can show, is
said in the thread of the request and struck off; what Slack may take later stays owed.
"""

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from agents import Event, Held, Post, Record, SessionConflict, SessionKey, Slot, Ticket
from bot import logs
from bot.approvals.kin import Looks, kin
from bot.approvals.records import readable
from bot.approvals.request import MOVES, Approval
from bot.approvals.scene import USER
from bot.slack import blocks
from bot.slack.blocks import Rendered
from bot.slack.replies import Posted, Refused, Replies, Result, Retry, Uncertain
from bot.turns import Thread, thread_of

LOOK_AGAIN = 3.0
"""Seconds until a post whose fate is unknown is looked for: Slack shows it by then."""
SHARE = 2 / 3
"""How much of the rest of a lease may pass before a call of Slack's is begun: who takes over then
looks for it when it has long been there."""
SAVE_AGAIN = 2.0
"""Seconds until it is asked again whether an outcome is on the other servers too."""
EVENTS_READ = 50
"""Events among which the response of a call that has just run is found."""
UPDATES = ("card_update", "asked_update", "ticket_update")
PROMPTS = ("reminder", "escalation", "moved_on", "ruling")
DECIDED = ("approved", "rejected", "cancelled")
UNSHOWN = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What goes wrong where a post or its record is not what this release expects."""
NOT_SHOWN = (
    "Something I had to say here cannot be shown; whoever runs this bot finds it in the log."
)


class Limits(Protocol):
    """What all processes know of Slack's limits, by method and channel."""

    async def hold_off(self, method: str, channel: str, *, seconds: float) -> None:
        """Have nobody make that call for so long."""
        ...

    def held_off(self, method: str, channel: str) -> float:
        """Seconds until that call may be made; 0 when it may."""
        ...


Saved = Callable[[SessionKey], Awaitable[bool]]
"""Whether all that is stored about a session would outlive the server that has it."""
Changed = Callable[[Approval], None]
"""Hears that an approval is shown as it is now."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a post amounts to now: where it goes, and the messages it takes."""

    thread: Thread
    pieces: list[Rendered]


class Outbox:
    """Everything owed, session by session: `debt = await outbox.debt(held)`."""

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

    async def debt(self, held: Held) -> "Debt":
        """What is owed in a session in hand before anything more is done in it."""
        debt = Debt(held.key, self)
        debt.owed, debt.paid, debt.doubtful = held.owed, held.paid, set(held.owed)
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

    `doubtful` are ids of posts that may be in Slack already. `wait` is how many seconds to wait
    before the oldest one can be tried again, None while nothing stands in the way. `owed` are posts
    that are not tried yet, `paid` those to strike off: see Held. `posts` and `approvals` are the
    session's as they were when last looked at, which is done only where a post is about more than
    its own words; an approval that no post is about may be older. What became of approvals is shown
    once it is `saved`; `saving` are the posts in place of which it is told that it is being saved.
    """

    def __init__(self, key: SessionKey, outbox: Outbox) -> None:
        """Know nothing yet; without an owner nobody else can have the session in hand."""
        self.key = key
        self.wait: float | None = None
        self.posts: list[Post] = []
        self.owed: dict[str, Post] = {}
        self.paid: dict[str, str | None] = {}
        self.approvals: dict[str, Approval] = {}
        self.doubtful: set[str] = set()
        self.saved, self.saving = outbox.saved, outbox.saving
        self._slot = outbox.slot
        self._replies = outbox.replies
        self._owner = outbox.owner
        self._limits = outbox.limits
        self._changed = outbox.changed
        self._name = outbox.name
        self._thinking = False
        self._looked = False
        self._looks = Looks()
        self._ours_until = self._begin_by = 0.0
        self._places: Mapping[str, str] = {}
        self._unreadable: Set[str] = frozenset()
        self._events: Sequence[Event] | None = None
        self._now = 0

    def is_ours(self, seconds: float, *, since: float) -> None:
        """Know for how long nobody else can have the session in hand."""
        self._ours_until, self._begin_by = since + seconds, since + seconds * SHARE

    async def look(self) -> None:
        """Read what is owed, and the records that posts are shown from: at first all of them."""
        await self.strike()
        asked = time.monotonic()
        only = () if self._looked else None
        view = await self._slot.read(self.key, parts=("posts", "approvals"), only=only)
        if view is None:
            self.posts = []
            return
        left = view.lease - view.now if view.owner == self._owner else 0
        self.is_ours(left / 1000, since=asked)
        self.posts, self._places, self._now = list(view.posts), view.places, view.now
        self._events = None
        records = await self._shown_from(self.posts) if self._looked else view.approvals
        self._looked = True
        found = readable(records)
        self.approvals |= found
        self._unreadable = (self._unreadable | records.keys()) - found.keys()

    async def mend(self, place: str) -> None:
        """Show a card or line again whose request cannot change any more."""
        name = next((post for post, found in self._places.items() if found == place), "")
        kind, _, about = name.partition("@")[0].partition(":")
        approval = self.approvals.get(about.partition(":")[0])
        if kind in ("card", "asked") and approval and not MOVES[approval.status]:
            channel = place.partition("|")[0]
            message = await self._shown(f"{kind}_update", approval, channel=channel)
            await self._replies.update(place, message)

    async def _shown_from(self, posts: Sequence[Post]) -> Mapping[str, Record]:
        """The records of the approvals that posts are about."""
        named = {str(post.body["approval"]) for post in posts if "approval" in post.body}
        if not named:
            return {}
        view = await self._slot.read(self.key, parts=("approvals",), only=sorted(named))
        return view.approvals if view else {}

    async def announce(self) -> None:
        """Show in the thread that what was just said there is being worked on."""
        thread = thread_of(self.key)
        if thread.ts:
            self._thinking = True
            await self._replies.thinking(thread)

    async def fall_silent(self) -> None:
        """Show in the thread no longer that an answer is on its way, if none came."""
        if self._thinking:
            self._thinking = False
            await self._replies.thinking(thread_of(self.key), over=True)

    async def strike(self) -> None:
        """Strike off what was paid."""
        if self.paid:
            await self._slot.posted(self.key, dict(self.paid))
            self.paid.clear()

    async def pay(self, *, look: bool = False) -> None:
        """Pay all of it, oldest first, as long as Slack takes it; the session must be in hand.

        With `look` others may have made posts owed. The last one is left for `strike`, or for who
        gives the session back.
        """
        if self.wait is not None:
            return
        self.posts = list(self.owed.values())
        self.owed.clear()
        if look or not all(map(_stands_alone, self.posts)):
            await self.look()
        newest = {post.after: post.id for post in self.posts if _kind(post) in UPDATES}
        for post in self.posts:
            await self.strike()
            if newest.get(post.after, post.id) != post.id and _kind(post) in UPDATES:
                result: Result = Posted("")  # a later one shows the same record
            else:
                result = await self._unsaved(post) or await self._within_limits(post)
            if isinstance(result, Retry | Uncertain):
                self._put_off(post, result)
                return
            self.saving.discard((self.key, post.id))
            place = (result.place if isinstance(result, Posted) else "") or None
            self.paid[post.id] = place
            self._places = {**self._places, **({post.id: place} if place else {})}
            logs.info("outbox.posted", post=post.id, kind=_kind(post))
            self._thinking = self._thinking and _kind(post) in UPDATES
            approval = self.approvals.get(str(post.body.get("approval", "")))
            if approval and self._changed:
                self._changed(approval)

    async def _unsaved(self, post: Post) -> Retry | None:
        """Put off what could be lost with its server; once, it is told that it is being saved."""
        approval = self.approvals.get(str(post.body.get("approval", "")))
        open_ = approval is None or approval.status == "pending"
        if (open_ and _kind(post) not in UPDATES) or await self._is_saved():
            return None
        if (self.key, post.id) not in self.saving and approval and approval.status in DECIDED:
            asked = await self._about(post, approval.model_copy(update={"status": "pending"}))
            await self._change(post, [blocks.saving(piece) for piece in asked.pieces])
            self.saving.add((self.key, post.id))
        return Retry(SAVE_AGAIN)

    async def _is_saved(self) -> bool:
        return self.saved is None or await self.saved(self.key)

    def _put_off(self, post: Post, result: Retry | Uncertain) -> None:
        self.wait = result.after_s if isinstance(result, Retry) else LOOK_AGAIN
        why = result.why if isinstance(result, Uncertain) else "later"
        logs.warning("outbox.retried", post=post.id, why=why, wait_s=self.wait)

    async def _within_limits(self, post: Post) -> Result:
        """Pay one post unless Slack wants it later, and have everybody know when it does."""
        if self._limits is None:
            return await self._pay(post)
        place = self._places.get(post.after or "", "").partition("|")[0]
        channel = place or _place(post.body).channel
        method = "chat.update" if _kind(post) in UPDATES else "chat.postMessage"
        if wait := self._limits.held_off(method, channel):
            return Retry(wait)
        result = await self._pay(post)
        if isinstance(result, Retry):
            await self._limits.hold_off(method, channel, seconds=result.after_s)
        return result

    async def _pay(self, post: Post) -> Result:
        """Make one post, or change the one it is about."""
        try:
            message = await self._message(post)
        except UNSHOWN as raised:
            return await self._not_shown(post, raised)
        if _kind(post) in UPDATES:
            return await self._change(post, message.pieces)
        result = await self._say(post.id, message)
        if isinstance(result, Refused):
            return await self._fall_back(post, result, message)
        return result

    async def _not_shown(self, post: Post, raised: Exception) -> Result:
        """Say in the thread that there was more to say; the post itself is given up."""
        logs.error("outbox.refused", post=post.id, code="unreadable", error=raised)
        notice = Message(thread_of(self.key), blocks.answer(NOT_SHOWN))
        told = await self._say(f"{post.id}/refused", notice)
        return Posted("") if isinstance(told, Refused) else told

    async def _change(self, post: Post, pieces: Sequence[Rendered]) -> Result:
        """Show a card or a line again; one that was never posted, or is gone, is let be."""
        place = self._places.get(post.after or "")
        if not place or not pieces:
            return Posted("")
        until = await self._until()
        result = await self._replies.update(place, pieces[0], until=until)
        if isinstance(result, Refused):
            logs.warning("outbox.refused", post=post.id, code=result.code, detail=result.detail)
            if result.gone and _kind(post) == "asked_update":
                return await self._say(post.id, Message(thread_of(self.key), [*pieces]))
            return Posted("")
        return result

    async def _say(self, post_id: str, message: Message) -> Result:
        """Post all pieces of a message; the place is that of the first one."""
        thread = await self._thread(message.thread)
        if not isinstance(thread, Thread):
            return thread
        owed = post_id.partition("/")[0]
        first: Result = Posted("")
        for number, piece in enumerate(message.pieces):
            piece_id = f"{post_id}/{number}" if number else post_id
            result = await self._once(piece_id, thread, piece, doubtful=owed in self.doubtful)
            if not isinstance(result, Posted):
                self.doubtful.add(owed)
                return result
            first = first if number else result
        return first

    async def _once(
        self, piece_id: str, thread: Thread, piece: Rendered, *, doubtful: bool
    ) -> Result:
        """Post one message, unless it is there already; cards of many sessions share a channel."""
        name = f"{piece_id} {self.key}"
        if doubtful:
            found = await self._replies.find(thread, id=name, since=_since(thread))
            if isinstance(found, Posted | Retry | Uncertain):
                return found
        until = await self._until()
        return await self._replies.post(thread, piece, id=name, until=until)

    async def _until(self) -> float:
        """The moment from which on somebody else may be paying: no call of ours outlasts it.

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

    async def _thread(self, thread: Thread) -> Thread | Result:
        """The thread, or the DM with the person it stands for."""
        if not thread.channel.startswith(("U", "W")):
            return thread
        opened = await self._replies.direct(thread.channel)
        return Thread(opened.place) if isinstance(opened, Posted) else opened

    async def _fall_back(self, post: Post, refused: Refused, message: Message) -> Result:
        """Say somewhere else what Slack would not take: in the thread, or to who asked."""
        logs.error("outbox.refused", post=post.id, code=refused.code, detail=refused.detail)
        home = thread_of(self.key)
        if message.thread == home:
            asker = Thread(self._asker(post))
            return await self._instead(post, Message(asker, message.pieces), why="")
        why = f"I could not ask {_where(message)}: {refused.sentence} I ask here."
        approval, pieces = self._approval(post), message.pieces
        if approval is not None and await self._replies.shared(home.channel):
            pieces = [blocks.withheld(approval, now=self._now)]
        return await self._instead(post, Message(home, pieces), why=why)

    async def _instead(self, post: Post, message: Message, *, why: str) -> Result:
        """Say something in another place, after a sentence why; refused there too, it is let be."""
        if not message.thread.channel:
            return Posted("")
        notice = Message(message.thread, blocks.answer(why))
        told = await self._say(f"{post.id}/refused", notice)
        if isinstance(told, Posted):
            told = await self._say(post.id, message)
        return Posted("") if isinstance(told, Refused) else told

    def _asker(self, post: Post) -> str:
        """Whose words a post answers; empty when nobody is known."""
        approval = self._approval(post)
        return approval.requester if approval else str(post.body.get("asker") or "")

    async def _message(self, post: Post) -> Message:
        """What a post says now, and where."""
        body = post.body
        if _kind(post) in PROMPTS:
            return self._prompt(post)
        if "approval" in body:
            approval = self._approval(post)
            return await self._about(post, approval) if approval else Message(_place(body), [])
        thread = _place(body)
        if _kind(post) in ("answer", "notice"):
            return Message(thread, blocks.answer(str(body["text"])))
        return Message(thread, [blocks.ticket(Ticket.model_validate(body["ticket"]))])

    async def _about(self, post: Post, approval: Approval) -> Message:
        """What a post about an approval says of this record, and where."""
        thread = _place(post.body)
        channel = thread.channel or self._places.get(post.after or "", "").partition("|")[0]
        return Message(thread, [await self._shown(_kind(post), approval, channel=channel)])

    def _prompt(self, post: Post) -> Message:
        """A line under a card; only what an operator did is told once the question is closed."""
        approval, kind = self._approval(post), _kind(post)
        place = Thread(*self._places.get(post.after or "", "").split("|"))
        if approval is None or not place.ts:
            return Message(place, [])
        if (approval.status == "pending") == (kind == "ruling"):
            return Message(place, [])
        by = str(post.body.get("by") or "")
        return Message(place, [blocks.prompt(approval, kind=kind, by=by)])

    async def _shown(self, kind: str, approval: Approval, *, channel: str) -> Rendered:
        """A card or the line in the thread, as the record is now, for those in a channel."""
        shared = await self._replies.shared(channel)
        if kind.startswith("asked"):
            return blocks.asked(approval, now=self._now, shared=shared, name=self._name)
        if shared:
            return blocks.withheld(approval, now=self._now)
        moved_on = kind == "card_update" and await self._moved_on(approval)
        among = self.approvals.values()
        stands = kin(approval, among, looks=self._looks, moved_on=moved_on)
        result = await self._result(approval)
        return blocks.card(approval, now=self._now, kin=stands, result=result)

    async def _result(self, approval: Approval) -> str:
        """What the call of an approval brought, in one line; empty while it has not run."""
        if approval.status not in ("done", "failed", "void"):
            return ""
        return blocks.brought(await self._newest_events(), approval.call_id)

    async def _moved_on(self, approval: Approval) -> bool:
        """Whether people wrote in the conversation after a question that is still open."""
        if approval.status != "pending":
            return False
        asked = int(approval.id.partition("-")[0])
        return any(
            event.author == USER and event.said and not event.branch and event.version > asked
            for event in await self._newest_events()
        )

    async def _newest_events(self) -> Sequence[Event]:
        """The session's newest events, read once for all posts that are owed."""
        if self._events is None:
            view = await self._slot.read(self.key, parts=("events",), window=EVENTS_READ)
            self._events = view.events if view else ()
        return self._events

    def _approval(self, post: Post) -> Approval | None:
        """The approval a post is about; raises ValueError when its record cannot be read."""
        name = str(post.body.get("approval", ""))
        if name in self._unreadable:
            raise ValueError(f"the record {name} cannot be read")
        return self.approvals.get(name)


def _stands_alone(post: Post) -> bool:
    """Whether a post is shown from its own body, wherever others are."""
    return post.after is None and "approval" not in post.body


def _kind(post: Post) -> str:
    return str(post.body.get("kind"))


def _place(body: Mapping[str, JsonValue]) -> Thread:
    """Where a post goes: a thread, a channel, or a person."""
    channel = body.get("channel") or body.get("person")
    return Thread(str(channel or ""), str(body.get("thread_ts") or ""))


def _where(message: Message) -> str:
    """A place in words, for a sentence that only plain text is put into."""
    private = message.thread.channel.startswith(("U", "W"))
    return "one of the people who may decide" if private else "in the channel for approvals"


def _since(thread: Thread) -> float:
    """Nothing that is looked for is older than its thread."""
    return float(thread.ts or 0)
