"""What a post says when it is made, taken from its session's records as they are then."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from agents import Event, Post, Record, SessionKey, Slot, Ticket
from bot.approvals.hidden import note
from bot.approvals.kin import Looks, kin
from bot.approvals.posts import kind_of, thread_to
from bot.approvals.records import readable
from bot.approvals.request import MOVES, Again, Approval, asked_again
from bot.approvals.scene import talks
from bot.slack.blocks.answer import answer
from bot.slack.blocks.card import card, withheld
from bot.slack.blocks.concealed import retold
from bot.slack.blocks.line import asked, prompt
from bot.slack.blocks.rendered import Rendered
from bot.slack.blocks.result import brought
from bot.slack.blocks.ticket import ticket
from bot.slack.endings import Posted
from bot.slack.replies import Replies
from bot.turns import Spot, Thread, thread_of

EVENTS_READ = 50
"""Events among which the response of a call that has just run is found."""
AFTERWARDS = ("ruling", "superseded")
PROMPTS = ("reminder", "escalation", "succession", "moved_on", *AFTERWARDS)


@dataclass(frozen=True, slots=True)
class Message:
    """A post as it is to be made now: where it goes, and the messages that it takes."""

    thread: Thread
    pieces: list[Rendered]


class Display:
    """What is known of one session, and what its posts say accordingly.

    `approvals` are as they were when last looked at; one that no post is about may be older.
    `places` are those of the messages that posts became, `channel|ts`. `now` is the store's time
    in milliseconds.
    """

    def __init__(
        self, key: SessionKey, slot: Slot, *, replies: Replies, name: Callable[[str], str]
    ) -> None:
        """Know nothing yet; `name` says what the person with an id is called."""
        self.approvals: dict[str, Approval] = {}
        self.places: Mapping[str, str] = {}
        self.now = 0
        self._key = key
        self._slot = slot
        self._replies = replies
        self._name = name
        self._unreadable: Set[str] = frozenset()
        self._events: Sequence[Event] | None = None
        self._looks = Looks()

    def learn(self, records: Mapping[str, Record], *, places: Mapping[str, str], now: int) -> None:
        """Know these records from here on, and what else is there now."""
        self.places, self.now = places, now
        self._events = None
        found = readable(records)
        self.approvals |= found
        self._unreadable = (self._unreadable | records.keys()) - found.keys()

    def spot(self, post: Post) -> Spot:
        """The message that a post changes or stands under; without a channel if there is none."""
        return Spot.parse(self.places.get(post.after or "", ""))

    def now_at(self, post: Post) -> tuple[str, str]:
        """Where a post's message was put first, and where it is now: a line may be said anew."""
        first = self.places.get(post.after or "", "")
        said = (place for name, place in self.places.items() if name.startswith(f"{post.after}@"))
        anew = next((place for place in said if place != first), first)
        return first, anew if kind_of(post) == "asked_update" else first

    def approval(self, post: Post) -> Approval | None:
        """The approval a post is about; raises ValueError when its record cannot be read."""
        name = str(post.body.get("approval", ""))
        if name in self._unreadable:
            raise ValueError(f"the record {name} cannot be read")
        return self.approvals.get(name)

    def since(self, post: Post) -> float:
        """Since when a post is owed at the earliest, in seconds of the store's time; 0: unknown."""
        approval = self.approvals.get(str(post.body.get("approval", "")))
        at = approval.asked_at if approval else post.body.get("at")
        return at / 1000 if isinstance(at, int) else 0.0

    async def message(self, post: Post) -> Message:
        """What a post says now, and where it goes."""
        body = post.body
        if kind_of(post) in PROMPTS:
            return self._prompt(post)
        if "approval" in body:
            approval = self.approval(post)
            return await self.about(post, approval) if approval else Message(thread_to(post), [])
        if kind_of(post) in ("answer", "notice"):
            told = retold(self.approvals.values(), str(body["text"]))
            return Message(thread_to(post), answer(told))
        return Message(thread_to(post), [ticket(Ticket.model_validate(body["ticket"]))])

    async def about(self, post: Post, approval: Approval) -> Message:
        """What a post about an approval says of this record, and where it goes."""
        thread = thread_to(post)
        channel = thread.channel or self.spot(post).channel
        return Message(thread, [await self._shown(kind_of(post), approval, channel=channel)])

    def needless(self, post: Post) -> bool:
        """Whether a card is about a request that was taken back before anybody saw the card."""
        approval = self.approvals.get(str(post.body.get("approval", "")))
        return kind_of(post) == "card" and approval is not None and approval.why == "withdrawn"

    async def made(self, post: Post, result: Posted) -> None:
        """Note of a card that was just made whether it shows everything that it should."""
        channel = Spot.parse(result.place).channel
        approval = self.approvals.get(str(post.body.get("approval", "")))
        if channel and approval and kind_of(post) in ("card", "card_update"):
            await self._note(approval, channel, hides=result.hides)

    async def card(self, approval: Approval, channel: str) -> Rendered:
        """The card of an approval as those in a channel may read it; raises Unanswered."""
        return await self._shown("card", approval, channel=channel)

    async def over(self, place: str) -> Rendered | None:
        """The card or line at `channel|ts` as it is now; None while its request is not over."""
        name = next((post for post, found in self.places.items() if found == place), "")
        kind, _, about = name.partition("@")[0].partition(":")
        approval = self.approvals.get(about.partition(":")[0])
        if kind not in ("card", "asked") or approval is None or MOVES[approval.status]:
            return None
        channel = Spot.parse(place).channel
        return await self._shown(f"{kind}_update", approval, channel=channel)

    def _prompt(self, post: Post) -> Message:
        """A line under a card; few are told once the question is closed, and those only then."""
        approval, kind, spot = self.approval(post), kind_of(post), self.spot(post)
        if approval is None or not spot.ts:
            return Message(Thread(spot.channel), [])
        under = self._under(approval, post)
        kind = "edited" if post.body.get("edited") else kind
        at_home = kind == "moved_on" and under == thread_of(self._key)
        if at_home or (approval.status == "pending") == (kind in AFTERWARDS):
            return Message(under, [])
        by = str(post.body.get("by") or "")
        named = post.body.get("people")
        people = [*map(str, named)] if isinstance(named, list) else []
        return Message(under, [prompt(approval, kind=kind, by=by, people=people)])

    def _under(self, approval: Approval, post: Post) -> Thread:
        """The thread below a card: Slack takes replies to a thread's first message only.

        A card that lives in a thread was put there, or nobody could post where it was to go.
        """
        spot, home = self.spot(post), thread_of(self._key)
        put = next((copy for copy in approval.copies if copy.post == post.after), None)
        moved = put is not None and put.channel != spot.channel == home.channel
        inside = home.ts if moved else put.thread_ts if put else ""
        return Thread(spot.channel, inside or spot.ts)

    async def _shown(self, kind: str, approval: Approval, *, channel: str) -> Rendered:
        """A card or the line in the thread, as the record is now, for those in a channel."""
        shared, again = await self._replies.shared(channel), await self._again(approval)
        if kind.startswith("asked"):
            nobody = bool(approval.copies) and not any(
                c.post in self.places for c in approval.copies
            )
            return asked(
                approval,
                now=self.now,
                shared=shared,
                nobody=nobody,
                name=self._name,
                again=again,
            )
        if shared:
            await self._note(approval, channel, hides=True)
            return withheld(approval, now=self.now, again=again)
        moved_on = kind == "card_update" and await self._moved_on(approval)
        among = self.approvals.values()
        stands = kin(approval, among, looks=self._looks, moved_on=moved_on)
        result = await self._result(approval, again)
        return card(approval, now=self.now, kin=stands, result=result, again=again)

    async def _note(self, approval: Approval, channel: str, *, hides: bool) -> None:
        """Note whether a channel's card shows what it is about."""
        noted = await note(self._slot, approval, channel, hides=hides)
        if noted.status == "pending":
            self.approvals[noted.id] = noted

    async def _result(self, approval: Approval, again: Again) -> str:
        """What came of the call of an approval, in one line; empty while it has not run.

        Of a call that was asked about anew it is the newer approval's.
        """
        if approval.status not in ("done", "failed", "void"):
            return ""
        if approval.status == "void" and again.newest:
            return ""
        return brought(await self._newest_events(), approval)

    async def _again(self, approval: Approval) -> Again:
        """Whether the call of an approval was asked about anew.

        Of one that is void that is looked for among all of the session: its card says also if not.
        """
        found = asked_again(approval, self.approvals.values())
        if approval.status != "void" or found.newest:
            return found
        view = await self._slot.read(self._key, parts=("approvals",))
        return asked_again(approval, readable(view.approvals).values() if view else ())

    async def _moved_on(self, approval: Approval) -> bool:
        """Whether people wrote in the conversation after a question that is still open."""
        if approval.status != "pending":
            return False
        since = approval.version
        return any(e.version > since and talks(e) for e in await self._newest_events())

    async def _newest_events(self) -> Sequence[Event]:
        """The session's newest events, read once for all posts that are owed."""
        if self._events is None:
            view = await self._slot.read(self._key, parts=("events",), window=EVENTS_READ)
            self._events = view.events if view else ()
        return self._events
