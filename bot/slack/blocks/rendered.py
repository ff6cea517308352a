"""The few shapes of Block Kit that all our messages are made of.

Text of people and models only ever goes into `plain` and `said`, which Slack does not interpret.
`trusted` reads mrkdwn and takes our own words, ids that Slack gave us, and dates.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from typing import Any

from bot.slack.actions import APPROVE, FORM, SHOW
from bot.slack.text import cut, escaped

Block = dict[str, Any]

TEXT_LIMIT = 3_000
"""Characters of a message's top-level text: chat.update refuses more than 4,000."""
BLOCK_LIMIT = 3_000

_PERSON = re.compile(r"[UW][A-Z0-9]+")
_GROUP = re.compile(r"S[A-Z0-9]+")
_LIVE = re.compile(r"<@([UW]\w+)>|<!subteam\^(S\w+)>|<!date\^(\d+)\^([^|>]+)\|([^>]*)>")
"""The markup in our own text; whatever others wrote is escaped in it."""
_MENTIONED = 20


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message: what notifications and screen readers say (escaped), and the blocks.

    Where it `hides` what it asks about, nobody can approve that there.
    """

    text: str
    blocks: Sequence[Block]
    hides: bool = False


def shortened(message: Rendered) -> Rendered:
    """The message with nothing but its text and buttons, for when Slack refuses the whole.

    What it was about is not all in its text, so it is approved where all of it can be read.
    """
    rows = [block for block in message.blocks if block["type"] == "actions"]
    kept = [row | {"elements": [_elsewhere(each) for each in row["elements"]]} for row in rows]
    return Rendered(message.text, [_as_said(message.text), *kept], hides=True)


def _as_said(text: str) -> Block:
    """A message's text as a block: mentions and dates stay live, all else is plain text."""
    pieces: list[Block] = []
    last = 0
    for found in _LIVE.finditer(text):
        pieces += [said(unescape(text[last : found.start()]))] if found.start() > last else []
        person, group, at, shown, fallback = found.groups()
        if person:
            pieces.append({"type": "user", "user_id": person})
        elif group:
            pieces.append({"type": "usergroup", "usergroup_id": group})
        else:
            told = {"timestamp": int(at), "format": shown, "fallback": fallback}
            pieces.append({"type": "date", **told})
        last = found.end()
    rest = unescape(text[last:])
    return rich(section(*pieces, *([said(rest)] if rest or not pieces else [])))


def _elsewhere(element: Block) -> Block:
    if element["action_id"] not in (APPROVE, FORM):
        return element
    return element | {"action_id": SHOW, "text": plain("Show everything")}


def plain(text: str) -> Block:
    """A plain_text object: nothing in it becomes a link, a mention or an emoji."""
    return {"type": "plain_text", "text": text or " ", "emoji": False}


def paragraph(text: str) -> Block:
    """A block with text of any origin, cut to what one block may hold."""
    return {"type": "section", "text": plain(cut(text, BLOCK_LIMIT))}


def trusted(text: str) -> Block:
    """A block of mrkdwn, for our own words with mentions and dates."""
    return {"type": "section", "text": _mrkdwn(text)}


def small(text: str = "", *, before: str = "") -> Block:
    """Small print: `before` may be of any origin, `text` is mrkdwn of our own."""
    elements = [plain(before)] if before else []
    return {"type": "context", "elements": [*elements, *([_mrkdwn(text)] if text else [])]}


def rich(*parts: Block) -> Block:
    """A rich_text block out of sections, lists and preformatted parts."""
    return {"type": "rich_text", "elements": list(parts)}


def section(*pieces: Block) -> Block:
    """One paragraph of a rich_text block."""
    return {"type": "rich_text_section", "elements": list(pieces)}


def preformatted(text: str) -> Block:
    """Text of any origin as it is, line by line, in a box of its own."""
    return {"type": "rich_text_preformatted", "elements": [said(text)]}


def said(text: str, *, bold: bool = False) -> Block:
    """Text of any origin inside a rich_text block."""
    piece: Block = {"type": "text", "text": text or " "}
    return piece | ({"style": {"bold": True}} if bold else {})


def named(
    name: str, value: str, *, boxed: bool = False, instead: Sequence[Block] = ()
) -> list[Block]:
    """The parts that show a value of any origin under its bold name, `boxed` in a box of its own.

    `instead` are pieces that show the value better than its text.
    """
    bold = said(f"{name}: ", bold=True)
    if boxed:
        return [section(bold), preformatted(value)]
    if instead:
        return [section(bold, *instead, said("\n"))]
    return [section(bold, said(f"{value}\n"))]


def user(person: str) -> Block:
    """A mention inside a rich_text block; what is no id of a person is only named."""
    if _PERSON.fullmatch(person):
        return {"type": "user", "user_id": person}
    return said(person or "somebody", bold=True)


def mention(name: str) -> str:
    """A mention for mrkdwn; what is no id of a person or group is only named."""
    if _PERSON.fullmatch(name):
        return f"<@{name}>"
    if _GROUP.fullmatch(name):
        return f"<!subteam^{name}>"
    return escaped(re.sub(r"[^\w .-]", "?", cut(name, 60))) or "somebody"


def mentions(names: Sequence[str]) -> str:
    """Some people in one phrase, for mrkdwn; beyond twenty only their number."""
    return _phrase(called(names))


def listed(words: Sequence[str]) -> str:
    """Some names in one phrase; beyond twenty only their number."""
    return _phrase(_some(words))


def quietly(names: Sequence[str], told: Sequence[str] | None) -> str:
    """People in one phrase, of whom only those who are `told` are mentioned."""
    return _phrase(called(names, told))


def called(names: Sequence[str], told: Sequence[str] | None = None) -> list[str]:
    """What names are called in mrkdwn, where only those who are `told` are mentioned.

    None means everybody. Slack notifies whoever a message mentions, so the others are only counted.
    """
    loud = [n for n in names if told is None or n in told or not mention(n).startswith("<")]
    rest = [name for name in names if name not in loud]
    more = "more " if loud else ""
    groups = [name for name in rest if _GROUP.fullmatch(name)]
    counts = (
        (len(rest) - len(groups), "who is", "who are"),
        (len(groups), "group that is", "groups that are"),
    )
    quiet = [f"{n} {more}{one if n == 1 else many} not notified" for n, one, many in counts if n]
    return [*_some([mention(name) for name in loud]), *quiet]


def _some(words: Sequence[str]) -> list[str]:
    """As many words as one phrase has room for, and the number of the others."""
    more = len(words) - _MENTIONED
    return [*words[:_MENTIONED], *([f"{more} more"] if more > 0 else [])]


def _phrase(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words) or "nobody"
    return f"{', '.join(words[:-1])} and {words[-1]}"


def moment(at: int) -> str:
    """A time in milliseconds for mrkdwn: each reader sees it in their own zone."""
    seconds = at // 1000
    fallback = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    return f"<!date^{seconds}^{{date_short_pretty}} at {{time}}|{fallback}>"


def button(text: str, *, action: str, value: str, style: str = "") -> Block:
    """A button that carries its meaning in `value`."""
    made: Block = {"type": "button", "action_id": action, "text": plain(text), "value": value}
    return made | ({"style": style} if style else {})


def actions(*buttons: Block, block_id: str) -> Block:
    """A row of buttons."""
    return {"type": "actions", "block_id": block_id, "elements": list(buttons)}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": cut(text, BLOCK_LIMIT), "verbatim": True}
