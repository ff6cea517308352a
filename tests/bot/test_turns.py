"""Where things are in Slack, and how that is written down."""

import pytest

from bot.turns import Spot, Thread, session_key, thread_of


@pytest.mark.parametrize(
    ("place", "spot"),
    [
        pytest.param("C1|1700000000.000100", Spot("C1", "1700000000.000100"), id="a message"),
        pytest.param("D1", Spot("D1", ""), id="a DM and no message in it"),
        pytest.param("", Spot("", ""), id="nowhere"),
    ],
)
def test_a_message_is_found_where_it_was_written_down(place: str, spot: Spot):
    """What is missing of a place is empty, and a whole one is written as it was read."""
    assert Spot.parse(place) == spot
    assert not (spot.channel and spot.ts) or str(spot) == place


@pytest.mark.parametrize("thread", [Thread("C1", "1.2"), Thread("D1")], ids=["thread", "DM"])
def test_a_session_answers_where_it_was_asked(thread: Thread):
    """The thread of a session is the one it was opened in."""
    assert thread_of(session_key(team="T1", agent="support", thread=thread)) == thread
