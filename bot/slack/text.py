"""Text of people and models on its way into Slack: nothing hidden, nothing active, nothing lost.

Pure. Whatever a person decides about goes through `visible`, so that a character that changes what
is read (bidi controls, zero-width, look-alikes) is spelled out instead of obeyed. Whole words of
any script are themselves: what deceives is a letter or digit of another script in a word that is
Latin or a number otherwise, a word of nothing but twins of Latin letters, digits without a letter
of their script, or another form of a plain character. A list of characters alone could not say so:
those that look like others are many, and each is at home somewhere.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

BLANKS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f\ufffc\U0001d159")
"""Letters and marks that show nothing, though Unicode does not call them format characters."""

TWINS = frozenset(
    "АВЕЅІЈКМНОРСТУХҮӀѴаеѕіјорсухүѵԁһԛԝӏ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνοραικυ"  # Greek
    "ցհոռօՕՏՍզ"  # Armenian
    "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᎩᏃᎡᏕᏔᏎᏏᏮᏂᏧᏳᎽ"  # Cherokee
    "ᗅᗷᑕᗪᕼᒍᒪᗰᑭᖇᑌᐯ᙭ᖴᑎᗞ"  # Canadian syllabics
    "ⴹⵏⵔⵕⴸⵝ"  # Tifinagh
)
"""Letters that look Latin, as Unicode's list of confusable characters (UTS 39) has them."""
DIGITS = TWINS | frozenset("ЗбӠ")
"""Letters that look like digits, or like letters that do."""
LATINATE = frozenset({"LISU", "DESERET", "OSAGE", "GOTHIC", "COPTIC", "CARIAN", "LYCIAN", "LYDIAN"})
"""Scripts that look Latin by and large, and which nobody writes to the office in."""
WITH_LATIN = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "MODIFIER"})
"""Scripts that stand in one word with Latin letters (UTS 39, highly restrictive)."""
FORMULAE = frozenset("βδεζηθλμξπφψΔΘΛΞΠΣΦΨΩ")
"""Greek letters that stand beside Latin ones in formulae and look like none of them."""
MARKS = frozenset("\u2024\u2044\u2215\u29f8\u2236\ua789\u2571\ufe52\u02d0\u05c3")
"""Marks that look like a dot, a slash or a colon."""
BETWEEN = frozenset("。｡・･、ノ〇一ー\u066b\u066c\u1361")
"""Signs of other scripts that look like a dot, a comma, a slash or a zero between ASCII ones."""
IN_ADDRESSES = frozenset("\u2010\u2011\u0131")
"""Hyphens and the dotless i: at home in sentences, another character in an address."""
OVERLAID = frozenset("\u0334\u0335\u0336\u0337\u0338\u20d2\u20d3\u20e5\u20e6\u20ea\u20eb")
"""Marks that are drawn over a character, which may then read as another or as struck out."""
STACKED = 4
"""More marks than that on one letter have no business but to hide it."""

_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"(?<!\w)\w+(?:[-.@/]\w+)+")
_TOKEN = re.compile(r"\S+")
_ADDRESS = re.compile(r"\w[.@/:]+\w")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_VISIBLY_OTHER = ("<super>", "<sub>", "<circle>", "<square>", "<fraction>", "<vertical>", "<small>")
_BLANK_BEFORE = ":;!?»%€$£"

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_USUAL = re.compile(r"[\n\t -~]*")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
_LINK = re.compile(r"<((?:https?|mailto|tel):[^|>]*)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#([A-Z0-9]+)(?:\|([^>]*))?>")
_SPECIAL = re.compile(r"<!([^|>]*)(?:\|([^>]*))?>")


def _spelled(char: str) -> str:
    return f"\\u{{{ord(char):04X}}}"


