"""The line under a request: who was asked, and then what became of it."""

from collections.abc import Callable, Iterator

from bot.approvals.button import encode
from bot.approvals.request import Approval, late
from bot.approvals.terms import needed
from bot.slack.actions import WITHDRAW
from bot.slack.blocks.arguments import arguments, in_one_line, titled
from bot.slack.blocks.outcome import counted, outcome
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
from bot.slack.text import cut, escaped, visible

CALL_LIMIT = 200
NAME_LIMIT = 40
NAMES_LIMIT = 400
NOBODY = "Nobody could be asked; it waits all the same"


def prompt(approval: Approval, *, kind: str, by: str = "") -> Rendered:
    """The line under a card that brings it to mind; for an `escalation` to others as well.

    `succession` says that default approvers stand in, `moved_on` that somebody, `by`, wrote where
    it was asked; `ruling` that it was taken out of people's hands.
    """
    until = f" until {moment(approval.deadline)}" if approval.deadline else ""
    if kind == "moved_on":
        told = f":speech_balloon: {mention(by)} wrote in the conversation after this was asked."
    elif kind == "ruling":
        policy = approval.policy
        told = f":rotating_light: {quietly(policy.approvers, policy.notified)}: {outcome(approval)}"
    elif kind == "escalation" and approval.escalated:
        names = approval.escalations[approval.escalated - 1].names
        told = f"{mentions(names)} may decide this as well now{until}."
    elif kind == "succession" and approval.heirs:
        told = f"Too few of those who were asked may still decide: {mentions(approval.heirs)}"
        told = f"{told} may decide this as well now{until}."
    else:
        told = f"{mentions(waited_for(approval))}: this still waits for a decision{until}."
    return Rendered(told, [small(told)])


def waited_for(approval: Approval) -> tuple[str, ...]:
    """Who is to be reminded: those who are told about it and have not voted."""
    policy = approval.policy
    told = policy.approvers if policy.notified is None else policy.notified
    voted = {vote.person for vote in approval.votes}
    return tuple(name for name in told if name not in voted)


def asked(
    approval: Approval,
    *,
    now: int,
    shared: bool = False,
    nobody: bool = False,
    name: Callable[[str], str] = str,
) -> Rendered:
    """The line in the requester's thread; while the question is open they can withdraw it.

    In a channel that other companies see, `shared`, it does not say what the call is about. Nobody
    is mentioned who has a `name`: there is a card for them elsewhere, and one ping is enough. With
    `nobody` there is none: Slack took it nowhere.
    """
    call = "" if shared else _call(approval)
    if approval.status != "pending" or late(approval, now=now):
        ended = outcome(approval)
        return Rendered(f"{ended} {escaped(call)}".strip(), [small(ended, before=call)])
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
    """Who was asked, in plain text, and what is left of it in mrkdwn where a name is not known."""
    verb = "Asked"
    if approval.unknown:
        verb = "It was interrupted. Asked whether it happened:"
    elif approval.changes:
        verb = "Asked again, since the call has changed:"
    people = approval.policy.approvers
    names = [name(each) for each in people]
    if any(mention(called).startswith("<") for called in names):
        return "", f"{verb} {quietly(people, approval.policy.notified)}"
    told = visible(cut(listed([cut(each, NAME_LIMIT) for each in names]), NAMES_LIMIT))[0]
    return f"{verb} {told}", ""


def _so_far(approval: Approval) -> Iterator[str]:
    """How many of them have agreed, where more than one has to, and until when they may."""
    count, people = needed(approval.policy), counted(approval)
    if count > 1:
        yield f"{len(people)} of {count} have approved"
    if approval.deadline:
        yield f"until {moment(approval.deadline)}"


def _call(approval: Approval) -> str:
    """Which of the thread's requests this is about."""
    tool = titled(cut(visible(approval.tool)[0], 60))
    told = in_one_line(arguments(approval), CALL_LIMIT)
    return f"{tool}: {told}" if told else tool
