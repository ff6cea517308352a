"""How long it is waited for that Slack says who may be in a channel."""

from types import SimpleNamespace

import pytest

from bot.playground import LocalSlack
from bot.slack.endings import Unanswered
from bot.slack.replies import LULL, UNTOLD, Replies

FAULT, STRANGE, LATER, TOKEN = "internal_error", "next_year", "ratelimited", "invalid_auth"
HOUR = 3600.0


@pytest.mark.parametrize(
    ("looks", "withheld"),
    [
        pytest.param([(0, FAULT)], False, id="once"),
        pytest.param([(0, FAULT), (UNTOLD, FAULT)], True, id="for a minute"),
        pytest.param([(0, FAULT), (HOUR, FAULT)], False, id="an hour later once more"),
        pytest.param(
            [(0, FAULT), (HOUR, FAULT), (HOUR + UNTOLD, FAULT)], True, id="a minute of another hour"
        ),
        pytest.param(
            [(at, FAULT) for at in (0, 45, 50)] + [(LULL + 49, FAULT)], True, id="tried seldom"
        ),
        pytest.param([(0, LATER), (UNTOLD, FAULT)], False, id="it wanted to be asked later"),
        pytest.param([(0, TOKEN), (UNTOLD, FAULT)], False, id="the token was replaced"),
        pytest.param([(0, LATER), (HOUR, LATER)], False, id="it always wants to be asked later"),
        pytest.param([(0, STRANGE)], False, id="a word that nobody knows"),
        pytest.param([(0, STRANGE), (UNTOLD, STRANGE)], True, id="such a word for a minute"),
        pytest.param([(0, FAULT), (30, ""), (2 * LULL, FAULT)], False, id="it answered between"),
        pytest.param([(0, "channel_not_found")], True, id="no answer is to be expected"),
    ],
)
async def test_a_channel_is_shared_when_slack_is_silent(
    slack: LocalSlack,
    replies: Replies,
    monkeypatch: pytest.MonkeyPatch,
    looks: list[tuple[float, str]],
    withheld: bool,
):
    """Only where it says nothing for a minute on end, each time anew: a lone fault is none."""
    channel, told = slack.workspace.channel("general").id, False
    for at, error in looks:
        clock = SimpleNamespace(monotonic=lambda at=at: 1000.0 + at)
        monkeypatch.setattr("bot.slack.replies.time", clock)
        if error:
            kind = "ratelimited" if error == LATER else "refused"
            slack.fail("conversations.info", kind, error=error)
        try:
            told = await replies.shared(channel)
        except Unanswered:
            told = False
    assert told == withheld