def visible(text: str, *, spelled: Callable[[str], str] = _spelled) -> tuple[str, bool]:
    r"""The text with all hidden and deceiving characters as `\u{202E}`, and whether it had any."""
    if _USUAL.fullmatch(text):
        return text, False
    deceiving = lookalikes(text)
    shown = "".join(
        spelled(char) if place in deceiving or _hides(text, place) else char
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


def titled(name: str) -> str:
    """A Python name as a person would write it: `approved_days` is `Approved days`."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


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


def unescaped(text: str) -> str:
    """What a person typed, out of the text of a Slack event.

    Links become their address (or `label (address)`), channels `#name`, `<!here>` `@here`;
    mentions stay ids, `@U…`, since names change.
    """
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


def lookalikes(text: str) -> set[int]:
    """The places of characters that seem to be others."""
    if text.isascii():
        return set()
    return {*_in_words(text), *_alone(text)}


def _in_words(text: str) -> Iterator[int]:
    """Letters and digits of other scripts in words that are Latin, or numbers, otherwise."""
    plain = {_script(char) for char in text if char.isalpha() and char not in TWINS}
    latin = _LATIN.search(text) is not None
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        odd = _oddness(word[0], plain, latin=latin)
        for offset, char in enumerate(word[0]):
            if not char.isascii() and (odd(char) or _is_never_at_home(char)):
                yield word.start() + offset
    for joined in _JOINED.finditer(text):
        if _LATIN.search(joined[0]):
            yield from _twins(joined)


def _oddness(word: str, plain: AbstractSet[str], *, latin: bool) -> Callable[[str], bool]:
    """How to tell which characters of a word do not belong into it.

    `plain` are the scripts of the text with letters that look like no Latin ones, and `latin` says
    that it has Latin letters.
    """
    letters = [char for char in word if char.isalpha()]
    if _LATIN.search(word):
        return _is_odd
    if any(char in "0123456789" for char in word):
        return lambda char: _is_odd_digit(char) or (char in DIGITS and DIGITS.issuperset(letters))
    alone = plain.isdisjoint(map(_script, letters)) and (latin or len(letters) > 1)
    if letters and alone and TWINS.issuperset(letters):
        return str.isalpha
    return lambda char: char.isdecimal() and _script(char) not in plain and not _is_wide(char)


def _twins(joined: re.Match[str]) -> Iterator[int]:
    """The parts of a joined word that are nothing but twins, beside Latin ones."""
    for part in _WORD.finditer(joined[0]):
        if TWINS.issuperset(part[0]):
            yield from range(joined.start() + part.start(), joined.start() + part.end())


def _is_odd(char: str) -> bool:
    """Whether a letter or digit does not belong into a Latin word."""
    if char.isalpha():
        ours = char <= "\u024f" or char in FORMULAE or _script(char) in WITH_LATIN
        return not ours or "\u01c0" <= char <= "\u01c3"
    return _is_odd_digit(char)


def _is_odd_digit(char: str) -> bool:
    """Whether a digit does not belong beside those of English."""
    return char.isdecimal() and not char.isascii() and not _is_wide(char)


def _is_wide(char: str) -> bool:
    """Whether a character is a wide form, which is looked at by its neighbours."""
    return unicodedata.decomposition(char).startswith("<wide>")


def _is_never_at_home(char: str) -> bool:
    """Whether a letter is phonetic, a small capital, or of a script that looks Latin throughout."""
    phonetic = "\u0250" <= char <= "\u02af" or "\u1d00" <= char <= "\u1d7f"
    return phonetic or "SMALL CAPITAL" in unicodedata.name(char, "") or _script(char) in LATINATE


def _script(char: str) -> str:
    """The script of a letter or digit, as its name begins."""
    name = unicodedata.name(char, "").removeprefix("EXTENDED ").removeprefix("HALFWIDTH ")
    return re.split("[ -]", name, maxsplit=1)[0]


def _alone(text: str) -> Iterator[int]:
    """Marks, blanks and other forms of plain characters, wherever they stand."""
    marks = 0
    for place, char in enumerate(text):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind == "Mn" else 0
        if char.isascii():
            continue
        if kind == "Zs":
            odd = not _is_usual_blank(text, place)
        else:
            odd = char in MARKS or char in OVERLAID or marks > STACKED or _is_form(text, place)
        if odd or (char in BETWEEN and _is_among_ascii(text, place)):
            yield place
    for token in _TOKEN.finditer(text):
        if not token[0].isascii() and _ADDRESS.search(token[0]):
            places = range(*token.span())
            yield from (place for place in places if text[place] in IN_ADDRESSES)


def _is_among_ascii(text: str, place: int) -> bool:
    """Whether a character stands between two letters or digits of English."""
    around = (text[max(place - 1, 0) : place], text[place + 1 : place + 2])
    return all(each.isascii() and each.isalnum() for each in around)


def _is_usual_blank(text: str, place: int) -> bool:
    """Whether a blank that is no plain one stands where writers of some languages put it."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if text[place] == "\u3000":
        return not (before.isascii() and after.isascii())
    groups = before.isdigit() and after.isdigit()
    quoted = before == "«" or (after != "" and after in _BLANK_BEFORE)
    return text[place] in "\u00a0\u202f" and (groups or quoted)


def _is_form(text: str, place: int) -> bool:
    """Whether Unicode calls a character a form of one ASCII character that it looks like."""
    char = text[place]
    plain = unicodedata.normalize("NFKC", char)
    told = unicodedata.decomposition(char)
    if len(plain) != 1 or not plain.isascii() or told.startswith(_VISIBLY_OTHER):
        return False
    if told.startswith("<wide>"):  # at home in Chinese, Japanese and Korean
        around = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
        return any(each.isascii() and each.isalnum() for each in around)
    return True
