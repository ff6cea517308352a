"""The record of an approval and its life."""

from datetime import timedelta
from itertools import product

import pytest
from pydantic import JsonValue

from agents import Question
from bot.approvals.life import closed, is_over, lapse, overtaken, resume, voted
from bot.approvals.request import MOVES, ORDER_LIMIT, Approval, agreed, late, opened, repeats
from bot.approvals.terms import Policy, Vote
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval

HOUR = timedelta(hours=1)
TWO = Policy(approvers=("UA1", "UA2", "UA3"), quorum=2)


def yes(who: str = "UBOSS", **more) -> Vote:
    return Vote(**{"person": who, "confirmed": True, "at": ASKED + 5, **more})


def no(who: str = "UBOSS", **more) -> Vote:
    return yes(who, **{"confirmed": False, **more})


ACTS = {
    "approve": lambda it: voted(it, yes(), run_for=None),
    "reject": lambda it: voted(it, no(), run_for=None),
    "expire": lambda it: closed(it, "expired", now=DEADLINE),
    "cancel": lambda it: closed(it, "cancelled", now=ASKED, why="withdrawn", by="UASK"),
}
BECOMES = {"approve": "approved", "reject": "rejected", "expire": "expired", "cancel": "cancelled"}


@pytest.mark.parametrize(
    ("status", "act"), [pytest.param(s, a, id=f"{s} {a}") for s, a in product(MOVES, ACTS)]
)
def test_acts(status, act):
    """An act closes an approval only where the machine has that move, else it is refused."""
    before = approval(status=status, rev=4)
    if BECOMES[act] in MOVES[status]:
        after = ACTS[act](before)
        assert (after.status, after.rev) == (BECOMES[act], 5)
    else:
        with pytest.raises(ValueError, match=status):
            ACTS[act](before)


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        pytest.param("pending", False, id="pending goes on"),
        pytest.param("approved", False, id="approved goes on"),
        pytest.param("started", False, id="started goes on"),
        pytest.param("unknown", False, id="unknown waits for a person"),
        pytest.param("rejected", True, id="rejected is an end"),
        pytest.param("expired", True, id="expired is an end"),
        pytest.param("cancelled", True, id="cancelled is an end"),
        pytest.param("void", True, id="void is an end"),
        pytest.param("done", True, id="done is an end"),
        pytest.param("failed", True, id="failed is an end"),
    ],
)
def test_ends(status, ends):
    """Terminal statuses have no exits, and nothing leads back to pending."""
    assert (not MOVES[status]) == ends
    assert status == "pending" or "pending" not in MOVES[status]


def test_opened():
    """A question becomes a pending approval with everything that a card needs."""
    question = Question(
        call_id="2-0",
        tool="time_off",
        agent="hr",
        hint="May they?",
        args={"days": 3},
        payload_schema={"type": "object"},
        initial={"days": 3},
        contract="c1",
        digest="d1",
    )
    found = opened(
        "3-0",
        question,
        session=str(KEY),
        requester="UASK",
        policy=TWO,
        nonce="n",
        now=ASKED,
        deadline=DEADLINE,
    )
    assert (found.id, found.status, found.rev) == ("3-0", "pending", 1)
    assert found.model_dump(include=set(Question.model_fields)) == question.model_dump(
        exclude={"build", "dynamic", "ended", "returned", "unasked", "kept", "initial", "promise"}
    )
    assert (found.asked_at, found.deadline, found.run_by) == (ASKED, DEADLINE, None)
    assert found.payload == {"days": 3}


def test_a_record_is_the_whole_approval():
    """An approval comes back from its record as it was, with the slot's status and rev."""
    kept = voted(approval(policy=TWO), yes("UA1", payload={"a": [1, None]}), run_for=None)
    assert Approval.from_record(kept.record()).record() == kept.record()


