"""What operators do at a console: seen, decided and cancelled as theirs, and the audit kept."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from agents import Event
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Commit
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals import verify
from bot.approvals.anchor import anchor
from bot.approvals.board import listed
from bot.approvals.request import Approval
from bot.approvals.ruling import Ruling, rule
from bot.approvals.terms import Policy, Quota, Vote
from bot.cli import main, parser
from bot.console import SAVING
from bot.index import Index
from bot.index.lists import SEEN
from bot.slack.blocks.takes import ENOUGH
from tests.agents.slot.pair import pair
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import KEY, SCHEMA

Typed = Callable[..., Awaitable[tuple[int, str]]]
LABELLED = {
    "payload_schema": {
        "type": "object",
        "properties": {"x1": {"type": "string", "title": "API key"}},
    }
}
VOTED = Vote(person="UA", confirmed=True, at=1, payload={"x1": "hunter2"})


@pytest.fixture
async def desk(store_url: str, monkeypatch):
    """A store with one open approval, which the environment points to: slot, index, approval."""
    prefix = f"{uuid.uuid4().hex}:"
    monkeypatch.setenv("REDIS_URL", store_url)
    monkeypatch.setenv("COUNTERSIGN_KEY_PREFIX", prefix)
    async with connect(store_url) as client:
        slot, index = RedisSlot(client, prefix=prefix), Index(client, prefix=prefix)
        asked = await put(
            slot,
            payload_schema=SCHEMA,
            secrets=("token",),
            args={"token": "s3cret"},
            hint="May s3cret be used?",
            precondition={"quote": {"s3cret": 10}},
        )
        await index.send(listed(index.lists, asked))
        yield slot, index, asked


@pytest.fixture
def typed(capsys) -> Typed:
    """Types a command; its exit status and what it printed."""

    async def run(*words: str) -> tuple[int, str]:
        given = parser().parse_args(words)
        status = await given.run(given)
        return status, capsys.readouterr().out

    return run


async def kept(slot: RedisSlot) -> Approval:
    """The approval as it is stored."""
    view = await slot.read(KEY, parts=("approvals",))
    return Approval.from_record(view.approvals["3-0"])


@pytest.mark.parametrize("what", ["approvals list", "dead list", "audit export"])
async def test_an_empty_list_says_that_it_is_one(store_url: str, monkeypatch, capsys, what: str):
    """Whoever looks sees that there is none; what a script reads stays empty."""
    monkeypatch.setenv("REDIS_URL", store_url)
    monkeypatch.setenv("COUNTERSIGN_KEY_PREFIX", f"{uuid.uuid4().hex}:")
    given = parser().parse_args(what.split())
    assert await given.run(given) == 0
    assert capsys.readouterr() == ("", "There is none.\n")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        pytest.param("approvals show nosuch", "no such approval", id="shown"),
        pytest.param("approvals decide nosuch approve", "no such approval", id="decided"),
        pytest.param("approvals cancel nosuch", "no such approval", id="cancelled"),
        pytest.param("audit show nosuch", "no such approval", id="its record"),
        pytest.param("dead show nosuch", "No turn was given up there", id="a session"),
        pytest.param("dead retry nosuch 3", "No turn was given up there", id="tried again"),
    ],
)
async def test_what_is_not_there_is_said_beside_what_a_script_reads(
    desk, capsys, what: str, told: str
):
    """A wrong number ends with 1, prints nothing, and says where the right ones are listed."""
    given = parser().parse_args(what.split())
    assert await given.run(given) == 1
    out, said = capsys.readouterr()
    assert (out, told in said, " list` names " in said) == ("", True, True)


async def test_listed_and_shown(desk, typed: Typed):
    """The newest approvals are listed by number, and one is shown without its secrets."""
    _, _, asked = desk
    status, told = await typed("approvals", "list")
    assert (status, told.split()[:2]) == (0, [asked.reference, "pending"])
    status, told = await typed("approvals", "show", asked.reference.upper())
    assert status == 0
    assert json.loads(told)["tool"] == "reimburse"
    assert '"quote"' in told
    assert "s3cret" not in told
    assert asked.nonce not in told
    assert (await typed("approvals", "show", "ffffffff"))[0] == 1


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param({"args": {"password": "hunter2"}}, id="by its name"),
        pytest.param({"args": {"run": 'sql --password="hunter2"'}}, id="in quotes"),
        pytest.param({"args": {"do": [{"api_key": ["hunter2"]}]}}, id="inside"),
        pytest.param({"hint": 'run it with password="hunter2"'}, id="in the question"),
        pytest.param({"changes": ('password: was "hunter2", is now "x"',)}, id="in a difference"),
        pytest.param({"payload": {"password": "hunter2"}}, id="in what was entered"),
        pytest.param({**LABELLED, "payload": {"x1": "hunter2"}}, id="by its label"),
        pytest.param({**LABELLED, "votes": (VOTED,)}, id="in a vote, by its label"),
        pytest.param({"precondition": {"token": "hunter2x"}}, id="in a condition"),
    ],
)
async def test_what_looks_like_a_secret_is_not_shown(desk, typed: Typed, secret):
    """Nor is what a card masks; it is JSON still, and names what is secret."""
    slot, index, _ = desk
    other = await put(slot, id="4-0", secrets=("pin",), **secret)
    await index.send(listed(index.lists, other))
    _, told = await typed("approvals", "show", other.reference)
    assert "hunter2" not in told
    assert "masked" in told
    assert json.loads(told)["secrets"] == ["pin"]


@pytest.mark.parametrize(
    ("policy", "status", "words"),
    [
        pytest.param(
            Policy(approvers=("UA", "UB")),
            "pending",
            "waits for UA, UB, until 20",
            id="any of them",
        ),
        pytest.param(
            Policy(approvers=("UA", "UB"), quorum=2),
            "pending",
            "waits for UA, UB (2 have to approve), until 20",
            id="both",
        ),
        pytest.param(
            Policy(approvers=("UA",), rules=((Quota(names=("cfo", "UA")),),)),
            "pending",
            "waits for UA (it takes any 1 of (cfo, UA)), until 20",
            id="a rule",
        ),
        pytest.param(
            Policy(approvers=("UA",), quorum=2), "rejected", "decided by UB 1970", id="decided"
        ),
    ],
)
async def test_a_list_says_who_has_to_agree(desk, typed: Typed, policy, status, words):
    """In the words of the cards, as long as it is open; then who decided."""
    slot, index, _ = desk
    ended = {} if status == "pending" else {"decided_by": "UB", "decided_at": 1_000}
    other = await put(slot, id="4-0", policy=policy, status=status, **ended)
    await index.send(listed(index.lists, other))
    _, told = await typed("approvals", "list")
    [line] = [each for each in told.splitlines() if each.startswith(other.reference)]
    call = f"{other.agent}.{other.tool}("
    assert line.startswith(f"{other.reference} {status:9} {call}")
    assert ", asked by UASK 20" in line
    assert f", {words}" in line


async def test_a_list_says_that_an_approval_has_to_be_given_again(desk, typed: Typed):
    """Where the rules were widened after it, it is enough and decided nothing all the same."""
    slot, index, _ = desk
    rule = (Quota(names=("cfo", "UA")), Quota(names=("UA", "UB"), count=2))
    vote = Vote(person="UA", confirmed=True, at=1)
    policy = Policy(approvers=("UA", "UB"), rules=(rule,))
    await index.send(listed(index.lists, await put(slot, id="4-0", policy=policy, votes=(vote,))))
    assert f"; so far UA, {ENOUGH}, until" in (await typed("approvals", "list"))[1]


HIDDEN_SIGNS = "\u202egro.live\u202c \u200b \x9b2J p\u0430ypal"


async def test_nothing_that_is_printed_is_obeyed_or_hidden(desk, typed: Typed):
    """An operator sees the characters that a terminal obeys or does not show; it is JSON still."""
    slot, index, _ = desk
    asked = await put(slot, id="4-0", args={"to": HIDDEN_SIGNS}, hint=HIDDEN_SIGNS)
    await index.send(listed(index.lists, asked))
    for words in (("approvals", "show"), ("audit", "show")):
        status, told = await typed(*words, asked.reference)
        assert status == 0
        assert told.replace("\n", "").isprintable()
        assert not set(told) & set(HIDDEN_SIGNS.replace(" ", "")) - set(map(chr, range(128)))
    _, told = await typed("approvals", "show", asked.reference)
    assert json.loads(told)["args"]["to"] == HIDDEN_SIGNS
    assert "\\u202egro.live" in told


async def test_an_operator_decides(desk, typed: Typed, monkeypatch):
    """A decision is checked like any other and recorded as the operator's, in the audit too."""
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "ceo")
    slot, _, asked = desk
    number = asked.reference
    status, told = await typed("approvals", "decide", number, "approve", "--set", "days=99")
    assert (status, "between 1 and 5" in told) == (1, True)
    twice = ("--set", "days=3", "--set", "days=2")
    status, told = await typed("approvals", "decide", number, "approve", *twice)
    assert (status, "a field was given twice" in told) == (1, True)
    status, told = await typed("approvals", "decide", number, "approve", "--set", "days=3")
    assert (status, "It is approved now, by operator" in told) == (0, True)
    assert told.rstrip().endswith(', with {"days": 3}.')
    stored = await kept(slot)
    assert (stored.status, stored.payload) == ("approved", {"days": 3})
    assert stored.decided_by == f"operator {pwd.getpwuid(os.getuid()).pw_name}"
    assert stored.policy == asked.policy
    assert (await typed("approvals", "decide", number, "reject"))[0] == 1
    status, told = await typed("audit", "show", number)
    assert [line.split('"type": "')[1].split('"')[0] for line in told.splitlines()] == [
        "approval.voted",
        "approval.decided",
    ]


