"""Who may decide: tables, without a clock or a client."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from pydantic import JsonValue

from bot.approvals.request import Approval, late, left_open, tally
from bot.approvals.terms import in_favour, reached

Act = Literal["approve", "reject", "withdraw", "happened"]
Code = Literal[
    "outsider",
    "bot",
    "deactivated",
    "guest",
    "already",
    "late",
    "not_requester",
    "own_request",
    "not_approver",
    "already_voted",
    "unseen",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody in Slack as Slack describes them now; `is_stranger`: from another organization.

    `name` is what people call them. `names` are groups and roles that they stand for now, as far as
    somebody asked.
    """

    id: str
    team: str
    name: str = ""
    is_bot: bool = False
    is_guest: bool = False
    is_stranger: bool = False
    deleted: bool = False
    names: frozenset[str] = frozenset()

    @property
    def barred(self) -> bool:
        """Whether this person could never decide."""
        return self.is_bot or self.is_guest or self.is_stranger or self.deleted


Voter = Callable[[str, Iterable[str]], Awaitable[Person | None]]
"""Who a person is now, and for which of some names they stand; None when nobody can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why an act does not count: a sentence for the person alone.

    `people` are ids to name after the sentence, `until` is the moment until which it would have
    counted (milliseconds).
    """

    code: Code
    sentence: str
    people: tuple[str, ...] = ()
    until: int | None = None


def refusal(
    approval: Approval,
    person: Person,
    act: Act,
    *,
    now: int,
    payload: dict[str, JsonValue] | None = None,
) -> Refusal | None:
    """Why this person may not do this now, or None; `payload` is what they would approve."""
    return (
        _stranger(approval, person, act)
        or _over(approval, person, now=now)
        or _unentitled(approval, person, act)
        or _repeated(approval, person, act, payload=payload)
    )


def _stranger(approval: Approval, person: Person, act: Act) -> Refusal | None:
    """Why this person can never decide here, if so; a guest can take back what they asked."""
    tenant = unquote(approval.session.partition(":")[0])
    if person.team != tenant or person.is_stranger:
        return Refusal(code="outsider", sentence="Only people of this workspace can decide here.")
    if person.is_bot:
        return Refusal(code="bot", sentence="Only people can decide, not apps.")
    if person.deleted:
        return Refusal(code="deactivated", sentence="This account is deactivated.")
    if person.is_guest and not (act == "withdraw" and person.id in approval.askers):
        return Refusal(code="guest", sentence="Guests cannot decide here.")
    return None


def _over(approval: Approval, person: Person, *, now: int) -> Refusal | None:
    """Why it cannot be decided any more: it was, or its time is up."""
    if approval.status == "pending":
        if late(approval, now=now):
            return _late(approval)
        return None
    by = approval.decided_by
    if approval.status == "expired":
        return _late(approval)
    if approval.status == "cancelled" and not left_open(approval):
        return Refusal(code="already", sentence=_cancelled(approval.why, own=by == person.id))
    word = "rejected" if approval.status == "rejected" else "approved"
    if by == person.id and approval.status != "void":
        return Refusal(code="already", sentence=f"You already {word} this.")
    people = (by,) if by else ()
    told = f"This was already {word} by"
    if approval.status == "void":
        told = "This did not run, and its buttons no longer count. It was approved by"
    return Refusal(code="already", sentence=told, people=people)


def _late(approval: Approval) -> Refusal:
    """The refusal of a late click: nobody decided, and `until` is when they could have."""
    sentence = "This expired before anybody decided."
    return Refusal(code="late", sentence=sentence, until=approval.deadline)


def _cancelled(why: str, *, own: bool) -> str:
    """What became of a request that is no longer open."""
    if why == "withdrawn" and own:
        return "You withdrew this request already."
    return {
        "withdrawn": "This request was withdrawn by the person who asked.",
        "superseded": "This was asked again; please decide on the newer request.",
        "operator": "An operator closed this.",
        "happened": "Somebody has already said that this happened.",
        "nobody": "Too few could decide this, so it was closed.",
    }.get(why, "This request was cancelled.")


def _unentitled(approval: Approval, person: Person, act: Act) -> Refusal | None:
    """Why somebody else has to do this, if so."""
    own = person.id in approval.askers
    if act == "withdraw":
        if own:
            return None
        sentence = "Only the person who asked can withdraw this:"
        return Refusal(code="not_requester", sentence=sentence, people=(approval.requester,))
    policy = approval.policy
    entitled = policy.entitles(person.id, person.names)
    if own and not (policy.self_approval and entitled):
        if act == "reject":
            return None
        sentence = "You asked for this, so somebody else has to decide; you can withdraw it."
        return Refusal(code="own_request", sentence=sentence)
    if not entitled:
        others = tuple(each for each in policy.approvers if each != person.id)
        sentence = "You cannot decide this." + (" These people can:" if others else "")
        return Refusal(code="not_approver", sentence=sentence, people=others)
    return None


def _repeated(
    approval: Approval, person: Person, act: Act, *, payload: dict[str, JsonValue] | None
) -> Refusal | None:
    """The refusal of an approval that is counted already, with the same values.

    One that is enough by now, since others left and the rules were widened, may be given again, and
    so may one that its person stands for more names by now.
    """
    votes = in_favour(approval.votes, payload)
    held = person.names & approval.policy.names
    mine = any(vote.person == person.id and held.issubset(vote.names) for vote in votes)
    if act != "approve" or not mine or reached(approval.policy, votes):
        return None
    sentence = f"Your approval is counted already: {tally(approval, payload)}."
    return Refusal(code="already_voted", sentence=sentence)
