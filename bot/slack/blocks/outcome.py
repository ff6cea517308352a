"""What became of a question, in words that claim no more than the store knows."""

from bot.approvals.request import Approval, agreed
from bot.approvals.terms import OPERATOR, Vote
from bot.slack.blocks.rendered import mention, mentions, moment

_RUNS = {
    "approved": "It is on its way.",
    "started": "It is running.",
    "done": "It is done.",
    "failed": "It ran and failed.",
    "unknown": "It was started, and whether it happened is not known.",
    "void": "It did not run: it was too late, or the call or its rules changed in the meantime.",
}
_CANCELLED = {
    "superseded": "Closed: the same was asked again, and the newer request counts.",
    "operator": "Closed: an operator cancelled it.",
    "nobody": "Closed: nobody may decide this here.",
    "run_cancelled": "Closed: the run that asked was cancelled.",
}


def outcome(approval: Approval) -> str:
    """One line of mrkdwn for a question that is not open any more."""
    if approval.unknown and approval.status in ("pending", "expired", "rejected", "cancelled"):
        return _looked(approval)
    match approval.status:
        case "pending" | "expired":
            when = _at(approval.deadline)
            return f":hourglass: *Expired*{when}. Nobody decided in time, so it did not run."
        case "rejected":
            by = f"{_decider(approval)}{_at(approval.decided_at)}"
            return f":x: *Rejected*{_outside(approval)} by {by}. It did not run."
        case "cancelled":
            return _cancelled(approval)
        case status:
            mark = "warning" if status in ("failed", "unknown", "void") else "white_check_mark"
            by = f"{mentions(approvers(approval))}{_at(approval.decided_at)}"
            return f":{mark}: *Approved*{_outside(approval)} by {by}. {_RUNS[status]}"


def _looked(approval: Approval) -> str:
    """What became of the question whether an interrupted call happened."""
    by = f"{_decider(approval)}{_at(approval.decided_at)}"
    if approval.why == "happened":
        return f":white_check_mark: *It happened*, says {by}. It did not run again."
    if approval.status == "rejected":
        return f":warning: *Left as it is* by {by}. Whether it happened is not known."
    return ":warning: *Nobody looked.* Whether it happened is not known; it did not run again."


def approvers(approval: Approval) -> tuple[str, ...]:
    """Who approved, in order; empty when the record names nobody."""
    people = agreed(approval, approval.payload)
    return people or ((approval.decided_by,) if approval.decided_by else ())


def counted(approval: Approval) -> tuple[str, ...]:
    """The people of the largest group that approved the same values."""
    groups = [agreed(approval, vote.payload) for vote in approval.votes if vote.confirmed]
    return max(groups, key=len, default=())


def rejection(approval: Approval) -> Vote | None:
    """The vote that rejected the call."""
    return next((vote for vote in reversed(approval.votes) if not vote.confirmed), None)


def _cancelled(approval: Approval) -> str:
    at = _at(approval.decided_at)
    if approval.why == "withdrawn":
        by = _decider(approval) if approval.decided_by else mention(approval.requester)
        return f"*Withdrawn* by {by}{at}. It did not run."
    return f"{_CANCELLED.get(approval.why, 'Closed: it was cancelled.')} It did not run."


def _decider(approval: Approval) -> str:
    return mention(approval.decided_by or "")


def _outside(approval: Approval) -> str:
    """That it was an operator who decided, and none of those who were asked."""
    ruled = (approval.decided_by or "").startswith(OPERATOR)
    return " from outside Slack, by none of those who were asked but" if ruled else ""


def _at(at: int | None) -> str:
    return f", {moment(at)}" if at else ""