@pytest.mark.parametrize(
    ("act", "said", "status", "why"),
    [
        pytest.param("happened", "recorded that it happened", "cancelled", "happened", id="yes"),
        pytest.param("run", "starts once more", "approved", "", id="no, and it is to run"),
        pytest.param("leave", "left as it is", "rejected", "", id="it stays so"),
        pytest.param("approve", "happened, run", "pending", "", id="approve is no answer"),
        pytest.param("reject", "happened, run", "pending", "", id="nor is reject"),
    ],
)
async def test_an_operator_looks_what_became_of_a_call(
    desk, typed: Typed, act: str, said: str, *, status: str, why: str
):
    """Whether an interrupted call happened is another question than whether it may run."""
    slot, index, _ = desk
    asked = await put(slot, id="4-0", call_id="3-0", unknown=True)
    await index.send(listed(index.lists, asked))
    code, told = await typed("approvals", "decide", asked.reference, act)
    assert (code, said in told) == (status == "pending", True)
    view = await slot.read(KEY, parts=("approvals",))
    stored = Approval.from_record(view.approvals["4-0"])
    assert (stored.status, stored.why) == (status, why)


@pytest.mark.parametrize("act", ["happened", "run", "leave"])
async def test_what_is_said_of_interrupted_calls_only(desk, typed: Typed, act: str):
    """A call that was not started yet cannot have happened."""
    slot, _, asked = desk
    status, told = await typed("approvals", "decide", asked.reference, act)
    assert (status, "approve or reject" in told) == (1, True)
    assert (await kept(slot)).status == "pending"


