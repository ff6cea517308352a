"""Where a post goes that Slack does not take where it belongs, and what is said about it there.

A card goes into the thread of its request, or else the person who asked is told that nobody could
be asked. Where nothing can be said under a card any more, the request gets another card in its
thread. Everything else goes to the person who asked.
"""

from collections.abc import Sequence
from typing import Protocol

from agents import Post, SessionKey, Slot
from bot import logs
from bot.approvals.homeward import bring_home, is_home
from bot.approvals.posts import kind_of
from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.courier import Courier
from bot.slack.blocks.answer import answer
from bot.slack.blocks.elsewhere import elsewhere
from bot.slack.blocks.rendered import Rendered
from bot.slack.endings import Posted, Refused, Result, Uncertain
from bot.turns import Thread, thread_of

ASKING = ("reminder", "escalation", "succession", "moved_on")
"""The kinds of lines under a card that can still be decided."""
OVER = ("ruling", "superseded")
"""The kinds of lines under a card that can no longer be decided."""
LOST = frozenset({"message_not_found", "channel_not_found", "is_archived"})
"""What Slack says about a card that nobody sees any more."""
NOT_SHOWN = (
    "Something I had to say here cannot be shown; the team that runs this bot finds it in the log."
)
TRIED = "Slack did not take it, however often I tried."
NOR_HERE = "Slack takes no messages of mine in the conversation either, so nobody was asked there."


class Known(Protocol):
    """What is known of a session's approvals."""

    def approval(self, post: Post) -> Approval | None:
        """The approval a post is about; raises ValueError when its record cannot be read."""
        ...

    async def card(self, approval: Approval, channel: str) -> Rendered:
        """The card of an approval as those in a channel may read it; raises Unanswered."""
        ...


class Detour:
    """Says in other places what a session's posts say, as `courier` brings them.

    `owes_more`: that made another post owed, which nobody looked for yet.
    """

    def __init__(self, key: SessionKey, courier: Courier, *, slot: Slot, known: Known) -> None:
        """Keep the parts."""
        self.owes_more = False
        self._slot = slot
        self._key = key
        self._courier = courier
        self._known = known

    async def not_shown(self, post: Post, raised: Exception) -> Result:
        """Say in the thread that there was more to say; the post itself is given up."""
        logs.error("outbox.refused", post=post.id, code="unreadable", error=raised)
        home, notice = thread_of(self._key), answer(NOT_SHOWN)
        told = await self._courier.say(f"{post.id}/refused", home, notice)
        return _let_be(told)

    async def take(
        self,
        post: Post,
        refused: Refused,
        *,
        thread: Thread,
        pieces: Sequence[Rendered],
        enough: bool = False,
    ) -> Result:
        """Say elsewhere what Slack would not take: in the thread, or to the person who asked.

        The `pieces` belong in this `thread`. What was tried long `enough` is let be where Slack
        takes only the sentence why.
        """
        code, detail, todo = refused.code, refused.detail, refused.sentence
        logs.error("outbox.refused", post=post.id, code=code, detail=detail, todo=todo)
        home, asker = thread_of(self._key), Thread(self._asker(post))
        if await self._is_at_home(post, thread, home):
            return Posted("")
        over = kind_of(post) in OVER
        why = f"I could not {'write' if over else 'ask'} {_where(thread, home)}: {refused.sentence}"
        result: Result = refused
        if thread != home:
            pieces = await self._for_home(post, pieces)
            said = f"{why} I {'say it' if over else 'ask'} here."
            result = await self._instead(post, home, pieces, why=said, enough=enough)
            why = f"{why} {NOR_HERE}"
        elif kind_of(post) != "card" and asker.channel:
            pieces = elsewhere(pieces, home, sentence=refused.sentence)
            said = refused.sentence if enough else ""
            result = await self._instead(post, asker, pieces, why=said, enough=enough)
        if _is_refused(result) and kind_of(post) == "card" and asker.channel:
            told = await self._courier.say(f"{post.id}/nobody", asker, answer(why))
            result = Posted("") if isinstance(told, Posted) else told
        return _let_be(result)

    async def lost(self, post: Post, refused: Refused) -> None:
        """Put an open request into its thread, once, after one of its cards is gone."""
        approval = self._known.approval(post)
        if approval and kind_of(post) == "card_update" and refused.code in LOST:
            home = thread_of(self._key)
            after = await bring_home(self._slot, approval, home, lost=post.after or "")
            self.owes_more |= len(after.copies) > len(approval.copies)

    async def _is_at_home(self, post: Post, thread: Thread, home: Thread) -> bool:
        """Whether a request has a card in its thread, where what is said under it is said too.

        It gets one where nothing can be said any more under one that is elsewhere.
        """
        approval, kind = self._known.approval(post), kind_of(post)
        if approval is None or thread.channel == home.channel or kind not in (*ASKING, *OVER):
            return False
        if is_home(approval, home):
            return True
        if kind in ASKING:
            await bring_home(self._slot, approval, home)
            self.owes_more = True
        return False

    async def _for_home(self, post: Post, pieces: Sequence[Rendered]) -> Sequence[Rendered]:
        """A message that was to go elsewhere, for those who may read the session's thread.

        Who reads a channel that is not there is not known, so its card hides what it is about.
        """
        approval = self._known.approval(post) if kind_of(post) == "card" else None
        return (
            [await self._known.card(approval, thread_of(self._key).channel)] if approval else pieces
        )

    async def _instead(
        self, post: Post, thread: Thread, pieces: Sequence[Rendered], *, why: str, enough: bool
    ) -> Result:
        """Say something in another place, after a sentence that explains why."""
        told = await self._courier.say(f"{post.id}/refused", thread, answer(why))
        if not isinstance(told, Posted):
            return told
        result = await self._courier.say(post.id, thread, pieces)
        if enough and isinstance(result, Uncertain):
            return Refused(result.why, TRIED)
        return result

    def _asker(self, post: Post) -> str:
        """Whose words a post answers; empty when that is not known."""
        approval = self._known.approval(post)
        return approval.requester if approval else str(post.body.get("asker") or "")


def _let_be(result: Result) -> Result:
    """The result, where a refusal in the last place left counts as done."""
    return Posted("") if _is_refused(result) else result


def _is_refused(result: Result) -> bool:
    """Whether Slack will never take it in that place."""
    return isinstance(result, Refused) and not result.of_app


def _where(thread: Thread, home: Thread) -> str:
    """A place in words, for a sentence that only plain text is put into."""
    if thread == home:
        return "in the conversation"
    private = is_person(thread.channel)
    return "one of the people who may decide" if private else "in the channel for approvals"
