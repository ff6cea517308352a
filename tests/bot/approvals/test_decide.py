"""Decisions against a store: one outcome, whatever happens at once."""

import asyncio
import json
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from agents import Companions, SessionKey, Slot, StoreUnavailable
from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.port import Commit, Decide
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals import posts
from bot.approvals.decide import decide, settle
from bot.approvals.decision import is_elsewhere
from bot.approvals.request import Approval, Escalation
from bot.approvals.ruling import Ruling, rule
from bot.approvals.terms import Policy
from tests.bot.approvals.conftest import answer, put
from tests.bot.approvals.samples import KEY, SCHEMA, approval, click, person, session

ROOT = Path(__file__).parents[3]
TWO = Policy(approvers=("UBOSS", "UCFO", "UCTO"), quorum=2)


async def look(slot: Slot, key: SessionKey = KEY):
    """A session with all its parts."""
    view = await slot.read(key, parts=("approvals", "posts", "audit"))
    assert view is not None
    return view


async def kept(slot: Slot, name: str = "3-0") -> Approval:
    """An approval as it is stored."""
    return Approval.from_record((await look(slot)).approvals[name])


async def inbox(slot: Slot) -> list:
    """The entries of the inbox, of which only the first can be seen: (how many, the first)."""
    begun = await slot.begin(KEY, owner="look", lease=1000)
    await slot.release(KEY, begun.fence)
    return [(await look(slot)).inbox, begun.head]


async def test_approve(slot: Slot):
    """An approval is stored with its answer, every update that is owed, and its audit."""
    asked = await put(slot)
    outcome = await decide(slot, KEY, click(asked))
    view = await look(slot)
    stored = Approval.from_record(view.approvals["3-0"])
    assert (outcome.kind, outcome.sentence) == ("decided", "You approved this.")
    assert (stored.status, stored.rev, stored.decided_by) == ("approved", 2, "UBOSS")
    assert [(post.id, post.after) for post in view.posts] == [
        ("card:3-0:0@2", "card:3-0:0"),
        ("asked:3-0@2", "asked:3-0"),
    ]
    assert [entry["type"] for entry, _ in view.audit] == ["approval.voted", "approval.decided"]
    count, head = await inbox(slot)
    assert (count, head.id, head.body["user_id"]) == (1, "decision:3-0", "UBOSS")


async def test_reject_with_a_reason(slot: Slot):
    """A rejection carries the person's own words to the model."""
    asked = await put(slot)
    await decide(slot, KEY, click(asked, act="reject", reason="  use cost centre 12 "))
    _, head = await inbox(slot)
    said = head.body["content"]["parts"][0]["function_response"]["response"]
    assert said == {
        "confirmed": False,
        "outcome": "rejected",
        "reason": "use cost centre 12",
    }


async def test_withdraw(slot: Slot):
    """The requester takes their request back, and nobody can decide it any more."""
    asked = await put(slot)
    outcome = await decide(slot, KEY, click(asked, "UASK", "withdraw"))
    after = await decide(slot, KEY, click(asked))
    assert (outcome.kind, after.kind) == ("withdrawn", "already")
    assert (await kept(slot)).why == "withdrawn"
    count, head = await inbox(slot)
    assert (count, head.body["user_id"]) == (1, "UASK")


@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_a_double_click(slot: Slot, act):
    """The same click again gets a friendly answer and changes nothing."""
    asked = await put(slot)
    first = await decide(slot, KEY, click(asked, act=act))
    second = await decide(slot, KEY, click(asked, act=act))
    assert (first.kind, second.kind) == ("decided", "already")
    assert "You already" in second.sentence
    assert (await kept(slot)).rev == 2
    assert (await look(slot)).inbox == 1


