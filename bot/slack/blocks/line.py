"""The line under a request: who was asked, and later what became of it."""

from collections.abc import Callable, Iterator, Sequence

from bot.approvals.button import encode
from bot.approvals.request import Again, Approval, differ, late, leading, voted
from bot.approvals.terms import needed, newest, total
from bot.approvals.wording import rules
from bot.slack.actions import WITHDRAW
from bot.slack.blocks.arguments import arguments, in_one_line
from bot.slack.blocks.entered import agreed_on
from bot.slack.blocks.outcome import outcome
from bot.slack.blocks.rendered import (
    Rendered,
    actions,
    button,
    listed,
    mention,
    mentions,
    moment,
    quietly,
    small,
)
from bot.slack.blocks.takes import once_more
from bot.slack.text import cut, escaped, titled, visible

CALL_LIMIT = 200
NAME_LIMIT = 40
NAMES_LIMIT = 400
EDITED = "edited the message this was asked in. What is asked here has not changed."
NOBODY = "Nobody could be asked; it waits all the same"


def prompt(approval: Approval, *, kind: str, by: str = "", people: Sequence[str] = ()) -> Rendered:
    """The line under a card that brings it to mind; for an `escalation` to others as well.

    `succession` says that default approvers stand in, `moved_on` that somebody, `by`, wrote where
    it was asked, `edited` that they changed the message it was asked in; `ruling` that it was taken
    out of people's hands, `superseded` that votes on it do not count for the newer request.
    `people` are those behind the names that come in.
    """
    until = f" until {moment(approval.deadline)}" if approval.deadline else ""
    if kind == "moved_on":
        told = f":speech_balloon: {mention(by)} wrote in the conversation after this was asked."
    elif kind == "edited":
        told = f":pencil2: {mention(by)} {EDITED}"
    elif kind == "ruling":
        policy = approval.policy
        told = f":rotating_light: {quietly(policy.approvers, policy.notified)}: {outcome(approval)}"
    elif kind == "escalation" and (people or approval.escalated):
        latest = approval.escalations[approval.escalated - 1 : approval.escalated]
        names = mentions(people or [n for each in latest for n in each.people or each.names])
        told = f"{names} may decide this as well now{until}.{_enough(approval)}"
    elif kind == "succession" and approval.heirs:
        names = mentions(people or approval.heirs)
        told = f"Too few of those who were asked may still decide: {names}"
        told = f"{told} may decide this as well now{until}.{_enough(approval)}"
    elif kind == "superseded":
        people = mentions(tuple(newest(approval.votes)))
        told = f"{people}: this was asked again, and what you said here is not counted there."
        told = f"{told} Please decide on the newer request."
    else:
        told = _reminder(approval, until)
    return Rendered(told, [small(told)])


def _reminder(approval: Approval, until: str) -> str:
    """The reminder that a request still waits, for those who are told about it."""
    people = mentions(waited_for(approval)) if waited_for(approval) else ""
    if differ(approval) and not once_more(approval):
        count = total(approval.policy, leading(approval))
        told = f"the values that were entered differ, and {count} have to enter the same{until}."
        return f"{people}: {told}" if people else f"{told[0].upper()}{told[1:]}"
    told = f"his still waits for a decision{until}.{_enough(approval)}"
    return f"{people}: t{told}" if people else f"T{told}"


def _enough(approval: Approval) -> str:
    """A sentence for those whose approvals are enough by now; empty where more are needed."""
    again = once_more(approval)
    who = mentions([vote.person for vote in leading(approval)])
    return f" So far approved by {who}, {again}." if again else ""


def waited_for(approval: Approval) -> tuple[str, ...]:
    """Who is to be reminded: those who are told about it and have not voted.

    Where values differ, those who entered them have to agree on one of them.
    """
    policy = approval.policy
    told = policy.approvers if policy.notified is None else policy.notified
    return tuple(name for name in told if name not in voted(approval))


def asked(
    approval: Approval,
    *,
    now: int,
    shared: bool = False,
    nobody: bool = False,
    name: Callable[[str], str] = str,
    again: Again | None = None,
) -> Rendered:
    """The line in the requester's thread; while the question is open they can withdraw it.

    In a channel that other companies see, `shared`, it does not say what the call is about. Nobody
    is mentioned who has a `name`: there is a card for them elsewhere, and one ping is enough. With
    `nobody` there is none: Slack took it nowhere. `again` is as for `outcome`.
    """
    call = "" if shared else _call(approval)
    if approval.status != "pending" or late(approval, now=now):
        ended = outcome(approval, again=again)
        shown = [small(ended, before=call), *([] if shared else agreed_on(approval))]
        return Rendered(f"{ended} {escaped(call)}".strip(), shown)
    plainly, marked = (NOBODY, "") if nobody else _whom(approval, name)
    told = " · ".join(filter(None, (marked, *_so_far(approval))))
    plainly += "," if plainly and told else ""
    line = f"{escaped(plainly)} {told}".strip()
    withdraw = button("Withdraw", action=WITHDRAW, value=encode(approval))
    row = actions(withdraw, block_id=f"withdraw:{approval.rev}")
    about = [small(before=call)] if call else []
    blocks = [*about, small(told, before=plainly), row]
    return Rendered(f"{line}. {escaped(call)}".strip(), blocks)


def _whom(approval: Approval, name: Callable[[str], str]) -> tuple[str, str]:
    """Who was asked, in plain text; and in mrkdwn the rest, where a name is not known."""
    verb = "Asked"
    if approval.unknown:
        verb = "It was interrupted. Asked whether it happened:"
    elif approval.changes:
        verb = "Asked again, since the call has changed:"
    policy = approval.policy
    if not all(_has_name(each, name) for each in policy.approvers):
        return "", f"{verb} {quietly(policy.approvers, policy.notified)}"
    told = cut(listed([cut(name(each), NAME_LIMIT) for each in policy.approvers]), NAMES_LIMIT)
    takes = ""
    if all(_has_name(each, name) for each in policy.names):
        takes = rules(policy, lambda names: [cut(name(each), NAME_LIMIT) for each in names])
    return visible(f"{verb} {'; '.join(filter(None, (told, cut(takes, NAMES_LIMIT))))}")[0], ""


def _has_name(each: str, name: Callable[[str], str]) -> bool:
    """Whether somebody can be named without a mention."""
    return not mention(name(each)).startswith("<")


def _so_far(approval: Approval) -> Iterator[str]:
    """How many of them have agreed, where more than one has to, and until when they may."""
    votes = leading(approval)
    again = once_more(approval)
    if again or needed(approval.policy, votes) > 1:
        apart = " with the same values, others with others" if differ(approval) else ""
        told = f"{len(votes)} of {total(approval.policy, votes)} have approved{apart}"
        yield f"{told}, {again}" if again else told
    if approval.deadline:
        yield f"until {moment(approval.deadline)}"


def _call(approval: Approval) -> str:
    """Which of the thread's requests this is about."""
    tool = titled(cut(visible(approval.tool)[0], 60))
    told = in_one_line(arguments(approval), CALL_LIMIT)
    return f"{tool}: {told}" if told else tool
