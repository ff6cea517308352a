"""An approval whose person lost the right: it counts no more once that is known, and is said so."""

from typing import Any

import pytest

from agents import Slot
from bot.approvals.decide import decide
from bot.approvals.life import recounted, voted
from bot.approvals.policy import Person, refusal
from bot.approvals.request import leading, tally, uncounted
from bot.approvals.succession import Succession
from bot.approvals.terms import Policy, Quota, Vote
from bot.slack import blocks
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval, click

TWO = Policy(approvers=("UBOSS", "UCFO", "UVP"), quorum=2)
FINANCE = Policy(approvers=("UFAY", "UFIN"), rules=((Quota(names=("finance",), count=2),),))
EITHER = Policy(
    approvers=("UCFO", "UFAY"),
    rules=((Quota(names=("cfo",)), Quota(names=("finance",), count=2)),),
)
BOTH = Policy(
    approvers=("UBOSS", "UFAY"), rules=((Quota(names=("UBOSS",)),), (Quota(names=("finance",)),))
)


def yes(person: str, *names: str, **more: Any) -> Vote:
    """Somebody approved, who stood for these names."""
    return Vote(person=person, confirmed=True, at=ASKED, names=names, **more)


def no(person: str) -> Vote:
    """Somebody rejected."""
    return Vote(person=person, confirmed=False, at=ASKED)


@pytest.mark.parametrize(
    ("policy", "votes", "held", "counted", "gone"),
    [
        pytest.param(TWO, [yes("UBOSS")], {"UBOSS": frozenset()}, ["UBOSS"], [], id="still there"),
        pytest.param(TWO, [yes("UBOSS")], {"UBOSS": None}, [], ["UBOSS"], id="deactivated"),
        pytest.param(
            TWO,
            [yes("UBOSS", payload={"d": 1}), yes("UCFO", payload={"d": 2})],
            {"UBOSS": None, "UCFO": frozenset()},
            ["UCFO"],
            ["UBOSS"],
            id="whose values differ from others'",
        ),
        pytest.param(
            FINANCE,
            [yes("UFIN", "finance")],
            {"UFIN": frozenset({"finance"})},
            ["UFIN"],
            [],
            id="still in the group",
        ),
        pytest.param(
            FINANCE, [yes("UFIN", "finance")], {"UFIN": frozenset()}, [], ["UFIN"], id="out of it"
        ),
        pytest.param(
            EITHER,
            [yes("UFAY", "finance")],
            {"UFAY": frozenset({"cfo"})},
            [],
            ["UFAY"],
            id="in another one, for which they have not spoken",
        ),
        pytest.param(
            EITHER,
            [yes("UFAY", "cfo", "finance")],
            {"UFAY": frozenset({"finance"})},
            ["UFAY"],
            [],
            id="in one of two",
        ),
        pytest.param(
            BOTH, [yes("UBOSS", "finance")], {"UBOSS": frozenset()}, ["UBOSS"], [], id="named too"
        ),
        pytest.param(
            TWO, [yes("UBOSS"), no("UBOSS")], {"UBOSS": None}, [], [], id="thought again before"
        ),
        pytest.param(TWO, [no("UBOSS")], {"UBOSS": None}, [], [], id="a rejection stands"),
        pytest.param(TWO, [], {}, [], [], id="nobody voted"),
    ],
)
def test_whose_approval_counts(policy: Policy, votes, held, counted, gone):
    """Of each who approved, by the right that they gave it by and have still."""
    before = approval(policy=policy, votes=tuple(votes))
    after = recounted(before, held)
    now = after or before
    assert [vote.person for vote in leading(now)] == counted
    assert list(uncounted(now)) == gone
    assert (after is None) == (before.votes == now.votes)
    assert recounted(now, held) is None
    assert len(now.votes) == len(before.votes)


def test_a_name_that_was_lost_counts_no_more_for_its_rule():
    """Who left finance and is the boss still counts as the boss alone."""
    before = approval(policy=BOTH, votes=(yes("UBOSS", "finance"),))
    after = recounted(before, {"UBOSS": frozenset()})
    assert after is not None
    assert voted(after, yes("UFAY", "finance"), run_for=None).status == "approved"
    assert [vote.names for vote in after.votes] == [()]


