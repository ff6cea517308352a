"""A channel is shared with another company while something in it waits to be decided."""

import pytest

from bot.playground.messages import full_text
from bot.slack import replies
from tests.stories.conftest import Opening
from tests.stories.office import buttons
from tests.stories.test_who_decides import HOTEL, MANAGERS, policy


async def test_what_waits_there_hides_what_it_is_about(
    open_office: Opening, monkeypatch: pytest.MonkeyPatch
):
    """At the next look at it: the card, the line in the thread, and whatever is asked later."""
    monkeypatch.setattr(replies, "SHARED_REMEMBERED", 0.0)
    office = await open_office(**policy(approvers=[MANAGERS]))
    thread = await office.ask(HOTEL)
    card = await office.card("200")
    line = await office.answer(thread, "hotel")
    for name in ("expenses", "approvals"):
        office.slack.workspace.channel(name).is_ext_shared = True
    await office.slack.set_group("managers", ["max", "mia"])
    for shown in (card, line):
        await office.slack.wait_for(lambda m=shown: "hotel" not in full_text(office.now(m)))
    assert "approve" not in buttons(office.now(card))
    assert "withdraw" in buttons(office.now(line))
    await office.ask("please reimburse 300 dollars for the merger dinner")
    newer = await office.slack.wait_for(
        lambda: [m for m in office.slack.messages("approvals") if m["ts"] != card["ts"]]
    )
    assert "merger" not in full_text(newer[0])
