"""Says in the approvers' channel that the store was emptied, since nothing stored can say so."""

from datetime import UTC, datetime

from bot import logs
from bot.slack.blocks import answer
from bot.slack.endings import Posted, Refused
from bot.slack.replies import CLOCKS_APART, Replies, Seen
from bot.turns import Thread


async def tell(replies: Replies, channel: str, at: int) -> bool:
    """Post that this was noticed at a moment (ms); whether the message was posted."""
    noticed = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    (message,) = answer(
        f"This bot's memory was emptied, as was noticed on {noticed}. Earlier requests are"
        " forgotten: their cards no longer do anything, and whatever was approved but had not run"
        " will not run. Please ask again for anything that is still wanted."
    )
    name = f"emptied:{at}"
    thread = Thread(channel)
    result = await replies.find(thread, id=name, seen=Seen(at / 1000 - CLOCKS_APART))
    if result is None or (isinstance(result, Refused) and not result.of_app):
        result = await replies.post(thread, message, id=name)
    if isinstance(result, Posted):
        return True
    logs.warning("outbox.refused", post=name, code=type(result).__name__)
    return False