async def test_the_second_clicker_hears_who_was_faster(slot: Slot):
    """After a decision everybody else hears what it was and whose."""
    asked = await put(slot)
    await decide(slot, KEY, click(asked))
    outcome = await decide(slot, KEY, click(asked, "UCFO", "reject"))
    assert (outcome.kind, outcome.people) == ("already", ("UBOSS",))
    assert (await kept(slot)).status == "approved"


async def test_every_refused_attempt_is_in_the_audit(slot: Slot):
    """Many who may not decide and try it at the same moment are all written down."""
    asked = await put(slot)
    people = [f"UX{n}" for n in range(12)]
    outcomes = await asyncio.gather(*(decide(slot, KEY, click(asked, who)) for who in people))
    noted = [entry for entry, _ in (await look(slot)).audit if entry["type"] == "approval.refused"]
    assert {each.kind for each in outcomes} == {"refused"}
    assert sorted(entry["person"] for entry in noted) == sorted(people)
    assert (await kept(slot)).status == "pending"


async def test_thirty_votes_at_once(slot: Slot):
    """However many people approve at the same moment, each vote counts and none is lost."""
    people = tuple(f"UV{n}" for n in range(30))
    asked = await put(slot, policy=Policy(approvers=people, quorum=30))
    outcomes = await asyncio.gather(*(decide(slot, KEY, click(asked, who)) for who in people))
    assert sorted(each.kind for each in outcomes) == ["counted"] * 29 + ["decided"]
    assert (await kept(slot)).status == "approved"


async def test_quorum(slot: Slot):
    """Two of three: the first is counted and shown, the second decides, one person never does."""
    asked = await put(slot, policy=TWO)
    first = await decide(slot, KEY, click(asked))
    twice = await decide(slot, KEY, click(asked))
    assert (first.kind, first.sentence) == ("counted", "Your approval is counted: 1 of 2.")
    assert (twice.kind, twice.code) == ("already", "already_voted")
    assert ((await kept(slot)).status, (await look(slot)).inbox) == ("pending", 0)
    assert "card:3-0:0@2" in [post.id for post in (await look(slot)).posts]
    second = await decide(slot, KEY, click(asked, "UCFO"))
    assert (second.kind, (await kept(slot)).status) == ("decided", "approved")


@pytest.mark.parametrize(
    ("who", "code"),
    [
        pytest.param(person("UASK"), "own_request", id="the requester"),
        pytest.param(person("UX9"), "not_approver", id="somebody else"),
        pytest.param(person(team="T2"), "outsider", id="the same id in another team"),
        pytest.param(person(is_bot=True), "bot", id="an app"),
        pytest.param(person(deleted=True), "deactivated", id="a deactivated account"),
        pytest.param(person(is_guest=True), "guest", id="a guest"),
    ],
)
async def test_who_may_not(slot: Slot, who, code):
    """A click that does not count leaves the request open, and stands in the audit."""
    asked = await put(slot)
    outcome = await decide(slot, KEY, click(asked, who))
    view = await look(slot)
    assert (outcome.kind, outcome.code) == ("refused", code)
    assert (view.approvals["3-0"].status, view.inbox, view.posts) == ("pending", 0, [])
    assert [entry["code"] for entry, _ in view.audit] == [code]
    assert (await decide(slot, KEY, click(asked))).kind == "decided"


async def test_a_record_nobody_can_read_is_told(slot: Slot, caplog):
    """A click about a record this release cannot read is answered, and operators hear of it."""
    asked = await put(slot)
    record = (await look(slot)).approvals["3-0"]
    broken = replace(record, rev=2, body={**record.body, "policy": "?"})
    await slot.decide(KEY, Decide(record=broken))
    outcome = await decide(slot, KEY, click(asked))
    assert outcome.kind == "unknown"
    assert [line.msg for line in caplog.records] == ["approval.unreadable"]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        pytest.param(None, "days", id="no values"),
        pytest.param({}, "days", id="an empty modal"),
        pytest.param({"days": ""}, "days", id="an empty field"),
        pytest.param({"days": "many"}, "days", id="no number"),
        pytest.param({"days": "9999"}, "days", id="too many"),
        pytest.param({"days": "2", "x": "1"}, "x", id="a field nobody asked for"),
    ],
)
async def test_wrong_values(slot: Slot, values, problem):
    """Values that do not fit are told to the clicker by field, and the request stays open."""
    asked = await put(slot, payload_schema=SCHEMA)
    outcome = await decide(slot, KEY, click(asked, values=values))
    assert outcome.kind == "invalid"
    assert set(outcome.problems) == {problem}
    assert ((await kept(slot)).rev, (await look(slot)).audit) == (1, [])


