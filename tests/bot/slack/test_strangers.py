"""People of other companies hear once that nobody answers them."""

from typing import Any

import pytest

from bot.slack.payloads import Clicker, Place
from bot.slack.strangers import AGAIN, MOST, Strangers
from tests.bot.slack.samples import BOT_USER, TEAM, payload

EXTERNAL = "app_mention_slack_connect_external"


class Ears:
    """Keeps who was told, at a time that is set."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.told: list[tuple[str, Place]] = []
        self.strangers = Strangers(
            tell=self.tell, team=TEAM, bot_user=BOT_USER, clock=lambda: self.now
        )

    def tell(self, by: Clicker, place: Place, text: str) -> None:
        """Remember it."""
        assert "company" in text
        self.told.append((by.id, place))


def changed(name: str, **inner: Any) -> dict[str, Any]:
    """A recorded event with other fields."""
    body = payload(name)
    return {**body, "event": {**body["event"], **inner}}


def test_a_stranger_is_told_once_in_a_while():
    """Both events of one post, and the next post, bring one sentence; an hour later another."""
    ears = Ears()
    for _ in range(3):
        ears.strangers.hear(payload(EXTERNAL))
    assert len(ears.told) == 1
    ears.strangers.hear(changed(EXTERNAL, channel="C0ELSEWHERE"))
    assert len(ears.told) == 2
    ears.now += AGAIN
    ears.strangers.hear(payload(EXTERNAL))
    assert len(ears.told) == 3


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        pytest.param("app_mention", {}, id="a colleague"),
        pytest.param("message_channel", {"team": "T0PARTNER"}, id="not to us"),
        pytest.param(EXTERNAL, {"bot_id": "B1"}, id="a bot of theirs"),
        pytest.param(EXTERNAL, {"subtype": "channel_join"}, id="no words"),
        pytest.param("message_own_bot", {}, id="ourselves"),
        pytest.param("app_home_opened_first", {}, id="no message"),
    ],
)
def test_nobody_else_is_told(name: str, inner: dict[str, Any]):
    """Colleagues are answered, bots never, and what is said to others is not ours."""
    ears = Ears()
    ears.strangers.hear(changed(name, **inner))
    assert ears.told == []


def test_in_a_thread_it_is_said_in_the_thread():
    """A private note is where the stranger looks."""
    ears = Ears()
    ears.strangers.hear(changed(EXTERNAL, thread_ts="1.2"))
    [(_, place)] = ears.told
    assert place.thread.ts == "1.2"


def test_a_direct_message_is_meant_for_us():
    """In a DM nobody has to name us."""
    ears = Ears()
    ears.strangers.hear(changed("message_dm", team="T0PARTNER", user_team="T0PARTNER"))
    assert len(ears.told) == 1


def test_not_everybody_is_remembered():
    """However many speak to us, only so many are kept."""
    ears = Ears()
    for n in range(MOST + 1):
        ears.strangers.hear(changed(EXTERNAL, user=f"U{n}"))
    ears.strangers.hear(changed(EXTERNAL, user=f"U{MOST}"))
    ears.strangers.hear(changed(EXTERNAL, user="U0"))
    assert len(ears.told) == MOST + 2
