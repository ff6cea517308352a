"""What an agent says, as messages."""

from bot.slack.blocks.rendered import BLOCK_LIMIT, TEXT_LIMIT, Rendered, rich, said, section
from bot.slack.text import chunks, cut, escaped, sendable

MESSAGE_LIMIT = 3 * BLOCK_LIMIT
"""Characters of one message: Slack refuses some 12,000 of all its blocks together."""


def answer(text: str) -> list[Rendered]:
    """The whole text, word for word and inactive, in as many messages as it takes."""
    told = sendable(text)
    if not told.strip():
        return []
    return [_message(piece) for piece in chunks(told, MESSAGE_LIMIT) if piece.strip()]


def _message(text: str) -> Rendered:
    blocks = [rich(section(said(piece))) for piece in chunks(text, BLOCK_LIMIT)]
    return Rendered(escaped(cut(text, TEXT_LIMIT // 2)), blocks)