async def test_right_values(slot: Slot):
    """What a person types becomes what the schema asks for, and goes to the tool."""
    asked = await put(slot, payload_schema=SCHEMA)
    await decide(slot, KEY, click(asked, values={"days": "3"}))
    _, head = await inbox(slot)
    said = head.body["content"]["parts"][0]["function_response"]["response"]
    assert said == {"confirmed": True, "payload": {"days": 3}}
    assert (await kept(slot)).payload == {"days": 3}


async def test_a_rejection_needs_no_values(slot: Slot):
    """Nobody has to fill in anything to say no."""
    asked = await put(slot, payload_schema=SCHEMA)
    outcome = await decide(slot, KEY, click(asked, act="reject", values={"days": "many"}))
    assert outcome.kind == "decided"


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("session", id="another session"),
        pytest.param("approval", id="another approval"),
        pytest.param("nonce", id="another nonce"),
        pytest.param("digest8", id="another digest"),
    ],
)
async def test_a_forged_button(slot: Slot, field):
    """A button that was on no card of this request decides nothing, and stands in the audit."""
    asked = await put(slot)
    decision = click(asked)
    forged = replace(decision, button=replace(decision.button, **{field: "forged"}))
    outcome = await decide(slot, KEY, forged)
    assert (outcome.kind, outcome.approval) == ("unknown", None)
    assert ((await kept(slot)).status, (await kept(slot)).votes) == ("pending", ())
    chain = (await slot.read(KEY, parts=("audit",))).audit
    codes = [(entry["person"], entry["code"]) for entry, _ in chain]
    assert codes == ([] if field == "approval" else [("UBOSS", "foreign")])


async def test_buttons_of_two_cards_cannot_be_swapped(slot: Slot):
    """The nonce of one request does not open another one."""
    first = await put(slot)
    second = await put(slot, id="3-1", nonce="second")
    decision = click(first)
    swapped = replace(decision, button=replace(decision.button, approval=second.id))
    assert (await decide(slot, KEY, swapped)).kind == "unknown"


async def test_no_such_session(slot: Slot):
    """A button of a session that is gone is answered too."""
    outcome = await decide(
        slot, KEY, click(Approval.from_record((await put(MemorySlot())).record()))
    )
    assert outcome.kind == "unknown"


@pytest.mark.parametrize(
    ("at", "kind"),
    [
        pytest.param(1, "decided", id="its moment has come"),
        pytest.param(2**53, "refused", id="not yet"),
    ],
)
async def test_who_may_decide_from_now_on_may_at_once(slot: Slot, at: int, kind: str):
    """Nobody waits for the clock that makes an escalation known."""
    later = Escalation(at=at, names=("UVP",), people=("UVP",))
    asked = await put(slot, escalations=(later,))
    assert (await decide(slot, KEY, click(asked, "UVP"))).kind == kind
    stored = await kept(slot)
    assert stored.escalated == (kind == "decided")
    view = await slot.read(KEY, parts=("posts",))
    assert view is not None
    kinds = [posts.kind_of(post) for post in view.posts]
    assert ("escalation" in kinds) == (kind == "decided")


