"""The audit of approvals, its export, and what the verifier finds in it."""

import hashlib
import json
import random
import subprocess
import sys

import pytest

from agents import Companions
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Commit
from bot.approvals import audit
from bot.approvals import verify as verifier
from bot.approvals.decide import decide, settle
from bot.approvals.verify import Finding, link, main, root, verify
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import KEY, approval, click

SESSION = str(KEY)


async def exported(slot, *, rounds: int = 1, first: int = 0) -> list[str]:
    """The export of a session in which some requests were decided, counted from `first`."""
    for n in range(first, first + rounds):
        asked = await put(slot, id=f"{n}-0", digest=f"{n:064}")
        await decide(slot, KEY, click(asked, "UX9"))
        await decide(slot, KEY, click(asked, act="reject", reason="Größe: “no”"))
    view = await slot.read(KEY, parts=("audit",))
    return list(audit.lines(SESSION, view.audit))


async def test_an_export_verifies(slot):
    """What either store wrote passes the verifier, whoever wrote it; its head is the store's."""
    await exported(slot, rounds=2)
    begun = await slot.begin(KEY, owner="test", lease=5000)
    opened = Companions(audit=[audit.opened(approval())])
    await slot.commit(
        KEY, Commit(id="c", fence=begun.fence, version=begun.version, companions=opened)
    )
    lines = await exported(slot, first=2)
    view = await slot.read(KEY, parts=("audit",))
    found = verify(lines)
    assert (found.findings, len(lines)) == ([], 10)
    assert found.heads == {SESSION: view.audit[-1][1]}


async def test_who_did_what_can_be_read():
    """The audit names who tried, who voted, and what came out; of what they said a hash."""
    entries = [json.loads(line)["entry"] for line in await exported(MemorySlot())]
    tried, voted, decided = entries
    assert (tried["type"], tried["person"], tried["code"]) == (
        "approval.refused",
        "UX9",
        "not_approver",
    )
    assert (voted["person"], voted["confirmed"]) == ("UBOSS", False)
    assert voted["reason_sha256"] == hashlib.sha256("Größe: “no”".encode()).hexdigest()
    assert voted["payload_sha256"] is None
    assert "Größe" not in json.dumps(entries, ensure_ascii=False)
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


def test_what_was_entered_can_be_proved():
    """The hash of the values that somebody entered is that of their canonical JSON."""
    vote = {"person": "UBOSS", "confirmed": True, "at": 1, "payload": {"to": "Ä", "days": 3}}
    found = audit.voted(approval(votes=[vote]))
    text = b'{"days":3,"to":"\\u00c4"}'
    assert found["payload_sha256"] == hashlib.sha256(text).hexdigest()
    assert "Ä" not in str(found)


def test_a_self_approval_is_marked():
    """Who votes on their own request is marked so."""
    vote = {"person": "UASK", "confirmed": True, "at": 1}
    found = audit.voted(approval(votes=[vote]))
    assert found["own_request"] is True


def _with(line: str, **more: object) -> str:
    """A line that says something else as well, or, with None, no longer says it."""
    told = {name: value for name, value in (json.loads(line) | more).items() if value is not None}
    return json.dumps(told, sort_keys=True)


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
        pytest.param(lambda lines: [_with(lines[0], note="x"), *lines[1:]], id="one says more"),
        pytest.param(lambda lines: [_with(lines[0], entry=None), *lines[1:]], id="one says less"),
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


def chains(sessions: int = 10, entries: int = 100) -> dict[str, list[str]]:
    """A thousand entries in ten sessions, exported; each session's lines."""
    made: dict[str, list[str]] = {}
    for n in range(sessions):
        name, head, chain = f"T1:app:thread:C{n}", "", []
        for place in range(entries):
            entry = {"type": "approval.voted", "at": place, "person": f"U{n}", "reason": "größe"}
            head = link(head, entry)
            chain.append((entry, head))
        made[name] = list(audit.lines(name, chain))
    return made


def anchored(
    made: dict[str, list[str]], *, prev: str = "", lapses: dict[str, int | None] | None = None
) -> tuple[str, str]:
    """The anchor line over these chains, and its root."""
    heads = {name: json.loads(lines[-1])["hash"] for name, lines in made.items()}
    told = {"anchor": "2026-11-30", "heads": heads, "lapses": lapses or {}, "prev": prev}
    told["root"] = root(told)
    return json.dumps(told, sort_keys=True), told["root"]


