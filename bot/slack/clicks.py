"""What people press: decided at once, and always answered.

A decision needs three looks: what the button says, who Slack says the person is now, and the
stored approval. The rest (the card's new face, the agent going on) follows from what is stored.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from agents import SessionKey, Slot, StoreUnavailable
from bot import logs
from bot.approvals.button import Button
from bot.approvals.decide import Standing, decide
from bot.approvals.decision import Decision, Outcome, is_elsewhere
from bot.approvals.kin import kin
from bot.approvals.policy import Act, Person
from bot.approvals.records import readable
from bot.approvals.request import Approval
from bot.approvals.scene import TALK_READ, talked_since
from bot.slack.actions import APPROVE, FORM, REJECT
from bot.slack.blocks.card import around, called, shows_all
from bot.slack.blocks.fields import by_field, fields
from bot.slack.blocks.rendered import Block, mentions, moment
from bot.slack.blocks.views import everything_view, form_view, reject_view, told_view
from bot.slack.endings import Posted, Refused, Result
from bot.slack.payloads import Click, Clicker, Place, Submission
from bot.slack.people import People
from bot.slack.replies import Replies
from bot.slack.text import cut, escaped
from bot.turns import Ring, Saved, Spot, thread_of

INACTIVE = "This button is no longer active."
EMPTIED = (
    "This request is no longer on record: the bot's store was emptied after it was asked. Nothing"
    " was decided and nothing runs; please ask for it again."
)
WHO = "I could not check who you are just now, so nothing was decided. Please try again."
AGAIN = "That did not open in time. Please click again."
_ACTS: Mapping[str, Act] = MappingProxyType({REJECT: "reject", FORM: "approve"})
"""What the buttons that open a modal are for."""
_STAMP = re.compile(r"\d+\.\d+")
SAVING = "Saved here, but not yet on the second server; the card will follow."
ERROR_LIMIT = 1_000
TAKEN = ("decided", "counted", "withdrawn")
MISPLACED = (
    "This does not come from where I asked, so nothing was decided. Please use the request's own"
    " message, or find it in my Home."
)
OUTSIDER = "Only people of this workspace can use this."

Lost = Callable[[float], Awaitable[bool]]
"""Whether something missing, which was in Slack at a moment (s), was lost with the store."""
Mend = Callable[[SessionKey, str], Coroutine[Any, Any, None]]
"""Shows a session's message at `channel|ts` as it is now, where its request is over."""
First = Callable[[str], Awaitable[bool]]
"""Whether nobody has said this before: Slack may bring a click again, to any process."""


