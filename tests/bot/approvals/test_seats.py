"""Who is asked and does not see the card in its channel gets one in a DM."""

from typing import Any

import pytest

from agents.runtime.slot.memory import MemorySlot
from agents.runtime.slot.redis import RedisSlot, connect
from bot.approvals.homeward import bring_home
from bot.approvals.policy import Person
from bot.approvals.request import Approval, Copy, Escalation
from bot.approvals.seats import MOST, channels, seated
from bot.approvals.succession import Succession
from bot.approvals.terms import Policy, Quota, Vote
from bot.turns import thread_of
from tests.bot.approvals.conftest import put, stored
from tests.bot.approvals.samples import KEY, approval

CHANNEL = Copy(post="card:3-0:0", channel="CBOSS")
OTHER = Copy(post="card:3-0:1", channel="COTHER")
HOME = Copy(post="card:3-0:1", channel="C1", thread_ts="100.1")
IN_DM = Copy(post="card:3-0:1", channel="D1", thread_ts="100.1")
LOST = Copy(post="card:3-0:0", channel="CBOSS", lost=True)
PERSONAL = Copy.numbered("3-0", 2, "UCFO")
LOST_DM = PERSONAL.model_copy(update={"lost": True})
LOST_HOME = IN_DM.model_copy(update={"lost": True})
BOTH = Policy(approvers=("UBOSS", "UCFO"))
TOGETHER = Policy(approvers=("UBOSS", "UCFO"), quorum=2)
NOTIFIED = Policy(approvers=("UBOSS", "UCFO"), notified=("UCFO", "UAUDIT"))
UNTOLD = Policy(approvers=("UBOSS", "UCFO"), notified=())
NAMELESS = Policy(approvers=("UBOSS", "S0FIN"))
SAID = (Vote(person="UCFO", confirmed=True, at=1),)


def asked(policy: Policy = BOTH, *copies: Copy, votes: tuple[Vote, ...] = ()) -> Approval:
    """A request with these cards, one in the channel where none are named."""
    cards = enumerate(copies or (CHANNEL,))
    numbered = tuple(c.model_copy(update={"post": f"card:3-0:{n}"}) for n, c in cards)
    return approval(policy=policy, copies=numbered, votes=votes)


@pytest.mark.parametrize(
    ("before", "inside", "gone", "cards"),
    [
        pytest.param(asked(), {"CBOSS": {"UBOSS", "UCFO"}}, (), [], id="all are in it"),
        pytest.param(asked(), {"CBOSS": {"UBOSS"}}, (), ["UCFO"], id="one is not"),
        pytest.param(asked(), {"CBOSS": set()}, (), ["UBOSS", "UCFO"], id="nobody is known in it"),
        pytest.param(
            asked(), {"CBOSS": {"UBOSS"}}, ("UCFO",), [], id="who may not decide any more"
        ),
        pytest.param(asked(TOGETHER, votes=SAID), {"CBOSS": {"UBOSS"}}, (), [], id="who has voted"),
        pytest.param(
            asked(NOTIFIED), {"CBOSS": {"UBOSS"}}, (), ["UCFO", "UAUDIT"], id="those who are told"
        ),
        pytest.param(
            asked(NAMELESS), {"CBOSS": set()}, (), ["UBOSS"], id="a group that is not known yet"
        ),
        pytest.param(
            asked(BOTH, CHANNEL, Copy.numbered("3-0", 1, "UCFO")),
            {"CBOSS": {"UBOSS"}},
            (),
            [],
            id="who has a card",
        ),
        pytest.param(
            asked(BOTH, CHANNEL, OTHER),
            {"CBOSS": {"UBOSS"}, "COTHER": {"UCFO"}},
            (),
            [],
            id="two channels",
        ),
        pytest.param(
            asked(BOTH, CHANNEL, HOME), {"CBOSS": {"UBOSS"}}, (), ["UCFO"], id="it came home too"
        ),
        pytest.param(asked(BOTH, HOME), {"C1": {"UBOSS"}}, (), ["UCFO"], id="it is at home only"),
        pytest.param(asked(BOTH, IN_DM), {}, (), ["UBOSS", "UCFO"], id="in a DM with who asked"),
        pytest.param(asked(UNTOLD, IN_DM), {}, (), ["UBOSS", "UCFO"], id="nobody told in a DM"),
        pytest.param(
            asked(UNTOLD, HOME),
            {"C1": {"UANA"}},
            (),
            ["UBOSS", "UCFO"],
            id="nobody told, nor there",
        ),
        pytest.param(asked(UNTOLD, HOME), {"C1": {"UCFO"}}, (), [], id="nobody told, one is there"),
        pytest.param(
            asked(NOTIFIED, CHANNEL, IN_DM),
            {"CBOSS": set()},
            (),
            ["UCFO", "UAUDIT", "UBOSS"],
            id="nobody there",
        ),
        pytest.param(
            asked(Policy(approvers=("UASK", "UCFO")), IN_DM), {}, (), ["UCFO"], id="their own DM"
        ),
        pytest.param(
            asked(BOTH, HOME, LOST_DM), {"C1": {"UBOSS"}}, (), ["UCFO"], id="whose card is lost"
        ),
        pytest.param(
            asked(Policy(approvers=("UASK",)), LOST_HOME, PERSONAL),
            {},
            (),
            ["UASK"],
            id="whose own DM has lost it",
        ),
    ],
)
def test_whoever_is_asked_sees_a_card(before: Approval, inside, gone, cards: list[str]):
    """A card goes to each who is told of it, may decide and sees none; then to nobody."""
    after = seated(before, inside, gone=gone)
    more = after.copies[len(before.copies) :] if after else ()
    assert [each.channel for each in more] == cards
    if after:
        assert len({copy.post for copy in after.copies}) == len(after.copies)
        assert (after.policy, after.rev) == (before.policy, before.rev + 1)
        assert seated(after, inside, gone=gone) is None


