"""Text on its way into Slack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.text import chunks, cut, escaped, sendable, unescaped, visible, without_mention


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain text, ü and 日本", "plain text, ü and 日本", id="nothing hidden"),
        pytest.param("a\u202eb", "a\\u{202E}b", id="right-to-left override"),
        pytest.param("a\u200bb", "a\\u{200B}b", id="zero width space"),
        pytest.param("p\u0430ypal", "p\\u{0430}ypal", id="Cyrillic a in a Latin word"),
        pytest.param("привет", "привет", id="a Cyrillic word is itself"),
        pytest.param("x\U000e0100", "x\\u{E0100}", id="variation selector supplement"),
        pytest.param("a\u3164b", "a\\u{3164}b", id="a letter that shows nothing"),
        pytest.param("a\x00b\x7f", "a\\u{0000}b\\u{007F}", id="control characters"),
        pytest.param("one\ntwo\tthree", "one\ntwo\tthree", id="lines and tabs stay"),
        pytest.param("\ud800", "\\u{D800}", id="half a surrogate pair"),
        pytest.param("❤\ufe0f 👩\u200d💻", "❤\ufe0f 👩\u200d💻", id="emoji keep their joiners"),
        pytest.param("a\ufe0f\u200db", "a\\u{FE0F}\\u{200D}b", id="joiners elsewhere are told"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    """What changes the reading of a text without being seen is spelled out."""
    assert visible(text) == (shown, shown != text)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        pytest.param("a &amp; b", "a & b", id="ampersand"),
        pytest.param("&amp;lt;", "&lt;", id="unescaped once, not twice"),
        pytest.param("tell <@U123|max> please", "tell @U123 please", id="mention"),
        pytest.param("<https://x.test/a?b=1&amp;c=2>", "https://x.test/a?b=1&c=2", id="link"),
        pytest.param("<https://x.test|docs>", "docs (https://x.test)", id="link with a label"),
        pytest.param("<http://x.test|x.test>", "http://x.test", id="a typed domain"),
        pytest.param("<mailto:a@x.test|a@x.test>", "a@x.test", id="address"),
        pytest.param("in <#C12|general>", "in #general", id="channel"),
        pytest.param("<!here> and <!subteam^S1>", "@here and @S1", id="everybody"),
        pytest.param("<!subteam^S1|@boss>", "@boss", id="group with a label"),
    ],
)
def test_unescaped(text: str, typed: str) -> None:
    """A model reads what the person typed, not Slack's tokens."""
    assert unescaped(text) == typed


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        pytest.param("<@U1> hello", "hello", True, id="in front"),
        pytest.param("<@U1>: hello", "hello", True, id="with a colon"),
        pytest.param("well <@U1> hello", "well hello", True, id="in between"),
        pytest.param("<@U2> hello", "<@U2> hello", False, id="somebody else"),
        pytest.param("<@U1>", "", True, id="nothing else"),
    ],
)
def test_without_mention(text: str, rest: str, found: bool) -> None:
    """The bot's own mention is no part of what it is told."""
    assert without_mention(text, "U1") == (rest, found)


def test_escaped_once() -> None:
    """Exactly Slack's three characters are escaped."""
    assert escaped("<!channel> & *b* `c`") == "&lt;!channel&gt; &amp; *b* `c`"


def test_cut_tells_how_long_the_whole_is() -> None:
    """What was cut says so."""
    assert cut("a" * 100, 50).endswith("… (100 characters in all)")
    assert len(cut("a" * 100, 50)) == 50
    assert cut("a" * 50, 50) == "a" * 50


def test_sendable() -> None:
    """Slack gets no half surrogate pairs and no control characters."""
    assert sendable("a\ud800\x00\nb") == "a\ufffd\ufffd\nb"


@given(st.text(), st.integers(1, 50))
def test_chunks_lose_nothing(text: str, limit: int) -> None:
    """The pieces joined are the text, none is too long or empty."""
    pieces = list(chunks(text, limit))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= limit for piece in pieces)


def test_chunks_split_between_paragraphs() -> None:
    """A split falls between paragraphs rather than inside a word."""
    assert list(chunks("one two\n\nthree four", 12)) == ["one two\n\n", "three four"]