class Clicks:
    """Decides what people press and tells them what came of it.

    `run_for` is how long an approved call may wait for its start. Private notes are sent after the
    answer to Slack; `close` waits for those under way.
    """

    def __init__(
        self,
        *,
        slot: Slot,
        replies: Replies,
        people: People,
        ring: Ring,
        team: str,
        run_for: timedelta | None,
        standing: Standing | None = None,
        lost: Lost | None = None,
        saved: Saved | None = None,
        changed: Callable[[str], None] | None = None,
        mend: Mend | None = None,
        first: First | None = None,
    ) -> None:
        """Keep the parts; `team` is our workspace, `standing` knows groups and roles."""
        self._slot = slot
        self._replies = replies
        self._people = people
        self._ring = ring
        self._team = team
        self._run_for = run_for
        self._standing = standing
        self._lost = lost
        self._saved = saved
        self._changed = changed
        self._mend = mend
        self._first = first
        self._notes: set[asyncio.Task[None]] = set()

    async def press(self, click: Click) -> None:
        """Do what a button says. Raises StoreUnavailable, and then nothing is decided."""
        key = self._session(click.button)
        match click.action.partition(":")[0]:
            case _ if click.button is None or key is None:
                logs.warning("click.unknown", action=click.action, person=click.by.id)
                self.tell(click.by, click.place, INACTIVE)
            case _ if click.by.team != self._team:
                logs.warning("click.refused", why="outsider", person=click.by.id)
                self.tell(click.by, click.place, OUTSIDER)
            case "approve" | "withdraw" | "happened" as act:
                await self._decide(click, key, act=act, button=click.button)
            case "form" | "show" | "reject":
                await self._look(click, key, button=click.button)
            case _:
                logs.warning("click.unknown", action=click.action, person=click.by.id)
                self.tell(click.by, click.place, INACTIVE)

    async def misplaced(self, click: Click | Submission, field: str) -> Mapping[str, Any] | None:
        """Decide nothing, since `field` of what Slack sent does not fit; say so and log it."""
        by = click.by
        if await self._is_first(f"misplaced {by.id} {click.place} {click.button} {field}"):
            logs.warning("click.refused", why="misplaced", field=field, person=by.id)
        if isinstance(click, Submission):
            return _instead(MISPLACED)
        self.tell(by, click.place, MISPLACED)
        return None

    async def submit(self, sent: Submission) -> Mapping[str, Any]:
        """Decide what a modal says; the answer is the body for Slack, empty to close the modal."""
        key = self._session(sent.button)
        if sent.button is None or key is None or sent.act not in (APPROVE, REJECT):
            logs.warning("click.unknown", action=sent.act, person=sent.by.id)
            return _instead(INACTIVE)
        person = await self._person(sent.by)
        if person is None:
            return _beside(sent, {}, otherwise=WHO)
        decision = Decision(
            button=sent.button,
            person=person,
            act="approve" if sent.act == APPROVE else "reject",
            values=sent.values,
            reason=sent.reason,
        )
        outcome = await self._decided(key, decision)
        if outcome.kind == "invalid":
            return _beside(sent, outcome.problems, otherwise=outcome.sentence)
        taken = outcome.kind in ("decided", "counted") and outcome.code != "saving"
        return {} if taken else _instead(sentence(outcome))

    async def withdraw(self, click: Click) -> str:
        """Withdraw what a click is about; returns what came of it, as mrkdwn."""
        key = self._session(click.button)
        person = await self._person(click.by)
        if key is None or click.button is None:
            return INACTIVE
        if person is None:
            return WHO
        decision = Decision(button=click.button, person=person, act="withdraw")
        return sentence(await self._decided(key, decision))

    def tell(self, by: Clicker, place: Place, text: str) -> None:
        """Say something to the clicker alone, once Slack has its answer; `text` is mrkdwn."""
        self.later(self._note(by, place, text))

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something once Slack has its answer; it may get lost."""
        # Not awaited: Slack's three seconds are for the decision, and a lost note does no harm.
        task = asyncio.create_task(work)
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def close(self) -> None:
        """Wait for the private notes that are still on their way."""
        if self._notes:
            await asyncio.wait(self._notes)

    async def _decide(self, click: Click, key: SessionKey, *, act: Act, button: Button) -> None:
        person = await self._person(click.by)
        if person is None:
            self.tell(click.by, click.place, WHO)
            return
        decision = Decision(
            button=button,
            person=person,
            act=act,
            values=click.values,
            card=click.card,
            whole=False,
        )
        outcome = await self._decided(key, decision)
        saving = outcome.code == "saving"
        if saving or outcome.kind not in ("decided", "withdrawn"):
            self.tell(click.by, click.place, note(outcome))
        if outcome.kind in ("already", "late") and not saving:
            self._show_anew(key, click)

    async def _decided(self, key: SessionKey, decision: Decision) -> Outcome:
        outcome = await decide(
            self._slot,
            key,
            decision,
            run_for=self._run_for,
            index=self._ring(key),
            standing=self._standing,
            shows_all=shows_all,
            who_is=self._people.person,
        )
        if outcome.kind == "unknown" and await self._is_lost(key, decision.card):
            outcome = replace(outcome, sentence=EMPTIED, code="emptied")
        if outcome.kind in (*TAKEN, "already") and not await self._is_saved(key, outcome.approval):
            outcome = replace(outcome, sentence=SAVING, people=(), code="saving")
        told = {
            "approval": decision.button.approval,
            "session": decision.button.session,
            "person": decision.person.id,
            "act": decision.act,
            "kind": outcome.kind,
        }
        if outcome.kind in TAKEN:
            logs.info("approval.decided", **told)
        elif outcome.kind == "unknown":
            logs.warning("click.unknown", **told)
        else:
            logs.warning("approval.refused", **told, code=outcome.code)
        if self._changed:
            self._changed(decision.person.id)
        return outcome

    async def _is_saved(self, key: SessionKey, approval: Approval | None) -> bool:
        record = approval and approval.record()
        return self._saved is None or await self._saved(key, record)

    async def _look(self, click: Click, key: SessionKey, *, button: Button) -> None:
        """Open a modal that shows the stored approval, or asks for its values."""
        approval = await self._approval(key, button, card=click.card)
        if approval is None:
            lost = await self._is_lost(key, click.card)
            self.tell(click.by, click.place, EMPTIED if lost else INACTIVE)
        elif approval.status != "pending" and click.action in (REJECT, FORM):
            await self._decide(click, key, act=_ACTS[click.action], button=button)
        elif click.action == REJECT:
            await self._open(click, reject_view(approval, click))
        elif click.action == FORM and shows_all(approval):
            await self._open(click, form_view(approval, click))
        else:
            await self._show(click, key, approval)

    async def _show(self, click: Click, key: SessionKey, approval: Approval) -> None:
        """Show all of a call, and what its card tells of the rest of its conversation."""
        view = await self._slot.read(key, parts=("approvals", "events"), window=TALK_READ)
        among = readable(view.approvals).values() if view else ()
        moved_on = talked_since(approval, view.events if view else ())
        stands = kin(approval, among, moved_on=moved_on)
        whole = everything_view(approval, click, around=around(approval, stands))
        if click.view:
            self._check(click, await self._replies.update_view(click.view, whole))
            return
        await self._open(click, whole)
        if approval.status != "pending":
            self._show_anew(key, click)

    def _show_anew(self, key: SessionKey, click: Click) -> None:
        """Repair a card that kept its buttons though its request is over."""
        if self._mend and click.card:
            self.later(self._mend(key, click.card))

    async def _open(self, click: Click, view: Block) -> None:
        self._check(click, await self._replies.open_view(click.trigger, view))

    def _check(self, click: Click, result: Result) -> None:
        if isinstance(result, Posted):
            return
        why = result.code if isinstance(result, Refused) else type(result).__name__
        logs.warning("click.refused", why=why, action=click.action, person=click.by.id)
        self.tell(click.by, click.place, AGAIN)

    async def _approval(self, key: SessionKey, button: Button, *, card: str) -> Approval | None:
        """The approval of a button on a message of its own; None for any other button."""
        parts = ("approvals", "posts")
        view = await self._slot.read(key, parts=parts, only=(button.approval,))
        approval = readable(view.approvals).get(button.approval) if view else None
        if view is None or approval is None or not button.fits(approval):
            return None
        return None if is_elsewhere(approval, card, view.places) else approval

    async def _is_lost(self, key: SessionKey, card: str) -> bool:
        """Whether the store was emptied since a card was posted, or its thread begun."""
        stamp = Spot.parse(card).ts or thread_of(key).ts
        if self._lost is None or not _STAMP.fullmatch(stamp):
            return False
        return await self._lost(float(stamp))

    def _session(self, button: Button | None) -> SessionKey | None:
        """The session of a button; None for a forged one or one of another workspace."""
        try:
            key = SessionKey.parse(button.session) if button else None
        except ValueError:
            return None
        return key if key and key.tenant == self._team else None

    async def _person(self, by: Clicker) -> Person | None:
        """Who the clicker is now; None when Slack does not say, and then nothing is decided."""
        if by.team != self._team:
            return Person(id=by.id, team=by.team, is_stranger=True)
        person = await self._people.person(by.id)
        if person is None:
            logs.warning("click.refused", why="person_unknown", person=by.id)
        return person

    async def _note(self, by: Clicker, place: Place, text: str) -> None:
        """Tell them where they are; from Home, or where that is impossible, in their DM with us."""
        if place.response_url and not await self._is_first(f"{place.response_url} {text}"):
            return
        thread = place.thread
        if thread.channel:
            told = await self._replies.ephemeral(thread, person=by.id, text=text)
            if isinstance(told, Posted):
                return
        if place.response_url:
            await self._replies.respond(place.response_url, text)
        elif by.team == self._team:
            await self._replies.whisper(by.id, text)

    async def _is_first(self, what: str) -> bool:
        """Whether nobody has said this before, as far as the store can tell."""
        with contextlib.suppress(StoreUnavailable):
            return self._first is None or await self._first(what)
        return True


def note(outcome: Outcome) -> str:
    """An outcome in words that stand alone, as mrkdwn: a note stays where it was told."""
    said, about = sentence(outcome), outcome.approval if outcome.kind != "unknown" else None
    return f"{called(about)}:\n{said}" if about else said


def sentence(outcome: Outcome) -> str:
    """An outcome in words for the clicker, as mrkdwn."""
    words = escaped(outcome.sentence)
    if outcome.people:
        words = f"{words} {mentions(outcome.people)}."
    if outcome.until is not None:
        words = f"{words} It could be decided until {moment(outcome.until)}."
    asked = fields(outcome.approval) if outcome.approval else []
    labels = {each.name: each.title for each in asked}
    wrong = by_field(labels, outcome.problems)
    lines = [f"• {labels.get(name, name)}: {text}" for name, text in wrong.items()]
    return "\n".join([words, *map(escaped, lines)])


def _instead(text: str) -> Mapping[str, Any]:
    """The answer that shows a sentence in place of the modal."""
    return {"response_action": "update", "view": told_view(text)}


def _beside(sent: Submission, problems: Mapping[str, str], *, otherwise: str) -> Mapping[str, Any]:
    """The answer that keeps the modal open, with each problem at its field.

    A problem that belongs to none of its fields is shown at the first one.
    """
    wrong = by_field(sent.blocks, problems)
    errors = {sent.blocks[name]: text for name, text in wrong.items() if name in sent.blocks}
    elsewhere = [f"{name}: {text}" for name, text in wrong.items() if name not in sent.blocks]
    if sent.blocks and (elsewhere or not errors):
        first = next(iter(sent.blocks.values()))
        told = (errors.get(first, ""), "; ".join(elsewhere) or otherwise)
        errors[first] = cut(" ".join(filter(None, told)), ERROR_LIMIT)
    return {"response_action": "errors", "errors": errors} if errors else _instead(otherwise)