async def test_an_operator_sees_which_question_it_is(desk, typed: Typed):
    """List and show name what may be decided about it."""
    slot, index, asked = desk
    unsure = await put(slot, id="4-0", call_id="3-0", unknown=True)
    await index.send(listed(index.lists, unsure))
    _, told = await typed("approvals", "list")
    lines = {line.split()[0]: line for line in told.splitlines()}
    assert "happened, run or leave" in lines[unsure.reference]
    assert "happened" not in lines[asked.reference]
    shown = [
        json.loads((await typed("approvals", "show", n.reference))[1]) for n in (unsure, asked)
    ]
    acts = [each["decide"] for each in shown]
    assert acts == [["happened", "run", "leave"], ["approve", "reject"]]


async def test_an_operator_cancels(desk, typed: Typed):
    """A cancelled approval says that an operator closed it."""
    slot, _, asked = desk
    status, _ = await typed("approvals", "cancel", asked.reference)
    stored = await kept(slot)
    assert (status, stored.status, stored.why) == (0, "cancelled", "operator")


@pytest.mark.parametrize(
    ("frozen", "words", "said"),
    [
        pytest.param(False, ("decide", "approve", "--set", "days=3"), "", id="with the replica"),
        pytest.param(True, ("decide", "approve", "--set", "days=3"), SAVING, id="approved"),
        pytest.param(True, ("decide", "reject"), SAVING, id="rejected"),
        pytest.param(True, ("cancel",), SAVING, id="cancelled"),
        pytest.param(True, ("decide", "approve", "--set", "days=99"), "", id="nothing decided"),
    ],
)
async def test_an_operator_hears_what_one_server_alone_has(
    frozen: bool, words, said: str, typed: Typed, monkeypatch
):
    """What a replica should have and has not yet is not called done, as after a click."""
    monkeypatch.setenv("COUNTERSIGN_STORE_REPLICAS", "1")
    monkeypatch.setenv("COUNTERSIGN_STORE_REPLICA_WAIT", "100")
    with pair() as linked:
        monkeypatch.setenv("REDIS_URL", linked.url)
        async with connect(linked.url) as client:
            asked = await put(RedisSlot(client), payload_schema=SCHEMA)
            await Index(client).send(listed(Index(client).lists, asked))
        if frozen:
            linked.freeze()
        act, *more = words
        status, told = await typed("approvals", act, asked.reference, *more)
    assert (SAVING in told) == bool(said)
    assert status == (1 if frozen else 0)


