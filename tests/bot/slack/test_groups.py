"""Who may decide behind names now, as Slack says, and how little it is asked for that."""

import asyncio

import pytest

from bot.playground import MAX, MIA, PAT, LocalSlack
from bot.slack.groups import Groups
from bot.slack.people import People
from bot.slack.replies import QUICK, Replies

MANAGERS = "S0LOCALMGR1"
ROLES = {"board": (MAX.id, "deputies"), "deputies": (MANAGERS,), "empty": ()}
BOTH = {MAX.id, MIA.id}


@pytest.fixture
def groups(slack: LocalSlack, replies: Replies) -> Groups:
    """Groups on a clock that stands still."""
    people = People(replies, team=slack.workspace.person("max").team_id, clock=lambda: 0)
    return Groups(replies, people, roles=ROLES, clock=lambda: 0)


@pytest.mark.parametrize(
    ("name", "gone", "expected"),
    [
        pytest.param(MAX.id, None, {MAX.id}, id="a person"),
        pytest.param(MAX.id, MAX, set(), id="a person who left"),
        pytest.param(MANAGERS, None, BOTH, id="a user group"),
        pytest.param(MANAGERS, MAX, {MIA.id}, id="a member who left"),
        pytest.param("board", None, BOTH, id="a role through others"),
        pytest.param("empty", None, set(), id="a role of nobody"),
        pytest.param("S0NOGROUP", None, set(), id="a group that is gone"),
        pytest.param("U0NOBODY", None, set(), id="a person whom Slack does not know"),
        pytest.param(PAT.id, None, set(), id="a person of another company"),
        pytest.param("finance", None, set(), id="a name that nobody knows"),
    ],
)
async def test_who_may_decide(slack: LocalSlack, groups: Groups, name: str, gone, expected):
    """Behind each name stand those who could press a button now."""
    if gone:
        slack.workspace.deactivate(gone, now=1.0)
    assert await groups.able([name], 9) == {name: frozenset(expected)}


async def test_no_more_than_needed_are_looked_up(slack: LocalSlack, groups: Groups):
    """Once there are enough, nobody else of a group is asked about."""
    assert len((await groups.able([MANAGERS], 1) or {})[MANAGERS]) == 1
    assert len(slack.calls("users.info")) == 1


@pytest.mark.parametrize("method", ["users.info", "usergroups.users.list"])
async def test_nobody_is_guessed(slack: LocalSlack, groups: Groups, method: str):
    """While Slack does not say, nobody is told to be able or not."""
    slack.fail(method, "error", times=1)
    assert await groups.able([MANAGERS], 9) is None
    assert await groups.able([MANAGERS], 9) == {MANAGERS: frozenset(BOTH)}


async def test_many_looks_ask_once(slack: LocalSlack, groups: Groups):
    """A thousand looks at once and one after another: each is asked about once."""
    await asyncio.gather(*(groups.able([MANAGERS, MAX.id], 9) for _ in range(500)))
    for _ in range(500):
        await groups.able([MANAGERS, MAX.id], 9)
    assert len(slack.calls("usergroups.users.list")) == 1
    assert len(slack.calls("users.info")) == 2


@pytest.mark.parametrize(
    ("fault", "first", "then"),
    [
        pytest.param(None, BOTH, BOTH, id="who is in it, remembered"),
        pytest.param("missing_scope", set(), set(), id="Slack never says it: nobody is known"),
        pytest.param("ratelimited", None, BOTH, id="Slack says it later"),
        pytest.param("internal_error", None, BOTH, id="Slack is out of order"),
        pytest.param("token_revoked", None, BOTH, id="the token is replaced"),
        pytest.param("some_new_code", None, BOTH, id="nobody knows for how long"),
    ],
)
async def test_who_is_in_a_channel(slack: LocalSlack, groups: Groups, fault, first, then):
    """Whoever is not known to be in a channel counts as not being there; nobody is guessed."""
    channel = slack.workspace.channel("approvals").id
    if fault:
        slack.fail("conversations.members", "refused", error=fault, times=1)
    found = [await groups.inside(channel) for _ in range(2)]
    assert [each and each - {"U0LOCALBOT1"} for each in found] == [first, then]


async def test_all_names_are_looked_up_at_once(slack: LocalSlack, groups: Groups, monkeypatch):
    """Somebody who presses a button waits as long as for one group, however many are named."""
    monkeypatch.setattr("bot.slack.replies.QUICK", QUICK)
    names = [f"S0LOCALG{number:02}" for number in range(40)]
    slack.fail("usergroups.users.list", "slow", seconds=3_600, times=len(names))
    assert await groups.voter(MAX.id, names) is None
    asked = [call.at for call in slack.calls("usergroups.users.list")]
    assert len(asked) == len(names)
    assert max(asked) - min(asked) < QUICK * len(names) / 2
