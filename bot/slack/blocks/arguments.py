"""What people decide about: cut to the room on a card, and whole, in pages.

Both are made of the same parts, so that nothing a card tells is missing where all can be read. The
name of each argument is bold and its value is not, or stands in a box of its own: no text inside a
value can pass for another argument.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from bot.approvals.request import Approval
from bot.secrets import MASK
from bot.slack.blocks.concealed import HIDDEN, concealed, difference
from bot.slack.blocks.rendered import (
    Block,
    named,
    paragraph,
    preformatted,
    rich,
    said,
    section,
    small,
    trusted,
    user,
)
from bot.slack.blocks.values import Argument, argument, arranged, in_one_line
from bot.slack.text import chunks, cut, titled, visible

VALUE_LIMIT = 600
ALL_LIMIT = 3_500
COUNT_LIMIT = 40
NAME_LIMIT = 100

UNKNOWN = (
    ":warning: *This was started and interrupted.* It may have happened. Please check, and say what"
    " you found: it does not run again by itself."
)
CHANGED = "This was approved before, and is asked again because:"
CONDITIONS = "It depends on this, which is checked again right before it runs:"
DECEIVING = (
    "Some characters here are invisible or imitate others. They are spelled out, such as \\u{202E}."
)
MASKED = f"What looks like a password or a key is shown as {MASK}. It runs with the real one."
HINT_LIMIT = 1_000
CHANGES_LIMIT = 1_500
CONDITIONS_LIMIT = 1_500
PAGE = 18_000
"""Characters of one page: a view may have 250 kB, and one character may take twelve bytes."""
PIECE = 2_500
PARTS = 40
"""Parts of one block, and blocks of one page."""


def listed(shown: Sequence[Argument], *, room: int = ALL_LIMIT) -> list[Block]:
    """The arguments as blocks, as much of them as there is room for."""
    if not shown:
        return [rich(section(said("It takes no arguments.")))]
    kept = _cut(shown, room=room)
    found = [part for each, pair in zip(shown, kept, strict=False) for part in _parts(each, *pair)]
    if more := len(shown) - len(kept):
        found.append(section(said(f"… and {more:,} more arguments", bold=True)))
    return [rich(*found)]


def all_fit(shown: Sequence[Argument], *, room: int = ALL_LIMIT) -> bool:
    """Whether all of the arguments would be `listed`."""
    return [(each.name, each.value) for each in shown] == _cut(shown, room=room)


def _cut(shown: Sequence[Argument], *, room: int) -> list[tuple[str, str]]:
    """As much of each name and value as there is room for, as long as there is room for any."""
    kept: list[tuple[str, str]] = []
    for each in shown[:COUNT_LIMIT]:
        if room < NAME_LIMIT:
            break
        name = cut(each.name, NAME_LIMIT)
        value = cut(each.value, min(VALUE_LIMIT, room))
        room -= len(value) + len(name)
        kept.append((name, value))
    return kept


def _parts(each: Argument, name: str, value: str) -> list[Block]:
    """The parts of a block that show as much of an argument's name and value as given."""
    title = replace(each, name=name).title
    return named(title, value, boxed=each.long, instead=each.instead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All of a call that people decide about, made safe to read; nothing is cut.

    `hint` is the tool's own question, empty where it says nothing that the rest does not.
    """

    heading: str
    hint: str
    changes: str
    arguments: Sequence[Argument]
    depends_on: Sequence[Argument]
    deceiving: bool
    masked: bool

    @property
    def fits(self) -> bool:
        """Whether a card has room for all of it."""
        return (
            len(self.hint) <= HINT_LIMIT
            and len(self.changes) <= CHANGES_LIMIT
            and all_fit(self.arguments)
            and all_fit(self.depends_on, room=CONDITIONS_LIMIT)
        )


def _titled(change: str) -> str:
    """A difference under the name that its field has on the card."""
    name, colon, values = change.partition(": ")
    return f"{titled(name) if name.isidentifier() else name}{colon}{values}"


def told(approval: Approval) -> Told:
    """All there is to read about a call."""
    texts = [concealed(approval, each) for each in (approval.tool, _question(approval))]
    texts += [_titled(difference(approval, each)) for each in approval.changes]
    safe = [visible(each) for each in texts]
    tool, hint, *changes = (text for text, _ in safe)
    shown, conditions = arguments(approval), depends_on(approval)
    every = (*shown, *conditions)
    return Told(
        heading=titled(tool),
        hint=hint,
        changes="\n".join(f"• {' '.join(change.splitlines())}" for change in changes),
        arguments=shown,
        depends_on=conditions,
        deceiving=any(odd for _, odd in safe) or any(each.deceiving for each in every),
        masked=any(MASK in text for text, _ in safe) or any(MASK in each.value for each in every),
    )


def arguments(approval: Approval) -> list[Argument]:
    """All arguments of a call, in order; those that are secret only by name."""
    return [
        argument(
            name,
            HIDDEN if name in approval.secrets else value,
            default=name in approval.defaults,
            filled=_filled(approval, name),
        )
        for name, value in _ordered(approval)
    ]


def _filled(approval: Approval, name: str) -> tuple[str, ...]:
    """The paths inside an argument that the model left out; none for a secret one."""
    if name in approval.secrets:
        return ()
    inside = f"{name}."
    paths = (path for path in approval.defaults if path.startswith(inside))
    return tuple(visible(path.removeprefix(inside))[0] for path in paths)


def _ordered(approval: Approval) -> list[tuple[str, JsonValue]]:
    """The arguments in the order of the function's parameters, which no store keeps.

    What is inside them is in the order in which its own type declares it.
    """
    place = {path: at for at, path in enumerate(approval.order)}
    names = dict.fromkeys((*approval.order, *approval.args))
    return [
        (name, arranged(approval.args[name], name, place))
        for name in names
        if name in approval.args
    ]


def values(approval: Approval) -> dict[str, str]:
    """Each value by the argument's name, without secret ones."""
    pairs = zip(_ordered(approval), arguments(approval), strict=True)
    return {
        name: each.value
        for (name, _), each in pairs
        if name not in approval.secrets and MASK not in each.value
    }


def depends_on(approval: Approval) -> list[Argument]:
    """What a call depends on besides its arguments, without the values of secret ones."""
    found = [argument(name, value) for name, value in approval.precondition.items()]
    told = [concealed(approval, each.value) for each in found]
    return [
        each if each.value == value else replace(each, value=value, instead=())
        for each, value in zip(found, told, strict=True)
    ]


def summary(approval: Approval) -> Block:
    """One call in a sentence: what, asked by whom, and the beginning of its arguments."""
    call = in_one_line(arguments(approval), 200)
    what = section(
        said(titled(visible(cut(approval.tool, 60))[0]), bold=True),
        said(", asked by "),
        user(approval.requester),
        said(f": {call}" if call else ""),
    )
    return rich(what)


def _question(approval: Approval) -> str:
    """The tool's own question; empty for the runtime's usual one, which adds nothing here."""
    hint = approval.hint.strip()
    return "" if hint == f"May {approval.tool} run with these arguments?" else hint


def asked_by(told: Told, approval: Approval, *, more: str = "") -> Block:
    """What is asked, and by whom: all that fits into a glance."""
    who = (said(", asked by "), user(approval.requester), said(more))
    return rich(section(said(told.heading, bold=True), *who))


def shortly(told: Told, approval: Approval) -> list[Block]:
    """As much of a call as a card has room for."""
    blocks: list[Block] = []
    if told.changes:
        blocks.append(paragraph(f"{CHANGED}\n{cut(told.changes, CHANGES_LIMIT)}"))
    if approval.unknown:
        blocks.append(trusted(UNKNOWN))
    elif told.hint:
        blocks.append(paragraph(cut(told.hint, HINT_LIMIT)))
    blocks += listed(told.arguments)
    if told.depends_on:
        blocks += [small(before=CONDITIONS), *listed(told.depends_on, room=CONDITIONS_LIMIT)]
    return [*blocks, *warnings(told)]


def pages(told: Told, approval: Approval) -> list[list[Block]]:
    """All of a call, as the blocks of one page after another."""
    found: list[list[Block]] = [[]]
    room = PAGE
    for block, size in _blocks(told, approval):
        if size > room or len(found[-1]) >= PARTS:
            found.append([])
            room = PAGE
        found[-1].append(block)
        room -= size
    return found


def warnings(told: Told) -> list[Block]:
    """Warnings about how a call is shown."""
    found = [small(f":warning: {DECEIVING}")] if told.deceiving else []
    return found + ([small(f":lock: {MASKED}")] if told.masked else [])


def _blocks(told: Told, approval: Approval) -> Iterator[tuple[Block, int]]:
    """The blocks of a whole call, with the length of each."""
    for block in (*([trusted(UNKNOWN)] if approval.unknown else []), *warnings(told)):
        yield block, 0
    texts = {CHANGED: told.changes, "The tool says:": told.hint}
    for name, text in texts.items():
        if text:
            yield from _joined(_boxes(name, text))
    if not told.arguments:
        yield listed(())[0], 0
    yield from _joined(_whole(told.arguments))
    if told.depends_on:
        yield small(before=CONDITIONS), 0
        yield from _joined(_whole(told.depends_on))


def _whole(shown: Sequence[Argument]) -> Iterator[tuple[list[Block], int]]:
    for each in shown:
        if len(each.name) + len(each.value) <= PIECE:
            yield _parts(each, each.name, each.value), len(each.name) + len(each.value)
        else:
            yield from _boxes(f"{each.title}:", each.value)


def _boxes(name: str, text: str) -> Iterator[tuple[list[Block], int]]:
    """A long text in boxes, each with its name and its number."""
    heads, boxes = list(chunks(name, PIECE)), list(chunks(text, PIECE))
    for head in heads[:-1]:
        yield [section(said(head, bold=True))], len(head)
    for number, box in enumerate(boxes, start=1):
        place = f" ({number} of {len(boxes)})" if len(boxes) > 1 else ""
        yield [section(said(heads[-1] + place, bold=True)), preformatted(box)], len(box)


def _joined(each: Iterator[tuple[list[Block], int]]) -> Iterator[tuple[Block, int]]:
    """As many parts in one block as it may have."""
    kept: list[Block] = []
    size = 0
    for more, length in each:
        if kept and (size + length > PIECE or len(kept) >= PARTS):
            yield rich(*kept), size
            kept, size = [], 0
        kept += more
        size += length
    if kept:
        yield rich(*kept), size