async def test_an_old_one_that_still_waits_is_found(desk, typed: Typed):
    """However many were asked since, what still waits is listed and can be closed."""
    slot, index, asked = desk
    newer = (
        index.lists.approval_listed(KEY, f"{n}-9", asked.asked_at + n, names=(), is_open=False)
        for n in range(1, SEEN + 10)
    )
    await index.send([command for new in newer for command in new])
    _, told = await typed("approvals", "list")
    assert told.startswith(asked.reference)
    status, _ = await typed("approvals", "cancel", asked.reference)
    assert (status, (await kept(slot)).status) == (0, "cancelled")


@pytest.mark.parametrize(
    ("changes", "left", "act", "kind"),
    [
        pytest.param({}, 60_000, "reject", "ruled", id="open"),
        pytest.param({"status": "rejected"}, 60_000, "reject", "already", id="closed"),
        pytest.param({}, -1, "approve", "late", id="past its time"),
        pytest.param({"payload_schema": SCHEMA}, 60_000, "approve", "invalid", id="no values"),
    ],
)
async def test_what_comes_of_a_ruling(changes, left, act, kind):
    """A ruling says of which kind its end is; the sentence is for people only."""
    slot = MemorySlot()
    asked = await put(slot, left=left, **changes)
    came = await rule(slot, asked, Ruling(act=act, by="ada"))
    assert came.kind == kind
    gone = await rule(MemorySlot(), asked, Ruling(act=act, by="ada"))
    assert gone.kind == "gone"


async def test_the_audit_is_exported_and_verified_elsewhere(desk, typed: Typed, tmp_path: Path):
    """The export verifies by a copy of one file that needs nothing of ours, against the root."""
    slot, index, asked = desk
    await typed("approvals", "decide", asked.reference, "reject", "--reason", "no")
    made = await anchor(slot, await index.lists.audited(), ttl=timedelta(days=30))
    await index.lists.keep_anchor(made["anchor"], json.dumps(dict(made), sort_keys=True))
    status, text = await typed("audit", "export")
    exported = tmp_path / "audit.jsonl"
    exported.write_text(text, "utf-8")
    assert (status, len(text.splitlines())) == (0, 3)
    assert (await typed("audit", "verify", str(exported), made["root"]))[0] == 0
    assert (await typed("audit", "verify", str(exported), "0" * 64))[0] == 1
    assert await typed("audit", "verify", "nosuch.jsonl") == (1, "There is no file nosuch.jsonl.\n")
    alone = shutil.copy(verify.__file__, tmp_path / "verify.py")
    command = [sys.executable, "-I", str(alone), str(exported), made["root"]]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0  # noqa: ASYNC221
    exported.write_text("\n".join(text.splitlines()[1:]) + "\n", "utf-8")
    assert (await typed("audit", "verify", str(exported), made["root"]))[0] == 1


