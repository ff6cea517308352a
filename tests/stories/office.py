"""An office to tell stories in: a local Slack, a bot, and the ledger of what was paid."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.playground import BOT, LocalSlack
from bot.playground.messages import full_text

Message = dict[str, Any]


@dataclass(frozen=True)
class Office:
    """What the tests do and look at; `where` is a channel's name, `who` a person's."""

    slack: LocalSlack
    ledger: Path

    async def ask(self, text: str, *, who: str = "ana", where: str = "expenses") -> str:
        """Mention the bot; returns the thread that this begins."""
        said = await self.slack.mention(who, where, text)
        assert [each.status for each in said.deliveries] == [200] * len(said.deliveries)
        return said.ts

    async def answer(self, thread: str, words: str = "", *, where: str = "expenses") -> Message:
        """The newest message of the bot with these words in a thread, once it is there."""
        return await self.slack.wait_for(lambda: self.heard(thread, words, where=where))

    def heard(self, thread: str, words: str = "", *, where: str = "expenses") -> Message | None:
        """The same, or None while it is not there."""
        return _newest(self.slack.thread(where, thread), words)

    async def card(self, words: str = "", *, where: str = "approvals") -> Message:
        """The newest open card with these words."""
        return await self.slack.wait_for(
            lambda: _newest([m for m in self.slack.messages(where) if buttons(m)], words)
        )

    async def closed(self, card: Message, words: str) -> Message:
        """The card once it has no buttons and says these words."""

        def look() -> Message | None:
            message = self.now(card)
            return message if words in full_text(message) and not buttons(message) else None

        return await self.slack.wait_for(look)

    def now(self, message: Message) -> Message:
        """A message as it stands there now."""
        channel = self.slack.workspace.channels[message["channel"]]
        return {**channel.message(message["ts"]), "channel": channel.id}

    async def note(self, who: str, words: str, *, where: str = "approvals") -> Message:
        """What only this person sees, with these words."""
        return await self.slack.wait_for(lambda: self.whispered(who, words, where=where))

    def whispered(self, who: str, words: str = "", *, where: str = "approvals") -> Message | None:
        """The same, or None while it is not there."""
        seen = self.slack.visible(who, where)
        return _newest([m for m in seen if m.get("is_ephemeral")], words)

    def paid(self) -> list[dict[str, Any]]:
        """The payments in the ledger, oldest first."""
        if not self.ledger.exists():
            return []
        return [json.loads(line) for line in self.ledger.read_text().splitlines()]

    def amounts(self) -> list[float]:
        """What was paid, oldest first."""
        return [payment["amount"] for payment in self.paid()]


def buttons(message: Mapping[str, Any]) -> list[str]:
    """The action ids of a message's buttons."""
    return [
        element["action_id"]
        for block in message.get("blocks", [])
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def _newest(messages: Sequence[Message], words: str) -> Message | None:
    for message in reversed(messages):
        if message["user"] == BOT.id and words in full_text(message):
            return message
    return None
