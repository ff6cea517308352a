"""What could not be posted is tried again: how long it waits, and when it is given up."""

import pytest

from bot.approvals import posts
from bot.outbox import MENDED_AGAIN
from bot.playground import MAX
from tests.bot.owing import Desk, answer, question

OF_APP = [
    "account_inactive",
    "accesslimited",
    "deprecated_endpoint",
    "enterprise_is_restricted",
    "invalid_auth",
    "method_deprecated",
    "missing_scope",
    "not_allowed_token_type",
    "not_authed",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
    "two_factor_setup_required",
]
METHODS = ("chat.postMessage", "chat.update", "conversations.open", "conversations.replies")


@pytest.mark.parametrize("code", OF_APP)
@pytest.mark.parametrize("what", ["an answer", "a card", "a person's card", "a change"])
async def test_what_is_wrong_with_the_app_is_about_no_post(
    desk: Desk, code: str, what: str, caplog
):
    """While Slack takes nothing from this app all stays owed, and operators hear why."""
    place = MAX.id if what == "a person's card" else desk.slack.workspace.channel("approvals").id
    asked = question(desk, place)
    card = posts.card(asked, asked.copies[0])
    owed = {"an answer": answer(desk, 1, "one"), "a change": posts.updates(asked, mark=2)[0]}
    if what == "a change":
        await desk.owe(card, approvals=(asked,))
        await desk.pay()
    for method in METHODS:
        desk.slack.fail(method, "refused", error=code, times=2)
    post = owed.get(what, card)
    await desk.owe(post, approvals=(asked,))
    first, second = await desk.pay(), await desk.pay()
    assert (first.wait, second.wait) == (MENDED_AGAIN, 2 * MENDED_AGAIN)
    assert [each.id for each in second.posts] == [post.id]
    told = [each for each in caplog.records if each.msg == "outbox.refused"]
    assert [(line.levelname, vars(line)["fields"]["code"]) for line in told] == [
        ("ERROR", code)
    ] * 2
    desk.slack.mend()
    assert (await desk.pay()).wait is None
    view = await desk.slot.read(desk.key, parts=("posts",))
    assert view
    assert post.id in view.places
    assert desk.slack.dms("ana") == []
