"""Text of people and models on its way into Slack: nothing hidden, nothing active, nothing lost.

Pure. Whatever a person decides about goes through `visible`, so that a character that changes what
is read (bidi controls, zero-width, look-alikes) is spelled out instead of obeyed.
"""

import re
import unicodedata
from collections.abc import Iterator

from bot.slack.lookalikes import lookalikes

BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f")
"""Letters and marks that show nothing, though Unicode does not call them format characters."""

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_USUAL = re.compile(r"[\n\t -~]*")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^|>]*)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#([A-Z0-9]+)(?:\|([^>]*))?>")
_SPECIAL = re.compile(r"<!([^|>]*)(?:\|([^>]*))?>")


def visible(text: str) -> tuple[str, bool]:
    r"""The text with all hidden and deceiving characters as `\u{202E}`, and whether it had any."""
    if _USUAL.fullmatch(text):
        return text, False
    deceiving = lookalikes(text)
    shown = "".join(
        f"\\u{{{ord(char):04X}}}" if place in deceiving or _hides(text, place) else char
        for place, char in enumerate(text)
    )
    return shown, shown != text


def sendable(text: str) -> str:
    """The text without what Slack cannot carry: lone surrogates and control characters."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"} else "\ufffd"
        for char in text
    )


def escaped(text: str) -> str:
    """The text for a place that reads mrkdwn: the three characters Slack wants escaped, once."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut says how long the whole is."""
    if len(text) <= limit:
        return text
    told = f"… ({len(text):,} characters in all)"
    return text[: max(limit - len(told), 0)] + told


def chunks(text: str, limit: int) -> Iterator[str]:
    """The whole text in pieces of at most `limit`, split at a paragraph, line or word if it can be.

    The pieces joined are the text.
    """
    while len(text) > limit:
        end = _good_end(text, limit)
        yield text[:end]
        text = text[end:]
    if text:
        yield text


def unescaped(text: str, *, names: bool = True) -> str:
    """What a person typed, out of the text of a Slack event.

    Links become their address (or `label (address)`), channels `#name`, `<!here>` `@here`;
    mentions stay ids, `@U…`, since names change. `names=False` leaves the tokens as they are.
    """
    if names:
        text = _MENTION.sub(r"@\1", text)
        text = _LINK.sub(_link, text)
        text = _CHANNEL.sub(lambda found: f"#{found[2] or found[1]}", text)
        text = _SPECIAL.sub(_special, text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def without_mention(text: str, person: str) -> tuple[str, bool]:
    """The event's text without the mentions of one person or bot, and whether there were any."""
    mention = re.compile(rf"[ \t]*<@{re.escape(person)}(?:\|[^>]*)?>[,:]?[ \t]*")
    found = mention.search(text)
    return mention.sub(" ", text).strip() if found else text, found is not None


def _link(found: re.Match[str]) -> str:
    address, label = found[1], found[2]
    plain = address.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (address, plain) or address.endswith("//" + label):
        return plain
    return f"{label} ({plain})"


def _special(found: re.Match[str]) -> str:
    name, label = found[1], found[2]
    if label:
        return label
    return "@" + name.removeprefix("subteam^")


def _hides(text: str, place: int) -> bool:
    """Whether a character changes what is read without being seen itself."""
    char = text[place]
    if char.isascii():
        return char not in "\n\t" and not char.isprintable()
    if char in (_JOINER, _EMOJI_STYLE):
        return not _in_emoji(text, place)
    return (
        char in BLANKS
        or unicodedata.category(char) in _HIDDEN
        or "VARIATION SELECTOR" in unicodedata.name(char, "")
    )


def _in_emoji(text: str, place: int) -> bool:
    """Whether a joiner or a style mark stands where emoji have it."""
    before = text[:place].rstrip(_EMOJI_STYLE)[-1:]
    drawn = bool(before) and unicodedata.category(before) in {"So", "Sk"}
    if text[place] == _EMOJI_STYLE:
        return drawn or (before != "" and before in "0123456789#*‼⁉")
    after = text[place + 1 : place + 2]
    return drawn and after != "" and unicodedata.category(after) == "So"


def _good_end(text: str, limit: int) -> int:
    """Where to split: after the last paragraph, line or word of the second half, else at limit."""
    for mark in ("\n\n", "\n", " "):
        end = text.rfind(mark, limit // 2, limit)
        if end > 0:
            return min(end + len(mark), limit)
    return limit