def test_so_many_get_a_card_of_their_own():
    """Of three hundred who are not in the channel the first ones do, however often it is looked."""
    many = tuple(f"U{number:03}" for number in range(300))
    before = asked(Policy(approvers=("UBOSS", *many)))
    after = seated(before, {"CBOSS": {"UBOSS"}}, gone=())
    assert after
    assert [copy.channel for copy in after.copies[1:]] == list(many[:MOST])
    assert seated(after, {"CBOSS": {"UBOSS"}}, gone=()) is None
    others = seated(after, {"CBOSS": {"UBOSS"}}, gone=many[:5])
    assert others
    assert [copy.channel for copy in others.copies[MOST + 1 :]] == list(many[MOST : MOST + 5])


def test_those_who_were_asked_before_take_no_room():
    """Whoever left a group, as all who were on call did, waits for nothing any more."""
    left = [Copy.numbered("3-0", n, f"U{n:03}") for n in range(1, MOST + 1)]
    after = seated(asked(BOTH, CHANNEL, *left), {"CBOSS": {"UBOSS"}}, gone=())
    assert after
    assert [copy.channel for copy in after.copies[MOST + 1 :]] == ["UCFO"]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"heirs": ("UHEIR",)}, id="as a default approver"),
        pytest.param(
            {"escalations": (Escalation(at=1, names=("UHEIR",)),), "escalated": 1}, id="by name"
        ),
        pytest.param(
            {"escalations": (Escalation(at=1, names=("cfo",), people=("UHEIR",)),), "escalated": 1},
            id="behind a role",
        ),
    ],
)
def test_who_comes_in_later_gets_a_card(changes: dict[str, Any]):
    """However many have one already, and whatever became of these."""
    many = tuple(f"U{number:03}" for number in range(30))
    cards = [Copy.numbered("3-0", n, person) for n, person in enumerate(many[:MOST], start=1)]
    before = asked(Policy(approvers=(*many, "UHEIR")), CHANNEL, *cards).model_copy(update=changes)
    after = seated(before, {"CBOSS": set()}, gone=())
    assert after
    assert [copy.channel for copy in after.copies[MOST + 1 :]] == ["UHEIR"]
    gone = seated(before, {"CBOSS": set()}, gone=many[:MOST])
    assert gone
    assert len(gone.copies) == MOST + 7


