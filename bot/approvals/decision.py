"""What a person's click makes of an approval: the next record, or a sentence for that person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from pydantic import JsonValue

from agents import Decide, PayloadError, check_payload
from bot.approvals import audit, policy, posts
from bot.approvals.button import Button
from bot.approvals.life import closed, resume, voted
from bot.approvals.policy import Act, Person, Refusal
from bot.approvals.request import Approval, against, differ, tally
from bot.approvals.terms import Vote
from bot.turns import Command, Spot

Kind = Literal[
    "decided",
    "counted",
    "already",
    "late",
    "refused",
    "invalid",
    "unknown",
    "unsure",
    "withdrawn",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Who pressed which button, and what they entered.

    `values` are the raw values of the inputs by field; None when there are no inputs. `card` is the
    `channel|ts` of the message with the button, empty where there is none. `whole`: all of the call
    was in front of them.
    """

    button: Button
    person: Person
    act: Act
    values: Mapping[str, JsonValue] | None = None
    reason: str | None = None
    card: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a decision, for the person who made it.

    `sentence` is plain text, `people` are ids to name after it, `problems` map a field to what is
    wrong with its value. `code` tells a refusal's kind. `until` is the moment until which it would
    have counted (milliseconds).
    """

    kind: Kind
    sentence: str
    people: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    approval: Approval | None = None
    code: str = ""
    until: int | None = None


NO_REASON = "Please say why: here a rejection needs a reason."
UNSURE = Outcome(
    kind="unsure",
    sentence="I could not check what you may decide just now, so nothing was decided. Try again.",
)
INVALID = "Some values are not right, so nothing was decided yet."
UNSEEN = Refusal(
    code="unseen",
    sentence="There is more to this call than the card shows, so nothing was decided."
    " Press “Show everything”, and approve it there.",
)
DIFFER = (
    "Others entered different values, which are not counted together with yours; the card shows"
    " them."
)
UNKNOWN = Outcome(kind="unknown", sentence="This button does not belong to any request known here.")


def weigh(
    approval: Approval, decision: Decision, *, now: int, run_for: timedelta | None
) -> Approval | Outcome:
    """The approval's next record, or the outcome when the decision does not count."""
    payload, problems = _entered(approval, decision)
    refusal = policy.refusal(approval, decision.person, decision.act, now=now, payload=payload)
    if refusal is None and decision.act in ("approve", "happened") and _unseen(approval, decision):
        refusal = UNSEEN
    if refusal:
        return _refused(approval, refusal)
    if decision.act in ("happened", "withdraw"):
        return _ended(approval, decision, now=now)
    if problems:
        return Outcome(kind="invalid", sentence=INVALID, problems=problems, approval=approval)
    reason = (decision.reason or "").strip() or None
    if decision.act == "reject" and reason is None and approval.policy.reason_required:
        wrong = {"reason": NO_REASON}
        return Outcome(kind="invalid", sentence=NO_REASON, problems=wrong, approval=approval)
    vote = Vote(
        person=decision.person.id,
        confirmed=decision.act == "approve",
        at=now,
        payload=payload,
        reason=reason,
        names=tuple(sorted(decision.person.names & approval.policy.names)),
    )
    return voted(approval, vote, run_for=run_for)


def _unseen(approval: Approval, decision: Decision) -> bool:
    """Whether they had less than the whole call in front of them, as far as this act needs it."""
    if decision.card and Spot.parse(decision.card).channel in approval.hidden:
        return True
    return decision.act == "approve" and not decision.whole


def _ended(approval: Approval, decision: Decision, *, now: int) -> Approval | Outcome:
    """The approval closed without a vote: it is no longer wanted, or has happened already."""
    happened = decision.act == "happened"
    if happened and not approval.unknown:
        return replace(UNKNOWN, approval=approval)
    why = "happened" if happened else "withdrawn"
    return closed(approval, "cancelled", now=now, why=why, by=decision.person.id)