@pytest.mark.parametrize(
    ("next_votes", "status"),
    [
        pytest.param([yes("UCFO")], "pending", id="one more"),
        pytest.param([yes("UCFO"), yes("UVP")], "approved", id="two more"),
        pytest.param([yes("UBOSS"), yes("UCFO")], "approved", id="who had left is back"),
    ],
)
def test_how_many_are_needed_then(next_votes, status):
    """As many as if they had never said anything: with one who left, one more is not enough."""
    now = recounted(approval(policy=TWO, votes=(yes("UBOSS"),)), {"UBOSS": None})
    assert now is not None
    assert tally(now, None) == "0 of 2"
    for vote in next_votes:
        now = voted(now, vote, run_for=None)
    assert now.status == status


@pytest.mark.parametrize(
    ("held", "names", "code"),
    [
        pytest.param(None, frozenset({"finance"}), None, id="lost it and has it again"),
        pytest.param(None, frozenset(), "not_approver", id="lost it"),
        pytest.param({"finance"}, frozenset({"finance"}), "already_voted", id="has it still"),
        pytest.param(
            {"finance"}, frozenset({"finance", "cfo"}), None, id="stands for one more by now"
        ),
    ],
)
def test_who_may_approve_again(held, names, code):
    """An approval may be given again when it does not count, or counts for more than before."""
    rules = ((Quota(names=("finance",), count=2), Quota(names=("cfo",), count=2)),)
    before = approval(
        policy=Policy(approvers=("UFIN",), rules=rules), votes=(yes("UFIN", "finance"),)
    )
    now = recounted(before, {"UFIN": held and frozenset(held)}) or before
    person = Person(id="UFIN", team=KEY.tenant, names=names)
    found = refusal(now, person, "approve", now=ASKED + 1)
    assert (found and found.code) == code


def test_the_card_says_who_does_not_count():
    """The tally has those who count, and names the others; the line has the number."""
    now = recounted(
        approval(policy=TWO, votes=(yes("UBOSS"), yes("UVP"))), {"UBOSS": None, "UVP": frozenset()}
    )
    assert now is not None
    told = str(blocks.card(now, now=ASKED).blocks)
    gone = "not counted, since they may not decide any more: <@UBOSS>"
    assert f"2 have to approve, so far 1: <@UVP>, and {gone}" in told
    assert "1 of 2 have approved" in blocks.asked(now, now=ASKED, name=str.lower).text


async def looked(slot: Slot, voter) -> bool:
    """Look once who may still decide, while all who were asked may."""

    async def look_up(names, _most):
        return {name: frozenset({name}) for name in names}

    succession = Succession((), look_up=look_up, voter=voter, follow=lambda _: ())
    return await succession.look(slot, KEY, "3-0")


async def gone(person, _names):
    """Everybody is deactivated."""
    return Person(id=person, team=KEY.tenant, deleted=True)


async def test_it_is_noted_once_and_shown(slot: Slot):
    """One change, in the audit, with every card shown anew; whoever decides next is told so."""
    before = await put(slot, policy=TWO, votes=(yes("UBOSS"),), deadline=DEADLINE)
    assert await looked(slot, gone)
    assert await looked(slot, gone)
    after = await stored(slot)
    assert (after.rev, after.status, uncounted(after)) == (before.rev + 1, "pending", ("UBOSS",))
    view = await slot.read(KEY, parts=("posts", "audit"))
    assert view is not None
    assert [entry["type"] for entry, _ in view.audit] == ["approval.recounted"]
    assert [(e["person"], e["counts"]) for e, _ in view.audit] == [("UBOSS", False)]
    assert sorted(str(p.body["kind"]) for p in view.posts) == ["asked_update", "card_update"]
    outcome = await decide(slot, KEY, click(after, "UCFO"))
    assert (outcome.kind, outcome.sentence) == ("counted", "Your approval is counted: 1 of 2.")
    assert (await decide(slot, KEY, click(after, "UVP"))).kind == "decided"


async def test_while_slack_does_not_say_it_counts(slot: Slot):
    """Nothing is guessed; the start looks once more in any case."""
    before = await put(slot, policy=TWO, votes=(yes("UBOSS"),), deadline=DEADLINE)

    async def silent(_person, _names):
        return None

    assert not await looked(slot, silent)
    assert await stored(slot) == before