@pytest.mark.parametrize(
    ("copies", "places", "found"),
    [
        pytest.param((CHANNEL, HOME, PERSONAL, OTHER), {}, ("CBOSS", "C1", "COTHER"), id="several"),
        pytest.param((CHANNEL,), {CHANNEL.post: "CBOSS|1.0"}, ("CBOSS",), id="it stands there"),
        pytest.param((CHANNEL,), {CHANNEL.post: "C1|1.0"}, ("C1",), id="Slack did not take it"),
        pytest.param((CHANNEL,), {CHANNEL.post: "D1|1.0"}, (), id="it went into a DM"),
        pytest.param((LOST, HOME), {LOST.post: "CBOSS|1.0"}, ("C1",), id="one was lost"),
        pytest.param((PERSONAL, IN_DM), {PERSONAL.post: "D9|1.0"}, (), id="in DMs"),
    ],
)
def test_only_channels_are_looked_into(copies, places, found):
    """Where a card is tells who sees it; in a DM it is the one whom it is with."""
    assert channels(approval(policy=BOTH, copies=copies), places) == found


async def able(names, _most):
    """Everybody who is named may decide."""
    return {name: frozenset({name}) for name in names}


async def voter(person, _names):
    """Everybody is who they are."""
    return Person(id=person, team="T1")


@pytest.mark.parametrize(
    ("cards", "steps"),
    [
        pytest.param(["CBOSS"], ["card:3-0:0"], id="its channel's is lost"),
        pytest.param(["CBOSS"], ["", "card:3-0:0"], id="nothing could be said under it before"),
        pytest.param(["CBOSS"], ["card:3-0:0", "card:3-0:0", ""], id="it is said again"),
        pytest.param(["UBOSS", "UCFO"], ["card:3-0:0", "card:3-0:1"], id="two DMs"),
    ],
)
async def test_a_lost_card_reaches_nobody(cards: list[str], steps: list[str]):
    """Whatever Slack refused first, those who do not see the card at home get another one."""

    async def inside(channel):
        return frozenset({"UBOSS", "UCFO"} if channel == "CBOSS" else {"UASK"})

    slot = MemorySlot()
    copies = tuple(Copy.numbered("3-0", n, place) for n, place in enumerate(cards))
    await put(slot, policy=BOTH, copies=copies)
    for lost in steps:
        await bring_home(slot, await stored(slot), thread_of(KEY), lost=lost)
    clock = Succession((), look_up=able, voter=voter, follow=lambda _: (), inside=inside)
    assert await clock.look(slot, KEY, "3-0")
    there = [(copy.channel, copy.lost) for copy in (await stored(slot)).copies]
    home = (thread_of(KEY).channel, False)
    lost = [(place, True) for place in cards]
    assert there == [*lost, home, ("UBOSS", False), ("UCFO", False)]


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(Policy(approvers=("UBOSS",), notified=("UBOSS", "UGUEST", "UCFO")), id="told"),
        pytest.param(
            Policy(approvers=("UBOSS", "UGUEST", "UCFO"), rules=((Quota(names=("S1",)),),)),
            id="asked",
        ),
    ],
)
async def test_whoever_may_see_nothing_gets_no_card(policy: Policy):
    """Somebody may have become a guest since it was asked, or was never looked up."""

    async def left(names, _most):
        return {
            name: frozenset({"UBOSS", "UCFO"} if name == "S1" else {name} - {"UGUEST"})
            for name in names
        }

    async def inside(_channel):
        return frozenset({"UBOSS"})

    slot = MemorySlot()
    await put(slot, policy=policy, copies=(CHANNEL,))
    clock = Succession((), look_up=left, voter=voter, follow=lambda _: (), inside=inside)
    assert await clock.look(slot, KEY, "3-0")
    assert await clock.look(slot, KEY, "3-0")
    assert [copy.channel for copy in (await stored(slot)).copies] == ["CBOSS", "UCFO"]


async def test_slack_says_it_later(store_url: str):
    """While Slack does not say who is in a channel it is looked at again; then a card is owed."""
    answers = iter([None, frozenset({"UBOSS"}), frozenset({"UBOSS"})])

    async def inside(channel):
        assert channel == "CBOSS"
        return next(answers)

    async with connect(store_url) as client:
        slot = RedisSlot(client)
        await put(slot, policy=BOTH, copies=(CHANNEL,))
        clock = Succession((), look_up=able, voter=voter, follow=lambda _: (), inside=inside)
        assert not await clock.look(slot, KEY, "3-0")
        assert await clock.look(slot, KEY, "3-0")
        view = await slot.read(KEY, parts=("posts",))
    assert view is not None
    assert ("card", "UCFO") in [(p.body.get("kind"), p.body.get("person")) for p in view.posts]
