"""What those said who voted: why they are against it, and the values that they entered."""

from pydantic import JsonValue

from bot.approvals.request import Approval, against, differ
from bot.approvals.terms import newest
from bot.slack.blocks.arguments import titled
from bot.slack.blocks.entered import Entry, entered
from bot.slack.blocks.inputs import fields, label
from bot.slack.blocks.rendered import Block, paragraph, rich, said, section, small, user
from bot.slack.text import cut, visible

REASON_LIMIT = 1_000
VOTES_LIMIT = 5
"""People of whom it is told one by one what they said."""
DIFFER = "These values differ. Only those who enter the same agree with each other."


def so_far(approval: Approval) -> list[Block]:
    """What was said while a question is open, for whoever decides next."""
    if approval.payload_schema is None:
        return reasons(approval)
    agreed = [vote for vote in newest(approval.votes).values() if vote.confirmed]
    values = [
        block
        for vote in agreed[-VOTES_LIMIT:]
        for block in filled(approval, vote.payload, by=vote.person)
    ]
    return [*reasons(approval), *values, *([small(before=DIFFER)] if differ(approval) else [])]


def reasons(approval: Approval) -> list[Block]:
    """Why people are against it, in their own words; with a name, unless the outcome has it."""
    votes = newest(approval.votes).values()
    told = [(vote.person, vote.reason) for vote in votes if not vote.confirmed and vote.reason]
    alone = approval.status == "rejected" and len(against(approval)) == 1
    return [
        paragraph(cut(f"Reason: {visible(reason)[0]}", REASON_LIMIT))
        if alone
        else rich(
            section(user(person), said(cut(f" is against it: {visible(reason)[0]}", REASON_LIMIT)))
        )
        for person, reason in told[-VOTES_LIMIT:]
    ]


def filled(
    approval: Approval, payload: dict[str, JsonValue] | None, *, by: str = ""
) -> list[Block]:
    """What was filled in, in the order in which it was asked for."""
    left = dict(payload or {})
    told: list[Entry] = [
        (label(field), field.schema, left.pop(field.name))
        for field in fields(approval)
        if field.name in left
    ]
    told += [(visible(titled(cut(name, 150)))[0], {}, value) for name, value in left.items()]
    return [entered(told, by=by)] if told else []
