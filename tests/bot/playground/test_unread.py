"""What is new for somebody, and what of it is theirs."""

from dataclasses import astuple

import pytest

from bot.playground import Workspace
from bot.playground.messages import posted, typed
from bot.playground.people import ANA, BEN, MAX, MIA, PAT, Person
from bot.playground.unread import unread

BUTTON = {"type": "actions", "elements": []}


@pytest.fixture
def workspace() -> Workspace:
    """Ana asks in #expenses, the bot answers in the thread and asks Max in #approvals."""
    workspace = Workspace(now=1000)
    expenses, approvals = workspace.channel("expenses"), workspace.channel("approvals")
    asked = typed(ANA, "please", client_msg_id="m", block_id="b")
    said = workspace.post(expenses, asked, now=1001)
    workspace.post(expenses, posted(f"<@{MAX.id}>", None), now=1002, thread_ts=said["ts"])
    workspace.post(approvals, posted(f"ask <@{MAX.id}>", [BUTTON]), now=1003)
    workspace.whisper(approvals, MIA, posted("no", None), now=1004)
    workspace.post(workspace.dm(BEN), posted("hi", None), now=1005)
    return workspace


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        pytest.param(ANA, {"expenses": (1, 1, 0)}, id="her own thread"),
        pytest.param(BEN, {"expenses": (2, 0, 0), "directmessage": (1, 1, 0)}, id="a DM"),
        pytest.param(MAX, {"expenses": (2, 1, 0), "approvals": (1, 1, 1)}, id="mentioned"),
        pytest.param(MIA, {"expenses": (2, 0, 0), "approvals": (2, 1, 0)}, id="a private note"),
        pytest.param(PAT, {}, id="nothing"),
    ],
)
def test_unread(workspace: Workspace, person: Person, expected: dict[str, tuple[int, ...]]) -> None:
    """New messages, those meant for the person, and cards among them."""
    found = unread(workspace, person, {})
    assert {workspace.channels[key].name: astuple(each) for key, each in found.items()} == expected


def test_what_was_read_is_not_new(workspace: Workspace) -> None:
    """A mark counts for its channel only."""
    expenses = workspace.channel("expenses").id
    assert set(unread(workspace, MAX, {expenses: 1002.5})) == {workspace.channel("approvals").id}


@pytest.mark.parametrize(
    ("blocks", "mine"), [pytest.param([BUTTON], 1, id="open"), pytest.param([], 0, id="closed")]
)
def test_an_edit_notifies_nobody(workspace: Workspace, blocks: list[dict[str, str]], mine: int):
    """A mention that an edit brought counts only on a card that still has its buttons."""
    channel = workspace.channel("general")
    said = workspace.post(channel, posted("a card", [BUTTON]), now=1006)
    changes = {"text": f"by <@{MAX.id}>", "blocks": blocks}
    workspace.edit(channel, said["ts"], changes, now=1007)
    assert unread(workspace, MAX, {})[channel.id].mine == mine