async def test_a_late_click_expires_the_request(slot: Slot):
    """After the deadline nobody decides; the click is told so and closes the request at once."""
    asked = await put(slot, left=-1)
    outcome = await decide(slot, KEY, click(asked))
    stored = await kept(slot)
    assert (outcome.kind, outcome.code) == ("late", "late")
    assert (stored.status, stored.decided_by) == ("expired", None)
    assert outcome.approval is not None
    assert outcome.approval.status == "expired"
    count, head = await inbox(slot)
    assert (count, head.body["user_id"]) == (1, None)


async def test_the_clock_expires(slot: Slot):
    """What is due is closed once, with no decider, and in time it is left alone."""
    await put(slot, left=-1)
    await put(slot, id="5-0", left=60_000)
    first = await settle(slot, KEY, "3-0")
    second = await settle(slot, KEY, "3-0")
    early = await settle(slot, KEY, "5-0")
    assert first is not None
    assert (first.status, first) == ("expired", await kept(slot))
    assert second == await kept(slot)
    assert early is not None
    assert early.status == "pending"
    assert await settle(slot, KEY, "9-9") is None
    assert (await look(slot)).inbox == 1


async def test_a_request_without_approvers_is_closed(slot: Slot):
    """A call that nobody may agree to does not wait for ever: the model hears why."""
    await put(slot, policy=Policy(approvers=()))
    closed = await settle(slot, KEY, "3-0")
    assert closed is not None
    assert (closed.status, closed.why) == ("cancelled", "nobody")
    _, head = await inbox(slot)
    said = head.body["content"]["parts"][0]["function_response"]["response"]
    assert said["outcome"] == "cancelled"
    assert "Too few people may approve" in said["reason"]


async def test_the_same_call_asked_again_closes_the_older(slot: Slot):
    """Only the newer of two equal questions stays open; a click on the older one says so."""
    older = await put(slot)
    await asyncio.sleep(0.005)
    newer = await put(slot, id="9-0", call_id="8-0")
    await answer(slot, older.call_id)
    await settle(slot, KEY, older.id)
    await settle(slot, KEY, newer.id)
    outcome = await decide(slot, KEY, click(older))
    assert (outcome.kind, "newer request" in outcome.sentence) == ("already", True)
    assert ((await kept(slot)).why, (await kept(slot, "9-0")).status) == ("superseded", "pending")


@pytest.mark.parametrize("act", ["approve", "reject", "happened"])
@pytest.mark.parametrize(
    ("newer", "why", "words"),
    [
        pytest.param("pending", "superseded", "newer request", id="asked again"),
        pytest.param("approved", "superseded", "newer request", id="asked again, and approved"),
        pytest.param("cancelled", "superseded", "newer request", id="asked again, of nobody"),
        pytest.param("", "run_cancelled", "was cancelled", id="its run is over"),
    ],
)
async def test_a_click_on_what_is_answered(slot: Slot, act, newer: str, *, why: str, words: str):
    """What nobody waits for is decided by nobody: the click hears why, and the cards close."""
    asked = await put(slot, unknown=act == "happened", digest="" if act == "happened" else "d")
    if newer:
        await put(slot, id="9-0", call_id="8-0", status=newer, digest="d")
    await answer(slot, asked.call_id)
    outcome = await decide(slot, KEY, click(asked, act=act))
    stored, view = await kept(slot), await look(slot)
    expected = "run_cancelled" if act == "happened" else why
    assert (stored.status, stored.why, stored.votes) == ("cancelled", expected, ())
    assert outcome.kind == "already"
    assert act == "happened" or words in outcome.sentence
    assert [post.after for post in view.posts] == ["card:3-0:0", "asked:3-0"]
    assert "approval.voted" not in [entry["type"] for entry, _ in view.audit]


