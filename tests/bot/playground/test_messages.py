"""What people type becomes what Slack keeps."""

import pytest

from bot.playground.messages import complete, full_text, typed, with_mentions
from bot.playground.people import ANA
from tests.bot.playground.cards import card


@pytest.mark.parametrize(
    ("line", "text", "elements"),
    [
        pytest.param("hi", "hi", [("text", "hi")], id="plain"),
        pytest.param("a < b & c", "a &lt; b &amp; c", [("text", "a < b & c")], id="escaped"),
        pytest.param(
            "hi <@U1A>!",
            "hi <@U1A>!",
            [("text", "hi "), ("user", "U1A"), ("text", "!")],
            id="mention",
        ),
        pytest.param(
            "see https://x.y/?a=1&b=2",
            "see <https://x.y/?a=1&amp;b=2>",
            [("text", "see "), ("link", "https://x.y/?a=1&b=2")],
            id="link",
        ),
        pytest.param("<#C1|one>", "<#C1|one>", [("channel", "C1")], id="channel"),
        pytest.param(
            "<!channel>", "&lt;!channel&gt;", [("text", "<!channel>")], id="no call to everybody"
        ),
    ],
)
def test_typed(line: str, text: str, elements: list[tuple[str, str]]) -> None:
    """The text is escaped, the rich text beside it is not."""
    message = typed(ANA, line, client_msg_id="m", block_id="b")
    (section,) = message["blocks"][0]["elements"]
    found = [
        (each["type"], next(value for key, value in each.items() if key != "type"))
        for each in section["elements"]
    ]
    assert (message["text"], found) == (text, elements)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("@ana hi", "<@U1> hi", id="name"),
        pytest.param("ask @ana, please", "ask <@U1>, please", id="in a sentence"),
        pytest.param("@zoe", "@zoe", id="nobody"),
        pytest.param("mail x@ana", "mail x@ana", id="address"),
        pytest.param("<@ana>", "<@ana>", id="a token"),
    ],
)
def test_with_mentions(line: str, expected: str) -> None:
    """A known name becomes a mention, anything else stays."""
    assert with_mentions(line, {"ana": "U1"}) == expected


def test_complete() -> None:
    """Slack fills in ids and flags, and leaves what was given."""
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    (whole,) = complete([{"type": "actions", "elements": [button]}], lambda: "new")
    assert whole["block_id"] == whole["elements"][0]["action_id"] == "new"
    assert whole["elements"][0]["text"]["emoji"] is True
    assert "emoji" not in button["text"]


def test_full_text() -> None:
    """Every text of a card can be looked for."""
    text = full_text({"text": "fallback", "blocks": card()})
    assert {"fallback", "Leave request", "*Ana* asks", "3", "Approve"} <= set(text.split("\n"))
