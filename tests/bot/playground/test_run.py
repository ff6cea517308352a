"""What a bot on this machine is told of a workspace there."""

import pytest

from bot.playground import MAX, MIA, LocalSlack
from bot.playground.run import local
from bot.settings import Route, Settings

SUPPORT = Route(agent="support")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, {"#general": None, "#expenses": "reimbursement"}, id="none"),
        pytest.param(
            {"#general": SUPPORT},
            {"#general": "support", "#expenses": "reimbursement"},
            id="one beside those that are there",
        ),
        pytest.param(
            {"#expenses": SUPPORT},
            {"#expenses": "support", "#time-off": "time_off"},
            id="one in place of one that is there",
        ),
    ],
)
def test_routes(given: dict[str, Route], expected: dict[str, str | None]):
    """One's own routes come to those of the playground, whose hints stay true."""
    routes = local(LocalSlack(), Settings.read(routes=given)).routes
    assert {place: routes[place].agent if place in routes else None for place in expected} == (
        expected
    )


def test_approvers():
    """Who decides is Max or Mia unless somebody else is named."""
    slack = LocalSlack()
    assert local(slack, Settings.read()).approvers == (MAX.id, MIA.id)
    assert local(slack, Settings.read(approvers=["U02ABCDEF"])).approvers == ("U02ABCDEF",)
