"""Groups whose members Slack did not say: who of them is told of a request afterwards."""

import pytest

from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.life import prompted
from bot.approvals.request import Approval, Copy, Escalation
from bot.approvals.rota import introduced, unasked
from bot.approvals.succession import Succession
from bot.approvals.terms import Policy, Quota
from bot.clock import close_due, pass_on_due
from bot.index import Index
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval

GROUP = ((Quota(names=("S0FIN",)),),)
UNKNOWN = Policy(approvers=("S0FIN",), rules=GROUP)
IN_THREAD = (Copy(post="card:3-0:0", channel="C1", thread_ts="100.1"),)
IN_DM = (Copy(post="card:3-0:0", channel="D1"),)
IN_CHANNEL = (Copy(post="card:3-0:0", channel="CBOSS"),)


def later(policy: Policy) -> Approval:
    """A question after an escalation to a group that could not be looked up when it was put."""
    named = Escalation(at=ASKED + 1, names=("S0FIN",), people=("S0FIN",))
    dms = (Copy.numbered("3-0", 0, "UBOSS"),)
    before = approval(policy=policy, escalations=(named,), copies=dms)
    after = prompted(before, now=ASKED + 1)
    assert after is not None
    assert after.copies == dms
    return after


@pytest.mark.parametrize(
    ("before", "known", "asked", "cards"),
    [
        pytest.param(
            approval(policy=UNKNOWN, copies=IN_THREAD),
            {"S0FIN": {"UFIN", "UFAY"}},
            ("UFAY", "UFIN"),
            ["UFAY", "UFIN"],
            id="in the requester's thread",
        ),
        pytest.param(
            approval(policy=UNKNOWN, copies=IN_DM),
            {"S0FIN": {"UFAY"}},
            ("UFAY",),
            ["UFAY"],
            id="in the requester's DM",
        ),
        pytest.param(
            approval(policy=UNKNOWN, copies=IN_CHANNEL),
            {"S0FIN": {"UFAY"}},
            ("UFAY",),
            [],
            id="a channel has it",
        ),
        pytest.param(
            approval(
                policy=Policy(approvers=("UBOSS", "S0FIN"), rules=GROUP),
                copies=(Copy.numbered("3-0", 0, "UBOSS"),),
            ),
            {"UBOSS": {"UBOSS"}, "S0FIN": {"UBOSS", "UFAY"}},
            ("UBOSS", "UFAY"),
            ["UFAY"],
            id="one of them has it",
        ),
        pytest.param(
            approval(policy=UNKNOWN, copies=IN_THREAD),
            {"S0FIN": {"UASK", "UFAY"}},
            ("UFAY",),
            ["UFAY"],
            id="who asked is in it",
        ),
        pytest.param(
            approval(policy=Policy(approvers=("UBOSS",), notified=("S0FIN",)), copies=IN_THREAD),
            {"S0FIN": {"UFAY"}},
            ("UBOSS",),
            ["UFAY"],
            id="who is only told",
        ),
        pytest.param(
            later(Policy(approvers=("UBOSS",))),
            {"S0FIN": {"UFAY"}},
            ("UBOSS", "UFAY"),
            ["UFAY"],
            id="who is asked later on",
        ),
    ],
)
def test_they_are_told_once_they_are_known(before: Approval, known, asked, cards: list[str]):
    """Each who has no card sees one; nobody's right to decide changes by that."""
    assert unasked(before) == ("S0FIN",)
    after = introduced(before, known)
    assert after is not None
    assert after.policy.approvers == asked
    assert [each.channel for each in after.copies[len(before.copies) :]] == cards
    assert (after.policy.demands, after.rev) == (before.policy.demands, before.rev + 1)
    assert unasked(after) == ()
    assert introduced(after, known) is None


@pytest.mark.parametrize(
    ("policy", "known"),
    [
        pytest.param(UNKNOWN, {}, id="still not known"),
        pytest.param(UNKNOWN, {"S0FIN": ()}, id="nobody is in it"),
        pytest.param(UNKNOWN, {"S0FIN": ("UASK",)}, id="only who asked is in it"),
        pytest.param(Policy(approvers=("UBOSS",)), {"UBOSS": ("UBOSS",)}, id="all were known"),
    ],
)
def test_nobody_is_told_anew(policy: Policy, known):
    """Nothing changes where there is nobody to be told."""
    assert introduced(approval(policy=policy, copies=IN_THREAD), known) is None


async def nobody_voted(person, _names):
    """Nobody is looked up who has not voted."""
    raise AssertionError(person)


@pytest.mark.parametrize("deadline", [DEADLINE, None], ids=["with an end", "without an end"])
async def test_the_clock_looks_until_they_are_known(store_url: str, deadline: int | None):
    """It is due when it is asked; while Slack says nothing it stays due, and is then done once."""
    answers = iter([None, {"S0FIN": frozenset({"UFAY"})}, {"S0FIN": frozenset({"UFAY"})}])

    async def look_up(_names, _most):
        return next(answers)

    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        clock = Succession(
            (), look_up=look_up, voter=nobody_voted, follow=lambda _: index.ring(KEY)
        )
        offset = deadline and await index.now() + 60_000
        asked = await put(slot, policy=UNKNOWN, copies=IN_DM, deadline=offset)
        await index.send(index.approval_due(KEY, asked.id, 1))
        assert await close_due(slot, index) == 1
        assert await pass_on_due(slot, index, clock) == 1
        await index.send(index.approval_left(KEY, asked.id, 0))
        assert await pass_on_due(slot, index, clock) == 1
        assert await pass_on_due(slot, index, clock) == 0
        view = await slot.read(KEY, parts=("approvals", "posts"))
        assert view is not None
        after = Approval.from_record(view.approvals[asked.id])
        due = await client.zrange(f"b:{{due:{KEY.tenant}}}:left", 0, -1)
    assert [each.channel for each in after.copies] == ["D1", "UFAY"]
    assert [each.body["person"] for each in view.posts if each.body["kind"] == "card"] == ["UFAY"]
    assert due == []
