"""It takes no more rejections than people are left who may reject: a last no closes a request."""

import pytest

from agents import Slot
from bot.approvals.policy import Person
from bot.approvals.request import Approval, Escalation
from bot.approvals.succession import Succession, eased
from bot.approvals.terms import Policy, Quota, Vote
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval

NAMES = ("UA", "UB", "UC")
ONE = Policy(approvers=NAMES, rejections=2)
ALL = Policy(approvers=NAMES, rejections=3)
GROUP = Policy(approvers=("UA", "UB"), rules=((Quota(names=("fin",)),),), rejections=2)
LATER = Escalation(at=DEADLINE - 1, names=("cfo",), people=("UCFO",))


def no(person: str, *, counts: bool = True) -> Vote:
    """A rejection."""
    return Vote(person=person, confirmed=False, at=ASKED + 1, counts=counts)


def yes(person: str) -> Vote:
    """An approval."""
    return Vote(person=person, confirmed=True, at=ASKED + 1)


def able(*people: str, **groups: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Who may still decide."""
    named = {name: frozenset({name} & {*people}) for name in (*NAMES, "UCFO")}
    return named | {name: frozenset(found) for name, found in groups.items()}


@pytest.mark.parametrize(
    ("policy", "votes", "left", "needed", "status"),
    [
        pytest.param(ONE, (), able(*NAMES), 2, "pending", id="all are there"),
        pytest.param(ONE, (), able("UA", "UB"), 2, "pending", id="enough are left"),
        pytest.param(ONE, (), able("UC"), 1, "pending", id="one is left"),
        pytest.param(ONE, (), able(), 1, "pending", id="nobody is left"),
        pytest.param(ONE, (no("UC"),), able("UC"), 1, "rejected", id="the last one said no"),
        pytest.param(ONE, (no("UA"),), able("UC"), 2, "pending", id="one said no and left"),
        pytest.param(ONE, (yes("UC"),), able("UC"), 1, "pending", id="the last one agreed"),
        pytest.param(ALL, (no("UA"),), able("UA", "UB"), 2, "pending", id="two of three"),
        pytest.param(ALL, (no("UA"), no("UB")), able("UB"), 2, "rejected", id="two said no"),
        pytest.param(GROUP, (), able(fin=("UA", "UB")), 2, "pending", id="a group"),
        pytest.param(GROUP, (), able(fin=("UB",)), 1, "pending", id="one of a group"),
        pytest.param(GROUP, (no("UB"),), able(fin=("UB",)), 1, "rejected", id="who said no in it"),
    ],
)
def test_how_many_have_to_reject(policy: Policy, votes, left, needed: int, status: str):
    """Who has rejected counts on, and so does whoever still may."""
    before = approval(policy=policy, votes=votes)
    after = eased(before, left, now=ASKED + 2) or before
    assert (after.policy.rejections, after.status) == (needed, status)
    assert (after.rev > before.rev) == (needed != policy.rejections)
    if status == "rejected":
        assert (after.decided_by, after.decided_at) == (votes[-1].person, ASKED + 2)
    assert eased(after, left, now=ASKED + 3) is None or after.status == "rejected"


@pytest.mark.parametrize(
    ("votes", "back", "needed"),
    [
        pytest.param((), ("UA", "UB"), 2, id="enough are back"),
        pytest.param((), ("UA", "UB", "UC"), 2, id="more than enough"),
        pytest.param((), ("UC",), 1, id="one as before"),
        pytest.param((no("UA"),), ("UB",), 2, id="somebody besides who said no"),
    ],
)
def test_who_is_back_counts_again(votes, back, needed: int):
    """A group that is small for a while does not let one of its people close a request later."""
    small = eased(approval(policy=GROUP), able(fin=("UC",)), now=ASKED + 1)
    assert small is not None
    assert small.policy.rejections == 1
    before = small.model_copy(update={"votes": votes})
    after = eased(before, able(fin=back), now=ASKED + 2) or before
    assert (after.policy.rejections, after.status) == (needed, "pending")
    assert eased(after, able(fin=back), now=ASKED + 3) is None


@pytest.mark.parametrize(
    ("left", "needed"), [(able("UC", cfo=("UCFO",)), 2), (able("UC", cfo=()), 1)]
)
def test_who_comes_in_later_may_reject_too(left, needed: int):
    """An escalation to come brings people; one to nobody brings none."""
    people = ("UCFO",) if needed == 2 else ()
    later = LATER.model_copy(update={"people": people})
    before = approval(policy=ONE, escalations=(later,))
    assert (eased(before, left, now=ASKED) or before).policy.rejections == needed


@pytest.mark.parametrize(
    ("votes", "status"),
    [pytest.param((), "pending", id="open"), pytest.param((no("UC"),), "rejected", id="said")],
)
async def test_the_clock_finds_it_out(slot: Slot, votes: tuple[Vote, ...], status: str):
    """The audit says that fewer have to; what is rejected is answered, and nobody is left out."""

    async def look_up(names, _most):
        return {name: frozenset({name} & {"UC"}) for name in names}

    async def voter(person, _names):
        return Person(id=person, team="T1")

    await put(slot, policy=ONE, votes=votes)
    clock = Succession((), look_up=look_up, voter=voter, follow=lambda _: ())
    assert await clock.look(slot, KEY, "3-0")
    view = await slot.read(KEY, parts=("approvals", "audit", "posts"))
    assert view is not None
    stored = Approval.from_record(view.approvals["3-0"])
    assert (stored.status, stored.policy.rejections) == (status, 1)
    kinds = [entry["type"] for entry, _ in view.audit]
    assert kinds == ["approval.eased", *(["approval.decided"] if votes else [])]
    assert view.inbox == len(votes)
    assert "notice" not in [post.body["kind"] for post in view.posts]
