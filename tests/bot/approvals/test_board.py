"""Whom an approval concerns, and what each of them has to do with it."""

import pytest

from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.board import MOST, Board, Inbox, concerned, inbox, listed
from bot.approvals.request import Escalation
from bot.approvals.terms import Policy, Quota, Vote
from bot.index import Index
from tests.bot.approvals.conftest import put
from tests.bot.approvals.samples import ASKED, DEADLINE, KEY, approval, session

LATER = Escalation(at=ASKED + 1, names=("board",), people=("UVP",))
RULES = Policy(approvers=("UBOSS",), rules=((Quota(names=("finance", "UBOSS")),),))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, {"UASK", "UBOSS", "UCFO"}, id="who asked and who may decide"),
        pytest.param({"policy": RULES}, {"UASK", "UBOSS", "finance"}, id="groups"),
        pytest.param(
            {"escalations": (LATER,)},
            {"UASK", "UBOSS", "UCFO", "UVP", "board"},
            id="who may decide later",
        ),
        pytest.param(
            {"votes": (Vote(person="UFIN", confirmed=True, at=ASKED),)},
            {"UASK", "UBOSS", "UCFO", "UFIN"},
            id="who stood for a group",
        ),
    ],
)
def test_whom_it_concerns(changes, expected):
    """Everybody who finds it among theirs: who asked, who may decide, who did."""
    assert concerned(approval(**changes)) == expected


@pytest.mark.parametrize(
    ("who", "now", "lists"),
    [
        pytest.param("UBOSS", ASKED, ("waiting",), id="waits for an approver"),
        pytest.param("UASK", ASKED, ("asked",), id="asked for"),
        pytest.param("UASK", DEADLINE, ("decided",), id="its time is up"),
        pytest.param("UBOSS", DEADLINE, ("decided",), id="nobody decided"),
        pytest.param("UX", ASKED, (), id="concerns others"),
        pytest.param("UX", DEADLINE, (), id="concerned others"),
    ],
)
def test_whose_list_it_is_in(who, now, lists):
    """What waits, what was asked for and what is over are apart."""
    one = approval()
    assert inbox([one], who, names=(), now=now) == Inbox(**dict.fromkeys(lists, (one,)))


def _vote(person: str, days: int, *, confirmed: bool = True) -> Vote:
    return Vote(person=person, confirmed=confirmed, payload={"days": days}, at=ASKED)


@pytest.mark.parametrize(
    ("votes", "waits"),
    [
        pytest.param((), {"UBOSS", "UCFO"}, id="nobody voted"),
        pytest.param((_vote("UBOSS", 3),), {"UCFO"}, id="one agreed"),
        pytest.param(
            (_vote("UBOSS", 3), _vote("UCFO", 4)), {"UBOSS", "UCFO"}, id="with other values"
        ),
        pytest.param((_vote("UBOSS", 3, confirmed=False),), {"UCFO"}, id="one is against"),
    ],
)
def test_for_whom_it_still_waits(votes: tuple[Vote, ...], waits: set[str]):
    """Who approved with values of their own has to agree with the others: it waits for them."""
    two = Policy(approvers=("UBOSS", "UCFO"), quorum=2)
    one = approval(policy=two, votes=votes)
    found = {who for who in ("UBOSS", "UCFO") if inbox([one], who, names=(), now=ASKED).waiting}
    assert found == waits


YES = Vote(person="UBOSS", confirmed=True, at=ASKED)
NO = Vote(person="UBOSS", confirmed=False, at=ASKED)


@pytest.mark.parametrize(
    ("changes", "who", "lists"),
    [
        pytest.param({"votes": (YES,)}, "UBOSS", ("counted",), id="who approved"),
        pytest.param({"votes": (YES,)}, "UCFO", ("waiting",), id="who did not yet"),
        pytest.param({"votes": (NO,)}, "UBOSS", ("counted",), id="who is against"),
        pytest.param(
            {"votes": (_vote("UBOSS", 3), _vote("UCFO", 4))},
            "UBOSS",
            ("waiting",),
            id="with other values",
        ),
        pytest.param({"votes": (YES,), "status": "done"}, "UBOSS", ("decided",), id="it is over"),
    ],
)
def test_what_one_has_voted_on_stays_in_sight(changes, who, lists):
    """Until it is decided, it is among what waits for others."""
    two = Policy(approvers=("UBOSS", "UCFO"), quorum=2, rejections=2)
    one = approval(policy=two, **changes)
    assert inbox([one], who, names=(), now=ASKED) == Inbox(**dict.fromkeys(lists, (one,)))


