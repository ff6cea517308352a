"""What an operator does at a console: look at approvals, decide as an operator, keep the audit."""

import argparse
import asyncio
import contextlib
import json
import os
import pwd
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from agents import SessionKey, Slot
from bot import lines
from bot.approvals import anchor as anchors
from bot.approvals.board import Board
from bot.approvals.request import Approval, leading
from bot.approvals.ruling import Ruling, acts, disclosed, rule
from bot.approvals.verify import main as verified
from bot.approvals.wording import demands
from bot.graves import GO_ON, Grave, graves
from bot.index import Index
from bot.secrets import MASK, covered
from bot.settings import Settings
from bot.slack.blocks.arguments import arguments, depends_on, in_one_line
from bot.slack.blocks.concealed import HIDDEN, concealed, difference
from bot.slack.blocks.takes import once_more
from bot.slack.text import visible
from bot.turns import Saved

NOT_FOUND = 1
INTERRUPTED = "interrupted: decide happened, run or leave"
SAVING = "It is saved here, but not yet on the other servers: look again before you rely on it."
EVENTS_SHOWN = 20
LISTED = 80
"""Characters of a call's arguments in a list."""
PATIENCE = 3.0
"""Seconds after which somebody at a console is told what is waited for."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What commands work with."""

    settings: Settings
    slot: Slot
    index: Index
    saved: Saved

    @property
    def board(self) -> Board:
        """The approvals of all sessions."""
        lists = self.index.lists
        return Board(self.slot, recent=lists.recent, concerning=lists.concerning)


Opened = Callable[[Settings], AbstractAsyncContextManager[tuple[Slot, Index, Saved]]]
Work = Callable[[Desk, argparse.Namespace], Awaitable[int]]


def add(commands: Any, *, opened: Opened) -> None:
    """Add `approvals`, `dead` and `audit` to the commands; `opened` opens a store."""
    _approvals(commands, opened)
    _turns(commands, opened)
    _audit(commands, opened)


def _approvals(commands: Any, opened: Opened) -> None:
    acts = _acts(commands, "approvals", "look at approvals, and decide as an operator")
    act = partial(_act, acts, opened=opened)
    act("list", listed, text="the newest approvals")
    act("show", shown, text="one approval, whole").add_argument("number")
    told = "approve or reject; of an interrupted call, say what became of it; as an operator's act"
    deciding = act("decide", decided, text=told)
    deciding.add_argument("number")
    deciding.add_argument("act", choices=("approve", "reject", "happened", "run", "leave"))
    deciding.add_argument("--reason")
    deciding.add_argument("--set", action="append", default=[], type=_field, metavar="FIELD=VALUE")
    act("cancel", cancelled, text="close one without an answer").add_argument("number")


def _turns(commands: Any, opened: Opened) -> None:
    acts = _acts(commands, "dead", "look at turns that were given up, and try them again")
    act = partial(_act, acts, opened=opened)
    act("list", buried, text="the sessions in which a turn was given up")
    told = "what was stored last in one, and what may be tried again"
    act("show", grave, text=told).add_argument("session")
    trying = act("retry", raised, text="try a message again that was given up")
    trying.add_argument("session")
    trying.add_argument("message", nargs="?", type=int, help="its number, where there are several")


def _audit(commands: Any, opened: Opened) -> None:
    acts = _acts(commands, "audit", "export, verify and show the record of approvals")
    act = partial(_act, acts, opened=opened)
    act("export", exported, text="every entry and anchor as JSON Lines")
    act("show", told_of, text="the record of one approval's session").add_argument("number")
    verifying = acts.add_parser("verify", help="check an export", description="check an export")
    verifying.add_argument("arguments", nargs="+", metavar="FILE|ROOT")
    verifying.set_defaults(run=_verify)


def _acts(commands: Any, name: str, text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=text)
    return parser.add_subparsers(title="acts", metavar="ACT", dest="act_", required=True)


def _act(acts: Any, name: str, work: Work, *, text: str, opened: Opened) -> argparse.ArgumentParser:
    parser = acts.add_parser(name, help=text, description=text)

    async def run(given: argparse.Namespace) -> int:
        settings = Settings.read()
        lines.set_up("ERROR")
        async with contextlib.AsyncExitStack() as stack:
            with patience():
                parts = await stack.enter_async_context(opened(settings))
            return await work(Desk(settings, *parts), given)

    parser.set_defaults(run=run)
    return parser