def is_elsewhere(approval: Approval, card: str, places: Mapping[str, str]) -> bool:
    """Whether a button was pressed on a message that is not one of the approval's.

    `places` are where posts went. A card whose place is not written down yet may be anywhere but
    where another post is.
    """
    posts = {copy.post: "" for copy in approval.copies}
    posts |= {approval.notice: ""} if approval.notice else {}
    for post, place in places.items():
        owner = post.partition("@")[0]
        if owner in posts and place:
            posts[owner] += f" {place}"
    known = [place for found in posts.values() for place in found.split()]
    if not card or not posts or card in known:
        return False
    return all(posts.values()) or card in places.values()


def change(
    before: Approval, after: Approval, *, now: int, head: str, index: Sequence[Command] = ()
) -> Decide:
    """The change that writes an approval's next record, with all that follows from it.

    `head` is the last hash of its session's audit, `index` commands make the session due. Where
    somebody decides, the call has to wait for this very approval still.
    """
    pending = after.status == "pending"
    voted = len(after.votes) > len(before.votes)
    entries = [audit.voted(after)] if voted else []
    entries += audit.prompted(before, after, now=now)
    entries += audit.recounted(before, after, now=now)
    if not pending:
        entries.append(audit.decided(after, now=now))
    shown = posts.updates(after, mark=after.rev) if after.reminded == before.reminded else ()
    return Decide(
        record=after.record(),
        entry=None if pending else resume(after),
        posts=(*shown, *posts.prompts(before, after)),
        audit=entries,
        audit_head=head,
        cid=after.call_id if voted or after.why == "happened" else None,
        late_ok=after.status == "expired",
        index=index,
    )


def attempt(approval: Approval, decision: Decision, *, code: str, now: int, head: str) -> Decide:
    """The change that puts a refused decision into the audit and leaves the approval as it is."""
    who, act = decision.person.id, decision.act
    entry = audit.refused(approval, person=who, act=act, code=code, now=now)
    noted = approval.model_copy(update={"rev": approval.rev + 1, "tried": f"{who} {act} {now}"})
    return Decide(record=noted.record(), audit=[entry], audit_head=head)


def told(approval: Approval) -> Outcome:
    """The outcome of a decision that is stored, for the person who made it."""
    if approval.status == "pending":
        if not approval.votes[-1].confirmed:
            no, most = len(against(approval)), approval.policy.rejections
            sentence = f"Your rejection is counted: {no} of {most} against."
            return Outcome(kind="counted", sentence=sentence, approval=approval)
        sentence = f"Your approval is counted: {tally(approval, approval.votes[-1].payload)}."
        sentence += f" {DIFFER}" if differ(approval) else ""
        return Outcome(kind="counted", sentence=sentence, approval=approval)
    if approval.why == "happened":
        return Outcome(kind="decided", sentence="You said that it happened.", approval=approval)
    if approval.status == "cancelled":
        return Outcome(kind="withdrawn", sentence="The request is withdrawn.", approval=approval)
    sentence = "You approved this." if approval.status == "approved" else "You rejected this."
    return Outcome(kind="decided", sentence=sentence, approval=approval)


def _entered(
    approval: Approval, decision: Decision
) -> tuple[dict[str, JsonValue] | None, Mapping[str, str]]:
    """The values that would be approved, and what is wrong with them.

    Where they mean the same as those of somebody who approved before, they are taken from them.
    """
    if decision.act != "approve" or approval.payload_schema is None:
        return None, {}
    voted = [vote.payload for vote in approval.votes if vote.confirmed and vote.payload]
    try:
        values = dict(decision.values or {})
        return check_payload(approval.payload_schema, values, before=voted), {}
    except PayloadError as error:
        return None, error.problems


def _refused(approval: Approval, refusal: Refusal) -> Outcome:
    """A refusal as an outcome."""
    kinds: dict[str, Kind] = {"already": "already", "already_voted": "already", "late": "late"}
    return Outcome(
        kind=kinds.get(refusal.code, "refused"),
        sentence=refusal.sentence,
        people=refusal.people,
        approval=approval,
        code=refusal.code,
        until=refusal.until,
    )