def test_an_act_has_to_be_named(capsys):
    """A command without its act is told what there is."""
    with pytest.raises(SystemExit):
        main(["approvals"])
    assert "ACT" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["days", "=3", ""])
def test_a_field_is_set_to_something(capsys, given: str):
    """A value without its field, or a field without its value, is no guess of ours."""
    with pytest.raises(SystemExit):
        main(["approvals", "decide", "4-0", "approve", "--set", given])
    assert "is not FIELD=VALUE" in capsys.readouterr().err


def turn(number: int, *said: str, entry: str = "", end: str = "GIVEN_UP") -> list[Event]:
    """A turn: what Ana says, what is called for it, and how it ends."""
    name = f"inv-{number}"
    content = {"role": "user", "parts": [{"text": text} for text in said]}
    first = Event(invocation_id=name, author="user", user_id="UANA", content=content, entry=entry)
    return [first, Event(invocation_id=name, author="w", error_code=end or None)]


async def stored(slot: RedisSlot, *turns: list[Event]) -> None:
    """Put turns into the session."""
    begun = await slot.begin(KEY, owner="w", lease=1_000)
    events = [event for each in turns for event in each]
    commit = Commit(id="c1", fence=begun.fence, version=begun.version, events=events)
    await slot.commit(KEY, commit)
    await slot.release(KEY, begun.fence)


async def test_a_turn_that_was_given_up_is_found_and_tried_again(desk, typed: Typed):
    """It is listed and shown without anybody's words; retry puts what was said once more, once."""
    slot, index, _ = desk
    await index.send(index.buried(KEY))
    status, told = await typed("dead", "list")
    assert (status, told.split()[-1]) == (0, str(KEY))
    status, told = await typed("dead", "retry", str(KEY))
    assert (status, "Nobody has said anything" in told) == (1, True)
    await stored(slot, turn(1, "pay, please"))
    status, told = await typed("dead", "show", str(KEY))
    assert (status, "pay" in told, "message 1 of UANA" in told) == (0, False, True)
    assert (await typed("dead", "retry", str(KEY)))[0] == 0
    head = (await slot.begin(KEY, owner="w", lease=1_000)).head
    assert (head.body["user_id"], head.body["content"]["parts"]) == (
        "UANA",
        [{"text": "pay, please"}],
    )
    assert (await typed("dead", "list"))[1] == ""
    assert (await typed("dead", "retry", str(KEY)))[0] == 1


async def test_a_session_that_went_on_is_off_the_list(desk, typed: Typed):
    """Who wrote again and was answered is not paid twice because an operator tries again."""
    slot, index, _ = desk
    await index.send(index.buried(KEY))
    await stored(slot, turn(1, "60 for dinner"), turn(3, "70 for a taxi", end=""))
    status, told = await typed("dead", "retry", str(KEY))
    assert (status, "off the list" in told) == (1, True)
    assert (await slot.begin(KEY, owner="w", lease=1_000)).head is None
    assert await index.dead() == []


async def test_of_several_messages_one_is_named(desk, typed: Typed):
    """Nothing is tried again before an operator says which; the others stay on the list."""
    slot, index, _ = desk
    await index.send(index.buried(KEY))
    await stored(slot, turn(1, "60 for dinner"), turn(3, "70 for a taxi"))
    status, told = await typed("dead", "retry", str(KEY))
    assert (status, "Several messages were given up: 1, 3" in told) == (1, True)
    assert "No such message" in (await typed("dead", "retry", str(KEY), "2"))[1]
    assert (await typed("dead", "retry", str(KEY), "3"))[0] == 0
    assert (await slot.begin(KEY, owner="w", lease=1_000)).head.id == "retry:4"
    assert str(KEY) in (await typed("dead", "list"))[1]


async def test_nothing_is_tried_again_where_no_turn_was_given_up(desk, typed: Typed):
    """A session that is not listed is left alone."""
    assert (await typed("dead", "retry", "nowhere"))[0] == 1
