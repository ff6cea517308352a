"""What Slack refuses for a moment is no last word: it is tried again where it belongs."""

import pytest

from agents.runtime.slot.port import Decide
from bot.approvals import posts
from bot.playground.web_api import FaultKind
from bot.slack.endings import Refused
from bot.tries import FEW
from tests.bot.owing import Desk, answer, question
from tests.stories.office import buttons

PASSING = ("external_channel_migrating", "message_limit_exceeded", "update_failed")
STRANGE = ("access_denied", "an_error_of_next_year", "ekm_access_denied")
FINAL = ("channel_not_found", "is_archived", "no_text", "restricted_action_x")


async def asked(desk: Desk, *, person: str = "") -> None:
    """Owe a card to the approvers' channel, or to a person."""
    place = person or desk.slack.workspace.channel("approvals").id
    opened = question(desk, place)
    await desk.owe(posts.card(opened, opened.copies[0]), approvals=(opened,))


@pytest.mark.parametrize("code", [*PASSING, *STRANGE])
@pytest.mark.parametrize("method", ["chat.postMessage", "conversations.open"])
async def test_a_card_comes_where_it_belongs(desk: Desk, code: str, method: str):
    """Refused once, it is owed still, and nobody is told that they could not be asked."""
    max_ = desk.slack.workspace.person("max").id
    await asked(desk, person=max_ if method == "conversations.open" else "")
    desk.slack.fail(method, "refused", error=code)
    debt = await desk.pay()
    assert debt.waits.pause is not None
    await desk.pay()
    [card] = [*desk.slack.messages("approvals"), *desk.slack.dms("max")]
    assert buttons(card)
    assert desk.said() == []


@pytest.mark.parametrize("code", [*PASSING, *STRANGE])
async def test_a_closed_card_loses_its_buttons(desk: Desk, code: str):
    """Nobody is left with something to press because one change of a message was refused."""
    await asked(desk)
    await desk.pay()
    opened = question(desk, desk.slack.workspace.channel("approvals").id)
    decided = opened.model_copy(update={"status": "rejected", "rev": 2, "decided_at": 1})
    shown = posts.updates(decided, mark=2)
    await desk.slot.decide(desk.key, Decide(record=decided.record(), posts=shown))
    desk.slack.fail("chat.update", "refused", error=code)
    for _ in range(2):
        await desk.pay()
    [card] = desk.slack.messages("approvals")
    assert not buttons(card)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        *(pytest.param("refused", code, id=code) for code in (*PASSING, *STRANGE)),
        pytest.param("ratelimited", "", id="asked too often"),
        pytest.param("error", "", id="a fault"),
        pytest.param("lost", "", id="no answer"),
    ],
)
async def test_nobody_waits_for_a_change(desk: Desk, kind: FaultKind, error: str):
    """What is said behind a change that Slack wants later is said at once; the change comes."""
    await asked(desk)
    await desk.pay()
    opened = question(desk, desk.slack.workspace.channel("approvals").id)
    decided = opened.model_copy(update={"status": "rejected", "rev": 2, "decided_at": 1})
    await desk.slot.decide(
        desk.key, Decide(record=decided.record(), posts=posts.updates(decided, mark=2)[:1])
    )
    desk.slack.fail("chat.update", kind, error=error, seconds=1)
    await desk.owe(answer(desk, 1, "one"))
    debt = await desk.debt()
    async with debt.lasting():
        await debt.pay(look=True)
        await desk.owe(answer(desk, 2, "two"))
        await debt.pay(look=True)
        assert (desk.said(), debt.waits.pause) == (["one", "two"], None)
        debt.waits.aside = dict.fromkeys(debt.waits.aside, 0.0)
        await debt.pay()
    assert not buttons(desk.slack.messages("approvals")[0])
    assert debt.waits.again is None


@pytest.mark.parametrize("code", STRANGE)
async def test_what_may_be_there_is_not_made_twice(desk: Desk, code: str):
    """While Slack refuses for a moment to say what is there, nothing is posted again."""
    await desk.owe(answer(desk, 1, "one"))
    desk.slack.fail("chat.postMessage", "lost")
    await desk.pay()
    desk.slack.fail("conversations.replies", "refused", error=code)
    for _ in range(2):
        await desk.pay()
    assert desk.said() == ["one"]


@pytest.mark.parametrize(
    ("code", "tries"),
    [*(pytest.param(c, FEW, id=c) for c in STRANGE), *(pytest.param(c, 1, id=c) for c in FINAL)],
)
async def test_what_slack_goes_on_saying_is_believed(desk: Desk, code: str, tries: int):
    """After a few tries, or at once where it is known to be for good, it is asked elsewhere."""
    await asked(desk)
    desk.slack.fail("chat.postMessage", "refused", error=code, times=tries)
    for _ in range(tries):
        assert desk.said() == []
        await desk.pay()
    assert len(desk.said()) == 2
    assert "could not ask in the channel for approvals" in desk.said()[0]


@pytest.mark.parametrize("code", STRANGE)
def test_what_is_strange(code: str):
    """Only what this release has never heard of."""
    assert Refused(code, "").strange


@pytest.mark.parametrize("code", [*FINAL, "message_not_found", "token_revoked", "missing_scope"])
def test_what_is_known(code: str):
    """What Slack is known to refuse for good, or for as long as nobody mends something."""
    assert not Refused(code, "").strange