MADE = chains()
WHOLE = [line for lines in MADE.values() for line in lines]
ANCHOR, ROOT = anchored(MADE)
GROWN = [*WHOLE, ANCHOR]
FAULTS = {
    "a dropped entry": lambda at: GROWN[:at] + GROWN[at + 1 :],
    "two swapped": lambda at: [*GROWN[:at], GROWN[at + 1], GROWN[at], *GROWN[at + 2 :]],
    "one inserted again": lambda at: [*GROWN[:at], GROWN[at], *GROWN[at:]],
    "one from elsewhere": lambda at: [*GROWN[:at], GROWN[at - 100], *GROWN[at:]],
    "cut after the anchor's time": lambda at: [
        line for line in GROWN if line not in MADE[f"T1:app:thread:C{at // 100}"][99 - at % 99 :]
    ],
    "a session missing": lambda at: [
        line for line in GROWN if line not in MADE[f"T1:app:thread:C{at // 100}"]
    ],
    "another anchor": lambda at: [*WHOLE, ANCHOR.replace(ROOT[:8], f"{at:08}")],
    "no anchor": lambda at: GROWN[: len(WHOLE)],
}


def test_a_thousand_entries_verify():
    """An export of a thousand entries with its anchor is in order."""
    assert verify(GROWN, roots=[ROOT]).findings == []
    assert len(WHOLE) == 1000


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at", range(100, 1000, 61))
def test_every_fault_of_a_thousand_entries_is_found(fault, at):
    """Dropped, swapped, inserted, cut and missing entries are found, wherever they are."""
    assert verify(FAULTS[fault](at), roots=[ROOT]).findings


def test_every_flipped_byte_of_a_thousand_entries_is_found():
    """One bit of any byte flipped: the line is found, whatever it says then."""
    rng = random.Random(11)
    for _ in range(400):
        place = rng.randrange(len(GROWN))
        raw = bytearray(GROWN[place].encode())
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(7)
        changed = raw.decode(errors="replace")
        lines = [*GROWN[:place], changed, *GROWN[place + 1 :]]
        first = place - place % 100
        near = lines if place == len(WHOLE) else lines[first : first + 100]
        assert verify(near, roots=[ROOT] if place == len(WHOLE) else []).findings, changed


VICTIM = next(iter(MADE))
LEFT = [line for name, lines in MADE.items() if name != VICTIM for line in lines]


def test_a_session_whose_time_was_over_may_be_missing():
    """What the anchor said would be kept until then may be gone afterwards, not before."""
    told, noted = anchored(MADE, lapses={VICTIM: 1000})
    assert [f.problem for f in verify([*LEFT, told], now=999, roots=[noted]).findings] == [
        "the noted head is missing"
    ]
    assert verify([*LEFT, told], now=1001, roots=[noted]).findings == []


def test_a_session_may_be_gone_once_a_later_anchor_says_so():
    """A session that waited at one anchor may be gone when the time that a later one says is up."""
    first, prev = anchored(MADE)
    second, noted = anchored(MADE, prev=prev, lapses={VICTIM: 1000})
    assert verify([*LEFT, first, second], now=1001, roots=[noted]).findings == []
    assert verify([*LEFT, first, second], now=1001, roots=[prev]).findings


FIRST, PREV = anchored(MADE, lapses={VICTIM: 5000})
LATER, LATEST = anchored({n: c for n, c in MADE.items() if n != VICTIM}, prev=PREV)


def forged(line: str, **told: object) -> str:
    """An anchor that says something else, with a root that fits."""
    made = {**json.loads(line), **told}
    return json.dumps({**made, "root": root(made)}, sort_keys=True)


ERASED = {
    "only the session": [*LEFT, FIRST, LATER],
    "its lapse, too": [*LEFT, FIRST.replace("5000", "1"), LATER],
    "its lapse, and the root with it": [*LEFT, forged(FIRST, lapses={VICTIM: 1}), LATER],
    "its head": [*LEFT, forged(FIRST, heads=json.loads(LATER)["heads"]), LATER],
    "the anchor": [*LEFT, forged(LATER, prev="")],
    "all anchors": LEFT,
    "a later anchor says it may": [
        *LEFT,
        FIRST,
        LATER,
        anchored(MADE, prev=LATEST, lapses={VICTIM: 1})[0],
    ],
}


