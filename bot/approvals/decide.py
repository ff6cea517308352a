"""Read the approval, weigh the decision, compare and set; when somebody was faster, again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from agents import SessionKey, Slot, StoreUnavailable
from bot.approvals.decision import (
    INVALID,
    UNKNOWN,
    UNSURE,
    Decision,
    Outcome,
    attempt,
    change,
    is_elsewhere,
    told,
    weigh,
)
from bot.approvals.life import is_over, lapse, overtaken, widens
from bot.approvals.nominees import NO_PERSON, is_colleague, nominees
from bot.approvals.pauses import pauses
from bot.approvals.policy import Person
from bot.approvals.records import readable
from bot.approvals.request import Approval
from bot.approvals.terms import is_person
from bot.turns import Command

WhoIs = Callable[[str], Awaitable[Person | None]]
"""Who the person with an id is; None when nobody can say."""

Standing = Callable[[str, Iterable[str]], Awaitable[frozenset[str] | None]]
"""Those of some names that a person stands for now; None when nobody can say."""

ShowsAll = Callable[[Approval], bool]
"""Whether a card shows all of the call it is about."""


async def decide(
    slot: Slot,
    key: SessionKey,
    decision: Decision,
    *,
    run_for: timedelta | None = None,
    index: Sequence[Command] = (),
    standing: Standing | None = None,
    shows_all: ShowsAll | None = None,
    who_is: WhoIs | None = None,
) -> Outcome:
    """Decide, or tell the person why not; what follows is stored in the same change.

    An approved call has to start within `run_for`. `index` commands make the session due.
    `standing` looks up groups and roles; without it nobody stands for one. `shows_all` makes a
    decision `whole` that was taken on a card with all of the call. `who_is` looks up whom values
    name; without it anybody is taken. Safe to repeat. Raises StoreUnavailable when the store does
    not answer, or others are always faster.
    """
    for pause in pauses():
        if pause:
            await asyncio.sleep(pause)
        name = decision.button.approval
        view = await slot.read(key, parts=("approvals", "posts"), only=(name,))
        approval = readable(view.approvals).get(name) if view else None
        if view is None or approval is None:
            return UNKNOWN
        if widens(approval, now=view.now) or is_over(approval, asks=view.asks):
            await settle(slot, key, name, index=index)
            continue
        now, head = view.now, view.audit_head
        elsewhere = is_elsewhere(approval, decision.card, view.places)
        answer: Approval | Outcome = replace(UNKNOWN, approval=approval)
        if decision.button.fits(approval) and not elsewhere:
            answer = await _weighed(
                approval,
                decision,
                now=now,
                run_for=run_for,
                standing=standing,
                shows_all=shows_all,
                who_is=who_is,
            )
        if isinstance(answer, Outcome):
            declined = await _declined(
                slot, key, decision, answer=answer, now=now, head=head, index=index
            )
            if declined:
                return declined
            continue
        changed = change(approval, answer, now=now, head=head, index=index)
        stored = await slot.decide(key, changed)
        if stored.kind == "ok":
            return told(answer)
    raise StoreUnavailable(f"the approval {decision.button.approval} changes all the time")


async def settle(
    slot: Slot, key: SessionKey, approval_id: str, *, index: Sequence[Command] = ()
) -> Approval | None:
    """Do what an approval is due for, and return it as it is now stored.

    It is closed when its time is up, nobody may decide it, or its call is answered without it;
    people are reminded, or others asked as well. None when there is none; one that is still pending
    has to be looked at again at its `next_look`.
    """
    for pause in pauses():
        await asyncio.sleep(pause)
        view = await slot.read(key, parts=("approvals",), only=(approval_id,))
        if view is None or approval_id not in view.approvals:
            return None
        approval = Approval.from_record(view.approvals[approval_id])
        is_open = not is_over(approval, asks=view.asks)
        over = "" if is_open else await _over(slot, key, approval)
        lapsed = lapse(approval, now=view.now, over=over)
        if lapsed is None:
            return approval
        changed = change(approval, lapsed, now=view.now, head=view.audit_head, index=index)
        stored = await slot.decide(key, changed)
        if stored.kind == "ok":
            return lapsed
    raise StoreUnavailable(f"the approval {approval_id} changes all the time")


async def _over(slot: Slot, key: SessionKey, approval: Approval) -> str:
    """Why the call of an open approval is answered without it."""
    view = await slot.read(key, parts=("approvals",))
    return overtaken(approval, readable(view.approvals).values() if view else ())


async def _weighed(
    approval: Approval,
    decision: Decision,
    *,
    now: int,
    run_for: timedelta | None,
    standing: Standing | None,
    shows_all: ShowsAll | None,
    who_is: WhoIs | None,
) -> Approval | Outcome:
    """What the decision makes of the approval, given what the person saw and stands for."""
    if shows_all and decision.card and not decision.whole:
        decision = replace(decision, whole=shows_all(approval))
    if approval.policy.groups and standing:
        names = await standing(decision.person.id, approval.policy.groups)
        if names is None:
            return replace(UNSURE, approval=approval)
        decision = replace(decision, person=replace(decision.person, names=names))
    answer = weigh(approval, decision, now=now, run_for=run_for)
    if who_is is None or isinstance(answer, Outcome) or decision.act != "approve":
        return answer
    return await _of_strangers(approval, answer, who_is) or answer


async def _of_strangers(approval: Approval, after: Approval, who_is: WhoIs) -> Outcome | None:
    """Why the newest values do not count: they name an app, a person who left, or nobody at all."""
    wrong: dict[str, str] = {}
    named = nominees(approval.payload_schema or {}, after.votes[-1].payload)
    asked = {each for people in named.values() for each in people if is_person(each)}
    told = dict(zip(asked, await asyncio.gather(*map(who_is, asked)), strict=True))
    for field, people in named.items():
        for each in people:
            person = told[each] if each in asked else Person(id=each, team="")
            if person is None:
                return replace(UNSURE, approval=approval)
            if not is_colleague(approval, person):
                wrong[field] = NO_PERSON
    if not wrong:
        return None
    return Outcome(kind="invalid", sentence=INVALID, problems=wrong, approval=approval)


async def _declined(
    slot: Slot,
    key: SessionKey,
    decision: Decision,
    *,
    answer: Outcome,
    now: int,
    head: str,
    index: Sequence[Command],
) -> Outcome | None:
    """What a decision that does not count leaves behind; None when somebody was faster.

    A late one closes its approval; a refused one, or one by a button that is not its own, is in the
    audit.
    """
    approval = answer.approval
    answer = UNKNOWN if answer.kind == "unknown" else answer
    if approval is None or approval.status != "pending":
        return answer
    if answer.kind == "late":
        closed = await settle(slot, key, approval.id, index=index)
        return replace(answer, approval=closed)
    if answer.kind in ("refused", "unknown"):
        tried = attempt(approval, decision, code=answer.code or "foreign", now=now, head=head)
        noted = await slot.decide(key, tried)
        return answer if noted.kind == "ok" else None
    return answer
