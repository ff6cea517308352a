"""The line about a ticket that a call waits for, as it stands now."""

from agents import Ticket
from bot.slack.blocks.rendered import BLOCK_LIMIT, Block, Rendered, plain
from bot.slack.text import cut, escaped, visible

_STATUS = {
    "open": "open",
    "in_progress": "in progress",
    "resolved": "resolved",
    "rejected": "rejected",
    "deleted": "deleted",
    "timeout": "no news in time, so nobody waits for it any more",
}


def ticket(standing: Ticket) -> Rendered:
    """The line in the requester's thread."""
    progress = f", {standing.progress} %" if standing.progress is not None else ""
    name, note = (visible(each)[0] for each in (standing.id, standing.note))
    note = note and f" “{note}”"
    line = cut(f"Ticket {name}: {_STATUS[standing.status]}{progress}.{note}", BLOCK_LIMIT)
    block: Block = {"type": "context", "elements": [plain(line)]}
    return Rendered(escaped(line), [block])