@pytest.mark.parametrize("lines", ERASED.values(), ids=ERASED)
def test_an_erased_session_is_found(lines):
    """Whoever erases a session and what anchors say of it is found by the newest noted root."""
    assert verify([*WHOLE, FIRST, LATER], now=1001, roots=[LATEST]).findings == []
    assert verify(lines, now=1001, roots=[LATEST]).findings


NO_EXPORTS = {
    "no text": b"\xb6\xff",
    "deep nesting": b'{"a":' * 20_000,
    "deep nesting that is closed": b"[" * 20_000 + b"]" * 20_000,
    "a lapse that is text": json.dumps(
        {**json.loads(ANCHOR), "lapses": {VICTIM: "x"}}, sort_keys=True
    ).encode(),
    "a lapse that is a flag": forged(ANCHOR, lapses={VICTIM: True}).encode(),
    "heads that are numbers": forged(ANCHOR, heads={VICTIM: 1}).encode(),
    "heads that are a list": forged(ANCHOR, heads=[]).encode(),
    "a number with too many digits": b"9" * 5_000,
}


@pytest.mark.parametrize("content", NO_EXPORTS.values(), ids=NO_EXPORTS)
def test_a_file_that_is_no_export(content, tmp_path):
    """The verifier runs by itself where it stands, and has a sentence for whatever it is given."""
    (tmp_path / "given").write_bytes(content)
    ran = subprocess.run(
        [sys.executable, verifier.__file__, str(tmp_path / "given")],
        capture_output=True,
        text=True,
        check=False,
        env={},
    )
    assert (ran.returncode in (1, 2), ran.stderr) == (True, "")
    problem, *summary = ran.stdout.splitlines()
    assert problem.startswith("line 1: ") or " cannot be read: " in problem
    assert len(summary) == ran.returncode % 2


MISSED = f"1 line, 0 sessions, 1 anchor: {len(MADE) - 1} problems, named above."


@pytest.mark.parametrize(
    ("lines", "status", "told"),
    [
        pytest.param([], 2, "There is no entry here, so nothing was verified.", id="nothing"),
        pytest.param(
            WHOLE, 0, "Without an anchor entries cut off the end are not missed.", id="no anchor"
        ),
        pytest.param([*WHOLE, FIRST], 0, "1 anchor: nothing is wrong.", id="whole"),
        pytest.param([*WHOLE[1:], FIRST], 1, "1 anchor: 1 problem, named above.", id="not whole"),
        pytest.param([FIRST], 1, MISSED, id="all heads are missing"),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["as exported", "with a byte order mark"])
def test_what_was_verified_is_told(tmp_path, capsys, lines, status: int, told: str, *, mark: str):
    """The last line says how much it was, and what nobody can tell from it."""
    given = tmp_path / "given"
    given.write_text(mark + "".join(f"{line}\n" for line in lines), "utf-8")
    assert main([str(given)]) == status
    assert capsys.readouterr().out.splitlines()[-1].endswith(told)


def test_a_file_that_is_not_there(tmp_path, capsys):
    """A file that cannot be read is said, and told apart from one that was changed."""
    assert main([str(tmp_path / "nosuch")]) == 2
    told = f"{tmp_path}/nosuch cannot be read: No such file or directory.\n"
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("finding", "told"),
    [
        pytest.param(Finding(3, "a", "it was changed"), "line 3: it was changed (a)", id="a line"),
        pytest.param(
            Finding(3, "", "this is not an entry"), "line 3: this is not an entry", id="?"
        ),
        pytest.param(Finding(0, "a", "it is missing"), "it is missing (a)", id="cut off"),
    ],
)
def test_what_is_wrong_is_said_with_where(finding: Finding, told: str):
    """A line has its number and its session; what is missing has no line."""
    assert str(finding) == told


def test_an_export_commands_no_terminal(tmp_path, capsys):
    """A file may come from anybody: what a terminal would obey or hide is spelled."""
    entry = {"type": "approval.opened"}
    line = {"session": "a\x1b[2J\u202e", "entry": entry, "prev": "", "hash": link("", entry)}
    (tmp_path / "export").write_text(json.dumps(line, sort_keys=True))
    assert main([str(tmp_path / "export")]) == 0
    assert "a\\x1b[2J\\u202e " in capsys.readouterr().out