@pytest.mark.parametrize(
    ("changes", "who", "names", "found"),
    [
        pytest.param({"status": "expired"}, "UBOSS", (), True, id="expired, no vote"),
        pytest.param({"status": "expired", "votes": (YES,)}, "UBOSS", (), True, id="voted"),
        pytest.param({"status": "expired", "votes": (YES,)}, "UCFO", (), True, id="others voted"),
        pytest.param(
            {"status": "expired", "policy": RULES}, "UFIN", ("finance",), True, id="group"
        ),
        pytest.param({"status": "expired", "policy": RULES}, "UFIN", (), False, id="not a member"),
        pytest.param({"status": "expired"}, "UASK", (), True, id="who asked"),
        pytest.param({"status": "expired"}, "UX", (), False, id="somebody else"),
        pytest.param({"status": "rejected", "votes": (YES,)}, "UBOSS", (), True, id="decided"),
        pytest.param({"status": "rejected", "votes": (YES,)}, "UCFO", (), False, id="by others"),
        pytest.param(
            {"status": "cancelled", "why": "withdrawn"}, "UCFO", (), False, id="withdrawn"
        ),
    ],
)
def test_who_is_told_of_what_is_over(changes, who, names, found: bool):
    """Who asked and who voted see how it ended; that its time passed also who did not vote."""
    one = approval(**changes)
    assert inbox([one], who, names=names, now=ASKED).decided == ((one,) if found else ())


@pytest.mark.parametrize(
    ("names", "waits"),
    [
        pytest.param(("cfo", "UBOSS"), {"UBOSS"}, id="who approved is enough by now"),
        pytest.param(("cfo",), set(), id="they are not"),
    ],
)
def test_it_waits_for_an_approval_to_be_given_again(names: tuple[str, ...], waits: set[str]):
    """Rules that were widened after a vote are met by it only when its person says so once more."""
    either = (Quota(names=names), Quota(names=("finance", "UBOSS"), count=2))
    one = approval(policy=Policy(approvers=("UBOSS",), rules=(either,)), votes=(YES,))
    found = {who for who in ("UBOSS",) if inbox([one], who, names=(), now=ASKED).waiting}
    assert found == waits


async def test_what_is_ones_own_is_found_among_many(store_url: str):
    """However much others were asked since, who may decide finds what waits, and its reference."""
    async with connect(store_url) as client:
        slot, index = RedisSlot(client), Index(client, tenant=KEY.tenant)
        board = Board(slot, recent=index.lists.recent, concerning=index.lists.concerning)
        old = await put(slot)
        await index.send(listed(index.lists, old))
        others = Policy(approvers=("UX",))
        for n in range(MOST + 5):
            key = session(n)
            asked = await put(slot, key=key, policy=others, requester="UY", asked_at=ASKED + n + 1)
            await index.send(listed(index.lists, asked))
        assert (await board.of(["UBOSS"]))[0] == [old]
        assert (await board.approvals())[-1] == old
        assert asked not in await board.approvals()
        assert await board.find(old.reference.upper()) == old
        assert await board.find("nonsense") is None


def test_what_is_most_urgent_comes_first():
    """By its deadline, then by how long it waits; what never ends comes last."""
    soon = approval(id="1", deadline=DEADLINE - 1, asked_at=ASKED + 2)
    old, new = approval(id="2"), approval(id="3", asked_at=ASKED + 1)
    never = approval(id="4", deadline=None, asked_at=ASKED - 9)
    found = inbox([never, new, old, soon], "UBOSS", names=(), now=ASKED)
    assert found.waiting == (soon, old, new, never)


def test_what_was_asked_at_once_is_in_the_order_of_its_calls():
    """Of one moment and one deadline, the tenth call comes after the second."""
    batch = [approval(id=f"4-{n}") for n in range(12)]
    mixed = [batch[n] for n in (7, 11, 0, 3, 10, 1, 5, 2, 9, 4, 8, 6)]
    assert inbox(mixed, "UBOSS", names=(), now=ASKED).waiting == tuple(batch)
