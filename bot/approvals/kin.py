"""How a request relates to the others of its conversation; pure, and for telling only.

Calls that are exactly the same are counted, or replace each other, by their digest. Here is what a
person would take for the same: calls that differ in letter case or blanks, and another try after
one that failed.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from agents import Question, Story
from bot.approvals.looks import folded, looks_like, spelling
from bot.approvals.request import Approval, Status

TOLD: frozenset[Status] = frozenset(
    {"pending", "rejected", "approved", "started", "done", "unknown"}
)
"""Where a request must stand for people who decide about the same to be told of it."""


class Difference(NamedTuple):
    """An argument that two calls do not share; `form` says how, where only its form differs."""

    name: str
    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """How a request stands among those of its conversation.

    It is number `place` of `of` equal calls of one turn. `alike` is the newest other request that
    looks the same, open or decided, and `apart` what differs. It is try number `attempt` of a
    call that failed before as `failed`, since when `corrected` changed. `moved_on`: people wrote
    in the conversation after it was asked.
    """

    place: int = 1
    of: int = 1
    alike: Approval | None = None
    apart: Sequence[Difference] = ()
    attempt: int = 1
    failed: Approval | None = None
    corrected: Sequence[str] = ()
    moved_on: bool = False


ALONE = Kin()
LAST = 8
"""How many of a session's last requests a new one is compared with."""


class Looks:
    """What the calls of a session look like to people: each is read once."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: dict[str, str] = {}

    def of(self, approval: Approval) -> str:
        """A text that is the same for calls that look the same."""
        if approval.id not in self._known:
            self._known[approval.id] = spelling(folded(approval.args))
        return self._known[approval.id]


def near(story: Story) -> Sequence[str]:
    """The requests that matter to a turn: those about open calls and their batches, and the last.

    In a long session these are few; older ones are not told of any more.
    """
    batches = {call.id.rpartition("-")[0] for call in story.open.values()}
    open_ = [call.request for call in story.open.values() if call.request]
    asked = [asked for event in story.events for asked in event.questions.items()]
    about = [name for name, each in asked if each.call_id.rpartition("-")[0] in batches]
    return list(dict.fromkeys([*open_, *about, *(name for name, _ in asked[-LAST:])]))


def kin(
    approval: Approval,
    among: Iterable[Approval],
    *,
    looks: Looks | None = None,
    moved_on: bool = False,
) -> Kin:
    """How a request stands among the approvals of its session, itself included or not.

    Whoever asks about many of them keeps the `looks`.
    """
    others = [each for each in among if each.id != approval.id and each.tool == approval.tool]
    place, of = _place(approval, others)
    alike = _alike(approval, others, looks or Looks())
    failed = _failed(approval, others)
    newest = failed[-1] if failed else None
    return Kin(
        place=place,
        of=of,
        alike=alike,
        apart=differences(approval, alike) if alike else (),
        attempt=len(failed) + 1,
        failed=newest,
        corrected=_changed(approval, newest) if newest else (),
        moved_on=moved_on,
    )


def people_behind(question: Question, others: Iterable[Approval], *, asker: str) -> tuple[str, ...]:
    """Who besides `asker` wants the call of a question, having asked for it before in `others`.

    Whatever became of it, it was not done: somebody else's word in the conversation, and the model
    that asks once more, make no one else of them. A call that only looks the same is the same here.
    """
    wanted: dict[str, None] = {}
    for each in sorted(others, key=_order):
        again = each.tool == question.tool and _repeats(question, each)
        if again and each.status == "done" and each.call_id != question.call_id:
            wanted = {}
        elif again or each.call_id == question.call_id:
            wanted.update(dict.fromkeys((each.requester, *each.behind)))
    return tuple(person for person in wanted if person not in ("", asker))


def _repeats(question: Question, older: Approval) -> bool:
    same = bool(question.digest) and question.digest == older.digest
    return same or looks_like(question.args, older.args)


def differences(one: Approval, other: Approval) -> tuple[Difference, ...]:
    """The arguments that two calls do not share, each with the form it differs in."""
    names = dict.fromkeys((*one.args, *other.args))
    return tuple(
        Difference(name, _form(one.args.get(name), other.args.get(name)))
        for name in names
        if spelling(one.args.get(name)) != spelling(other.args.get(name))
    )


def _place(approval: Approval, others: Sequence[Approval]) -> tuple[int, int]:
    """Which of how many equal calls of the same turn this is, such as (1, 2).

    Another question about the same call is no other call.
    """
    equal = [
        each
        for each in others
        if each.digest == approval.digest
        and each.call_id != approval.call_id
        and each.batch == approval.batch
    ]
    before = [each for each in equal if _order(each) < _order(approval)]
    return len(before) + 1, len(equal) + 1


def _alike(approval: Approval, others: Sequence[Approval], looks: Looks) -> Approval | None:
    """The newest request that looks the same and is open, else one that was decided.

    An equal one that is open is counted by its digest, or closed for this one.
    """
    told = [
        each
        for each in others
        if each.asked_at <= approval.asked_at
        and each.status in TOLD
        and each.call_id != approval.call_id
        and not (each.status == "pending" and each.digest == approval.digest)
    ]
    same = [each for each in told if looks.of(each) == looks.of(approval)]
    return max(same, key=lambda each: (each.status == "pending", _order(each)), default=None)


def _failed(approval: Approval, others: Sequence[Approval]) -> Sequence[Approval]:
    """The tries that failed since the tool last did what it should, oldest first.

    A request of a later run that shares nothing with the newest of them is no try of the same.
    """
    failed: list[Approval] = []
    ran = [each for each in others if each.status in ("done", "failed")]
    for each in sorted(ran, key=_order):
        if each.requester != approval.requester or _order(each) >= _order(approval):
            continue
        if each.status == "done":
            failed = []
        else:
            failed.append(each)
    if not failed or failed[-1].run == approval.run:
        return failed
    changed = _changed(approval, failed[-1])
    return failed if len(changed) < max(len(approval.args), 2) else []


def _changed(approval: Approval, before: Approval) -> tuple[str, ...]:
    return tuple(each.name for each in differences(approval, before))


def _order(approval: Approval) -> tuple[int, int, str]:
    part = approval.call_id.rpartition("-")[2]
    return approval.asked_at, int(part) if part.isdecimal() else 0, approval.id


def _form(one: JsonValue, other: JsonValue) -> str:
    """How two values that look the same differ in form; empty where they differ in more."""
    if folded(one) != folded(other) or isinstance(one, bool) or isinstance(other, bool):
        return ""
    if not (isinstance(one, str) and isinstance(other, str)):
        return "the form of what is in it"
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return "the form of its characters"
    if one.casefold() == other.casefold():
        return "letter case"
    if "".join(one.split()) == "".join(other.split()):
        return "blanks"
    return "letter case, blanks or the form of its characters"