class Overtaking(MemorySlot):
    """A store in which the call is answered between the look at it and the decision."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = ["2-0"]

    async def decide(self, key, decide):
        """Answer the call just before."""
        while self.answers:
            await answer(self, self.answers.pop())
        return await super().decide(key, decide)


async def test_a_click_while_its_call_is_answered():
    """Between the look and the decision nothing slips through."""
    slot = Overtaking()
    asked = await put(slot)
    outcome = await decide(slot, KEY, click(asked))
    assert (outcome.kind, (await kept(slot)).status) == ("already", "cancelled")


@pytest.mark.parametrize("act", ["approve", "reject"])
@pytest.mark.parametrize("racing", [True, False])
async def test_a_ruling_on_what_is_answered(act, *, racing: bool):
    """Nor does an operator decide what nobody waits for."""
    slot = Overtaking()
    asked = await put(slot)
    if not racing:
        await answer(slot, slot.answers.pop())
    came = await rule(slot, asked, Ruling(act=act, by="root"))
    assert (came.kind, came.sentence) == ("already", "It is cancelled already.")
    assert (await kept(slot)).votes == ()


async def test_eight_at_once(slot: Slot):
    """Eight mixed clicks in one moment make one decision, and all hear the same."""
    people = [f"UP{n}" for n in range(8)]
    asked = await put(slot, policy=Policy(approvers=tuple(people)))
    acts = ["approve", "reject"] * 4
    outcomes = await asyncio.gather(
        *(decide(slot, KEY, click(asked, who, act)) for who, act in zip(people, acts, strict=True))
    )
    stored = await kept(slot)
    assert [o.kind for o in outcomes].count("decided") == 1
    assert {o.people for o in outcomes if o.kind == "already"} == {(stored.decided_by,)}
    assert (stored.rev, len(stored.votes), (await look(slot)).inbox) == (2, 1, 1)


async def test_one_person_at_once(slot: Slot):
    """A person who clicks five times in one moment is one vote."""
    asked = await put(slot, policy=TWO)
    outcomes = await asyncio.gather(*(decide(slot, KEY, click(asked)) for _ in range(5)))
    assert {outcome.kind for outcome in outcomes} <= {"counted", "already"}
    assert [vote.person for vote in (await kept(slot)).votes] == ["UBOSS"]


async def test_a_quorum_at_once(slot: Slot):
    """Five agree in one moment where three are enough: three votes count, one decides."""
    people = [f"UP{n}" for n in range(5)]
    asked = await put(slot, policy=Policy(approvers=tuple(people), quorum=3))
    clicks = [decide(slot, KEY, click(asked, who)) for who in people]
    kinds = sorted(outcome.kind for outcome in await asyncio.gather(*clicks))
    stored = await kept(slot)
    assert (kinds.count("counted"), kinds.count("decided"), kinds.count("already")) == (2, 1, 2)
    assert len({vote.person for vote in stored.votes}) == len(stored.votes) == 3


async def test_two_processes_click_at_once(store_server: str):
    """Two processes decide a hundred requests at the same moments: each has one outcome."""
    prefix = f"{uuid.uuid4().hex}:"
    async with connect(store_server) as client:
        slot = RedisSlot(client, prefix=prefix)
        for n in range(100):
            await put(slot, key=session(n))
        clickers = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.bot.approvals.clicker"),
                *(store_server, prefix, who, other, act),
                stdout=asyncio.subprocess.PIPE,
                cwd=ROOT,
            )
            for who, other, act in (("UBOSS", "UCFO", "approve"), ("UCFO", "UBOSS", "reject"))
        ]
        told = [json.loads((await clicker.communicate())[0]) for clicker in clickers]
        views = [await look(slot, session(n)) for n in range(100)]
    assert all(sorted(pair) == ["already", "decided"] for pair in zip(*told, strict=True))
    winners = ["approved" if yes == "decided" else "rejected" for yes in told[0]]
    assert [view.approvals["3-0"].status for view in views] == winners
    decisions = [[entry["type"] for entry, _ in view.audit] for view in views]
    assert decisions == [["approval.voted", "approval.decided"]] * 100
    assert [view.inbox for view in views] == [1] * 100


class Noting(MemorySlot):
    """A store that notes which approvals each look at it brought."""

    def __init__(self) -> None:
        super().__init__()
        self.brought: list[list[str]] = []

    async def read(self, key, **wanted):
        view = await super().read(key, **wanted)
        self.brought.append(list(view.approvals))
        return view


async def test_a_click_reads_its_own_approval_only():
    """However many questions a session has, a click costs what it costs with one."""
    slot = Noting()
    for n in range(5):
        asked = await put(slot, id=f"{n}-0")
    assert (await decide(slot, KEY, click(asked))).kind == "decided"
    assert slot.brought == [["4-0"]]


class Restless(MemorySlot):
    """A store in which somebody else is always faster."""

    async def decide(self, key, decide):
        """Change the record just before."""
        stored = (await self.read(key, parts=("approvals",))).approvals[decide.record.id]
        await super().decide(key, replace(decide, record=replace(stored, rev=stored.rev + 1)))
        return await super().decide(key, decide)


async def test_always_too_slow(monkeypatch: pytest.MonkeyPatch):
    """Who is never fast enough hears that trying again may help, instead of waiting for ever."""
    monkeypatch.setattr("bot.approvals.pauses.PATIENCE", 0.1)
    slot = Restless()
    asked = await put(slot)
    with pytest.raises(StoreUnavailable):
        await decide(slot, KEY, click(asked))
    late = await put(slot, id="5-0", left=-1)
    with pytest.raises(StoreUnavailable):
        await settle(slot, KEY, late.id)


@pytest.mark.parametrize(
    ("places", "card", "elsewhere"),
    [
        pytest.param({"card:3-0:0": "C1|1", "asked:3-0": "C2|2"}, "C1|1", False, id="its card"),
        pytest.param({"card:3-0:0": "C1|1", "asked:3-0": "C2|2"}, "C2|2", False, id="its line"),
        pytest.param({"card:3-0:0": "C1|1", "asked:3-0": "C2|2"}, "C1|9", True, id="another one"),
        pytest.param({"card:3-0:0": "C1|1", "asked:3-0": "C2|2"}, "C9|1", True, id="elsewhere"),
        pytest.param({"card:3-0:0": "C1|1"}, "C1|9", False, id="not all of them are written down"),
        pytest.param(
            {"card:3-0:0": "C1|1", "card:4-0:0": "C1|9"}, "C1|9", True, id="another one's card"
        ),
        pytest.param({}, "C1|1", False, id="none is written down"),
        pytest.param({"card:3-0:0": "C1|1", "asked:3-0": "C2|2"}, "", False, id="a modal"),
        pytest.param(
            {"card:3-0:0": "C1|1", "asked:3-0": "C2|2", "asked:3-0@2": "C2|5"},
            "C2|5",
            False,
            id="a line that was said anew",
        ),
    ],
)
async def test_a_button_on_another_message(places, card, elsewhere):
    """A button decides on its own cards only, as far as it is known where they are."""
    assert is_elsewhere(approval(), card, places) is elsewhere


async def test_a_card_that_was_copied_elsewhere_decides_nothing(slot: Slot):
    """The very button on another message belongs to no request that is known there."""
    asked = await put(slot, notice="")
    begun = await slot.begin(KEY, owner="post", lease=1000)
    (owed,) = [posts.card(asked, copy) for copy in asked.copies]
    await slot.commit(
        KEY,
        Commit(
            id="post",
            fence=begun.fence,
            version=begun.version,
            companions=Companions(posts=[owed]),
        ),
    )
    await slot.posted(KEY, {owed.id: "CBOSS|1.5"})
    there = await decide(slot, KEY, click(asked, card="CBOSS|9.9"))
    assert (there.kind, (await kept(slot)).status) == ("unknown", "pending")
    assert (await decide(slot, KEY, click(asked, card="CBOSS|1.5"))).kind == "decided"