@pytest.mark.parametrize(
    ("votes", "status", "count"),
    [
        pytest.param([yes("UA1")], "pending", 1, id="1 of 2"),
        pytest.param([yes("UA1"), yes("UA2")], "approved", 2, id="2 of 2"),
        pytest.param([yes("UA1"), yes("UA1")], "pending", 1, id="one person twice"),
        pytest.param([no("UA1")], "rejected", 0, id="one rejection"),
        pytest.param([yes("UA1"), no("UA2")], "rejected", 1, id="a rejection after an approval"),
        pytest.param([yes("UA1"), no("UA1")], "rejected", 0, id="a changed mind"),
        pytest.param(
            [yes("UA1", payload={"n": 1}), yes("UA2", payload={"n": 2})],
            "pending",
            1,
            id="two values are two answers",
        ),
        pytest.param(
            [
                yes("UA1", payload={"n": 1}),
                yes("UA2", payload={"n": 2}),
                yes("UA3", payload={"n": 1}),
            ],
            "approved",
            2,
            id="two of three agree",
        ),
        pytest.param(
            [
                yes("UA1", payload={"n": 1}),
                yes("UA1", payload={"n": 2}),
                yes("UA2", payload={"n": 1}),
            ],
            "pending",
            1,
            id="who changed the value left the old count",
        ),
        pytest.param(
            [
                yes("UA1", payload={"n": 1}),
                yes("UA1", payload={"n": 2}),
                yes("UA2", payload={"n": 2}),
            ],
            "approved",
            2,
            id="who changed the value is in the new count",
        ),
    ],
)
def test_quorum(votes, status, count):
    """Exactly `quorum` different people with the same values approve; one rejection closes."""
    found = approval(policy=TWO)
    for vote in votes:
        found = voted(found, vote, run_for=HOUR)
    assert (found.status, found.rev, len(found.votes)) == (status, 1 + len(votes), len(votes))
    assert len(agreed(found, votes[-1].payload)) == count
    assert (found.decided_by is None) == (status == "pending")


def test_an_approved_call_has_its_deadline():
    """The execution deadline counts from the approval, and without a span there is none."""
    vote = yes(payload={"days": 2})
    soon = voted(approval(), vote, run_for=HOUR)
    ever = voted(approval(), vote, run_for=None)
    assert (soon.run_by, ever.run_by) == (ASKED + 5 + 3_600_000, None)
    assert (soon.payload, soon.decided_by, soon.decided_at) == ({"days": 2}, "UBOSS", ASKED + 5)


@pytest.mark.parametrize(
    ("decided", "response", "by"),
    [
        pytest.param(
            voted(approval(), yes(), run_for=None), {"confirmed": True}, "UBOSS", id="approved"
        ),
        pytest.param(
            voted(approval(), yes(payload={"days": 0}, reason="only once"), run_for=None),
            {"confirmed": True, "payload": {"days": 0}, "reason": "only once"},
            "UBOSS",
            id="approved with values",
        ),
        pytest.param(
            voted(approval(payload={"days": 3}), no(reason="use cost centre 12"), run_for=None),
            {"confirmed": False, "outcome": "rejected", "reason": "use cost centre 12"},
            "UBOSS",
            id="rejected with a reason",
        ),
        pytest.param(
            closed(approval(payload={"days": 3}), "expired", now=DEADLINE),
            {"confirmed": False, "outcome": "expired"},
            None,
            id="expired",
        ),
    ],
)
def test_resume(decided, response, by):
    """A decision becomes the answer to its question, from whoever decided."""
    entry = resume(decided)
    part = {"id": "3-0", "name": "adk_request_confirmation", "response": response}
    assert entry.id == "decision:3-0"
    assert entry.body == {
        "content": {"role": "user", "parts": [{"function_response": part}]},
        "user_id": by,
        "decided_by": by,
    }


@pytest.mark.parametrize(
    ("why", "by", "words"),
    [
        pytest.param("withdrawn", "UASK", "withdrew it", id="withdrawn by the requester"),
        pytest.param("superseded", None, "newer request", id="superseded by nobody"),
        pytest.param("nobody", None, "Too few people may approve", id="nobody may decide"),
    ],
)
def test_resume_after_closing(why, by, words):
    """The model reads why a request was closed without a decision."""
    entry = resume(closed(approval(), "cancelled", now=ASKED, why=why, by=by))
    response = entry.body["content"]["parts"][0]["function_response"]["response"]
    assert (response["outcome"], entry.body["user_id"]) == ("cancelled", by)
    assert words in response["reason"]


def test_a_pending_approval_answers_nothing():
    """Nothing that is still open can become an answer."""
    with pytest.raises(ValueError, match="not decided"):
        resume(approval())


@pytest.mark.parametrize(
    ("of", "now", "expected"),
    [
        pytest.param(approval(), DEADLINE - 1, False, id="before"),
        pytest.param(approval(), DEADLINE, True, id="at the deadline"),
        pytest.param(approval(deadline=None), DEADLINE * 2, False, id="never"),
    ],
)
def test_late(of, now, expected):
    """The time to decide is up at the deadline."""
    assert late(of, now=now) == expected


def again(**changes) -> Approval:
    """The same call, asked for again in a later turn."""
    fields = {"id": "9-0", "call_id": "8-0", "asked_at": ASKED + 9, "deadline": DEADLINE + 9}
    return approval(**{**fields, **changes})


