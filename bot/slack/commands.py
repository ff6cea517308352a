"""What `/approvals` answers, to whoever typed it alone."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bot.approvals.board import Board, Inbox, waits_for
from bot.approvals.button import decode, encode
from bot.approvals.request import Approval
from bot.slack.actions import WITHDRAW
from bot.slack.blocks.lists import alone, inbox_message
from bot.slack.blocks.rendered import Block
from bot.slack.groups import Groups
from bot.slack.payloads import Click, SlashCommand

COMMAND = "/approvals"
USAGE = (
    "Type `/approvals` for a list, and with the code before a request there `/approvals show CODE`"
    " or `/approvals withdraw CODE`."
)
MORE = " on my Home tab"


class Commands:
    """Lists, shows and withdraws approvals for people."""

    def __init__(
        self,
        *,
        board: Board,
        inbox: Callable[[str], Awaitable[Inbox]],
        groups: Groups,
        withdraw: Callable[[Click], Awaitable[str]],
    ) -> None:
        """Keep the parts; `withdraw` withdraws what a click is about and says what came of it.

        `inbox` says what concerns a person.
        """
        self._board = board
        self._inbox = inbox
        self._groups = groups
        self._withdrawn = withdraw

    async def answer(self, command: SlashCommand) -> Mapping[str, Any]:
        """The answer to a command. Raises StoreUnavailable."""
        verb, _, rest = command.text.strip().partition(" ")
        match verb.lower():
            case "" | "list":
                inbox = await self._inbox(command.by.id)
                return _told("Your approvals", inbox_message(inbox, where=MORE))
            case "show":
                return await self._show(rest, command.by.id)
            case "withdraw":
                return await self._withdraw(command, rest)
            case _:
                return _told(USAGE)

    async def _show(self, word: str, person: str) -> Mapping[str, Any]:
        approval, names = await self._known(word, person)
        if approval is None:
            return _told(_missing(word))
        waits, own = waits_for(approval, person, names), person in approval.askers
        return _told("An approval", alone(approval, waits=waits, own=own))

    async def _known(self, word: str, person: str) -> tuple[Approval | None, frozenset[str]]:
        """The approval that somebody means, if it is theirs to see, and what they stand for."""
        approval = await self._board.find(word)
        if approval is None:
            return None, frozenset()
        held = await self._groups.standing(person, approval.policy.groups)
        names = frozenset(held or ())
        theirs = person in approval.askers or approval.policy.entitles(person, names)
        return (approval if theirs else None), names

    async def _withdraw(self, command: SlashCommand, word: str) -> Mapping[str, Any]:
        approval, _ = await self._known(word, command.by.id)
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


def _missing(word: str) -> str:
    """A sentence about a reference that leads nowhere; it does not repeat the reference."""
    return USAGE if not word.strip() else "There is no such approval for you here."


def _told(text: str, blocks: list[Block] | None = None) -> Mapping[str, Any]:
    shown = {"blocks": blocks} if blocks else {}
    return {"response_type": "ephemeral", "text": text, **shown}
