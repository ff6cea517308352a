"""What people ask to see: their Home, and what `/approvals` answers."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot import logs
from bot.approvals.board import Board, Inbox, groups, inbox
from bot.approvals.button import decode, encode
from bot.slack.actions import SHOW, WITHDRAW
from bot.slack.blocks.lists import home_view, inbox_blocks, item
from bot.slack.blocks.rendered import Block, actions, button
from bot.slack.groups import Groups
from bot.slack.payloads import Click, Command
from bot.slack.replies import Posted, Replies

COMMAND = "/approvals"
USAGE = "Type `/approvals`, `/approvals show NUMBER` or `/approvals withdraw NUMBER`."
KNOWN = 1_000
"""People whose Home is kept up to date by this process."""


class Home:
    """Shows each person the approvals that concern them."""

    def __init__(
        self,
        *,
        board: Board,
        groups: Groups,
        replies: Replies,
        withdraw: Callable[[Click], Awaitable[str]],
    ) -> None:
        """Keep the parts; `withdraw` withdraws what a click is about and says what came of it."""
        self._board = board
        self._groups = groups
        self._replies = replies
        self._withdrawn = withdraw
        self._opened: dict[str, None] = {}

    async def opened(self, person: str) -> None:
        """Show somebody who opened their Home what is in it."""
        self._opened = dict(list({**self._opened, person: None}.items())[-KNOWN:])
        result = await self._replies.publish(person, home_view(await self._inbox(person)))
        if not isinstance(result, Posted):
            logs.warning("outbox.refused", post="home", code=type(result).__name__)

    async def changed(self, person: str) -> None:
        """Somebody has done something: their Home says so, if they ever looked at it."""
        if person in self._opened:
            await self.opened(person)

    async def answer(self, command: Command) -> Mapping[str, Any]:
        """The answer to `/approvals`, for whoever typed it alone."""
        verb, _, rest = command.text.strip().partition(" ")
        match verb.lower():
            case "" | "list":
                blocks = inbox_blocks(await self._inbox(command.by.id), each=5)
                return _told("Your approvals", blocks)
            case "show":
                return await self._show(rest, command.by.id)
            case "withdraw":
                return await self._withdraw(command, rest)
            case _:
                return _told(USAGE)

    async def _show(self, word: str, person: str) -> Mapping[str, Any]:
        approval = await self._board.find(word)
        own = approval and approval.requester == person
        names = await self._groups.standing(person, approval.policy.groups) if approval else None
        if approval is None or not (own or approval.policy.entitles(person, names or ())):
            return _told(_missing(word))
        show = button("Show everything", action=SHOW, value=encode(approval))
        return _told("An approval", [*item(approval), actions(show, block_id="show")])

    async def _withdraw(self, command: Command, word: str) -> Mapping[str, Any]:
        approval = await self._board.find(word)
        if approval is None:
            return _told(_missing(word))
        value = encode(approval)
        said = await self._withdrawn(
            Click(
                action=WITHDRAW,
                button=decode(value),
                value=value,
                by=command.by,
                place=command.place,
                trigger="",
            )
        )
        return _told(said)

    async def _inbox(self, person: str) -> Inbox:
        approvals, now = await self._board.approvals()
        names = await self._groups.standing(person, groups(approvals))
        return inbox(approvals, person, names=names or (), now=now)


def _missing(word: str) -> str:
    """A sentence about a reference that leads nowhere; the word itself is not repeated."""
    return USAGE if not word.strip() else "There is no such approval for you here."


def _told(text: str, blocks: list[Block] | None = None) -> Mapping[str, Any]:
    shown = {"blocks": blocks} if blocks else {}
    return {"response_type": "ephemeral", "text": text, **shown}