@pytest.mark.parametrize(
    ("newer", "older", "expected"),
    [
        pytest.param(again(), approval(), True, id="the same call in a later turn"),
        pytest.param(approval(), again(), False, id="not the other way round"),
        pytest.param(approval(), approval(), False, id="not itself"),
        pytest.param(again(digest="e" * 64), approval(), False, id="another call"),
        pytest.param(again(digest=""), approval(digest=""), False, id="calls without a digest"),
        pytest.param(again(call_id="2-1"), approval(), False, id="two equal calls of one turn"),
        pytest.param(again(), approval(unknown=True), False, id="whether the older one happened"),
        pytest.param(again(id="3-1"), approval(), False, id="asked in the same change"),
        pytest.param(again(asked_at=ASKED), approval(), True, id="in the same millisecond"),
        pytest.param(again(asked_at=ASKED - 9), approval(), True, id="the clock went back"),
        pytest.param(again(id="10-0"), again(call_id="2-0"), True, id="at version 10 after 9"),
        pytest.param(again(status="rejected"), approval(), True, id="the newer one is closed"),
        pytest.param(
            again(policy=Policy(approvers=())), approval(), True, id="nobody may decide the newer"
        ),
    ],
)
def test_repeats(newer, older, expected):
    """Only the same call in a later turn takes the place of a request, whatever became of it."""
    assert repeats(newer, older) == expected


@pytest.mark.parametrize(
    ("of", "over", "now", "expected"),
    [
        pytest.param(approval(), "", ASKED, None, id="open and in time"),
        pytest.param(
            approval(), "superseded", ASKED, ("cancelled", "superseded"), id="asked again"
        ),
        pytest.param(approval(), "", DEADLINE, ("expired", ""), id="time is up"),
        pytest.param(approval(), "superseded", DEADLINE, ("expired", ""), id="time was up before"),
        pytest.param(
            approval(policy=Policy(approvers=())),
            "",
            ASKED,
            ("cancelled", "nobody"),
            id="nobody may decide",
        ),
        pytest.param(approval(status="approved"), "", DEADLINE, None, id="decided already"),
        pytest.param(approval(status="approved"), "superseded", ASKED, None, id="decided before"),
        pytest.param(approval(status="expired"), "", DEADLINE, None, id="expired already"),
    ],
)
def test_lapse(of, over, now, expected):
    """What should not be open any more is closed, with its reason and no decider."""
    found = lapse(of, now=now, over=over)
    assert (found and (found.status, found.why)) == expected
    assert found is None or found.decided_by is None


STATUSES = sorted(MOVES)


@pytest.mark.parametrize("status", STATUSES)
def test_a_call_that_was_asked_for_again_is_superseded(status):
    """Whatever became of the newer request since: the older call was answered when it was asked."""
    assert overtaken(approval(), [approval(), again(status=status)]) == "superseded"


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="nothing else"),
        pytest.param([approval()], id="itself"),
        pytest.param([again(digest="e" * 64)], id="another call"),
        pytest.param([again(call_id="2-1")], id="an equal call of the same turn"),
    ],
)
def test_a_call_that_was_answered_otherwise(others):
    """Without a newer request for the same, its run was cancelled."""
    assert overtaken(approval(), others) == "run_cancelled"


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("waits", [True, False])
def test_what_is_over(status, *, waits):
    """Only an approval that is pending can be over, and is once its call does not wait."""
    asked = {("2-0", "3-0")} if waits else set()
    over = is_over(approval(status=status), asks=lambda *about: about in asked)
    assert over is (status == "pending" and not waits)


def test_only_a_pending_or_an_unknown_approval_can_be_closed():
    """Approving, rejecting and expiring start from pending; an unknown run may be cancelled."""
    takers = {act: {s for s in MOVES if BECOMES[act] in MOVES[s]} for act in ACTS}
    assert takers == {
        "approve": {"pending"},
        "reject": {"pending"},
        "expire": {"pending"},
        "cancel": {"pending", "unknown"},
    }


def test_the_order_of_names_has_its_limits():
    """However deep and wide arguments are, the record keeps the names that stand first, and few."""
    deep: dict[str, JsonValue] = {f"leaf{n}": n for n in range(300)}
    for n in range(60):
        deep = {f"level{n}": deep}
    args = {"deep": deep, "last": 1}
    question = Question(call_id="2-0", tool="pay", agent="shop", args=args, hint="?")
    found = opened(
        "3-0",
        question,
        session="s",
        requester="UASK",
        policy=Policy(approvers=("UBOSS",)),
        nonce="n",
        now=1,
        deadline=None,
    )
    assert found.order[:3] == ("deep", "last", "deep.level59")
    assert sum(map(len, found.order)) <= ORDER_LIMIT
