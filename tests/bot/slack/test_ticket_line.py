"""The line about a ticket: what it says, that Slack takes it, and that nothing in it is active."""

import pytest

from agents import Ticket
from bot.slack.blocks import ticket
from bot.slack.validate import message_problems

T = "T-1"


@pytest.mark.parametrize(
    ("standing", "line"),
    [
        pytest.param(Ticket(id=T), "Ticket T-1: open.", id="open"),
        pytest.param(
            Ticket(id=T, status="in_progress", progress=30),
            "Ticket T-1: in progress, 30 %.",
            id="in progress",
        ),
        pytest.param(
            Ticket(id=T, status="in_progress", progress=0),
            "Ticket T-1: in progress, 0 %.",
            id="just begun",
        ),
        pytest.param(
            Ticket(id=T, status="resolved", note="new toner"),
            "Ticket T-1: resolved. “new toner”",
            id="resolved",
        ),
        pytest.param(
            Ticket(id=T, status="timeout"),
            "Ticket T-1: no news in time, so nobody waits for it any more.",
            id="too late",
        ),
    ],
)
def test_how_a_ticket_stands(standing: Ticket, line: str):
    """Status, progress and the last person's words, in one line."""
    assert ticket(standing).text == line


def test_a_note_is_shown_and_not_obeyed():
    """Mentions, links and markup of a note are characters; a long one is cut."""
    shown = ticket(Ticket(id=T, note="<!channel> *now* <https://a.b|x>" + "y" * 5_000))
    [element] = shown.blocks[0]["elements"]
    assert element["type"] == "plain_text"
    assert "&lt;!channel&gt;" in shown.text
    assert message_problems({"text": shown.text, "blocks": shown.blocks}) == []


@pytest.mark.parametrize("char", "\u202e\u200b\u2066\ufeff\u00ad\U000e0041", ids=ascii)
def test_what_hides_or_turns_is_spelled_out(char: str):
    """What somebody elsewhere writes, or calls a ticket, looks like what it is."""
    shown = ticket(Ticket(id=f"T{char}1", note=f"ok {char}gnp.exe")).text
    assert char not in shown
    assert shown.count(f"\\u{{{ord(char):04X}}}") == 2
