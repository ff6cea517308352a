"""The audit of approvals, its export, and what the verifier finds in it."""

import json
import random

import pytest

from agents.runtime.slot.memory import MemorySlot
from bot.approvals import audit
from bot.approvals.decide import decide, settle
from bot.approvals.verify import main, verify
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import KEY, approval, click

SESSION = str(KEY)


async def exported(slot, *, rounds: int = 1) -> list[str]:
    """The export of a session in which some requests were decided."""
    for n in range(rounds):
        asked = await put(slot, id=f"{n}-0", digest=f"{n:064}")
        await decide(slot, KEY, click(asked, "UX9"))
        await decide(slot, KEY, click(asked, act="reject", reason="Größe: “no”"))
    view = await slot.read(KEY, parts=("audit",))
    return list(audit.lines(SESSION, view.audit))


async def test_an_export_verifies(slot):
    """What either store wrote passes the verifier, and its head is the store's."""
    lines = await exported(slot, rounds=3)
    view = await slot.read(KEY, parts=("audit",))
    found = verify(lines)
    assert (found.findings, len(lines)) == ([], 9)
    assert found.heads == {SESSION: view.audit[-1][1]}


async def test_who_did_what_can_be_read():
    """The audit names who tried, who voted, what they said, and what came out."""
    entries = [json.loads(line)["entry"] for line in await exported(MemorySlot())]
    tried, voted, decided = entries
    assert (tried["type"], tried["person"], tried["code"]) == (
        "approval.refused",
        "UX9",
        "not_approver",
    )
    assert (voted["person"], voted["confirmed"], voted["reason"]) == ("UBOSS", False, "Größe: “no”")
    assert (decided["status"], decided["by"]) == ("rejected", "UBOSS")


async def test_nobody_decided_an_expired_request():
    """An expired request has no vote and no decider in the audit."""
    slot = MemorySlot()
    await put(slot, left=-1)
    await settle(slot, KEY, "3-0")
    (entry, _), *more = (await slot.read(KEY, parts=("audit",))).audit
    assert (entry["type"], entry["status"], entry["by"], more) == (
        "approval.decided",
        "expired",
        None,
        [],
    )


def test_a_self_approval_is_marked():
    """Who votes on their own request is marked so."""
    vote = {"person": "UASK", "confirmed": True, "at": 1}
    found = audit.voted(approval(votes=[vote]))
    assert found["own_request"] is True


async def test_every_changed_byte_is_found():
    """No byte of an export can be changed without the verifier finding it."""
    text = "\n".join(await exported(MemorySlot(), rounds=4))
    rng = random.Random(7)
    for place in rng.sample(range(len(text)), 600):
        other = rng.choice([c for c in 'a0 "{9,Zx' if c != text[place]])
        changed = text[:place] + other + text[place + 1 :]
        assert verify(changed.split("\n")).findings, (place, text[place], other)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: lines[:4] + lines[5:], id="one is missing"),
        pytest.param(lambda lines: lines[1:], id="the first is missing"),
        pytest.param(lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], id="two swapped"),
        pytest.param(lambda lines: lines[:3] + lines[2:], id="one twice"),
        pytest.param(lambda lines: [*lines, lines[0]], id="a fork at the end"),
        pytest.param(lambda lines: [*lines, "[]"], id="a line that is no entry"),
        pytest.param(lambda lines: [*lines, ""], id="an empty line"),
        pytest.param(
            lambda lines: [*lines, json.dumps(json.loads(lines[0]), indent=0).replace("\n", "")],
            id="another spelling",
        ),
    ],
)
async def test_moved_lines_are_found(change):
    """Missing, doubled, swapped and foreign lines are found."""
    lines = await exported(MemorySlot(), rounds=2)
    assert verify(lines).findings == []
    assert verify(change(lines)).findings


async def test_a_cut_end_is_found_with_an_anchor():
    """Entries missing at the end are found by a head that was noted before."""
    lines = await exported(MemorySlot(), rounds=2)
    noted = verify(lines).heads
    grown = verify([*lines], anchors=noted)
    cut = verify(lines[:-1], anchors=noted)
    assert (grown.findings, [f.line for f in cut.findings]) == ([], [0])
    assert verify([], anchors=noted).findings[0].session == SESSION


async def test_the_command(tmp_path, capsys):
    """The verifier runs on a file, prints what it finds, and fails when that is anything."""
    lines = await exported(MemorySlot())
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    whole.write_text("\n".join(lines) + "\n", "utf-8")
    broken.write_text("\n".join(lines[1:]) + "\n", "utf-8")
    assert main([str(whole)]) == 0
    assert SESSION in capsys.readouterr().out
    assert main([str(broken)]) == 1
    assert "line 1:" in capsys.readouterr().out
