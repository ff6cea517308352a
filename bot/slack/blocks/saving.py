"""What is shown of a decision that only one server has yet."""

from dataclasses import replace

from bot.slack.blocks.rendered import Rendered, small

SAVING = (
    ":hourglass_flowing_sand: *Decided, and being saved* on a second server. If this does not"
    " change, please press again."
)


def saving(asked: Rendered) -> Rendered:
    """The question as it was, with its buttons: the decision may be lost with its server."""
    text, blocks = f"Being saved. {asked.text}", [*asked.blocks, small(SAVING)]
    return replace(asked, text=text, blocks=blocks)