@contextlib.contextmanager
def patience() -> Generator[None]:
    """Tell whoever waits long that the store and Slack, which knows our workspace, are asked."""
    told = partial(print, "Still waiting for the store and Slack ...", file=sys.stderr, flush=True)
    waiting = asyncio.get_running_loop().call_later(PATIENCE, told)
    try:
        yield
    finally:
        waiting.cancel()


def _operator() -> str:
    """Who is at the console, as the machine knows them; the environment could say anything."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def _print(text: str) -> None:
    """Print what people and models wrote, without anything that a terminal obeys or hides.

    Such a character is spelled as in JSON, so that JSON stays what it is.
    """
    print(visible(text, spelled=lambda char: json.dumps(char)[1:-1])[0])


def _none(found: Sequence[object]) -> None:
    """Say on stderr that a list is empty, where no script reads it as an entry."""
    if not found:
        print("There is none.", file=sys.stderr)


async def listed(desk: Desk, _given: argparse.Namespace) -> int:
    """One line for each of the approvals that are open, and of the newest others."""
    found = await desk.board.approvals()
    _none(found)
    for each in found:
        call = f"{each.agent}.{each.tool}({in_one_line(arguments(each), LISTED)})"
        asked = f"asked by {each.requester} {_moment(each.asked_at / 1000)}"
        told = f"{each.reference} {each.status:9} {call}, {asked}"
        _print(f"{told}, {_waits(each) if each.status == 'pending' else _ended(each)}")
    return 0


def _ended(approval: Approval) -> str:
    """By whom an approval was decided, and when it was over."""
    at = _moment((approval.decided_at or approval.asked_at) / 1000)
    return f"decided by {approval.decided_by} {at}" if approval.decided_by else f"over {at}"


def _waits(approval: Approval) -> str:
    """For whom an open approval waits, for how many of them, and until when."""
    told = f"waits for {', '.join(approval.policy.approvers)}"
    if needed := demands(approval.policy, list):
        told += f" ({needed})"
    if again := once_more(approval):
        told += f"; so far {', '.join(vote.person for vote in leading(approval))}, {again}"
    if approval.deadline:
        told += f", until {_moment(approval.deadline / 1000)}"
    return f"{told}, {INTERRUPTED}" if approval.unknown else told


async def shown(desk: Desk, given: argparse.Namespace) -> int:
    """One approval as JSON, without what is secret but with what may be decided about it."""
    approval = await _found(desk, given)
    if approval is None:
        return NOT_FOUND
    told = approval.model_dump(mode="json", exclude={"nonce"})
    told["args"] |= dict.fromkeys(approval.secrets, HIDDEN)
    told["precondition"] = {each.name: each.value for each in depends_on(approval)}
    told["hint"] = concealed(approval, approval.hint)
    told["changes"] = [difference(approval, change) for change in approval.changes]
    told["payload"] = disclosed(approval, approval.payload)
    for said, vote in zip(told["votes"], approval.votes, strict=True):
        said["payload"] = disclosed(approval, vote.payload)
    told["decide"] = list(acts(approval))
    safe = {name: covered(each, by=MASK) for name, each in told.items()}
    _print(json.dumps(safe, indent=2, ensure_ascii=False))
    return 0


async def decided(desk: Desk, given: argparse.Namespace) -> int:
    """Approve or reject as an operator, or say what became of an interrupted call."""
    values = dict(given.set)
    if len(values) < len(given.set):
        print("Nothing was decided: a field was given twice.")
        return NOT_FOUND
    ruling = Ruling(act=given.act, by=_operator(), reason=given.reason, values=values)
    return await _ruled(desk, given, ruling)


def _field(pair: str) -> tuple[str, str]:
    """A field's name and its value, as somebody typed them."""
    name, given, value = pair.partition("=")
    if not (name and given):
        raise argparse.ArgumentTypeError(f"{pair!r} is not FIELD=VALUE")
    return name, value


async def cancelled(desk: Desk, given: argparse.Namespace) -> int:
    """Close an approval without an answer."""
    return await _ruled(desk, given, Ruling(act="cancel", by=_operator()))


async def exported(desk: Desk, _given: argparse.Namespace) -> int:
    """Every entry of every session, then the anchors."""
    sessions, made = await desk.index.lists.audited(), await desk.index.lists.anchors()
    async for line in anchors.exported(desk.slot, sessions):
        print(line)
    for anchor in made:
        print(anchor)
    _none([*sessions, *made])
    return 0


async def told_of(desk: Desk, given: argparse.Namespace) -> int:
    """The record of one approval, a line for each entry."""
    approval = await _found(desk, given)
    if approval is None:
        return NOT_FOUND
    view = await desk.slot.read(SessionKey.parse(approval.session), parts=("audit",))
    for entry, digest in view.audit if view else ():
        if entry.get("approval") == approval.id:
            _print(f"{digest[:8]} {json.dumps(entry, sort_keys=True, ensure_ascii=False)}")
    return 0


