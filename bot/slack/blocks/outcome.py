"""What became of a question, in words that claim no more than the store knows."""

from collections.abc import Collection

from bot.approvals.request import Again, Approval, against, agreed, left_open
from bot.approvals.terms import OPERATOR, newest
from bot.slack.blocks.rendered import mention, mentions, moment

_RUNS = {
    "approved": "It is on its way.",
    "started": "It is running.",
    "done": "It is done.",
    "failed": "It ran and failed.",
    "unknown": "It was started, and whether it happened is not known.",
    "void": "It was not run on this approval: it was too late, what it depends on could not be"
    " found out, its turn was given up, or the call or its rules changed in the meantime.",
}
NOT_ON_THIS = "It was not run on this approval."
NOT_AGAIN = " It was not asked again."
LASTING = "It has been started; what comes of it is told in the conversation."
_GOES_ON = ("approved", "started", "done")
_CANCELLED = {
    "superseded": "the same was asked again, and the newer request counts.",
    "operator": "an operator cancelled it.",
    "nobody": "too few may decide this here.",
    "run_cancelled": "the run that asked was cancelled.",
}
OUTSIDE = " from outside Slack"
NOT_KNOWN = "whether it happened is not known"


def outcome(approval: Approval, *, again: Again | None = None) -> str:
    """One line of mrkdwn for a question that is not open any more.

    `again` says whether its call was asked about anew; None where nobody looked.
    """
    match approval.status:
        case "pending" | "expired" if approval.unknown:
            return f":warning: *Nobody looked.* {_not_run(approval)}"
        case "pending" | "expired":
            when = _at(approval.deadline)
            told = f":hourglass: *Expired*{when}. Nobody decided in time.{_others(approval)}"
            return f"{told} {_not_run(approval)}"
        case "rejected":
            said = ":warning: *Left as it is*" if approval.unknown else ":x: *Rejected*"
            by = deciders(approval)
            told = f"{said}{_outside(approval)} by {mentions(by)}{_at(approval.decided_at)}."
            return f"{told}{_others(approval, by)} {_not_run(approval)}"
        case "cancelled" if not left_open(approval):
            return _cancelled(approval)
        case status:
            mark = "white_check_mark" if status in _GOES_ON else "warning"
            goes_on = status == "done" and approval.lasting
            ran = LASTING if goes_on else _RUNS.get(status, _RUNS["unknown"])
            ran = f"{ran}{_before(approval)}" if again is None else _since(approval, again, ran)
            return f":{mark}: {_yes(approval)} {ran}"


def _yes(approval: Approval) -> str:
    """Who let the call run; an interrupted one, by saying that it had not happened."""
    people = deciders(approval)
    by = f"{mentions(people)}{_at(approval.decided_at)}"
    if approval.unknown:
        return f"*It did not happen*, says {by}{OUTSIDE if _is_ruled(approval) else ''}."
    return f"*Approved*{_outside(approval)} by {by}.{_others(approval, people)}"


def _before(approval: Approval) -> str:
    """That an interrupted call may have happened, where its second run did not begin."""
    if approval.status != "void" or not approval.begun:
        return ""
    return " It was started before, and what came of that is not known."


def _since(approval: Approval, again: Again, ran: str) -> str:
    """What ran, and where people were asked about it once more; of a void one, also that not."""
    newer = again.newest
    if newer is None:
        return f"{ran}{_before(approval)}{NOT_AGAIN if approval.status == 'void' else ''}"
    asked = f"`{newer.reference}`, on a newer card"
    match approval.status:
        case "unknown" if newer.unknown:
            return f"{ran} That is asked as {asked}."
        case "void":
            why = ", which says what has changed" if newer.changes else ""
            return f"{NOT_ON_THIS}{_before(approval)} It was asked again as {asked}{why}."
        case "unknown":
            return f"{ran} It was asked again as {asked}."
        case "done" if not newer.unknown:
            return f"It ran, and asked again as {asked}."
        case _:
            return ran


def _not_run(approval: Approval) -> str:
    """The statement that the call did not run, unless nobody knows that."""
    if approval.unknown:
        return f"{NOT_KNOWN.capitalize()}, and it does not run again."
    if approval.begun:
        return "It had been started before this was asked, and does not run on."
    return "It did not run."


def deciders(approval: Approval) -> tuple[str, ...]:
    """Who made it what it is, in order; empty when the record names nobody.

    What an operator does is theirs alone, whoever said the same before.
    """
    by = (approval.decided_by,) if approval.decided_by else ()
    if _is_ruled(approval):
        return by
    rejected = approval.status == "rejected"
    return (against(approval) if rejected else agreed(approval, approval.payload)) or by


def _others(approval: Approval, named: Collection[str] = ()) -> str:
    """What others had said than those `named` as the ones who decided."""
    votes = [vote for vote in newest(approval.votes).values() if vote.person not in named]
    if approval.unknown:
        return ""
    yes = tuple(vote.person for vote in votes if vote.confirmed and vote.counts)
    no = tuple(vote.person for vote in votes if not vote.confirmed)
    told = ((yes, "approved"), (no, "rejected"))
    return "".join(f" {mentions(people)} had {word}." for people, word in told if people)


def _cancelled(approval: Approval) -> str:
    at = _at(approval.decided_at)
    if approval.why == "happened":
        return f":white_check_mark: *It happened*, says {_decider(approval)}{at}."
    if approval.why == "withdrawn":
        by = _decider(approval) if approval.decided_by else mention(approval.requester)
        return f"*Withdrawn* by {by}{at}.{_others(approval)} {_not_run(approval)}"
    why = _CANCELLED.get(approval.why, "it was cancelled.")
    ran = "" if approval.why == "superseded" else f" {_not_run(approval)}"
    return f"Closed: {why}{_others(approval)}{ran}"


def _decider(approval: Approval) -> str:
    return mention(approval.decided_by or "")


def _outside(approval: Approval) -> str:
    """That it was an operator who decided, whatever some of those who were asked had said."""
    return f"{OUTSIDE}, in place of those who were asked," if _is_ruled(approval) else ""


def _is_ruled(approval: Approval) -> bool:
    return (approval.decided_by or "").startswith(OPERATOR)


def _at(at: int | None) -> str:
    return f", {moment(at)}" if at else ""
