"""What Slack shows of a session, and what its people heard of tickets. Pure."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from agents import Ticket
from agents.runtime.slot.wire import PLACES
from agents.runtime.story import USER, Call
from bot.slack import blocks
from tests.faults.case import FINAL, Case, Found
from tests.faults.claims import true_of
from tests.faults.past import PAST

CLOSED = (*FINAL, "unknown")
OFTEN = 4
"""How many times as often a card may be changed, for changes fail and their answers get lost."""
LIVE = ("approve", "reject", "form", "happened", "withdraw")


def posts_are_there(case: Case) -> Found:
    """Every post is there once, in order."""
    _, channel, ts = case.tag.split(":")[0], *_thread(case.tag)
    mine = [m for m in case.evidence.shown if (m.channel, m.thread) == (channel, ts)]
    counts = Counter(message.post for message in mine if message.post)
    for post, count in counts.items():
        if count > 1:
            yield 19, f"{post} was posted {count} times"
    if case.view.posts:
        yield 19, f"{[post.id for post in case.view.posts]} are still owed"
    said = [f"o:{event.version}:0" for event in case.view.events if _speaks(event)]
    missing = [post for post in said if post not in counts]
    if missing and not case.evidence.restless:
        yield 19, f"{missing} never came to the thread"
    order = [message.post for message in mine if message.post.startswith("o:")]
    if order != sorted(order, key=lambda post: int(post.split(":")[1])):
        yield 19, f"the thread has them as {order}"


def cards_tell_the_truth(case: Case) -> Found:
    """An open request has buttons, a closed one says how it ended and has none anywhere.

    Where Slack does not say who reads a channel, its card shows what it is about only on demand.
    """
    for record in case.view.approvals.values():
        cards = case.cards(record)
        unseen = record.body["why"] == "withdrawn"  # taken back before anybody was asked
        if (
            record.body["copies"]
            and not cards
            and not unseen
            and not _passed(case, over=record.status in FINAL)
        ):
            yield 19, f"{record.id} has no card"
        for card in cards:
            hides = card.channel in str(record.body["hidden"]) and "show" in card.buttons
            if record.status == "pending" and "approve" not in card.buttons and not hides:
                yield 19, f"{record.id} is pending and its card has {card.buttons}: {card.text}"
        line = case.view.places.get(str(record.body["notice"]))
        lines = [m for m in case.evidence.shown if f"{m.channel}|{m.ts}" == line]
        for message in (*cards, *lines) if record.status in CLOSED else ():
            yield from true_of(case, record, message)
        about = f"{case.tag}|{record.id}"
        for message in case.evidence.shown if record.status != "pending" else ():
            alive = [button for button in message.buttons if button in LIVE]
            if about in message.about and alive:
                yield 19, f"{record.id} is {record.status}, and {message.ts} still has {alive}"


def cards_show_the_call(case: Case) -> Found:
    """Each card shows the arguments that are stored, wherever it names them."""
    for record in case.view.approvals.values():
        args: Any = record.body["args"]
        for card in case.cards(record):
            told = {
                name: re.findall(rf"\b{name}:\s*(\w+)", card.text, re.IGNORECASE) for name in args
            }
            hides = card.channel in str(record.body["hidden"]) and "show" in card.buttons
            if any({*told[name]} != {str(args[name])} for name in args) and not hides:
                yield 5, f"{record.id} is about {args}, and its card reads: {card.text}"


def cards_change_seldom(case: Case) -> Found:
    """A card is changed when its question is, or when somebody presses on what is over."""
    places = Counter(call.about for call in case.evidence.calls if call.method == "chat.update")
    for record in case.view.approvals.values():
        pressed = [c for c in case.evidence.clicks if c.approval == record.id]
        for card in case.cards(record):
            count = places[f"{card.channel}|{card.ts}"]
            if count > OFTEN * (record.rev + len(pressed) + 1):
                yield 19, f"{record.id} is changed {count} times, and pressed {len(pressed)} times"


def tickets_are_told(case: Case) -> Found:
    """News of a ticket is heard once, in order, up to its end; its line shows how it stands."""
    for call in case.story.calls.values():
        named = [
            found
            for answer in call.responses
            if not answer.placeholder
            and (found := Ticket.from_response(answer.response.response or {}))
        ]
        if not call.long_running or not named:
            continue
        moves = case.evidence.moves.get(named[0].id)
        if moves is None:
            yield 16, f"{call.name} {call.id} waits for {named[0].id}, which nobody knows"
            continue
        yield from _heard(call, [ticket.mark for ticket in named], moves)
        if call.id in case.story.open and not case.evidence.restless:
            yield 16, f"{call.name} {call.id} still waits for {named[0].id}"
        lines = [m for m in case.evidence.shown if _line_of(case, call, f"{m.channel}|{m.ts}")]
        last = blocks.ticket(named[-1]).text
        if not lines and _passed(case, over=call.id not in case.story.open):
            continue
        if len(lines) != 1 or last not in lines[0].text:
            yield 19, f"{named[0].id} is shown as {[m.text for m in lines]}, and it is {last!r}"


def _heard(call: Call, marks: list[str], moves: Any) -> Found:
    """Whether what was heard is a part of what happened: nothing twice, nothing before another."""
    known = [ticket.mark for ticket in moves]
    for before, mark in pairwise(marks):
        if before == mark:
            yield 4, f"{call.name} {call.id} heard the same news twice"
    rest = iter(known)
    if not all(mark in rest for mark in marks):
        yield 17, f"{call.name} {call.id} heard {marks}, and there was {known}"
    if marks[-1] != known[-1]:
        yield 16, f"{call.name} {call.id} never heard the end of {moves[0].id}"


def _passed(case: Case, *, over: bool) -> bool:
    """Whether the place of what is over may be forgotten, for all that was posted since."""
    return over and len(case.view.places) >= PLACES


def _line_of(case: Case, call: Call, place: str) -> bool:
    return case.view.places.get(f"ticket:{call.id}") == place


def _speaks(event: Any) -> bool:
    ours = event.author != USER and event.branch is None
    past = event.invocation_id.startswith(PAST)
    return ours and not past and bool("".join(event.texts()).strip())


def _thread(tag: str) -> tuple[str, str]:
    channel, _, ts = tag.rpartition(":")[2].replace("%3A", ":").partition(":")
    return channel, ts


OF_SURFACE: tuple[Callable[[Case], Found], ...] = (
    posts_are_there,
    cards_tell_the_truth,
    cards_show_the_call,
    cards_change_seldom,
    tickets_are_told,
)