async def buried(desk: Desk, _given: argparse.Namespace) -> int:
    """One line for each session in which a turn was given up and stands so, oldest first."""
    found = await desk.index.dead()
    standing = [(key, at) for key, at in found if await _standing(desk, key) is not None]
    _none(standing)
    for key, at in standing:
        print(f"{_moment(at / 1000)} {key}")
    return 0


async def grave(desk: Desk, given: argparse.Namespace) -> int:
    """The newest events of a session and its given-up messages, without what people wrote."""
    key = await _dead(desk, given)
    view = await desk.slot.read(key, parts=("events",), window=EVENTS_SHOWN) if key else None
    for event in view.events if view else ():
        calls = [call.name for call in event.get_function_calls()]
        answers = [f"-> {each.name}" for each in event.get_function_responses()]
        told = " ".join(map(str, [*calls, *answers, event.error_code or ""])).strip()
        print(f"{event.version:5} {event.author} {told}".rstrip())
    for each in await _standing(desk, key) or () if key else ():
        person = each.person or "somebody unknown"
        print(f"Given up: message {each.message} of {person}, {_moment(each.said_at)}")
    return 0 if view else NOT_FOUND


async def raised(desk: Desk, given: argparse.Namespace) -> int:
    """Put a message that was given up into its session once more."""
    key = await _dead(desk, given)
    if key is None:
        return NOT_FOUND
    found = await _standing(desk, key)
    chosen = [each for each in found or () if given.message in (None, each.message)]
    if len(chosen) != 1 or not chosen[0].parts:
        print(_none_chosen(found, chosen))
        return NOT_FOUND
    [again] = chosen
    over = desk.index.raised(key) if found == chosen else ()
    await desk.slot.ingest(key, again.entry(), index=(*desk.index.ring(key), *over))
    begun = f"Something was called for it already: the agent is told {GO_ON!r}"
    print(begun if again.goes_on else "It is tried again.")
    return 0


def _none_chosen(found: Sequence[Grave] | None, chosen: Sequence[Grave]) -> str:
    if found is None:
        return "Somebody wrote there later, and that was not given up: it is off the list."
    if not found or (len(chosen) == 1 and not chosen[0].parts):
        return "Nobody has said anything there that could be tried again."
    numbers = ", ".join(str(each.message) for each in found)
    return f"{'Several messages were' if chosen else 'No such message was'} given up: {numbers}."


async def _standing(desk: Desk, key: SessionKey) -> Sequence[Grave] | None:
    """What may be tried again in a listed session; None, and off the list, once nothing may."""
    view = await desk.slot.read(key, parts=("events",))
    events = view.events if view else ()
    found = graves(events)
    over = view is None or (not found and any(event.given_up for event in events))
    await desk.index.send(desk.index.raised(key) if over else ())
    return None if over else found


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


async def _dead(desk: Desk, given: argparse.Namespace) -> SessionKey | None:
    found = [key for key, _ in await desk.index.dead() if str(key) == given.session]
    if not found:
        told = "No turn was given up there; `dead list` names the sessions."
        print(told, file=sys.stderr)
    return found[0] if found else None


async def _verify(given: argparse.Namespace) -> int:
    """Check files, against roots that were noted elsewhere."""
    missing = [a for a in given.arguments if len(a) != 64 and not Path(a).is_file()]  # noqa: ASYNC240
    if missing:
        print(f"There is no file {missing[0]}.")
        return NOT_FOUND
    return verified(given.arguments)


async def _ruled(desk: Desk, given: argparse.Namespace, ruling: Ruling) -> int:
    approval = await _found(desk, given)
    if approval is None:
        return NOT_FOUND
    key = SessionKey.parse(approval.session)
    came = await rule(
        desk.slot,
        approval,
        ruling,
        run_for=desk.settings.execution_ttl,
        index=desk.index.ring(key),
    )
    _print(came.sentence)
    if came.kind in ("ruled", "already") and not await desk.saved(key, came.record):
        print(SAVING)
        return NOT_FOUND
    return 0 if came.kind == "ruled" else NOT_FOUND


async def _found(desk: Desk, given: argparse.Namespace) -> Approval | None:
    approval = await desk.board.find(given.number)
    if approval is None:
        told = "There is no such approval; `approvals list` names the newest ones."
        print(told, file=sys.stderr)
    return approval
