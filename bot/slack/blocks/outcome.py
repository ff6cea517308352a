"""What became of a question, in words that claim no more than the store knows."""

from bot.approvals.request import Again, Approval, against, agreed, left_open
from bot.approvals.terms import OPERATOR
from bot.slack.blocks.rendered import mention, mentions, moment

_RUNS = {
    "approved": "It is on its way.",
    "started": "It is running.",
    "done": "It is done.",
    "failed": "It ran and failed.",
    "unknown": "It was started, and whether it happened is not known.",
    "void": "It was not run on this approval: it was too late, or the call or its rules changed in"
    " the meantime.",
}
NOT_AGAIN = " It was not asked again."
LASTING = "It has been started; what comes of it is told in the conversation."
_GOES_ON = ("approved", "started", "done")
_CANCELLED = {
    "superseded": "the same was asked again, and the newer request counts.",
    "operator": "an operator cancelled it.",
    "nobody": "nobody may decide this here.",
    "run_cancelled": "the run that asked was cancelled.",
}
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
            return f":hourglass: *Expired*{when}. Nobody decided in time. {_not_run(approval)}"
        case "rejected":
            said = ":warning: *Left as it is*" if approval.unknown else ":x: *Rejected*"
            people = mentions(against(approval)) if approval.votes else _decider(approval)
            by = f"{people}{_at(approval.decided_at)}"
            return f"{said}{_outside(approval)} by {by}. {_not_run(approval)}"
        case "cancelled" if not left_open(approval):
            return _cancelled(approval)
        case status:
            mark = "white_check_mark" if status in _GOES_ON else "warning"
            goes_on = status == "done" and approval.lasting
            ran = LASTING if goes_on else _RUNS.get(status, _RUNS["unknown"])
            ran = f"{ran}{_before(approval)}" if again is None else _since(approval, again, ran)
            return f":{mark}: {_yes(approval)} {ran}"


def _yes(approval: Approval) -> str:
    """Who let it run; of an interrupted call, by saying that it had not happened."""
    by = f"{mentions(approvers(approval))}{_at(approval.decided_at)}"
    if approval.unknown:
        return f"*It did not happen*, says {by}{_outside(approval) and ' from outside Slack'}."
    return f"*Approved*{_outside(approval)} by {by}."


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
        case "void" | "unknown":
            return f"{ran}{_before(approval)} It was asked again as {asked}."
        case "done" if not newer.unknown:
            return f"It ran, and asked again as {asked}."
        case _:
            return ran


def _not_run(approval: Approval) -> str:
    """That a call did not run because of this; what nobody knows is not denied."""
    if approval.unknown:
        return f"{NOT_KNOWN.capitalize()}, and it does not run again."
    if approval.begun:
        return "It had been started before this was asked, and does not run on."
    return "It did not run."


def approvers(approval: Approval) -> tuple[str, ...]:
    """Who approved, in order; empty when the record names nobody."""
    people = agreed(approval, approval.payload)
    return people or ((approval.decided_by,) if approval.decided_by else ())


def _cancelled(approval: Approval) -> str:
    at = _at(approval.decided_at)
    if approval.why == "happened":
        return f":white_check_mark: *It happened*, says {_decider(approval)}{at}."
    if approval.why == "withdrawn":
        by = _decider(approval) if approval.decided_by else mention(approval.requester)
        return f"*Withdrawn* by {by}{at}. {_not_run(approval)}"
    why = _CANCELLED.get(approval.why, "it was cancelled.")
    ran = "" if approval.why == "superseded" else f" {_not_run(approval)}"
    return f"Closed: {why}{ran}"


def _decider(approval: Approval) -> str:
    return mention(approval.decided_by or "")


def _outside(approval: Approval) -> str:
    """That it was an operator who decided, and none of those who were asked."""
    ruled = (approval.decided_by or "").startswith(OPERATOR)
    return " from outside Slack, by none of those who were asked but" if ruled else ""


def _at(at: int | None) -> str:
    return f", {moment(at)}" if at else ""
