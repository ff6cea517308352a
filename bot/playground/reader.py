"""Slack's texts as one person reads them: names for ids, times in their zone; pure.

A node is a text, or [tag, attributes, children]: the page makes an element of it. No text of a
message ever becomes a tag or an attribute, but for the target of a link.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from bot.playground.people import BOT, Person
from bot.playground.workspace import Workspace
from bot.slack.checks import JsonObject, as_array, as_object

Node = str | list[Any]

EMOJI: Mapping[str, str] = MappingProxyType(
    {
        "+1": "👍",
        "-1": "👎",
        "bell": "🔔",
        "calendar": "📅",
        "eyes": "👀",
        "hourglass": "⏳",
        "lock": "🔒",
        "tada": "🎉",
        "warning": "⚠",
        "wave": "👋",
        "white_check_mark": "✅",
        "x": "❌",
    }
)
"""The few that our messages use; any other one stays a name between colons."""

KNOWN = frozenset(
    {"actions", "context", "divider", "header", "image", "input"}
    | {"markdown", "rich_text", "section", "table"}
)
"""The blocks the page shows; of others it shows the JSON."""

_FENCE = re.compile(r"```(.+?)```", re.DOTALL)
_QUOTE = re.compile(r"((?:^&gt;.*\n?)+)", re.MULTILINE)
_EMOJI = re.compile(r":([a-z0-9_+-]+):")
_LINK = re.compile(r"(?:https?|mailto|tel):")
_ENTITY = re.compile(r"&(lt|gt|amp);")
_DATE = re.compile(r"\{(date|time)(_\w+)?\}")
_MARKS: Mapping[str, str] = MappingProxyType({"b": r"\*", "i": "_", "s": "~"})


def _styled(tag: str) -> str:
    mark = _MARKS[tag]
    return rf"(?<![\w{mark}]){mark}(?=\S)(?P<{tag}>[^{mark}\n]*[^{mark}\s]){mark}(?!\w)"


_INLINE = re.compile(
    "|".join(
        (
            r"(?P<emoji>:[a-z0-9_+-]+:)",
            r"`(?P<code>[^`\n]+)`",
            r"<(?P<token>[^<>\n]+)>",
            *map(_styled, _MARKS),
        )
    )
)
_MARKDOWN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[([^\]\n]+)\]\(([^()\s]+)\)"), r"<\2|\1>"),
    (re.compile(r"(?m)^(\s*)[-*+] "), r"\1• "),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+)\*(?!\*)"), r"_\1_"),
    (re.compile(r"\*\*(?=\S)(.+?)\*\*"), r"*\1*"),
    (re.compile(r"(?m)^#{1,6} (.*)$"), r"*\1*"),
    (re.compile(r"~~(.+?)~~"), r"~\1~"),
    (re.compile(r"(?m)^>"), "&gt;"),
)
_CODE = re.compile(r"(```.+?```|`[^`\n]+`)", re.DOTALL)
_PARTS: Mapping[str, str] = MappingProxyType(
    {"rich_text_section": "p", "rich_text_preformatted": "pre", "rich_text_quote": "blockquote"}
)
_DRESSES: Mapping[str, str] = MappingProxyType(
    {"bold": "b", "italic": "i", "strike": "s", "code": "code"}
)


class Reader:
    """Reads for a person of a workspace; `now` is in seconds."""

    def __init__(self, workspace: Workspace, person: Person, *, now: float) -> None:
        self._workspace = workspace
        self._person = person
        self._zone = ZoneInfo(person.tz)
        self._today = datetime.fromtimestamp(now, self._zone).date()

    # What is shown

    def message(self, message: JsonObject) -> JsonObject:
        """A message whose texts have `nodes`, and whose time is in words: `day` and `time`."""
        at = datetime.fromtimestamp(float(message["ts"]), self._zone)
        told = {**message, "day": self._day(at.date(), "%B"), "time": f"{at:%H:%M}"}
        if latest := message.get("latest_reply"):
            told["latest_time"] = f"{datetime.fromtimestamp(float(latest), self._zone):%H:%M}"
        if message.get("blocks"):
            return told | {"blocks": self.blocks(message["blocks"])}
        return told | {"nodes": self.mrkdwn(message["text"])}

    def view(self, view: JsonObject) -> JsonObject:
        """A modal or Home whose texts have `nodes`."""
        shown = {key: self._walk(view[key]) for key in ("title", "submit", "close")}
        return {**view, **shown, "blocks": self.blocks(view["blocks"])}

    def blocks(self, blocks: list[JsonObject]) -> list[JsonObject]:
        """Blocks whose texts have `nodes`; a block the page does not know stays as it is."""
        return [self._walk(each) if each["type"] in KNOWN else each for each in blocks]

    def _walk(self, value: Any) -> Any:
        if (items := as_array(value)) is not None:
            return [self._walk(each) for each in items]
        if (there := as_object(value)) is None:
            return value
        if (nodes := self._nodes(there)) is not None:
            return {**there, "nodes": nodes}
        return {key: self._walk(each) for key, each in there.items()}

    def _nodes(self, there: JsonObject) -> list[Node] | None:
        """The nodes of a text object or of a block that is a text; None for anything else."""
        match there:
            case {"type": "mrkdwn", "text": str(text)}:
                return self.mrkdwn(text)
            case {"type": "markdown", "text": str(text)}:
                return self.markdown(text)
            case {"type": "plain_text", "text": str(text)}:
                return [_emoji(text) if there.get("emoji") else text]
            case {"type": "rich_text"}:
                return [self._part(each) for each in there["elements"]]
            case _:
                return None

    # Slack's markup

    def mrkdwn(self, source: str) -> list[Node]:
        """Slack's own markup, whose &, < and > are escaped."""
        found: list[Node] = []
        for place, part in enumerate(_FENCE.split(source)):
            found += (
                [["pre", {}, [_unescaped(part.strip("\n"))]]] if place % 2 else self._lines(part)
            )
        return found

    def markdown(self, source: str) -> list[Node]:
        """Markdown as far as agents write it: headings, lists, quotes, code, links, emphasis."""
        parts = _CODE.split(source)
        return self.mrkdwn("".join(p if n % 2 else _as_mrkdwn(p) for n, p in enumerate(parts)))

    def _lines(self, source: str) -> Iterator[Node]:
        for place, part in enumerate(_QUOTE.split(source)):
            if place % 2:
                quoted = re.sub(r"(?m)^&gt; ?", "", part).rstrip("\n")
                yield ["blockquote", {}, self._inline(quoted)]
            elif part:
                yield from self._inline(part)

    def _inline(self, source: str) -> list[Node]:
        found: list[Node] = []
        end = 0
        for match in _INLINE.finditer(source):
            found += [_unescaped(source[end : match.start()]), self._marked(match)]
            end = match.end()
        return [each for each in (*found, _unescaped(source[end:])) if each]

    def _marked(self, match: re.Match[str]) -> Node:
        kind = match.lastgroup or ""
        match kind:
            case "code":
                return ["code", {}, [_unescaped(match[kind])]]
            case "token":
                return self._token(match[kind])
            case "emoji":
                return _emoji(match[kind])
            case _:
                return [kind, {}, self._inline(match[kind])]

    def _token(self, inside: str) -> Node:
        """What stands between angle brackets: a mention, a channel, a date, a link."""
        target, _, label = inside.partition("|")
        kind, _, rest = target.partition("^")
        match kind[:1], kind:
            case "@", _:
                return self._mention(target[1:])
            case "#", _:
                return self._channel(target[1:], label)
            case "!", "!date":
                seconds, _, form = rest.partition("^")
                return self._moment(seconds, form.partition("^")[0], _unescaped(label))
            case "!", "!subteam":
                return self._group(rest)
            case "!", _:
                return _at(target[1:])
            case _:
                return _link(_unescaped(target), _unescaped(label))

    # Rich text

    def _part(self, part: JsonObject) -> Node:
        if part["type"] in _PARTS:
            return [_PARTS[part["type"]], {}, [self._piece(each) for each in part["elements"]]]
        if part["type"] != "rich_text_list":
            return _unknown(part)
        items: list[Node] = [self._item(each) for each in part["elements"]]
        indent = {"data-indent": part["indent"]} if part.get("indent") else {}
        return ["ol" if part.get("style") == "ordered" else "ul", indent, items]

    def _item(self, item: JsonObject) -> Node:
        return ["li", {}, [self._piece(each) for each in item["elements"]]]

    def _piece(self, piece: JsonObject) -> Node:
        pieces: Mapping[str, Callable[[], Node]] = {
            "broadcast": lambda: _at(piece["range"]),
            "channel": lambda: self._channel(piece["channel_id"]),
            "date": lambda: self._moment(
                piece["timestamp"], piece["format"], piece.get("fallback", "")
            ),
            "emoji": lambda: _emoji(f":{piece['name']}:"),
            "link": lambda: _link(piece["url"], piece.get("text", "")),
            "text": lambda: _dressed(piece["text"], piece.get("style", {})),
            "user": lambda: self._mention(piece["user_id"]),
            "usergroup": lambda: self._group(piece["usergroup_id"]),
        }
        return pieces.get(piece["type"], lambda: _unknown(piece))()

    # Names and times

    def _mention(self, person_id: str) -> Node:
        person = self._workspace.people.get(person_id)
        name = person.real_name if person else person_id
        return _at(name, mine=person == self._person)

    def _group(self, group_id: str) -> Node:
        group = self._workspace.groups.get(group_id)
        mine = bool(group and self._person.id in group.members)
        return _at(group.handle if group else group_id, mine=mine)

    def _channel(self, channel_id: str, label: str = "") -> Node:
        channel = self._workspace.channels.get(channel_id)
        if channel is None or not self._workspace.sees(self._person, channel):
            return ["span.mention", {}, [f"#{label or 'a private channel'}"]]
        name = BOT.real_name if channel.kind == "im" else channel.name
        where = "dm" if channel.kind == "im" else channel.name
        return ["a.mention", {"href": f"#/{self._person.name}/{where}"}, [f"#{name}"]]

    def _moment(self, seconds: object, form: str, fallback: str) -> Node:
        try:
            at = datetime.fromtimestamp(int(str(seconds)), self._zone)
        except (ValueError, OverflowError, OSError):
            return fallback
        words = _DATE.sub(lambda match: self._words(at, match[1], match[2] or ""), form)
        return ["time", {"title": fallback}, [words]]

    def _words(self, at: datetime, kind: str, how: str) -> str:
        if kind == "time":
            return f"{at:%H:%M:%S}" if how == "_secs" else f"{at:%H:%M}"
        if how == "_num":
            return f"{at:%Y-%m-%d}"
        month = "%b" if how.startswith("_short") else "%B"
        return self._day(at.date(), month) if how.endswith("pretty") else _date(at.date(), month)

    def _day(self, day: date, month: str) -> str:
        """A day as a word when it is near, else without the year when that is clear."""
        words = {-1: "yesterday", 0: "today", 1: "tomorrow"}
        near = words.get((day - self._today) // timedelta(days=1))
        return near or _date(day, month, year=day.year != self._today.year)


def _date(day: date, month: str, *, year: bool = True) -> str:
    return f"{day.day} {day:{month}}" + (f" {day.year}" if year else "")


def _at(name: str, *, mine: bool = False) -> Node:
    return ["span.mention.mine" if mine else "span.mention", {}, [f"@{name}"]]


def _link(target: str, label: str) -> Node:
    if not _LINK.match(target):
        return label or target
    return ["a", {"href": target, "target": "_blank", "rel": "noreferrer"}, [label or target]]


def _dressed(text: str, style: Mapping[str, bool]) -> Node:
    node: Node = text
    for name, tag in _DRESSES.items():
        node = [tag, {}, [node]] if style.get(name) else node
    return node


def _unknown(thing: JsonObject) -> Node:
    """A part of a text that the page does not know, told rather than dropped."""
    return ["code", {}, [str(thing)]]


def _emoji(text: str) -> str:
    return _EMOJI.sub(lambda match: EMOJI.get(match[1], match[0]), text)


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda match: {"lt": "<", "gt": ">", "amp": "&"}[match[1]], text)


def _as_mrkdwn(text: str) -> str:
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return text
